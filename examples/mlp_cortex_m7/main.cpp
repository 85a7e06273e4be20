// SPDX-License-Identifier: Apache-2.0
//
// A perceptron on a Cortex-M7 without an operating system. Plan and weights lie in flash, the arena
// is static memory; nothing of the heap is linked. Results go to the debugger by semihosting.
#include "board.h"
#include "mlp_model.h"

namespace {

alignas(mlp::arena_alignment) std::byte arena[mlp::arena_bytes];

/// "0.123457": six decimals, enough to compare; printf of the C library would need a heap.
void print(float value) {
  char text[24];
  char* end = text + sizeof(text) - 1;
  *end = 0;
  const bool negative = value < 0;
  auto millionths = static_cast<uint32_t>((negative ? -value : value) * 1e6f + 0.5f);
  for (int digit = 0; digit < 7 || millionths != 0; ++digit, millionths /= 10) {
    if (digit == 6) *--end = '.';
    *--end = static_cast<char>('0' + millionths % 10);
  }
  if (negative) *--end = '-';
  board::print(end);
}

}  // namespace

int main() {
  auto session = mlp::open(arena);
  if (!session.ok()) return 1;
  float* x = mlp::inputs::x::of(*session).data();
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(37 * i % 64 - 32) / 32;
  if (!session->run()) return 2;
  board::print("outputs");
  for (const float value : mlp::outputs::y::of(*session)) {
    board::print(" ");
    print(value);
  }
  board::print("\n");
  return 0;
}
