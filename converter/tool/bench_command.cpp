// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "converter/tool/commands.h"
#include "converter/tool/compare.h"
#include "converter/tool/heap_counter.h"
#include "converter/tool/options.h"
#include "converter/tool/plan_text.h"
#include "converter/tool/program.h"

namespace intarsia::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string model, entry;
  double seconds = 2;
  bool per_node = false, json = false;
  ConversionArguments conversion;
  InputArguments inputs;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Sums the time of each node; one slot per node, so that observing allocates nothing.
struct Profile {
  std::vector<double> total;
  std::vector<Clock::time_point> started;

  static void before(void* self, const KernelContext& context) {
    auto& profile = *static_cast<Profile*>(self);
    profile.started[static_cast<size_t>(context.node())] = Clock::now();
  }
  static void after(void* self, const KernelContext& context) {
    auto& profile = *static_cast<Profile*>(self);
    const auto node = static_cast<size_t>(context.node());
    profile.total[node] += milliseconds_since(profile.started[node]);
  }
};

/// What the graphs of these entry points take, queued one behind the other so that the time in
/// which the host launches one is not among it: the median of rounds of about ten milliseconds.
double device_ms(Program& program, const std::vector<int>& entries, double run_ms, double seconds) {
  constexpr double kRound = 10;
  const int times = static_cast<int>(std::clamp(kRound / std::max(run_ms, 1e-3), 1.0, 1000.0));
  std::vector<double> rounds;
  const auto begin = Clock::now();
  do {
    double time = 0;
    for (const int entry : entries) {
      const auto start = Clock::now();
      const Status status = program.session().launch_graphs(entry, times);
      time += milliseconds_since(start);
      if (!status) throw converter::Error(program.failure());
    }
    rounds.push_back(time / times);
  } while (rounds.size() < 3 || milliseconds_since(begin) < 1000 * seconds);
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

int bench(const Arguments& arguments) {
  const Values inputs = arguments.inputs.read();
  Profile profile;
  const Observer observer{&profile, &Profile::before, &Profile::after};
  Program::Options options;
  options.conversion = arguments.conversion.parse();
  options.open_on_device = open_on_device();
  if (arguments.per_node) options.observer = &observer;
  Program program(arguments.model, inputs, options);
  for (const std::string& warning : program.warnings())
    fmt::print(stderr, "warning: {}\n", warning);
  const uint32_t nodes = node_count(program.plan());
  profile.total.resize(nodes);
  profile.started.resize(nodes);

  // A run may use an input's memory for other tensors, so each run gets its inputs afresh.
  const std::vector<int> runs = program.runs_for(program.find_entry(arguments.entry));
  program.require_inputs(inputs, runs);
  std::vector<Values> filled;
  OpenPlan& session = program.session();
  for (const int entry : runs) {
    filled.push_back(program.completed(program.inputs_among(inputs, entry), entry));
    program.set_inputs(filled.back(), entry);
    program.run(entry);  // warm-up; reports what is wrong
  }
  std::fill(profile.total.begin(), profile.total.end(), 0);

  std::vector<double> times;
  times.reserve(1 << 20);
  int64_t heap = 0;
  const auto begin = Clock::now();
  do {
    double time = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      program.set_inputs(filled[i], runs[i]);
      const int64_t heap_before = heap_calls();
      const auto start = Clock::now();
      const Status status = session.run(runs[i]);
      time += milliseconds_since(start);
      heap += heap_calls() - heap_before;
      if (!status) throw converter::Error(program.failure());
    }
    times.push_back(time);
  } while (milliseconds_since(begin) < 1000 * arguments.seconds && times.size() < times.capacity());

  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&sorted](double q) {
    return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  const double count = static_cast<double>(times.size());
  nlohmann::ordered_json result{{"min_ms", sorted.front()},
                                {"median_ms", quantile(0.5)},
                                {"p99_ms", quantile(0.99)},
                                {"runs", times.size()},
                                {"arena_bytes", program.arena_bytes()},
                                {"plan_bytes", program.plan().size()},
                                {"nodes", nodes},
                                {"heap_calls", heap_calls() < 0 ? -1 : heap}};
  const bool on_device = session.graph_count() > 0;
  const double device = on_device ? device_ms(program, runs, quantile(0.5), arguments.seconds) : 0;
  if (on_device) {
    result["device_ms"] = device;
    result["graphs"] = session.graph_count();
    result["device_arena_bytes"] = program.info().device_arena_bytes;
    result["device_weights_bytes"] = program.info().device_weights_bytes;
  }
  if (arguments.per_node) {
    const PlanText text(program.plan());
    for (uint32_t i = 0; i < nodes; ++i) {
      result["per_node"].push_back({{"node", i},
                                    {"name", text.node_name(i)},
                                    {"operator", text.operator_name(i)},
                                    {"kernel", text.kernel_name(i)},
                                    {"mean_ms", profile.total[i] / count}});
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", result.dump(2));
    return 0;
  }
  fmt::print(
      "min {:.4f} ms, median {:.4f} ms, p99 {:.4f} ms over {} runs; arena {} bytes, plan {} "
      "bytes, {} nodes, {} heap calls\n",
      sorted.front(), quantile(0.5), quantile(0.99), times.size(), program.arena_bytes(),
      program.plan().size(), nodes, heap_calls() < 0 ? -1 : heap);
  if (on_device) {
    fmt::print(
        "of it the device's graphs, without copies and nodes of the CPU: {:.4f} ms; {} graphs, "
        "device arena {} bytes, device weights {} bytes\n",
        device, session.graph_count(), program.info().device_arena_bytes,
        program.info().device_weights_bytes);
  }
  if (arguments.per_node) {
    auto rows = result["per_node"];
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a["mean_ms"].template get<double>() > b["mean_ms"].template get<double>();
    });
    for (const auto& row : rows) {
      fmt::print("{:9.4f} ms  {:<5} {:<18} {:<40} {}\n", row["mean_ms"].get<double>(),
                 row["node"].get<int>(), row["operator"].get<std::string>(),
                 row["kernel"].get<std::string>(), row["name"].get<std::string>());
    }
  }
  return 0;
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("model", arguments->model, "a plan, or an ONNX model to convert and run")
      ->required()
      ->type_name("MODEL.plan|MODEL.onnx");
  arguments->inputs.add_to(app);
  app.add_option("--entry", arguments->entry,
                 "entry point to measure, together with the one that it continues");
  app.add_option("--seconds", arguments->seconds, "how long to measure")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--threads", arguments->conversion.threads, "threads to run on")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--per-node", arguments->per_node, "time of each node, slowest first");
  app.add_flag("--json", arguments->json, "print JSON");
  arguments->conversion.add_to(app);
  return [arguments] { return bench(*arguments); };
}

}  // namespace intarsia::tool
