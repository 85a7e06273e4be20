// SPDX-License-Identifier: Apache-2.0
//
// Operators that rearrange, cut, join and resize tensors.
#include <algorithm>

#include "core/definitions/computed_types.h"
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/depth_to_space.h"
#include "core/operators/movement/grid_sample.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/resize.h"
#include "core/operators/movement/reverse_sequence.h"
#include "core/operators/movement/slice.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/movement/trilu.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr auto kVariadic = Parameter::kVariadic;

constexpr TypeSet kFloat = types({DataType::kFloat});

/// The whole of every axis, unless a negative step turns one around.
bool copies_forwards(const std::byte*, std::span<const SymbolicInput> inputs) {
  if (inputs.size() < 5 || !inputs[4].present) return true;
  if (!inputs[4].values) return false;
  return std::all_of(inputs[4].values->begin(), inputs[4].values->end(),
                     [](const Dim& step) { return step.lower() > 0; });
}

/// What is interpolated is computed in floating point; integers are cut to whole numbers again.
void grid_sample_types(std::span<DataType> types, const std::byte* attributes) {
  const auto& a = *reinterpret_cast<const GridSampleAttributes*>(attributes);
  const bool interpolates = a.mode != GridSampleAttributes::kNearest;
  if (interpolates && contains(kIntegerTypes | kBoolType, types[0])) types[0] = DataType::kDouble;
  if (types[1] == DataType::kBfloat16) types[1] = DataType::kFloat;
}

void add_cutting(DefinitionRows& rows) {
  add<ops::Concat>(rows, {.name = "Concat",
                          .since_version = 13,
                          .inputs = {same({"inputs", "T", kVariadic})},
                          .outputs = {same({"concat_result", "T"})},
                          .facts = {.axes = {.form = AxisForm::kOne,
                                             .attribute = attribute<&ConcatAttributes::axis>()},
                                    .exact = true,
                                    .selects = true,
                                    .copies = copies_alone,
                                    .propagate = propagation::kConcat,
                                    .gradient = gradients::concat},
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
                 .propagate = propagation::kSplit,
                 .gradient = gradients::split},
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
                       .selects = true,
                       .copies = copies_forwards,
                       .propagate = propagation::kSlice,
                       .gradient = gradients::moved},
             .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
             .attributes = codec_of<NoAttributes>()});
  // What a Scan collects backwards may be of more types.
  OperatorDefinition reversed = rows.back();
  reversed.domain = kInternalDomain;
  reversed.kernel_operator = reversed.name;
  reversed.types[0].allowed = kElementTypes;
  reversed.facts.computed = bytes_for_less;
  rows.push_back(std::move(reversed));
  add<ops::Pad>(rows,
                {.name = "Pad",
                 .since_version = 25,
                 .inputs = {same({"data", "T"}), apart({"pads", "I"}).deciding(Domain::kPads),
                            apart({"constant_value", "T", kOptional}),
                            apart({"axes", "Tind", kOptional}).deciding(Domain::kAxis)},
                 .outputs = {same({"output", "T"})},
                 .facts = {.axes = {.form = AxisForm::kList, .input = 3, .absent = NoAxes::kAll},
                           .exact = true,
                           .gradient = gradients::pad,
                           .computed = bytes_for_less},
                 .types = {{"T", kAnyTypes | kPackedIntegerTypes | types({DataType::kFloat4E2M1})},
                           {"I", kInt64Type},
                           {"Tind", kIndexTypes}},
                 .attributes = codec_of<PadAttributes>()});
}

template <class Op>
void add_blocks(DefinitionRows& rows) {
  add<Op>(rows, {.name = Op::name,
                 .since_version = 28,
                 .inputs = {same({"input", "T"})},
                 .outputs = {same({"output", "T"})},
                 .facts = {.axes = {.form = AxisForm::kImage,
                                    .channels_last = attribute<&BlockAttributes::channels_last>()},
                           .exact = true,
                           .selects = true,
                           .gradient = gradients::moved},
                 .types = {{"T", kPlainTypes}},
                 .attributes = codec_of<BlockAttributes>()});
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
                                 .selects = true,
                                 .propagate = propagation::kTranspose,
                                 .gradient = gradients::transpose},
                       .types = {{"T", kElementTypes}},
                       .attributes = codec_of<TransposeAttributes>()});
  add<ops::GridSample>(rows,
                       {.name = "GridSample",
                        .since_version = 22,
                        .inputs = {same({"X", "T1"}), apart({"grid", "T2"}).of(Domain::kUnit)},
                        .outputs = {apart({"Y", "T1"})},
                        .facts = {.axes = {.form = AxisForm::kPosition},
                                  .gradient = gradients::grid_sample,
                                  .computed = grid_sample_types},
                        .types = {{"T1", kPlainTypes}, {"T2", kFloatTypes}},
                        .kernel_types = {"T1", "T2"},
                        .attributes = codec_of<GridSampleAttributes>()});
  add_blocks<ops::DepthToSpace>(rows);
  add_blocks<ops::SpaceToDepth>(rows);
  add<ops::ReverseSequence>(
      rows, {.name = "ReverseSequence",
             .since_version = 28,
             .inputs = {same({"input", "T"}), apart({"sequence_lens", "I"}).of(Domain::kLength)},
             .outputs = {same({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition,
                                .attribute = attribute<&ReverseSequenceAttributes::time_axis>()},
                       .exact = true,
                       .gradient = gradients::moved},
             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
             .attributes = codec_of<ReverseSequenceAttributes>()});
  add<ops::Trilu>(
      rows, {.name = "Trilu",
             .since_version = 14,
             .inputs = {same({"input", "T"}), apart({"k", "I", kOptional}).of(Domain::kSmall)},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .gradient = gradients::triangle},
             .types = {{"T", kPlainTypes}, {"I", kInt64Type}},
             .attributes = codec_of<TriluAttributes>()});
}

bool interpolates(const std::byte* attributes) {
  const auto mode = reinterpret_cast<const ResizeAttributes*>(attributes)->mode;
  return mode != ResizeAttributes::kNearest;
}

}  // namespace

void add_movement_definitions(DefinitionRows& rows) {
  add_cutting(rows);
  add_permuting(rows);
  add<ops::Resize>(
      rows, {.name = "Resize",
             .since_version = 19,
             .inputs = {same({"X", "T1"}), apart({"roi", "T2", kOptional}).of(Domain::kFraction),
                        apart({"scales", "F", kOptional}).deciding(Domain::kScales),
                        apart({"sizes", "I", kOptional}).deciding(Domain::kSizes)},
             .outputs = {same({"Y", "T1"})},
             .facts = {.axes = {.form = AxisForm::kList,
                                .attribute = attribute<&ResizeAttributes::axes>(),
                                .absent = NoAxes::kAll},
                       .rounds_integers = interpolates,
                       .gradient = gradients::resize},
             .types = {{"T1", kPlainTypes},
                       {"T2", types({DataType::kFloat, DataType::kDouble, DataType::kFloat16})},
                       {"F", kFloat},
                       {"I", kInt64Type}},
             .kernel_types = {"T1"},
             .attributes = codec_of<ResizeAttributes>()});
}

}  // namespace intarsia::definitions
