// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/tensor_file.h"

#include <limits>
#include <sstream>

#include "converter/graph/sequence.h"
#include "converter/onnx/import_tensor.h"
#include "converter/onnx/npy.h"

namespace intarsia::converter {

namespace {

Constant constant_of(onnx::TensorProto& tensor, ExternalFiles& files, int) {
  return read_tensor(tensor, files);
}

constexpr int kMaxNesting = 32;

Constant constant_of(onnx::OptionalProto& optional, ExternalFiles& files, int depth);

Constant constant_of(onnx::SequenceProto& sequence, ExternalFiles& files, int depth) {
  if (depth > kMaxNesting) throw Error("sequences are nested too deeply");
  std::vector<Constant> elements;
  for (auto& value : *sequence.mutable_tensor_values()) {
    elements.push_back(constant_of(value, files, depth + 1));
  }
  for (auto& value : *sequence.mutable_sequence_values()) {
    elements.push_back(constant_of(value, files, depth + 1));
  }
  for (auto& value : *sequence.mutable_optional_values()) {
    elements.push_back(constant_of(value, files, depth + 1));
  }
  return sequence_of(DataType::kSequence, elements);
}

Constant constant_of(onnx::OptionalProto& optional, ExternalFiles& files, int depth) {
  if (depth > kMaxNesting) throw Error("optional values are nested too deeply");
  std::vector<Constant> elements;
  if (optional.has_tensor_value()) {
    elements.push_back(constant_of(*optional.mutable_tensor_value(), files, depth + 1));
  } else if (optional.has_sequence_value()) {
    elements.push_back(constant_of(*optional.mutable_sequence_value(), files, depth + 1));
  } else if (optional.has_optional_value()) {
    elements.push_back(constant_of(*optional.mutable_optional_value(), files, depth + 1));
  }
  return sequence_of(DataType::kOptional, elements);
}

template <class Proto>
NamedConstant read_file(const std::filesystem::path& path, const char* what) {
  const auto file = MappedFile::open(path);
  Proto proto;
  const auto bytes = file->bytes();
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(path.string() + " is not a serialised ONNX " + what + ", or it is truncated");
  }
  ExternalFiles files(std::filesystem::absolute(path).parent_path());
  try {
    Constant value = constant_of(proto, files, 0);
    return {proto.name(), std::move(value)};
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

}  // namespace

NamedConstant read_tensor_file(const std::filesystem::path& path, DataType kind) {
  switch (kind) {
    case DataType::kSequence:
      return read_file<onnx::SequenceProto>(path, "sequence");
    case DataType::kOptional:
      return read_file<onnx::OptionalProto>(path, "optional value");
    default:
      return read_file<onnx::TensorProto>(path, "tensor");
  }
}

void write_tensor_file(const std::filesystem::path& path, std::string_view name,
                       const Constant& constant) {
  onnx::TensorProto proto;
  proto.set_name(std::string(name));
  proto.set_data_type(static_cast<int32_t>(constant.type));
  for (int64_t extent : constant.extents) proto.add_dims(extent);
  if (constant.type == DataType::kString) {
    for (int64_t i = 0; i < constant.count(); ++i) {
      proto.add_string_data(std::string(constant.string(i)));
    }
  } else {
    proto.set_raw_data(constant.data.get(), constant.size);
  }
  const std::string text = proto.SerializeAsString();
  write_file(path, std::as_bytes(std::span(text)));
}

Constant read_tensor_by_extension(const std::filesystem::path& path) {
  if (path.extension() == ".npy") return read_npy(path);
  if (path.extension() == ".pb") return read_tensor_file(path).value;
  throw Error(path.string() + " is no tensor file that can be read",
              "give a .npy file (NumPy) or a .pb file (ONNX TensorProto)");
}

Constant read_value(const std::string& text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return read_tensor_by_extension(text);
  }
  std::vector<Constant> elements;
  std::istringstream files(text.substr(1, text.size() - 2));
  for (std::string file; std::getline(files, file, ',');) {
    elements.push_back(read_tensor_by_extension(file));
  }
  return sequence_of(DataType::kSequence, elements);
}

}  // namespace intarsia::converter
