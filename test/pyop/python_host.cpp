// SPDX-License-Identifier: Apache-2.0
//
// A library that a Python program loads, with Intarsia inside: python_host_test.py calls it. It has
// no interpreter of its own; the symbols of Python are those of the process.
#include <cstdio>
#include <fstream>
#include <vector>

#include "converter/graph/aligned_bytes.h"
#include "intarsia/describe.h"
#include "intarsia/pyop.h"

/// Opens the plan, runs it `runs` times on x everywhere, and stores the last element of its output.
/// Returns 0, or 1 after printing what is wrong.
extern "C" __attribute__((visibility("default"))) int run_plan(const char* file, const char* folder,
                                                               int runs, float x, float* result) {
  using namespace intarsia;
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  const converter::AlignedBytes plan(bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(plan.data()));
  Diagnostic diagnostic;
  const auto fail = [&](const Diagnostic& found) {
    char text[2048];
    describe(found, plan.span(), text, sizeof(text));
    std::fprintf(stderr, "%s\n", text);
    return 1;
  };
  const auto info = plan_info(plan.span(), &diagnostic);
  if (!info.ok()) return fail(diagnostic);
  const converter::AlignedBytes arena(info.value().arena_bytes);
  const char* folders[] = {folder};
  auto host = PyHost::start({.module_paths = folders}, &diagnostic);
  if (!host.ok()) return fail(diagnostic);
  const Service services[] = {host->service()};
  auto session = Session::open(plan.span(), arena.span(), kernel_set<PyOp>(),
                               {.services = services}, &diagnostic);
  if (!session.ok()) return fail(diagnostic);
  for (int run = 0; run < runs; ++run) {
    const auto input = session->input<float>(0);
    for (float& element : input.value()) element = x;
    if (!session->run()) return fail(session->diagnostic());
    *result = session->output<float>(0).value().back();
  }
  return 0;
}
