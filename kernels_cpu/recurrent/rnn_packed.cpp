// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers of float weights that are packed, each gate's on its own: rnn_panels.h.
#include "core/kernel_list.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/recurrent/rnn_panels.h"

namespace intarsia::cpu {
namespace {

struct EachGate {
  static constexpr bool kBeside = false;
};

/// For weights that are computed, whose hidden units may be fewer than planned: then there are more
/// sequences in a group.
template <class Layer>
struct OfAnyWeights : RecurrentPacked<Layer, EachGate> {
  static int64_t workspace(const KernelContext& context) {
    const RnnNode node = node_of<Layer>(context);
    using W = PanelWeights<EachGate>;
    const CheckedInt units = rnn_most_states<W>(node);
    const CheckedInt gates = units + W::kRows * node.hidden;
    const CheckedInt elements =
        gates * node.gates + units * 3 + dim_min(node.batch, units) * node.features + 64;
    return (elements * sizeof(float) * context.threads()).value();
  }
};

template <class Layer>
using Packed = RecurrentPacked<Layer, EachGate>;
template <class Layer>
using Computed = PackedAtRun<OfAnyWeights<Layer>>;

}  // namespace

extern const KernelList rnn_packed_kernels;
constinit const KernelList rnn_packed_kernels =
    kernel_list<WithHalves<Packed<RnnLayer>, Packed<GruLayer>, Packed<LstmLayer>,
                           Computed<RnnLayer>, Computed<GruLayer>, Computed<LstmLayer>>>();

}  // namespace intarsia::cpu
