// SPDX-License-Identifier: Apache-2.0
//
// Transpose: axis i of the output is axis perm[i] of the input. T is a Width, or a type of
// less than a byte; elements are copied as bytes, on the caller's threads; strided_copy.h has the
// loops, among them those between N, C, H, W and N, H, W, C.
// https://onnx.ai/onnx/operators/onnx__Transpose.html
#include "core/operators/movement/transpose.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/small_runs.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct Transpose {
  static constexpr KernelId id{"Transpose", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::Transpose>(context, {.inputs = {kType}, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const auto& a = context.attributes<TransposeAttributes>();
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    int64_t in_strides[kMaxRank], out_strides[kMaxRank];
    dense_strides(x, in_strides);
    dense_strides(y, out_strides);
    StridedCopy copy;
    for (int axis = 0; axis < y.rank; ++axis) {
      copy.add(y.extents[axis], out_strides[axis],
               in_strides[ops::Transpose::source(a, y.rank, axis)]);
    }
    strided_copy(context, copy, y.as<E>(), x.as<const E>());
    return {};
  }
};

/// Elements of less than a byte, one by one: a thread writes whole bytes.
template <class T>
struct TransposePacked {
  static constexpr DataType kElement = small_type<T>;
  static constexpr KernelId id{"Transpose", "", {kElement}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::Transpose>(context, {.inputs = {kElement}, .outputs = {kElement}});
  }
  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<TransposeAttributes>();
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    const auto* from = x.as<const std::byte>();
    auto* to = y.as<std::byte>();
    int64_t in_strides[kMaxRank];
    dense_strides(x, in_strides);
    for_elements(context, y.count(), [&](int64_t begin, int64_t end) {
      int64_t index[kMaxRank] = {}, at = 0, rest = begin;
      const auto stride = [&](int axis) {
        return in_strides[ops::Transpose::source(a, y.rank, axis)];
      };
      for (int axis = y.rank - 1; axis >= 0; --axis) {
        index[axis] = rest % y.extents[axis];
        rest /= y.extents[axis];
        at += index[axis] * stride(axis);
      }
      store_codes<kElement>(to, begin, end, [&](int64_t) {
        const uint8_t code = packed_code(from, at, element_bits(kElement));
        for (int axis = y.rank - 1; axis >= 0; --axis) {
          at += stride(axis);
          if (++index[axis] < y.extents[axis]) break;
          at -= index[axis] * stride(axis);
          index[axis] = 0;
        }
        return code;
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList transpose_kernels;
constinit const KernelList transpose_kernels =
    kernel_list<Each<Transpose, Widths>, Each<TransposePacked, PackedTypes>>();

}  // namespace intarsia::cpu
