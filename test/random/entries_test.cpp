// SPDX-License-Identifier: Apache-2.0
//
// Two random models as entry points of one plan: each computes what it computes alone, to the bit,
// and keeps its inputs and outputs while the other runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "converter/graph/describe_text.h"
#include "test/random/generator.h"
#include "test/random/plan_runner.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using converter::AlignedBytes;
using converter::ConvertOptions;

constexpr const char* kNames[] = {"first", "second"};
/// Before what fails without another entry point: the other tests of this folder see that.
const std::string kAlone = "alone: ";

class Joined {
 public:
  Joined(uint64_t seed, const ConvertOptions& options)
      : options_(options), library_(options.operators()) {
    Coverage ignored;
    for (const uint64_t number : {seed, seed + 1}) {
      models_.push_back(random_model(number, library_, ignored));
    }
  }

  /// What differs; "" if nothing does.
  std::string check() {
    std::vector<ConvertedPlan> alone;
    for (const RandomModel& model : models_) {
      alone.push_back(test::convert(model, onnx_bytes(model), options_));
      if (!alone.back().error.empty()) return kAlone + alone.back().error;
    }
    PlanRunner first(models_[0], alone[0], library_.kernels(), library_.services(), detect_isa());
    PlanRunner second(models_[1], alone[1], library_.kernels(), library_.services(), detect_isa());
    if (!first.opened() || !second.opened())
      return kAlone + first.run(0).error + second.run(0).error;
    if (const std::string error = convert(); !error.empty()) return error;
    AlignedBytes arena(summary_.arena_bytes);
    std::memset(arena.data(), 0x7f, arena.span().size());
    SessionOptions options;
    options.services = library_.services();
    options.max_steps = 1'000'000;  // what others overwrite may be a number of trips
    Diagnostic diagnostic;
    auto opened =
        Session::open(plan_.span(), arena.span(), library_.kernels(), options, &diagnostic);
    if (!opened.ok()) return "open: " + converter::describe_text(diagnostic, plan_.span());
    Session session = std::move(opened.value());
    const size_t runs = std::min(models_[0].runs.size(), models_[1].runs.size());
    for (size_t run = 0; run < runs; ++run) {
      const PlanRun expected[] = {first.run(run), second.run(run)};
      if (!session.reset_states()) return "reset_states: " + text(session);
      // Both inputs are there before either runs, and both outputs after both have.
      for (const int entry : {0, 1}) {
        if (!expected[entry].error.empty()) return kAlone + expected[entry].error;
        if (!give(session, entry, run)) return "inputs: " + text(session);
      }
      const int begin = static_cast<int>(run % 2);
      for (const int entry : {begin, 1 - begin}) {
        if (!session.run(entry)) return fmt::format("run {}: {}", run, text(session));
      }
      for (const int entry : {0, 1}) {
        for (size_t i = 0; i < expected[entry].outputs.size(); ++i) {
          const Constant& value = expected[entry].outputs[i];
          const Port port = session.output_port(static_cast<int>(i), entry).value();
          if (constant_of(session, port.tensor) == value) continue;
          return fmt::format("run {}: output '{}' of the entry point '{}' differs", run, port.name,
                             kNames[entry]);
        }
      }
    }
    return {};
  }

 private:
  std::string convert() {
    ConvertOptions joined = options_;
    const std::string onnx[] = {onnx_bytes(models_[0]), onnx_bytes(models_[1])};
    std::vector<converter::EntrySource> sources;
    for (size_t i = 0; i < 2; ++i) {
      ConvertOptions own;
      set_extents(models_[i], own);
      const std::string prefix = std::string(kNames[i]) + ":";
      for (const auto& [name, range] : own.dims) joined.dims[prefix + name] = range;
      for (const auto& [name, extents] : own.shapes) joined.shapes[prefix + name] = extents;
      for (const auto& [name, extents] : own.bounds) joined.bounds[prefix + name] = extents;
      for (const auto& [name, trips] : own.max_trips) joined.max_trips[prefix + name] = trips;
      sources.push_back({kNames[i], {}, std::as_bytes(std::span(onnx[i]))});
    }
    const auto result = converter::convert_entries(sources, joined);
    if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
      return failure->text();
    }
    const converter::PlanFile& file = std::get<converter::Conversion>(result).plan;
    plan_ = AlignedBytes(file.bytes.size());
    std::memcpy(plan_.data(), file.bytes.data(), file.bytes.size());
    summary_ = file.summary;
    return {};
  }

  bool give(Session& session, int entry, size_t run) {
    const RandomModel& model = models_[static_cast<size_t>(entry)];
    for (const int input : model.used_inputs()) {
      const Constant& value = model.tensor(input).values[run];
      const Result<int> index = session.find_input(model.tensor(input).name, entry);
      const std::vector<int32_t> extents(value.extents.begin(), value.extents.end());
      if (!index.ok() || !session.resize_input(index.value(), extents, entry)) return false;
      const TensorView view = session.input_port(index.value(), entry).value().tensor;
      if (!give_elements(session, value, view, entry)) return false;
    }
    return true;
  }

  std::string text(const Session& session) {
    return converter::describe_text(session.diagnostic(), plan_.span());
  }

  const ConvertOptions& options_;
  const converter::OperatorLibrary& library_;
  std::vector<RandomModel> models_;
  AlignedBytes plan_;
  converter::PlanSummary summary_;
};

int64_t pairs() {
  const char* models = std::getenv("INTARSIA_RANDOM_MODELS");
  return std::max<int64_t>(part_of(20), models != nullptr ? std::atoll(models) / 4 : 100);
}

TEST(RandomEntries, ModelsComputeJoinedWhatTheyComputeAlone) {
  ConvertOptions options;
  options.limits.planner_steps = 20'000;
  int64_t compared = 0;
  for (int64_t i = 0; i < pairs(); ++i) {
    const auto seed = static_cast<uint64_t>(7'000'000 + 2 * i);
    const std::string found = Joined(seed, options).check();
    if (found.starts_with(kAlone)) continue;
    ++compared;
    EXPECT_EQ(found, "") << "seeds " << seed << ", " << seed + 1;
  }
  EXPECT_GE(100 * compared, 99 * pairs());
}

/// Plans as if no entry point had to keep anything while another runs.
converter::MemoryPlan plan_without_others(std::vector<converter::PlannedBuffer>& buffers,
                                          const converter::PlannerOptions& options) {
  std::vector<converter::PlannedBuffer> own = buffers;
  for (converter::PlannedBuffer& buffer : own) buffer.more.clear();
  const converter::MemoryPlan plan = converter::plan_memory(own, options);
  for (size_t i = 0; i < own.size(); ++i) buffers[i].offset = own[i].offset;
  return plan;
}

TEST(RandomEntries, PortsThatOthersOverwriteAreNoticed) {
  std::vector<converter::Pass> passes = converter::passes_without({});
  passes.push_back(
      {"forget", [](converter::Graph&, converter::Inference&, converter::PlanChoices& choices) {
         choices.storage.plan = plan_without_others;
       }});
  ConvertOptions options;
  options.limits.planner_steps = 20'000;
  options.passes = passes;
  int noticed = 0;
  constexpr int kTried = kSlowBuild ? 8 : 20;
  for (uint64_t i = 0; i < kTried; ++i) {
    try {
      const std::string found = Joined(7'000'000 + 2 * i, options).check();
      noticed += found.find("differs") != std::string::npos ? 1 : 0;
    } catch (const converter::Error&) {  // what was a sequence is none any more
      ++noticed;
    }
  }
  EXPECT_GE(4 * noticed, kTried);
}

}  // namespace
}  // namespace intarsia::test
