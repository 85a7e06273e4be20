// SPDX-License-Identifier: Apache-2.0
//
// What an operator returns, as tensors: taken apart, checked, and copied.
//
// A result is anything with the buffer protocol (numpy arrays and scalars, memoryviews, bytes, ...)
// or a Python number. Strides, negative ones included, and byte order are followed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "intarsia/tensor.h"
#include "pyop_optional/host/python.h"

namespace intarsia::pyop {

struct Tools;

/// "[2,3]".
template <class T, size_t N>
std::string extents_text(std::span<T, N> extents) {
  std::string text = "[";
  for (const auto extent : extents) {
    if (text.size() > 1) text += ',';
    text += std::to_string(extent);
  }
  return text + "]";
}

/// The results in what an operator has returned: the elements of a tuple or list, else the object
/// itself. Throws Failure unless there is one for each of `types`.
std::vector<Ref> split_results(Ref returned, std::span<const DataType> types);

/// The same for gradients of inputs, each of which may be None; `function` returned them.
std::vector<Ref> split_gradients(Ref returned, std::span<const DataType> types,
                                 const std::string& function);

/// One result. Holds the object's buffer; to be used while the GIL is held.
class ResultTensor {
 public:
  /// Throws Failure if the object is none that a tensor can be made of. A Python number becomes the
  /// element of a tensor of rank 0 and type `wanted`, if that type can hold it. So does a scalar of
  /// numpy (an instance of `Tools::scalar_type`): before version 2, numpy makes a
  /// float64 of a float32 array of rank 0 plus 1. Where strings are wanted, it is a str, bytes, or
  /// an array of them.
  ResultTensor(const Tools& tools, PyObject* object, DataType wanted, int output);
  /// A tensor of zeros.
  static ResultTensor zeros(DataType type, std::span<const int32_t> extents) {
    return ResultTensor(type, extents);
  }
  ~ResultTensor();
  ResultTensor(const ResultTensor&) = delete;
  ResultTensor& operator=(const ResultTensor&) = delete;

  DataType type() const { return type_; }
  std::span<const int32_t> extents() const { return {extents_, static_cast<size_t>(view_.ndim)}; }
  /// "[2,3]", of extents beyond 31 bits too.
  std::string extents_text() const;
  /// The elements, if they are strings.
  const std::vector<std::string>& strings() const { return strings_; }
  /// Writes the elements, dense and in row-major order. REQUIRES: they are no strings.
  void copy_to(std::byte* target) const;

 private:
  ResultTensor(DataType type, std::span<const int32_t> extents);
  void take_number(PyObject* number, DataType wanted, int output);

  Py_buffer view_{};
  bool has_view_ = false;
  DataType type_ = DataType::kUndefined;
  bool swapped_ = false;
  int32_t extents_[kMaxRank] = {};
  std::byte number_[16] = {};
  std::vector<std::string> strings_;
};

}  // namespace intarsia::pyop
