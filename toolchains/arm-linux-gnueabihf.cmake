# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm (ARMv7, hard floats) with Linux and glibc, by Debian's g++-arm-linux-gnueabihf; programs
# run under qemu-arm-static where that is installed. The base of Debian's armhf: no NEON, so the
# kernels compute float by float.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(root /usr/arm-linux-gnueabihf)

foreach(language C CXX ASM)
  # Debian's cross compilers search the build machine's /usr/include last; with this they do not.
  set(CMAKE_${language}_FLAGS_INIT "-isysroot ${root}")
endforeach()
string(APPEND CMAKE_CXX_FLAGS_INIT " -Wno-psabi")  # nothing here meets code of GCC 6
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)

find_program(INTARSIA_QEMU_ARM qemu-arm-static)
if(INTARSIA_QEMU_ARM)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${INTARSIA_QEMU_ARM};-L;${root}")
endif()

set(CMAKE_FIND_ROOT_PATH ${root})
include("${CMAKE_CURRENT_LIST_DIR}/find_target_files.cmake")
