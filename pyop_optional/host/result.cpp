// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/result.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/instance.h"
#include "pyop_optional/host/strings.h"

namespace intarsia::pyop {
namespace {

constexpr const char* kElements = "element type of a result";

[[noreturn]] void fail(Code code, const char* what, int output, std::string text) {
  Failure failure(code, what, std::move(text));
  failure.output = output;
  throw failure;
}

std::string output_name(int output) {
  return "output " + std::to_string(output);
}

/// Stores an integer if T can hold it.
template <class T>
bool store_integer(PyObject* number, std::byte* target) {
  T value{};
  if constexpr (std::is_signed_v<T>) {
    const long long wide = PyLong_AsLongLong(number);
    if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) return false;
    value = static_cast<T>(wide);
  } else {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(number);
    if (wide > std::numeric_limits<T>::max()) return false;
    value = static_cast<T>(wide);
  }
  if (PyErr_Occurred() != nullptr) return false;
  std::memcpy(target, &value, sizeof(value));
  return true;
}

double widened(Float16 value) {
  return static_cast<double>(static_cast<float>(value));
}
double widened(double value) {
  return value;
}

/// Stores a number, rounded, unless rounding makes an infinity of it.
template <class T>
bool store_rounded(double value, std::byte* target) {
  const auto stored = [value] {
    if constexpr (std::is_same_v<T, Float16>)
      return Float16(static_cast<float>(value));
    else
      return static_cast<T>(value);
  }();
  std::memcpy(target, &stored, sizeof(stored));
  return std::isfinite(widened(stored)) || !std::isfinite(value);
}

template <class T>
bool store_real(PyObject* number, std::byte* target) {
  const double value = PyFloat_AsDouble(number);
  return PyErr_Occurred() == nullptr && store_rounded<T>(value, target);
}

template <class T>
bool store_complex(PyObject* number, std::byte* target) {
  const double real = PyComplex_RealAsDouble(number), imaginary = PyComplex_ImagAsDouble(number);
  return PyErr_Occurred() == nullptr && store_rounded<T>(real, target) &&
         store_rounded<T>(imaginary, target + sizeof(T));
}

/// False, perhaps with an exception pending, if the type cannot hold the number.
bool store_number(PyObject* number, DataType type, std::byte* target) {
  const bool integer = PyLong_Check(number) != 0;
  const bool real = integer || PyFloat_Check(number) != 0;
  switch (type) {
    case DataType::kBool:
      *target = std::byte{number == Py_True};
      return PyBool_Check(number) != 0;
    case DataType::kInt8:
      return integer && store_integer<int8_t>(number, target);
    case DataType::kUint8:
      return integer && store_integer<uint8_t>(number, target);
    case DataType::kInt16:
      return integer && store_integer<int16_t>(number, target);
    case DataType::kUint16:
      return integer && store_integer<uint16_t>(number, target);
    case DataType::kInt32:
      return integer && store_integer<int32_t>(number, target);
    case DataType::kUint32:
      return integer && store_integer<uint32_t>(number, target);
    case DataType::kInt64:
      return integer && store_integer<int64_t>(number, target);
    case DataType::kUint64:
      return integer && store_integer<uint64_t>(number, target);
    case DataType::kFloat16:
      return real && store_real<Float16>(number, target);
    case DataType::kFloat:
      return real && store_real<float>(number, target);
    case DataType::kDouble:
      return real && store_real<double>(number, target);
    case DataType::kComplex64:
      return store_complex<float>(number, target);
    case DataType::kComplex128:
      return store_complex<double>(number, target);
    default:
      return false;
  }
}

}  // namespace

std::vector<Ref> split_results(Ref returned, std::span<const DataType> types) {
  const size_t count = types.size();
  std::vector<Ref> results;
  const bool is_tuple = PyTuple_Check(returned.get()) != 0;
  const bool is_list = PyList_Check(returned.get()) != 0;
  if (is_tuple || is_list) {
    const Py_ssize_t size = PySequence_Size(returned.get());
    for (Py_ssize_t i = 0; i < size; ++i) {
      results.push_back(checked(PySequence_GetItem(returned.get(), i), "result of the operator"));
    }
  } else {
    // Anything else is one result, and then it is no wrong count if it is of no use either.
    const bool is_text =
        PyUnicode_Check(returned.get()) != 0 && count == 1 && types[0] == DataType::kString;
    const bool useful = is_text || PyObject_CheckBuffer(returned.get()) != 0 ||
                        PyLong_Check(returned.get()) != 0 || PyFloat_Check(returned.get()) != 0 ||
                        PyComplex_Check(returned.get()) != 0;
    if (!useful) {
      throw Failure(Code::kInvalidValue, "result of the operator",
                    "expected " + std::to_string(count) + " outputs, got " +
                        kind_of(returned.get()) + "; return an array, or a tuple or list of them");
    }
    results.push_back(std::move(returned));
  }
  if (results.size() != count) {
    throw Failure(
        Code::kInvalidValue, "result of the operator",
        "expected " + std::to_string(count) + " outputs, got " + std::to_string(results.size()));
  }
  return results;
}

std::vector<Ref> split_gradients(Ref returned, std::span<const DataType> types,
                                 const std::string& function) {
  const bool is_sequence = PyTuple_Check(returned.get()) != 0 || PyList_Check(returned.get()) != 0;
  const auto count = is_sequence ? static_cast<size_t>(PySequence_Size(returned.get())) : size_t{1};
  if (count != types.size()) {
    throw Failure(Code::kInvalidValue, "gradients",
                  "function " + function + " returned an incorrect number of gradients (expected " +
                      std::to_string(types.size()) + ", got " + std::to_string(count) +
                      "): one for each input, None where it is 0");
  }
  if (is_sequence || returned.get() != Py_None) return split_results(std::move(returned), types);
  std::vector<Ref> none;
  none.push_back(std::move(returned));
  return none;
}

ResultTensor::ResultTensor(const Tools& tools, PyObject* object, DataType wanted, int output) {
  PyObject* scalar_type = tools.scalar_type.get();
  if (wanted == DataType::kString) {
    StringArray array = strings_of(tools, object, output);
    type_ = wanted;
    strings_ = std::move(array.elements);
    view_.ndim = static_cast<int>(array.extents.size());
    std::ranges::copy(array.extents, extents_);
    return;
  }
  if (PyObject_CheckBuffer(object) == 0) {
    take_number(object, wanted, output);
    return;
  }
  if (PyObject_GetBuffer(object, &view_, PyBUF_RECORDS_RO) < 0) {
    fail(Code::kWrongType, "result of the operator", output,
         output_name(output) + ": its elements cannot be read: " + take_exception_text());
  }
  has_view_ = true;
  type_ = type_of_format(view_.format, view_.itemsize, swapped_);
  if (type_ != wanted && scalar_type != nullptr && PyObject_IsInstance(object, scalar_type) == 1) {
    PyBuffer_Release(&view_);
    view_ = {};
    has_view_ = false;
    const Ref number = checked(PyObject_CallMethod(object, "item", nullptr), kElements);
    take_number(number.get(), wanted, output);
    return;
  }
  const bool fits = view_.ndim <= kMaxRank;
  if (type_ == DataType::kUndefined || !fits) {
    const std::string format = view_.format != nullptr ? view_.format : "B";
    const int rank = view_.ndim;
    PyBuffer_Release(&view_);
    has_view_ = false;
    if (!fits) {
      fail(Code::kWrongRank, "rank of a result", output,
           output_name(output) + ": expected at most " + std::to_string(kMaxRank) + " axes, got " +
               std::to_string(rank));
    }
    fail(Code::kWrongType, kElements, output,
         output_name(output) + ": expected " + dtype_name(wanted) + ", got elements of format '" +
             format + "', which no tensor has");
  }
  for (int axis = 0; axis < view_.ndim; ++axis) {
    // Extents beyond 31 bits fit no plan; clamped, they still differ from every planned one.
    extents_[axis] = static_cast<int32_t>(std::min<Py_ssize_t>(view_.shape[axis], INT32_MAX));
  }
}

ResultTensor::ResultTensor(DataType type, std::span<const int32_t> extents) : type_(type) {
  static Py_ssize_t strides[kMaxRank] = {};  // one element for all
  view_.buf = number_;
  view_.ndim = static_cast<int>(extents.size());
  view_.strides = strides;
  std::ranges::copy(extents, extents_);
  if (type != DataType::kString) return;
  size_t count = 1;
  for (int32_t extent : extents) count *= static_cast<size_t>(extent);
  strings_.resize(count);
}

ResultTensor::~ResultTensor() {
  if (has_view_) PyBuffer_Release(&view_);
}

void ResultTensor::take_number(PyObject* number, DataType wanted, int output) {
  const bool is_number =
      PyLong_Check(number) != 0 || PyFloat_Check(number) != 0 || PyComplex_Check(number) != 0;
  if (!is_number) {
    fail(Code::kWrongType, "result of the operator", output,
         output_name(output) + ": expected an array of " + dtype_name(wanted) + ", got " +
             kind_of(number));
  }
  if (!store_number(number, wanted, number_)) {
    PyErr_Clear();
    const Ref text = Ref::take(PyObject_Repr(number));
    PyErr_Clear();
    fail(Code::kWrongType, kElements, output,
         output_name(output) + ": expected " + dtype_name(wanted) + ", got the number " +
             utf8(text.get()) + ", which that type does not hold");
  }
  type_ = wanted;
}

std::string ResultTensor::extents_text() const {
  if (!has_view_) return pyop::extents_text(extents());
  return pyop::extents_text(std::span(view_.shape, static_cast<size_t>(view_.ndim)));
}

void ResultTensor::copy_to(std::byte* target) const {
  const auto item = static_cast<size_t>(element_bits(type_) / 8);
  if (view_.buf == nullptr) {
    std::memcpy(target, number_, item);
    return;
  }
  // Halves of a complex number are swapped each.
  const bool complex = type_ == DataType::kComplex64 || type_ == DataType::kComplex128;
  const size_t word = complex ? item / 2 : item;
  const auto copy_item = [&](const std::byte* from) {
    std::memcpy(target, from, item);
    if (swapped_) {
      for (size_t part = 0; part < item; part += word)
        std::reverse(target + part, target + part + word);
    }
    if (type_ == DataType::kBool) *target = std::byte{*from != std::byte{0}};
    target += item;
  };
  const int rank = view_.ndim;
  int64_t count = 1;
  for (int32_t extent : extents()) count *= extent;
  if (count == 0) return;
  // Axes from `dense` on are stored as the target wants them, so runs of them are copied at once.
  int dense = rank;
  auto run = static_cast<Py_ssize_t>(item);
  if (!swapped_ && type_ != DataType::kBool) {
    while (dense > 0 && (view_.strides[dense - 1] == run || extents_[dense - 1] == 1)) {
      run *= extents_[--dense];
    }
  }
  const auto* from = static_cast<const std::byte*>(view_.buf);
  int32_t index[kMaxRank] = {};
  while (true) {
    if (run > static_cast<Py_ssize_t>(item) || dense < rank) {
      std::memcpy(target, from, static_cast<size_t>(run));
      target += run;
    } else {
      copy_item(from);
    }
    int axis = dense - 1;
    for (; axis >= 0; --axis) {
      from += view_.strides[axis];
      if (++index[axis] < extents_[axis]) break;
      from -= view_.strides[axis] * extents_[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace intarsia::pyop
