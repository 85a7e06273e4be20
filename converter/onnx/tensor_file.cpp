// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/tensor_file.h"

#include <limits>

#include "converter/onnx/import_tensor.h"
#include "converter/onnx/npy.h"

namespace intarsia::converter {

NamedConstant read_tensor_file(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  onnx::TensorProto proto;
  const auto bytes = file->bytes();
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(path.string() + " is not a serialised ONNX tensor, or it is truncated");
  }
  ExternalFiles files(std::filesystem::absolute(path).parent_path());
  try {
    Constant value = read_tensor(proto, files);
    return {proto.name(), std::move(value)};
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
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

}  // namespace intarsia::converter
