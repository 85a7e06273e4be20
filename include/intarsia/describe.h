// SPDX-License-Identifier: Apache-2.0
//
// Text for diagnostics, linked only by programs that call it.
//
// The sentence has the form
//
//     node 7 'conv1' (Conv): input channels, operand 0, axis 1: expected 3, found 4; WHAT TO DO
//
// with the parts that apply. Firmware may send the fields of a Diagnostic over the wire and let a
// host that has the plan print the sentence. Pure functions, any thread, no allocation.
#pragma once

#include <cstddef>
#include <span>

#include "intarsia/status.h"
#include "intarsia/types.h"

namespace intarsia {

/// Writes one sentence about `diagnostic` into `buffer`, always terminated by a zero byte, and
/// returns the length of the whole sentence (as snprintf does: a capacity of 0 asks for the
/// length). `plan`, if given, supplies the names of nodes and operators; it must be the plan that
/// failed. It names the thing, what was expected, what was found, and what to do. Does not
/// allocate.
size_t describe(const Diagnostic& diagnostic, std::span<const std::byte> plan, char* buffer,
                size_t capacity);

/// ONNX's name: "float", "int64", ... ; "undefined" for numbers outside the enumeration. Static
/// storage.
const char* data_type_name(DataType type);

/// "kWrongExtent", ... Static storage.
const char* code_name(Code code);

}  // namespace intarsia
