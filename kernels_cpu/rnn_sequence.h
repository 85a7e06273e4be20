// SPDX-License-Identifier: Apache-2.0
//
// What RNN, GRU and LSTM share: the walk over directions, batch elements and time steps, scratch
// memory, and the matrix-vector product. A cell computes one step of one sequence.
#pragma once

#include "core/operand_check.h"
#include "kernels_cpu/index_check.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/rnn_activation.h"

namespace intarsia::cpu {

/// Sum of row[i] * x[i]; partial sums keep the adders busy and let compilers use vectors.
template <class T, class V>
V dot(const T* row, const V* x, int64_t count) {
  constexpr int kParts = 16;
  V parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] += Element<T>::load(row[i + j]) * x[i + j];
  }
  for (int width = kParts / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) parts[j] += parts[j + width];
  }
  for (; i < count; ++i) parts[0] += Element<T>::load(row[i]) * x[i];
  return parts[0];
}

/// y[r] += row r of a matrix times x.
template <class T, class V>
void add_product(const T* matrix, int64_t rows, int64_t columns, const V* x, V* y) {
  for (int64_t r = 0; r < rows; ++r) y[r] += dot(matrix + r * columns, x, columns);
}

/// y[i] = the sum of two bias vectors, or 0 without bias.
template <class T, class V>
void start_with_bias(const T* first, const T* second, int64_t count, V* y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = first != nullptr ? Element<T>::load(first[i]) : V{0};
    if (second != nullptr) y[i] += Element<T>::load(second[i]);
  }
}

/// Extents and places of one node's operands.
template <class T>
struct RnnNode {
  using V = typename Element<T>::Value;
  const RnnAttributes& attributes;
  int gates;
  int directions;
  int64_t time, batch, features, hidden;

  RnnNode(const KernelContext& context, const RnnAttributes& a, int gate_count)
      : attributes(a), gates(gate_count), directions(a.directions()) {
    const int32_t* x = context.input(0).extents;
    time = x[a.layout == 0 ? 0 : 1];
    batch = x[a.layout == 0 ? 1 : 0];
    features = x[2];
    hidden = context.input(2).extents[2];
  }

  /// Scratch of one thread, in elements: the step's input, hidden and cell state, the gates, and
  /// one more vector for the cell; whole cache lines.
  int64_t scratch() const { return (features + hidden * (gates + 3) + 15) / 16 * 16; }
  int64_t workspace(const KernelContext& context) const {
    return scratch() * static_cast<int64_t>(sizeof(V)) * context.threads();
  }

  int64_t x_row(int64_t t, int64_t b) const {
    return (attributes.layout == 0 ? t * batch + b : b * time + t) * features;
  }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const {
    return (attributes.layout == 0 ? (t * directions + d) * batch + b
                                   : (b * time + t) * directions + d) *
           hidden;
  }
  int64_t state_row(int64_t d, int64_t b) const {
    return (attributes.layout == 0 ? d * batch + b : b * directions + d) * hidden;
  }
};

/// One direction's parameters and one thread's scratch.
template <class T>
struct RnnStep {
  using V = typename Element<T>::Value;
  int64_t features, hidden;
  const T* w;       // gates * hidden rows of `features`
  const T* r;       // gates * hidden rows of `hidden`
  const T* w_bias;  // gates * hidden, or null
  const T* r_bias;
  const T* peepholes;  // 3 * hidden, or null
  const RnnFunction* functions;
  float clip;
  V* x;
  V* h;
  V* c;
  V* gates;
  V* extra;
};

template <class T>
void load_state(const TensorView& view, int64_t row, int64_t count,
                typename Element<T>::Value* state) {
  const T* values = view.as<const T>();
  for (int64_t i = 0; i < count; ++i) {
    state[i] = values != nullptr ? Element<T>::load(values[row + i]) : 0;
  }
}
template <class T>
void store_state(const TensorView& view, int64_t row, int64_t count,
                 const typename Element<T>::Value* state) {
  T* values = view.as<T>();
  for (int64_t i = 0; values != nullptr && i < count; ++i) {
    values[row + i] = Element<T>::store(state[i]);
  }
}

/// Runs every sequence; `cell(step)` replaces step.h (and step.c) by the next state from step.x.
template <class T, class Cell>
Status run_sequences(const KernelContext& context, const RnnNode<T>& node,
                     const RnnActivation* defaults, int functions, const Cell& cell) {
  using V = typename Element<T>::Value;
  const auto* lengths = context.input(4).as<const int32_t>();
  for (int output = 0; output < context.output_count(); ++output) {
    if (Status s = check_apart(context, 4, output); !s) return s;
  }
  for (int64_t b = 0; lengths != nullptr && b < node.batch; ++b) {
    if (lengths[b] < 0 || lengths[b] > node.time) {
      return context.fail(Code::kIndexOutOfRange, "sequence_lens", node.time, lengths[b], 4);
    }
  }
  RnnFunction resolved[6];
  resolve_rnn_functions(node.attributes, functions, defaults, resolved);
  const int64_t rows = node.gates * node.hidden;
  const T* x = context.input(0).as<const T>();
  const T* bias = context.input(3).as<const T>();
  const T* peepholes = context.input(7).as<const T>();
  T* y = context.output(0).as<T>();

  const auto run_one = [&](int64_t d, int64_t b, V* scratch) {
    RnnStep<T> step;
    step.features = node.features;
    step.hidden = node.hidden;
    step.w = context.input(1).as<const T>() + d * rows * node.features;
    step.r = context.input(2).as<const T>() + d * rows * node.hidden;
    step.w_bias = bias != nullptr ? bias + d * 2 * rows : nullptr;
    step.r_bias = bias != nullptr ? step.w_bias + rows : nullptr;
    step.peepholes = peepholes != nullptr ? peepholes + d * 3 * node.hidden : nullptr;
    step.functions = resolved + d * functions;
    step.clip = node.attributes.clip;
    step.gates = scratch;
    step.h = step.gates + rows;
    step.c = step.h + node.hidden;
    step.extra = step.c + node.hidden;
    step.x = step.extra + node.hidden;

    const int64_t state = node.state_row(d, b);
    load_state<T>(context.input(5), state, node.hidden, step.h);
    load_state<T>(context.input(6), state, node.hidden, step.c);
    const bool reverse =
        d == 1 || node.attributes.direction == static_cast<int32_t>(RnnDirection::kReverse);
    const int64_t length = lengths != nullptr ? lengths[b] : node.time;
    for (int64_t s = 0; s < length; ++s) {
      const int64_t t = reverse ? length - 1 - s : s;
      const T* features = x + node.x_row(t, b);
      for (int64_t i = 0; i < node.features; ++i) step.x[i] = Element<T>::load(features[i]);
      cell(step);
      store_state<T>(context.output(0), node.y_row(t, d, b), node.hidden, step.h);
    }
    for (int64_t t = length; y != nullptr && t < node.time; ++t) {
      T* row = y + node.y_row(t, d, b);
      for (int64_t i = 0; i < node.hidden; ++i) row[i] = Element<T>::store(0);
    }
    store_state<T>(context.output(1), state, node.hidden, step.h);
    store_state<T>(context.output(2), state, node.hidden, step.c);
  };

  auto* scratch = reinterpret_cast<V*>(context.workspace().data());
  context.parallel_for(node.directions * node.batch, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t unit = begin; unit < end; ++unit) {
      run_one(unit / node.batch, unit % node.batch, scratch + thread * node.scratch());
    }
  });
  return {};
}

}  // namespace intarsia::cpu
