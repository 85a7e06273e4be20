// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of two inputs with multidirectional broadcasting: z = f(x, y); float16
// computes in float. The output may be an input
// of the same extents. Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/operators.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class Op, class T>
struct Binary : DeviceKernel {
  using Result = typename Op::template Result<T>;
  /// Pow's exponent has a type of its own.
  static constexpr KernelTypes types = std::is_same_v<Op, PowOp>
                                           ? KernelTypes{data_type_of<T>, data_type_of<T>}
                                           : KernelTypes{data_type_of<T>};
  static constexpr KernelId id{Op::name, kVariant, types};
  static constexpr InPlace in_place{0, 1};
  /// Operators of any number of inputs are served for two. Zero as an integer divisor is an error:
  /// so divisors must be constants, which the converter looks through.
  static bool supports(const KernelContext& context) {
    if (context.input_count() != 2) return false;
    if constexpr (std::is_integral_v<T> && Op::divides) {
      const TensorView& divisors = context.input(1);
      if (divisors.data == nullptr) return false;
      for (int64_t i = 0; i < divisors.count(); ++i) {
        if (divisors.as<const T>()[i] == 0) return false;
      }
    }
    return true;
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    if (Status status = check_attributes<typename Op::Attributes>(context); !status) return status;
    if (Status status = check_operands<ops::Broadcast>(
            context, {.inputs = {t, t}, .required_inputs = 2, .outputs = {data_type_of<Result>}});
        !status) {
      return status;
    }
    if constexpr (requires { &Op::check; }) return Op::check(context);
    return {};
  }
  static Status run(const KernelContext& context);
};

// Of folds those whose `finish` changes nothing.
using BinaryOperators = Join<operators::NumberPairs, operators::Comparisons, operators::NumberFolds,
                             Types<SumOp, ModOp, PowOp, PReluOp>>;
/// Of the integers that models compute extents, indices and masks with.
using IntegerOperators =
    Join<operators::NumberPairs, operators::Comparisons, operators::NumberFolds, Types<ModOp>>;
using BoolOperators = Join<operators::BoolPairs, Types<EqualOp>>;
using BinaryKernels = Join<EachPair<Binary, BinaryOperators, Reals>,
                           EachPair<Binary, IntegerOperators, Types<int32_t, int64_t>>,
                           EachPair<Binary, BoolOperators, Types<bool>>>;

}  // namespace intarsia::cuda
