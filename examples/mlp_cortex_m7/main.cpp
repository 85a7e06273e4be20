// SPDX-License-Identifier: Apache-2.0
//
// A perceptron on a Cortex-M7 without an operating system. Plan and weights lie in flash, the arena
// is static memory; nothing of the heap is linked. Results go to the debugger by semihosting.
#include "board.h"
#include "mlp_model.h"
#include "mlp_model_stack.h"

namespace {

alignas(mlp::arena_alignment) std::byte arena[mlp::arena_bytes];

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
    board::print(value);
  }
  board::print("\nstack ");
  board::print(board::stack_used());
  board::print("\nbound ");
  board::print(static_cast<uint32_t>(mlp::stack_bytes));
  board::print("\n");
  return 0;
}
