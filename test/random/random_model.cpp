// SPDX-License-Identifier: Apache-2.0
#include "test/random/random_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "converter/graph/sequence.h"
#include "converter/onnx/onnx.pb.h"
#include "converter/onnx/tensor_file.h"

namespace intarsia::test {
namespace {

using definitions::AttributeValue;

void for_each_node(const std::vector<RandomNode>& nodes,
                   const std::function<void(const RandomNode&)>& visit) {
  for (const RandomNode& node : nodes) {
    visit(node);
    for (const RandomBranch& branch : node.branches) for_each_node(branch.nodes, visit);
  }
}

void set_tensor(onnx::TensorProto& proto, DataType type, const std::vector<int64_t>& extents,
                std::span<const std::byte> bytes) {
  proto.set_data_type(static_cast<int32_t>(type));
  for (int64_t extent : extents) proto.add_dims(extent);
  proto.set_raw_data(bytes.data(), bytes.size());
}
void set_tensor(onnx::TensorProto& proto, const std::string& name, const Constant& value) {
  set_tensor(proto, value.type, value.extents, value.bytes());
  proto.set_name(name);
  if (value.type != DataType::kString) return;
  proto.clear_raw_data();
  for (int64_t i = 0; i < value.count(); ++i) {
    proto.add_string_data(std::string(value.string(i)));
  }
}

struct SetAttribute {
  onnx::AttributeProto& proto;
  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& list) const {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : list) proto.add_ints(value);
  }
  void operator()(const std::vector<float>& list) const {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (float value : list) proto.add_floats(value);
  }
  void operator()(const std::vector<std::string>& list) const {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : list) proto.add_strings(value);
  }
  void operator()(const definitions::TensorValue& value) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    set_tensor(*proto.mutable_t(), value.type, value.extents, {value.data.get(), value.size});
  }
};

/// What is said of a value's extents: nothing, those that are constant, or all of them.
enum class Declared : uint8_t { kNothing, kConstant, kAll };

/// The type of a sequence or an optional value; ONNX wants that of the elements, too.
void set_sequence_type(onnx::TypeProto& type, const Constant& value) {
  onnx::TypeProto* element = value.type == DataType::kOptional
                                 ? type.mutable_optional_type()->mutable_elem_type()
                                 : type.mutable_sequence_type()->mutable_elem_type();
  const std::vector<Constant> elements = converter::elements_of(value);
  if (!elements.empty() && holds_elements(elements[0].type)) {
    set_sequence_type(*element, elements[0]);
    return;
  }
  const DataType number = elements.empty() ? DataType::kFloat : elements[0].type;
  element->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(number));
}

void set_type(onnx::ValueInfoProto& info, const RandomModel& model, const RandomTensor& tensor,
              Declared declared) {
  info.set_name(tensor.name);
  if (holds_elements(tensor.type)) {
    set_sequence_type(*info.mutable_type(), tensor.values.front());
    return;
  }
  auto* type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int32_t>(tensor.type));
  if (declared == Declared::kNothing) return;
  type->mutable_shape();
  for (int axis = 0; axis < tensor.shape.rank; ++axis) {
    auto* dim = type->mutable_shape()->add_dim();
    const Dim& extent = tensor.shape[axis];
    if (is_constant(extent)) {
      dim->set_dim_value(constant_value(extent));
    } else if (declared == Declared::kAll) {
      dim->set_dim_param((*model.symbols)[extent.symbols().front()].name);
    }
  }
}

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

void add_nodes(NodeProtos& protos, const RandomModel& model, const std::vector<RandomNode>& nodes) {
  for (const RandomNode& node : nodes) {
    onnx::NodeProto& proto = *protos.Add();
    proto.set_op_type(std::string(node.op->name));
    proto.set_domain(std::string(node.op->domain));
    const auto name = [&model](int index) {
      return index < 0 ? std::string() : model.tensor(index).name;
    };
    for (int index : node.inputs) proto.add_input(name(index));
    for (int index : node.outputs) proto.add_output(name(index));
    proto.set_name(node_name(model, node));
    for (const auto& [key, value] : node.attributes) {
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(key);
      std::visit(SetAttribute{attribute}, value);
    }
    for (size_t i = 0; i < node.branches.size(); ++i) {
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(std::string(node.op->graphs[i]));
      attribute.set_type(onnx::AttributeProto::GRAPH);
      onnx::GraphProto& graph = *attribute.mutable_g();
      graph.set_name(proto.name() + "_" + attribute.name());
      for (int index : node.branches[i].inputs) {
        set_type(*graph.add_input(), model, model.tensor(index), Declared::kConstant);
      }
      add_nodes(*graph.mutable_node(), model, node.branches[i].nodes);
      for (int index : node.branches[i].outputs) {
        // ONNX Runtime wants the ranks of a loop's results.
        const bool loop = node.op->control != definitions::Control::kBranches;
        set_type(*graph.add_output(), model, model.tensor(index),
                 loop ? Declared::kConstant : Declared::kNothing);
      }
    }
  }
}

}  // namespace

std::string node_name(const RandomModel& model, const RandomNode& node) {
  for (int output : node.outputs) {
    if (output >= 0) return "make_" + model.tensor(output).name;
  }
  return {};
}

bool has_zero(const RandomTensor& tensor) {
  for (int axis = 0; axis < tensor.shape.rank; ++axis) {
    if (is_constant(tensor.shape[axis]) && constant_value(tensor.shape[axis]) == 0) return true;
  }
  return false;
}

std::vector<int> RandomModel::used_inputs() const {
  std::set<int> used;
  const auto use = [&](int index) {
    if (index >= 0 && tensor(index).kind == RandomTensor::kInput) used.insert(index);
  };
  for_each_node(nodes, [&](const RandomNode& node) {
    for (int index : node.inputs) use(index);
  });
  for (int index : outputs) use(index);
  return {used.begin(), used.end()};
}

size_t RandomModel::node_count() const {
  size_t count = 0;
  for_each_node(nodes, [&](const RandomNode&) { ++count; });
  return count;
}

bool fits_input(const RandomModel& model, const RandomTensor& tensor) {
  for (int axis = 0; axis < tensor.shape.rank; ++axis) {
    const Dim& extent = tensor.shape[axis];
    if (is_constant(extent)) continue;
    const std::vector<int> symbols = extent.symbols();
    if (symbols.size() != 1 || extent.has_unknown()) return false;
    if (!(extent == model.symbols->dim(symbols.front()))) return false;
  }
  return true;
}

RandomModel copy_of(const RandomModel& model) {
  RandomModel copy;
  copy.seed = model.seed;
  for (int i = 0; i < model.symbols->size(); ++i) {
    const auto& symbol = (*model.symbols)[i];
    copy.symbols->add(symbol.name, symbol.min, symbol.max);
  }
  copy.runs = model.runs;
  copy.max_trips = model.max_trips;
  copy.tensors = model.tensors;
  for (RandomTensor& tensor : copy.tensors) {
    tensor.seen = {};
    for (int axis = 0; axis < tensor.shape.rank; ++axis) {
      tensor.shape[axis] =
          tensor.shape[axis].substitute([&](int symbol) { return copy.symbols->dim(symbol); });
    }
  }
  copy.nodes = model.nodes;
  copy.outputs = model.outputs;
  return copy;
}

std::string onnx_bytes(const RandomModel& model, int opset) {
  onnx::ModelProto proto;
  proto.set_ir_version(10);
  proto.set_producer_name("random");
  std::map<std::string, int> versions{{"", opset}};
  for_each_node(model.nodes, [&](const RandomNode& node) {
    const bool standard =
        node.op->domain.empty() || node.op->domain == definitions::kInternalDomain;
    int& version = versions[std::string(node.op->domain)];
    version = std::max(version, standard ? opset : node.op->since_version);
  });
  for (const auto& [domain, version] : versions) {
    auto* import = proto.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.set_name("random");
  std::set<int> constants;
  for_each_node(model.nodes, [&](const RandomNode& node) {
    for (int index : node.inputs) {
      if (index >= 0 && model.tensor(index).kind == RandomTensor::kConstant) {
        constants.insert(index);
      }
    }
  });
  for (int index : model.used_inputs()) {
    set_type(*graph.add_input(), model, model.tensor(index), Declared::kAll);
  }
  for (int index : constants) {
    const RandomTensor& tensor = model.tensor(index);
    const Constant& value = tensor.values.front();
    set_tensor(*graph.add_initializer(), tensor.name, value);
  }
  add_nodes(*graph.mutable_node(), model, model.nodes);
  for (int index : model.outputs)
    set_type(*graph.add_output(), model, model.tensor(index), Declared::kNothing);
  return proto.SerializeAsString();
}

namespace {

std::vector<int> used_symbols(const RandomModel& model) {
  std::set<int> symbols;
  for (int input : model.used_inputs()) {
    const RandomTensor& tensor = model.tensor(input);
    for (int axis = 0; axis < tensor.shape.rank; ++axis) {
      for (int symbol : tensor.shape[axis].symbols()) symbols.insert(symbol);
    }
  }
  return {symbols.begin(), symbols.end()};
}

template <class Visitor>
void for_each_bounded(const RandomModel& model, Visitor visitor) {
  for_each_node(model.nodes, [&](const RandomNode& node) {
    for (int output : node.outputs) {
      if (output >= 0 && !model.tensor(output).bounds.empty()) visitor(model.tensor(output));
    }
  });
}

}  // namespace

void set_extents(const RandomModel& model, converter::ConvertOptions& options) {
  options.max_trips = model.max_trips;
  for (int number : used_symbols(model)) {
    const auto& symbol = (*model.symbols)[number];
    options.dims[symbol.name] = converter::DimRange{symbol.min, symbol.max};
  }
  for (int input : model.used_inputs()) {
    const RandomTensor& tensor = model.tensor(input);
    // Models in circulation write 0 where they mean any extent; so the converter asks.
    if (has_zero(tensor)) options.shapes[tensor.name] = tensor.values.front().extents;
  }
  for_each_bounded(
      model, [&](const RandomTensor& tensor) { options.bounds[tensor.name] = tensor.bounds; });
}

std::string write_model(const RandomModel& model, const std::string& directory, size_t run) {
  namespace fs = std::filesystem;
  const fs::path root(directory);
  fs::create_directories(root);
  std::ofstream file(root / "model.onnx", std::ios::binary);
  const std::string bytes = onnx_bytes(model);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::string inputs, dims;
  for (int number : used_symbols(model)) {
    const auto& symbol = (*model.symbols)[number];
    dims += fmt::format(" --dim {}={}..{}", symbol.name, symbol.min, symbol.max);
  }
  for (int index : model.used_inputs()) {
    const RandomTensor& tensor = model.tensor(index);
    if (has_zero(tensor)) {
      dims +=
          fmt::format(" --shape {}={}", tensor.name, fmt::join(tensor.values.front().extents, "x"));
    }
    const fs::path path = root / (tensor.name + ".pb");
    converter::write_tensor_file(path, tensor.name, tensor.values[run]);
    inputs += fmt::format(" --input {}={}", tensor.name, path.string());
  }
  for_each_bounded(model, [&](const RandomTensor& tensor) {
    dims += fmt::format(" --bound {}={}", tensor.name, fmt::join(tensor.bounds, "x"));
  });
  const std::string onnx = (root / "model.onnx").string();
  if (dims.empty()) return fmt::format("intarsia verify {}{}", onnx, inputs);
  const std::string plan = (root / "model.plan").string();
  return fmt::format("intarsia convert {} -o {}{} && intarsia run {}{}", onnx, plan, dims, plan,
                     inputs);
}

void write_case(const RandomModel& model, const std::string& directory, int opset) {
  namespace fs = std::filesystem;
  const fs::path root(directory);
  fs::create_directories(root);
  std::ofstream file(root / "model.onnx", std::ios::binary);
  const std::string bytes = onnx_bytes(model, opset);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (size_t run = 0; run < model.runs.size(); ++run) {
    const fs::path folder = root / fmt::format("run_{}", run);
    fs::create_directories(folder);
    std::ofstream errors(folder / "errors.txt");
    for (const RandomTensor& tensor : model.tensors) {
      if (tensor.kind == RandomTensor::kConstant || holds_elements(tensor.type)) continue;
      if (tensor.values.empty()) continue;  // nobody has computed them
      converter::write_tensor_file(folder / (tensor.name + ".pb"), tensor.name, tensor.values[run]);
      errors << tensor.name << " " << tensor.errors[run] << "\n";
    }
  }
}

}  // namespace intarsia::test
