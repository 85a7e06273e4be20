# SPDX-License-Identifier: Apache-2.0
# Cortex-M7 with a single-precision floating-point unit (fpv5) and no operating system.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m7)
set(flags "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
