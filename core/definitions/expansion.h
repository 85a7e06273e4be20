// SPDX-License-Identifier: Apache-2.0
//
// Expansion rules: operators that become others once the types and ranks of their inputs are known.
//
//     void cast_like(ExpansionContext& e) { e.set(0, cast(e.x(0), e.x(1))); }
//
// A rule is a fact of a definition (`Facts::expand`); inference calls it in place of the shape
// function, and the node is gone. It gives every output that `wants` a term. Operators that the
// specification defines by others belong here unless a kernel of their own is faster; those that
// can be rewritten before anything is known of their inputs are functions of the importer.
//
// Host only. Terms live as long as the call of the rule.
#pragma once

#include <string_view>
#include <vector>

#include "core/definitions/term.h"

namespace intarsia::definitions {

/// What a rule knows of its node, and where it puts results.
class ExpansionContext : public TermContext {
 public:
  int input_count() const { return static_cast<int>(node_inputs_.size()); }
  bool has_x(int input) const {
    return input < input_count() && node_inputs_[static_cast<size_t>(input)];
  }
  /// An input. REQUIRES: it is present.
  virtual Term x(int input = 0) = 0;
  /// An input, or what stands for one that is not there, for a node that takes it over.
  Term x_if_any(int input) { return has_x(input) ? x(input) : absent(); }
  /// True if the model has this output.
  virtual bool wants(int output) const = 0;
  virtual void set(int output, Term value) = 0;
  /// The attributes as the model gives them, for a node that takes them over.
  virtual const AttributeMap& given() const = 0;
  /// True if the node has this graph attribute, and it has not been inlined yet.
  virtual bool has_graph(std::string_view attribute) const = 0;
  /// Puts the nodes of a graph attribute here, once, with `arguments` for its inputs; gives its
  /// outputs. Refuses a graph with other numbers of them, or that declares other types.
  /// REQUIRES: has_graph.
  virtual std::vector<Term> inlined(std::string_view attribute, std::span<const Term> arguments,
                                    size_t outputs) = 0;
  /// What this term is decides which nodes there are, and is not known: an error that says so, and
  /// how to give the value beforehand.
  [[noreturn]] virtual void undecided(Term deciding, const std::string& reason) const = 0;
  /// `refuse` where an input would do with this extent along an axis.
  [[noreturn]] virtual void refuse_extent(int input, int axis, int64_t expected,
                                          const std::string& reason) const = 0;
  /// The attributes struct. REQUIRES: A is the operator's.
  template <class A>
  const A& attributes() const {
    return *reinterpret_cast<const A*>(attributes_);
  }

 protected:
  ExpansionContext(const std::byte* attributes, std::vector<bool> inputs)
      : attributes_(attributes), node_inputs_(std::move(inputs)) {}
  ~ExpansionContext() = default;

 private:
  const std::byte* attributes_;
  std::vector<bool> node_inputs_;
};

}  // namespace intarsia::definitions
