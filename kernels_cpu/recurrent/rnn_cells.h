// SPDX-License-Identifier: Apache-2.0
//
// What the recurrent layers differ in: gates in W and R, activations of a direction, and `advance`,
// which computes one step of some sequences. A Step (rnn_sequence.h) brings the gates as the
// input's part alone; `recur` adds the state's part to some of them, for all sequences;
// `for_sequences` takes them one by one. Formulas and order of gates: ONNX.
//
// Threads may have some of the hidden units each, s.units. A phase of `advance` writes those only,
// and reads others' of earlier phases and steps only; the new state goes to `next`, which is `h`
// where nobody else reads it.
#pragma once

#include "core/operators/recurrent/rnn.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// c = forget * c + input * candidate, and the same in `copy`.
template <class V>
[[gnu::noinline]] void update_cell(const V* forget, const V* input, const V* candidate, V* c,
                                   V* copy, int64_t count) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) copy[i] = c[i] = forget[i] * c[i] + input[i] * candidate[i];
}

/// y = a * b, which may be y.
template <class V>
[[gnu::noinline]] void multiply_units(const V* a, const V* b, V* y, int64_t count) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = a[i] * b[i];
}

struct RnnLayer {
  using Rule = ops::Rnn;
  static constexpr int gates = 1, functions = 1;
  static constexpr RnnActivation defaults[] = {RnnActivation::kTanh};
  static const RnnAttributes& common(const RnnAttributes& attributes) { return attributes; }

  static int phases(const RnnAttributes&) { return 1; }

  template <class Step>
  static void advance(const RnnAttributes&, const Step& s, int) {
    s.recur(0, 1, s.all.h, s.all.gates, s.pitch);
    s.for_sequences([&](const auto& one) {
      s.activate(0, one.gates);
      for (int64_t i = s.units.begin; i < s.units.end; ++i) one.next[i] = one.gates[i];
    });
  }
};

struct GruLayer {
  using Rule = ops::Gru;
  static constexpr int gates = 3, functions = 2;
  static constexpr RnnActivation defaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh};
  static const RnnAttributes& common(const GruAttributes& attributes) { return attributes.rnn; }

  /// The candidate's product has the reset state of all units, or is like the other gates'.
  static int phases(const GruAttributes& attributes) {
    return attributes.linear_before_reset != 0 ? 1 : 2;
  }

  template <class Step>
  static void advance(const GruAttributes& attributes, const Step& s, int phase) {
    const int64_t n = s.hidden;
    const bool linear = attributes.linear_before_reset != 0;
    const int64_t begin = s.units.begin, end = s.units.end;
    // Gates: update, reset, candidate.
    if (phase == 0) {
      s.recur(0, 2, s.all.h, s.all.gates, s.pitch);
      s.for_sequences([&](const auto& one) {
        s.activate(0, one.gates);
        auto* const reset = one.gates + n;
        s.activate(0, reset);
        for (int64_t i = begin; i < end; ++i) one.extra[i] = linear ? 0 : reset[i] * one.h[i];
      });
      if (!linear) return;
    }
    if (linear) {
      s.recur(2, 1, s.all.h, s.all.extra, n);
    } else {
      s.recur(2, 1, s.all.extra, s.all.gates + 2 * n, s.pitch);
    }
    s.for_sequences([&](const auto& one) {
      auto* const update = one.gates;
      auto* const reset = one.gates + n;
      auto* const candidate = one.gates + 2 * n;
      for (int64_t i = begin; linear && i < end; ++i) candidate[i] += reset[i] * one.extra[i];
      s.activate(1, candidate);
      for (int64_t i = begin; i < end; ++i) {
        one.next[i] = (1 - update[i]) * candidate[i] + update[i] * one.h[i];
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

  static int phases(const LstmAttributes&) { return 1; }

  template <class Step>
  static void advance(const LstmAttributes& attributes, const Step& s, int) {
    const int64_t n = s.hidden;
    const bool coupled = attributes.input_forget != 0;
    const int64_t begin = s.units.begin, end = s.units.end;
    s.recur(0, 4, s.all.h, s.all.gates, s.pitch);
    s.for_sequences([&](const auto& one) {
      auto* const input = one.gates;
      auto* const output = one.gates + n;
      auto* const forget = one.gates + 2 * n;
      auto* const candidate = one.gates + 3 * n;
      s.add_peephole(0, one.c, input);
      s.add_peephole(2, one.c, forget);
      s.activate(0, input);
      s.activate(0, forget);
      s.activate(1, candidate);
      for (int64_t i = begin; coupled && i < end; ++i) forget[i] = 1 - input[i];
      update_cell(forget + begin, input + begin, candidate + begin, one.c + begin,
                  one.extra + begin, end - begin);
      s.add_peephole(1, one.c, output);
      s.activate(0, output);
      // Clipping bounds what enters the gates, not the cell state.
      s.weights.activate(s.functions[2], one.extra + begin, end - begin);
      multiply_units(output + begin, one.extra + begin, one.next + begin, end - begin);
    });
  }
};

using RecurrentLayers = Types<RnnLayer, GruLayer, LstmLayer>;

}  // namespace intarsia::cpu
