// SPDX-License-Identifier: Apache-2.0
//
// Start-up code for a Cortex-M7 with the memory map of board.ld, and semihosting: a breakpoint
// instruction by which the debugger or emulator serves a request. At the end of `main` the program
// reports how much of its stack was used.
#include "board.h"

#include <cstdint>

int main();

extern "C" {
// Addresses of board.ld.
extern uint32_t board_data_load[], board_data_begin[], board_data_end[];
extern uint32_t board_bss_begin[], board_bss_end[], board_stack_begin[], board_stack_end[];
}

namespace board {
namespace {

constexpr uint32_t kPaint = 0x5a5a5a5a;

uint32_t semihosting(uint32_t operation, const void* argument) {
  register uint32_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

[[noreturn]] void exit(int status) {
  // SYS_EXIT_EXTENDED with the reason ADP_Stopped_ApplicationExit.
  const uint32_t reason[2] = {0x20026, static_cast<uint32_t>(status)};
  semihosting(0x20, reason);
  for (;;) {
  }
}

void print_stack_use() {
  const uint32_t* lowest = board_stack_begin;
  while (lowest < board_stack_end && *lowest == kPaint) ++lowest;
  auto bytes = static_cast<uint32_t>(board_stack_end - lowest) * 4;
  char text[12] = {};
  char* digit = text + sizeof(text) - 1;
  do {
    *--digit = static_cast<char>('0' + bytes % 10);
    bytes /= 10;
  } while (bytes != 0);
  print("stack ");
  print(digit);
  print("\n");
}

[[noreturn]] void fault() {
  print("the processor stopped with a fault\n");
  exit(3);
}

[[noreturn]] void start() {
  // Full access to the floating-point unit (CPACR), before any of its instructions.
  *reinterpret_cast<volatile uint32_t*>(0xe000ed88) |= 0xfu << 20;
  asm volatile("dsb\n isb" ::: "memory");
  const uint32_t* from = board_data_load;
  for (uint32_t* to = board_data_begin; to < board_data_end;) *to++ = *from++;
  for (uint32_t* to = board_bss_begin; to < board_bss_end;) *to++ = 0;
  uint32_t* frame;  // What lies below is not in use yet.
  asm volatile("mov %0, sp" : "=r"(frame));
  for (uint32_t* to = board_stack_begin; to < frame - 16;) *to++ = kPaint;
  const int status = main();
  print_stack_use();
  exit(status);
}

}  // namespace

void print(const char* text) {
  semihosting(0x04, text);  // SYS_WRITE0
}

using Handler = void (*)();
struct VectorTable {
  const void* stack;
  Handler handlers[15];
};
extern const VectorTable vectors;
[[gnu::section(".vectors"), gnu::used]] const VectorTable vectors = {
    board_stack_end,
    {start, fault, fault, fault, fault, fault, nullptr, nullptr, nullptr, nullptr, fault, fault,
     nullptr, fault, fault}};

}  // namespace board
