// SPDX-License-Identifier: Apache-2.0
//
// ONNX models from outside: bytes -> import, every pass -> plan -> open and run. What the converter
// emits must open: it comes from the same hands as the verifier.
#include <cstring>

#include "converter/convert.h"
#include "converter/import.h"
#include "converter/tool/program.h"
#include "test/fuzz/plan_run.h"

namespace {

using namespace intarsia;

/// Ranges for every symbolic dimension, and values for inputs of known and small extents, so that
/// the trial execution is reached too.
converter::ConvertOptions options_for(std::span<const std::byte> model) {
  converter::ConvertOptions options;
  options.limits.folding = {1 << 22, 1e7};
  options.limits.planner_steps = 20'000;
  const converter::Model imported = converter::import_bytes(model);
  for (int i = 0; i < imported.symbols->size(); ++i) {
    options.dims[(*imported.symbols)[i].name] = converter::DimRange{1, 3};
  }
  for (const converter::Value* input : imported.graph->inputs()) {
    if (!input->shape) continue;
    std::vector<int64_t> extents;
    for (int axis = 0; axis < input->shape->rank; ++axis) {
      const definitions::Dim& extent = (*input->shape)[axis];
      extents.push_back(is_constant(extent) ? constant_value(extent) : 2);
    }
    const int64_t bytes = converter::checked_byte_size(input->type, extents);
    if (bytes < 0 || bytes > 4096 || element_bits(input->type) == 0) continue;
    std::vector<std::byte> ones(static_cast<size_t>(bytes), std::byte{1});
    options.probe[input->name] = converter::Constant::own(input->type, extents, std::move(ones));
  }
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = std::as_bytes(std::span(data, size));
  converter::ConvertOptions options;
  try {
    options = options_for(model);
  } catch (const converter::Error&) {
    return 0;
  }
  const auto result = converter::convert_bytes(model, options);
  if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
    const std::string text = failure->text();
    fuzz::require(!text.empty(), "a failure has a text");
    // Exceptions that no pass expects: std::out_of_range and the like.
    fuzz::require(text.find("internal error") == std::string::npos, text.c_str());
    return 0;
  }
  const auto& bytes = std::get<converter::Conversion>(result).plan.bytes;
  tool::AlignedBytes plan(bytes.size());
  std::memcpy(plan.span().data(), bytes.data(), bytes.size());
  fuzz::require(fuzz::open_and_run(plan.span(), {data, size}) != fuzz::Outcome::kRefused,
                "a plan of this converter opens");
  return 0;
}
