// SPDX-License-Identifier: Apache-2.0
//
// What the recurrent layers differ in: gates in W and R, activations of a direction, and `advance`,
// which computes one step of some sequences. A Step (rnn_step.h) brings the gates as the input's
// part alone; `recur` adds the state's part to some of them. Formulas and order of gates: ONNX.
//
// Threads may have some of the hidden units each, s.units. A phase of `advance` writes those only,
// and reads others' of earlier phases and steps only; the new state goes to `next`, which is `h`
// where nobody else reads it.
#pragma once

#include <cstring>

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

/// y += a * b.
template <class V>
[[gnu::noinline]] void add_products(const V* a, const V* b, V* y, int64_t count) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] += a[i] * b[i];
}

/// next = (1 - update) * candidate + update * h, which may be next.
template <class V>
[[gnu::noinline]] void update_state(const V* update, const V* candidate, const V* h, V* next,
                                    int64_t count) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    next[i] = (1 - update[i]) * candidate[i] + update[i] * h[i];
  }
}

struct RnnLayer {
  using Rule = ops::Rnn;
  static constexpr int gates = 1, functions = 1;
  static constexpr RnnActivation defaults[] = {RnnActivation::kTanh};
  static const RnnAttributes& common(const RnnAttributes& attributes) { return attributes; }

  static int phases(const RnnAttributes&) { return 1; }

  template <class Step>
  static void advance(const RnnAttributes&, const Step& s, int) {
    s.recur(0, 1, s.states.h, s.gates);
    s.for_runs([&](int64_t at, int64_t count) {
      auto* const gate = s.gate(0) + at;
      s.activate(0, gate, count);
      std::memcpy(s.states.next + at, gate, static_cast<size_t>(count) * sizeof(*gate));
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
    const bool linear = attributes.linear_before_reset != 0;
    auto* const h = s.states.h;
    auto* const extra = s.states.extra;
    auto *const update = s.gate(0), *const reset = s.gate(1), *const candidate = s.gate(2);
    if (phase == 0) {
      s.recur(0, 2, h, s.gates);
      s.for_runs([&](int64_t at, int64_t count) {
        s.activate(0, update + at, count);
        s.activate(0, reset + at, count);
        if (linear) {
          std::memset(extra + at, 0, static_cast<size_t>(count) * sizeof(*extra));
        } else {
          multiply_units(reset + at, h + at, extra + at, count);
        }
      });
      if (!linear) return;
    }
    auto of_candidate = s.gates;
    of_candidate.first = linear ? extra : candidate;
    s.recur(2, 1, linear ? h : extra, of_candidate);
    s.for_runs([&](int64_t at, int64_t count) {
      if (linear) add_products(reset + at, extra + at, candidate + at, count);
      s.activate(1, candidate + at, count);
      update_state(update + at, candidate + at, h + at, s.states.next + at, count);
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
    const bool coupled = attributes.input_forget != 0;
    auto *const input = s.gate(0), *const output = s.gate(1), *const forget = s.gate(2),
                *const candidate = s.gate(3);
    auto* const extra = s.states.extra;
    s.recur(0, 4, s.states.h, s.gates);
    s.add_peephole(0, 0);
    s.add_peephole(2, 2);
    s.for_runs([&](int64_t at, int64_t count) {
      s.activate(0, input + at, count);
      s.activate(0, forget + at, count);
      s.activate(1, candidate + at, count);
      for (int64_t i = at; coupled && i < at + count; ++i) forget[i] = 1 - input[i];
      update_cell(forget + at, input + at, candidate + at, s.states.c + at, extra + at, count);
    });
    s.add_peephole(1, 1);
    s.for_runs([&](int64_t at, int64_t count) {
      s.activate(0, output + at, count);
      // Clipping bounds what enters the gates, not the cell state.
      s.weights.activate(s.functions[2], extra + at, count);
      multiply_units(output + at, extra + at, s.states.next + at, count);
    });
  }
};

using RecurrentLayers = Types<RnnLayer, GruLayer, LstmLayer>;

}  // namespace intarsia::cpu
