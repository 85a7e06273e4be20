// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/tensor_file.h"

#include <fmt/format.h>

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

/// ONNX gives each value of a map a tensor of its own.
Constant constant_of(onnx::MapProto& map, ExternalFiles& files, int) {
  const DataType type_of_keys = element_type(map.key_type());
  const bool texts = type_of_keys == DataType::kString;
  onnx::TensorProto keys;
  keys.set_data_type(map.key_type());
  keys.add_dims(texts ? map.string_keys_size() : map.keys_size());
  for (const std::string& key : map.string_keys()) keys.add_string_data(key);
  for (const int64_t key : map.keys()) {
    if (type_of_keys == DataType::kInt64) {
      keys.add_int64_data(key);
    } else {
      keys.add_int32_data(static_cast<int32_t>(key));
    }
  }
  auto& given = *map.mutable_values()->mutable_tensor_values();
  if (given.size() != keys.dims(0)) {
    throw Error(fmt::format("a map has {} keys and {} values", keys.dims(0), given.size()));
  }
  std::vector<std::byte> bytes;
  std::vector<std::string> strings;
  DataType type = DataType::kUndefined;
  for (onnx::TensorProto& value : given) {
    const Constant one = read_tensor(value, files);
    if (one.count() != 1 || (type != DataType::kUndefined && one.type != type)) {
      throw Error("the values of a map are no single elements of one type, which is not supported");
    }
    type = one.type;
    if (type == DataType::kString) strings.emplace_back(one.string(0));
    bytes.insert(bytes.end(), one.bytes().begin(), one.bytes().end());
  }
  if (type != DataType::kUndefined && element_bits(type) < 8) {
    throw Error("the values of a map have less than a byte each, which is not supported");
  }
  const std::vector<int64_t> extents{keys.dims(0)};
  return sequence_of(
      DataType::kMap,
      {read_tensor(keys, files), type == DataType::kString ? Constant::strings(extents, strings)
                                 : type == DataType::kUndefined
                                     ? Constant::own(DataType::kFloat, extents, {})
                                     : Constant::own(type, extents, std::move(bytes))});
}

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
  for (auto& value : *sequence.mutable_map_values()) {
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
  } else if (optional.has_map_value()) {
    elements.push_back(constant_of(*optional.mutable_map_value(), files, depth + 1));
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
    case DataType::kMap:
      return read_file<onnx::MapProto>(path, "map");
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
  const auto stands_in = [&text](char first, char last) {
    return text.size() > 1 && text.front() == first && text.back() == last;
  };
  const bool map = stands_in('{', '}');
  if (!map && !stands_in('[', ']')) return read_tensor_by_extension(text);
  std::vector<Constant> elements;
  std::istringstream files(text.substr(1, text.size() - 2));
  for (std::string file; std::getline(files, file, ',');) {
    elements.push_back(read_tensor_by_extension(file));
  }
  if (!map) return sequence_of(DataType::kSequence, elements);
  const bool fits =
      elements.size() == 2 && elements[0].rank() == 1 && elements[0].extents == elements[1].extents;
  if (!fits) {
    throw Error(text + " is no map", "give {KEYS,VALUES}, two files with vectors of one length");
  }
  return sequence_of(DataType::kMap, elements);
}

}  // namespace intarsia::converter
