// SPDX-License-Identifier: Apache-2.0
//
// Definitions of convolution, pooling and matrix products. Inputs that ONNX does not know
// (residuals, MatMul's bias) come after its own; only the converter's fusions give them.
#include "core/definitions/nn.h"

#include "core/operators/conv.h"
#include "core/operators/matmul.h"
#include "core/operators/pool.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr TypeSet kProductTypes =
    kFloatTypes | types({DataType::kInt32, DataType::kUint32, DataType::kInt64, DataType::kUint64});

void add_convolutions(DefinitionRows& rows) {
  add<ops::Conv>(rows, "intarsia::ops::Conv", "core/operators/conv.h",
                 {.name = "Conv",
                  .inputs = {{"X", "T"}, {"W", "T"}, {"B", "T", kOptional}, {"Z", "T", kOptional}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kFloatTypes}},
                  .attributes = codec_of<ConvAttributes>(),
                  .in_place = {3}});
  add<ops::ConvTranspose>(rows, "intarsia::ops::ConvTranspose", "core/operators/conv.h",
                          {.name = "ConvTranspose",
                           .inputs = {{"X", "T"}, {"W", "T"}, {"B", "T", kOptional}},
                           .outputs = {{"Y", "T"}},
                           .types = {{"T", kFloatTypes}},
                           .attributes = codec_of<ConvTransposeAttributes>()});
}

void add_pools(DefinitionRows& rows) {
  constexpr std::string_view kHeader = "core/operators/pool.h";
  constexpr TypeSet kMaxPoolTypes = kFloatTypes | types({DataType::kInt8, DataType::kUint8});
  add<ops::MaxPool>(rows, "intarsia::ops::MaxPool", kHeader,
                    {.name = "MaxPool",
                     .inputs = {{"X", "T"}},
                     .outputs = {{"Y", "T"}, {"Indices", "I", kOptional}},
                     .types = {{"T", kMaxPoolTypes}, {"I", kInt64Type}},
                     .attributes = codec_of<MaxPoolAttributes>()});
  add<ops::AveragePool>(rows, "intarsia::ops::AveragePool", kHeader,
                        {.name = "AveragePool",
                         .inputs = {{"X", "T"}},
                         .outputs = {{"Y", "T"}},
                         .types = {{"T", kFloatTypes}},
                         .attributes = codec_of<AveragePoolAttributes>()});
  add<ops::LpPool>(rows, "intarsia::ops::LpPool", kHeader,
                   {.name = "LpPool",
                    .inputs = {{"X", "T"}},
                    .outputs = {{"Y", "T"}},
                    .types = {{"T", kFloatTypes}},
                    .attributes = codec_of<LpPoolAttributes>()});
  for (const std::string_view name : {"GlobalAveragePool", "GlobalMaxPool"}) {
    add<ops::GlobalPool>(rows, "intarsia::ops::GlobalPool", kHeader,
                         {.name = name,
                          .inputs = {{"X", "T"}},
                          .outputs = {{"Y", "T"}},
                          .types = {{"T", kFloatTypes}},
                          .attributes = codec_of<GlobalPoolAttributes>()});
  }
  add<ops::GlobalLpPool>(rows, "intarsia::ops::GlobalLpPool", kHeader,
                         {.name = "GlobalLpPool",
                          .inputs = {{"X", "T"}},
                          .outputs = {{"Y", "T"}},
                          .types = {{"T", kFloatTypes}},
                          .attributes = codec_of<GlobalLpPoolAttributes>()});
}

void add_products(DefinitionRows& rows) {
  add<ops::MatMul>(
      rows, "intarsia::ops::MatMul", "core/operators/matmul.h",
      {.name = "MatMul",
       .inputs = {{"A", "T"}, {"B", "T"}, {"bias", "T", kOptional}, {"Z", "T", kOptional}},
       .outputs = {{"Y", "T"}},
       .types = {{"T", kProductTypes}},
       .attributes = codec_of<MatMulAttributes>(),
       .in_place = {3}});
  add<ops::Gemm>(rows, "intarsia::ops::Gemm", "core/operators/matmul.h",
                 {.name = "Gemm",
                  .inputs = {{"A", "T"}, {"B", "T"}, {"C", "T", kOptional}, {"Z", "T", kOptional}},
                  .outputs = {{"Y", "T"}},
                  .types = {{"T", kProductTypes}},
                  .attributes = codec_of<GemmAttributes>(),
                  .in_place = {3}});
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
