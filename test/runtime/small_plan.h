// SPDX-License-Identifier: Apache-2.0
//
// Plans of tiny models for tests: converted in memory, opened with every kernel there is.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/tool/program.h"
#include "test/converter/onnx_builder.h"
#include "test/slow_build.h"

namespace intarsia::test {

/// Names of entry points and their models.
using Entries = std::vector<std::pair<std::string, converter::OnnxBuilder>>;

/// A plan with an arena of exactly the size that it asks for.
class SmallPlan {
 public:
  explicit SmallPlan(const converter::OnnxBuilder& model,
                     const converter::ConvertOptions& options = {})
      : library_(options.library) {
    const std::string bytes = model.bytes();
    take(converter::convert_bytes(std::as_bytes(std::span(bytes)), quick(options)));
  }
  /// A plan with an entry point for each model.
  explicit SmallPlan(const Entries& entries, const converter::ConvertOptions& options = {})
      : library_(options.library) {
    take(convert(entries, quick(options)));
  }

  /// The searches for a tight arena would take most of the time of a slow build.
  static converter::ConvertOptions quick(converter::ConvertOptions options) {
    if (kSlowBuild)
      options.limits.planner_steps = std::min<int64_t>(options.limits.planner_steps, 200'000);
    return options;
  }

  static converter::ConversionResult convert(const Entries& entries,
                                             const converter::ConvertOptions& options) {
    std::vector<std::string> bytes;
    for (const auto& [name, model] : entries) bytes.push_back(model.bytes());
    std::vector<converter::EntrySource> sources;
    for (const auto& [name, model] : entries) {
      sources.push_back({name, {}, std::as_bytes(std::span(bytes[sources.size()]))});
    }
    return converter::convert_entries(sources, options);
  }

  std::span<std::byte> plan() { return plan_->span(); }
  std::span<std::byte> arena() { return arena_->span(); }

  Result<Session> open(SessionOptions options = {}) { return open_in(arena(), options); }
  /// A second session over the same plan needs an arena of its own.
  Result<Session> open_in(std::span<std::byte> arena, SessionOptions options = {}) {
    const KernelSet kernels = library_ != nullptr ? library_->kernels() : tool::all_kernels();
    if (library_ != nullptr && options.services.empty()) options.services = library_->services();
    return Session::open(plan(), arena, kernels, options, &diagnostic);
  }
  std::string text(const Diagnostic& found) { return tool::describe_text(found, plan()); }

  converter::Conversion conversion;
  Diagnostic diagnostic;

 private:
  void take(const converter::ConversionResult& result) {
    if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
      ADD_FAILURE() << failure->text();
      return;
    }
    conversion = std::get<converter::Conversion>(result);
    plan_ = std::make_unique<tool::AlignedBytes>(conversion.plan.bytes.size());
    std::memcpy(plan().data(), conversion.plan.bytes.data(), plan().size());
    arena_ = std::make_unique<tool::AlignedBytes>(conversion.plan.summary.arena_bytes);
  }

  std::shared_ptr<const converter::OperatorLibrary> library_;
  std::unique_ptr<tool::AlignedBytes> plan_, arena_;
};

/// The text of the failure that converting gives; "" if it succeeds.
inline std::string conversion_error(const converter::OnnxBuilder& model,
                                    const converter::ConvertOptions& options = {}) {
  const std::string bytes = model.bytes();
  const auto result = converter::convert_bytes(std::as_bytes(std::span(bytes)), options);
  const auto* failure = std::get_if<converter::ConversionFailure>(&result);
  return failure != nullptr ? failure->text() : "";
}

inline std::string conversion_error(const Entries& entries,
                                    const converter::ConvertOptions& options = {}) {
  const auto result = SmallPlan::convert(entries, options);
  const auto* failure = std::get_if<converter::ConversionFailure>(&result);
  return failure != nullptr ? failure->text() : "";
}

/// y = Relu(x W + b) with W [3,4]: y of (1,2,3) is known.
inline converter::OnnxBuilder mlp() {
  converter::OnnxBuilder model;
  model.input("x", {1, 3});
  model.output("y");
  model.floats("w", {3, 4}, {1, 0, 0, -1, 0, 1, 0, -1, 0, 0, 1, -1});
  model.floats("b", {4}, {0.5f, -0.5f, 0, 1});
  model.node("Gemm", {"x", "w", "b"}, {"h"});
  model.node("Relu", {"h"}, {"y"});
  return model;
}

/// Marks axis `axis` of an input as the symbolic dimension `name`.
inline void symbol(onnx::ValueInfoProto& input, int axis, const char* name) {
  input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis)->set_dim_param(
      name);
}

inline void write(Session& session, int input, const std::vector<float>& values, int entry = 0) {
  const auto span = session.input<float>(input, entry).value();
  ASSERT_EQ(span.size(), values.size());
  std::copy(values.begin(), values.end(), span.begin());
}
inline std::vector<float> read(Session& session, int output, int entry = 0) {
  const auto span = session.output<float>(output, entry).value();
  return {span.begin(), span.end()};
}

}  // namespace intarsia::test
