// SPDX-License-Identifier: Apache-2.0
//
// What all recurrent kernels (ONNX RNN, GRU, LSTM) share: all directions, activations, peepholes,
// clipping, sequence lengths and both batch layouts, and scratch memory. Sequences (a batch element
// in a direction) are computed in groups, step by step, so that a weight is read once for all of a
// group; groups are shared out over the threads, or, if there is but one, the hidden units of each
// step are, or its sequences. A sequence's results depend on none of this.
// Steps beyond a sequence's length give zeros in Y; Y_h and Y_c hold the last valid step.
//
// How weights are stored and multiplied is a class W, one object for a direction:
//
//     Element, Value     type of the operands, type of the arithmetic
//     kRows              rows that products are fast with: the most steps projected at once, and
//     the
//                        most sequences of a group, but for small states; 1: there are no groups
//     Summary            what a step needs to know of the states of all sequences before it; then a
//                        direction's sequences are one group, however many. NoSummary: nothing
//     kUnits             threads may have multiples of so many hidden units; 0 if none
//     kShared            products by R from which they gain more in a step than they wait for each
//                        other
//     W(context, node, direction)
//     own(node, rows)    Values that a thread needs besides, for so many rows: units.own
//     project(x, pitch, rows, gates, units)
//                        gates = W x + its bias, for rows of x pitch apart
//     recur(step, first, count, h, y)
//                        y += R h + its bias, for some of the gates, of all sequences
//     activate(function, x, n)
//     summarize(x, n, summary)
//                        if there is a Summary: what it says of n more elements of states
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/recurrent/rnn_cells.h"
#include "kernels_cpu/recurrent/rnn_step.h"

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

/// Scratch in elements of a thread whose groups have so many sequences, which is enough for smaller
/// extents, too: what W needs; the gates of some steps; hidden and cell state, one more vector for
/// the cell, and one of the input for several sequences; whole cache lines. No more than before:
/// plans that exist have no more.
template <class W>
struct RnnScratch {
  int64_t gates, states, input, elements;

  RnnScratch(const RnnNode& node, int64_t sequences) {
    const int64_t steps = sequences * node.time, some = steps < W::kRows ? steps : W::kRows;
    const bool all = kTogether<W> || sequences > W::kRows;
    const int64_t rows = all && sequences > some ? sequences : some;
    gates = W::own(node, rows);
    states = gates + rows * node.rows();
    input = states + sequences * 3 * node.hidden;
    elements = (input + (W::kRows > 1 ? sequences * node.features : 0) + 15) / 16 * 16;
  }
};

/// Hidden units of all sequences of a group, at most or, of larger states, those of W::kRows ones.
inline constexpr int64_t kRnnUnits = 2048;

/// The most sequences of a group. Where states are small, a step of a few would be calls and little
/// more.
template <class W>
int64_t rnn_most_sequences(const RnnNode& node) {
  const int64_t tiles = W::kRows > 1 && node.hidden > 0 ? kRnnUnits / (W::kRows * node.hidden) : 1;
  return W::kRows * (tiles > 1 ? tiles : 1);
}
/// The most hidden units of all its sequences, whatever smaller extents there are.
template <class W>
CheckedInt rnn_most_states(const RnnNode& node) {
  const CheckedInt most = dim_max(kRnnUnits, CheckedInt(W::kRows) * node.hidden);
  return dim_min(most, CheckedInt(node.batch) * node.hidden);
}

/// Sequences of a group: as few groups as threads need, and as rows and the scratch of a thread
/// permit.
template <class W>
int64_t rnn_group(const RnnNode& node, int threads, int64_t scratch) {
  const auto parts = [](int64_t all, int64_t most) { return (all + most - 1) / most; };
  if (node.batch <= 1) return 1;
  if (kTogether<W>) return node.batch;
  const int64_t wanted = parts(threads, node.directions);
  const int64_t groups = parts(node.batch, rnn_most_sequences<W>(node));
  int64_t group = parts(node.batch, wanted > groups ? wanted : groups);
  while (group > 1 && RnnScratch<W>(node, group).elements > scratch) --group;
  return group;
}

/// Steps that are projected at once: several where a group is a single sequence.
template <class W>
int64_t rnn_steps(const RnnNode& node, int64_t group) {
  const int64_t most = group > 1 ? 1 : W::kRows;
  return node.time < most ? node.time : most;
}

template <class T, class V>
[[gnu::noinline]] void load_state(const TensorView& view, int64_t row, int64_t count, V* state) {
  const T* values = view.as<const T>();
  for (int64_t i = 0; i < count; ++i) {
    state[i] = values != nullptr ? Element<T>::load(values[row + i]) : 0;
  }
}
template <class T, class V>
[[gnu::noinline]] void store_state(const TensorView& view, int64_t row, int64_t count,
                                   const V* state) {
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

/// Bytes of scratch for groups of so many sequences.
template <class Layer, class W>
int64_t rnn_bytes(const KernelContext& context, int64_t sequences) {
  // Extents are 32 bits and steps few: only the product with the threads may be too much.
  const CheckedInt elements = RnnScratch<W>(node_of<Layer>(context), sequences).elements;
  return (elements * sizeof(typename W::Value) * context.threads()).value();
}
/// That of the largest group.
template <class Layer, class W>
int64_t rnn_workspace(const KernelContext& context) {
  const RnnNode node = node_of<Layer>(context);
  const int64_t batch = node.batch < 1 ? 1 : node.batch, most = rnn_most_sequences<W>(node);
  return rnn_bytes<Layer, W>(context, kTogether<W> || batch < most ? batch : most);
}
/// The least that will do.
template <class Layer, class W>
int64_t rnn_least_workspace(const KernelContext& context) {
  return kTogether<W> ? rnn_workspace<Layer, W>(context) : rnn_bytes<Layer, W>(context, 1);
}

/// Computes the sequences [first, first + sequences) of direction d, of a group, on `thread`.
/// `shared`: it is the only one, and all threads take part. "Cold" is what is done once for
/// all steps: it is compiled for size.
template <class Layer, class W>
[[gnu::cold]] void run_group(const KernelContext& context, const RnnNode& node,
                             const RnnFunction* functions, int64_t d, int64_t first,
                             int64_t sequences, int64_t most_steps, bool shared,
                             const PerThread<typename W::Value>& memory, int thread) {
  using T = typename W::Element;
  using V = typename W::Value;
  const auto& attributes = context.attributes<typename Layer::Rule::Attributes>();
  const W weights(context, node, d);
  const T* x = context.input(0).as<const T>();
  const T* peepholes = context.input(7).as<const T>();
  const auto* lengths = context.input(4).as<const int32_t>();
  const RnnScratch<W> parts(node, sequences);
  V* const scratch = memory[thread];
  const int64_t states = sequences * node.hidden;
  // Of a single sequence the gates of a step lie together, of several those of a gate.
  const RnnGates<V> gates{scratch + parts.gates, sequences > 1 ? node.hidden : node.rows(), states};
  V* const h = scratch + parts.states;
  const int phases = Layer::phases(attributes);
  RnnStep<W> step{weights,
                  node.hidden,
                  peepholes != nullptr ? peepholes + d * 3 * node.hidden : nullptr,
                  functions + d * Layer::functions,
                  node.attributes.clip,
                  first,
                  sequences,
                  node.time,
                  lengths != nullptr ? lengths + first : nullptr,
                  {0, node.hidden, scratch},
                  {h, h, h + states, h + 2 * states},
                  gates};
  /// The final states of a sequence, as far as `part` has computed them. Not inlined, as `take`:
  /// there are two calls.
  const auto finish = [&](const RnnStep<W>& part, const V* last, int64_t i)
      __attribute__((noinline)) {
    const int64_t begin = part.units.begin, end = part.units.end;
    const int64_t state = node.state_row(d, part.first + i) + begin,
                  place = i * node.hidden + begin;
    store_state<T>(context.output(1), state, end - begin, last + place);
    store_state<T>(context.output(2), state, end - begin, part.states.c + place);
  };
  int64_t longest = 0;
  [[maybe_unused]] RnnTold<W> told;
  [[maybe_unused]] typename W::Summary initial{};
  for (int64_t i = 0; i < sequences; ++i) {
    const int64_t state = node.state_row(d, first + i);
    load_state<T>(context.input(5), state, node.hidden, h + i * node.hidden);
    load_state<T>(context.input(6), state, node.hidden, step.states.c + i * node.hidden);
    if constexpr (kTogether<W>) weights.summarize(h + i * node.hidden, node.hidden, initial);
    if (step.ended(i)) finish(step, h, i);
    longest = step.length(i) > longest ? step.length(i) : longest;
  }
  if constexpr (kTogether<W>) told.tell(0, 0, 1, initial);
  const bool reverse =
      d == 1 || node.attributes.direction == static_cast<int32_t>(RnnDirection::kReverse);
  const auto time_of = [&](int64_t length, int64_t s) { return reverse ? length - 1 - s : s; };
  const auto project = [&](const RnnStep<W>& part) {
    const int64_t s = part.at, t = time_of(part.length(0), s);
    if (sequences == 1) {
      if (s % most_steps != 0) return;
      const int64_t pitch = (node.x_row(1, first) - node.x_row(0, first)) * (reverse ? -1 : 1);
      const int64_t steps = longest - s < most_steps ? longest - s : most_steps;
      weights.project(x + node.x_row(t, first), pitch, steps, part.gates, part.units);
      return;
    }
    const T* rows = x + node.x_row(t, part.first);
    int64_t pitch = node.x_row(0, 1) - node.x_row(0, 0);
    if constexpr (W::kRows > 1) {
      if (lengths != nullptr) {
        static_assert(std::is_same_v<T, V>);
        V* const input = part.units.own + parts.input;
        for (int64_t i = 0; i < part.sequences; ++i) {
          // Of one that has ended any row does.
          const int64_t own = part.ended(i) ? 0 : time_of(part.length(i), s);
          std::memcpy(input + i * node.features, x + node.x_row(own, part.first + i),
                      static_cast<size_t>(node.features) * sizeof(V));
        }
        rows = input;
        pitch = node.features;
      }
    }
    weights.project(rows, pitch, part.sequences, part.gates, part.units);
  };
  const auto compute = [&](const RnnStep<W>& part, int phase) {
    const int64_t begin = part.units.begin, end = part.units.end;
    if (phase == 0) project(part);
    Layer::advance(attributes, part, phase);
    if (phase + 1 < phases) return;
    // Several sequences at once, where their rows of Y are neighbours.
    const bool dense = lengths == nullptr && end - begin == node.hidden &&
                       node.y_row(0, d, 1) - node.y_row(0, d, 0) == node.hidden;
    const int64_t run = dense ? part.sequences : 1;
    for (int64_t i = 0; i < part.sequences; i += run) {
      if (part.ended(i)) continue;
      const int64_t row = node.y_row(time_of(part.length(i), part.at), d, part.first + i) + begin;
      store_state<T>(context.output(0), row, run * (end - begin),
                     part.states.next + i * node.hidden + begin);
    }
    for (int64_t i = 0; i < part.sequences; ++i) {
      if (part.at + 1 == part.length(i)) finish(part, part.states.next, i);
    }
  };
  constexpr int64_t kUnits = W::kUnits > 0 ? W::kUnits : 1;
  const int64_t units = (node.hidden + kUnits - 1) / kUnits;
  // If there is a Summary, threads need not know more of each other's sequences.
  const bool by_sequences = kTogether<W> && sequences >= context.threads();
  const auto take = [&](int64_t at, int part, int of_parts) __attribute__((noinline)) {
    RnnStep<W> own = step;
    own.at = at / phases;
    own.gates.first += own.at % most_steps * node.rows();
    own.units.own = memory[thread + part];
    if (phases == 1) {
      // Who is done before others must not touch the state that they still read.
      if (own.at % 2 != 0) std::swap(own.states.h, own.states.extra);
      own.states.next = own.states.extra;
    }
    if (by_sequences) {
      own.narrow(sequences * part / of_parts, sequences * (part + 1) / of_parts);
    } else {
      // What the others have written is asked for at once: a product would come to it line by line.
      for (int64_t i = 0; of_parts > 1 && i < states; i += 64 / sizeof(V)) {
        __builtin_prefetch(own.states.h + i);
      }
      own.units.begin = units * part / of_parts * kUnits;
      const int64_t end = units * (part + 1) / of_parts * kUnits;
      if (end < node.hidden) own.units.end = end;
    }
    if constexpr (kTogether<W>) own.summary = told.of_step(own.at);
    if (own.units.begin < own.units.end) compute(own, static_cast<int>(at % phases));
    if constexpr (kTogether<W>) {
      typename W::Summary summary{};
      for (int64_t i = 0; i < own.sequences; ++i) {
        if (own.ended(i)) continue;
        weights.summarize(own.states.next + i * node.hidden + own.units.begin,
                          own.units.end - own.units.begin, summary);
      }
      told.tell(own.at + 1, part, of_parts, summary);
    }
  };
  if (shared) {
    const int64_t most = by_sequences ? sequences : units, told_by = RnnTold<W>::kMostParts;
    context.parallel_steps(longest * phases, kTogether<W> && most > told_by ? told_by : most, take);
  } else {
    for (int64_t at = 0; at < longest * phases; ++at) take(at, 0, 1);
  }
  T* y = context.output(0).as<T>();
  for (int64_t i = 0; i < sequences; ++i) {
    for (int64_t t = step.length(i); y != nullptr && t < node.time; ++t) {
      std::memset(static_cast<void*>(y + node.y_row(t, d, first + i)), 0,
                  static_cast<size_t>(node.hidden) * sizeof(T));  // 0 in all types
    }
  }
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
  const PerThread<typename W::Value> memory(context.workspace(), context.threads());
  const int64_t group = rnn_group<W>(node, context.threads(), memory.elements());
  const int64_t groups = (node.batch + group - 1) / group;
  if (W::kUnits > 0 && context.threads() > 1 && node.directions * groups == 1 &&
      node.rows() * node.hidden * group >= W::kShared) {
    run_group<Layer, W>(context, node, functions, 0, 0, group, rnn_steps<W>(node, group), true,
                        memory, 0);
    return {};
  }
  context.parallel_for(node.directions * groups, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % groups * group;
      const int64_t sequences = node.batch - first < group ? node.batch - first : group;
      run_group<Layer, W>(context, node, functions, unit / groups, first, sequences,
                          rnn_steps<W>(node, group), false, memory, thread);
    }
  });
  return {};
}

}  // namespace intarsia::cpu
