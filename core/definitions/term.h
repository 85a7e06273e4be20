// SPDX-License-Identifier: Apache-2.0
//
// Terms: what rules of definitions write nodes with.
//
//     Term cube = x * x * x;
//     Term rows = call("ReduceSum", {cube, context.integers({-1})}, {{"keepdims", int64_t{1}}});
//
// A rule computes nothing: arithmetic on terms adds nodes of operators that exist to the graph,
// each inferred at once, so that the rule may ask for types and extents on its way. Gradients
// (gradient.h) and operators that become others (expansion.h) are written so.
//
// Host only. Terms live as long as the call of the rule.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions/definition.h"

namespace intarsia::definitions {

class TermContext;

/// A tensor that the rule reads or has made. Arithmetic adds nodes; numbers take the tensor's type.
class Term {
 public:
  Term(TermContext& context, size_t id) : context_(&context), id_(id) {}
  TermContext& context() const { return *context_; }
  size_t id() const { return id_; }
  /// Type, extents and elements, as far as inference knows them.
  SymbolicInput known() const;
  int rank() const { return known().shape.rank; }
  /// That of an axis, of a negative one counted from the end. Refuses the node if there is no such
  /// axis: what a model gives may have any rank.
  Dim extent(int64_t axis) const;
  /// A scalar of this tensor's type.
  Term number(double value) const;

 private:
  TermContext* context_;
  size_t id_;
};

/// One node of an operator with one output, or the first output of several: of ai.onnx, or
/// "domain:name".
Term call(std::string_view op, std::initializer_list<Term> inputs, AttributeMap attributes = {});

inline Term operator+(Term a, Term b) {
  return call("Add", {a, b});
}
inline Term operator-(Term a, Term b) {
  return call("Sub", {a, b});
}
inline Term operator*(Term a, Term b) {
  return call("Mul", {a, b});
}
inline Term operator/(Term a, Term b) {
  return call("Div", {a, b});
}
inline Term operator-(Term a) {
  return call("Neg", {a});
}
inline Term operator+(Term a, double b) {
  return a + a.number(b);
}
inline Term operator-(Term a, double b) {
  return a - a.number(b);
}
inline Term operator*(double a, Term b) {
  return b.number(a) * b;
}
inline Term operator-(double a, Term b) {
  return b.number(a) - b;
}
inline Term operator+(double a, Term b) {
  return b.number(a) + b;
}
inline Term operator/(Term a, double b) {
  return a / a.number(b);
}
/// a where the condition holds, else b.
inline Term where(Term condition, Term a, Term b) {
  return call("Where", {condition, a, b});
}
inline Term where(Term condition, Term a, double b) {
  return where(condition, a, a.number(b));
}
inline Term where(Term condition, double a, Term b) {
  return where(condition, b.number(a), b);
}

Term shape_of(Term term);
/// The elements of `term` with the extents of `like`.
Term reshape(Term term, Term like);
/// `term` repeated to the extents of `like`.
Term expand(Term term, Term like);
/// The elements of `term` in the type of `like`.
Term cast(Term term, Term like);
/// A vector of int64 in the graph of `like`.
Term integers(Term like, const std::vector<int64_t>& values);
/// The extents of axes [begin, end), as a vector.
Term extents(Term term, int64_t begin, int64_t end);
/// The parts one behind the other along an axis.
Term join(std::initializer_list<Term> parts, int64_t axis);
/// The elements of `term` with the extents that a vector lists, as Reshape reads them.
Term with_extents(Term term, Term extents);
Term unsqueeze(Term term, const std::vector<int64_t>& axes);
/// Axis i of the result is axis order[i].
Term transpose(Term term, std::vector<int64_t> order);
/// The elements of `term` as `type`; `term` itself if they are.
Term cast_to(Term term, DataType type);
/// `term` from `first` to `last` along an axis, as Slice reads them.
Term slice(Term term, int64_t axis, int64_t first, int64_t last, int64_t step = 1);
/// 0, 1, ... up to the extent of an axis, as int64.
Term positions(Term of, int64_t axis);
/// `value` in every place of a tensor of these extents, in the type of `like`.
Term filled(Term like, double value, Term extents);
/// The sum or the mean over some axes, which stay with extent 1; `term` itself if there are none.
Term sum_over(Term term, const std::vector<int64_t>& axes);
Term mean_over(Term term, const std::vector<int64_t>& axes);
/// `begin`, ... up to `end` - 1.
std::vector<int64_t> axes_between(int64_t begin, int64_t end);
/// The order of axes that undoes `order`.
std::vector<int64_t> inverse_order(const std::vector<int64_t>& order);
/// The elements of a vector of integers, if all are known.
std::optional<std::vector<int64_t>> known_integers(Term term);
/// The sum over all axes along which `like` was broadcast to the extents of `term`.
Term sum_to(Term term, Term like);

/// One trip of a loop: takes its number and what is carried, gives what is carried on and then what
/// is collected of the trip. Terms from outside may be used.
using TripRule = std::function<std::vector<Term>(Term number, std::span<const Term> carried)>;

/// Where terms become nodes.
class TermContext {
 public:
  TermContext(const TermContext&) = delete;
  TermContext& operator=(const TermContext&) = delete;

  /// Adds a node; `op` is one of ai.onnx, or "domain:name".
  virtual std::vector<Term> add(std::string_view op, std::span<const Term> inputs,
                                AttributeMap attributes, int output_count) = 0;
  /// A Loop: `trip` is called once, and writes the body. What is carried keeps its extents. Gives
  /// what is carried after the last trip and what all trips have collected, along a new axis 0.
  virtual std::vector<Term> loop(Term trips, std::span<const Term> initial,
                                 const TripRule& trip) = 0;
  /// What stands for an optional input of a node that is not there.
  virtual Term absent() = 0;
  virtual Term number(DataType type, double value) = 0;
  /// A vector of int64: axes, extents.
  virtual Term integers(const std::vector<int64_t>& values) = 0;
  virtual SymbolicInput known(Term term) const = 0;
  /// The rule does not cover this node: an error that names the node, with the reason.
  [[noreturn]] virtual void refuse(const std::string& reason) const = 0;

 protected:
  TermContext() = default;
  ~TermContext() = default;
};

}  // namespace intarsia::definitions
