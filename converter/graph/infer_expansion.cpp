// SPDX-License-Identifier: Apache-2.0
//
// Inference of operators that become others (core/definitions/expansion.h).
#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/infer_rewriting.h"
#include "converter/graph/undecided.h"
#include "converter/onnx/declaration.h"
#include "core/definitions/expansion.h"

namespace intarsia::converter {

namespace {

auto find(std::vector<SubGraph>& graphs, std::string_view attribute) {
  return std::find_if(graphs.begin(), graphs.end(),
                      [&](const SubGraph& sub) { return sub.attribute == attribute; });
}

}  // namespace

class Expansion final : public TermNodes<definitions::ExpansionContext> {
 public:
  explicit Expansion(const Rewriting& rewriting)
      : TermNodes(rewriting, rewriting.node().attribute_bytes.data(), present(rewriting.node())),
        rewriting_(rewriting),
        node_(rewriting.node()) {}

  Term x(int input) override { return term(node_.inputs[static_cast<size_t>(input)]); }
  const AttributeMap& given() const override { return node_.attributes; }
  bool wants(int output) const override { return node_.output(output) != nullptr; }
  void set(int output, Term made) override {
    Value* old = node_.output(output);
    if (old == nullptr) return;
    inherit_declaration(*value(made), *old);
    Graph::replace_uses(old, value(made));
  }
  [[noreturn]] void refuse(const std::string& reason) const override {
    throw Error(node_.problem(reason));
  }
  [[noreturn]] void undecided(Term deciding, const std::string& reason) const override {
    throw converter::undecided(node_, reason, value(deciding));
  }

  [[noreturn]] void refuse_extent(int input, int axis, int64_t expected,
                                  const std::string& reason) const override {
    Diagnostic diagnostic;
    diagnostic.code = Code::kWrongExtent;
    diagnostic.operand = input;
    diagnostic.axis = axis;
    diagnostic.expected = expected;
    throw ExtentError(node_.problem(reason), diagnostic);
  }

  bool has_graph(std::string_view attribute) const override {
    return find(node_.graphs, attribute) != node_.graphs.end();
  }

  /// The graph is inferred where it is, with the arguments as values from outside: what replaces
  /// one of its nodes finds the uses of that among its outputs. Then it becomes part of this graph.
  std::vector<Term> inlined(std::string_view attribute, std::span<const Term> arguments,
                            size_t outputs) override {
    const auto found = find(node_.graphs, attribute);
    std::unique_ptr<Graph> graph = std::move(found->graph);
    node_.graphs.erase(found);
    if (graph->inputs().size() != arguments.size() || graph->outputs().size() != outputs) {
      refuse(fmt::format("the graph '{}' has {} inputs and {} outputs, expected {} and {}",
                         attribute, graph->inputs().size(), graph->outputs().size(),
                         arguments.size(), outputs));
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Value &formal = *graph->inputs()[i], &given = *value(arguments[i]);
      const DataType declared = formal.declared_type, type = type_of(given);
      if (declared != DataType::kUndefined && declared != type) {
        refuse(fmt::format("the graph '{}' takes '{}' as {}, but is given {}", attribute,
                           formal.name, data_type_name(declared), data_type_name(type)));
      }
      Graph::replace_uses(graph->inputs()[i], value(arguments[i]));
    }
    rewriting_.infer(*graph);
    std::vector<Term> terms;
    for (Value* result : rewriting_.graph().splice(std::move(graph), {}, &node_)) {
      check_declaration(*result);
      terms.push_back(term(result));
    }
    return terms;
  }

 private:
  const Rewriting& rewriting_;
  Node& node_;
};

void Inference::visit_expansion(Node* node) {
  check_types(*node);
  for (const Value* input : node->inputs) {
    if (input != nullptr) static_cast<void>(shape_of(*input));
  }
  const Rewriting rewriting(*this, *node);
  Expansion expansion(rewriting);
  const definitions::Facts& facts = node->op->facts;
  (facts.expand != nullptr ? facts.expand : facts.special.expand)(expansion);
  node->graph->remove(node);
}

}  // namespace intarsia::converter
