// SPDX-License-Identifier: Apache-2.0
//
// A program with a model linked in whose operator is declared in declared_operators.h and computed
// in declared_kernels.py:
//   declared_program FOLDER_OF_DECLARED_KERNELS
#include <cstdio>

#include "intarsia/pyop.h"
#include "user_relu_model.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* folders[] = {argv[1]};
  auto python = intarsia::PyHost::start({.module_paths = folders});
  if (!python.ok()) return 1;
  const intarsia::Service services[] = {python->service()};
  alignas(user_relu_model::arena_alignment) static std::byte arena[user_relu_model::arena_bytes];
  auto session = user_relu_model::open(arena, {.services = services});
  if (!session.ok()) return 1;
  const auto x = user_relu_model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 2;
  if (!session->run()) return 1;
  for (float value : user_relu_model::outputs::y::of(*session)) {
    std::printf("%g ", static_cast<double>(value) + 0);  // the kernel gives -0, too
  }
  std::puts("");
}
