// SPDX-License-Identifier: Apache-2.0
//
// An operator's own shape function, and the many ways in which Python writes a shape.
#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/instance.h"

namespace intarsia::pyop {
namespace {

Ref python_shape(const std::vector<int64_t>& extents) {
  Ref shape = checked(PyTuple_New(static_cast<Py_ssize_t>(extents.size())), kMemory);
  for (size_t i = 0; i < extents.size(); ++i) {
    checked(PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(i),
                            checked(PyLong_FromLongLong(extents[i]), kMemory).release()),
            kMemory);
  }
  return shape;
}

/// "float32", numpy.float32 and numpy.dtype("float32") all name a type.
DataType type_of_object(PyObject* object) {
  for (const char* attribute : {"name", "__name__"}) {
    const Ref name = Ref::take(PyObject_GetAttrString(object, attribute));
    if (!name) PyErr_Clear();
    const DataType type = type_named(utf8(name.get()));
    if (type != DataType::kUndefined) return type;
  }
  return type_named(utf8(object));
}

std::vector<int64_t> extents_of_object(PyObject* shape) {
  std::vector<int64_t> extents;
  const Py_ssize_t rank = PySequence_Check(shape) != 0 ? PySequence_Size(shape) : -1;
  if (rank < 0) {
    PyErr_Clear();
    throw Failure(Code::kInvalidValue, kOperator,
                  "its shape function returned " + kind_of(shape) +
                      " as a shape; return a tuple of "
                      "integers");
  }
  for (Py_ssize_t i = 0; i < rank; ++i) {
    const Ref extent = checked(PySequence_GetItem(shape, i), kOperator);
    extents.push_back(PyLong_AsLongLong(extent.get()));
    if (PyErr_Occurred() != nullptr) throw_exception(kOperator);
  }
  return extents;
}

bool is_sequence(PyObject* object) {
  return PyTuple_Check(object) != 0 || PyList_Check(object) != 0;
}

}  // namespace

std::optional<std::vector<TensorDescription>> Instance::infer(
    std::span<const TensorDescription> inputs) const {
  const bool shapes_only = attributes_.convention == Convention::kCompute;
  const char* name = shapes_only ? "infer_shape" : "infer";
  const Ref function = Ref::take(PyObject_GetAttrString(object_.get(), name));
  if (!function) {
    PyErr_Clear();
    return std::nullopt;
  }
  Ref tensor;
  if (!shapes_only) {
    const Ref types = checked(PyImport_ImportModule("types"), kMemory);
    tensor = checked(PyObject_GetAttrString(types.get(), "SimpleNamespace"), kMemory);
  }
  Ref arguments = checked(PyTuple_New(static_cast<Py_ssize_t>(inputs.size())), kMemory);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Ref argument = Ref::share(Py_None);
    if (inputs[i].type != DataType::kUndefined) {
      argument = python_shape(inputs[i].extents);
      if (!shapes_only) {
        const Ref fields = checked(Py_BuildValue("{s:s,s:O}", "dtype", dtype_name(inputs[i].type),
                                                 "shape", argument.get()),
                                   kMemory);
        const Ref none = checked(PyTuple_New(0), kMemory);
        argument = checked(PyObject_Call(tensor.get(), none.get(), fields.get()), kMemory);
      }
    }
    checked(PyTuple_SetItem(arguments.get(), static_cast<Py_ssize_t>(i), argument.release()),
            kMemory);
  }
  const Ref returned = shapes_only
                           ? Ref::take(PyObject_Call(function.get(), arguments.get(), nullptr))
                           : call_with_attributes(function, arguments, takes_two(function.get()));
  if (!returned) fail_exception(attributes_.function() + ": its " + name);

  // One description of the only output, or a sequence of them. A shape is itself a sequence, of
  // integers; an object with `shape` and `dtype` is a description; so is the pair (dtype, shape).
  const auto is_description = [shapes_only](PyObject* object) {
    if (!shapes_only && PyObject_HasAttrString(object, "shape") != 0) return true;
    if (!is_sequence(object)) return false;
    const Py_ssize_t size = PySequence_Size(object);
    if (shapes_only && size == 0) return true;
    const Ref first = Ref::take(PySequence_GetItem(object, 0));
    if (!first) PyErr_Clear();
    if (shapes_only) return first && PyIndex_Check(first.get()) != 0;
    return size == 2 && first && type_of_object(first.get()) != DataType::kUndefined;
  };
  std::vector<Ref> described;
  if (is_description(returned.get())) {
    described.push_back(Ref::share(returned.get()));
  } else {
    const Py_ssize_t count =
        PySequence_Check(returned.get()) != 0 ? PySequence_Size(returned.get()) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
      described.push_back(checked(PySequence_GetItem(returned.get(), i), kOperator));
    }
  }
  // It does not know of the context.
  const bool has_context = attributes_.convention == Convention::kFunction;
  const size_t expected = attributes_.outputs.size() - (has_context ? 1 : 0);
  if (described.size() != expected) {
    throw Failure(Code::kInvalidValue, kOperator,
                  attributes_.function() + ": its " + name + " must describe " +
                      std::to_string(expected) + " outputs, but describes " +
                      std::to_string(described.size()));
  }
  std::vector<TensorDescription> outputs;
  for (const Ref& each : described) {
    TensorDescription output;
    if (shapes_only) {
      output.extents = extents_of_object(each.get());
    } else if (is_sequence(each.get())) {
      const Ref type = checked(PySequence_GetItem(each.get(), 0), kOperator);
      const Ref shape = checked(PySequence_GetItem(each.get(), 1), kOperator);
      output = {type_of_object(type.get()), extents_of_object(shape.get())};
    } else {
      const Ref type = checked(PyObject_GetAttrString(each.get(), "dtype"), kOperator);
      const Ref shape = checked(PyObject_GetAttrString(each.get(), "shape"), kOperator);
      output = {type_of_object(type.get()), extents_of_object(shape.get())};
    }
    outputs.push_back(std::move(output));
  }
  if (has_context) outputs.push_back({DataType::kInt64, {}});
  return outputs;
}

}  // namespace intarsia::pyop
