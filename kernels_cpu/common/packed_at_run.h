// SPDX-License-Identifier: Apache-2.0
//
// A kernel that packs its constant weights (`pack`) gives another one, for weights that are
// computed: PackedAtRun<K> packs them into its workspace in each run, and runs K on them there.
//
// K is a kernel type with `pack`. Besides `supports` it has what is asked where weights are not
// constant; their extents are known, and there is at least one element:
//
//     static bool serves(const KernelContext&);
#pragma once

#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"
#include "kernels_cpu/common/bounded.h"

namespace intarsia::cpu {

/// "computed" for variant "packed", else "<variant>_computed".
template <class K>
struct ComputedVariant {
  static constexpr std::string_view kOf = K::id.variant, kWord = "_computed";
  static constexpr auto kText = [] {
    std::array<char, kOf.size() + kWord.size()> text{};
    kOf.copy(text.data(), kOf.size());
    kWord.copy(text.data() + kOf.size(), kWord.size());
    return text;
  }();
  static constexpr std::string_view kName =
      kOf == "packed" ? kWord.substr(1) : std::string_view(kText.data(), kText.size());
};

/// The shape rule of kernels that have one.
template <class K>
struct RuleOf {};
template <class K>
requires requires {
  typename K::Rule;
}
struct RuleOf<K> {
  using Rule = typename K::Rule;
};

template <class K>
struct PackedAtRun : RuleOf<K> {
  static constexpr KernelId id{K::id.op, ComputedVariant<K>::kName, K::id.types};
  /// More than that of any kernel whose weights are packed, less than that of a reference.
  static constexpr int cost = kFastCost + intarsia::internal::describe_facts<K>().cost;
  static constexpr KernelLayout layout = intarsia::internal::describe_facts<K>().layout;
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr InPlace in_place = intarsia::internal::kernel_checks<K>.in_place;

  static bool supports(const KernelContext& context) {
    return context.input(1).count() > 0 && operand_count(context) <= kMostOperands &&
           K::serves(context);
  }
  static int64_t workspace(const KernelContext& context) {
    CheckedInt bytes = 0;
    if constexpr (requires { &K::workspace; }) bytes = K::workspace(context);
    for (int i = 0; i < context.input_count(); ++i) bytes = bytes + packed_room(context, i);
    return bytes.value();
  }
  static Status check(const KernelContext& context) {
    // Weights have as many bytes as they have elements; K asks for what packing makes of them.
    KernelHost host = *context.host_;
    host.capacity = nullptr;
    KernelContext packed = context;
    packed.host_ = &host;
    if (Status status = K::check(packed); !status) return status;
    if (operand_count(context) > kMostOperands) {
      return context.fail(Code::kUnsupported, "operands", kMostOperands, operand_count(context));
    }
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) requires requires { &K::run; }
  {
    return with_packed(context, [](const KernelContext& packed) { return K::run(packed); });
  }
  static void compute(const KernelContext& context, const Epilogue& epilogue) requires requires {
    &K::compute;
  }
  {
    with_packed(context, [&](const KernelContext& packed) { K::compute(packed, epilogue); });
  }

 private:
  static constexpr int kMostOperands = 16;

  static int operand_count(const KernelContext& context) {
    return context.input_count() + context.output_count();
  }
  /// Whole cache lines, since what follows is aligned to them.
  static CheckedInt packed_room(const KernelContext& context, int input) {
    return floor_div(CheckedInt(K::packed_bytes(context, input)) + 63, 64) * 64;
  }
  /// K's node: packed weights, and the workspace behind them.
  template <class Run>
  static auto with_packed(const KernelContext& context, const Run& run) {
    TensorView operands[kMostOperands];
    for (int i = 0; i < operand_count(context); ++i) operands[i] = context.operands_[i];
    KernelContext packed = context;
    packed.operands_ = operands;
    for (int i = 0; i < context.input_count(); ++i) {
      const auto room = static_cast<size_t>(packed_room(context, i).value());
      if (room == 0) continue;
      K::pack(context, i, packed.workspace_);
      operands[i].data = packed.workspace_;
      packed.workspace_ += room;
      packed.workspace_bytes_ -= room;
    }
    return run(packed);
  }
};

}  // namespace intarsia::cpu
