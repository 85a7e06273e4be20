// SPDX-License-Identifier: Apache-2.0
//
// Attributes: the constants of one node, as a plain struct that is stored in the plan and read
// there in place.
//
//     struct ResampleAttributes {
//       int32_t axis = -1;
//       float gain = 1.0f;
//       StringAttribute mode;
//       ListAttribute<float> taps;
//       template <class V>
//       void fields(V& v) {
//         v("axis", axis);
//         v("gain", gain);
//         v("mode", mode, "linear");
//         v.required("taps", taps);
//       }
//     };
//
// `fields` names each member once: the attribute's name in ONNX, the member, and for members of
// variable length the default (elsewhere the member initialiser is the default). `v.required(...)`
// makes absence an error; `v.choice("mode", index, {"linear", "cubic"})` stores a string as the
// int32_t index of one of several texts; `v("group", group, at_least(1))` says which integers a
// model may give (`AttributeLimits`). The converter reads, checks and stores; a kernel asks
// `context.attributes<ResampleAttributes>()`.
//
// The struct has fixed-width members, no padding that matters and a size that is a multiple of 4
// (`is_plan_struct`), so that its bytes mean the same on the host and on a 32-bit target. What has
// a variable length lies behind the struct; the member holds a 32-bit offset from its own address.
// So an attributes struct is passed by reference and never copied by an operator, and costs neither
// memory nor time beyond the plan itself, also in flash.
//
// Plans may come from outside the program: `KernelContext::has_attributes<A>()`, which a kernel's
// `check` calls, proves that every string, list and tensor of A lies inside the node's attributes,
// that every choice is one of its texts, and that every bool is one. Numbers may be any.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "intarsia/tensor.h"

namespace intarsia {

/// True if A may be stored in a plan.
template <class A>
inline constexpr bool is_plan_struct =
    std::is_trivially_copyable_v<A>&& std::is_standard_layout_v<A> && alignof(A) <= 8 &&
    sizeof(A) % 4 == 0;
static_assert(std::endian::native == std::endian::little, "plans are little endian");

/// Attributes of operators that have none.
struct NoAttributes {
  template <class V>
  void fields(V&) {}
};

/// A list of up to N values inside an attributes struct, for lists that are known to be short.
template <class T, int N = kMaxRank>
struct FixedList {
  int32_t count = 0;
  T values[N] = {};

  std::span<const T> view() const { return {values, static_cast<size_t>(count)}; }
  const T& operator[](int index) const { return values[index]; }
  T& operator[](int index) { return values[index]; }
  /// The count lies in range: proved for a plan from outside by `has_attributes`.
  bool valid() const { return count >= 0 && count <= N; }
  void push(T value) { values[count++] = value; }
};
using IntList = FixedList<int32_t>;

/// Bytes behind an attributes struct, found by their distance from this very member.
struct AttributeRange {
  uint32_t offset = 0;
  uint32_t count = 0;  ///< Elements; 0 makes the offset meaningless.

  const std::byte* begin() const { return reinterpret_cast<const std::byte*>(this) + offset; }
};

/// A string attribute of any length, not terminated by a zero byte.
struct StringAttribute {
  AttributeRange range;

  std::string_view view() const {
    if (range.count == 0) return {};
    return {reinterpret_cast<const char*>(range.begin()), range.count};
  }
  operator std::string_view() const { return view(); }  // NOLINT: it is one
};

/// A list of floats, integers (int64_t, or a narrower type that the values must fit) or
/// StringAttributes.
template <class T>
struct ListAttribute {
  static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, StringAttribute>,
                "a ListAttribute holds numbers or StringAttributes");
  AttributeRange range;

  std::span<const T> view() const {
    if (range.count == 0) return {};
    return {reinterpret_cast<const T*>(range.begin()), range.count};
  }
  uint32_t size() const { return range.count; }
  const T& operator[](size_t index) const { return view()[index]; }
};

/// The default of a list in `fields`: `v("taps", taps, {0.5f, 0.5f})`.
template <class T>
using ListDefault = std::initializer_list<
    std::conditional_t<std::is_same_v<T, StringAttribute>, std::string_view, T>>;

/// A tensor attribute of any type but string. Absent, and left to its default, it has no elements
/// and `present()` is false.
struct TensorAttribute {
  AttributeRange extents;  ///< int32_t
  AttributeRange bytes;
  uint8_t type = 0;
  uint8_t reserved[3] = {};

  bool present() const { return type != 0; }
  /// Elements and extents; for reading only. Elements are aligned as their type needs.
  TensorView view() const {
    TensorView tensor;
    tensor.type = static_cast<DataType>(type);
    tensor.rank = static_cast<uint8_t>(extents.count);
    if (tensor.rank != 0) tensor.extents = reinterpret_cast<const int32_t*>(extents.begin());
    if (present()) tensor.data = const_cast<std::byte*>(bytes.begin());
    return tensor;
  }
};

/// What an integer attribute, or each element of a list of them, may be in a model.
struct AttributeLimits {
  int64_t lowest = std::numeric_limits<int64_t>::min();
  int64_t highest = std::numeric_limits<int64_t>::max();
  /// Bit i: i is allowed. Of limits from 0 to 31.
  uint32_t among = ~uint32_t{0};

  constexpr bool allow(int64_t value) const {
    return value >= lowest && value <= highest &&
           (value < 0 || value > 31 || ((among >> value) & 1u) != 0);
  }
};
constexpr AttributeLimits between(int64_t lowest, int64_t highest) {
  return {.lowest = lowest, .highest = highest};
}
constexpr AttributeLimits at_least(int64_t lowest) {
  return {.lowest = lowest};
}
/// One of the numbers, which rise and lie between 0 and 31.
constexpr AttributeLimits one_of(std::initializer_list<int> numbers) {
  AttributeLimits limits = {*numbers.begin(), numbers.end()[-1], 0};
  for (int number : numbers) limits.among |= uint32_t{1} << number;
  return limits;
}
/// Yes or no.
inline constexpr AttributeLimits kFlag = between(0, 1);
/// The number of an element type.
inline constexpr AttributeLimits kElementType = between(1, kLastDataType);

template <class T>
concept AnyNumber = std::is_arithmetic_v<T>;

/// Proves that what an attributes struct says may be used: a visitor of `fields` that looks at
/// members of variable length, whose bytes must lie inside the node's attributes, and at counts,
/// choices and bools. Runs where the program runs, in `check`; numbers leave no code behind.
class AttributeBounds {
 public:
  explicit AttributeBounds(std::span<const std::byte> blob) : blob_(blob) {}

  /// REQUIRES: the blob begins with an A.
  template <class A>
  bool hold() {
    if constexpr (requires(A & attributes, AttributeBounds & bounds) {
                    attributes.fields(bounds);
                  }) {
      // `fields` is one function for reading and writing; this visitor only reads.
      reinterpret_cast<A*>(const_cast<std::byte*>(blob_.data()))->fields(*this);
    }
    return inside_;
  }

  /// The same of one member.
  template <class T>
  bool holds(const T& member) {
    see(member);
    return inside_;
  }

  template <class T>
  void operator()(std::string_view, const T& field) {
    see(field);
  }
  void operator()(std::string_view, const StringAttribute& field, std::string_view) { see(field); }
  template <class T>
  void operator()(std::string_view, const ListAttribute<T>& field, ListDefault<T>) {
    see(field);
  }
  template <class T>
  void operator()(std::string_view, const T& field, AttributeLimits) {
    see(field);
  }
  /// A number with a default: a mistake, of which internal/operator_checks.h speaks.
  template <AnyNumber T, AnyNumber Default>
  void operator()(std::string_view, const T&, Default) {}
  template <class T>
  void required(std::string_view, const T& field, AttributeLimits = {}) {
    see(field);
  }
  void choice(std::string_view, const int32_t& index,
              std::initializer_list<std::string_view> texts) {
    inside_ = inside_ && index >= 0 && static_cast<size_t>(index) < texts.size();
  }
  template <int N>
  void choices(std::string_view name, const FixedList<int32_t, N>& list,
               std::initializer_list<std::string_view> texts) {
    see(list);
    if (!inside_) return;
    for (const int32_t& index : list.view()) choice(name, index, texts);
  }
  void scalar(std::string_view, const int64_t& bits, const int32_t& type) {
    const bool flag = type == static_cast<int32_t>(DataType::kBool);
    inside_ = inside_ && (!flag || static_cast<uint64_t>(bits) <= 1);
  }
  template <class T>
  void internal(std::string_view, const T& field) {
    see(field);
  }
  void ignored(std::string_view) {}

 private:
  template <class T>
  void see(const T&) {}
  /// A byte that is neither 0 nor 1 must not even be read as a bool.
  void see(const bool& flag) {
    inside_ = inside_ && *reinterpret_cast<const unsigned char*>(&flag) <= 1;
  }
  void see(const StringAttribute& text) { check(text.range, 1, 1); }
  template <class T>
  void see(const ListAttribute<T>& list) {
    if (check(list.range, sizeof(T), alignof(T))) see_all(list.view());
  }
  template <class T, int N>
  void see(const FixedList<T, N>& list) {
    inside_ = inside_ && list.valid();
    if (inside_) see_all(list.view());
  }
  template <class T>
  void see_all(std::span<const T> elements) {
    if constexpr (std::is_same_v<T, StringAttribute> || std::is_same_v<T, bool>) {
      for (const T& element : elements) see(element);
    }
  }
  void see(const TensorAttribute& tensor) {
    if (!tensor.present()) return;
    const auto bits = static_cast<uint64_t>(element_bits(static_cast<DataType>(tensor.type)));
    const uint64_t alignment = bits >= 64 ? 8 : bits <= 8 ? 1 : bits / 8;
    inside_ = inside_ && bits != 0 && static_cast<DataType>(tensor.type) != DataType::kString &&
              tensor.extents.count <= kMaxRank;
    if (!check(tensor.extents, sizeof(int32_t), alignof(int32_t)) ||
        !check(tensor.bytes, 1, alignment)) {
      return;
    }
    // Extents other than 0 count even where there are no elements: some of them may be multiplied.
    uint64_t count = 1;
    bool empty = false;
    for (uint32_t axis = 0; axis < tensor.extents.count; ++axis) {
      const int32_t extent = tensor.view().extents[axis];
      empty = empty || extent == 0;
      if (extent != 0) count *= static_cast<uint64_t>(extent);
      inside_ = inside_ && extent >= 0 && count <= uint64_t{kMaxElements};
      if (!inside_) return;
    }
    inside_ = empty || (count * bits + 7) / 8 <= tensor.bytes.count;
  }
  /// True if nothing was found outside so far.
  bool check(const AttributeRange& range, uint64_t element_bytes, uint64_t alignment) {
    if (range.count == 0) return inside_;
    const auto place =
        static_cast<uint64_t>(reinterpret_cast<const std::byte*>(&range) - blob_.data()) +
        range.offset;
    inside_ = inside_ && place % alignment == 0 && place <= blob_.size() &&
              range.count * element_bytes <= blob_.size() - place;
    return inside_;
  }

  std::span<const std::byte> blob_;
  bool inside_ = true;
};

}  // namespace intarsia
