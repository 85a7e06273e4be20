// SPDX-License-Identifier: Apache-2.0
//
// What the recurrent layers differ in: gates in W and R, activations of a direction, and `advance`,
// which computes one step of some sequences. A Step (rnn_sequence.h) brings the gates as the
// input's part alone; `recur` adds the state's part to some of them, for all sequences;
// `for_sequences` takes them one by one. Formulas and order of gates: ONNX.
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
  static void advance(const RnnAttributes&, const Step& s) {
    s.recur(0, 1, s.all.h, s.all.gates, s.pitch);
    s.for_sequences([&](const auto& one) {
      s.activate(0, one.gates, s.hidden);
      for (int64_t i = 0; i < s.hidden; ++i) one.h[i] = one.gates[i];
    });
  }
};

struct GruLayer {
  using Rule = ops::Gru;
  static constexpr int gates = 3, functions = 2;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh};
  static const RnnAttributes& common(const GruAttributes& attributes) { return attributes.rnn; }

  template <class Step>
  static void advance(const GruAttributes& attributes, const Step& s) {
    const int64_t n = s.hidden;
    const bool linear = attributes.linear_before_reset != 0;
    // Gates: update, reset, candidate.
    s.recur(0, 2, s.all.h, s.all.gates, s.pitch);
    s.for_sequences([&](const auto& one) {
      s.activate(0, one.gates, 2 * n);
      auto* const reset = one.gates + n;
      for (int64_t i = 0; i < n; ++i) one.extra[i] = linear ? 0 : reset[i] * one.h[i];
    });
    if (linear) {
      s.recur(2, 1, s.all.h, s.all.extra, n);
    } else {
      s.recur(2, 1, s.all.extra, s.all.gates + 2 * n, s.pitch);
    }
    s.for_sequences([&](const auto& one) {
      auto* const update = one.gates;
      auto* const reset = one.gates + n;
      auto* const candidate = one.gates + 2 * n;
      for (int64_t i = 0; linear && i < n; ++i) candidate[i] += reset[i] * one.extra[i];
      s.activate(1, candidate, n);
      for (int64_t i = 0; i < n; ++i) {
        one.h[i] = (1 - update[i]) * candidate[i] + update[i] * one.h[i];
      }
    });
  }
};

struct LstmLayer {
  using Rule = ops::Lstm;
  static constexpr int gates = 4, functions = 3;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh,
                                               RnnActivation::kTanh};
  static const RnnAttributes& common(const LstmAttributes& attributes) { return attributes.rnn; }

  template <class Step>
  static void advance(const LstmAttributes& attributes, const Step& s) {
    const int64_t n = s.hidden;
    const bool coupled = attributes.input_forget != 0;
    s.recur(0, 4, s.all.h, s.all.gates, s.pitch);
    s.for_sequences([&](const auto& one) {
      auto* const input = one.gates;
      auto* const output = one.gates + n;
      auto* const forget = one.gates + 2 * n;
      auto* const candidate = one.gates + 3 * n;
      s.add_peephole(0, one.c, input);
      s.add_peephole(2, one.c, forget);
      s.activate(0, input, n);
      s.activate(0, forget, n);
      s.activate(1, candidate, n);
      for (int64_t i = 0; i < n; ++i) {
        const auto kept = coupled ? 1 - input[i] : forget[i];
        one.c[i] = kept * one.c[i] + input[i] * candidate[i];
        one.extra[i] = one.c[i];
      }
      s.add_peephole(1, one.c, output);
      s.activate(0, output, n);
      // Clipping bounds what enters the gates, not the cell state.
      s.weights.activate(s.functions[2], one.extra, n);
      for (int64_t i = 0; i < n; ++i) one.h[i] = output[i] * one.extra[i];
    });
  }
};

using RecurrentLayers = Types<RnnLayer, GruLayer, LstmLayer>;

}  // namespace intarsia::cpu
