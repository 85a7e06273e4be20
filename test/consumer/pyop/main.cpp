// SPDX-License-Identifier: Apache-2.0
//
// A model with an operator that twice.py defines, which lies in FOLDER.
#include <cstdio>

#include "custom_model.h"
#include "intarsia/pyop.h"

int main() {
  alignas(custom_model::arena_alignment) static std::byte arena[custom_model::arena_bytes];
  if (custom_model::open(arena).ok()) {
    std::puts("the plan opens without permission");
    return 1;
  }
  const char* folders[] = {FOLDER};
  auto python = intarsia::PyHost::start({.module_paths = folders});
  if (!python.ok()) return 1;
  const intarsia::Service services[] = {python->service()};
  auto session = custom_model::open(arena, {.services = services});
  if (!session.ok()) return 1;
  const auto x = custom_model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) + 1;
  if (!session->run()) return 1;
  const auto y = custom_model::outputs::y::of(*session);
  if (y.size() != 3 || y[0] != 2 || y[1] != 4 || y[2] != 6) return 1;
  std::puts("consumer: the model's output is right");
  return 0;
}
