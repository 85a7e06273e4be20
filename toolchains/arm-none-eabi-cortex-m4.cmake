# SPDX-License-Identifier: Apache-2.0
# Cortex-M4 with its single-precision floating-point unit (fpv4) and no operating system.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(flags "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
