# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm with Linux and glibc, by Debian's g++-aarch64-linux-gnu; programs run under
# qemu-aarch64-static where that is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(root /usr/aarch64-linux-gnu)

foreach(language C CXX ASM)
  # Debian's cross compilers search the build machine's /usr/include last; with this they do not.
  set(CMAKE_${language}_FLAGS_INIT "-isysroot ${root}")
endforeach()
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

find_program(INTARSIA_QEMU_AARCH64 qemu-aarch64-static)
if(INTARSIA_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${INTARSIA_QEMU_AARCH64};-L;${root}")
endif()

set(CMAKE_FIND_ROOT_PATH ${root})
include("${CMAKE_CURRENT_LIST_DIR}/find_target_files.cmake")
