// SPDX-License-Identifier: Apache-2.0
//
// `Constant`: the elements of a tensor that is known at conversion.
//
// Elements are dense and row-major in little-endian order, sub-byte elements packed with the first
// in the low bits: what ONNX calls raw_data, and what kernels read. The elements of a string tensor
// are StringRefs into `characters`, which follow one another in the order of the elements; so do
// those of the string tensors in a sequence. The bytes are immutable and shared: copying a constant
// copies none, and they may lie in a file mapped into memory. The first byte is aligned to the
// element's size (8 at most).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/describe.h"
#include "intarsia/tensor.h"

namespace intarsia::converter {

struct Constant {
  DataType type = DataType::kUndefined;
  std::vector<int64_t> extents;
  /// First element; keeps its owner alive. May be null when `size` is 0.
  std::shared_ptr<const std::byte> data;
  /// Bytes at `data`.
  size_t size = 0;
  /// What the StringRefs refer to; null where there is no character.
  std::shared_ptr<const std::string> characters;

  int64_t count() const;
  int rank() const { return static_cast<int>(extents.size()); }
  std::span<const std::byte> bytes() const { return {data.get(), size}; }
  /// The elements as T. REQUIRES: sizeof(T) is the element's size.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data.get()), size / sizeof(T)};
  }

  /// True for bool and integers of every width.
  bool is_integer() const;
  /// True for the floating-point types that C++ code here can read: float, double and the 16-bit
  /// ones.
  bool is_real() const;
  /// Element `index` of an integer or bool tensor; uint64 beyond int64 wraps.
  int64_t integer(int64_t index) const;
  /// Element `index` of an integer, bool or floating-point tensor.
  double real(int64_t index) const;
  /// The characters of one of the constant's strings.
  std::string_view text(StringRef string) const;
  /// Element `index` of a string tensor.
  std::string_view string(int64_t index) const;
  std::vector<int64_t> integers() const;
  std::vector<double> reals() const;

  /// This constant's type and characters with other extents and elements.
  Constant with(std::vector<int64_t> other_extents, std::vector<std::byte> bytes) const;

  /// Takes the bytes over. REQUIRES: they fit type and extents, and hold no strings that are not
  /// empty.
  static Constant own(DataType type, std::vector<int64_t> extents, std::vector<std::byte> bytes);
  /// Copies `values`. REQUIRES: as many as the extents say.
  template <class T>
  static Constant of(std::vector<int64_t> extents, std::span<const T> values) {
    std::vector<std::byte> bytes(values.size_bytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return own(data_type_of<T>, std::move(extents), std::move(bytes));
  }
  template <class T>
  static Constant scalar(T value) {
    return of<T>({}, std::span<const T>(&value, 1));
  }
  /// A vector of int64, the form in which operators take axes and extents.
  static Constant ints(const std::vector<int64_t>& values) {
    return of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values));
  }
  /// A scalar of a numeric type, the value rounded to it.
  static Constant scalar_of(DataType type, double value);
  static Constant strings(std::vector<int64_t> extents, const std::vector<std::string>& values);
};

/// Same type, extents, bytes and characters.
bool operator==(const Constant& a, const Constant& b);

/// Bytes that a tensor occupies, or -1 if an extent is negative or exceeds 2^31 - 1, or the size
/// leaves 2^62.
int64_t checked_byte_size(DataType type, std::span<const int64_t> extents);

/// "[2,3]".
std::string extents_text(std::span<const int64_t> extents);

}  // namespace intarsia::converter
