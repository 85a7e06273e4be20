// SPDX-License-Identifier: Apache-2.0
//
// Memory of ours as Python objects: a type with the buffer protocol (PEP 3118), which numpy turns
// into arrays without a copy and memoryview shows where numpy is missing.
//
// A buffer counts its exports, so that an operator that keeps a view of its input is found out
// (loan.h).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "intarsia/types.h"
#include "pyop_optional/host/python.h"

namespace intarsia::pyop {

/// PEP 3118 format of an element type, as Python's module `struct` writes it; null for types that
/// Python has no name for (bfloat16, the 8-bit floats, types below one byte, string).
const char* format_of(DataType type);
/// Whether operators take and return tensors of the type: those with a format, and strings.
inline bool is_for_python(DataType type) {
  return type == DataType::kString || format_of(type) != nullptr;
}
/// The element type of a format whose elements have `item_bytes`; kUndefined if there is none.
/// `swapped` tells whether the bytes of an element are in big-endian order.
DataType type_of_format(const char* format, Py_ssize_t item_bytes, bool& swapped);

/// "float32", "int64", ...: the element type as numpy names it, which differs from ONNX's name here
/// and there; "undefined" for numbers outside the enumeration.
const char* dtype_name(DataType type);
/// The element type that numpy or ONNX calls so; kUndefined if there is none.
DataType type_named(std::string_view name);

/// The Python type of buffers; made once per interpreter, by PyHost::start.
Ref make_buffer_type();

/// A read-only buffer over memory that the caller keeps until `close_buffer`. REQUIRES:
/// format_of(type) is not null.
Ref borrow_buffer(PyObject* buffer_type, DataType type, std::span<const int32_t> extents,
                  void* data);
/// A buffer over a copy of `bytes`.
Ref copy_buffer(PyObject* buffer_type, DataType type, std::span<const int32_t> extents,
                std::span<const std::byte> bytes, bool writable);

/// True if something refers to the memory of a buffer still.
bool is_exported(PyObject* buffer);
/// Refuses every further view of the buffer's memory; those that exist are not concerned.
void close_buffer(PyObject* buffer);

}  // namespace intarsia::pyop
