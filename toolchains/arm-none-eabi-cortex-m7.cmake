# SPDX-License-Identifier: Apache-2.0
# Cortex-M7 with a single-precision floating-point unit and no operating system, by Debian's
# gcc-arm-none-eabi with newlib. The program supplies its linker script and start-up code.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)

foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -Wno-psabi")  # nothing here meets code of GCC 6
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
# There is no start-up code that CMake's test programs could link.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_FIND_ROOT_PATH /usr/lib/arm-none-eabi)
include("${CMAKE_CURRENT_LIST_DIR}/find_target_files.cmake")
