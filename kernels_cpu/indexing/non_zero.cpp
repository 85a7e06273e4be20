// SPDX-License-Identifier: Apache-2.0
//
// NonZero: the coordinates of the elements that are not 0, one column each, in row-major order; NaN
// is not 0. The output is resized to what was found.
// https://onnx.ai/onnx/operators/onnx__NonZero.html
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct NonZero {
  static constexpr KernelId id{"NonZero", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    if (Status s = check_operand_types(
            context, {.inputs = {kernel_type_of<T>}, .outputs = {DataType::kInt64}});
        !s) {
      return s;
    }
    const TensorView& y = context.output(0);
    if (y.rank != 2) return context.fail(Code::kWrongRank, "rank of the output", 2, y.rank, 1);
    if (y.extents[0] == context.input(0).rank) return {};
    return context.fail(Code::kWrongExtent, "rows of the output, one for each axis",
                        context.input(0).rank, y.extents[0], 1, 0);
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const TensorView& x = context.input(0);
    const auto* in = x.as<const typename E::Stored>();
    const int64_t count = x.count();
    const auto is_set = [&](int64_t i) { return E::load(in[i]) != typename E::Value{}; };
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += is_set(i) ? 1 : 0;
    if (found > INT32_MAX) {
      return context.fail(Code::kWrongExtent, "elements that are not 0", INT32_MAX, found, 1, 1);
    }
    const int32_t extents[2] = {x.rank, static_cast<int32_t>(found)};
    if (Status s = context.resize_output(0, extents); !s) return s;

    auto* out = context.output(0).as<int64_t>();
    int64_t index[kMaxRank] = {};
    for (int64_t i = 0, column = 0; i < count && column < found; ++i) {
      if (is_set(i)) {
        for (int axis = 0; axis < x.rank; ++axis) out[axis * found + column] = index[axis];
        ++column;
      }
      for (int axis = x.rank - 1; axis >= 0; --axis) {
        if (++index[axis] < x.extents[axis]) break;
        index[axis] = 0;
      }
    }
    return {};
  }
};

}  // namespace

extern const KernelList non_zero_kernels;
constinit const KernelList non_zero_kernels =
    kernel_list<Each<NonZero, Join<Numbers, Types<bool>>>>();

}  // namespace intarsia::cpu
