// SPDX-License-Identifier: Apache-2.0
//
// GRU and LSTM of gates so small that a product is a call and little more, where panels end between
// them: rnn_panels.h. Variants and a source of their own, so that programs with larger ones do not
// hold them.
#include "core/kernel_list.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/recurrent/rnn_panels.h"

namespace intarsia::cpu {
namespace {

struct Beside {
  static constexpr bool kBeside = true;
};

template <class Layer>
struct RecurrentBeside : RecurrentPacked<Layer, Beside> {
  using Packed = RecurrentPacked<Layer, Beside>;
  static constexpr KernelId id{Layer::Rule::name, "beside", {DataType::kFloat}};
  static constexpr int cost = kFastCost - 1;

  static bool supports(const KernelContext& context) {
    const int64_t hidden = node_of<Layer>(context).hidden;
    return hidden <= kMostBeside && hidden % kPanel != 0 && Packed::supports(context);
  }
};

}  // namespace

extern const KernelList rnn_beside_kernels;
constinit const KernelList rnn_beside_kernels =
    kernel_list<WithHalves<RecurrentBeside<GruLayer>, RecurrentBeside<LstmLayer>>>();

}  // namespace intarsia::cpu
