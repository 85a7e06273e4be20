// SPDX-License-Identifier: Apache-2.0
//
// Mutations of plans that keep the FlatBuffer whole: one number of one record changes, to a
// neighbour, a limit, or a number from another record. Without it nearly every mutation ends in the
// FlatBuffers verifier. Linked with libFuzzer only.
#include <algorithm>
#include <cstring>
#include <random>

#include "core/plan_file.h"
#include "core/runtime/session_state.h"
#include "kernels_cuda/kernels.h"
#include "test/fuzz/operators.h"
#include "test/fuzz/target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace {

using namespace intarsia;
using fuzz::library;

class Mutation {
 public:
  Mutation(const plan::Plan& plan, unsigned seed) : plan_(plan), random_(seed) {}

  void apply() {
    switch (below(20)) {
      case 0:
      case 1:
        return any(plan_.tensors());
      case 2:
      case 3:
        return any(plan_.extents());
      case 4:
      case 5:
        return operand();
      case 6:
      case 7:
        return any(plan_.nodes());
      case 8:
      case 9:
      case 10:
        return attribute();
      case 11:
        return any(plan_.slots());
      case 12:
        return any(below(2) == 0 ? plan_.kernels() : plan_.shapes());
      case 13:
        return key(plan_.kernels());
      case 14:
        return below(2) == 0 ? any(plan_.graphs()) : any(plan_.states());
      case 15:
        return below(2) == 0 ? place() : memory();
      case 16:
        return alias();
      case 17:
        return shared_extents();
      case 18:
        return entry();
      default:
        return type();
    }
  }

 private:
  uint32_t below(size_t limit) {
    return static_cast<uint32_t>(random_() % std::max<size_t>(limit, 1));
  }
  template <class T>
  T number(T old) {
    static constexpr int64_t kLimits[] = {0,         1,          -1,        2,         7,
                                          8,         127,        255,       65535,     INT32_MAX,
                                          INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, 1 << 20};
    switch (below(4)) {
      case 0:
        return static_cast<T>(kLimits[below(std::size(kLimits))]);
      case 1:
        return static_cast<T>(below(16));
      case 2:
        return static_cast<T>(static_cast<uint64_t>(old) ^ (uint64_t{1} << below(8 * sizeof(T))));
      default:
        return static_cast<T>(static_cast<uint64_t>(old) + below(9) - 4);
    }
  }
  template <class T>
  void change(const void* place) {
    T value;
    std::memcpy(&value, place, sizeof(T));
    value = number(value);
    std::memcpy(const_cast<void*>(place), &value, sizeof(T));
  }

  /// A number of a record, by its width; or the whole record becomes a copy of another.
  template <class T>
  void any(const flatbuffers::Vector<T>* vector) {
    if (vector == nullptr || vector->size() == 0) return;
    using Record = std::remove_const_t<std::remove_pointer_t<T>>;
    const uint8_t* begin = vector->Data();
    const size_t index = below(vector->size());
    if (below(4) == 0) {
      std::memmove(const_cast<uint8_t*>(begin + index * sizeof(Record)),
                   begin + below(vector->size()) * sizeof(Record), sizeof(Record));
      return;
    }
    const uint8_t* record = begin + index * sizeof(Record);
    switch (below(3)) {
      case 0:
        return change<uint8_t>(record + below(sizeof(Record)));
      case 1:
        return change<uint16_t>(record + 2 * below(sizeof(Record) / 2));
      default:
        return change<uint32_t>(record + 4 * below(sizeof(Record) / 4));
    }
  }
  void operand() {
    const auto* operands = plan_.operands();
    if (operands == nullptr || operands->size() == 0 || plan_.tensors() == nullptr) return;
    const uint32_t value = below(8) == 0 ? kNone : below(plan_.tensors()->size());
    std::memcpy(const_cast<uint8_t*>(operands->Data()) + 4 * below(operands->size()), &value, 4);
  }
  void attribute() {
    const auto* attributes = plan_.attributes();
    if (attributes == nullptr || attributes->size() == 0) return;
    const uint8_t* words = attributes->Data();
    if (below(4) == 0) return change<uint64_t>(words + 8 * below(attributes->size()));
    change<int32_t>(words + 4 * below(2 * attributes->size()));
  }
  /// Another kernel altogether, or another of the plan's; the order of keys matters to nobody.
  void key(const flatbuffers::Vector<uint64_t>* keys) {
    if (keys == nullptr || keys->size() == 0) return;
    const KernelSet device = cuda::all_kernels();
    const auto kernels = below(8) == 0 ? device.kernels : library()->kernels().kernels;
    const uint64_t value = kernels[below(kernels.size())]->key;
    std::memcpy(const_cast<uint8_t*>(keys->Data()) + 8 * below(keys->size()), &value, 8);
  }
  // Bytes of a Tensor's fields, core/plan.fbs.
  static constexpr size_t kPlace = 0, kExtents = 4, kType = 8, kRank = 9, kMemory = 10;

  /// Two tensors at random, the second to be changed; or none.
  template <class Change>
  void pair(const Change& change) {
    const auto* tensors = plan_.tensors();
    if (tensors == nullptr || tensors->size() == 0) return;
    const plan::Tensor* from = tensors->Get(below(tensors->size()));
    const plan::Tensor* to = tensors->Get(below(tensors->size()));
    change(*from, reinterpret_cast<uint8_t*>(const_cast<plan::Tensor*>(to)));
  }
  static void put(uint8_t* record, size_t field, uint32_t value) {
    std::memcpy(record + field, &value, sizeof(value));
  }
  /// One tensor moves to where another lies: operands, slots, workspaces and states overlap.
  void place() {
    pair([](const plan::Tensor& from, uint8_t* to) {
      put(to, kPlace, from.place());
      to[kMemory] = from.memory();
    });
  }
  /// One tensor becomes a view of another, or of a part of it: same memory, near places, perhaps
  /// its extents. What aliases planned in earnest look like, and what is nearly one.
  void alias() {
    pair([this](const plan::Tensor& from, uint8_t* to) {
      put(to, kPlace, from.place() + (below(2) == 0 ? 0 : below(5) - 2));
      to[kMemory] = from.memory();
      if (below(2) == 0) to[kType] = from.type();
      if (below(2) != 0) return;
      put(to, kExtents, from.extents());
      to[kRank] = from.rank();
    });
  }
  /// One tensor takes the extents of another, or some of them: ranges of run-time extents are
  /// shared, overlap by a part, or reach beyond the mark before them.
  void shared_extents() {
    pair([this](const plan::Tensor& from, uint8_t* to) {
      put(to, kExtents, from.extents() + (below(2) == 0 ? 0 : below(5) - 2));
      if (below(2) == 0) to[kRank] = from.rank();
    });
  }
  /// An entry point runs another graph, or one of its ports names another slot or another's: what
  /// one entry point leaves in memory meets the rules of another.
  void entry() {
    if (plan_.entries() == nullptr || plan_.entries()->size() == 0) return;
    const plan::Entry* chosen = plan_.entries()->Get(below(plan_.entries()->size()));
    const plan::Entry* other = plan_.entries()->Get(below(plan_.entries()->size()));
    if (below(4) == 0) return field(chosen, plan::Entry::VT_GRAPH, other->graph());
    const bool input = below(2) == 0;
    const auto* ports = input ? chosen->inputs() : chosen->outputs();
    const auto* others = below(2) == 0 ? other->inputs() : other->outputs();
    if (ports == nullptr || ports->size() == 0) return;
    const bool any_slot = others == nullptr || others->size() == 0 || below(4) == 0;
    const uint32_t slot = any_slot ? below(plan_.slots() == nullptr ? 1 : plan_.slots()->size())
                                   : others->Get(below(others->size()))->slot();
    field(ports->Get(below(ports->size())), plan::Port::VT_SLOT, slot);
  }
  /// Sets a scalar of a table, unless it was left out as the default.
  static void field(const void* table, flatbuffers::voffset_t name, uint32_t value) {
    const uint8_t* place = static_cast<const flatbuffers::Table*>(table)->GetAddressOf(name);
    if (place != nullptr) std::memcpy(const_cast<uint8_t*>(place), &value, sizeof(value));
  }
  /// A size of memory, of the device's too.
  void memory() {
    if (plan_.memory() == nullptr) return;
    const auto* sizes = reinterpret_cast<const uint8_t*>(plan_.memory());
    change<uint32_t>(sizes + 8 * below(sizeof(plan::Memory) / 8));
  }
  /// Types have a few valid numbers only; one tensor, or all that have the same one.
  void type() {
    const auto* tensors = plan_.tensors();
    if (tensors == nullptr || tensors->size() == 0) return;
    auto to = static_cast<DataType>(1 + below(kLastDataType));
    if (below(8) == 0) to = below(2) == 0 ? DataType::kSequence : DataType::kOptional;
    const bool all = below(2) == 0;
    const uint32_t chosen = below(tensors->size());
    const uint8_t from = tensors->Get(chosen)->type();
    for (uint32_t i = 0; i < tensors->size(); ++i) {
      if (i != chosen && !(all && tensors->Get(i)->type() == from)) continue;
      auto* place = reinterpret_cast<uint8_t*>(const_cast<plan::Tensor*>(tensors->Get(i)));
      place[kType] = static_cast<uint8_t>(to);
    }
  }

  const plan::Plan& plan_;
  std::minstd_rand random_;
};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity,
                                          unsigned seed) {
  PlanHeader header;
  if (seed % 16 == 0 || size < sizeof(header)) return LLVMFuzzerMutate(data, size, capacity);
  std::memcpy(&header, data, sizeof(header));
  if (header.structure_offset > size || header.structure_bytes > size - header.structure_offset ||
      header.structure_bytes < 8 || header.structure_offset % 8 != 0) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  const uint64_t weights_end = header.weights_offset + header.weights_bytes;
  if (seed % 16 == 1 && weights_end >= header.weights_offset && weights_end <= size) {
    // The inputs' contents.
    return weights_end +
           LLVMFuzzerMutate(data + weights_end, size - weights_end, capacity - weights_end);
  }
  const auto whole = [&] {
    flatbuffers::Verifier verifier(data + header.structure_offset, header.structure_bytes);
    return plan::VerifyPlanBuffer(verifier);
  };
  if (!whole()) return LLVMFuzzerMutate(data, size, capacity);
  std::minstd_rand random(seed);
  // A mutation may change a length, where records of a mutant overlap its vectors.
  for (unsigned i = 0; i <= random() % 4 && whole(); ++i) {
    Mutation(*plan::GetPlan(data + header.structure_offset), static_cast<unsigned>(random()))
        .apply();
  }
  return size;
}
