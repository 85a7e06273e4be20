// SPDX-License-Identifier: Apache-2.0
#include "test/random/plan_runner.h"

#include <fmt/format.h>

#include <cstring>

#include "converter/graph/describe_text.h"
#include "converter/graph/strings.h"

namespace intarsia::test {

using converter::AlignedBytes;
using converter::describe_text;

ConvertedPlan convert(const RandomModel& model, const std::string& onnx,
                      converter::ConvertOptions options) {
  set_extents(model, options);
  options.own_operators = true;
  const auto result = converter::convert_bytes(std::as_bytes(std::span(onnx)), options);
  ConvertedPlan plan;
  if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
    plan.error = failure->text();
    return plan;
  }
  const auto& conversion = std::get<converter::Conversion>(result);
  plan.bytes = AlignedBytes(conversion.plan.bytes.size());
  std::memcpy(plan.bytes.data(), conversion.plan.bytes.data(), conversion.plan.bytes.size());
  plan.summary = conversion.plan.summary;
  return plan;
}

namespace {

/// Threads one after the other, the last first: results may not depend on who does what.
void run_backwards(void* self, int64_t count, void (*body)(void*, int64_t, int64_t, int),
                   void* argument) {
  const int threads = static_cast<const Parallel*>(self)->threads;
  for (int thread = threads - 1; thread >= 0; --thread) {
    const int64_t begin = count * thread / threads, end = count * (thread + 1) / threads;
    if (begin < end) body(argument, begin, end, thread);
  }
}

}  // namespace

bool give_elements(Session& session, const Constant& value, const TensorView& view, int entry) {
  bool fits = true;
  const std::vector<std::byte> bytes =
      converter::with_strings(value, [&](std::string_view text) -> StringRef {
        Result<StringRef> added = session.add_string(text, entry);
        fits = fits && added.ok();
        return added.ok() ? *added : StringRef();
      });
  if (!bytes.empty()) std::memcpy(view.data, bytes.data(), bytes.size());
  return fits;
}

Constant constant_of(const Session& session, const TensorView& tensor) {
  const auto* data = tensor.as<const std::byte>();
  return converter::with_characters(
      tensor.type, {tensor.extents, tensor.extents + tensor.rank},
      std::vector<std::byte>(data, data + tensor.bytes()),
      [&session](StringRef string) { return session.string(string); });
}

PlanRunner::PlanRunner(const RandomModel& model, ConvertedPlan& plan, KernelSet kernels,
                       std::span<const Service> services, Isa isa, int threads)
    : model_(model), plan_(plan), arena_(plan.summary.arena_bytes) {
  parallel_ = {&parallel_, threads, run_backwards, 0};  // all nodes, however small
  // What nobody has written must not matter.
  std::memset(arena_.data(), 0x7f, arena_.span().size());
  SessionOptions options;
  options.isa = isa;
  options.services = services;
  if (threads > 1) options.parallel = &parallel_;
  Diagnostic diagnostic;
  auto opened = Session::open(plan.bytes.span(), arena_.span(), kernels, options, &diagnostic);
  if (opened.ok()) {
    session_ = std::move(opened.value());
  } else {
    error_ = "open: " + describe_text(diagnostic, plan.bytes.span());
  }
}

PlanRun PlanRunner::run(size_t number) {
  PlanRun result;
  result.error = error_;
  if (!error_.empty()) return result;
  // What is expected of a node is what it computes, and draws, at first.
  if (!session_.reset_states()) return failure("reset_states");
  const std::vector<int> inputs = model_.used_inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const RandomTensor& tensor = model_.tensor(inputs[i]);
    const Constant& value = tensor.values[number];
    const Result<int> index = session_.find_input(tensor.name);
    if (!index.ok()) return {{}, "the plan lacks input " + tensor.name};
    const std::vector<int32_t> extents(value.extents.begin(), value.extents.end());
    if (!session_.resize_input(index.value(), extents)) return failure("resize_input");
    const TensorView view = session_.input_port(index.value()).value().tensor;
    if (!give_elements(session_, value, view)) return failure("add_string");
  }
  if (!session_.run()) return failure("run");
  for (int i = 0; i < session_.output_count(); ++i) {
    result.outputs.push_back(constant_of(session_, session_.output_port(i).value().tensor));
  }
  if (result.outputs.size() != model_.outputs.size()) result.error = "outputs are missing";
  return result;
}

PlanRun PlanRunner::failure(const char* call) {
  return {{},
          fmt::format("{}: {}", call, describe_text(session_.diagnostic(), plan_.bytes.span()))};
}

}  // namespace intarsia::test
