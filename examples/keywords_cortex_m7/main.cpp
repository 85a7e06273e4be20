// SPDX-License-Identifier: Apache-2.0
//
// Keyword spotting on a Cortex-M7 without an operating system: as ../mlp_cortex_m7, with a
// convolutional network, and the processor's cycles for one run.
#include "board.h"
#include "keywords_model.h"
#include "keywords_model_stack.h"

namespace {

alignas(keywords::arena_alignment) std::byte arena[keywords::arena_bytes];

}  // namespace

int main() {
  auto session = keywords::open(arena);
  if (!session.ok()) return 1;
  int i = 0;
  for (float& x : keywords::inputs::x::of(*session)) {
    x = static_cast<float>(37 * i++ % 64 - 32) / 32;
  }
  const uint32_t begin = board::cycles();
  if (!session->run()) return 2;
  const uint32_t cycles = board::cycles() - begin;
  board::print("outputs");
  for (const float value : keywords::outputs::y::of(*session)) {
    board::print(" ");
    board::print(value);
  }
  board::print("\ncycles ");
  board::print(cycles);
  board::print("\nstack ");
  board::print(board::stack_used());
  board::print("\nbound ");
  board::print(static_cast<uint32_t>(keywords::stack_bytes));
  board::print("\n");
  return 0;
}
