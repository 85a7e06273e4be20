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
  if (advances) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = x[i];
  } else {
    const E still = x[0];
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = still;
  }
}

template <class E>
void select_piece(const uint8_t* c, bool c_advances, const E* x, bool x_advances, const E* y,
                  bool y_advances, E* z, int64_t length) {
  if (!c_advances) {
    c[0] != 0 ? copy_row(x, x_advances, z, length) : copy_row(y, y_advances, z, length);
  } else if (x_advances) {
    y_advances ? select_row<true, true>(c, x, y, z, length)
               : select_row<true, false>(c, x, y, z, length);
  } else {
    y_advances ? select_row<false, true>(c, x, y, z, length)
               : select_row<false, false>(c, x, y, z, length);
  }
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
    const BroadcastOperand operands[] = {inputs[0]->as<uint8_t>(), inputs[1]->as<E>(),
                                         inputs[2]->as<E>()};
    E* result = output.as<E>();
    compute_elements(context, loop.count, [&](int64_t begin, int64_t end) {
      BroadcastPieces pieces(loop, operands, begin, end);
      for (BroadcastPiece piece; pieces.next(piece);) {
        select_piece(piece.at<uint8_t>(0), piece.advances[0], piece.at<E>(1), piece.advances[1],
                     piece.at<E>(2), piece.advances[2], result + piece.first, piece.length);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList where_kernels;
constinit const KernelList where_kernels = kernel_list<Each<Where, Widths>>();

}  // namespace intarsia::cpu
