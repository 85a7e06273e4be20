// SPDX-License-Identifier: Apache-2.0
//
// Gradient rules: how the gradients of a node's inputs follow from those of its outputs.
//
//     void tanh(GradientContext& g) {
//       g.set(0, [&] { return g.dy() * (1 - g.y() * g.y()); });
//     }
//
// A rule is a fact of a definition (`Facts::gradient`). It computes nothing: it writes down nodes
// of operators that exist, which then are nodes like any others, so that there are gradients of
// gradients. It gives each input that needs one a gradient of that input's extents. Where the
// definition says that an operand is broadcast, the gradient may have the extents of the result: it
// is summed back behind the rule, as are the gradients of a value that several nodes read.
//
// An input that a rule does not mention has no gradient, and asking for one is an error that names
// the node. Where a gradient is 0 everywhere (Floor), the rule says `set_zero`.
//
// Where an operator is a formula of simpler ones, the rule may write that instead, and these give
// the gradients:
//
//     void biased(GradientContext& g) {
//       g.express(0, [&] { return call("Relu", {g.x(0) + g.x(1)}); });
//     }
//
// Host only. Terms live as long as the call of the rule.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "core/definitions/term.h"

namespace intarsia::definitions {

/// What a rule knows of its node, and where it puts gradients.
class GradientContext : public TermContext {
 public:
  int input_count() const { return static_cast<int>(node_inputs_.size()); }
  int output_count() const { return output_count_; }
  bool has_x(int input) const {
    return input < input_count() && node_inputs_[static_cast<size_t>(input)];
  }
  /// An input. An absent one may be passed to `add`, where the operator can do without it.
  virtual Term x(int input = 0) = 0;
  virtual Term y(int output = 0) = 0;
  /// The gradient of an output; zeros if nothing that matters reads it.
  virtual Term dy(int output = 0) = 0;
  /// The attributes struct. REQUIRES: A is the operator's.
  template <class A>
  const A& attributes() const {
    return *reinterpret_cast<const A*>(attributes_);
  }

  virtual bool needs(int input) const = 0;
  /// Lets an input have the gradient that `make()` returns, which is called only if it is needed.
  template <class Make>
  void set(int input, const Make& make) {
    if (needs(input)) give(input, make());
  }
  void set_zero(int input) {
    set(input, [&] { return expand(x(input).number(0), x(input)); });
  }
  /// y = f(x), element by element: dx = dy * slope(x, y).
  template <class Slope>
  void slope(const Slope& of) {
    set(0, [&] { return dy() * of(x(), y()); });
  }

  /// True if something that matters reads the output.
  virtual bool flows(int output) const = 0;
  /// Says that an output is what `make()` returns, which is called only if the output matters:
  /// operators with rules of their own, from the node's inputs on. What these rules give the inputs
  /// is added to what the rule itself gives them.
  template <class Make>
  void express(int output, const Make& make) {
    if (flows(output)) equate(output, make());
  }

  /// The attributes as the model gives them, for a node that takes them over.
  virtual const AttributeMap& given() const = 0;
  /// This node once more, with other tensors as its first inputs; its first output.
  virtual Term repeat(std::initializer_list<Term> inputs) = 0;

 protected:
  GradientContext(const std::byte* attributes, std::vector<bool> inputs, int outputs)
      : attributes_(attributes), node_inputs_(std::move(inputs)), output_count_(outputs) {}
  ~GradientContext() = default;
  virtual void give(int input, Term gradient) = 0;
  virtual void equate(int output, Term expression) = 0;

 private:
  const std::byte* attributes_;
  std::vector<bool> node_inputs_;
  int output_count_;
};

/// Domain of the operator Gradient.
inline constexpr std::string_view kTrainingDomain = "ai.onnx.preview.training";

/// The rules that definitions name.
namespace gradients {
using Rule = void(GradientContext&);
// Element by element.
Rule abs, acos, acosh, asin, asinh, atan, atanh, cast, celu, clip, cos, cosh, elu, erf, exp, gelu,
    hard_sigmoid, hard_swish, leaky_relu, log, mish, negate, reciprocal, relu, selu, shrink,
    sigmoid, sin, sinh, softplus, softsign, sqrt, swish, tan, tanh, thresholded_relu;
Rule add, subtract, multiply, divide, modulo, power, prelu, select, sum, mean, extreme;
/// Constant between its jumps: 0.
Rule zero;
// Moving elements.
Rule concat, copy, cumulate, dropout, gather, moved, one_hot, pad, resize, scatter, scatter_tuples,
    split, top, transpose, triangle, view;
// Of several elements together.
Rule matmul, gemm, inverse, determinant, rotate, softmax, log_softmax, cumulative_product;
Rule reduce_l1, reduce_l2, reduce_log_sum, reduce_log_sum_exp, reduce_extreme, reduce_mean,
    reduce_product, reduce_sum, reduce_sum_square;
Rule rnn, gru, lstm, linear_attention;
// Of images.
Rule conv, conv_transpose, deform_conv, grid_sample, max_pool, average_pool, lp_pool,
    global_lp_pool, roi_align, spatial_extreme, spatial_mean;
Rule batch_normalization, group_normalization, instance_normalization, layer_normalization,
    lp_normalization, mean_variance_normalization, response_normalization, rms_normalization;
}  // namespace gradients

}  // namespace intarsia::definitions
