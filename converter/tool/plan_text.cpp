// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/plan_text.h"

#include <fmt/format.h>

#include "intarsia/describe.h"

namespace intarsia::tool {
namespace {

using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

std::string at(const Strings* strings, uint32_t index) {
  return strings != nullptr && index < strings->size() ? strings->Get(index)->str() : "";
}

}  // namespace

PlanText::PlanText(std::span<const std::byte> plan) {
  std::memcpy(&header_, plan.data(), sizeof(header_));
  root_ = plan::GetPlan(plan.data() + header_.structure_offset);
}

uint32_t PlanText::node_count() const {
  return root_->nodes() ? root_->nodes()->size() : 0;
}

const plan::Tensor* PlanText::operand(const plan::Node& node, uint32_t operand) const {
  const uint32_t index = root_->operands()->Get(node.operands() + operand);
  return index == kNone ? nullptr : root_->tensors()->Get(index);
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

}  // namespace intarsia::tool
