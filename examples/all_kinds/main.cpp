// SPDX-License-Identifier: Apache-2.0
//
// One model, three kinds of operators that ONNX does not have: Detrend is C++ of this program,
// BiasGelu is ONNX Runtime's, Median is Python. Prints the results beside NumPy's.
//
//     all_kinds FOLDER FOLDER_OF_MEDIAN
//
// FOLDER is what make_model.py has written.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/compare.h"
#include "intarsia/describe.h"
#include "intarsia/pyop.h"
#include "kinds_model.h"

namespace {

alignas(kinds_model::arena_alignment) std::byte arena[kinds_model::arena_bytes];

int fail(const intarsia::Diagnostic& diagnostic) {
  char text[1024];
  intarsia::describe(diagnostic, kinds_model::plan(), text, sizeof(text));
  std::fprintf(stderr, "all_kinds: %s\n", text);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: all_kinds FOLDER FOLDER_OF_MEDIAN\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const char* modules[] = {argv[2]};
  intarsia::Diagnostic diagnostic;
  auto python = intarsia::PyHost::start({.module_paths = modules}, &diagnostic);
  if (!python.ok()) return fail(diagnostic);
  const intarsia::Service services[] = {python->service()};
  auto session = kinds_model::open(arena, {.services = services}, &diagnostic);
  if (!session.ok()) return fail(diagnostic);

  const std::vector<float> x = read_numbers(folder + "/x.txt");
  const auto input = kinds_model::inputs::x::of(*session);
  if (x.size() != input.size()) {
    std::fprintf(stderr, "all_kinds: %s/x.txt has %zu numbers, expected %zu\n", folder.c_str(),
                 x.size(), input.size());
    return 1;
  }
  std::copy(x.begin(), x.end(), input.begin());
  if (!session->run()) return fail(session->diagnostic());
  const bool close = compare("Median(BiasGelu(Detrend(x)))", kinds_model::outputs::y::of(*session),
                             read_numbers(folder + "/y.txt"), 1e-5f, 1e-6f, "NumPy");
  return close ? 0 : 1;
}
