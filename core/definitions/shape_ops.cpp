// SPDX-License-Identifier: Apache-2.0
//
// Operators that change, read or make extents.
#include "core/operators/shape_ops.h"

#include "core/definitions/rows.h"
#include "core/operators/pointwise.h"

namespace intarsia::definitions {
namespace {

constexpr std::string_view kHeader = "core/operators/shape_ops.h";

// Operators that touch no element take the packed types too: what they copy is bytes.
constexpr TypeSet kViewTypes =
    kAnyTypes | types({DataType::kUint4, DataType::kInt4, DataType::kFloat4E2M1, DataType::kUint2,
                       DataType::kInt2});
constexpr TypeSet kDropoutTypes =
    kFloatTypes | types({DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2,
                         DataType::kFloat8E5M2FNUZ});
constexpr TypeSet kFillTypes = kNumericTypes | kBoolType;
constexpr TypeSet kRangeTypes =
    kFloatTypes | types({DataType::kInt16, DataType::kInt32, DataType::kInt64});

}  // namespace

void add_shape_ops_definitions(DefinitionRows& rows) {
  // Views: one kernel per operator serves every type.
  add<ops::SameShape>(rows, "intarsia::ops::SameShape", "core/operators/pointwise.h",
                      {.name = "Identity",
                       .since_version = 25,
                       .inputs = {{"input", "V"}},
                       .outputs = {{"output", "V"}},
                       .types = {{"V", kViewTypes}},
                       .kernel_types = {},
                       .attributes = codec_of<NoAttributes>(),
                       .in_place = {0},
                       .view = true});
  add<ops::Reshape>(rows, "intarsia::ops::Reshape", kHeader,
                    {.name = "Reshape",
                     .since_version = 25,
                     .inputs = {{"data", "T"}, {"shape", "I"}},
                     .outputs = {{"reshaped", "T"}},
                     .types = {{"T", kViewTypes}, {"I", kInt64Type}},
                     .kernel_types = {},
                     .attributes = codec_of<ReshapeAttributes>(),
                     .in_place = {0},
                     .view = true});
  add<ops::Squeeze>(rows, "intarsia::ops::Squeeze", kHeader,
                    {.name = "Squeeze",
                     .since_version = 25,
                     .inputs = {{"data", "T"}, {"axes", "I", Parameter::kOptional}},
                     .outputs = {{"squeezed", "T"}},
                     .types = {{"T", kViewTypes}, {"I", kInt64Type}},
                     .kernel_types = {},
                     .attributes = codec_of<NoAttributes>(),
                     .in_place = {0},
                     .view = true});
  add<ops::Unsqueeze>(rows, "intarsia::ops::Unsqueeze", kHeader,
                      {.name = "Unsqueeze",
                       .since_version = 25,
                       .inputs = {{"data", "T"}, {"axes", "I"}},
                       .outputs = {{"expanded", "T"}},
                       .types = {{"T", kViewTypes}, {"I", kInt64Type}},
                       .kernel_types = {},
                       .attributes = codec_of<NoAttributes>(),
                       .in_place = {0},
                       .view = true});
  add<ops::Flatten>(rows, "intarsia::ops::Flatten", kHeader,
                    {.name = "Flatten",
                     .since_version = 25,
                     .inputs = {{"input", "T"}},
                     .outputs = {{"output", "T"}},
                     .types = {{"T", kViewTypes}},
                     .kernel_types = {},
                     .attributes = codec_of<FlattenAttributes>(),
                     .in_place = {0},
                     .view = true});
  add<ops::Dropout>(rows, "intarsia::ops::Dropout", kHeader,
                    {.name = "Dropout",
                     .since_version = 22,
                     .inputs = {{"data", "T"},
                                {"ratio", "T1", Parameter::kOptional},
                                {"training_mode", "T2", Parameter::kOptional}},
                     .outputs = {{"output", "T"}, {"mask", "T2", Parameter::kOptional}},
                     .types = {{"T", kDropoutTypes}, {"T1", kDropoutTypes}, {"T2", kBoolType}},
                     .kernel_types = {},
                     .attributes = codec_of<DropoutAttributes>(),
                     .in_place = {0}});

  // Reading extents: no element is touched.
  add<ops::ShapeOf>(rows, "intarsia::ops::ShapeOf", kHeader,
                    {.name = "Shape",
                     .since_version = 25,
                     .inputs = {{"data", "T"}},
                     .outputs = {{"shape", "T1"}},
                     .types = {{"T", kViewTypes}, {"T1", kInt64Type}},
                     .kernel_types = {},
                     .attributes = codec_of<ShapeAttributes>()});
  add<ops::Size>(rows, "intarsia::ops::Size", kHeader,
                 {.name = "Size",
                  .since_version = 25,
                  .inputs = {{"data", "T"}},
                  .outputs = {{"size", "T1"}},
                  .types = {{"T", kViewTypes}, {"T1", kInt64Type}},
                  .kernel_types = {},
                  .attributes = codec_of<NoAttributes>()});

  // Making elements.
  add<ops::ConstantOfShape>(rows, "intarsia::ops::ConstantOfShape", kHeader,
                            {.name = "ConstantOfShape",
                             .since_version = 25,
                             .inputs = {{"input", "T1"}},
                             .outputs = {{"output", "T2"}},
                             .types = {{"T1", kInt64Type}, {"T2", kAnyTypes}},
                             .kernel_types = {"T2"},
                             .attributes = codec_of<ConstantOfShapeAttributes>()});
  add<ops::Range>(rows, "intarsia::ops::Range", kHeader,
                  {.name = "Range",
                   .since_version = 27,
                   .inputs = {{"start", "T"}, {"limit", "T"}, {"delta", "T"}},
                   .outputs = {{"output", "T"}},
                   .types = {{"T", kRangeTypes}},
                   .attributes = codec_of<RangeAttributes>()});
  add<ops::EyeLike>(rows, "intarsia::ops::EyeLike", kHeader,
                    {.name = "EyeLike",
                     .since_version = 22,
                     .inputs = {{"input", "T1"}},
                     .outputs = {{"output", "T2"}},
                     .types = {{"T1", kFillTypes}, {"T2", kFillTypes}},
                     .kernel_types = {"T2"},
                     .attributes = codec_of<EyeLikeAttributes>()});
  add<ops::Expand>(rows, "intarsia::ops::Expand", kHeader,
                   {.name = "Expand",
                    .since_version = 13,
                    .inputs = {{"input", "T"}, {"shape", "I"}},
                    .outputs = {{"output", "T"}},
                    .types = {{"T", kAnyTypes}, {"I", kInt64Type}},
                    .attributes = codec_of<NoAttributes>()});
  add<ops::Tile>(rows, "intarsia::ops::Tile", kHeader,
                 {.name = "Tile",
                  .since_version = 13,
                  .inputs = {{"input", "T"}, {"repeats", "T1"}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kAnyTypes}, {"T1", kInt64Type}},
                  .attributes = codec_of<NoAttributes>()});
}

}  // namespace intarsia::definitions
