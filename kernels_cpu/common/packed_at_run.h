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

#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/derived_node.h"

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
    return context.input(1).count() > 0 && DerivedNode::serves(context) && K::serves(context);
  }
  static int64_t workspace(const KernelContext& context) {
    CheckedInt bytes = 0;
    if constexpr (requires { &K::workspace; }) bytes = K::workspace(context);
    for (int i = 0; i < context.input_count(); ++i) {
      bytes = bytes + DerivedNode::room(K::packed_bytes(context, i));
    }
    return bytes.value();
  }
  static Status check(const KernelContext& context) {
    if (Status status = DerivedNode::check_count(context); !status) return status;
    if (Status status = DerivedNode(context).check<K>(); !status) return status;
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
  /// K's node: packed weights, and the workspace behind them.
  template <class Run>
  static auto with_packed(const KernelContext& context, const Run& run) {
    DerivedNode packed(context);
    for (int i = 0; i < context.input_count(); ++i) {
      const int64_t bytes = K::packed_bytes(context, i);
      if (bytes == 0) continue;
      K::pack(context, i, packed.context.workspace_);
      packed.place(i, bytes);
    }
    return run(packed.context);
  }
};

}  // namespace intarsia::cpu
