// SPDX-License-Identifier: Apache-2.0
//
// What all recurrent kernels (ONNX RNN, GRU, LSTM) share: all directions, activations, peepholes,
// clipping, sequence lengths and both batch layouts, and scratch memory. Every sequence (direction
// and batch element) is computed on its own; sequences are shared out over the threads. Steps
// beyond a sequence's length give zeros in Y; Y_h and Y_c hold the last valid step.
//
// How weights are stored and multiplied is a class W, one object for a direction:
//
//     Element, Value         type of the operands, type of the arithmetic
//     kSteps                 the most steps that `project` computes at once
//     W(context, node, direction)
//     project(x, pitch, steps, gates, scratch)     gates = W x + its bias, for rows of x pitch
//     apart recur(first, count, h, y)                    y += R h + its bias, for some of the gates
//     activate(function, x, n)
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/recurrent/rnn_activation.h"
#include "kernels_cpu/recurrent/rnn_cells.h"

namespace intarsia::cpu {

/// Extents and places of one node's operands.
struct RnnNode {
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

  int64_t rows() const { return gates * hidden; }
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

/// Steps that are projected at once.
template <class W>
int64_t rnn_steps(const RnnNode& node) {
  return node.time < W::kSteps ? node.time : W::kSteps;
}

/// Scratch of one thread in elements: the gates of some steps, hidden and cell state, one more
/// vector for the cell, and one of the input for `project`; whole cache lines.
template <class W>
int64_t rnn_scratch(const RnnNode& node) {
  return (node.rows() * rnn_steps<W>(node) + 3 * node.hidden + node.features + 15) / 16 * 16;
}

/// A step of a sequence, for Layer::advance: replaces h (and c) by the next state.
template <class W>
struct RnnStep {
  using V = typename W::Value;
  const W& weights;
  int64_t hidden;
  const typename W::Element* peepholes;  // 3 * hidden, or null
  const RnnFunction* functions;
  V clip;
  V* h;
  V* c;
  V* extra;
  V* gates = nullptr;

  void recur(int first, int count, const V* state, V* y) const {
    weights.recur(first, count, state, y);
  }
  /// After clipping to [-clip, clip] if clip > 0.
  void activate(int function, V* x, int64_t count) const {
    for (int64_t i = 0; clip > 0 && i < count; ++i) {
      x[i] = x[i] > clip ? clip : x[i] < -clip ? -clip : x[i];
    }
    weights.activate(functions[function], x, count);
  }
  void add_peephole(int which, V* gate) const {
    for (int64_t i = 0; peepholes != nullptr && i < hidden; ++i) {
      gate[i] += Element<typename W::Element>::load(peepholes[which * hidden + i]) * c[i];
    }
  }
};

template <class T, class V>
void load_state(const TensorView& view, int64_t row, int64_t count, V* state) {
  const T* values = view.as<const T>();
  for (int64_t i = 0; i < count; ++i) {
    state[i] = values != nullptr ? Element<T>::load(values[row + i]) : 0;
  }
}
template <class T, class V>
void store_state(const TensorView& view, int64_t row, int64_t count, const V* state) {
  T* values = view.as<T>();
  for (int64_t i = 0; values != nullptr && i < count; ++i) {
    values[row + i] = Element<T>::store(state[i]);
  }
}

template <class Layer, class T>
Status check_rnn(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  constexpr KernelType lengths = DataType::kInt32;
  return Layer::gates == 4
             ? check_operands<typename Layer::Rule>(context,
                                                    {.inputs = {t, t, t, t, lengths, t, t, t},
                                                     .required_inputs = 3,
                                                     .outputs = {t, t, t},
                                                     .required_outputs = 0})
             : check_operands<typename Layer::Rule>(context, {.inputs = {t, t, t, t, lengths, t},
                                                              .required_inputs = 3,
                                                              .outputs = {t, t},
                                                              .required_outputs = 0});
}

template <class Layer>
RnnNode node_of(const KernelContext& context) {
  using A = typename Layer::Rule::Attributes;
  return RnnNode(context, Layer::common(context.attributes<A>()), Layer::gates);
}

template <class Layer, class W>
int64_t rnn_workspace(const KernelContext& context) {
  // Extents are 32 bits and steps few: only the product with the threads may be too much.
  const CheckedInt elements = rnn_scratch<W>(node_of<Layer>(context));
  return (elements * sizeof(typename W::Value) * context.threads()).value();
}

/// Computes sequence b of direction d.
template <class Layer, class W>
void run_sequence(const KernelContext& context, const RnnNode& node, const RnnFunction* functions,
                  int64_t d, int64_t b, typename W::Value* scratch) {
  using T = typename W::Element;
  using V = typename W::Value;
  const auto* lengths = context.input(4).as<const int32_t>();
  const auto& attributes = context.attributes<typename Layer::Rule::Attributes>();
  const W weights(context, node, d);
  const T* x = context.input(0).as<const T>();
  const T* peepholes = context.input(7).as<const T>();
  const int64_t most_steps = rnn_steps<W>(node);
  V* const h = scratch + node.rows() * most_steps;
  V* const input = h + 3 * node.hidden;
  RnnStep<W> step{weights,
                  node.hidden,
                  peepholes != nullptr ? peepholes + d * 3 * node.hidden : nullptr,
                  functions + d * Layer::functions,
                  node.attributes.clip,
                  h,
                  h + node.hidden,
                  h + 2 * node.hidden};
  const int64_t state = node.state_row(d, b);
  load_state<T>(context.input(5), state, node.hidden, step.h);
  load_state<T>(context.input(6), state, node.hidden, step.c);
  const bool reverse =
      d == 1 || node.attributes.direction == static_cast<int32_t>(RnnDirection::kReverse);
  const int64_t length = lengths != nullptr ? lengths[b] : node.time;
  const int64_t pitch = (node.x_row(1, b) - node.x_row(0, b)) * (reverse ? -1 : 1);
  for (int64_t s = 0; s < length; ++s) {
    const int64_t t = reverse ? length - 1 - s : s;
    const int64_t within = s % most_steps;
    if (within == 0) {
      const int64_t steps = length - s < most_steps ? length - s : most_steps;
      weights.project(x + node.x_row(t, b), pitch, steps, scratch, input);
    }
    step.gates = scratch + within * node.rows();
    Layer::advance(attributes, step);
    store_state<T>(context.output(0), node.y_row(t, d, b), node.hidden, step.h);
  }
  T* y = context.output(0).as<T>();
  for (int64_t t = length; y != nullptr && t < node.time; ++t) {
    T* row = y + node.y_row(t, d, b);
    for (int64_t i = 0; i < node.hidden; ++i) row[i] = Element<T>::store(0);
  }
  store_state<T>(context.output(1), state, node.hidden, step.h);
  store_state<T>(context.output(2), state, node.hidden, step.c);
}

/// Runs every sequence.
template <class Layer, class W>
Status run_sequences(const KernelContext& context) {
  bool wanted = false;
  for (int i = 0; i < context.output_count(); ++i) wanted |= context.output(i).count() > 0;
  if (!wanted) return {};  // no batch, or no time and no final state
  const RnnNode node = node_of<Layer>(context);
  const auto* lengths = context.input(4).as<const int32_t>();
  for (int64_t b = 0; lengths != nullptr && b < node.batch; ++b) {
    if (lengths[b] < 0 || lengths[b] > node.time) {
      return context.fail(Code::kIndexOutOfRange, "sequence_lens", node.time, lengths[b], 4);
    }
  }
  RnnFunction functions[6];
  resolve_rnn_functions(node.attributes, Layer::functions, Layer::defaults, functions);
  auto* scratch = reinterpret_cast<typename W::Value*>(context.workspace().data());
  context.parallel_for(node.directions * node.batch, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t unit = begin; unit < end; ++unit) {
      run_sequence<Layer, W>(context, node, functions, unit / node.batch, unit % node.batch,
                             scratch + thread * rnn_scratch<W>(node));
    }
  });
  return {};
}

}  // namespace intarsia::cpu
