// SPDX-License-Identifier: Apache-2.0
//
// Output and exit by semihosting: a breakpoint instruction by which a debugger or emulator serves a
// request. Without either of them it is a fault. printf of the C library would need a heap.
#include "board.h"

namespace board {
namespace {

uint32_t semihosting(uint32_t operation, const void* argument) {
  register uint32_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/// At least `digits` decimal digits of value, before `end`; returns their beginning.
char* write_digits(uint32_t value, int digits, char* end) {
  for (; digits > 0 || value != 0; --digits, value /= 10) {
    *--end = static_cast<char>('0' + value % 10);
  }
  return end;
}

}  // namespace

void print(const char* text) {
  semihosting(0x04, text);  // SYS_WRITE0
}

void print(uint32_t value) {
  char text[12] = {};
  print(write_digits(value, 1, text + sizeof(text) - 1));
}

void print(float value) {
  char text[16] = {};
  const bool negative = value < 0;
  const auto millionths = static_cast<uint32_t>((negative ? -value : value) * 1e6f + 0.5f);
  char* begin = write_digits(millionths % 1000000, 6, text + sizeof(text) - 1);
  *--begin = '.';
  begin = write_digits(millionths / 1000000, 1, begin);
  if (negative) *--begin = '-';
  print(begin);
}

void exit(int status) {
  // SYS_EXIT_EXTENDED with the reason ADP_Stopped_ApplicationExit.
  const uint32_t reason[2] = {0x20026, static_cast<uint32_t>(status)};
  semihosting(0x20, reason);
  for (;;) {
  }
}

}  // namespace board
