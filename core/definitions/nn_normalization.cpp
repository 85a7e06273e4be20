// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the normalisations.
#include "core/definitions/computed_types.h"
#include "core/definitions/expansion.h"
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/normalization.h"

namespace intarsia::definitions {
namespace {

// Scale and bias of LayerNormalization and RMSNormalization broadcast to X; kernels take those of
// the normalised extents, as all models have them that are known.

bool broadcasts(const std::byte* attributes, std::span<const SymbolicInput> inputs) {
  const Shape<Dim>& x = inputs[0].shape;
  const auto& a = *reinterpret_cast<const LayerNormalizationAttributes*>(attributes);
  const int axis = ops::wrapped_axis(a.axis, x.rank);
  const auto is_one = [](const Dim& extent) {
    return is_constant(extent) && constant_value(extent) == 1;
  };
  for (const SymbolicInput& input : inputs.subspan(1)) {
    const int left = x.rank - input.shape.rank;
    if (!input.present || axis < 0 || left < 0) continue;
    if (left > axis) return true;
    for (int i = left; i < x.rank; ++i) {
      const bool one = is_one(input.shape[i - left]);
      if (i < axis ? !one : one && !is_one(x[i])) return true;
    }
  }
  return false;
}

/// Normalised as if they were 1 and 0, which they come behind.
void with_parameters_behind(ExpansionContext& e, std::string_view op) {
  const Term x = e.x(0), scale = e.x(1);
  const int rank = x.rank();
  const int axis = ops::wrapped_axis(e.attributes<LayerNormalizationAttributes>().axis, rank);
  const Term operands[] = {x, filled(scale, 1, extents(x, axis, rank))};
  const int outputs = e.wants(2) ? 3 : e.wants(1) ? 2 : 1;
  const std::vector<Term> results = e.add(op, operands, e.given(), outputs);
  const Term scaled = results[0] * scale;
  e.set(0, e.has_x(2) ? scaled + e.x(2) : scaled);
  for (int i = 1; i < outputs; ++i) e.set(i, results[static_cast<size_t>(i)]);
}

}  // namespace

void add_nn_normalization_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  add<ops::BatchNormalization>(
      rows,
      {.name = "BatchNormalization",
       .inputs = {same({"X", "T"}), apart({"scale", "T1"}), apart({"B", "T1"}),
                  apart({"input_mean", "T2"}), apart({"input_var", "T2"}).of(Domain::kPositive)},
       .outputs = {same({"Y", "T"}), apart({"running_mean", "T2", kOptional}),
                   apart({"running_var", "T2", kOptional})},
       .facts = {.axes = {.form = AxisForm::kImage,
                          .channels_last =
                              attribute<&BatchNormalizationAttributes::channels_last>()},
                 .gradient = gradients::batch_normalization,
                 .computed = alike},
       .types = {{"T", kFloatTypes}, {"T1", kFloatTypes}, {"T2", kFloatTypes}},
       .kernel_types = {"T", "T1", "T2"},
       .attributes = codec_of<BatchNormalizationAttributes>()});
  add<ops::InstanceNormalization>(
      rows,
      {.name = "InstanceNormalization",
       .inputs = {same({"input", "T"}), apart({"scale", "T"}), apart({"B", "T"})},
       .outputs = {same({"output", "T"})},
       .facts = {.axes = {.form = AxisForm::kImage}, .gradient = gradients::instance_normalization},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<InstanceNormalizationAttributes>()});
  add<ops::GroupNormalization>(
      rows,
      {.name = "GroupNormalization",
       .inputs = {same({"X", "T"}), apart({"scale", "T"}), apart({"bias", "T"})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kImage}, .gradient = gradients::group_normalization},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<GroupNormalizationAttributes>()});
  add<ops::LayerNormalization>(
      rows,
      {.name = "LayerNormalization",
       .inputs = {same({"X", "T"}), broadcast({"Scale", "T"}), broadcast({"B", "T", kOptional})},
       .outputs = {same({"Y", "T"}), same({"Mean", "U", kOptional}),
                   same({"InvStdDev", "U", kOptional})},
       .facts = {.axes = {.form = AxisForm::kSuffix,
                          .attribute = attribute<&LayerNormalizationAttributes::axis>()},
                 .gradient = gradients::layer_normalization,
                 .special = {broadcasts,
                             [](ExpansionContext& e) {
                               with_parameters_behind(e, "LayerNormalization");
                             }}},
       .types = {{"T", kFloatTypes}, {"U", types({DataType::kFloat, DataType::kBfloat16})}},
       .attributes = codec_of<LayerNormalizationAttributes>()});
  add<ops::RmsNormalization>(
      rows, {.name = "RMSNormalization",
             .inputs = {same({"X", "T"}), broadcast({"scale", "V"})},
             .outputs = {same({"Y", "V"})},
             .facts = {.axes = {.form = AxisForm::kSuffix,
                                .attribute = attribute<&LayerNormalizationAttributes::axis>()},
                       .gradient = gradients::rms_normalization,
                       .special = {broadcasts,
                                   [](ExpansionContext& e) {
                                     with_parameters_behind(e, "RMSNormalization");
                                   }},
                       .computed = alike},
             .types = {{"T", kFloatTypes}, {"V", kFloatTypes}},
             .kernel_types = {"T", "V"},
             .attributes = codec_of<LayerNormalizationAttributes>()});
  add<ops::LpNormalization>(
      rows, {.name = "LpNormalization",
             .inputs = {same({"input", "T"})},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kOne,
                                .attribute = attribute<&LpNormalizationAttributes::axis>()},
                       .gradient = gradients::lp_normalization},
             .types = {{"T", kFloatTypes}},
             .attributes = codec_of<LpNormalizationAttributes>()});
  add<ops::MeanVarianceNormalization>(
      rows,
      {.name = "MeanVarianceNormalization",
       .inputs = {same({"X", "T"})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kSet,
                          .attribute = attribute<&MeanVarianceNormalizationAttributes::axes>()},
                 .gradient = gradients::mean_variance_normalization},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<MeanVarianceNormalizationAttributes>()});
  add<ops::Lrn>(rows,
                {.name = "LRN",
                 .inputs = {same({"X", "T"})},
                 .outputs = {same({"Y", "T"})},
                 .facts = {.axes = {.form = AxisForm::kImage,
                                    .channels_last = attribute<&LrnAttributes::channels_last>()},
                           .window = attribute<&LrnAttributes::size>(),
                           .gradient = gradients::response_normalization},
                 .types = {{"T", kFloatTypes}},
                 .attributes = codec_of<LrnAttributes>()});
}

}  // namespace intarsia::definitions
