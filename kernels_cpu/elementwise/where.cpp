// SPDX-License-Identifier: Apache-2.0
//
// Where: z[i] = c[i] ? x[i] : y[i], all three broadcast together. Moves elements of any type of the
// width W. A row whose condition stands still is a copy or a fill; otherwise both sides are read
// and one is selected, which becomes vector code. The output may be x or y where the sizes agree.
// Specification: https://onnx.ai/onnx/operators/onnx__Where.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <bool XAdvances, bool YAdvances, class E>
void select_row(const uint8_t* c, const E* x, const E* y, E* z, int64_t length) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < length; ++i) {
    const E on = x[XAdvances ? i : 0];
    const E off = y[YAdvances ? i : 0];
    z[i] = c[i] != 0 ? on : off;
  }
}

template <class E>
void copy_row(const E* x, bool advances, E* z, int64_t length) {
  const int64_t step = advances ? 1 : 0;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < length; ++i) z[i] = x[i * step];
}

template <class W>
struct Where {
  static constexpr KernelId id{"Where", "", {kernel_type_of<W>}};
  static constexpr InPlace in_place{1, 2};
  static Status check(const KernelContext& context) {
    constexpr KernelType w = kernel_type_of<W>;
    if (Status status = check_broadcast(
            context, {.inputs = {DataType::kBool, w, w}, .required_inputs = 3, .outputs = {w}});
        !status) {
      return status;
    }
    const DataType type = context.output(0).type;
    for (int i = 1; i < 3; ++i) {
      if (context.input(i).type == type) continue;
      return context.fail(Code::kWrongType, "element type of the operand",
                          static_cast<int64_t>(type), static_cast<int64_t>(context.input(i).type),
                          i);
    }
    return {};
  }
  static Status run(const KernelContext& context) {
    using E = typename W::Element;
    const TensorView& output = context.output(0);
    const TensorView* inputs[] = {&context.input(0), &context.input(1), &context.input(2)};
    const BroadcastLoop loop(output, inputs);
    const auto* condition = inputs[0]->as<uint8_t>();
    const E* on = inputs[1]->as<E>();
    const E* off = inputs[2]->as<E>();
    E* result = output.as<E>();
    const bool x_advances = loop.advances(1);
    const bool y_advances = loop.advances(2);
    compute_elements(context, loop.count, [&](int64_t begin, int64_t end) {
      loop.for_rows(begin, end, [&](int64_t first, int64_t length, const int64_t* offsets) {
        const uint8_t* c = condition + offsets[0];
        const E* x = on + offsets[1];
        const E* y = off + offsets[2];
        E* z = result + first;
        if (!loop.advances(0)) {
          c[0] != 0 ? copy_row(x, x_advances, z, length) : copy_row(y, y_advances, z, length);
        } else if (x_advances) {
          y_advances ? select_row<true, true>(c, x, y, z, length)
                     : select_row<true, false>(c, x, y, z, length);
        } else {
          y_advances ? select_row<false, true>(c, x, y, z, length)
                     : select_row<false, false>(c, x, y, z, length);
        }
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList where_kernels;
constinit const KernelList where_kernels = kernel_list<Each<Where, Widths>>();

}  // namespace intarsia::cpu
