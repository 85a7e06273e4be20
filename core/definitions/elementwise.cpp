// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators, in their newest form.
#include "core/operators/elementwise/elementwise.h"

#include <limits>

#include "core/definitions/computed_types.h"
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"

namespace intarsia::definitions {
namespace {

// -- What an epilogue can do
// ---------------------------------------------------------------------------

using Inputs = std::span<const SymbolicInput>;
using Spec = std::optional<ActivationSpec>;

template <Activation kKind>
Spec plain(const std::byte*, Inputs) {
  return ActivationSpec{kKind, 0, 0};
}

template <Activation kKind, class A>
Spec with_alpha(const std::byte* attributes, Inputs) {
  return ActivationSpec{kKind, reinterpret_cast<const A*>(attributes)->alpha, 0};
}

Spec hard_sigmoid(const std::byte* attributes, Inputs) {
  const auto& a = *reinterpret_cast<const HardSigmoidAttributes*>(attributes);
  return ActivationSpec{Activation::kHardSigmoid, a.alpha, a.beta};
}

Spec swish(const std::byte* attributes, Inputs) {
  if (reinterpret_cast<const AlphaAttributes*>(attributes)->alpha != 1.0f) return std::nullopt;
  return ActivationSpec{Activation::kSilu, 0, 0};
}

Spec gelu(const std::byte* attributes, Inputs) {
  const auto& a = *reinterpret_cast<const GeluAttributes*>(attributes);
  const bool tanh = a.approximate == GeluAttributes::kTanh;
  return ActivationSpec{tanh ? Activation::kGeluTanh : Activation::kGelu, 0, 0};
}

/// A bound of Clip: absent, a constant, or unknown.
std::optional<float> bound(Inputs inputs, size_t input, float absent) {
  if (input >= inputs.size() || !inputs[input].present) return absent;
  const auto& reals = inputs[input].reals;
  if (!reals || reals->size() != 1) return std::nullopt;
  return float_attribute(reals->front(), inputs[input].type);
}

Spec clip(const std::byte*, Inputs inputs) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto low = bound(inputs, 1, -kInfinity);
  const auto high = bound(inputs, 2, kInfinity);
  if (!low || !high || *low > *high) return std::nullopt;
  return ActivationSpec{Activation::kClip, *low, *high};
}

/// Infinities of float8e5m2 saturate, also where the type stays.
bool keeps_all(const std::byte* attributes, Inputs inputs) {
  const bool saturates = reinterpret_cast<const CastAttributes*>(attributes)->saturate != 0;
  return inputs[0].type != DataType::kFloat8E5M2 || !saturates;
}

// -- Rows
// -------------------------------------------------------------------------------------------

/// What rows of one shape say of their operator beside its name and types.
struct Element {
  /// Of input 0 and of the last input.
  Domain domain = Domain::kAny;
  Domain second = Domain::kAny;
  bool exact = false;
  ActivationRule activation = nullptr;
  std::optional<NeutralElement> neutral = {};
  PropagationRule propagate = nullptr;
  GradientRule gradient = nullptr;

  Facts facts() const {
    return {.element_wise = true,
            .exact = exact,
            .activation = activation,
            .neutral = neutral,
            .propagate = propagate,
            .gradient = gradient};
  }
};

/// y = f(x), both of type T.
template <class A = NoAttributes>
void add_unary(DefinitionRows& rows, std::string_view name, int since, TypeSet types,
               const Element& element = {}) {
  add<ops::SameShape>(rows, {.name = name,
                             .since_version = since,
                             .inputs = {same({"X", "T"}).of(element.domain)},
                             .outputs = {same({"Y", "T"})},
                             .facts = element.facts(),
                             .types = {{"T", types}},
                             .attributes = codec_of<A>()});
}

/// y = f(x), a bool for each x of type T1.
template <class A = NoAttributes>
void add_predicate(DefinitionRows& rows, std::string_view name, int since) {
  add<ops::SameShape>(rows, {.name = name,
                             .since_version = since,
                             .inputs = {same({"X", "T1"})},
                             .outputs = {same({"Y", "T2"})},
                             .facts = {.element_wise = true,
                                       .exact = true,
                                       .computed = wide_for<kFloat8Types, DataType::kFloat>},
                             .types = {{"T1", kFloatTypes | kFloat8Types}, {"T2", kBoolType}},
                             .kernel_types = {"T1"},
                             .attributes = codec_of<A>(),
                             .result_type = DataType::kBool});
}

/// c = f(a, b), all of type T.
template <class A = NoAttributes>
void add_binary(DefinitionRows& rows, std::string_view name, int since, TypeSet types,
                const Element& element = {}) {
  add<ops::Broadcast>(rows, {.name = name,
                             .since_version = since,
                             .inputs = {broadcast({"A", "T"}).of(element.domain),
                                        broadcast({"B", "T"}).of(element.second)},
                             .outputs = {same({"C", "T"})},
                             .facts = element.facts(),
                             .types = {{"T", types}},
                             .attributes = codec_of<A>()});
}

/// c = f(a, b), a bool for each pair of type T.
void add_comparison(DefinitionRows& rows, std::string_view name, int since, TypeSet types,
                    PropagationRule propagate = nullptr) {
  add<ops::Broadcast>(rows, {.name = name,
                             .since_version = since,
                             .inputs = {broadcast({"A", "T"}), broadcast({"B", "T"})},
                             .outputs = {same({"C", "T1"})},
                             .facts = {.element_wise = true, .exact = true, .propagate = propagate},
                             .types = {{"T", types}, {"T1", kBoolType}},
                             .attributes = codec_of<NoAttributes>(),
                             .result_type = DataType::kBool});
}

void add_variadic(DefinitionRows& rows, std::string_view name, int since, TypeSet types, bool exact,
                  GradientRule gradient, PropagationRule propagate = nullptr) {
  add<ops::Broadcast>(rows, {.name = name,
                             .since_version = since,
                             .inputs = {broadcast({"data_0", "T", Parameter::kVariadic})},
                             .outputs = {same({"result", "T"})},
                             .facts = {.element_wise = true,
                                       .exact = exact,
                                       .copies = copies_alone,
                                       .propagate = propagate,
                                       .gradient = gradient},
                             .types = {{"T", types}},
                             .attributes = codec_of<NoAttributes>()});
}

void add_unary_definitions(DefinitionRows& rows) {
  add_unary(rows, "Abs", 13, kNumericTypes,
            {.exact = true, .propagate = propagation::kAbsolute, .gradient = gradients::abs});
  add_unary(rows, "Acos", 22, kFloatTypes, {.domain = Domain::kUnit, .gradient = gradients::acos});
  add_unary(rows, "Acosh", 22, kFloatTypes,
            {.domain = Domain::kAtLeastOne, .gradient = gradients::acosh});
  add_unary(rows, "Asin", 22, kFloatTypes, {.domain = Domain::kUnit, .gradient = gradients::asin});
  add_unary(rows, "Asinh", 22, kFloatTypes, {.gradient = gradients::asinh});
  add_unary(rows, "Atan", 22, kFloatTypes, {.gradient = gradients::atan});
  add_unary(rows, "Atanh", 22, kFloatTypes,
            {.domain = Domain::kUnit, .gradient = gradients::atanh});
  add_unary(rows, "BitwiseNot", 18, kIntegerTypes, {.exact = true});
  add_unary(rows, "Ceil", 13, kFloatTypes,
            {.exact = true, .propagate = propagation::kCeil, .gradient = gradients::zero});
  add_unary<AlphaAttributes>(rows, "Celu", 28, kFloatTypes, {.gradient = gradients::celu});
  add_unary(rows, "Cos", 22, kFloatTypes, {.gradient = gradients::cos});
  add_unary(rows, "Cosh", 22, kFloatTypes, {.domain = Domain::kSmall, .gradient = gradients::cosh});
  add_unary<AlphaAttributes>(
      rows, "Elu", 22, kFloatTypes,
      {.activation = with_alpha<Activation::kElu, AlphaAttributes>, .gradient = gradients::elu});
  add_unary(rows, "Erf", 13, kFloatTypes, {.gradient = gradients::erf});
  add_unary(rows, "Exp", 13, kFloatTypes, {.domain = Domain::kSmall, .gradient = gradients::exp});
  add_unary(rows, "Floor", 13, kFloatTypes,
            {.exact = true, .propagate = propagation::kFloor, .gradient = gradients::zero});
  add_unary<GeluAttributes>(rows, "Gelu", 20, kFloatTypes,
                            {.activation = gelu, .gradient = gradients::gelu});
  add_unary<HardSigmoidAttributes>(
      rows, "HardSigmoid", 22, kFloatTypes,
      {.activation = hard_sigmoid, .gradient = gradients::hard_sigmoid});
  add_unary(rows, "HardSwish", 22, kFloatTypes,
            {.activation = plain<Activation::kHardSwish>, .gradient = gradients::hard_swish});
  add_predicate<IsInfAttributes>(rows, "IsInf", 20);
  add_predicate(rows, "IsNaN", 20);
  add_unary<LeakyReluAttributes>(
      rows, "LeakyRelu", 16, kFloatTypes,
      {.activation = with_alpha<Activation::kLeakyRelu, LeakyReluAttributes>,
       .gradient = gradients::leaky_relu});
  add_unary(rows, "Log", 13, kFloatTypes,
            {.domain = Domain::kPositive, .gradient = gradients::log});
  add_unary(rows, "Mish", 22, kFloatTypes, {.gradient = gradients::mish});
  add_unary(rows, "Neg", 13, kFloatTypes | kSignedIntegerTypes,
            {.exact = true, .propagate = propagation::kNegation, .gradient = gradients::negate});
  add_unary(rows, "Not", 1, kBoolType, {.exact = true, .propagate = propagation::kNot});
  add_unary(rows, "Reciprocal", 13, kFloatTypes,
            {.domain = Domain::kNonZero, .gradient = gradients::reciprocal});
  add_unary(rows, "Relu", 14, kFloatTypes | kSignedIntegerTypes,
            {.exact = true, .activation = plain<Activation::kRelu>, .gradient = gradients::relu});
  add_unary(rows, "Round", 22, kFloatTypes,
            {.exact = true, .propagate = propagation::kRound, .gradient = gradients::zero});
  add_unary<SeluAttributes>(rows, "Selu", 22, kFloatTypes, {.gradient = gradients::selu});
  add_unary<ShrinkAttributes>(rows, "Shrink", 9, kNumericTypes,
                              {.exact = true, .gradient = gradients::shrink});
  add_unary(rows, "Sigmoid", 13, kFloatTypes,
            {.activation = plain<Activation::kSigmoid>, .gradient = gradients::sigmoid});
  add_unary(rows, "Sign", 13, kNumericTypes, {.exact = true, .gradient = gradients::zero});
  add_unary(rows, "Sin", 22, kFloatTypes, {.gradient = gradients::sin});
  add_unary(rows, "Sinh", 22, kFloatTypes, {.domain = Domain::kSmall, .gradient = gradients::sinh});
  add_unary(rows, "Softplus", 22, kFloatTypes,
            {.activation = plain<Activation::kSoftplus>, .gradient = gradients::softplus});
  add_unary(rows, "Softsign", 22, kFloatTypes, {.gradient = gradients::softsign});
  add_unary(rows, "Sqrt", 13, kFloatTypes,
            {.domain = Domain::kNonNegative, .gradient = gradients::sqrt});
  add_unary<AlphaAttributes>(rows, "Swish", 24, kFloatTypes,
                             {.activation = swish, .gradient = gradients::swish});
  add_unary(rows, "Tan", 22, kFloatTypes, {.gradient = gradients::tan});
  add_unary(rows, "Tanh", 13, kFloatTypes,
            {.activation = plain<Activation::kTanh>, .gradient = gradients::tanh});
  add_unary<AlphaAttributes>(rows, "ThresholdedRelu", 22, kFloatTypes,
                             {.exact = true, .gradient = gradients::thresholded_relu});
}

void add_binary_definitions(DefinitionRows& rows) {
  add_binary(rows, "Add", 14, kNumericTypes,
             {.exact = true,
              .neutral = NeutralElement{-0.0},
              .propagate = propagation::kSum,
              .gradient = gradients::add});
  add_binary(rows, "Sub", 14, kNumericTypes,
             {.exact = true,
              .neutral = NeutralElement{0, false},
              .propagate = propagation::kDifference,
              .gradient = gradients::subtract});
  add_binary(rows, "Mul", 14, kNumericTypes,
             {.exact = true,
              .neutral = NeutralElement{1},
              .propagate = propagation::kProduct,
              .gradient = gradients::multiply});
  add_binary(rows, "Div", 14, kNumericTypes,
             {.second = Domain::kNonZero,
              .neutral = NeutralElement{1, false},
              .propagate = propagation::kQuotient,
              .gradient = gradients::divide});
  add_binary<ModAttributes>(rows, "Mod", 28, kNumericTypes,
                            {.second = Domain::kNonZero,
                             .exact = true,
                             .propagate = propagation::kRemainder,
                             .gradient = gradients::modulo});
  add_binary<BitShiftAttributes>(rows, "BitShift", 28, kIntegerTypes,
                                 {.domain = Domain::kSmall,
                                  .second = Domain::kShift,
                                  .exact = true,
                                  .neutral = NeutralElement{0, false}});
  add_binary(rows, "BitwiseAnd", 18, kIntegerTypes, {.exact = true});
  add_binary(rows, "BitwiseOr", 18, kIntegerTypes, {.exact = true, .neutral = NeutralElement{0}});
  add_binary(rows, "BitwiseXor", 18, kIntegerTypes, {.exact = true, .neutral = NeutralElement{0}});
  add_comparison(rows, "And", 7, kBoolType, propagation::kMinimum);
  add_comparison(rows, "Or", 7, kBoolType, propagation::kMaximum);
  add_comparison(rows, "Xor", 7, kBoolType);
  add_comparison(rows, "Equal", 19, kNumericTypes | kBoolType | kStringType, propagation::kEqual);
  add_comparison(rows, "Less", 13, kNumericTypes, propagation::kLess);
  add_comparison(rows, "LessOrEqual", 16, kNumericTypes, propagation::kLessOrEqual);
  add_comparison(rows, "Greater", 13, kNumericTypes, propagation::kGreater);
  add_comparison(rows, "GreaterOrEqual", 16, kNumericTypes, propagation::kGreaterOrEqual);
  add_variadic(rows, "Min", 13, kNumericTypes, true, gradients::extreme, propagation::kMinimum);
  add_variadic(rows, "Max", 13, kNumericTypes, true, gradients::extreme, propagation::kMaximum);
  add_variadic(rows, "Sum", 13, kFloatTypes, true, gradients::sum, propagation::kSum);
  add_variadic(rows, "Mean", 13, kFloatTypes, false, gradients::mean);
  // The slope is broadcast to the input, so the input alone gives the extents.
  add<ops::SameShape>(
      rows, {.name = "PRelu",
             .since_version = 16,
             .inputs = {same({"X", "T"}), broadcast({"slope", "T"})},
             .outputs = {same({"Y", "T"})},
             .facts = {.element_wise = true, .exact = true, .gradient = gradients::prelu},
             .types = {{"T", kFloatTypes | types({DataType::kInt32, DataType::kInt64,
                                                  DataType::kUint32, DataType::kUint64})}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::Broadcast>(rows, {.name = "Pow",
                             .since_version = 15,
                             .inputs = {broadcast({"X", "T"}).of(Domain::kPositive),
                                        broadcast({"Y", "T1"}).of(Domain::kSmall)},
                             .outputs = {same({"Z", "T"})},
                             .facts = {.element_wise = true,
                                       .neutral = NeutralElement{1, false},
                                       .gradient = gradients::power},
                             .types = {{"T", kFloatTypes | kIndexTypes}, {"T1", kNumericTypes}},
                             .kernel_types = {"T", "T1"},
                             .attributes = codec_of<NoAttributes>()});
}

}  // namespace

void add_pointwise_definitions(DefinitionRows& rows) {
  add_unary_definitions(rows);
  add_binary_definitions(rows);
  add<ops::WhereShape>(rows, {.name = "Where",
                              .since_version = 16,
                              .inputs = {broadcast({"condition", "B"}), broadcast({"X", "T"}),
                                         broadcast({"Y", "T"})},
                              .outputs = {same({"output", "T"})},
                              .facts = {.element_wise = true,
                                        .exact = true,
                                        .propagate = propagation::kSelect,
                                        .gradient = gradients::select},
                              .types = {{"B", kBoolType}, {"T", kAnyTypes}},
                              .attributes = codec_of<NoAttributes>()});
  add<ops::SameShape>(
      rows, {.name = "Clip",
             .since_version = 13,
             .inputs = {same({"input", "T"}), broadcast({"min", "T", Parameter::kOptional}),
                        broadcast({"max", "T", Parameter::kOptional})},
             .outputs = {same({"output", "T"})},
             .facts = {.element_wise = true,
                       .exact = true,
                       .activation = clip,
                       .gradient = gradients::clip},
             .types = {{"T", kNumericTypes}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::Cast>(rows, {.name = "Cast",
                        .since_version = 28,
                        .inputs = {same({"input", "T1"})},
                        .outputs = {same({"output", "T2"})},
                        .facts = {.element_wise = true,
                                  .exact = true,
                                  .copies = keeps_all,
                                  .propagate = propagation::kCast,
                                  .gradient = gradients::cast},
                        .types = {{"T1", kCastTypes}, {"T2", kCastTypes}},
                        .kernel_types = {"T1", "T2"},
                        .attributes = codec_of<CastAttributes>()});
}

}  // namespace intarsia::definitions
