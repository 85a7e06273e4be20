# SPDX-License-Identifier: Apache-2.0
# What the toolchain files of Cortex-M share: Debian's gcc-arm-none-eabi with newlib. They set
# `flags`, the compiler's options of the processor. The program supplies its linker script and
# start-up code (examples/firmware).
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "${flags}")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -Wno-psabi")  # nothing here meets code of GCC 6
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
# There is no start-up code that CMake's test programs could link.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_FIND_ROOT_PATH /usr/lib/arm-none-eabi)
include("${CMAKE_CURRENT_LIST_DIR}/find_target_files.cmake")
