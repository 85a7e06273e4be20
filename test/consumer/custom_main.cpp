// SPDX-License-Identifier: Apache-2.0
#include "custom_model.h"

int main() {
  alignas(custom_model::arena_alignment) static std::byte arena[custom_model::arena_bytes];
  auto session = custom_model::open(arena);
  if (!session.ok()) return 1;
  const auto x = custom_model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  if (!session->run()) return 1;
  const auto y = custom_model::outputs::y::of(*session);
  return y.size() == 3 && y[1] == 2.0f && y[2] == 4.0f ? 0 : 1;
}
