// SPDX-License-Identifier: Apache-2.0
//
// Definitions of convolution and pooling.
#include "core/definitions/epilogue.h"
#include "core/definitions/gradient.h"
#include "core/operators/nn/conv.h"
#include "core/operators/nn/pool.h"

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
                 .fast_channels_last = types({DataType::kFloat}),
                 .window = attribute<&ConvAttributes::window, &WindowAttributes::kernel_shape>()},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<ConvAttributes>()});
  add<ops::ConvTranspose>(
      rows,
      {.name = "ConvTranspose",
       .inputs = {same({"X", "T"}), apart({"W", "T"}), apart({"B", "T", kOptional})},
       .outputs = {same({"Y", "T"})},
       .facts =
           {.axes = {.form = AxisForm::kImage,
                     .channels_last = attribute<&ConvTransposeAttributes::channels_last>()},
            .window =
                attribute<&ConvTransposeAttributes::window, &WindowAttributes::kernel_shape>()},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<ConvTransposeAttributes>()});
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
                       .window = attribute<&MaxPoolAttributes::pool, &PoolAttributes::window,
                                           &WindowAttributes::kernel_shape>()},
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
                                           &WindowAttributes::kernel_shape>()},
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
                                     &WindowAttributes::kernel_shape>()},
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
      rows,
      {.name = "GlobalLpPool",
       .inputs = {same({"X", "T"})},
       .outputs = {same({"Y", "T"})},
       .facts = {.axes = {.form = AxisForm::kImage,
                          .channels_last = attribute<&GlobalLpPoolAttributes::global,
                                                     &GlobalPoolAttributes::channels_last>()}},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<GlobalLpPoolAttributes>()});
}

}  // namespace

void add_nn_definitions(DefinitionRows& rows) {
  add_convolutions(rows);
  add_pools(rows);
}

}  // namespace intarsia::definitions
