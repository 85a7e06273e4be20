// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/import.h"

#include <limits>

#include "converter/onnx/import_graph.h"
#include "converter/onnx/import_tensor.h"

namespace intarsia::converter {
namespace {

/// Newest IR version whose messages onnx.proto describes.
constexpr int64_t kNewestIr = 14;

OpsetMap read_opsets(Model& model, const onnx::ModelProto& proto) {
  auto opsets = opset_map(proto.opset_import());
  if (!opsets.contains("")) {
    // Before IR version 3 a model could not name its operator sets: it used the first.
    if (proto.ir_version() >= 3 && opsets.empty()) {
      throw Error("the model does not say which operator sets it uses (opset_import is empty)",
                  "export it again, or add an opset_import for domain ''");
    }
    opsets[""] = proto.ir_version() < 3 ? 1 : kNewestOpset;
  }
  const int version = opsets[""];
  if (version < 7) {
    model.warnings.push_back("the model uses operator set " + std::to_string(version) +
                             "; only 7 and newer are tested");
  }
  if (version > kNewestOpset) {
    model.warnings.push_back("the model uses operator set " + std::to_string(version) +
                             ", newer than " + std::to_string(kNewestOpset) +
                             ": operators are taken as they were in that one");
  }
  return opsets;
}

Model import_model(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                   const std::string& source) {
  if (bytes.empty()) throw Error(source + " is not an ONNX model: it is empty");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    throw Error(source + " exceeds 2 GiB, the limit of the ONNX format",
                "save its tensors as external data");
  }
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error(source + " is not an ONNX model, or it is truncated",
                "check that the download or export completed");
  }
  if (!proto.has_graph()) throw Error(source + " is not an ONNX model: it has no graph");

  Model model;
  model.symbols = std::make_unique<definitions::SymbolTable>();
  model.ir_version = proto.ir_version();
  model.producer = proto.producer_name();
  if (!proto.producer_version().empty()) model.producer += " " + proto.producer_version();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  if (proto.ir_version() > kNewestIr) {
    model.warnings.push_back("the model has IR version " + std::to_string(proto.ir_version()) +
                             ", newer than " + std::to_string(kNewestIr) +
                             ": what it adds is ignored");
  }
  model.opsets = read_opsets(model, proto);
  ExternalFiles files(folder);
  import_graph(model, proto, files);
  return model;
}

}  // namespace

Model import_file(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return import_model(file->bytes(), std::filesystem::absolute(path).parent_path(), path.string());
}

Model import_bytes(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  return import_model(bytes, folder, "the model");
}

}  // namespace intarsia::converter
