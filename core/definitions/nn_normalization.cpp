// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the normalisations.
#include "core/definitions/nn.h"
#include "core/operators/normalization.h"

namespace intarsia::definitions {

void add_normalization_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  constexpr std::string_view kHeader = "core/operators/normalization.h";
  add<ops::BatchNormalization>(
      rows, "intarsia::ops::BatchNormalization", kHeader,
      {.name = "BatchNormalization",
       .inputs =
           {{"X", "T"}, {"scale", "T1"}, {"B", "T1"}, {"input_mean", "T2"}, {"input_var", "T2"}},
       .outputs = {{"Y", "T"}, {"running_mean", "T2", kOptional}, {"running_var", "T2", kOptional}},
       .types = {{"T", kFloatTypes}, {"T1", kFloatTypes}, {"T2", kFloatTypes}},
       .kernel_types = {"T", "T1", "T2"},
       .attributes = codec_of<BatchNormalizationAttributes>(),
       .in_place = {0}});
  add<ops::InstanceNormalization>(rows, "intarsia::ops::InstanceNormalization", kHeader,
                                  {.name = "InstanceNormalization",
                                   .inputs = {{"input", "T"}, {"scale", "T"}, {"B", "T"}},
                                   .outputs = {{"output", "T"}},
                                   .types = {{"T", kFloatTypes}},
                                   .attributes = codec_of<InstanceNormalizationAttributes>(),
                                   .in_place = {0}});
  add<ops::GroupNormalization>(rows, "intarsia::ops::GroupNormalization", kHeader,
                               {.name = "GroupNormalization",
                                .inputs = {{"X", "T"}, {"scale", "T"}, {"bias", "T"}},
                                .outputs = {{"Y", "T"}},
                                .types = {{"T", kFloatTypes}},
                                .attributes = codec_of<GroupNormalizationAttributes>(),
                                .in_place = {0}});
  add<ops::LayerNormalization>(
      rows, "intarsia::ops::LayerNormalization", kHeader,
      {.name = "LayerNormalization",
       .inputs = {{"X", "T"}, {"Scale", "T"}, {"B", "T", kOptional}},
       .outputs = {{"Y", "T"}, {"Mean", "U", kOptional}, {"InvStdDev", "U", kOptional}},
       .types = {{"T", kFloatTypes}, {"U", types({DataType::kFloat, DataType::kBfloat16})}},
       .attributes = codec_of<LayerNormalizationAttributes>(),
       .in_place = {0}});
  add<ops::RmsNormalization>(rows, "intarsia::ops::RmsNormalization", kHeader,
                             {.name = "RMSNormalization",
                              .inputs = {{"X", "T"}, {"scale", "V"}},
                              .outputs = {{"Y", "V"}},
                              .types = {{"T", kFloatTypes}, {"V", kFloatTypes}},
                              .kernel_types = {"T", "V"},
                              .attributes = codec_of<LayerNormalizationAttributes>(),
                              .in_place = {0}});
  add<ops::LpNormalization>(rows, "intarsia::ops::LpNormalization", kHeader,
                            {.name = "LpNormalization",
                             .inputs = {{"input", "T"}},
                             .outputs = {{"output", "T"}},
                             .types = {{"T", kFloatTypes}},
                             .attributes = codec_of<LpNormalizationAttributes>(),
                             .in_place = {0}});
  add<ops::MeanVarianceNormalization>(
      rows, "intarsia::ops::MeanVarianceNormalization", kHeader,
      {.name = "MeanVarianceNormalization",
       .inputs = {{"X", "T"}},
       .outputs = {{"Y", "T"}},
       .types = {{"T", kFloatTypes}},
       .attributes = codec_of<MeanVarianceNormalizationAttributes>(),
       .in_place = {0}});
  add<ops::Lrn>(rows, "intarsia::ops::Lrn", kHeader,
                {.name = "LRN",
                 .inputs = {{"X", "T"}},
                 .outputs = {{"Y", "T"}},
                 .types = {{"T", kFloatTypes}},
                 .attributes = codec_of<LrnAttributes>()});
}

}  // namespace intarsia::definitions
