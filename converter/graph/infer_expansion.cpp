// SPDX-License-Identifier: Apache-2.0
//
// Inference of operators that become others (core/definitions/expansion.h).
#include "converter/graph/infer_rewriting.h"
#include "converter/onnx/declaration.h"
#include "core/definitions/expansion.h"

namespace intarsia::converter {

class Expansion final : public TermNodes<definitions::ExpansionContext> {
 public:
  explicit Expansion(const Rewriting& rewriting)
      : TermNodes(rewriting, rewriting.node().attribute_bytes.data(), present(rewriting.node())),
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

 private:
  Node& node_;
};

void Inference::visit_expansion(Node* node) {
  check_types(*node);
  for (const Value* input : node->inputs) {
    if (input != nullptr) static_cast<void>(shape_of(*input));
  }
  const Rewriting rewriting(*this, *node);
  Expansion expansion(rewriting);
  node->op->facts.expand(expansion);
  node->graph->remove(node);
}

}  // namespace intarsia::converter
