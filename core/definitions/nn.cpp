// SPDX-License-Identifier: Apache-2.0
//
// Definitions of convolution and pooling, and of what else reads images.
#include "core/definitions/epilogue.h"
#include "core/definitions/gradient.h"
#include "core/definitions/transposed_forms.h"
#include "core/operators/nn/conv_layout.h"
#include "core/operators/nn/deform_conv.h"
#include "core/operators/nn/mel_weight_matrix.h"
#include "core/operators/nn/pool.h"
#include "core/operators/nn/roi.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;

void add_convolutions(DefinitionRows& rows) {
  add_with_epilogue<ops::Conv>(
      rows,
      {.name = "Conv",
       .inputs = {same({"X", "T"}), apart({"W", "T"}), apart({"B", "T", kOptional}),
                  same({"Z", "T", kOptional})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kImage,
                          .channels_last = attribute<&ConvAttributes::channels_last>()},
                 .epilogue = epilogue_of<ConvAttributes>("Conv", 3),
                 .fast_channels_last =
                     types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16}),
                 .channels_last_gain =
                     [](const ImageNode& node) {
                       const auto* a = reinterpret_cast<const ConvAttributes*>(node.attributes);
                       return ops::gain_of_channels_last(*a, node.data, node.weights, node.result);
                     },
                 .window = attribute<&ConvAttributes::window, &WindowAttributes::kernel_shape>(),
                 .gradient = gradients::conv},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<ConvAttributes>()});
  const Facts of_integers = {
      .axes = {.form = AxisForm::kImage,
               .channels_last = attribute<&IntegerConvAttributes::channels_last>()},
      .exact = true,
      .fast_channels_last = kByteTypes,
      .window = attribute<&IntegerConvAttributes::window, &WindowAttributes::kernel_shape>()};
  Facts of_conv_integer = of_integers;
  of_conv_integer.channels_last_gain = [](const ImageNode& node) {
    const auto* a = reinterpret_cast<const IntegerConvAttributes*>(node.attributes);
    return ops::gain_of_integer_channels_last(*a, node.data, node.weights, node.result,
                                              node.computed_weights);
  };
  add<ops::ConvInteger>(
      rows,
      {.name = "ConvInteger",
       .since_version = 10,
       .inputs = {same({"x", "T1"}), apart({"w", "T2"}), apart({"x_zero_point", "T1", kOptional}),
                  apart({"w_zero_point", "T2", kOptional})},
       .outputs = {same({"y", "T3"})},
       .facts = of_conv_integer,
       .types = {{"T1", kByteTypes}, {"T2", kByteTypes}, {"T3", types({DataType::kInt32})}},
       .kernel_types = {"T1", "T2"},
       .attributes = codec_of<IntegerConvAttributes>()});
  add<ops::ConvRequantize>(
      rows, {.domain = kInternalDomain,
             .name = "ConvRequantize",
             .inputs = {same({"x", "T1"}), apart({"w", "T2"}),
                        apart({"scale", "T3"}).of(Domain::kPositive), apart({"y_zero_point", "T4"}),
                        apart({"x_zero_point", "T1", kOptional}),
                        apart({"w_zero_point", "T2", kOptional}), apart({"bias", "T5", kOptional})},
             .outputs = {same({"y", "T4"})},
             .facts = of_integers,
             .types = {{"T1", kByteTypes},
                       {"T2", kByteTypes},
                       {"T3", types({DataType::kFloat})},
                       {"T4", kByteTypes},
                       {"T5", types({DataType::kInt32})}},
             .kernel_types = {"T1", "T2", "T4"},
             .attributes = codec_of<IntegerConvAttributes>()});
  add<ops::ConvTranspose>(
      rows,
      {.name = "ConvTranspose",
       .inputs = {same({"X", "T"}), apart({"W", "T"}), apart({"B", "T", kOptional})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kImage,
                          .channels_last = attribute<&ConvTransposeAttributes::channels_last>()},
                 .fast_channels_last =
                     types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16}),
                 .channels_last_gain =
                     [](const ImageNode& node) {
                       const auto* a =
                           reinterpret_cast<const ConvTransposeAttributes*>(node.attributes);
                       return ops::few_transposed_filters(*a, node.weights)
                                  ? 0
                                  : std::numeric_limits<double>::infinity();
                     },
                 .window =
                     attribute<&ConvTransposeAttributes::window, &WindowAttributes::kernel_shape>(),
                 .gradient = gradients::conv_transpose,
                 .special = {is_convolution, expand_as_convolution}},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<ConvTransposeAttributes>()});
  add<ops::DeformConv>(
      rows,
      {.name = "DeformConv",
       .since_version = 22,
       .inputs = {same({"X", "T"}), apart({"W", "T"}), apart({"offset", "T"}),
                  apart({"B", "T", kOptional}), apart({"mask", "T", kOptional})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kPosition},
                 .window =
                     attribute<&DeformConvAttributes::window, &WindowAttributes::kernel_shape>(),
                 .gradient = gradients::deform_conv},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<DeformConvAttributes>()});
}

void add_regions(DefinitionRows& rows) {
  add<ops::RoiAlign>(
      rows, {.name = "RoiAlign",
             .since_version = 22,
             .inputs = {same({"X", "T1"}), apart({"rois", "T1"}).of(Domain::kNonNegative),
                        apart({"batch_indices", "T2"}).of(Domain::kIndex)},
             .outputs = {apart({"Y", "T1"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .gradient = gradients::roi_align},
             .types = {{"T1", kFloatTypes}, {"T2", kInt64Type}},
             .kernel_types = {"T1"},
             .attributes = codec_of<RoiAlignAttributes>()});
  add<ops::MaxRoiPool>(rows,
                       {.name = "MaxRoiPool",
                        .since_version = 22,
                        .inputs = {same({"X", "T"}), apart({"rois", "T"}).of(Domain::kFraction)},
                        .outputs = {apart({"Y", "T"})},
                        .facts = {.axes = {.form = AxisForm::kPosition}},
                        .types = {{"T", kFloatTypes}},
                        .attributes = codec_of<MaxRoiPoolAttributes>()});
}

void add_spectra(DefinitionRows& rows) {
  constexpr auto edge = [](std::string_view name) {
    return apart({name, "T2"}).of(Domain::kFraction);
  };
  add<ops::MelWeightMatrix>(
      rows, {.name = "MelWeightMatrix",
             .since_version = 17,
             .inputs = {apart({"num_mel_bins", "T1"}).deciding(Domain::kPositive),
                        apart({"dft_length", "T1"}).deciding(Domain::kPositive),
                        apart({"sample_rate", "T1"}).of(Domain::kPositive),
                        edge("lower_edge_hertz"), edge("upper_edge_hertz")},
             .outputs = {apart({"output", "T3"})},
             .types = {{"T1", kIndexTypes}, {"T2", kFloatTypes}, {"T3", kNumericTypes}},
             .kernel_types = {"T3"},
             .attributes = codec_of<MelWeightMatrixAttributes>()});
}

void add_pools(DefinitionRows& rows) {
  constexpr TypeSet kMaxPoolTypes = kFloatTypes | types({DataType::kInt8, DataType::kUint8});
  add<ops::MaxPool>(
      rows, {.name = "MaxPool",
             .inputs = {same({"X", "T"})},
             .outputs = {same({"Y", "T"}), ordered({"Indices", "I", kOptional})},
             .facts = {.axes = {.form = AxisForm::kImage,
                                .channels_last = attribute<&MaxPoolAttributes::pool,
                                                           &PoolAttributes::channels_last>()},
                       .exact = true,
                       .selects = true,
                       .window = attribute<&MaxPoolAttributes::pool, &PoolAttributes::window,
                                           &WindowAttributes::kernel_shape>(),
                       .gradient = gradients::max_pool},
             .types = {{"T", kMaxPoolTypes}, {"I", kInt64Type}},
             .attributes = codec_of<MaxPoolAttributes>()});
  add<ops::AveragePool>(
      rows, {.name = "AveragePool",
             .inputs = {same({"X", "T"})},
             .outputs = {same({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kImage,
                                .channels_last = attribute<&AveragePoolAttributes::pool,
                                                           &PoolAttributes::channels_last>()},
                       .window = attribute<&AveragePoolAttributes::pool, &PoolAttributes::window,
                                           &WindowAttributes::kernel_shape>(),
                       .gradient = gradients::average_pool},
             .types = {{"T", kFloatTypes}},
             .attributes = codec_of<AveragePoolAttributes>()});
  add<ops::LpPool>(
      rows,
      {.name = "LpPool",
       .inputs = {same({"X", "T"})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kImage,
                          .channels_last =
                              attribute<&LpPoolAttributes::pool, &PoolAttributes::channels_last>()},
                 .window = attribute<&LpPoolAttributes::pool, &PoolAttributes::window,
                                     &WindowAttributes::kernel_shape>(),
                 .gradient = gradients::lp_pool},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<LpPoolAttributes>()});
  const auto add_global = [&rows](std::string_view name, GradientRule gradient) {
    add<ops::GlobalPool>(
        rows,
        {.name = name,
         .inputs = {same({"X", "T"})},
         .outputs = {same({"Y", "T"})},
         .facts = {.axes = {.form = AxisForm::kImage,
                            .channels_last = attribute<&GlobalPoolAttributes::channels_last>()},
                   .gradient = gradient},
         .types = {{"T", kFloatTypes}},
         .attributes = codec_of<GlobalPoolAttributes>()});
  };
  add_global("GlobalAveragePool", gradients::spatial_mean);
  add_global("GlobalMaxPool", gradients::spatial_extreme);
  add<ops::GlobalLpPool>(
      rows, {.name = "GlobalLpPool",
             .inputs = {same({"X", "T"})},
             .outputs = {same({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kImage,
                                .channels_last = attribute<&GlobalLpPoolAttributes::global,
                                                           &GlobalPoolAttributes::channels_last>()},
                       .gradient = gradients::global_lp_pool},
             .types = {{"T", kFloatTypes}},
             .attributes = codec_of<GlobalLpPoolAttributes>()});
}

}  // namespace

void add_nn_definitions(DefinitionRows& rows) {
  add_convolutions(rows);
  add_pools(rows);
  add_regions(rows);
  add_spectra(rows);
}

}  // namespace intarsia::definitions
