// SPDX-License-Identifier: Apache-2.0
//
// A program with a model linked in that uses operators of one's own; it links exactly those.
#include <cstdio>

#include "custom_model.h"

int main() {
  alignas(custom_model::arena_alignment) static std::byte arena[custom_model::arena_bytes];
  auto session = custom_model::open(arena);
  if (!session.ok()) return 1;
  const auto x = custom_model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  if (!session->run()) return 1;
  const auto y = custom_model::outputs::y::of(*session);
  // Affine with factor 2, then reversed.
  const float expected[] = {6, 4, 2};
  bool right = y.size() == 3;
  for (size_t i = 0; right && i < 3; ++i) right = y[i] == expected[i];
  std::puts(right ? "custom operators: the model's output is right" : "the output is wrong");
  return right ? 0 : 1;
}
