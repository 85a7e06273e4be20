// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/definitions/registry.h"
#include "intarsia/describe.h"

namespace intarsia::tool {
namespace {

using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

std::string at(const Strings* strings, uint32_t index) {
  return strings != nullptr && index < strings->size() ? shown_name(strings->Get(index)) : "";
}

/// Bytes of the UTF-8 sequence at `text`, at most four; 0 if it is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80   ? 1
                        : byte(0) < 0xc2 ? 0
                        : byte(0) < 0xe0 ? 2
                        : byte(0) < 0xf0 ? 3
                        : byte(0) < 0xf5 ? 4
                                         : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Encodings that are longer than need be, surrogates, and what lies beyond Unicode.
  if (length == 3 && (byte(0) == 0xe0 && byte(1) < 0xa0)) return 0;
  if (length == 3 && (byte(0) == 0xed && byte(1) > 0x9f)) return 0;
  if (length == 4 && (byte(0) == 0xf0 && byte(1) < 0x90)) return 0;
  if (length == 4 && (byte(0) == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

}  // namespace

std::string shown_name(const flatbuffers::String* name) {
  std::string_view rest = name != nullptr ? name->string_view() : std::string_view();
  std::string shown;
  while (!rest.empty()) {
    const size_t length = sequence_length(rest);
    if (shown.size() + std::max<size_t>(length, 1) > kLongestName) return shown + "...";
    const bool control = length == 1 && (rest[0] < ' ' || rest[0] == 0x7f);
    shown += length == 0 || control ? "?" : rest.substr(0, length);
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

PlanText::PlanText(std::span<const std::byte> plan) {
  std::memcpy(&header_, plan.data(), sizeof(header_));
  root_ = plan::GetPlan(plan.data() + header_.structure_offset);
  uint32_t first = 0;
  for (uint32_t i = 0; i < node_count(); ++i) {
    operands_.push_back(first);
    first += operand_count(node(i));
  }
}

uint32_t PlanText::node_count() const {
  return root_->nodes() ? root_->nodes()->size() : 0;
}

const plan::Tensor* PlanText::operand(uint32_t index, uint32_t operand) const {
  const uint32_t tensor = root_->operands()->Get(operands_[index] + operand);
  return tensor == kNone ? nullptr : root_->tensors()->Get(tensor);
}

int64_t PlanText::bytes(const plan::Tensor& tensor) const {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    count *= root_->extents()->Get(tensor.extents() + axis);
  }
  return byte_size(static_cast<DataType>(tensor.type()), count);
}

std::string PlanText::tensor_text(const plan::Tensor& tensor) const {
  std::string text = fmt::format("{} [", data_type_name(static_cast<DataType>(tensor.type())));
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    text +=
        fmt::format("{}{}{}", axis == 0 ? "" : ",", root_->extents()->Get(tensor.extents() + axis),
                    tensor.extents() < root_->dynamic_extents() ? "*" : "");
  }
  return text + "]";
}

std::string PlanText::node_name(uint32_t index) const {
  return at(root_->node_names(), index);
}
std::string PlanText::operator_name(uint32_t index) const {
  return at(root_->operators(), index);
}
std::string PlanText::kernel_name(uint32_t index) const {
  return at(root_->kernel_names(), node(index).kernel());
}
bool PlanText::draws(uint32_t index) const {
  const auto* op = definitions::OperatorRegistry::builtin().find("", operator_name(index));
  return op != nullptr && op->facts.stream;
}
bool PlanText::is_control_flow(uint32_t index) const {
  const auto* op = definitions::OperatorRegistry::builtin().find("", operator_name(index));
  return op != nullptr && !op->graphs.empty();
}

}  // namespace intarsia::tool
