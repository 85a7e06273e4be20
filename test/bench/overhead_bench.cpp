// SPDX-License-Identifier: Apache-2.0
//
// Overhead of the runtime per node: a chain of 1,000 nodes whose kernel does nothing, so all the
// time is the executor's: operands bound to views, the call.
//
//   overhead_bench [--limit NANOSECONDS]     prints the figure; fails above the limit
//
// The figure is the fastest of many runs of the chain: what other programs take does not count.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "intarsia/session.h"
#include "test/converter/onnx_builder.h"

namespace {

constexpr int kNodes = 1000;
constexpr int kRounds = 5000;

int64_t calls = 0;

// Under the key of the kernel that the plan names.
struct Nothing {
  static constexpr intarsia::KernelId id{"Abs", "", {intarsia::DataType::kFloat}};
  static intarsia::Status run(const intarsia::KernelContext&) {
    ++calls;
    return {};
  }
};

std::string chain() {
  intarsia::converter::OnnxBuilder model;
  model.input("t0", {1, 1});
  for (int i = 0; i < kNodes; ++i) {
    const std::string from = "t" + std::to_string(i), to = "t" + std::to_string(i + 1);
    model.node("Abs", {from.c_str()}, {to.c_str()});
  }
  model.output("t" + std::to_string(kNodes));
  return model.bytes();
}

// The plan's bytes or an arena; both want this alignment.
struct alignas(intarsia::kArenaAlignment) Line {
  std::byte bytes[intarsia::kArenaAlignment];
};
std::vector<Line> lines(size_t bytes) {
  return std::vector<Line>((bytes + sizeof(Line) - 1) / sizeof(Line));
}

}  // namespace

int main(int argc, char** argv) {
  const bool limited = argc == 3 && std::strcmp(argv[1], "--limit") == 0;
  if (argc != 1 && !limited) {
    std::fputs("usage: overhead_bench [--limit NANOSECONDS]\n", stderr);
    return 2;
  }
  const std::string model = chain();
  const auto result = intarsia::converter::convert_bytes(std::as_bytes(std::span(model)), {});
  if (const auto* failure = std::get_if<intarsia::converter::ConversionFailure>(&result)) {
    std::fprintf(stderr, "overhead_bench: %s\n", failure->text().c_str());
    return 1;
  }
  const auto& plan = std::get<intarsia::converter::Conversion>(result).plan;
  std::vector<Line> plan_lines = lines(plan.bytes.size());
  std::memcpy(plan_lines.data(), plan.bytes.data(), plan.bytes.size());
  std::vector<Line> arena = lines(plan.summary.arena_bytes);

  auto session = intarsia::Session::open_trusted(
      std::as_bytes(std::span(plan_lines)).first(plan.bytes.size()),
      std::as_writable_bytes(std::span(arena)), intarsia::trusted_kernel_set<Nothing>());
  if (!session.ok() || !session->run().ok() || calls != kNodes) {
    std::fprintf(stderr, "overhead_bench: %lld calls, expected %d: the chain did not survive\n",
                 static_cast<long long>(calls), kNodes);
    return 1;
  }

  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    if (!session->run().ok()) return 1;
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    best = std::min(best, time.count() / kNodes);
  }
  std::printf("overhead per node: %.1f ns (%d nodes, best of %d runs)\n", best, kNodes, kRounds);
  const double limit = limited ? std::atof(argv[2]) : 0;
  if (limited && !(best <= limit)) {
    std::fprintf(stderr, "overhead_bench: %.1f ns per node, above the limit of %.1f\n", best,
                 limit);
    return 1;
  }
  return 0;
}
