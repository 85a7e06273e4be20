// SPDX-License-Identifier: Apache-2.0
//
// Runs the model once on zeros and prints what it needs; a product fills the inputs, whose names
// and extents are in firmware_model.h, from its sensors.
#include <cstring>

#include "board.h"
#include "firmware_model.h"
#include "firmware_model_stack.h"

namespace {

alignas(model::arena_alignment) std::byte arena[model::arena_bytes];

}  // namespace

int main() {
  auto session = model::open(arena);
  if (!session.ok()) return 1;
  for (int i = 0; i < session->input_count(); ++i) {
    const auto input = session->input_port(i);
    std::memset(input->tensor.data, 0, static_cast<size_t>(input->tensor.bytes()));
  }
  const uint32_t begin = board::cycles();
  if (!session->run()) return 2;
  board::print("cycles ");
  board::print(board::cycles() - begin);
  board::print("\nstack ");
  board::print(board::stack_used());
  board::print("\nstack of the model, at most ");
  board::print(static_cast<uint32_t>(model::stack_bytes));
  board::print("\narena ");
  board::print(static_cast<uint32_t>(model::arena_bytes));
  board::print("\n");
  return 0;
}
