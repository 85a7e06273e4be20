// SPDX-License-Identifier: Apache-2.0
//
// Operators of com.microsoft that fuse others: activations, products and convolutions; and some
// that move elements. They become what they stand for, which passes fuse again.
//
// Schemas: ONNX Runtime's documentation of its contrib operators, ContribOperators.md.
#include <algorithm>

#include "core/definitions/contrib_rows.h"
#include "core/definitions/quantized_terms.h"
#include "core/operators/nn/conv.h"

namespace intarsia::definitions {
namespace {

using E = ExpansionContext;
using Integers = std::vector<int64_t>;

constexpr auto kOptional = Parameter::kOptional;

// ---- Activations ----

struct QuickGeluAttributes {
  float alpha = 1.702f;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
  }
};

void refuse_axis(E& e, const char* attribute, int64_t found, int rank) {
  e.refuse("attribute '" + std::string(attribute) + "' is " + std::to_string(found) +
           ", which is no axis of an input that has " + std::to_string(rank));
}

Term biased(E& e) {
  return e.has_x(1) ? e.x(0) + e.x(1) : e.x(0);
}
void gelu(E& e) {
  e.set(0, call("Gelu", {biased(e)}));
}
void fast_gelu(E& e) {
  e.set(0, call("Gelu", {biased(e)}, {{"approximate", std::string("tanh")}}));
}
void quick_gelu(E& e) {
  e.set(0, call("Swish", {e.x()}, {{"alpha", e.attributes<QuickGeluAttributes>().alpha}}));
}

/// The left half of the last axis times Gelu of the right one.
void bias_split_gelu(E& e) {
  const Term x = biased(e);
  const std::vector<Term> operands{x};
  const std::vector<Term> halves =
      e.add("Split", operands, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}}, 2);
  e.set(0, halves[0] * call("Gelu", {halves[1]}));
}

void bias_add(E& e) {
  e.set(0, e.x(0) + e.x(1) + e.x(2));
}

/// Activations that another operator ends with; the first one is none.
const std::initializer_list<std::string_view> kActivations = {
    "",          "Relu",      "Tanh", "Sigmoid",         "Softplus",    "Softsign",
    "HardSwish", "LeakyRelu", "Elu",  "ThresholdedRelu", "HardSigmoid", "Selu",
    "Clip"};

/// The names of the attributes that are the parameters of one.
std::vector<std::string_view> parameters_of(std::string_view activation) {
  if (activation == "LeakyRelu" || activation == "Elu" || activation == "ThresholdedRelu") {
    return {"alpha"};
  }
  if (activation == "HardSigmoid") return {"alpha", "beta"};
  if (activation == "Selu") return {"alpha", "gamma"};
  if (activation == "Clip") return {"min", "max"};
  return {};
}

Term activated(Term x, std::string_view activation, const AttributeMap& parameters) {
  if (activation.empty()) return x;
  if (activation != "Clip") return call(activation, {x}, parameters);
  const auto limit = [&](const char* name) {
    return x.number(static_cast<double>(std::get<float>(parameters.at(name))));
  };
  return call("Clip", {x, limit("min"), limit("max")});
}

// ---- Moving elements ----

struct TriluAttributes {
  int32_t upper = 1;
  template <class V>
  void fields(V& v) {
    v("upper", upper, kFlag);
  }
};

void trilu(E& e) {
  e.set(0, e.has_x(1) ? call("Trilu", {e.x(0), e.x(1)}, e.given())
                      : call("Trilu", {e.x(0)}, e.given()));
}

struct GridSampleAttributes {
  int32_t mode = 0, padding_mode = 0, align_corners = 0;
  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"bilinear", "nearest", "bicubic"});
    v.choice("padding_mode", padding_mode, {"zeros", "border", "reflection"});
    v("align_corners", align_corners, kFlag);
  }
};

void grid_sample(E& e) {
  static constexpr const char* kModes[] = {"linear", "nearest", "cubic"};
  AttributeMap attributes = e.given();
  attributes["mode"] = std::string(kModes[e.attributes<GridSampleAttributes>().mode]);
  e.set(0, call("GridSample", {e.x(0), e.x(1)}, std::move(attributes)));
}

struct UnfoldAttributes {
  int32_t dim = -1, size = 0, step = 1;
  template <class V>
  void fields(V& v) {
    v("dim", dim);
    v.required("size", size, at_least(1));
    v("step", step, at_least(1));
  }
};

/// Windows along an axis, whose elements become a last axis.
void unfold(E& e) {
  const auto& a = e.attributes<UnfoldAttributes>();
  const int rank = e.x().rank();
  const int64_t axis = a.dim < 0 ? a.dim + rank : a.dim;
  if (axis < 0 || axis >= rank) refuse_axis(e, "dim", a.dim, rank);
  const auto scalar = [&](int64_t value) {
    return e.number(DataType::kInt64, static_cast<double>(value));
  };
  const Term extent = call("Squeeze", {extents(e.x(), axis, axis + 1)});
  const Term starts =
      call("Range", {scalar(0), extent - static_cast<double>(a.size - 1), scalar(a.step)});
  const Term within = call("Range", {scalar(0), scalar(a.size), scalar(1)});
  const Term windows = call("Gather", {e.x(), unsqueeze(starts, {1}) + within}, {{"axis", axis}});
  Integers order = axes_between(0, rank + 1);
  std::rotate(order.begin() + axis + 1, order.begin() + axis + 2, order.end());
  e.set(0, transpose(windows, order));
}

// ---- Products and convolutions ----

struct FusedConvAttributes {
  WindowAttributes window;
  int32_t group = 1;
  int32_t activation = 0;
  ListAttribute<float> parameters;
  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("group", group, at_least(1));
    v.choice("activation", activation, kActivations);
    v("activation_params", parameters);
  }
};

void fused_conv(E& e) {
  const auto& a = e.attributes<FusedConvAttributes>();
  AttributeMap window = e.given();
  window.erase("activation");
  window.erase("activation_params");
  Term y = e.has_x(2) ? call("Conv", {e.x(0), e.x(1), e.x(2)}, window)
                      : call("Conv", {e.x(0), e.x(1)}, window);
  if (e.has_x(3)) y = y + e.x(3);
  const std::string_view activation = kActivations.begin()[a.activation];
  const std::vector<std::string_view> names = parameters_of(activation);
  if (a.parameters.size() != names.size()) {
    e.refuse("activation_params count mismatch: " + std::string(activation) + " takes " +
             std::to_string(names.size()) + ", found " + std::to_string(a.parameters.size()));
  }
  AttributeMap parameters;
  for (size_t i = 0; i < names.size(); ++i) parameters[std::string(names[i])] = a.parameters[i];
  e.set(0, activated(y, activation, parameters));
}

/// A convolution of images and filters whose channels come last.
void nhwc_conv(E& e) {
  for (const int input : {0, 1}) {
    const int rank = e.x(input).rank();
    if (rank < 3) {
      e.refuse(std::string(input == 0 ? "X" : "W") + " has to have 3 axes or more, found " +
               std::to_string(rank));
    }
  }
  const Term x = channels_first(e.x(0)), w = channels_first(e.x(1));
  const Term y =
      e.has_x(2) ? call("Conv", {x, w, e.x(2)}, e.given()) : call("Conv", {x, w}, e.given());
  e.set(0, channels_last(y));
}

struct FusedGemmAttributes {
  float alpha = 1, beta = 1;
  int32_t trans_a = 0, trans_b = 0;
  int32_t activation = 0;
  float activation_alpha = 0, activation_beta = 0, activation_gamma = 0;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("beta", beta);
    v("transA", trans_a, kFlag);
    v("transB", trans_b, kFlag);
    v.choice("activation", activation, kActivations);
    v("activation_alpha", activation_alpha);
    v("activation_beta", activation_beta);
    v("activation_gamma", activation_gamma);
  }
};

void fused_gemm(E& e) {
  AttributeMap product, parameters;
  for (const auto& [name, value] : e.given()) {
    constexpr std::string_view kPrefix = "activation_";
    if (name.starts_with(kPrefix)) {
      parameters[name.substr(kPrefix.size())] = value;
    } else if (name != "activation") {
      product[name] = value;
    }
  }
  const Term y = e.has_x(2) ? call("Gemm", {e.x(0), e.x(1), e.x(2)}, product)
                            : call("Gemm", {e.x(0), e.x(1)}, product);
  const std::string_view activation =
      kActivations.begin()[e.attributes<FusedGemmAttributes>().activation];
  const std::vector<std::string_view> names = parameters_of(activation);
  std::erase_if(parameters, [&](const auto& given) {
    return std::find(names.begin(), names.end(), given.first) == names.end();
  });
  if (activation == "Clip") {
    e.refuse("attribute 'activation' is 'Clip', whose limits are no attributes of FusedGemm");
  }
  e.set(0, activated(y, activation, parameters));
}

struct FusedMatMulAttributes {
  float alpha = 1;
  int32_t trans_a = 0, trans_b = 0, trans_batch_a = 0, trans_batch_b = 0;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("transA", trans_a, kFlag);
    v("transB", trans_b, kFlag);
    v("transBatchA", trans_batch_a, kFlag);
    v("transBatchB", trans_batch_b, kFlag);
  }
};

/// An operand of FusedMatMul as MatMul has it: with `batch` its first axis comes behind those of
/// the batch, then the last two are exchanged. Vectors stay.
Term arranged(Term operand, bool exchanged, bool batch) {
  const int rank = operand.rank();
  if (rank < 2) return operand;
  Integers order = axes_between(0, rank);
  if (batch) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (exchanged) std::swap(order.end()[-1], order.end()[-2]);
  return std::is_sorted(order.begin(), order.end()) ? operand : transpose(operand, order);
}

void fused_matmul(E& e) {
  const auto& a = e.attributes<FusedMatMulAttributes>();
  const bool plain = a.trans_batch_a == 0 && a.trans_batch_b == 0;
  if (plain && e.x(0).rank() == 2 && e.x(1).rank() == 2) {
    return e.set(
        0,
        call("Gemm", {e.x(0), e.x(1)},
             {{"alpha", a.alpha}, {"transA", int64_t{a.trans_a}}, {"transB", int64_t{a.trans_b}}}));
  }
  const Term product = call("MatMul", {arranged(e.x(0), a.trans_a != 0, a.trans_batch_a != 0),
                                       arranged(e.x(1), a.trans_b != 0, a.trans_batch_b != 0)});
  e.set(0, a.alpha == 1 ? product : static_cast<double>(a.alpha) * product);
}

struct BiasSoftmaxAttributes {
  int32_t axis = 1;
  int32_t is_inner_broadcast = 0;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v.required("is_inner_broadcast", is_inner_broadcast, kFlag);
  }
};

/// Softmax over all axes from `axis` on. Which axes the bias is broadcast along shows in its
/// extents; one of lower rank belongs to the last axes, or with an inner broadcast to the first.
void bias_softmax(E& e) {
  const auto& a = e.attributes<BiasSoftmaxAttributes>();
  const int rank = e.x(0).rank();
  const int64_t axis = a.axis < 0 ? a.axis + rank : a.axis;
  if (axis < 0 || axis >= rank) refuse_axis(e, "axis", a.axis, rank);
  Term bias = e.x(1);
  if (a.is_inner_broadcast != 0 && bias.rank() < rank) {
    bias = unsqueeze(bias, axes_between(axis - (rank - bias.rank()), axis));
  }
  const Term scores = e.x(0) + bias;
  if (axis == rank - 1) return e.set(0, call("Softmax", {scores}, {{"axis", int64_t{-1}}}));
  const Term rows = with_extents(scores, join({extents(scores, 0, axis), e.integers({-1})}, 0));
  e.set(0, reshape(call("Softmax", {rows}, {{"axis", int64_t{-1}}}), scores));
}

}  // namespace

void add_contrib_definitions(DefinitionRows& rows) {
  const ContribRows row(rows);
  const TypeConstraint real{"T", kFloatTypes};
  const std::vector<Parameter> y{{"Y", "T"}};

  row("Gelu", gelu, {{"X", "T"}}, y, {real}, codec_of<NoAttributes>());
  row("BiasGelu", gelu, {Parameter{"A", "T"}.with("... C"), Parameter{"B", "T"}.with("C")}, y,
      {real}, codec_of<NoAttributes>());
  row("FastGelu", fast_gelu,
      {Parameter{"X", "T"}.with("... C"), Parameter{"bias", "T", kOptional}.with("C")}, y, {real},
      codec_of<NoAttributes>());
  row("QuickGelu", quick_gelu, {{"X", "T"}}, y, {real}, codec_of<QuickGeluAttributes>());
  row("BiasSplitGelu", bias_split_gelu,
      {Parameter{"X", "T"}.with("... 2*C"), Parameter{"bias", "T"}.with("2*C")}, y, {real},
      codec_of<NoAttributes>());
  row("BiasAdd", bias_add,
      {Parameter{"X", "T"}.with("N S C"), Parameter{"bias", "T"}.with("C"),
       Parameter{"skip", "T"}.with("N S C")},
      y, {real}, codec_of<NoAttributes>());

  const TypeConstraint any{"T", kAnyTypes}, places{"I", kInt64Type};
  row("Trilu", trilu,
      {Parameter{"X", "T"}.with("... M N"),
       Parameter{"k", "I", kOptional}.with("()").of(Domain::kSmall)},
      y, {any, places}, codec_of<TriluAttributes>());
  row("GridSample", grid_sample,
      {Parameter{"X", "T"}.with("N C H W"),
       Parameter{"Grid", "G"}.with("N P Q 2").of(Domain::kUnit)},
      y, {real, {"G", kFloatTypes}}, codec_of<GridSampleAttributes>());
  row("UnfoldTensor", unfold, {{"input", "T"}}, y, {any}, codec_of<UnfoldAttributes>());

  row("FusedConv", fused_conv,
      {Parameter{"X", "T"}.with("N group*C H W | N group*C L | N group*C H W"),
       Parameter{"W", "T"}.with("group*M C R S | group*M C R | group*M C 1 1"),
       Parameter{"B", "T", kOptional}.with("group*M"),
       Parameter{"Z", "T", kOptional}.with("absent | absent | N group*M H W")},
      y, {real}, codec_of<FusedConvAttributes>());
  row("NhwcConv", nhwc_conv,
      {Parameter{"X", "T"}.with("N H W group*C"), Parameter{"W", "T"}.with("group*M R S C"),
       Parameter{"B", "T", kOptional}.with("group*M")},
      y, {real}, codec_of<ConvAttributes>());
  row("FusedGemm", fused_gemm,
      {Parameter{"A", "T"}.with("M K | K M | M K"), Parameter{"B", "T"}.with("K N | K N | N K"),
       Parameter{"C", "T", kOptional}.with("N | M N | 1 N")},
      y, {real}, codec_of<FusedGemmAttributes>());
  for (const std::string_view name : {"FusedMatMul", "TransposeMatMul"}) {
    row(name, fused_matmul,
        {Parameter{"A", "T"}.with("M K | K M | B M K | M B K"),
         Parameter{"B", "T"}.with("K N | K N | B N K | B K N")},
        y, {real}, codec_of<FusedMatMulAttributes>());
  }
  row("BiasSoftmax", bias_softmax,
      {Parameter{"data", "T"}.with("B S T | B H S T"),
       Parameter{"bias", "T"}.with("S T | B 1 S T")},
      y, {real}, codec_of<BiasSoftmaxAttributes>());
}

}  // namespace intarsia::definitions
