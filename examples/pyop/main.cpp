// SPDX-License-Identifier: Apache-2.0
//
// Python operators in a C++ program: the six-node graph of ONNX Runtime's document of PyOp, whose
// second and fifth node are Python classes, and what the program gets to see when one of them
// raises an exception.
//
//   pyop FOLDER_OF_MYMODULE
#include <cmath>
#include <cstdio>
#include <string>

#include "intarsia/describe.h"
#include "intarsia/pyop.h"
#include "pyop_model.h"  // the plan, its kernels and its signature, made from model.onnx

namespace {

alignas(pyop_model::arena_alignment) std::byte arena[pyop_model::arena_bytes];

std::string text_of(const intarsia::Diagnostic& diagnostic) {
  const auto plan = pyop_model::plan();
  std::string text(intarsia::describe(diagnostic, plan, nullptr, 0), '\0');
  intarsia::describe(diagnostic, plan, text.data(), text.size() + 1);
  return text;
}

void set_inputs(intarsia::Session& session, float a) {
  namespace inputs = pyop_model::inputs;
  inputs::A::of(session)[0] = a;
  inputs::B::of(session)[0] = 2;
  inputs::C::of(session)[0] = 3;
  inputs::D::of(session)[0] = 4;
  inputs::E::of(session)[0] = 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pyop FOLDER_OF_MYMODULE\n");
    return 2;
  }
  // Without this permission the plan does not open: it names Python code to execute.
  intarsia::Diagnostic diagnostic;
  const char* folders[] = {argv[1]};
  auto python = intarsia::PyHost::start({.module_paths = folders}, &diagnostic);
  if (!python.ok()) {
    std::fprintf(stderr, "%s\n", text_of(diagnostic).c_str());
    return 1;
  }
  const intarsia::Service services[] = {python->service()};
  auto session = pyop_model::open(arena, {.services = services}, &diagnostic);
  if (!session.ok()) {
    std::fprintf(stderr, "%s\n", text_of(diagnostic).c_str());
    return 1;
  }

  set_inputs(*session, 1);
  if (!session->run()) {
    std::fprintf(stderr, "%s\n", text_of(session->diagnostic()).c_str());
    return 1;
  }
  const auto& result = pyop_model::outputs::F::of(*session)[0];
  std::printf("A..E = 1, 2, 3, 4, 5: F = %g, the document's classes give 37\n",
              static_cast<double>(result));
  if (result != 37) return 1;

  std::printf("\nA is not a number, and Multi_2 says so:\n");
  set_inputs(*session, std::nanf(""));
  const intarsia::Status status = session->run();
  std::printf("%s\n", text_of(session->diagnostic()).c_str());
  if (status.code() != intarsia::Code::kOperatorFailed) return 1;

  set_inputs(*session, 1);
  if (!session->run() || result != 37) return 1;
  std::printf("\nThe session runs on: F = %g\n", static_cast<double>(result));
}
