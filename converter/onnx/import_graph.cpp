// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/import_graph.h"

#include <limits>
#include <set>

#include "converter/onnx/import_constant.h"
#include "converter/onnx/import_expansion.h"
#include "converter/onnx/import_type.h"

namespace intarsia::converter {
namespace {

using google::protobuf::RepeatedPtrField;

constexpr int kMaxGraphDepth = 32;
constexpr int kMaxCallDepth = 32;
constexpr const char* kExportAgain = "the model is invalid; export it again";

/// Names that are visible in one graph, or in one function's body.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string, Value*> names;
};

/// What nodes are imported with: that of the main graph, or of one call of a function.
struct Call {
  const OpsetMap* opsets = nullptr;
  /// The values of the function's attributes.
  std::map<std::string, onnx::AttributeProto*> arguments;
  /// Put before the names of the function's nodes and values.
  std::string prefix;
  int depth = 0;
};

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  return domain_of(domain) + ":" + name + ":" + overload;
}

// Attributes written before IR version 2 name no type; the field that is set tells it.
onnx::AttributeProto::AttributeType type_of(const onnx::AttributeProto& attribute) {
  using onnx::AttributeProto;
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::INTS;
}

class Importer {
 public:
  Importer(Model& model, onnx::ModelProto& proto, ExternalFiles& files)
      : model_(model), types_(*model.symbols), constants_(files) {
    for (onnx::FunctionProto& function : *proto.mutable_functions()) {
      functions_[function_key(function.domain(), function.name(), function.overload())] = &function;
    }
  }

  void run(onnx::GraphProto& proto) {
    model_.graph = std::make_unique<Graph>(nullptr, proto.name());
    Call call;
    call.opsets = &model_.opsets;
    import_graph(proto, *model_.graph, nullptr, call, 0);
    model_.graph->sort();
  }

 private:
  /// An attribute of one node, references to a function's attributes resolved.
  struct Attribute {
    std::string name;
    onnx::AttributeProto* value;
    bool passed;  ///< It is an argument of the call.
  };
  using Attributes = std::vector<Attribute>;

  [[noreturn]] static void fail(std::string message) {
    throw Error(std::move(message), kExportAgain);
  }
  [[noreturn]] static void fail(const onnx::NodeProto& node, std::string message,
                                std::string hint = kExportAgain) {
    throw Error(problem_at(node, std::move(message), std::move(hint)));
  }

  static void declare(Scope& scope, const std::string& name, Value* value) {
    if (!scope.names.emplace(name, value).second) {
      fail("the name '" + name + "' is given to two values");
    }
  }

  static Value* find(const Scope& scope, const std::string& name) {
    for (const Scope* at = &scope; at != nullptr; at = at->outer) {
      if (const auto found = at->names.find(name); found != at->names.end()) return found->second;
    }
    return nullptr;
  }

  void import_graph(onnx::GraphProto& proto, Graph& graph, const Scope* outer, const Call& call,
                    int depth) {
    if (depth > kMaxGraphDepth) {
      fail("sub-graphs are nested deeper than " + std::to_string(kMaxGraphDepth) + " levels");
    }
    if (proto.sparse_initializer_size() > 0) {
      throw Error("graph '" + proto.name() + "' has sparse initialisers, which are not supported",
                  "store them as dense tensors");
    }
    expansion_.add(proto);
    Scope scope{outer, {}};
    for (onnx::TensorProto& initializer : *proto.mutable_initializer()) {
      const std::string& name = initializer.name();
      if (name.empty()) fail("an initialiser has no name");
      declare(scope, name,
              graph.add_constant(value_name(graph, call, name), constants_.tensor(initializer)));
    }
    for (const onnx::ValueInfoProto& input : proto.input()) {
      if (input.name().empty()) fail("a graph input has no name");
      // Before IR version 4 every initialiser was an input too; it is a constant all the same.
      const bool main = depth == 0;
      const auto known = scope.names.find(input.name());
      if (main && known != scope.names.end() && known->second->is_constant()) continue;
      Value* value = graph.add_input(value_name(graph, call, input.name()));
      declare(scope, input.name(), value);
      if (main) {
        types_.read_input(*value, input);
      } else {
        ImportedTypes::read_declaration(*value, input.type(), false);
      }
    }
    import_nodes(*proto.mutable_node(), graph, scope, call, depth);
    for (const auto* list : {&proto.value_info(), &proto.output()}) {
      for (const onnx::ValueInfoProto& info : *list) {
        const auto known = scope.names.find(info.name());
        if (known == scope.names.end() || known->second == nullptr) continue;
        ImportedTypes::read_declaration(*known->second, info.type(),
                                        depth == 0 && list == &proto.output());
      }
    }
    std::set<std::string> outputs;
    for (const onnx::ValueInfoProto& output : proto.output()) {
      Value* value = find(scope, output.name());
      if (value == nullptr) fail("graph output '" + output.name() + "' is produced by no node");
      if (depth == 0 && !outputs.insert(output.name()).second) {
        fail("graph output '" + output.name() + "' is listed twice");
      }
      graph.add_output(value);
    }
    if (graph.outputs().empty()) fail("graph '" + proto.name() + "' has no outputs");
  }

  // Names serve messages; those of a function's body are made unique by the call's prefix.
  static std::string value_name(Graph& graph, const Call& call, const std::string& name) {
    return call.prefix.empty() ? name : graph.unique_name(Expansion::scoped(call.prefix, name));
  }

  void import_nodes(RepeatedPtrField<onnx::NodeProto>& nodes, Graph& graph, Scope& scope,
                    const Call& call, int depth) {
    // Names first: files of some exporters are not in execution order.
    for (const onnx::NodeProto& node : nodes) {
      for (const std::string& name : node.output()) {
        if (name.empty()) continue;
        const auto formal = scope.names.find(name);
        const bool promised = formal != scope.names.end() && promised_.erase(formal->second) == 1;
        if (!promised) declare(scope, name, graph.add_value(value_name(graph, call, name)));
      }
    }
    for (onnx::NodeProto& node : nodes) import_node(node, graph, scope, call, depth);
  }

  void import_node(onnx::NodeProto& proto, Graph& graph, const Scope& scope, const Call& call,
                   int depth) {
    expansion_.add(proto, call.depth > 0);
    std::vector<Value*> inputs;
    std::vector<Value*> outputs;
    for (const std::string& name : proto.input()) {
      Value* value = nullptr;
      if (!name.empty()) {
        // An absent argument of a function is a name that is known and has no value.
        value = find(scope, name);
        if (value == nullptr && !is_known(scope, name)) {
          fail(proto, "input '" + name + "' is produced by no node");
        }
      }
      inputs.push_back(value);
    }
    for (const std::string& name : proto.output()) {
      outputs.push_back(name.empty() ? nullptr : find(scope, name));
    }
    const Attributes attributes = resolve_attributes(proto, call);

    const auto function =
        functions_.find(function_key(proto.domain(), proto.op_type(), proto.overload()));
    if (function != functions_.end()) {
      inline_function(proto, *function->second, graph, inputs, outputs, attributes, call, depth);
      return;
    }
    const std::string domain = domain_of(proto.domain());
    // Elsewhere a node may be there for what it does.
    if (domain.empty() && proto.output_size() == 0) fail(proto, "has no outputs");
    if (domain.empty() && proto.op_type() == "Constant") {
      read_constant(proto, graph, outputs, attributes);
      return;
    }
    const std::string& name = proto.name().empty() ? proto.op_type() : proto.name();
    Node* node = graph.add_node_for(domain, proto.op_type(), Expansion::scoped(call.prefix, name),
                                    inputs, outputs);
    const auto version = call.opsets->find(domain);
    // Models use domains that they do not import; what they mean is the newest version.
    node->version = version != call.opsets->end() ? version->second
                    : domain.empty()              ? kNewestOpset
                                                  : definitions::kLatestVersion;
    if (domain.empty()) drop_absent(*node);
    for (const Attribute& attribute : attributes) {
      read_attribute(proto, *node, attribute, scope, call, depth);
    }
    add_named_values(proto, *node, scope);
  }

  // What an attribute names is found here, where the scopes are known.
  static void add_named_values(const onnx::NodeProto& proto, Node& node, const Scope& scope) {
    const auto* op = definitions::OperatorRegistry::builtin().find(node.domain, node.type);
    if (op == nullptr) return;
    for (const std::string_view attribute : op->value_names) {
      std::vector<std::string> names;
      if (const auto* value = node.attribute(attribute)) {
        if (const auto* name = std::get_if<std::string>(value)) names = {*name};
        if (const auto* list = std::get_if<std::vector<std::string>>(value)) names = *list;
      }
      for (const std::string& name : names) {
        Value* value = find(scope, name);
        if (value == nullptr) {
          fail(proto, "attribute '" + std::string(attribute) + "' names '" + name +
                          "', which is no value of the graph");
        }
        node.set_input(static_cast<int>(node.inputs.size()), value);
      }
    }
  }

  // Absent operands at the end are as good as not listed, except in a list of any length, whose
  // length means something: there an absent input stays, to be refused, and an absent output gets a
  // value. Of other domains nothing is known.
  static void drop_absent(Node& node) {
    const auto* op = definitions::OperatorRegistry::builtin().find("", node.type);
    const size_t inputs = node.inputs.size(), outputs = node.outputs.size();
    node.trim();
    if (op == nullptr) return;
    if (definitions::variadic_count(op->inputs) > 0) node.inputs.resize(inputs, nullptr);
    if (definitions::variadic_count(op->outputs) == 0) return;
    for (size_t i = 0; i < outputs; ++i) node.complete_output(static_cast<int>(i));
  }

  static bool is_known(const Scope& scope, const std::string& name) {
    for (const Scope* at = &scope; at != nullptr; at = at->outer) {
      if (at->names.contains(name)) return true;
    }
    return false;
  }

  static Attributes resolve_attributes(onnx::NodeProto& node, const Call& call) {
    Attributes result;
    std::set<std::string> names;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      onnx::AttributeProto* value = &attribute;
      bool passed = false;
      if (!attribute.ref_attr_name().empty()) {
        const auto argument = call.arguments.find(attribute.ref_attr_name());
        if (argument == call.arguments.end()) {
          if (call.depth == 0) {
            fail(node, "attribute '" + attribute.name() +
                           "' refers to an attribute of a function, "
                           "but is outside of one");
          }
          continue;  // the caller left it out, so it is left out here
        }
        value = argument->second;
        passed = true;
      }
      if (!names.insert(attribute.name()).second) {
        fail(node, "attribute '" + attribute.name() + "' occurs twice");
      }
      result.push_back({attribute.name(), value, passed});
    }
    return result;
  }

  void read_attribute(const onnx::NodeProto& proto, Node& node, const Attribute& given,
                      const Scope& scope, const Call& call, int depth) {
    using onnx::AttributeProto;
    const std::string& name = given.name;
    onnx::AttributeProto& attribute = *given.value;
    if (call.depth > 0 && !attribute.has_g() && !attribute.has_t()) {
      expansion_.add_copied(attribute.ByteSizeLong(), proto);
    }
    switch (type_of(attribute)) {
      case AttributeProto::FLOAT:
        node.attributes[name] = attribute.f();
        return;
      case AttributeProto::INT:
        node.attributes[name] = static_cast<int64_t>(attribute.i());
        return;
      case AttributeProto::STRING:
        node.attributes[name] = attribute.s();
        return;
      case AttributeProto::FLOATS:
        node.attributes[name] =
            std::vector<float>(attribute.floats().begin(), attribute.floats().end());
        return;
      case AttributeProto::INTS:
        node.attributes[name] =
            std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
        return;
      case AttributeProto::STRINGS:
        node.attributes[name] =
            std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
        return;
      case AttributeProto::TENSOR:
        node.tensors[name] = constants_.tensor(*attribute.mutable_t());
        if (call.depth > 0) expansion_.add_copied(node.tensors[name].size, proto);
        return;
      case AttributeProto::GRAPH: {
        if (given.passed) {
          fail(proto, "graph attribute '" + name + "' is passed to a function",
               "inline the model's functions before the conversion");
        }
        auto sub = std::make_unique<Graph>(node.graph, attribute.g().name());
        import_graph(*attribute.mutable_g(), *sub, &scope, call, depth + 1);
        node.graph->adopt(&node, name, std::move(sub));
        return;
      }
      case AttributeProto::TYPE_PROTO:
        node.attributes[name] = type_numbers(attribute.tp());
        return;
      default:
        fail(proto,
             "attribute '" + name +
                 "' is a list of tensors or graphs, a sparse tensor or a "
                 "type, which are not supported",
             {});
    }
  }

  void read_constant(const onnx::NodeProto& proto, Graph& graph, const std::vector<Value*>& outputs,
                     const Attributes& attributes) {
    if (outputs.size() != 1 || outputs[0] == nullptr) fail(proto, "a Constant has one output");
    if (attributes.size() != 1) {
      fail(proto,
           "a Constant has one attribute, but this one has " + std::to_string(attributes.size()));
    }
    outputs[0]->constant = constants_.attribute(proto, attributes[0].name, *attributes[0].value);
    outputs[0]->type = outputs[0]->constant->type;
    outputs[0]->graph = &graph;
  }

  void inline_function(const onnx::NodeProto& proto, onnx::FunctionProto& function, Graph& graph,
                       const std::vector<Value*>& inputs, const std::vector<Value*>& outputs,
                       const Attributes& attributes, const Call& caller, int depth) {
    if (caller.depth >= kMaxCallDepth) {
      fail(proto,
           "functions call each other deeper than " + std::to_string(kMaxCallDepth) + " levels");
    }
    if (static_cast<int>(inputs.size()) > function.input_size() ||
        static_cast<int>(outputs.size()) > function.output_size()) {
      fail(proto, "has more inputs or outputs than its function has");
    }
    expansion_.add(function, proto);
    const OpsetMap opsets = opset_map(function.opset_import());
    Call call;
    call.opsets = &opsets;
    call.depth = caller.depth + 1;
    // Half of the length is for the names of the function's own.
    call.prefix = caller.prefix + (proto.name().empty() ? function.name() : proto.name()) + "/";
    constexpr size_t kMaxPrefix = Expansion::kMaxName / 2;
    if (call.prefix.size() > kMaxPrefix) {
      call.prefix = "..." + call.prefix.substr(call.prefix.size() - (kMaxPrefix - 3));
    }
    for (onnx::AttributeProto& attribute : *function.mutable_attribute_proto()) {
      call.arguments[attribute.name()] = &attribute;
    }
    for (const Attribute& attribute : attributes) call.arguments[attribute.name] = attribute.value;

    Scope scope;
    for (int i = 0; i < function.input_size(); ++i) {
      const auto place = static_cast<size_t>(i);
      declare(scope, function.input(i), place < inputs.size() ? inputs[place] : nullptr);
    }
    // A formal output is the caller's value, if the caller wants it and the body produces it.
    std::vector<std::pair<Value*, Value*>> passed_through;
    for (int i = 0; i < function.output_size(); ++i) {
      const auto place = static_cast<size_t>(i);
      Value* wanted = place < outputs.size() ? outputs[place] : nullptr;
      if (wanted == nullptr) continue;
      const auto [known, fresh] = scope.names.emplace(function.output(i), wanted);
      if (fresh) {
        promised_.insert(wanted);
      } else {
        passed_through.emplace_back(known->second, wanted);
      }
    }
    import_nodes(*function.mutable_node(), graph, scope, call, depth);
    for (Value* wanted : outputs) {
      if (wanted != nullptr && promised_.erase(wanted) == 1) {
        fail(proto, "its function does not produce output '" + wanted->name + "'");
      }
    }
    for (const auto& [from, to] : passed_through) {
      if (from == nullptr) fail(proto, "its function returns an input that the node leaves out");
      Node* copy =
          graph.add_node_for("", "Identity", call.prefix + "Identity",
                             std::span<Value* const>(&from, 1), std::span<Value* const>(&to, 1));
      copy->version = kNewestOpset;
    }
  }

  Model& model_;
  std::map<std::string, onnx::FunctionProto*> functions_;
  // Values of callers that the body of the function being inlined has yet to declare.
  std::set<const Value*> promised_;
  ImportedTypes types_;
  ImportedConstants constants_;
  Expansion expansion_;
};

}  // namespace

OpsetMap opset_map(const RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  OpsetMap opsets;
  for (const onnx::OperatorSetIdProto& import : imports) {
    if (import.version() < 1 || import.version() > std::numeric_limits<int>::max()) {
      throw Error("the model uses operator set " + std::to_string(import.version()) +
                      " of domain '" + import.domain() + "', which does not exist",
                  kExportAgain);
    }
    opsets[domain_of(import.domain())] = static_cast<int>(import.version());
  }
  return opsets;
}

void import_graph(Model& model, onnx::ModelProto& proto, ExternalFiles& files) {
  Importer(model, proto, files).run(*proto.mutable_graph());
}

}  // namespace intarsia::converter
