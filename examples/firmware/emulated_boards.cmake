# SPDX-License-Identifier: Apache-2.0
# For the processor of the toolchain file, a board that QEMU has: EMULATED_BOARD holds its memory as
# arguments of add_firmware, EMULATOR the command that runs a program. With `-icount shift=0` one
# instruction takes one nanosecond: a clock of EMULATED_MHZ counts instructions times that / 1000.
# A product names its own chip's memory instead.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "cortex-m4")
  set(machine mps2-an386)
  set(EMULATED_BOARD FLASH 0x00000000 4M RAM 0x20000000 4M)
  set(EMULATED_MHZ 25)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "cortex-m7")
  set(machine mps2-an500)
  set(EMULATED_BOARD FLASH 0x00000000 4M RAM 0x20000000 4M)
  set(EMULATED_MHZ 25)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "cortex-m55")
  set(machine mps3-an547)
  set(EMULATED_BOARD FLASH 0x00000000 512K RAM 0x20000000 512K)
  set(EMULATED_MHZ 32)
else()
  message(FATAL_ERROR "no emulated board for the processor '${CMAKE_SYSTEM_PROCESSOR}'")
endif()
set(EMULATOR qemu-system-arm -machine ${machine} -display none -monitor none -serial none
  -icount shift=0 -semihosting-config enable=on,target=native -kernel)
