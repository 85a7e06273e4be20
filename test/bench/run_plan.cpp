// SPDX-License-Identifier: Apache-2.0
//
// Runs a model on behalf of the sweep: opened once, then told what to do line by line, so that its
// rounds alternate with those of other engines and no start of a process is among the times.
//
//   run_plan MODEL.onnx|MODEL.plan [--threads N] [--isa NAME] [--input NAME=FILE]...
//       [options of `intarsia convert`]
//
// Every answer is one line of JSON; the first says what was opened. Commands, on standard input:
//
//   time SECONDS [RUNS]  runs until SECONDS have passed or RUNS are done, at least once
//   outputs FOLDER       runs once and writes each output's bytes to FOLDER/<number>.bin
//   plan FILE            writes the plan
//
// A run's time is what a program pays that has its data in ONNX's layout (bound_plan.h).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "converter/tool/compare.h"
#include "test/bench/bound_plan.h"

namespace intarsia::tool {
namespace {

using converter::Error;
using Json = nlohmann::ordered_json;

class Runner : public BoundPlan {
 public:
  using BoundPlan::BoundPlan;

  Json time(double seconds, size_t most) {
    using Clock = std::chrono::steady_clock;
    const std::chrono::duration<double, std::nano> length(1e9 * seconds);
    times_.clear();
    const auto begin = Clock::now();
    auto end = begin;
    do {
      const auto start = Clock::now();
      const Status status = session().run();
      end = Clock::now();
      expect(status);
      times_.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    } while (end - begin < length && times_.size() < most);
    std::sort(times_.begin(), times_.end());
    return {{"runs", times_.size()},
            {"min_ns", times_.front()},
            {"median_ns", times_[times_.size() / 2]},
            {"p99_ns", times_[times_.size() * 99 / 100]}};
  }

  Json outputs(const std::string& folder) {
    run();
    Json list = Json::array();
    for (int i = 0; i < session().output_count(); ++i) {
      const Port port = session().output_port(i).value();
      const TensorView& tensor = port.tensor;
      std::ofstream file(folder + "/" + std::to_string(i) + ".bin", std::ios::binary);
      file.write(tensor.as<const char>(), static_cast<std::streamsize>(tensor.bytes()));
      if (!file) throw Error("output " + std::to_string(i) + " cannot be written to " + folder);
      list.push_back(
          {{"name", port.name},
           {"type", static_cast<int>(tensor.type)},
           {"extents", std::vector<int64_t>(tensor.extents, tensor.extents + tensor.rank)}});
    }
    return list;
  }

  /// Writes the plan, for programs that shall not convert.
  Json write_plan(const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(plan().data()),
               static_cast<std::streamsize>(plan().size()));
    if (!file) throw Error("the plan cannot be written to " + path);
    return {{"bytes", plan().size()}};
  }

 private:
  std::vector<double> times_;
};

void serve(Runner& runner) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, folder;
    double seconds = 0;
    size_t most = SIZE_MAX;
    words >> command;
    Json answer;
    if (command == "time" && words >> seconds) {
      words >> most;
      answer = runner.time(seconds, most == 0 ? SIZE_MAX : most);
    } else if (command == "outputs" && words >> folder) {
      answer = runner.outputs(folder);
    } else if (command == "plan" && words >> folder) {
      answer = runner.write_plan(folder);
    } else {
      throw Error("'" + line +
                  "' is no command; they are: time SECONDS [RUNS], outputs FOLDER, plan FILE");
    }
    std::cout << answer.dump() << std::endl;  // flushed: the other end waits for it
  }
}

int run(int argc, char** argv) {
  CLI::App app("Runs a model on behalf of the sweep");
  std::string model;
  ConversionArguments conversion;
  InputArguments inputs;
  app.add_option("model", model, "an ONNX model or a plan")->required();
  app.add_option("--threads", conversion.threads, "threads to run on")->check(CLI::Range(1, 1024));
  std::optional<Isa> isa;
  const std::map<std::string, Isa> names{
      {"portable", Isa::kPortable},     {"avx2", Isa::kAvx2}, {"avx512", Isa::kAvx512},
      {"avx512vnni", Isa::kAvx512Vnni}, {"amx", Isa::kAmx},   {"neon", Isa::kNeon}};
  app.add_option("--isa", isa, "instruction set, by default the best that the processor has")
      ->transform(CLI::CheckedTransformer(names));
  conversion.add_to(app);
  inputs.add_to(app);
  CLI11_PARSE(app, argc, argv);
  const Values given = inputs.read();
  Program::Options options;
  options.conversion = conversion.parse();
  options.force_isa = isa.has_value();
  options.isa = isa.value_or(Isa::kPortable);
  Program program(model, given, options);
  Runner runner(program, program.completed(given));
  runner.run();
  const Json opened{{"arena_bytes", program.arena_bytes()},
                    {"plan_bytes", program.plan().size()},
                    {"nodes", node_count(program.plan())}};
  std::cout << opened.dump() << std::endl;
  serve(runner);
  return 0;
}

}  // namespace
}  // namespace intarsia::tool

int main(int argc, char** argv) {
  try {
    return intarsia::tool::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_plan: %s\n", error.what());
    return 1;
  }
}
