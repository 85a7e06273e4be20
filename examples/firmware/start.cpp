// SPDX-License-Identifier: Apache-2.0
//
// Start-up code for a Cortex-M with a floating-point unit and the memory map of link.ld.in: vector
// table, memory as C++ expects it, constructors of static objects, main.
#include "board.h"

int main();

using Function = void (*)();
extern "C" {
// Addresses of link.ld.in.
extern uint32_t board_data_load[], board_data_begin[], board_data_end[];
extern uint32_t board_bss_begin[], board_bss_end[], board_stack_begin[], board_stack_end[];
extern const Function board_init_begin[], board_init_end[];
}

namespace board {
namespace {

constexpr uint32_t kPaint = 0x5a5a5a5a;
constexpr uint32_t kTimerRange = 1u << 24;

volatile uint32_t& timer(int word) {  // SysTick: control, reload, current value.
  return reinterpret_cast<volatile uint32_t*>(0xe000e010)[word];
}
volatile uint32_t timer_rounds;

void timer_interrupt() {
  timer_rounds = timer_rounds + 1;
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
  timer(1) = kTimerRange - 1;
  timer(2) = 0;
  timer(0) = 7;  // Runs with the processor's clock and interrupts.
  for (const Function* function = board_init_begin; function < board_init_end;) (*function++)();
  exit(main());
}

}  // namespace

uint32_t cycles() {
  for (;;) {
    const uint32_t rounds = timer_rounds;
    const uint32_t left = timer(2);
    if (rounds == timer_rounds) return (rounds + 1) * kTimerRange - 1 - left;
  }
}

uint32_t stack_used() {
  const uint32_t* lowest = board_stack_begin;
  while (lowest < board_stack_end && *lowest == kPaint) ++lowest;
  return static_cast<uint32_t>(board_stack_end - lowest) * 4;
}

// Interrupts of the chip's devices would follow.
struct VectorTable {
  const void* stack;
  Function handlers[15];
};
extern const VectorTable vectors;
[[gnu::section(".vectors"), gnu::used]] const VectorTable vectors = {
    board_stack_end,
    {start, fault, fault, fault, fault, fault, fault, nullptr, nullptr, nullptr, fault, fault,
     nullptr, fault, timer_interrupt}};

}  // namespace board
