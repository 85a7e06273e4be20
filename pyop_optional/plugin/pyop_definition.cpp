// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/plugin/pyop_definition.h"

#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/node_attributes.h"

namespace intarsia::pyop {
namespace {

using definitions::AttributeMap;
using definitions::OperatorDefinition;
using definitions::Parameter;

/// As many as the node has; any of them may be absent.
constexpr Parameter kAnyOperands{"operands", "", Parameter::kVariadic, 0, true};

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

  AttributeMap take_rest() {
    for (const auto& [name, value] : rest_) {
      if (const std::string problem = problem_of(name, value); !problem.empty()) fail(problem);
    }
    return std::move(rest_);
  }
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
    definition.inputs = {kAnyOperands};
    definition.outputs = {kAnyOperands};
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
  node.values = reader.take_rest();
  if (!reader.problems().empty()) return reader.problems();
  if (node.outputs.empty()) return "PyOp node outputs not specified";
  blob = node.encode();
  return "";
}

}  // namespace intarsia::pyop
