// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers (ONNX RNN, GRU, LSTM): all directions, activations, peepholes, clipping,
// sequence lengths and both batch layouts. Every sequence (direction and batch element) is computed
// on its own; sequences are shared out over the threads. Steps beyond a sequence's length give
// zeros in Y; Y_h and Y_c hold the last valid step.
//
// `Recurrent` is the reference: weights are read as rows in ONNX's order, in dot products with
// several partial sums; arithmetic is in the element type (16-bit types in float).
// `RecurrentPacked` (rnn_packed.cpp) has constant float weights in panels, each gate's on its own
// (gemm/pack.h), and sigmoid and tanh from math/vector_math.h.
#pragma once

#include "core/operators/recurrent/rnn.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

/// What the layers differ in: gates in W and R, activations of a direction, and `advance`, which
/// computes one step (rnn_cells.h).
struct RnnLayer {
  using Rule = ops::Rnn;
  static constexpr int gates = 1, functions = 1;
  static constexpr RnnActivation defaults[] = {RnnActivation::kTanh};
  static const RnnAttributes& common(const RnnAttributes& attributes) { return attributes; }
  template <class Step>
  static void advance(const RnnAttributes& attributes, Step& step);
};
struct GruLayer {
  using Rule = ops::Gru;
  static constexpr int gates = 3, functions = 2;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh};
  static const RnnAttributes& common(const GruAttributes& attributes) { return attributes.rnn; }
  template <class Step>
  static void advance(const GruAttributes& attributes, Step& step);
};
struct LstmLayer {
  using Rule = ops::Lstm;
  static constexpr int gates = 4, functions = 3;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh,
                                               RnnActivation::kTanh};
  static const RnnAttributes& common(const LstmAttributes& attributes) { return attributes.rnn; }
  template <class Step>
  static void advance(const LstmAttributes& attributes, Step& step);
};

template <class Layer, class T>
struct Recurrent {
  static constexpr KernelId id{Layer::Rule::name, "", {kernel_type_of<T>}};
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};
template <class T>
using RNN = Recurrent<RnnLayer, T>;
template <class T>
using GRU = Recurrent<GruLayer, T>;
template <class T>
using LSTM = Recurrent<LstmLayer, T>;

template <class Layer>
struct RecurrentPacked {
  static constexpr KernelId id{Layer::Rule::name, "packed", {DataType::kFloat}};
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input);
  static void pack(const KernelContext& context, int input, void* packed);
  static int64_t workspace(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};
using RNNPacked = RecurrentPacked<RnnLayer>;
using GRUPacked = RecurrentPacked<GruLayer>;
using LSTMPacked = RecurrentPacked<LstmLayer>;

}  // namespace intarsia::cpu
