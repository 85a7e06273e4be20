// SPDX-License-Identifier: Apache-2.0
//
// What a Python operator costs per run beyond its own code: a chain of nodes whose method returns
// its argument, one element of float32, beside a chain of nodes whose native kernel does nothing.
//
//   pyop_overhead_bench [--limit NANOSECONDS]     prints both; fails if Python's is above the limit
//
// A figure is the fastest of many runs of the chain: what other programs take does not count.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/graph/aligned_bytes.h"
#include "converter/graph/describe_text.h"
#include "converter/plugin/plugin.h"
#include "intarsia/pyop.h"
#include "test/converter/onnx_builder.h"

namespace {

using intarsia::DataType;
using intarsia::converter::AlignedBytes;
using intarsia::converter::OnnxBuilder;

constexpr int kNodes = 100;
constexpr int kRounds = 2000;
constexpr float kValue = 3;

// Under the key of the kernel that the native chain's plan names.
struct Nothing {
  static constexpr intarsia::KernelId id{"Abs", "", {DataType::kFloat}};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

OnnxBuilder chain(bool python) {
  OnnxBuilder model;
  model.input("t0", {1});
  for (int i = 0; i < kNodes; ++i) {
    const std::string from = "t" + std::to_string(i), to = "t" + std::to_string(i + 1);
    auto& node = model.node(python ? "PyOp" : "Abs", {from.c_str()}, {to.c_str()});
    if (!python) continue;
    node.set_domain("bench");
    OnnxBuilder::set(node, "module", "overhead_bench_operator");
    OnnxBuilder::set(node, "class_name", "Identity");
    const std::vector<int64_t> type = {static_cast<int64_t>(DataType::kFloat)};
    OnnxBuilder::set(node, "input_types", type);
    OnnxBuilder::set(node, "output_types", type);
  }
  model.output("t" + std::to_string(kNodes));
  return model;
}

/// Nanoseconds per node.
double measure(bool python, const intarsia::converter::ConvertOptions& options,
               const intarsia::Service& service) {
  const std::string model = chain(python).bytes();
  const auto result = intarsia::converter::convert_bytes(std::as_bytes(std::span(model)), options);
  if (const auto* failure = std::get_if<intarsia::converter::ConversionFailure>(&result)) {
    throw std::runtime_error(failure->text());
  }
  const auto& plan = std::get<intarsia::converter::Conversion>(result).plan;
  AlignedBytes bytes(plan.bytes.size()), arena(plan.summary.arena_bytes);
  std::memcpy(bytes.data(), plan.bytes.data(), plan.bytes.size());
  intarsia::Diagnostic diagnostic;
  auto session = intarsia::Session::open_trusted(
      bytes.span(), arena.span(), intarsia::trusted_kernel_set<intarsia::PyOp, Nothing>(),
      {.services = {&service, 1}}, &diagnostic);
  if (!session.ok()) {
    throw std::runtime_error(intarsia::converter::describe_text(diagnostic, bytes.span()));
  }
  session->input<float>(0).value()[0] = kValue;

  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    if (!session->run().ok()) throw std::runtime_error("a run failed");
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    best = std::min(best, time.count() / kNodes);
  }
  if (python && session->output<float>(0).value()[0] != kValue) {
    throw std::runtime_error("the chain did not survive");
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool limited = argc == 3 && std::strcmp(argv[1], "--limit") == 0;
  if (argc != 1 && !limited) {
    std::fputs("usage: pyop_overhead_bench [--limit NANOSECONDS]\n", stderr);
    return 2;
  }
  intarsia::converter::ConvertOptions options;
  options.library =
      intarsia::converter::load_operators({}, {{"allow-pyop", ""}, {"pyop-path", FOLDER}});
  const char* folders[] = {FOLDER};
  const auto host = intarsia::PyHost::start({.module_paths = folders});
  if (!host.ok()) throw std::runtime_error("Python does not start");
  const double native = measure(false, {}, host->service());
  const double python = measure(true, options, host->service());
  std::printf("overhead per node: %.0f ns in Python, %.1f ns native (%d nodes, best of %d runs)\n",
              python, native, kNodes, kRounds);
  const double limit = limited ? std::atof(argv[2]) : 0;
  if (limited && !(python <= limit)) {
    std::fprintf(stderr, "pyop_overhead_bench: %.0f ns per node, above the limit of %.0f\n", python,
                 limit);
    return 1;
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "pyop_overhead_bench: %s\n", error.what());
  return 1;
}
