// SPDX-License-Identifier: Apache-2.0
//
// Tensors in files of their own, as ONNX's test cases have them: one serialised TensorProto (.pb).
// Functions throw `converter::Error`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "converter/graph/constant.h"
#include "converter/graph/error.h"

namespace intarsia::converter {

struct NamedConstant {
  std::string name;
  Constant value;
};

/// A file in the layout of ONNX's test cases: a TensorProto, or for `kind` kSequence or kOptional a
/// SequenceProto or OptionalProto, which the bytes do not tell apart.
NamedConstant read_tensor_file(const std::filesystem::path& path,
                               DataType kind = DataType::kUndefined);
void write_tensor_file(const std::filesystem::path& path, std::string_view name,
                       const Constant& constant);

/// A tensor from a file, by its extension: .npy or .pb.
Constant read_tensor_by_extension(const std::filesystem::path& path);

/// The same, and of several files, in brackets and separated by commas, a sequence:
/// "[a.npy,b.npy]".
Constant read_value(const std::string& text);

}  // namespace intarsia::converter
