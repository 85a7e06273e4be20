// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/buffer.h"

#include <cstring>

#include "intarsia/describe.h"
#include "intarsia/tensor.h"

namespace intarsia::pyop {
namespace {

struct BufferObject {
  PyObject_HEAD void* data;
  std::byte* owned;  // what `data` points to if the buffer has a copy of its own
  bool writable, closed;
  const char* format;
  Py_ssize_t item_bytes, bytes;
  int rank;
  Py_ssize_t extents[kMaxRank], strides[kMaxRank];
  Py_ssize_t exports;
};

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  auto* self = reinterpret_cast<BufferObject*>(object);
  const bool refused = (flags & PyBUF_WRITABLE) != 0 && !self->writable;
  if (refused || self->closed) {
    PyErr_SetString(PyExc_BufferError, refused
                                           ? "an operator's inputs are read-only"
                                           : "the call that this input was lent for has returned");
    view->obj = nullptr;
    return -1;
  }
  Py_INCREF(object);
  view->obj = object;
  view->buf = self->data;
  view->len = self->bytes;
  view->readonly = self->writable ? 0 : 1;
  view->itemsize = self->item_bytes;
  view->ndim = self->rank;
  // The elements are dense, so every kind of request but one for their format can be met.
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(self->format) : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? self->extents : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  ++self->exports;
  return 0;
}

void release_buffer(PyObject* object, Py_buffer*) {
  --reinterpret_cast<BufferObject*>(object)->exports;
}

void deallocate(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  delete[] reinterpret_cast<BufferObject*>(object)->owned;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);  // objects of heap types own a reference to their type
}

Ref make_buffer(PyObject* buffer_type, DataType type, std::span<const int32_t> extents) {
  auto* made = reinterpret_cast<PyTypeObject*>(buffer_type);
  Ref result = checked(PyType_GenericAlloc(made, 0), "memory for Python");
  auto* self = reinterpret_cast<BufferObject*>(result.get());
  self->format = format_of(type);
  self->item_bytes = element_bits(type) / 8;
  self->rank = static_cast<int>(extents.size());
  Py_ssize_t stride = self->item_bytes;
  for (int axis = self->rank - 1; axis >= 0; --axis) {
    self->extents[axis] = extents[static_cast<size_t>(axis)];
    self->strides[axis] = stride;
    stride *= self->extents[axis];
  }
  self->bytes = stride;
  return result;
}

}  // namespace

const char* format_of(DataType type) {
  switch (type) {
    case DataType::kBool:
      return "?";
    case DataType::kInt8:
      return "b";
    case DataType::kUint8:
      return "B";
    case DataType::kInt16:
      return "h";
    case DataType::kUint16:
      return "H";
    case DataType::kInt32:
      return "i";
    case DataType::kUint32:
      return "I";
    case DataType::kInt64:
      return "q";
    case DataType::kUint64:
      return "Q";
    case DataType::kFloat16:
      return "e";
    case DataType::kFloat:
      return "f";
    case DataType::kDouble:
      return "d";
    case DataType::kComplex64:
      return "Zf";
    case DataType::kComplex128:
      return "Zd";
    default:
      return nullptr;
  }
}

DataType type_of_format(const char* format, Py_ssize_t item_bytes, bool& swapped) {
  swapped = false;
  if (format == nullptr) format = "B";
  if (std::strchr("@=<>!", *format) != nullptr && *format != '\0') {
    swapped = (*format == '>' || *format == '!') && item_bytes > 1;
    ++format;
  }
  // The letters of integers depend on the compiler and on the prefix; kind and size do not.
  const auto is_one_of = [format](const char* letters) {
    return *format != '\0' && format[1] == '\0' && std::strchr(letters, *format) != nullptr;
  };
  if (is_one_of("?")) return DataType::kBool;
  const bool is_signed = is_one_of("bhilqn"), is_unsigned = is_one_of("BHILQN");
  const bool is_real = is_one_of("efd");
  const bool is_complex = std::strcmp(format, "Zf") == 0 || std::strcmp(format, "Zd") == 0;
  switch (item_bytes) {
    case 1:
      return is_signed ? DataType::kInt8 : is_unsigned ? DataType::kUint8 : DataType::kUndefined;
    case 2:
      return is_signed     ? DataType::kInt16
             : is_unsigned ? DataType::kUint16
             : is_real     ? DataType::kFloat16
                           : DataType::kUndefined;
    case 4:
      return is_signed     ? DataType::kInt32
             : is_unsigned ? DataType::kUint32
             : is_real     ? DataType::kFloat
                           : DataType::kUndefined;
    case 8:
      return is_signed     ? DataType::kInt64
             : is_unsigned ? DataType::kUint64
             : is_real     ? DataType::kDouble
             : is_complex  ? DataType::kComplex64
                           : DataType::kUndefined;
    case 16:
      return is_complex ? DataType::kComplex128 : DataType::kUndefined;
    default:
      return DataType::kUndefined;
  }
}

const char* dtype_name(DataType type) {
  if (type == DataType::kFloat) return "float32";
  if (type == DataType::kDouble) return "float64";
  return data_type_name(type);
}

DataType type_named(std::string_view name) {
  for (uint8_t number = 1; number <= kLastDataType; ++number) {
    const auto type = static_cast<DataType>(number);
    if (name == dtype_name(type) || name == data_type_name(type)) return type;
  }
  return DataType::kUndefined;
}

Ref make_buffer_type() {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                                {0, nullptr}};
  static PyType_Spec spec = {
      "intarsia.Buffer", static_cast<int>(sizeof(BufferObject)), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return checked(PyType_FromSpec(&spec), "a Python type for buffers");
}

Ref borrow_buffer(PyObject* buffer_type, DataType type, std::span<const int32_t> extents,
                  void* data) {
  Ref result = make_buffer(buffer_type, type, extents);
  reinterpret_cast<BufferObject*>(result.get())->data = data;
  return result;
}

Ref copy_buffer(PyObject* buffer_type, DataType type, std::span<const int32_t> extents,
                std::span<const std::byte> bytes, bool writable) {
  Ref result = make_buffer(buffer_type, type, extents);
  auto* self = reinterpret_cast<BufferObject*>(result.get());
  self->writable = writable;
  // One spare byte: an empty array has an address too. `new` aligns for every element type.
  self->owned = new std::byte[bytes.size() + 1];
  if (!bytes.empty()) std::memcpy(self->owned, bytes.data(), bytes.size());
  self->data = self->owned;
  return result;
}

bool is_exported(PyObject* buffer) {
  return reinterpret_cast<BufferObject*>(buffer)->exports != 0;
}

void close_buffer(PyObject* buffer) {
  reinterpret_cast<BufferObject*>(buffer)->closed = true;
}

}  // namespace intarsia::pyop
