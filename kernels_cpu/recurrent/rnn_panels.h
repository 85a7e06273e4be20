// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers of float weights, which are packed: once if constant, else in each run. The
// input's part of the gates is one product for several steps or sequences, so that W is read once
// for them; the state's part is one by R in each step, of as many rows as there are sequences.
// Weights are panels (gemm/pack.h), each gate's on its own; sigmoid and tanh are those of
// math/vector_math.h. What every recurrent kernel does: rnn_sequence.h.
#pragma once

#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/math/vector_math.h"
#include "kernels_cpu/recurrent/rnn_sequence.h"

namespace intarsia::cpu {

/// The most hidden units whose gates are worth one product.
inline constexpr int64_t kMostBeside = 4 * kPanel;

/// W and R as panels of [direction][gate]: the columns of a gate are its hidden units.
/// Source::kBeside: a row of several small gates is one product. Source is a type of the source
/// file alone, so that compilers see that nobody else calls what is made of this.
template <class Source>
class PanelWeights {
 public:
  using Element = float;
  using Value = float;
  static constexpr int64_t kRows = 12;  // of the largest tile
  static constexpr bool kRuns = false;
  using Summary = NoSummary;
  static constexpr int64_t kUnits = kPanel;
  static constexpr int64_t kShared = 1 << 15;

  PanelWeights(const KernelContext& context, const RnnNode& node, int64_t direction)
      : isa_(context.isa()),
        gates_(node.gates),
        features_(node.features),
        hidden_(node.hidden),
        w_(context.input(1).as<const float>() + direction * gate_floats(features_) * gates_),
        r_(context.input(2).as<const float>() + direction * gate_floats(hidden_) * gates_),
        bias_(context.input(3).as<const float>()),
        math_(isa_) {
    if (bias_ != nullptr) bias_ += direction * 2 * gates_ * hidden_;
  }

  static int64_t own(const RnnNode&, int64_t) { return 0; }

  void project(const RnnRows<float>& x, const RnnGates<float>& gates, RnnUnits<float> units) const {
    multiply({{x.count, 0, features_}, x.first, x.pitch, w_, gates.first, gates.row, bias_}, gates_,
             gates.gate, units);
  }
  void recur(const RnnStep<PanelWeights>& step, int first, int count, const float* h,
             const RnnGates<float>& y) const {
    GemmArgs args{{step.sequences, 0, hidden_},      h,       hidden_,
                  r_ + first * gate_floats(hidden_), y.first, y.row};
    if (bias_ != nullptr) args.bias = bias_ + (gates_ + first) * hidden_;
    args.residual = y.first;
    args.residual_pitch = y.row;
    multiply(args, count, y.gate, step.units);
  }
  void activate(const RnnFunction& function, float* x, int64_t count) const {
    math_.activate(function, x, count);
  }

 private:
  int64_t gate_floats(int64_t k) const { return packed_floats(1, k, hidden_); }

  /// The product of some gates, `gate` apart: one for each, or one for all whole gates that lie
  /// side by side if no panel holds columns of two.
  void multiply(GemmArgs args, int64_t gates, int64_t gate, RnnUnits<float> units) const {
    if constexpr (Source::kBeside) {
      if (multiply_beside(args, gates, gate, units)) return;
    }
    const int64_t columns = units.end - units.begin;
    const bool one = columns == hidden_ && hidden_ % kPanel == 0 && gate == hidden_;
    const int64_t products = one ? 1 : gates;
    args.isa = isa_;
    args.shape.n = gates / products * columns;
    args.b += packed_floats(1, args.shape.k, units.begin);
    const auto move = [&](int64_t by, int64_t bias_by) {
      args.c += by;
      if (args.bias != nullptr) args.bias += bias_by;
      if (args.residual != nullptr) args.residual += by;
    };
    move(units.begin, units.begin);
    for (int64_t i = 0; i < products; ++i) {
      gemm_run(args, 0, gemm_units(args.shape));
      args.b += gate_floats(args.shape.k);
      move(gate, hidden_);
    }
  }

  /// The same of a single row as one product of all panels, with what their last columns hold
  /// besides; false if that does not serve. The sums are those of `multiply`, term by term.
  bool multiply_beside(const GemmArgs& args, int64_t gates, int64_t gate,
                       RnnUnits<float> units) const {
    constexpr int64_t kRoom = 4 * kMostBeside;
    const int64_t pitch = panel_count(hidden_) * kPanel, columns = gates * pitch;
    const bool whole = units.end - units.begin == hidden_;
    if (args.shape.m != 1 || gates == 1 || !whole || columns > kRoom) return false;
    float sums[kRoom] = {};
    for (int64_t i = 0; i < gates; ++i) {
      const float* bias = args.bias != nullptr ? args.bias + i * hidden_ : nullptr;
      const float* residual = args.residual != nullptr ? args.residual + i * gate : nullptr;
      for (int64_t j = 0; j < hidden_; ++j) {
        sums[i * pitch + j] =
            (bias != nullptr ? bias[j] : 0) + (residual != nullptr ? residual[j] : 0);
      }
    }
    GemmArgs all{{1, columns, args.shape.k}, args.a, args.a_pitch, args.b, sums, columns};
    all.residual = sums;
    all.isa = isa_;
    gemm_run(all, 0, gemm_units(all.shape));
    for (int64_t i = 0; i < gates; ++i) {
      std::memcpy(args.c + i * gate, sums + i * pitch,
                  static_cast<size_t>(hidden_) * sizeof(float));
    }
    return true;
  }

  Isa isa_;
  int64_t gates_, features_, hidden_;
  const float* w_;
  const float* r_;
  const float* bias_;
  RnnMath math_;
};

template <class Layer, class Source>
struct RecurrentPacked {
  static constexpr KernelId id{Layer::Rule::name, "packed", {DataType::kFloat}};
  static constexpr std::string_view packing = "panels of 16 columns, each gate's on its own";

  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    const TensorView& r = context.input(2);
    return w.data != nullptr && r.data != nullptr && w.count() > 0 && r.count() > 0;
  }
  /// Weights that are computed: packed for several steps, which is less than to read rows in each.
  static bool serves(const KernelContext& context) {
    const RnnNode node = node_of<Layer>(context);
    return node.time * node.batch > 1 && context.input(2).count() > 0;
  }

  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input != 1 && input != 2) return 0;
    const RnnNode node = node_of<Layer>(context);
    const int64_t k = input == 1 ? node.features : node.hidden;
    return panel_bytes(node.directions * node.gates, k, node.hidden).value();
  }

  static void pack(const KernelContext& context, int input, void* packed) {
    pack_weights(context, input, static_cast<float*>(packed));
  }
  template <class E>
  static void pack_weights(const KernelContext& context, int input, E* packed) {
    const RnnNode node = node_of<Layer>(context);
    const int64_t k = input == 1 ? node.features : node.hidden;
    const auto* rows = context.input(input).as<const E>();
    for (int64_t gate = 0; gate < node.directions * node.gates; ++gate) {
      pack_b_transposed(rows + gate * node.hidden * k, k, k, node.hidden,
                        packed + gate * packed_floats(1, k, node.hidden));
    }
  }

  static int64_t workspace(const KernelContext& context) {
    return rnn_workspace<Layer, PanelWeights<Source>>(context);
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_rnn<Layer, float>(context); !status) return status;
    for (int input : {1, 2}) {
      if (Status s = check_capacity(context, input, packed_bytes(context, input)); !s) return s;
    }
    return check_workspace(context, rnn_least_workspace<Layer, PanelWeights<Source>>(context));
  }

  static Status run(const KernelContext& context) {
    return run_sequences<Layer, PanelWeights<Source>>(context);
  }
};

}  // namespace intarsia::cpu
