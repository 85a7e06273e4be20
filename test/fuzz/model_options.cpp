// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/model_options.h"

#include "converter/onnx/import.h"
#include "test/fuzz/operators.h"

namespace intarsia::fuzz {
namespace {

bool has(const std::vector<converter::Value*>& values, std::string_view name) {
  for (const converter::Value* value : values) {
    if (value->name == name) return true;
  }
  return false;
}

}  // namespace

converter::ConvertOptions options_for(std::span<const std::byte> model) {
  converter::ConvertOptions options;
  options.library = library();
  options.limits.folding = {1 << 18, 3e5};
  options.limits.planner_steps = 2'000;
  const converter::Model imported = converter::import_bytes(model);
  for (int i = 0; i < imported.symbols->size(); ++i) {
    options.dims[(*imported.symbols)[i].name] = converter::DimRange{1, 3};
  }
  for (const converter::Value* input : imported.graph->inputs()) {
    if (!input->shape) continue;
    if (input->sequence != nullptr) {
      options.dims.erase(input->name + "@0");
      options.max_lengths[input->name] = 3;
      if (input->type != DataType::kMap) options.shapes[input->name] = {4};
      continue;
    }
    std::vector<int64_t> extents;
    for (int axis = 0; axis < input->shape->rank; ++axis) {
      const definitions::Dim& extent = (*input->shape)[axis];
      extents.push_back(is_constant(extent) ? constant_value(extent) : 2);
    }
    const int64_t bytes = converter::checked_byte_size(input->type, extents);
    if (bytes < 0 || bytes > 4096 || element_bits(input->type) == 0) continue;
    if (input->type == DataType::kString) {
      const std::vector<std::string> words(static_cast<size_t>(bytes) / sizeof(StringRef), "1");
      options.probe[input->name] = converter::Constant::strings(extents, words);
      continue;
    }
    std::vector<std::byte> ones(static_cast<size_t>(bytes), std::byte{1});
    options.probe[input->name] = converter::Constant::own(input->type, extents, std::move(ones));
  }
  if (has(imported.graph->inputs(), "state") && has(imported.graph->outputs(), "next")) {
    options.states["next"] = "state";
  }
  options.max_string = 16;
  for (const char* name : {"Loop1", "Loop3"}) options.max_trips[name] = 5;
  if (has(imported.graph->outputs(), "bounded")) options.bounds["bounded"] = {4};
  if (has(imported.graph->inputs(), "nhwc")) options.layouts["nhwc"] = "nhwc";
  if (imported.producer == "cuda") options.device = converter::ConvertOptions::Device::kCuda;
  return options;
}

}  // namespace intarsia::fuzz
