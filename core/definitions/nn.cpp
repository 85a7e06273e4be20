// SPDX-License-Identifier: Apache-2.0
//
// Definitions of convolution, pooling and matrix products. Inputs that ONNX does not know
// (residuals, MatMul's bias) come after its own, and belong to operators of the converter's own
// domain that only its fusions make; the same kernels serve both.
#include "core/definitions/nn.h"

#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/nn/conv.h"
#include "core/operators/nn/pool.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr TypeSet kProductTypes =
    kFloatTypes | types({DataType::kInt32, DataType::kUint32, DataType::kInt64, DataType::kUint64});

/// Adds an operator twice: as ONNX has it, and with the inputs of its epilogue as one of the
/// converter's own. `definition` is the latter.
template <class Rule>
void add_with_epilogue(DefinitionRows& rows, OperatorDefinition definition) {
  const Epilogue& epilogue = definition.facts.epilogue;
  OperatorDefinition onnx = definition;
  const int last = epilogue.bias >= 0 ? epilogue.bias : epilogue.residual;
  onnx.inputs.resize(static_cast<size_t>(last));
  add<Rule>(rows, std::move(onnx));
  definition.domain = kInternalDomain;
  definition.kernel_operator = definition.name;
  add<Rule>(rows, std::move(definition));
}

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
  for (const std::string_view name : {"GlobalAveragePool", "GlobalMaxPool"}) {
    add<ops::GlobalPool>(
        rows,
        {.name = name,
         .inputs = {same({"X", "T"})},
         .outputs = {same({"Y", "T"})},
         .facts = {.axes = {.form = AxisForm::kImage,
                            .channels_last = attribute<&GlobalPoolAttributes::channels_last>()}},
         .types = {{"T", kFloatTypes}},
         .attributes = codec_of<GlobalPoolAttributes>()});
  }
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

void add_products(DefinitionRows& rows) {
  add_with_epilogue<ops::MatMul>(
      rows, {.name = "MatMul",
             .inputs = {apart({"A", "T"}), apart({"B", "T"}), apart({"bias", "T", kOptional}),
                        apart({"Z", "T", kOptional})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .epilogue = epilogue_of<MatMulAttributes>("MatMul", 3, 2)},
             .types = {{"T", kProductTypes}},
             .attributes = codec_of<MatMulAttributes>()});
  add_with_epilogue<ops::Gemm>(
      rows, {.name = "Gemm",
             .inputs = {apart({"A", "T"}), apart({"B", "T"}), apart({"C", "T", kOptional}),
                        apart({"Z", "T", kOptional})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition},
                       .exact = true,
                       .epilogue = epilogue_of<GemmAttributes>("Gemm", 3)},
             .types = {{"T", kProductTypes}},
             .attributes = codec_of<GemmAttributes>()});
}

}  // namespace

void add_nn_definitions(DefinitionRows& rows) {
  add_convolutions(rows);
  add_pools(rows);
  add_products(rows);
  add_normalization_definitions(rows);
  add_rnn_definitions(rows);
}

}  // namespace intarsia::definitions
