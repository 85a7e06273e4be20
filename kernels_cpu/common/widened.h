// SPDX-License-Identifier: Apache-2.0
//
// A kernel in float serves halves, too: Widened<K, T> is K for operands of type T (float16 or
// bfloat16), which it makes floats of in its workspace, and halves again of the results. Constant
// weights are packed as halves, so that plans stay as small as they are. Operands of other types
// are K's own.
//
// K is a kernel type of floats. If it packs weights, it moves halves as it moves floats:
//
//     template <class E>                                  // float or uint16_t
//     static void pack_weights(const KernelContext&, int input, E* packed);
#pragma once

#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/elementwise/float_blocks.h"

namespace intarsia::cpu {

/// The types of a kernel of floats for halves.
constexpr KernelTypes types_for_halves(KernelTypes types, DataType half) {
  for (KernelType& type : types.all) {
    if (type == KernelType(DataType::kFloat)) type = half;
  }
  return types;
}

template <class K>
inline constexpr bool kPacksWeights = requires {
  &K::pack;
};

/// A node as K sees it: its operands of type `type` are floats. Their data is still that of halves.
struct AsFloats : DerivedNode {
  AsFloats(const KernelContext& halves, DataType type) : DerivedNode(halves) {
    for (int i = 0; i < count(halves) && i < kMostOperands; ++i) {
      was_half[i] = operands[i].type == type;
      if (was_half[i]) operands[i].type = DataType::kFloat;
    }
  }
  bool was_half[kMostOperands] = {};
};

/// Weights that K packs, as halves.
template <class K, class T, bool = kPacksWeights<K>>
struct HalfWeights {};
template <class K, class T>
struct HalfWeights<K, T, true> {
  static constexpr std::string_view packing = K::packing;

  static int64_t packed_bytes(const KernelContext& context, int input) {
    return K::packed_bytes(AsFloats(context, data_type_of<T>).context, input) / 2;
  }
  static void pack(const KernelContext& context, int input, void* packed) {
    K::pack_weights(AsFloats(context, data_type_of<T>).context, input,
                    static_cast<uint16_t*>(packed));
  }
};

template <class K, class T>
struct Widened : HalfWeights<K, T> {
  static constexpr KernelId id{K::id.op, K::id.variant.empty() ? "widened" : K::id.variant,
                               types_for_halves(K::id.types, data_type_of<T>)};
  /// Less than that of reference kernels, which convert each element where they meet it.
  static constexpr int cost =
      K::id.variant.empty() ? kFastCost : intarsia::internal::describe_facts<K>().cost;
  static constexpr KernelLayout layout = intarsia::internal::describe_facts<K>().layout;
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr InPlace in_place = intarsia::internal::kernel_checks<K>.in_place;

  static bool supports(const KernelContext& context) {
    if (!AsFloats::serves(context)) return false;
    if constexpr (requires { &K::supports; }) return K::supports(AsFloats(context, kType).context);
    return true;
  }
  static int64_t workspace(const KernelContext& context) {
    const AsFloats floats(context, kType);
    CheckedInt bytes = 0;
    if constexpr (requires { &K::workspace; }) bytes = K::workspace(floats.context);
    for (int i = 0; i < AsFloats::count(context); ++i) {
      bytes = bytes + AsFloats::room(float_bytes(floats, i));
    }
    return bytes.value();
  }
  static Status check(const KernelContext& context) {
    if (Status status = AsFloats::check_count(context); !status) return status;
    for (int i = 0; i < AsFloats::count(context); ++i) {
      if (context.operands_[i].type != DataType::kFloat) continue;
      return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(kType),
                          static_cast<int64_t>(DataType::kFloat), i);
    }
    if (Status s = AsFloats(context, kType).template check<K>(); !s) return s;
    if constexpr (kPacksWeights<K>) {
      for (int i = 0; i < context.input_count(); ++i) {
        const int64_t bytes = Widened::packed_bytes(context, i);
        if (bytes == 0) continue;
        if (Status s = check_capacity(context, i, bytes); !s) return s;
      }
    }
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    AsFloats floats(context, kType);
    for (int i = 0; i < AsFloats::count(context); ++i) {
      if (floats.was_half[i]) floats.place(i, float_bytes(floats, i));
    }
    for (int i = 0; i < context.input_count(); ++i) {
      if (!floats.was_half[i]) continue;
      const T* from = context.input(i).as<const T>();
      auto* to = floats.operands[i].as<float>();
      for_elements(context, elements(floats, i),
                   [=, isa = context.isa()](int64_t begin, int64_t end) {
                     to_floats(isa, from + begin, to + begin, end - begin);
                   });
    }
    if (Status status = K::run(floats.context); !status) return status;
    for (int i = 0; i < context.output_count(); ++i) {
      const int operand = context.input_count() + i;
      if (!floats.was_half[operand]) continue;
      const auto* from = floats.operands[operand].as<const float>();
      T* to = context.output(i).as<T>();
      for_elements(context, elements(floats, operand),
                   [=, isa = context.isa()](int64_t begin, int64_t end) {
                     from_floats(isa, from + begin, to + begin, end - begin);
                   });
    }
    return {};
  }

 private:
  static constexpr DataType kType = data_type_of<T>;

  /// Of an operand, packed if it is weights; 0 if it is none of halves.
  static int64_t elements(const AsFloats& floats, int operand) {
    if (!floats.was_half[operand]) return 0;
    if constexpr (kPacksWeights<K>) {
      const int64_t packed =
          operand < floats.context.input_count() ? K::packed_bytes(floats.context, operand) : 0;
      if (packed != 0) return packed / int64_t{sizeof(float)};
    }
    return floats.operands[operand].count();
  }
  static CheckedInt float_bytes(const AsFloats& floats, int operand) {
    return CheckedInt(elements(floats, operand)) * sizeof(float);
  }
};

/// What kernels of floats are for halves, and both.
template <class... Ks>
using OfHalves = Join<ListOf<Widened<Ks, Float16>...>, ListOf<Widened<Ks, BFloat16>...>>;
template <class... Ks>
using WithHalves = Join<ListOf<Ks...>, OfHalves<Ks...>>;

}  // namespace intarsia::cpu
