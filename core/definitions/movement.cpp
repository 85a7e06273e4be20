// SPDX-License-Identifier: Apache-2.0
//
// Operators that rearrange, cut, join, select and resize tensors.
#include "core/operators/movement/movement.h"

#include <algorithm>

#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/indexing/gather.h"
#include "core/operators/indexing/selection.h"
#include "core/operators/movement/resize.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr auto kVariadic = Parameter::kVariadic;

constexpr TypeSet kPlainTypes =
    kNumericTypes | kBoolType | types({DataType::kComplex64, DataType::kComplex128});
constexpr TypeSet kFloat = types({DataType::kFloat});

/// The whole of every axis, unless a negative step turns one around.
bool copies_forwards(const std::byte*, std::span<const SymbolicInput> inputs) {
  if (inputs.size() < 5 || !inputs[4].present) return true;
  if (!inputs[4].values) return false;
  return std::all_of(inputs[4].values->begin(), inputs[4].values->end(),
                     [](const Dim& step) { return step.lower() > 0; });
}

void add_cutting(DefinitionRows& rows) {
  add<ops::Concat>(rows, {.name = "Concat",
                          .since_version = 13,
                          .inputs = {same({"inputs", "T", kVariadic})},
                          .outputs = {same({"concat_result", "T"})},
                          .facts = {.axes = {.form = AxisForm::kOne,
                                             .attribute = attribute<&ConcatAttributes::axis>()},
                                    .exact = true,
                                    .copies = copies_alone,
                                    .propagate = propagation::kConcat},
                          .types = {{"T", kPlainTypes}},
                          .attributes = codec_of<ConcatAttributes>()});
  add<ops::Split>(
      rows,
      {.name = "Split",
       .since_version = 18,
       .inputs = {same({"input", "T"}), apart({"split", "I", kOptional}).deciding(Domain::kParts)},
       .outputs = {same({"outputs", "T", kVariadic, 1, true})},
       .facts = {.axes = {.form = AxisForm::kOne, .attribute = attribute<&SplitAttributes::axis>()},
                 .exact = true,
                 .propagate = propagation::kSplit},
       .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
       .attributes = codec_of<SplitAttributes>()});
  add<ops::Slice>(
      rows, {.name = "Slice",
             .since_version = 13,
             .inputs = {same({"data", "T"}), apart({"starts", "Tind"}).deciding(Domain::kPosition),
                        apart({"ends", "Tind"}).deciding(Domain::kPosition),
                        apart({"axes", "Tind", kOptional}).deciding(Domain::kAxis),
                        apart({"steps", "Tind", kOptional}).deciding(Domain::kNonZero)},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kList, .input = 3, .absent = NoAxes::kLeading},
                       .exact = true,
                       .copies = copies_forwards,
                       .propagate = propagation::kSlice},
             .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::Pad>(rows,
                {.name = "Pad",
                 .since_version = 25,
                 .inputs = {same({"data", "T"}), apart({"pads", "I"}).deciding(Domain::kPads),
                            apart({"constant_value", "T", kOptional}),
                            apart({"axes", "Tind", kOptional}).deciding(Domain::kAxis)},
                 .outputs = {same({"output", "T"})},
                 .facts = {.axes = {.form = AxisForm::kList, .input = 3, .absent = NoAxes::kAll},
                           .exact = true},
                 .types = {{"T", kAnyTypes}, {"I", kInt64Type}, {"Tind", kIndexTypes}},
                 .attributes = codec_of<PadAttributes>()});
}

void add_permuting(DefinitionRows& rows) {
  add<ops::Transpose>(rows,
                      {.name = "Transpose",
                       .since_version = 25,
                       .inputs = {same({"data", "T"})},
                       .outputs = {same({"transposed", "T"})},
                       .facts = {.axes = {.form = AxisForm::kPermutation,
                                          .attribute = attribute<&TransposeAttributes::perm>(),
                                          .absent = NoAxes::kReversed},
                                 .exact = true,
                                 .propagate = propagation::kTranspose},
                       .types = {{"T", kAnyTypes}},
                       .attributes = codec_of<TransposeAttributes>()});
  add<ops::DepthToSpace>(rows, {.name = "DepthToSpace",
                                .since_version = 28,
                                .inputs = {same({"input", "T"})},
                                .outputs = {same({"output", "T"})},
                                .facts = {.axes = {.form = AxisForm::kImage}, .exact = true},
                                .types = {{"T", kPlainTypes}},
                                .attributes = codec_of<BlockAttributes>()});
  add<ops::SpaceToDepth>(rows, {.name = "SpaceToDepth",
                                .since_version = 28,
                                .inputs = {same({"input", "T"})},
                                .outputs = {same({"output", "T"})},
                                .facts = {.axes = {.form = AxisForm::kImage}, .exact = true},
                                .types = {{"T", kPlainTypes}},
                                .attributes = codec_of<BlockAttributes>()});
  add<ops::ReverseSequence>(
      rows, {.name = "ReverseSequence",
             .since_version = 28,
             .inputs = {same({"input", "T"}), apart({"sequence_lens", "I"}).of(Domain::kLength)},
             .outputs = {same({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition,
                                .attribute = attribute<&ReverseSequenceAttributes::time_axis>()},
                       .exact = true},
             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
             .attributes = codec_of<ReverseSequenceAttributes>()});
  add<ops::Trilu>(
      rows, {.name = "Trilu",
             .since_version = 14,
             .inputs = {same({"input", "T"}), apart({"k", "I", kOptional}).of(Domain::kSmall)},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .exact = true},
             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
             .attributes = codec_of<TriluAttributes>()});
}

void add_indexed(DefinitionRows& rows) {
  add<ops::Gather>(
      rows,
      {.name = "Gather",
       .since_version = 13,
       .inputs = {same({"data", "T"}),
                  with_role({"indices", "Tind"}, AxisRole::kReplacement).of(Domain::kIndex)},
       .outputs = {with_role({"output", "T"}, AxisRole::kReplaced)},
       .facts = {.axes = {.form = AxisForm::kOne, .attribute = attribute<&AxisAttributes::axis>()},
                 .exact = true,
                 .propagate = propagation::kGather},
       .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
       .kernel_types = {"T", "Tind"},
       .attributes = codec_of<AxisAttributes>()});
  add<ops::GatherElements>(
      rows,
      {.name = "GatherElements",
       .since_version = 13,
       .inputs = {same({"data", "T"}), same({"indices", "Tind"}).of(Domain::kIndex)},
       .outputs = {same({"output", "T"})},
       .facts = {.axes = {.form = AxisForm::kOne, .attribute = attribute<&AxisAttributes::axis>()},
                 .exact = true},
       .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
       .kernel_types = {"T", "Tind"},
       .attributes = codec_of<AxisAttributes>()});
  add<ops::GatherND>(
      rows, {.name = "GatherND",
             .since_version = 13,
             .inputs = {same({"data", "T"}), apart({"indices", "I"}).of(Domain::kIndexTuple)},
             .outputs = {ordered({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .exact = true},
             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
             .attributes = codec_of<GatherNDAttributes>()});
  add<ops::ScatterElements>(
      rows, {.name = "ScatterElements",
             .since_version = 18,
             .inputs = {same({"data", "T"}), same({"indices", "Tind"}).of(Domain::kIndex),
                        same({"updates", "T"})},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kOne,
                                .attribute = attribute<&ScatterElementsAttributes::axis>()},
                       .exact = true},
             .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
             .kernel_types = {"T", "Tind"},
             .attributes = codec_of<ScatterElementsAttributes>()});
  add<ops::ScatterND>(
      rows, {.name = "ScatterND",
             .since_version = 18,
             .inputs = {same({"data", "T"}), apart({"indices", "I"}).of(Domain::kIndexTuple),
                        apart({"updates", "T"})},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .exact = true},
             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
             .attributes = codec_of<ScatterNDAttributes>()});
  add<ops::OneHot>(
      rows,
      {.name = "OneHot",
       .since_version = 28,
       .inputs = {dropped({"indices", "T1"}).of(Domain::kBelow, 1),
                  apart({"depth", "T2"}).deciding(Domain::kPositive), apart({"values", "T3"})},
       .outputs = {same({"output", "T3"})},
       .facts = {.axes = {.form = AxisForm::kOne,
                          .attribute = attribute<&OneHotAttributes::axis>()},
                 .exact = true},
       .types = {{"T1", kNumericTypes}, {"T2", kNumericTypes}, {"T3", kPlainTypes}},
       .kernel_types = {"T3"},
       .attributes = codec_of<OneHotAttributes>()});
}

void add_selecting(DefinitionRows& rows) {
  add<ops::NonZero>(rows, {.name = "NonZero",
                           .since_version = 13,
                           .inputs = {same({"X", "T"})},
                           .outputs = {ordered({"Y", "I"})},
                           .facts = {.exact = true},
                           .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                           .attributes = codec_of<NoAttributes>()});
  add<ops::TopK>(
      rows,
      {.name = "TopK",
       .since_version = 24,
       .inputs = {same({"X", "T"}), apart({"K", "I"}).deciding(Domain::kLength)},
       .outputs = {same({"Values", "T"}), same({"Indices", "I"})},
       .facts = {.axes = {.form = AxisForm::kOne, .attribute = attribute<&TopKAttributes::axis>()},
                 .exact = true},
       .types = {{"T", kNumericTypes}, {"I", kInt64Type}},
       .attributes = codec_of<TopKAttributes>()});
  add<ops::Compress>(rows, {.name = "Compress",
                            .since_version = 28,
                            .inputs = {same({"input", "T"}), apart({"condition", "T1"})},
                            .outputs = {same({"output", "T"})},
                            .facts = {.axes = {.form = AxisForm::kOne,
                                               .attribute = attribute<&CompressAttributes::axis>(),
                                               .absent = NoAxes::kFlattened},
                                      .exact = true},
                            .types = {{"T", kPlainTypes}, {"T1", kBoolType}},
                            .attributes = codec_of<CompressAttributes>()});
  add<ops::Unique>(rows, {.name = "Unique",
                          .since_version = 28,
                          .inputs = {same({"X", "T"})},
                          .outputs = {ordered({"Y", "T"}), ordered({"indices", "I", kOptional}),
                                      ordered({"inverse_indices", "I", kOptional}),
                                      ordered({"counts", "I", kOptional})},
                          .facts = {.axes = {.form = AxisForm::kOne,
                                             .attribute = attribute<&UniqueAttributes::axis>(),
                                             .absent = NoAxes::kFlattened},
                                    .exact = true},
                          .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
                          .attributes = codec_of<UniqueAttributes>()});
  add<ops::NonMaxSuppression>(
      rows, {.name = "NonMaxSuppression",
             .since_version = 11,
             .inputs = {apart({"boxes", "F"}), apart({"scores", "F"}),
                        apart({"max_output_boxes_per_class", "I", kOptional})
                            .deciding(Domain::kNonNegative),
                        apart({"iou_threshold", "F", kOptional}).of(Domain::kFraction),
                        apart({"score_threshold", "F", kOptional}).of(Domain::kFraction)},
             .outputs = {apart({"selected_indices", "I"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .exact = true},
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
      rows, {.name = "Resize",
             .since_version = 19,
             .inputs = {same({"X", "T1"}), apart({"roi", "T2", kOptional}).of(Domain::kFraction),
                        apart({"scales", "F", kOptional}).deciding(Domain::kScales),
                        apart({"sizes", "I", kOptional}).deciding(Domain::kSizes)},
             .outputs = {same({"Y", "T1"})},
             .facts = {.axes = {.form = AxisForm::kList,
                                .attribute = attribute<&ResizeAttributes::axes>(),
                                .absent = NoAxes::kAll}},
             .types = {{"T1", kPlainTypes},
                       {"T2", types({DataType::kFloat, DataType::kDouble, DataType::kFloat16})},
                       {"F", kFloat},
                       {"I", kInt64Type}},
             .kernel_types = {"T1"},
             .attributes = codec_of<ResizeAttributes>()});
}

}  // namespace intarsia::definitions
