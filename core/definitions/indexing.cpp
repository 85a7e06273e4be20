// SPDX-License-Identifier: Apache-2.0
//
// Operators that read and write at indices, and that select elements by their value.
#include "core/definitions/computed_types.h"
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/indexing/gather.h"
#include "core/operators/indexing/non_max_suppression.h"
#include "core/operators/indexing/one_hot.h"
#include "core/operators/indexing/scatter.h"
#include "core/operators/indexing/selection.h"

namespace intarsia::definitions {
namespace {

/// Reductions of bools are those of 0 and 1: a sum is their or, a product their and.
template <class A>
void bools_as_numbers(std::span<DataType> types, const std::byte* attributes) {
  const bool reduces = reinterpret_cast<const A*>(attributes)->reduction != 0;
  if (reduces && types[0] == DataType::kBool) types[0] = DataType::kInt32;
}

constexpr auto kOptional = Parameter::kOptional;
constexpr TypeSet kFloat = types({DataType::kFloat});

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
                 .selects = true,
                 .propagate = propagation::kGather,
                 .gradient = gradients::gather},
       .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
       .kernel_types = {"T", "Tind"},
       .attributes = codec_of<AxisAttributes>()});
  // Slices of what a Scan goes through, which may be of more types.
  OperatorDefinition slices = rows.back();
  slices.domain = kInternalDomain;
  slices.kernel_operator = slices.name;
  slices.types[0].allowed = kAnyTypes;
  rows.push_back(std::move(slices));
  add<ops::GatherElements>(
      rows,
      {.name = "GatherElements",
       .since_version = 13,
       .inputs = {same({"data", "T"}), same({"indices", "Tind"}).of(Domain::kIndex)},
       .outputs = {same({"output", "T"})},
       .facts = {.axes = {.form = AxisForm::kOne, .attribute = attribute<&AxisAttributes::axis>()},
                 .exact = true,
                 .gradient = gradients::moved},
       .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
       .kernel_types = {"T", "Tind"},
       .attributes = codec_of<AxisAttributes>()});
  add<ops::GatherND>(
      rows, {.name = "GatherND",
             .since_version = 13,
             .inputs = {same({"data", "T"}), apart({"indices", "I"}).of(Domain::kIndexTuple)},
             .outputs = {ordered({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .gradient = gradients::moved},
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
                       .exact = true,
                       .gradient = gradients::scatter,
                       .computed = bools_as_numbers<ScatterElementsAttributes>},
             .types = {{"T", kPlainTypes}, {"Tind", kIndexTypes}},
             .kernel_types = {"T", "Tind"},
             .attributes = codec_of<ScatterElementsAttributes>()});
  add<ops::ScatterND>(
      rows, {.name = "ScatterND",
             .since_version = 18,
             .inputs = {same({"data", "T"}), apart({"indices", "I"}).of(Domain::kIndexTuple),
                        apart({"updates", "T"})},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .gradient = gradients::scatter_tuples,
                       .computed = bools_as_numbers<ScatterNDAttributes>},
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
                 .exact = true,
                 .gradient = gradients::one_hot,
                 // What decides extents is read as a number of one of the other types.
                 .computed = wide_for<kUnsignedIntegerTypes, DataType::kInt64, 1>},
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
                 .exact = true,
                 .gradient = gradients::top},
       .types = {{"T", kNumericTypes}, {"I", kInt64Type}},
       .attributes = codec_of<TopKAttributes>()});
  add<ops::Compress>(rows, {.name = "Compress",
                            .since_version = 28,
                            .inputs = {same({"input", "T"}), apart({"condition", "T1"})},
                            .outputs = {same({"output", "T"})},
                            .facts = {.axes = {.form = AxisForm::kOne,
                                               .attribute = attribute<&CompressAttributes::axis>(),
                                               .absent = NoAxes::kFlattened},
                                      .exact = true,
                                      .gradient = gradients::moved},
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

void add_indexing_definitions(DefinitionRows& rows) {
  add_indexed(rows);
  add_selecting(rows);
}

}  // namespace intarsia::definitions
