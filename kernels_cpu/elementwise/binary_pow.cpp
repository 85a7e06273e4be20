// SPDX-License-Identifier: Apache-2.0
//
// Pow: z = x^y with broadcasting, core/operators/elementwise/binary_arithmetic.h. An integer base
// to a negative integer exponent is an error, as in numpy. The output may be the base.
// Specification: https://onnx.ai/onnx/operators/onnx__Pow.html
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {
namespace {

template <class T, class U>
struct Pow {
  static constexpr KernelId id{PowOp::name, "", {kernel_type_of<T>, kernel_type_of<U>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_broadcast(
        context, {.inputs = {t, kernel_type_of<U>}, .required_inputs = 2, .outputs = {t}});
  }
  static Status run(const KernelContext& context) {
    using Base = Element<T>;
    using Exponent = Element<U>;
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U> && std::is_signed_v<U>) {
      const U* exponents = context.input(1).as<U>();
      for (int64_t i = 0, count = context.input(1).count(); i < count; ++i) {
        if (exponents[i] < 0) {
          return context.fail(Code::kInvalidValue, "exponent of an integer base", 0, exponents[i],
                              1);
        }
      }
    }
    compute_broadcast<Base, Exponent, Base>(
        context,
        [](typename Base::Value x, typename Exponent::Value y) { return PowOp::apply(x, y, {}); });
    return {};
  }
};

}  // namespace

extern const KernelList binary_pow_kernels;
constinit const KernelList binary_pow_kernels =
    kernel_list<EachPair<Pow, Join<Floats, Types<int32_t, int64_t>>, Numbers>>();

}  // namespace intarsia::cpu
