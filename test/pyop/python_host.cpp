// SPDX-License-Identifier: Apache-2.0
//
// A library that a Python program loads, with Intarsia inside: python_host_test.py calls it. It has
// no interpreter of its own; the symbols of Python are those of the process.
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

#include "intarsia/describe.h"
#include "intarsia/pyop.h"

namespace {

struct Free {
  void operator()(std::byte* bytes) const { ::operator delete (bytes, std::align_val_t{64}); }
};
using Aligned = std::unique_ptr<std::byte, Free>;

Aligned allocate(size_t bytes) {
  return Aligned(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
}

}  // namespace

/// Opens the plan, runs it `runs` times on x everywhere, and stores the last element of its output.
/// Returns 0, or 1 after printing what is wrong.
extern "C" __attribute__((visibility("default"))) int run_plan(const char* file, const char* folder,
                                                               int runs, float x, float* result) {
  using namespace intarsia;
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  const Aligned plan = allocate(bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(plan.get()));
  const std::span<std::byte> view(plan.get(), bytes.size());
  Diagnostic diagnostic;
  const auto fail = [&](const Diagnostic& found) {
    char text[2048];
    describe(found, view, text, sizeof(text));
    std::fprintf(stderr, "%s\n", text);
    return 1;
  };
  const auto info = plan_info(view, &diagnostic);
  if (!info.ok()) return fail(diagnostic);
  const Aligned arena = allocate(info.value().arena_bytes);
  const char* folders[] = {folder};
  auto host = PyHost::start({.module_paths = folders}, &diagnostic);
  if (!host.ok()) return fail(diagnostic);
  const Service services[] = {host->service()};
  auto session = Session::open(view, {arena.get(), info.value().arena_bytes}, kernel_set<PyOp>(),
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
