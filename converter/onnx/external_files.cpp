// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <set>

#include "converter/graph/error.h"
#include "converter/onnx/file.h"
#include "converter/onnx/import.h"
#include "converter/onnx/onnx.pb.h"

namespace intarsia::converter {
namespace {

/// Collects where tensors lie, wherever a model can have a tensor.
class Locations {
 public:
  void add(const onnx::ModelProto& model) {
    add(model.graph());
    for (const auto& function : model.functions()) add_nodes(function.node());
    for (const auto& function : model.functions()) add_attributes(function.attribute_proto());
  }
  std::set<std::string> take() { return std::move(found_); }

 private:
  void add(const onnx::TensorProto& tensor) {
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") found_.insert(entry.value());
    }
  }
  void add(const onnx::SparseTensorProto& tensor) {
    add(tensor.values());
    add(tensor.indices());
  }
  void add(const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) add(tensor);
    for (const auto& tensor : graph.sparse_initializer()) add(tensor);
    add_nodes(graph.node());
  }
  template <class Nodes>
  void add_nodes(const Nodes& nodes) {
    for (const auto& node : nodes) add_attributes(node.attribute());
  }
  template <class Attributes>
  void add_attributes(const Attributes& attributes) {
    for (const auto& attribute : attributes) {
      if (attribute.has_t()) add(attribute.t());
      if (attribute.has_g()) add(attribute.g());
      for (const auto& tensor : attribute.tensors()) add(tensor);
      for (const auto& graph : attribute.graphs()) add(graph);
    }
  }

  std::set<std::string> found_;
};

}  // namespace

std::vector<std::filesystem::path> external_files(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  onnx::ModelProto model;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return {};
  }
  Locations locations;
  locations.add(model);
  std::vector<std::filesystem::path> files;
  const auto folder = std::filesystem::absolute(path).parent_path();
  for (const std::string& location : locations.take()) files.push_back(folder / location);
  return files;
}

}  // namespace intarsia::converter
