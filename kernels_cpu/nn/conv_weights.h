// SPDX-License-Identifier: Apache-2.0
//
// Fast convolutions over packed weights: `Packed<C>` of a core C serves constant ones, which the
// converter packs, and PackedAtRun of that (common/packed_at_run.h) those that are computed.
//
// C is a kernel type, of variant "packed", without what depends on where the weights come from:
//
//     static constexpr std::string_view packing;           // unless it is panels of 16 columns
//     static bool serves(const KernelContext&);            // by extents and attributes
//     static Status check_shape(const KernelContext&);
//     static CheckedInt weight_bytes(const KernelContext&);   // in panels
//     template <class E>                                   // float, or the bits of halves
//     static void pack_weights(const KernelContext&, E* packed);
//     static CheckedInt scratch_bytes(const KernelContext&);  // for one thread
//     static void convolve(const KernelContext&, const Epilogue&, const float* weights,
//                          std::span<std::byte> scratch);
#pragma once

#include <span>

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/packed_at_run.h"

namespace intarsia::cpu {

template <class Core>
struct Packed : Core {
  static constexpr std::string_view packing = [] {
    if constexpr (requires { Core::packing; }) return Core::packing;
    return std::string_view("panels of 16 columns");
  }();

  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.data != nullptr && w.count() > 0 && Core::serves(context);
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? Core::weight_bytes(context).value() : 0;
  }
  template <class E>
  static void pack_weights(const KernelContext& context, int, E* packed) {
    Core::pack_weights(context, packed);
  }
  static void pack(const KernelContext& context, int, void* packed) {
    Core::pack_weights(context, static_cast<float*>(packed));
  }
  static int64_t workspace(const KernelContext& context) {
    return (Core::scratch_bytes(context) * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    if (Status status = Core::check_shape(context); !status) return status;
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }
  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    Core::convolve(context, epilogue, context.input(1).as<const float>(), context.workspace());
  }
};

/// A kernel of an operator without an activation.
template <class K>
struct Plain : K {
  static Status run(const KernelContext& context) {
    K::compute(context, Epilogue{});
    return {};
  }
};

}  // namespace intarsia::cpu
