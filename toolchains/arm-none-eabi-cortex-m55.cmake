# SPDX-License-Identifier: Apache-2.0
# Cortex-M55 with its floating-point unit and no operating system. Without its vectors (Helium): the
# kernels compute float by float, and with them GCC 12 writes conversions (vcvtne.f64.f32) that
# its assembler takes for vector instructions and refuses.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m55)
set(flags "-mcpu=cortex-m55+nomve -mthumb -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
