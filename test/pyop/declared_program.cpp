// SPDX-License-Identifier: Apache-2.0
//
// A program with a model linked in whose operator is computed in Python; it is declared in
// declared_operators.h (declared_kernels.py computes it), or defined in user_relu.py:
//   PROGRAM FOLDER_OF_THESE
#include <cstdio>

#include "intarsia/pyop.h"
#include MODEL_HEADER

namespace model = MODEL;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* folders[] = {argv[1]};
  auto python = intarsia::PyHost::start({.module_paths = folders});
  if (!python.ok()) return 1;
  const intarsia::Service services[] = {python->service()};
  alignas(model::arena_alignment) static std::byte arena[model::arena_bytes];
  auto session = model::open(arena, {.services = services});
  if (!session.ok()) return 1;
  const auto x = model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 2;
  if (!session->run()) return 1;
  for (float value : model::outputs::y::of(*session)) {
    std::printf("%g ", static_cast<double>(value) + 0);  // the kernel gives -0, too
  }
  std::puts("");
}
