// SPDX-License-Identifier: Apache-2.0
//
// Normalisations of com.microsoft, alone and behind sums and embeddings. They become ONNX's.
//
// Schemas: ONNX Runtime's documentation of its contrib operators, ContribOperators.md.
#include "core/definitions/contrib_rows.h"
#include "core/definitions/gradient_terms.h"

namespace intarsia::definitions {
namespace {

using E = ExpansionContext;
using gradients::wide;
using Integers = std::vector<int64_t>;

constexpr auto kOptional = Parameter::kOptional;

struct EmbeddingAttributes {
  float epsilon = 1e-12f;
  int32_t mask_index_type = 0;
  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon);
    v("mask_index_type", mask_index_type, between(0, 0));
  }
};
struct SimplifiedAttributes {
  int32_t axis = -1;
  float epsilon = 1e-5f;
  int32_t stash_type = 1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("epsilon", epsilon);
    v("stash_type", stash_type, between(1, 1));
  }
};

/// 1 / sqrt(mean(x^2) + epsilon) over the axes from `axis` on.
Term inverse_of_rms(Term x, int64_t axis, float epsilon) {
  const Term values = wide(x);
  const Integers axes = axes_between(axis, x.rank());
  const Term square = mean_over(values * values, axes);
  return call("Reciprocal", {call("Sqrt", {square + static_cast<double>(epsilon)})});
}

void simplified_layer_normalization(E& e) {
  const auto& a = e.attributes<SimplifiedAttributes>();
  const int64_t axis = a.axis < 0 ? a.axis + e.x().rank() : a.axis;
  e.set(0, call("RMSNormalization", {e.x(0), e.x(1)}, {{"axis", axis}, {"epsilon", a.epsilon}}));
  if (e.wants(1)) e.set(1, inverse_of_rms(e.x(0), axis, a.epsilon));
}

/// Writes the normalisation of the last axis into outputs 0 to 2.
void normalize(E& e, Term sum, float epsilon, Term gamma, const Term* beta) {
  const AttributeMap attributes{{"axis", int64_t{-1}}, {"epsilon", epsilon}};
  std::vector<Term> operands{sum, gamma};
  if (beta != nullptr) operands.push_back(*beta);
  const std::vector<Term> results = e.add("LayerNormalization", operands, attributes, 3);
  for (int i = 0; i < 3; ++i) e.set(i, results[static_cast<size_t>(i)]);
}

/// input + bias + skip: a product as the input takes both into its epilogue.
Term skipped(E& e, int bias) {
  return (e.has_x(bias) ? e.x(0) + e.x(bias) : e.x(0)) + e.x(1);
}

void skip_layer_normalization(E& e) {
  const Term sum = skipped(e, 4);
  const float epsilon = e.attributes<EpsilonAttributes>().epsilon;
  if (e.has_x(3)) {
    const Term beta = e.x(3);
    normalize(e, sum, epsilon, e.x(2), &beta);
  } else {
    normalize(e, sum, epsilon, e.x(2), nullptr);
  }
  e.set(3, sum);
}

void skip_simplified_layer_normalization(E& e) {
  const Term sum = skipped(e, 3);
  const float epsilon = e.attributes<EpsilonAttributes>().epsilon;
  const int64_t axis = sum.rank() - 1;
  e.set(0, call("RMSNormalization", {sum, e.x(2)}, {{"axis", axis}, {"epsilon", epsilon}}));
  if (e.wants(1)) e.refuse("output 1 ('mean') does not exist in a simplified normalisation");
  if (e.wants(2)) e.set(2, inverse_of_rms(sum, axis, epsilon));
  e.set(3, sum);
}

/// Embeddings of words, positions and segments, summed and normalised.
void embed_layer_normalization(E& e) {
  enum { kIds, kSegmentIds, kWords, kPositions, kSegments, kGamma, kBeta, kMask, kPositionIds };
  if (e.has_x(kSegmentIds) != e.has_x(kSegments)) {
    e.refuse("segment_ids and segment_embedding belong together; one is missing");
  }
  const Term ids = e.x(kIds);
  if (ids.rank() != 2) {
    e.refuse("input_ids has to have 2 axes, found " + std::to_string(ids.rank()));
  }
  const Term places = e.has_x(kPositionIds) ? e.x(kPositionIds) : positions(ids, 1);
  Term sum = call("Gather", {e.x(kWords), ids}) + call("Gather", {e.x(kPositions), places});
  if (e.has_x(kSegments)) sum = sum + call("Gather", {e.x(kSegments), e.x(kSegmentIds)});
  const std::vector<Term> operands{sum, e.x(kGamma), e.x(kBeta)};
  const float epsilon = e.attributes<EmbeddingAttributes>().epsilon;
  e.set(0, e.add("LayerNormalization", operands, {{"axis", int64_t{-1}}, {"epsilon", epsilon}}, 1)
               .front());
  if (e.wants(1)) {
    // The numbers of keys that the mask lets through.
    const auto open = [&](Term mask) { return cast(call("Equal", {mask, mask.number(1)}), mask); };
    e.set(1, e.has_x(kMask) ? call("ReduceSum", {open(e.x(kMask)), e.integers({1})},
                                   {{"keepdims", int64_t{0}}})
                            : call("Expand", {ids.number(0), extents(ids, 0, 1)}));
  }
  e.set(2, sum);
}

struct GroupNormAttributes {
  float epsilon = 1e-5f;
  int32_t groups = 1;
  int32_t activation = 0;
  int32_t channels_last = 1;
  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon);
    v.required("groups", groups, at_least(1));
    v.required("activation", activation, kFlag);
    v("channels_last", channels_last, kFlag);
  }
};

/// [N, C, H, W], from [N, H, W, C] where the attribute says so; and back.
Term channels_first(Term x, const GroupNormAttributes& a) {
  return a.channels_last != 0 ? transpose(x, {0, 3, 1, 2}) : x;
}

/// Computed in float, as the statistics are.
void write_group_norm(E& e, Term x, const GroupNormAttributes& a) {
  const DataType type = x.known().type;
  Term y = call("GroupNormalization", {wide(channels_first(x, a)), wide(e.x(1)), wide(e.x(2))},
                {{"epsilon", a.epsilon}, {"num_groups", int64_t{a.groups}}});
  if (a.activation != 0) y = call("Swish", {y});
  e.set(0, cast_to(a.channels_last != 0 ? transpose(y, {0, 2, 3, 1}) : y, type));
}

void group_norm(E& e) {
  write_group_norm(e, e.x(0), e.attributes<GroupNormAttributes>());
}

/// `skip` is like x, or a vector over the channels for each image or for all.
void skip_group_norm(E& e) {
  const auto& a = e.attributes<GroupNormAttributes>();
  const auto over_channels = [&](Term term) {
    if (term.rank() != 2) return term;
    return unsqueeze(term, a.channels_last != 0 ? Integers{1, 2} : Integers{2, 3});
  };
  Term sum = e.x(0) + over_channels(e.x(3));
  if (e.has_x(4)) {
    const Term bias = e.x(4);
    sum = sum + (a.channels_last != 0 ? bias : unsqueeze(bias, {1, 2}));
  }
  e.set(1, sum);
  write_group_norm(e, sum, a);
}

}  // namespace

void add_contrib_normalization_definitions(DefinitionRows& rows) {
  const ContribRows row(rows);
  const TypeConstraint real{"T", kFloatTypes}, statistics{"U", kFloatTypes};
  const std::vector<Parameter> y{{"Y", "T"}};
  row("SimplifiedLayerNormalization", simplified_layer_normalization,
      {Parameter{"X", "T"}.with("... C"), Parameter{"scale", "V"}.with("C")},
      {{"Y", "V"}, {"inv_std_var", "U", kOptional}}, {real, statistics, {"V", kFloatTypes}},
      codec_of<SimplifiedAttributes>(), "");
  const std::vector<Parameter> skip_outputs{{"output", "T"},
                                            {"mean", "U", kOptional},
                                            {"inv_std_var", "U", kOptional},
                                            {"input_skip_bias_sum", "T", kOptional}};
  row("SkipLayerNormalization", skip_layer_normalization,
      {Parameter{"input", "T"}.with("B S C"), Parameter{"skip", "T"}.with("B S C"),
       Parameter{"gamma", "T"}.with("C"), Parameter{"beta", "T", kOptional}.with("C"),
       Parameter{"bias", "T", kOptional}.with("C")},
      skip_outputs, {real, statistics}, codec_of<EpsilonAttributes>());
  row("SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization,
      {Parameter{"input", "T"}.with("B S C"), Parameter{"skip", "T"}.with("B S C"),
       Parameter{"gamma", "T"}.with("C"), Parameter{"bias", "T", kOptional}.with("C")},
      skip_outputs, {real, statistics}, codec_of<EpsilonAttributes>());
  const TypeConstraint index{"T1", types({DataType::kInt32})};
  row("EmbedLayerNormalization", embed_layer_normalization,
      {Parameter{"input_ids", "T1"}.with("B S").of(Domain::kIndex, 2),
       Parameter{"segment_ids", "T1", kOptional}.with("absent | B S").of(Domain::kIndex, 4),
       Parameter{"word_embedding", "T"}.with("V+3 C"),
       Parameter{"position_embedding", "T"}.with("S+P C"),
       Parameter{"segment_embedding", "T", kOptional}.with("absent | G+3 C"),
       Parameter{"gamma", "T"}.with("C"), Parameter{"beta", "T"}.with("C"),
       Parameter{"mask", "T1", kOptional}.with("B S").of(Domain::kNonNegative),
       Parameter{"position_ids", "T1", kOptional}.with("B S").of(Domain::kIndex, 3)},
      {{"output", "T"}, {"mask_index", "T1", kOptional}, {"embedding_sum", "T", kOptional}},
      {real, index}, codec_of<EmbeddingAttributes>());
  const TypeConstraint parameters{"M", kFloatTypes};
  row("GroupNorm", group_norm,
      {Parameter{"X", "T"}.with("N H W groups*C | N groups*C H W"),
       Parameter{"gamma", "M"}.with("groups*C"), Parameter{"beta", "M"}.with("groups*C")},
      y, {real, parameters}, codec_of<GroupNormAttributes>());
  row("SkipGroupNorm", skip_group_norm,
      {Parameter{"X", "T"}.with("N H W groups*C | N groups*C H W | N H W groups*C"),
       Parameter{"gamma", "M"}.with("groups*C"), Parameter{"beta", "M"}.with("groups*C"),
       Parameter{"skip", "T"}.with("N H W groups*C | N groups*C H W | N groups*C"),
       Parameter{"bias", "T", kOptional}.with("groups*C")},
      {{"Y", "T"}, {"S", "T", kOptional}}, {real, parameters}, codec_of<GroupNormAttributes>());
}

}  // namespace intarsia::definitions
