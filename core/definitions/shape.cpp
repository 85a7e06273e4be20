// SPDX-License-Identifier: Apache-2.0
//
// Operators that change, read or make extents.
#include "core/operators/shape/expand.h"
#include "core/operators/shape/extents.h"
#include "core/operators/shape/fill.h"
#include "core/operators/shape/range.h"
#include "core/operators/shape/reshape.h"

#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/elementwise/elementwise.h"

namespace intarsia::definitions {
namespace {

// Operators that touch no element take the packed types too: what they copy is bytes.
constexpr TypeSet kViewTypes = kElementTypes;
constexpr TypeSet kFillTypes = kNumericTypes | kBoolType;
/// Those of ConstantOfShape.
constexpr TypeSet kFilledTypes =
    kElementTypes & ~(kStringType | types({DataType::kComplex64, DataType::kComplex128}));
constexpr TypeSet kRangeTypes =
    kFloatTypes | types({DataType::kInt16, DataType::kInt32, DataType::kInt64});

}  // namespace

void add_shape_ops_definitions(DefinitionRows& rows) {
  // Views: one kernel per operator serves every type.
  add<ops::SameShape>(rows, {.name = "Identity",
                             .since_version = 25,
                             .inputs = {same({"input", "V"})},
                             .outputs = {same({"output", "V"})},
                             .facts = {.element_wise = true,
                                       .exact = true,
                                       .selects = true,
                                       .copies = copies_always,
                                       .propagate = propagation::kCopy,
                                       .gradient = gradients::copy},
                             .types = {{"V", kViewTypes | kSequenceTypes}},
                             .kernel_types = {},
                             .attributes = codec_of<NoAttributes>(),
                             .view = true});
  add<ops::Reshape>(
      rows, {.name = "Reshape",
             .since_version = 25,
             .inputs = {same({"data", "T"}), apart({"shape", "I"}).deciding(Domain::kReshape)},
             .outputs = {ordered({"reshaped", "T"})},
             .facts = {.exact = true,
                       .selects = true,
                       .copies = copies_always,
                       .propagate = propagation::kCopy,
                       .gradient = gradients::view},
             .types = {{"T", kViewTypes}, {"I", kInt64Type}},
             .kernel_types = {},
             .attributes = codec_of<ReshapeAttributes>(),
             .view = true});
  add<ops::Squeeze>(
      rows, {.name = "Squeeze",
             .since_version = 25,
             .inputs = {same({"data", "T"}),
                        apart({"axes", "I", Parameter::kOptional}).deciding(Domain::kUnitAxes)},
             .outputs = {dropped({"squeezed", "T"})},
             .facts = {.axes = {.form = AxisForm::kSet, .input = 1, .absent = NoAxes::kUnit},
                       .exact = true,
                       .selects = true,
                       .copies = copies_always,
                       .propagate = propagation::kCopy,
                       .gradient = gradients::view},
             .types = {{"T", kViewTypes}, {"I", kInt64Type}},
             .kernel_types = {},
             .attributes = codec_of<NoAttributes>(),
             .view = true});
  add<ops::Unsqueeze>(
      rows, {.name = "Unsqueeze",
             .since_version = 25,
             .inputs = {dropped({"data", "T"}), apart({"axes", "I"}).deciding(Domain::kNewAxes)},
             .outputs = {same({"expanded", "T"})},
             .facts = {.axes = {.form = AxisForm::kSet, .input = 1},
                       .exact = true,
                       .selects = true,
                       .copies = copies_always,
                       .propagate = propagation::kCopy,
                       .gradient = gradients::view},
             .types = {{"T", kViewTypes}, {"I", kInt64Type}},
             .kernel_types = {},
             .attributes = codec_of<NoAttributes>(),
             .view = true});
  add<ops::Flatten>(rows, {.name = "Flatten",
                           .since_version = 25,
                           .inputs = {same({"input", "T"})},
                           .outputs = {ordered({"output", "T"})},
                           .facts = {.axes = {.form = AxisForm::kSuffix,
                                              .attribute = attribute<&FlattenAttributes::axis>()},
                                     .exact = true,
                                     .selects = true,
                                     .copies = copies_always,
                                     .propagate = propagation::kCopy,
                                     .gradient = gradients::view},
                           .types = {{"T", kViewTypes}},
                           .kernel_types = {},
                           .attributes = codec_of<FlattenAttributes>(),
                           .view = true});
  constexpr TypeSet kBitTypes = kElementTypes & ~kStringType;
  add<ops::BitCast>(rows, {.name = "BitCast",
                           .since_version = 26,
                           .inputs = {same({"input", "T1"})},
                           .outputs = {same({"output", "T2"})},
                           .facts = {.element_wise = true, .exact = true},
                           .types = {{"T1", kBitTypes}, {"T2", kBitTypes}},
                           .kernel_types = {},
                           .attributes = codec_of<BitCastAttributes>(),
                           .view = true});
  add<ops::Reinterpret>(rows, {.domain = kInternalDomain,
                               .name = "Reinterpret",
                               .inputs = {ordered({"input", "T1"})},
                               .outputs = {ordered({"output", "T2"})},
                               .facts = {.exact = true},
                               .types = {{"T1", kBitTypes}, {"T2", kBitTypes}},
                               .kernel_types = {},
                               .attributes = codec_of<BitCastAttributes>(),
                               .view = true});
  // Reading extents: no element is touched.
  add<ops::ShapeOf>(rows, {.name = "Shape",
                           .since_version = 25,
                           .inputs = {same({"data", "T"})},
                           .outputs = {ordered({"shape", "T1"})},
                           .facts = {.exact = true, .propagate = propagation::kShape},
                           .types = {{"T", kViewTypes}, {"T1", kInt64Type}},
                           .kernel_types = {},
                           .attributes = codec_of<ShapeAttributes>()});
  add<ops::Size>(rows, {.name = "Size",
                        .since_version = 25,
                        .inputs = {same({"data", "T"})},
                        .outputs = {apart({"size", "T1"})},
                        .facts = {.exact = true, .propagate = propagation::kSize},
                        .types = {{"T", kViewTypes}, {"T1", kInt64Type}},
                        .kernel_types = {},
                        .attributes = codec_of<NoAttributes>()});

  // Making elements.
  add<ops::ConstantOfShape>(rows, {.name = "ConstantOfShape",
                                   .since_version = 25,
                                   .inputs = {apart({"input", "T1"}).deciding(Domain::kExtents)},
                                   .outputs = {same({"output", "T2"})},
                                   .facts = {.axes = {.form = AxisForm::kPerAxis, .input = 0},
                                             .exact = true,
                                             .propagate = propagation::kFill},
                                   .types = {{"T1", kInt64Type}, {"T2", kFilledTypes}},
                                   .kernel_types = {"T2"},
                                   .attributes = codec_of<ConstantOfShapeAttributes>()});
  add<ops::Range>(rows, {.name = "Range",
                         .since_version = 27,
                         .inputs = {apart({"start", "T"}).deciding(Domain::kSmall),
                                    apart({"limit", "T"}).deciding(Domain::kSmall),
                                    apart({"delta", "T"}).deciding(Domain::kNonZero)},
                         .outputs = {apart({"output", "T"})},
                         .facts = {.exact = true, .propagate = propagation::kRange},
                         .types = {{"T", kRangeTypes}},
                         .attributes = codec_of<RangeAttributes>()});
  add<ops::EyeLike>(
      rows,
      {.name = "EyeLike",
       .since_version = 22,
       .inputs = {same({"input", "T1"})},
       .outputs = {same({"output", "T2"})},
       .facts = {.axes = {.form = AxisForm::kPosition}, .exact = true, .gradient = gradients::zero},
       .types = {{"T1", kFillTypes}, {"T2", kFillTypes}},
       .kernel_types = {"T2"},
       .attributes = codec_of<EyeLikeAttributes>()});
  add<ops::Expand>(
      rows, {.name = "Expand",
             .since_version = 13,
             .inputs = {broadcast({"input", "T"}), apart({"shape", "I"}).deciding(Domain::kExpand)},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPerAxis, .input = 1},
                       .exact = true,
                       .selects = true,
                       .copies = copies_always,
                       .propagate = propagation::kRepeat,
                       .gradient = gradients::copy},
             .types = {{"T", kAnyTypes}, {"I", kInt64Type}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::Tile>(
      rows, {.name = "Tile",
             .since_version = 13,
             .inputs = {same({"input", "T"}), apart({"repeats", "T1"}).deciding(Domain::kRepeats)},
             .outputs = {same({"output", "T"})},
             .facts = {.axes = {.form = AxisForm::kPerAxis, .input = 1},
                       .exact = true,
                       .selects = true,
                       .copies = copies_always,
                       .propagate = propagation::kRepeat,
                       .gradient = gradients::moved},
             .types = {{"T", kAnyTypes}, {"T1", kInt64Type}},
             .attributes = codec_of<NoAttributes>()});
}

}  // namespace intarsia::definitions
