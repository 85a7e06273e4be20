// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of one input: y[i] = Op::apply(x[i]), for the sources that list them.
//
// The operators are those of core/operators/elementwise/. NaN gives NaN unless the specification
// says otherwise. The output may be the input: each element is read before the one at the same
// position is written. Large tensors are spread over the context's threads.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include <cstring>

#include "core/operators/elementwise/operators.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

template <class Op, class T>
Status check_unary(const KernelContext& context) {
  using Out = typename Op::template Result<T>;
  if (Status s = check_attributes<typename Op::Attributes>(context); !s) return s;
  return check_elementwise(context,
                           {.inputs = {kernel_type_of<T>}, .outputs = {kernel_type_of<Out>}});
}

/// y[i] = Op::apply(x[i], attributes) for i in [0, n).
template <class Op, class In, class Out>
void compute_unary(const typename In::Stored* x, typename Out::Stored* y, int64_t n,
                   typename Op::Attributes attributes) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = Out::store(Op::apply(In::load(x[i]), attributes));
}

constexpr int kBytes = 256;

template <class Op, class T, bool kVectors>
struct UnaryKernel {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) { return check_unary<Op, T>(context); }
  static Status run(const KernelContext& context) {
    using In = Element<T>;
    using Out = Element<typename Op::template Result<T>>;
    const auto attributes = attributes_of<typename Op::Attributes>(context);
    const auto* x = context.input(0).as<typename In::Stored>();
    auto* y = context.output(0).as<typename Out::Stored>();
    const auto compute = [=](int64_t begin, int64_t end) {
      compute_unary<Op, In, Out>(x + begin, y + begin, end - begin, attributes);
    };
    constexpr bool kAttributes = !std::is_same_v<typename Op::Attributes, NoAttributes>;
    if constexpr (kAttributes && sizeof(*x) == 1 && sizeof(*y) == 1) {
      // There are few bytes: with attributes, what each becomes is looked up.
      std::remove_pointer_t<decltype(y)> results[kBytes];
      const int64_t count = context.output(0).count();
      if (count < 4 * kBytes) {
        compute(0, count);
        return {};
      }
      std::remove_pointer_t<decltype(y)> bytes[kBytes];
      for (int i = 0; i < kBytes; ++i) std::memset(&bytes[i], i, 1);
      compute_unary<Op, In, Out>(bytes, results, kBytes, attributes);
      for_elements(context, count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = results[static_cast<uint8_t>(x[i])];
      });
    } else if constexpr (kVectors && kIsHalf<T>) {
      constexpr bool kToHalves = std::is_same_v<In, Out>;
      const Isa isa = context.isa();
      for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
        float block[kFloatBlock];
        for (int64_t at = begin; at < end; at += kFloatBlock) {
          const int64_t n = end - at < kFloatBlock ? end - at : kFloatBlock;
          to_floats(isa, x + at, block, n);
          float* const values = block;
          on_isa(isa, [=] {
            if constexpr (kToHalves) {
              compute_unary<Op, Element<float>, Element<float>>(values, values, n, attributes);
            } else {
              compute_unary<Op, Element<float>, Out>(values, y + at, n, attributes);
            }
          });
          if constexpr (kToHalves) from_floats(isa, values, y + at, n);
        }
      });
    } else if constexpr (kVectors) {
      compute_elements(context, context.output(0).count(), compute);
    } else {
      for_elements(context, context.output(0).count(), compute);
    }
    return {};
  }
};

template <class Op, class T>
struct Unary : UnaryKernel<Op, T, true> {};
/// Operators whose functions are those of the standard library, which no vector code calls.
template <class Op, class T>
struct UnaryFunction : UnaryKernel<Op, T, false> {};

}  // namespace intarsia::cpu
