// SPDX-License-Identifier: Apache-2.0
//
// Definitions of matrix products, and of Inverse of ONNX Runtime's domain com.microsoft, which
// PyTorch's exporter writes; every version of that from 1 on is the same form.
#include "core/definitions/epilogue.h"
#include "core/definitions/gradient.h"
#include "core/operators/linear_algebra/inverse.h"
#include "core/operators/linear_algebra/matmul.h"

namespace intarsia::definitions {

void add_linear_algebra_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  constexpr TypeSet kProductTypes = kFloatTypes | types({DataType::kInt32, DataType::kUint32,
                                                         DataType::kInt64, DataType::kUint64});
  add_with_epilogue<ops::MatMul>(
      rows, {.name = "MatMul",
             .inputs = {apart({"A", "T"}), apart({"B", "T"}), apart({"bias", "T", kOptional}),
                        apart({"Z", "T", kOptional})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .epilogue = epilogue_of<MatMulAttributes>("MatMul", 3, 2),
                       .gradient = gradients::matmul},
             .types = {{"T", kProductTypes}},
             .attributes = codec_of<MatMulAttributes>()});
  add<ops::ScaledMatMul>(
      rows, {.domain = kInternalDomain,
             .name = "ScaledMatMul",
             .inputs = {apart({"A", "T"}), apart({"B", "T"}), apart({"bias", "T", kOptional}),
                        apart({"Z", "T", kOptional})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .epilogue = epilogue_of<ScaledMatMulAttributes>("ScaledMatMul", 3, 2)},
             .types = {{"T", kFloatTypes}},
             .attributes = codec_of<ScaledMatMulAttributes>()});
  add<ops::MatMulInteger>(
      rows,
      {.name = "MatMulInteger",
       .since_version = 10,
       .inputs = {apart({"A", "T1"}), apart({"B", "T2"}), apart({"a_zero_point", "T1", kOptional}),
                  apart({"b_zero_point", "T2", kOptional})},
       .outputs = {apart({"Y", "T3"})},
       .facts = {.axes = {.form = AxisForm::kPosition}, .exact = true},
       .types = {{"T1", kByteTypes}, {"T2", kByteTypes}, {"T3", types({DataType::kInt32})}},
       .kernel_types = {"T1", "T2"},
       .attributes = codec_of<NoAttributes>()});
  add_with_epilogue<ops::Gemm>(
      rows, {.name = "Gemm",
             .inputs = {apart({"A", "T"}), apart({"B", "T"}), apart({"C", "T", kOptional}),
                        apart({"Z", "T", kOptional})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .epilogue = epilogue_of<GemmAttributes>("Gemm", 3),
                       .gradient = gradients::gemm},
             .types = {{"T", kProductTypes}},
             .attributes = codec_of<GemmAttributes>()});
  add<ops::Inverse>(
      rows, {.domain = kContribDomain,
             .name = "Inverse",
             .inputs = {same({"X", "T"}).of(Domain::kInvertible)},
             .outputs = {same({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .gradient = gradients::inverse},
             .types = {{"T", types({DataType::kFloat16, DataType::kFloat, DataType::kDouble})}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::Det>(
      rows, {.name = "Det",
             .since_version = 22,
             .inputs = {same({"X", "T"})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition}, .gradient = gradients::determinant},
             .types = {{"T", kFloatTypes}},
             .attributes = codec_of<NoAttributes>()});
}

}  // namespace intarsia::definitions
