// SPDX-License-Identifier: Apache-2.0
//
// Rows of the kernels for convolution, pooling, products, normalisation and recurrence.
#include "kernels_cpu/conv_packed.h"
#include "kernels_cpu/conv_reference.h"
#include "kernels_cpu/conv_transpose.h"
#include "kernels_cpu/lrn.h"
#include "kernels_cpu/matmul_packed.h"
#include "kernels_cpu/matmul_reference.h"
#include "kernels_cpu/normalization.h"
#include "kernels_cpu/normalization_axes.h"
#include "kernels_cpu/pool.h"
#include "kernels_cpu/pool_global.h"
#include "kernels_cpu/rnn.h"
#include "kernels_cpu/rows.h"

namespace intarsia::cpu {
namespace {

template <template <class> class K>
void add_float(KernelRows& rows, const std::string& name, std::string_view header) {
  add<K, float, double, Float16, BFloat16>(rows, name, header);
}

/// Element type and parameter type: the same, or float parameters for 16-bit elements.
template <template <class, class> class K>
void add_float_pairs(KernelRows& rows, const std::string& name, std::string_view header) {
  add_pairs<K, float, float>(rows, name, header);
  add_pairs<K, double, double>(rows, name, header);
  add_pairs<K, Float16, Float16, float>(rows, name, header);
  add_pairs<K, BFloat16, BFloat16, float>(rows, name, header);
}

/// Bounded<K> before K, which serves what is left.
template <class K>
void add_with_bounded(KernelRows& rows, const std::string& name, std::string_view header) {
  add_one<Bounded<K>>(rows, "Bounded<intarsia::cpu::" + name + ">", header);
  add_one<K>(rows, name, header);
}

template <int Cols, int Stride>
void add_depthwise(KernelRows& rows) {
  add_with_bounded<ConvDepthwise<DepthwiseWindow<Cols, Stride>>>(
      rows,
      "ConvDepthwise<intarsia::cpu::DepthwiseWindow<" + std::to_string(Cols) + ", " +
          std::to_string(Stride) + ">>",
      "kernels_cpu/conv_packed.h");
}

}  // namespace

void add_nn_rows(KernelRows& rows) {
  add_depthwise<3, 1>(rows);
  add_depthwise<3, 2>(rows);
  add_depthwise<5, 1>(rows);
  add_depthwise<5, 2>(rows);
  add_depthwise<7, 1>(rows);
  add_depthwise<0, 0>(rows);  // serves what is left
  add_with_bounded<ConvPacked>(rows, "ConvPacked", "kernels_cpu/conv_packed.h");
  add_with_bounded<GemmPacked>(rows, "GemmPacked", "kernels_cpu/matmul_packed.h");
  add_with_bounded<MatMulPacked>(rows, "MatMulPacked", "kernels_cpu/matmul_packed.h");
  add_one<MatMulComputed>(rows, "MatMulComputed", "kernels_cpu/matmul_packed.h");
  add_float<Conv>(rows, "Conv", "kernels_cpu/conv_reference.h");
  add_float<ConvTranspose>(rows, "ConvTranspose", "kernels_cpu/conv_transpose.h");

  add<MaxPool, float, double, Float16, BFloat16, int8_t, uint8_t>(rows, "MaxPool",
                                                                  "kernels_cpu/pool.h");
  add_float<AveragePool>(rows, "AveragePool", "kernels_cpu/pool.h");
  add_float<LpPool>(rows, "LpPool", "kernels_cpu/pool.h");
  add_float<GlobalAveragePool>(rows, "GlobalAveragePool", "kernels_cpu/pool_global.h");
  add_float<GlobalMaxPool>(rows, "GlobalMaxPool", "kernels_cpu/pool_global.h");
  add_float<GlobalLpPool>(rows, "GlobalLpPool", "kernels_cpu/pool_global.h");

  constexpr std::string_view kMatmul = "kernels_cpu/matmul_reference.h";
  add_float<MatMul>(rows, "MatMul", kMatmul);
  add<MatMul, int32_t, uint32_t, int64_t, uint64_t>(rows, "MatMul", kMatmul);
  add_float<Gemm>(rows, "Gemm", kMatmul);
  add<Gemm, int32_t, uint32_t, int64_t, uint64_t>(rows, "Gemm", kMatmul);

  constexpr std::string_view kNormalization = "kernels_cpu/normalization.h";
  add_float_pairs<BatchNormalization>(rows, "BatchNormalization", kNormalization);
  add_float<InstanceNormalization>(rows, "InstanceNormalization", kNormalization);
  add_float<GroupNormalization>(rows, "GroupNormalization", kNormalization);
  add_float<LayerNormalization>(rows, "LayerNormalization", kNormalization);
  add_float_pairs<RMSNormalization>(rows, "RMSNormalization", kNormalization);
  constexpr std::string_view kNormalizationAxes = "kernels_cpu/normalization_axes.h";
  add_float<LpNormalization>(rows, "LpNormalization", kNormalizationAxes);
  add_float<MeanVarianceNormalization>(rows, "MeanVarianceNormalization", kNormalizationAxes);
  add_float<LRN>(rows, "LRN", "kernels_cpu/lrn.h");

  add_one<RNNPacked>(rows, "RNNPacked", "kernels_cpu/rnn.h");
  add_one<GRUPacked>(rows, "GRUPacked", "kernels_cpu/rnn.h");
  add_one<LSTMPacked>(rows, "LSTMPacked", "kernels_cpu/rnn.h");
  add_float<RNN>(rows, "RNN", "kernels_cpu/rnn.h");
  add_float<GRU>(rows, "GRU", "kernels_cpu/rnn.h");
  add_float<LSTM>(rows, "LSTM", "kernels_cpu/rnn.h");
}

}  // namespace intarsia::cpu
