// SPDX-License-Identifier: Apache-2.0
//
// What all recurrent kernels (ONNX RNN, GRU, LSTM) share: all directions, activations, peepholes,
// clipping, sequence lengths and both batch layouts, and scratch memory. Sequences (a batch element
// in a direction) are computed in groups, step by step, so that a weight is read once for all of a
// group; groups are shared out over the threads, or, if there is but one, the hidden units of each
// step are, or its sequences. A sequence's results depend on none of this.
// Steps beyond a sequence's length give zeros in Y; Y_h and Y_c hold the last valid step.
//
// A group: rnn_group.h.
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cpu/recurrent/rnn_cells.h"
#include "kernels_cpu/recurrent/rnn_group.h"

namespace intarsia::cpu {

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

/// Runs every sequence.
template <class Layer, class W>
[[gnu::cold]] Status run_sequences(const KernelContext& context) {
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
    RnnGroup<Layer, W>(context, node, functions, 0, 0, group, memory, 0).run(true);
    return {};
  }
  context.parallel_for(node.directions * groups, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % groups * group;
      const int64_t sequences = node.batch - first < group ? node.batch - first : group;
      RnnGroup<Layer, W>(context, node, functions, unit / groups, first, sequences, memory, thread)
          .run(false);
    }
  });
  return {};
}

}  // namespace intarsia::cpu
