// SPDX-License-Identifier: Apache-2.0
//
// What the recurrent layers differ in: gates in W and R, activations of a direction, and `advance`,
// which computes one step. A Step (rnn_sequence.h) brings the gates as the input's part alone;
// `recur` adds the state's part to some of them. Formulas and order of gates: ONNX.
#pragma once

#include "core/operators/recurrent/rnn.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

struct RnnLayer {
  using Rule = ops::Rnn;
  static constexpr int gates = 1, functions = 1;
  static constexpr RnnActivation defaults[] = {RnnActivation::kTanh};
  static const RnnAttributes& common(const RnnAttributes& attributes) { return attributes; }

  template <class Step>
  static void advance(const RnnAttributes&, Step& s) {
    s.recur(0, 1, s.h, s.gates);
    s.activate(0, s.gates, s.hidden);
    for (int64_t i = 0; i < s.hidden; ++i) s.h[i] = s.gates[i];
  }
};

struct GruLayer {
  using Rule = ops::Gru;
  static constexpr int gates = 3, functions = 2;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh};
  static const RnnAttributes& common(const GruAttributes& attributes) { return attributes.rnn; }

  template <class Step>
  static void advance(const GruAttributes& attributes, Step& s) {
    const int64_t n = s.hidden;
    auto* const update = s.gates;  // z
    auto* const reset = s.gates + n;
    auto* const candidate = s.gates + 2 * n;
    s.recur(0, 2, s.h, s.gates);
    s.activate(0, s.gates, 2 * n);
    if (attributes.linear_before_reset != 0) {
      for (int64_t i = 0; i < n; ++i) s.extra[i] = 0;
      s.recur(2, 1, s.h, s.extra);
      for (int64_t i = 0; i < n; ++i) candidate[i] += reset[i] * s.extra[i];
    } else {
      for (int64_t i = 0; i < n; ++i) s.extra[i] = reset[i] * s.h[i];
      s.recur(2, 1, s.extra, candidate);
    }
    s.activate(1, candidate, n);
    for (int64_t i = 0; i < n; ++i) s.h[i] = (1 - update[i]) * candidate[i] + update[i] * s.h[i];
  }
};

struct LstmLayer {
  using Rule = ops::Lstm;
  static constexpr int gates = 4, functions = 3;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh,
                                               RnnActivation::kTanh};
  static const RnnAttributes& common(const LstmAttributes& attributes) { return attributes.rnn; }

  template <class Step>
  static void advance(const LstmAttributes& attributes, Step& s) {
    const int64_t n = s.hidden;
    auto* const input = s.gates;
    auto* const output = s.gates + n;
    auto* const forget = s.gates + 2 * n;
    auto* const candidate = s.gates + 3 * n;
    s.recur(0, 4, s.h, s.gates);
    s.add_peephole(0, input);
    s.add_peephole(2, forget);
    s.activate(0, input, n);
    s.activate(0, forget, n);
    s.activate(1, candidate, n);
    const bool coupled = attributes.input_forget != 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto kept = coupled ? 1 - input[i] : forget[i];
      s.c[i] = kept * s.c[i] + input[i] * candidate[i];
      s.extra[i] = s.c[i];
    }
    s.add_peephole(1, output);
    s.activate(0, output, n);
    // Clipping bounds what enters the gates, not the cell state.
    s.weights.activate(s.functions[2], s.extra, n);
    for (int64_t i = 0; i < n; ++i) s.h[i] = output[i] * s.extra[i];
  }
};

using RecurrentLayers = Types<RnnLayer, GruLayer, LstmLayer>;

}  // namespace intarsia::cpu
