// SPDX-License-Identifier: Apache-2.0
//
// A program whose model has Relu, with the kernel of docs/custom_operators.md in the place of
// Intarsia's: it names that one, and no other.
#include <cstdio>

#include "intarsia/kernel_set.h"
#include "relu_model.h"

int main() {
  using namespace intarsia;  // NOLINT
  const auto kernels = relu_model::kernels().kernels;
  const bool own =
      kernels.size() == 1 && kernels[0]->key == kernel_key({"Relu", "mine", {DataType::kFloat}});
  alignas(relu_model::arena_alignment) static std::byte arena[relu_model::arena_bytes];
  auto session = relu_model::open(arena);
  if (!session.ok()) return 1;
  const auto x = relu_model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 1;
  if (!session->run()) return 1;
  const auto y = relu_model::outputs::y::of(*session);
  const bool right = own && y.size() == 3 && y[0] == 0 && y[1] == 0 && y[2] == 1;
  std::puts(right ? "the output is right" : "the output is wrong");
  return right ? 0 : 1;
}
