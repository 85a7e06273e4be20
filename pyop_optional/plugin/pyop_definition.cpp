// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/plugin/pyop_definition.h"

#include <array>

#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/node_attributes.h"

namespace intarsia::pyop {
namespace {

using definitions::AttributeMap;
using definitions::OperatorDefinition;
using definitions::Parameter;

/// Operands that a definition has room for; any of them may be absent.
constexpr size_t kMostOperands = 64;

std::vector<Parameter> optional_operands() {
  static const auto kNames = [] {
    std::array<std::string, kMostOperands> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
    return names;
  }();
  std::vector<Parameter> operands;
  for (const std::string& name : kNames) operands.push_back({name, "", Parameter::kOptional});
  return operands;
}

/// Collects what is wrong, so that all of it is told at once.
class PyOpReader {
 public:
  explicit PyOpReader(const AttributeMap& attributes) : rest_(attributes) {}

  /// Takes a string out of the attributes. `missing` is what to say where it is absent or empty.
  void take(const char* name, std::string& text, const char* missing) {
    const auto found = rest_.find(name);
    if (found == rest_.end()) {
      if (missing != nullptr) fail(missing);
      return;
    }
    const auto* value = std::get_if<std::string>(&found->second);
    if (value == nullptr) {
      fail(std::string("attribute \"") + name + "\" must be a string");
    } else if (value->empty() && missing != nullptr) {
      fail(missing);
    } else if (!value->empty()) {
      text = *value;
    }
    rest_.erase(found);
  }

  void take(const char* name, std::vector<DataType>& types, const char* missing) {
    const auto found = rest_.find(name);
    if (found == rest_.end()) {
      fail(missing);
      return;
    }
    if (const auto* values = std::get_if<std::vector<int64_t>>(&found->second)) {
      for (int64_t value : *values) {
        const DataType type = value > 0 && value <= kLastDataType ? static_cast<DataType>(value)
                                                                  : DataType::kUndefined;
        if (!is_for_python(type)) {
          fail(std::string("attribute \"") + name + "\" has element type " + std::to_string(value) +
               " (" + dtype_name(type) + "), which Python operators do not take");
        }
        types.push_back(type);
      }
    } else {
      fail(std::string("attribute \"") + name + "\" must be a list of TensorProto.DataType");
    }
    rest_.erase(found);
  }

  AttributeMap take_rest() { return std::move(rest_); }
  const std::string& problems() const { return problems_; }

 private:
  void fail(const std::string& problem) { problems_ += (problems_.empty() ? "" : "; ") + problem; }

  AttributeMap rest_;
  std::string problems_;
};

}  // namespace

OperatorDefinition python_definition(const ShapeInference& shapes) {
  OperatorDefinition definition;
  definition.kernel_operator = PyOp::id.op;
  definition.kernel_types = {};
  definition.impure = true;
  definition.makes_strings = true;
  definition.extents_vary = true;
  definition.promises_extents = true;
  definition.extents_hint =
      "give the operator a shape function, or declare the extents in the model (value_info)";
  definition.infer = [&shapes](definitions::SymbolicShapeContext& context) {
    return shapes.infer(context);
  };
  definition.trial = [&shapes](definitions::SymbolicShapeContext& context) {
    return shapes.try_on_zeros(context);
  };
  return definition;
}

const OperatorDefinition* PyOpDefinitions::find(std::string_view domain, std::string_view name) {
  if (name != "PyOp") return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [entry, fresh] = by_domain_.try_emplace(std::string(domain));
  OperatorDefinition& definition = entry->second;
  if (fresh) {
    definition = python_definition(shapes_);
    definition.domain = entry->first;
    definition.name = "PyOp";
    definition.inputs = optional_operands();
    definition.outputs = optional_operands();
    definition.attributes.read = &read_pyop_attributes;
  }
  return &definition;
}

std::string read_pyop_attributes(const AttributeMap& attributes, std::vector<std::byte>& blob) {
  PyOpReader reader(attributes);
  NodeAttributes node;
  node.method = "compute";
  reader.take("module", node.module, "PyOp module not specified");
  reader.take("class_name", node.class_name, "PyOp class name not specified");
  reader.take("compute", node.method, nullptr);
  reader.take("input_types", node.inputs, "PyOp node inputs not specified");
  reader.take("output_types", node.outputs, "PyOp node outputs not specified");
  if (!reader.problems().empty()) return reader.problems();
  if (node.outputs.empty()) return "PyOp node outputs not specified";
  node.values = reader.take_rest();
  blob = node.encode();
  return "";
}

}  // namespace intarsia::pyop
