// SPDX-License-Identifier: Apache-2.0
//
// Plans as an attacker writes them: records of a converted plan are changed in place, and the plan
// is opened without its checksum.
#pragma once

#include "core/plan_file.h"
#include "core/plan_structure.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

inline const plan::Plan& root_of(std::span<const std::byte> plan) {
  PlanHeader header;
  std::memcpy(&header, plan.data(), sizeof(header));
  return *plan::GetPlan(plan.data() + header.structure_offset);
}

/// Overwrites the number at `offset` of a record (core/plan.fbs) with another of its size, until
/// the end of the scope.
class Forgery {
 public:
  template <class T>
  Forgery(const void* record, size_t offset, T value)
      : place_(static_cast<uint8_t*>(const_cast<void*>(record)) + offset), size_(sizeof(value)) {
    std::memcpy(before_, place_, size_);
    std::memcpy(place_, &value, size_);
  }
  Forgery(const Forgery&) = delete;
  Forgery& operator=(const Forgery&) = delete;
  ~Forgery() { std::memcpy(place_, before_, size_); }

 private:
  uint8_t* place_;
  size_t size_;
  uint8_t before_[8] = {};
};

/// Offsets of fields in records, for Forgery.
namespace field {
inline constexpr size_t kTensorPlace = 0, kTensorExtents = 4, kTensorType = 8, kTensorRank = 9,
                        kTensorMemory = 10;
inline constexpr size_t kNodeAttributes = 0, kNodeKernel = 4, kNodeShape = 6, kNodeInputs = 8,
                        kNodeOutputs = 10;
inline constexpr size_t kGraphFirst = 0, kGraphCount = 4, kGraphOperands = 8, kGraphParent = 12;
inline constexpr size_t kSlotTensor = 0, kSlotPlace = 4, kSlotFlags = 8, kSlotInitial = 12;
inline constexpr size_t kStateSlot = 0, kStateSource = 4;
inline constexpr size_t kArenaBytes = 0, kMetadataBytes = 8, kDeviceArenaBytes = 40,
                        kDeviceWeightsOffset = 56, kDeviceWeightsBytes = 64, kSegments = 72;
}  // namespace field

class ForgedPlan : public SmallPlan {
 public:
  using SmallPlan::SmallPlan;

  const plan::Plan& root() { return root_of(plan()); }
  const plan::Entry* entry(uint32_t index) { return root().entries()->Get(index); }
  const plan::Node* node(uint32_t index) { return root().nodes()->Get(index); }
  const plan::Tensor* tensor(uint32_t index) { return root().tensors()->Get(index); }
  /// The first tensor that lies there.
  const plan::Tensor* tensor_in(Memory kind) {
    for (const plan::Tensor* found : *root().tensors()) {
      if (static_cast<Memory>(found->memory()) == kind) return found;
    }
    ADD_FAILURE() << "no tensor in memory " << static_cast<int>(kind);
    return tensor(0);
  }
  /// Operands count inputs, outputs, workspace, state.
  uint32_t operand(uint32_t node_index, uint32_t index) {
    return root().operands()->Get(first_operand(root(), node_index) + index);
  }
  const plan::Tensor* operand_tensor(uint32_t node_index, uint32_t index) {
    return tensor(operand(node_index, index));
  }
  const int32_t* extent(const plan::Tensor* tensor, uint32_t axis) {
    return reinterpret_cast<const int32_t*>(root().extents()->Data()) + tensor->extents() + axis;
  }

  /// Makes the checksum right, for what insists on it.
  void seal() {
    PlanHeader header;
    std::memcpy(&header, plan().data(), sizeof(header));
    header.checksum = plan_checksum(plan(), header);
    std::memcpy(plan().data(), &header, sizeof(header));
  }
  static SessionOptions unchecked() {
    SessionOptions options;
    options.checksum = false;
    return options;
  }
  /// The sentence with which the plan is refused; "" if it opens.
  std::string refusal() { return open(unchecked()).ok() ? "" : text(diagnostic); }
};

/// next = x + state, y = -next, next kept from run to run.
inline converter::OnnxBuilder stateful_model() {
  converter::OnnxBuilder model;
  model.input("x", {2, 3});
  model.input("state", {2, 3});
  model.output("next");
  model.output("y");
  model.node("Add", {"x", "state"}, {"next"});
  model.node("Neg", {"next"}, {"y"});
  return model;
}
inline converter::ConvertOptions stateful_options() {
  converter::ConvertOptions options;
  options.states["next"] = "state";
  return options;
}

inline const flatbuffers::Table& table(const void* record) {
  return *static_cast<const flatbuffers::Table*>(record);
}
/// Where a table keeps a field that it has.
inline const void* place_of(const void* record, uint16_t field) {
  const uint8_t* place = table(record).GetAddressOf(field);
  EXPECT_NE(place, nullptr) << "field " << field << " is absent";
  return place;
}

/// The sentence with which `plan` is refused while this number of a record is another.
template <class T>
std::string with(ForgedPlan& plan, const void* record, size_t offset, T value) {
  const Forgery forgery(record, offset, value);
  return plan.refusal();
}
/// The same for a field of a table.
template <class T>
std::string with_field(ForgedPlan& plan, const void* record, uint16_t field, T value) {
  return with(plan, place_of(record, field), 0, value);
}
/// The same for a table without that field.
inline std::string without(ForgedPlan& plan, const void* record, uint16_t field) {
  return with(plan, table(record).GetVTable(), field, uint16_t{0});
}

}  // namespace intarsia::test
