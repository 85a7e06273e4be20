// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/strings.h"

#include <algorithm>

#include "pyop_optional/host/instance.h"

namespace intarsia::pyop {
namespace {

constexpr const char* kResult = "element type of a result";

void require_numpy(const Tools& tools) {
  if (tools.make_array) return;
  throw Failure(Code::kUnsupported, kOperator,
                "tensors of strings are arrays of numpy, which Python does not have here");
}

/// numpy.array(object, dtype=object): an array of the objects themselves.
Ref object_array(const Tools& tools, PyObject* object) {
  const Ref arguments = checked(PyTuple_Pack(1, object), kMemory);
  const Ref options = checked(
      Py_BuildValue("{s:O}", "dtype", reinterpret_cast<PyObject*>(&PyBaseObject_Type)), kMemory);
  return checked(PyObject_Call(tools.make_array.get(), arguments.get(), options.get()), kMemory);
}

bool take_text(PyObject* element, std::string& text) {
  Ref bytes = Ref::share(element);
  if (PyUnicode_Check(element) != 0) {
    bytes = checked(PyUnicode_AsEncodedString(element, "utf-8", "surrogateescape"), kResult);
  } else if (PyBytes_Check(element) == 0) {
    return false;
  }
  char* data = nullptr;
  Py_ssize_t size = 0;
  checked(PyBytes_AsStringAndSize(bytes.get(), &data, &size), kResult);
  text.assign(data, static_cast<size_t>(size));
  return true;
}

}  // namespace

Ref python_strings(const Tools& tools, const TensorView& tensor, const Characters& characters) {
  require_numpy(tools);
  const auto* elements = tensor.as<const StringRef>();
  const int64_t count = tensor.count();
  const Ref list = checked(PyList_New(static_cast<Py_ssize_t>(count)), kMemory);
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view text = characters(elements[i]);
    Ref string = checked(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"),
        kMemory);
    checked(PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), string.release()), kMemory);
  }
  const Ref shape = checked(PyTuple_New(tensor.rank), kMemory);
  for (int axis = 0; axis < tensor.rank; ++axis) {
    Ref extent = checked(PyLong_FromLong(tensor.dims()[static_cast<size_t>(axis)]), kMemory);
    checked(PyTuple_SetItem(shape.get(), axis, extent.release()), kMemory);
  }
  const Ref flat = object_array(tools, list.get());
  return checked(PyObject_CallMethod(flat.get(), "reshape", "(O)", shape.get()), kMemory);
}

StringArray strings_of(const Tools& tools, PyObject* object, int output) {
  require_numpy(tools);
  const std::string name = "output " + std::to_string(output);
  const Ref array = object_array(tools, object);
  StringArray result;
  const Ref shape = checked(PyObject_GetAttrString(array.get(), "shape"), kResult);
  const Py_ssize_t rank = PyTuple_Size(shape.get());
  if (rank > kMaxRank) {
    Failure failure(Code::kWrongRank, "rank of a result",
                    name + ": expected at most " + std::to_string(kMaxRank) + " axes, got " +
                        std::to_string(rank));
    failure.output = output;
    throw failure;
  }
  for (Py_ssize_t axis = 0; axis < rank; ++axis) {
    const Py_ssize_t extent = PyLong_AsSsize_t(PyTuple_GetItem(shape.get(), axis));
    result.extents.push_back(static_cast<int32_t>(std::min<Py_ssize_t>(extent, INT32_MAX)));
  }
  const Ref flat = checked(PyObject_CallMethod(array.get(), "ravel", nullptr), kResult);
  const Ref list = checked(PyObject_CallMethod(flat.get(), "tolist", nullptr), kResult);
  const Py_ssize_t count = PyList_Size(list.get());
  result.elements.resize(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* element = PyList_GetItem(list.get(), i);
    if (take_text(element, result.elements[static_cast<size_t>(i)])) continue;
    Failure failure(Code::kWrongType, kResult,
                    name + ": expected strings, got " + kind_of(element));
    failure.output = output;
    throw failure;
  }
  return result;
}

}  // namespace intarsia::pyop
