// SPDX-License-Identifier: Apache-2.0
//
// Sequences, optional values and maps, as programs and kernels read and write them.
//
// To the runtime a sequence is a tensor like any other: a vector of bytes (DataType::kSequence)
// whose length varies up to a planned maximum. So sequences are planned, carried by loops, chosen
// by branches and handed over at ports without any rule of their own. The bytes hold the elements
// one behind another, each with its type and extents, which may differ from element to element:
//
//     offset  size   field
//          0     8   bytes of the element's data, int64
//          8     1   DataType
//          9     1   rank, at most kMaxRank
//         10     6   0
//         16    32   kMaxRank extents, int32; 0 beyond the rank
//         48     n   the data, dense and row-major, then zeros up to a multiple of 16
//
// An empty sequence is no bytes. An optional value (DataType::kOptional) has at most one element. A
// map (DataType::kMap) has two, its keys and its values: vectors of one length, in any order, each
// key once; an empty map may be no bytes. An element of one of these types, of rank 1, has elements
// itself: sequences of sequences, optional sequences, sequences of maps. Everything is
// little-endian. Appending leaves what is there in place, and a sequence's bytes mean the same at
// any address that is a multiple of 16.
//
// Reading an output of a session, and filling an input:
//
//     const auto found = SequenceView::of(session.output_port(0)->tensor);
//     if (!found) ...  // the bytes are no sequence
//     for (const TensorView& element : *found) use(element);
//
//     const TensorView input = session.input_port(0)->tensor;  // at open as long as it may get
//     SequenceWriter writer({input.as<std::byte>(), static_cast<size_t>(input.count())});
//     if (!writer.append(first) || !writer.append(second)) ...  // beyond what was planned
//     const int32_t extents[] = {static_cast<int32_t>(writer.bytes())};
//     status = session.resize_input(0, extents);
//
// and reading a map:
//
//     const auto map = MapView::of(session.output_port(1)->tensor);
//     if (!map) ...  // the bytes are no map
//     for (int64_t i = 0; i < map->size(); ++i)
//       use(map->keys().as<const int64_t>()[i], map->values().as<const float>()[i]);
//
// No class here allocates or keeps anything beyond pointers. Views are valid as long as the bytes.
// Thread-safety: as for the bytes. Source: ONNX, onnx.proto (SequenceProto, OptionalProto,
// MapProto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "intarsia/tensor.h"

namespace intarsia {

/// What stands before an element's data.
struct SequenceEntry {
  int64_t bytes = 0;
  uint8_t type = 0;
  uint8_t rank = 0;
  uint8_t reserved[6] = {};
  int32_t extents[kMaxRank] = {};
};
static_assert(sizeof(SequenceEntry) == 48 && std::is_trivially_copyable_v<SequenceEntry>);

/// Entries begin at multiples of this many bytes.
inline constexpr int64_t kSequenceAlignment = 16;

/// Bytes that an element of `bytes` bytes takes in a sequence.
constexpr int64_t sequence_entry_bytes(int64_t bytes) {
  return static_cast<int64_t>(sizeof(SequenceEntry)) +
         (bytes + kSequenceAlignment - 1) / kSequenceAlignment * kSequenceAlignment;
}

/// The elements of a sequence, in order.
class SequenceView {
 public:
  /// A forward iterator; dereferencing gives a view into the bytes.
  class Iterator {
   public:
    explicit Iterator(const std::byte* at) : at_(at) {}
    TensorView operator*() const {
      const SequenceEntry& entry = header();
      return {const_cast<std::byte*>(at_) + sizeof(SequenceEntry), entry.extents,
              static_cast<DataType>(entry.type), entry.rank};
    }
    Iterator& operator++() {
      at_ += sequence_entry_bytes(header().bytes);
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;
    /// First byte of the element's entry.
    const std::byte* entry() const { return at_; }

   private:
    const SequenceEntry& header() const { return *reinterpret_cast<const SequenceEntry*>(at_); }
    const std::byte* at_;
  };

  SequenceView() = default;

  /// The sequence whose bytes are `bytes`; nothing if they are none: every entry is looked at,
  /// those inside of elements are not. The address has to be a multiple of 16.
  static std::optional<SequenceView> of(std::span<const std::byte> bytes) {
    SequenceView view;
    view.bytes_ = bytes;
    if (reinterpret_cast<uintptr_t>(bytes.data()) % kSequenceAlignment != 0) return std::nullopt;
    for (size_t at = 0; at < bytes.size(); ++view.count_) {
      const size_t entry = first_entry(bytes.subspan(at));
      if (entry == 0) return std::nullopt;
      at += entry;
    }
    return view;
  }
  /// The same of a tensor of type kSequence, kOptional or kMap.
  static std::optional<SequenceView> of(const TensorView& tensor) {
    if (!holds_elements(tensor.type)) return std::nullopt;
    return of({tensor.as<const std::byte>(), static_cast<size_t>(tensor.bytes())});
  }

  /// Bytes of the entry that `bytes` begin with, at a multiple of 16; 0 if they begin with none.
  static size_t first_entry(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(SequenceEntry)) return 0;
    const auto& entry = *reinterpret_cast<const SequenceEntry*>(bytes.data());
    if (!holds(entry, bytes.size() - sizeof(SequenceEntry))) return 0;
    return static_cast<size_t>(sequence_entry_bytes(entry.bytes));
  }

  /// Number of elements.
  int64_t size() const { return count_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  Iterator begin() const { return Iterator(bytes_.data()); }
  Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }
  /// The iterator of element `index`, found by walking. REQUIRES: 0 <= index <= size().
  Iterator at(int64_t index) const {
    Iterator found = begin();
    while (index-- > 0) ++found;
    return found;
  }
  TensorView operator[](int64_t index) const { return *at(index); }

 private:
  /// True if the entry is possible and its data lie within `left` bytes.
  static bool holds(const SequenceEntry& entry, size_t left) {
    const auto type = static_cast<DataType>(entry.type);
    const int bits = element_bits(type);
    if (bits == 0 || entry.rank > kMaxRank) return false;
    int64_t count = 1;
    for (int axis = 0; axis < entry.rank; ++axis) {
      const int64_t extent = entry.extents[axis];
      if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return false;
      if (count > kMaxElements) return false;
    }
    int32_t beyond = 0;
    for (int axis = entry.rank; axis < kMaxRank; ++axis) beyond |= entry.extents[axis];
    if (beyond != 0) return false;
    if (entry.bytes < 0 || static_cast<uint64_t>(entry.bytes) > left) return false;
    if (entry.bytes != byte_size(type, count)) return false;
    return sequence_entry_bytes(entry.bytes) - static_cast<int64_t>(sizeof(SequenceEntry)) <=
           static_cast<int64_t>(left);
  }

  std::span<const std::byte> bytes_;
  int64_t count_ = 0;
};

/// The entries of a map.
class MapView {
 public:
  MapView() = default;

  /// The map whose bytes the tensor holds; nothing if they are none.
  static std::optional<MapView> of(const TensorView& tensor) {
    if (tensor.type != DataType::kMap) return std::nullopt;
    const auto parts = SequenceView::of(tensor);
    if (!parts || (parts->size() != 0 && parts->size() != 2)) return std::nullopt;
    MapView map;
    if (parts->size() == 0) return map;
    map.keys_ = (*parts)[0];
    map.values_ = (*parts)[1];
    if (map.keys_.rank != 1 || map.values_.rank != 1 ||
        map.keys_.extents[0] != map.values_.extents[0]) {
      return std::nullopt;
    }
    return map;
  }

  /// Number of entries.
  int64_t size() const { return keys_.present() ? keys_.extents[0] : 0; }
  /// Vectors of `size()` elements; not `present()` if the map has no bytes.
  const TensorView& keys() const { return keys_; }
  const TensorView& values() const { return values_; }

 private:
  TensorView keys_, values_;
};

/// Writes a sequence into memory of the caller's; a map as its keys, then its values.
class SequenceWriter {
 public:
  /// REQUIRES: the address is a multiple of 16.
  explicit SequenceWriter(std::span<std::byte> memory) : memory_(memory) {}

  /// Copies an element behind the others. False, and nothing is written, if it does not fit. The
  /// element may be one of a sequence that lay in this memory, and is not written over yet.
  bool append(const TensorView& element) {
    const int64_t bytes = element.bytes(), entry_bytes = sequence_entry_bytes(bytes);
    if (entry_bytes > static_cast<int64_t>(memory_.size() - used_)) return false;
    std::byte* at = memory_.data() + used_;
    // Built in place: a copy of fields just written would wait for their stores. Extents come
    // first, and onto themselves if the element stays where it is.
    auto& entry = *reinterpret_cast<SequenceEntry*>(at);
    for (int axis = 0; axis < kMaxRank; ++axis) {
      entry.extents[axis] = axis < element.rank ? element.extents[axis] : 0;
    }
    entry.bytes = bytes;
    entry.type = static_cast<uint8_t>(element.type);
    entry.rank = element.rank;
    std::memset(entry.reserved, 0, sizeof entry.reserved);
    at += sizeof(entry);
    if (bytes != 0) std::memmove(at, element.data, static_cast<size_t>(bytes));
    const auto padding = static_cast<size_t>(entry_bytes - bytes) - sizeof(entry);
    std::memset(at + bytes, 0, padding);
    used_ += static_cast<size_t>(entry_bytes);
    return true;
  }
  /// The bytes written so far: the extent of the tensor.
  size_t bytes() const { return used_; }

 private:
  std::span<std::byte> memory_;
  size_t used_ = 0;
};

}  // namespace intarsia
