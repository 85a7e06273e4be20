// SPDX-License-Identifier: Apache-2.0
//
// Operators that rearrange, cut, join, select and resize tensors.
#include "core/operators/movement.h"

#include "core/definitions/rows.h"
#include "core/operators/gather.h"
#include "core/operators/resize.h"
#include "core/operators/selection.h"

namespace intarsia::definitions {
namespace {

constexpr std::string_view kMovement = "core/operators/movement.h";
constexpr std::string_view kGather = "core/operators/gather.h";
constexpr std::string_view kSelection = "core/operators/selection.h";
constexpr std::string_view kResize = "core/operators/resize.h";
constexpr auto kOptional = Parameter::kOptional;
constexpr auto kVariadic = Parameter::kVariadic;

constexpr TypeSet kPlainTypes =
    kNumericTypes | kBoolType | types({DataType::kComplex64, DataType::kComplex128});
constexpr TypeSet kFloat = types({DataType::kFloat});

void add_cutting(DefinitionRows& rows) {
  add<ops::Concat>(rows, "intarsia::ops::Concat", kMovement,
                   {.name = "Concat",
                    .since_version = 13,
                    .inputs = {{"inputs", "T", kVariadic}},
                    .outputs = {{"concat_result", "T"}},
                    .types = {{"T", kPlainTypes}},
                    .attributes = codec_of<ConcatAttributes>()});
  add<ops::Split>(rows, "intarsia::ops::Split", kMovement,
                  {.name = "Split",
                   .since_version = 18,
                   .inputs = {{"input", "T"}, {"split", "I", kOptional}},
                   .outputs = {{"outputs", "T", kVariadic}},
                   .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                   .attributes = codec_of<SplitAttributes>()});
  add<ops::Slice>(rows, "intarsia::ops::Slice", kMovement,
                  {.name = "Slice",
                   .since_version = 13,
                   .inputs = {{"data", "T"},
                              {"starts", "Tind"},
                              {"ends", "Tind"},
                              {"axes", "Tind", kOptional},
                              {"steps", "Tind", kOptional}},
                   .outputs = {{"output", "T"}},
                   .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
                   .attributes = codec_of<NoAttributes>()});
  add<ops::Pad>(rows, "intarsia::ops::Pad", kMovement,
                {.name = "Pad",
                 .since_version = 25,
                 .inputs = {{"data", "T"},
                            {"pads", "I"},
                            {"constant_value", "T", kOptional},
                            {"axes", "Tind", kOptional}},
                 .outputs = {{"output", "T"}},
                 .types = {{"T", kAnyTypes}, {"I", kInt64Type}, {"Tind", kIndexTypes}},
                 .attributes = codec_of<PadAttributes>()});
}

void add_permuting(DefinitionRows& rows) {
  add<ops::Transpose>(rows, "intarsia::ops::Transpose", kMovement,
                      {.name = "Transpose",
                       .since_version = 25,
                       .inputs = {{"data", "T"}},
                       .outputs = {{"transposed", "T"}},
                       .types = {{"T", kAnyTypes}},
                       .attributes = codec_of<TransposeAttributes>()});
  add<ops::DepthToSpace>(rows, "intarsia::ops::DepthToSpace", kMovement,
                         {.name = "DepthToSpace",
                          .since_version = 28,
                          .inputs = {{"input", "T"}},
                          .outputs = {{"output", "T"}},
                          .types = {{"T", kPlainTypes}},
                          .attributes = codec_of<BlockAttributes>()});
  add<ops::SpaceToDepth>(rows, "intarsia::ops::SpaceToDepth", kMovement,
                         {.name = "SpaceToDepth",
                          .since_version = 28,
                          .inputs = {{"input", "T"}},
                          .outputs = {{"output", "T"}},
                          .types = {{"T", kPlainTypes}},
                          .attributes = codec_of<BlockAttributes>()});
  add<ops::ReverseSequence>(rows, "intarsia::ops::ReverseSequence", kMovement,
                            {.name = "ReverseSequence",
                             .since_version = 28,
                             .inputs = {{"input", "T"}, {"sequence_lens", "I"}},
                             .outputs = {{"Y", "T"}},
                             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                             .attributes = codec_of<ReverseSequenceAttributes>()});
  add<ops::Trilu>(rows, "intarsia::ops::Trilu", kMovement,
                  {.name = "Trilu",
                   .since_version = 14,
                   .inputs = {{"input", "T"}, {"k", "I", kOptional}},
                   .outputs = {{"output", "T"}},
                   .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                   .attributes = codec_of<TriluAttributes>(),
                   .in_place = {0}});
}

void add_indexed(DefinitionRows& rows) {
  add<ops::Gather>(rows, "intarsia::ops::Gather", kGather,
                   {.name = "Gather",
                    .since_version = 13,
                    .inputs = {{"data", "T"}, {"indices", "Tind"}},
                    .outputs = {{"output", "T"}},
                    .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
                    .kernel_types = {"T", "Tind"},
                    .attributes = codec_of<AxisAttributes>()});
  add<ops::GatherElements>(rows, "intarsia::ops::GatherElements", kGather,
                           {.name = "GatherElements",
                            .since_version = 13,
                            .inputs = {{"data", "T"}, {"indices", "Tind"}},
                            .outputs = {{"output", "T"}},
                            .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
                            .kernel_types = {"T", "Tind"},
                            .attributes = codec_of<AxisAttributes>()});
  add<ops::GatherND>(rows, "intarsia::ops::GatherND", kGather,
                     {.name = "GatherND",
                      .since_version = 13,
                      .inputs = {{"data", "T"}, {"indices", "I"}},
                      .outputs = {{"output", "T"}},
                      .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                      .attributes = codec_of<GatherNDAttributes>()});
  add<ops::ScatterElements>(rows, "intarsia::ops::ScatterElements", kGather,
                            {.name = "ScatterElements",
                             .since_version = 18,
                             .inputs = {{"data", "T"}, {"indices", "Tind"}, {"updates", "T"}},
                             .outputs = {{"output", "T"}},
                             .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
                             .kernel_types = {"T", "Tind"},
                             .attributes = codec_of<ScatterElementsAttributes>(),
                             .in_place = {0}});
  add<ops::ScatterND>(rows, "intarsia::ops::ScatterND", kGather,
                      {.name = "ScatterND",
                       .since_version = 18,
                       .inputs = {{"data", "T"}, {"indices", "I"}, {"updates", "T"}},
                       .outputs = {{"output", "T"}},
                       .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                       .attributes = codec_of<ScatterNDAttributes>(),
                       .in_place = {0}});
  add<ops::OneHot>(rows, "intarsia::ops::OneHot", kSelection,
                   {.name = "OneHot",
                    .since_version = 28,
                    .inputs = {{"indices", "T1"}, {"depth", "T2"}, {"values", "T3"}},
                    .outputs = {{"output", "T3"}},
                    .types = {{"T1", kNumericTypes}, {"T2", kNumericTypes}, {"T3", kPlainTypes}},
                    .kernel_types = {"T3"},
                    .attributes = codec_of<OneHotAttributes>()});
}

void add_selecting(DefinitionRows& rows) {
  add<ops::NonZero>(rows, "intarsia::ops::NonZero", kSelection,
                    {.name = "NonZero",
                     .since_version = 13,
                     .inputs = {{"X", "T"}},
                     .outputs = {{"Y", "I"}},
                     .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                     .attributes = codec_of<NoAttributes>()});
  add<ops::TopK>(rows, "intarsia::ops::TopK", kSelection,
                 {.name = "TopK",
                  .since_version = 24,
                  .inputs = {{"X", "T"}, {"K", "I"}},
                  .outputs = {{"Values", "T"}, {"Indices", "I"}},
                  .types = {{"T", kNumericTypes}, {"I", kInt64Type}},
                  .attributes = codec_of<TopKAttributes>()});
  add<ops::Compress>(rows, "intarsia::ops::Compress", kSelection,
                     {.name = "Compress",
                      .since_version = 28,
                      .inputs = {{"input", "T"}, {"condition", "T1"}},
                      .outputs = {{"output", "T"}},
                      .types = {{"T", kPlainTypes}, {"T1", kBoolType}},
                      .attributes = codec_of<CompressAttributes>()});
  add<ops::Unique>(rows, "intarsia::ops::Unique", kSelection,
                   {.name = "Unique",
                    .since_version = 28,
                    .inputs = {{"X", "T"}},
                    .outputs = {{"Y", "T"},
                                {"indices", "I", kOptional},
                                {"inverse_indices", "I", kOptional},
                                {"counts", "I", kOptional}},
                    .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                    .attributes = codec_of<UniqueAttributes>()});
  add<ops::NonMaxSuppression>(rows, "intarsia::ops::NonMaxSuppression", kSelection,
                              {.name = "NonMaxSuppression",
                               .since_version = 11,
                               .inputs = {{"boxes", "F"},
                                          {"scores", "F"},
                                          {"max_output_boxes_per_class", "I", kOptional},
                                          {"iou_threshold", "F", kOptional},
                                          {"score_threshold", "F", kOptional}},
                               .outputs = {{"selected_indices", "I"}},
                               .types = {{"F", kFloat}, {"I", kInt64Type}},
                               .kernel_types = {},
                               .attributes = codec_of<NonMaxSuppressionAttributes>()});
}

}  // namespace

void add_movement_definitions(DefinitionRows& rows) {
  add_cutting(rows);
  add_permuting(rows);
  add_indexed(rows);
  add_selecting(rows);
  add<ops::Resize>(
      rows, "intarsia::ops::Resize", kResize,
      {.name = "Resize",
       .since_version = 19,
       .inputs = {{"X", "T1"},
                  {"roi", "T2", kOptional},
                  {"scales", "F", kOptional},
                  {"sizes", "I", kOptional}},
       .outputs = {{"Y", "T1"}},
       .types = {{"T1", kPlainTypes},
                 {"T2", types({DataType::kFloat, DataType::kDouble, DataType::kFloat16})},
                 {"F", kFloat},
                 {"I", kInt64Type}},
       .kernel_types = {"T1"},
       .attributes = codec_of<ResizeAttributes>()});
}

}  // namespace intarsia::definitions
