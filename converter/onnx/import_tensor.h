// SPDX-License-Identifier: Apache-2.0
//
// From ONNX's TensorProto to `Constant`: every encoding (raw, typed fields, external file) of every
// element type. The message is untrusted: sizes are checked before anything is allocated.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "converter/graph/constant.h"
#include "converter/onnx/file.h"
#include "converter/onnx/onnx.pb.h"

namespace intarsia::converter {

/// The files beside a model that hold its large tensors; each is mapped once and stays mapped as
/// long as a constant refers to it. Tensors of one range share its bytes.
class ExternalFiles {
 public:
  /// `folder` is that of the model file; empty if the model did not come from a file, in which case
  /// external data is an error.
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The bytes that `tensor.external_data` names, `size` of them. Paths that leave the folder are
  /// refused.
  std::shared_ptr<const std::byte> find(const onnx::TensorProto& tensor, size_t size);

 private:
  struct File {
    std::shared_ptr<const MappedFile> mapped;
    std::map<std::pair<uint64_t, size_t>, std::shared_ptr<const std::byte>> ranges;
    uint64_t claimed = 0;  ///< Bytes of all ranges.
  };
  std::filesystem::path folder_;
  std::map<std::string, File> files_;
};

/// The tensor's elements. Raw data moves out of the message, which can be read only once. Errors
/// name the tensor.
Constant read_tensor(onnx::TensorProto& tensor, ExternalFiles& files);

/// `number` as an element type of the IR; kUndefined if it is none.
DataType element_type(int32_t number);

}  // namespace intarsia::converter
