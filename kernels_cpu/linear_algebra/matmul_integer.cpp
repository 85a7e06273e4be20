// SPDX-License-Identifier: Apache-2.0
//
// ONNX MatMulInteger: the product of two matrices of bytes without their zero points, exact sums of
// 32 bits, which wrap around. It follows numpy.matmul.
//
// Variant "fast": pairs or quads of bytes, by the instructions that multiply and add them
// (gemm/typed.h; of few rows gemm/thin_bytes.h). Blocks of the matrices of Y are shared out over
// the threads. Specification: https://onnx.ai/onnx/operators/onnx__MatMulInteger.html
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/typed_products.h"
#include "kernels_cpu/gemm/thin_bytes.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/linear_algebra/byte_operands.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class A, class B>
Status check_matmul_integer(const KernelContext& context) {
  constexpr KernelType a = kernel_type_of<A>, b = kernel_type_of<B>;
  return check_operands<ops::MatMulInteger>(
      context,
      {.inputs = {a, b, a, b}, .required_inputs = 2, .outputs = {kernel_type_of<int32_t>}});
}

template <class A, class B>
struct MatMulInteger {
  static constexpr KernelId id{"MatMulInteger", "", {kernel_type_of<A>, kernel_type_of<B>}};

  static Status check(const KernelContext& context) { return check_matmul_integer<A, B>(context); }

  static Status run(const KernelContext& context) {
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    const ProductLayout l = matmul_layout(context);
    auto* to = y.as<uint32_t>();
    context.parallel_for(y.count() / l.columns, [&](int64_t first, int64_t last, int) {
      for (int64_t row = first; row < last; ++row) {
        const ByteOperands operands(context, l, row / l.rows);
        const ByteFactor a = operands.a.at(static_cast<ptrdiff_t>(row % l.rows), 0);
        uint32_t* sums = to + row * l.columns;
        for (int64_t j = 0; j < l.columns; ++j) {
          const ByteFactor b = operands.b.at(static_cast<ptrdiff_t>(j), 0);
          uint32_t sum = 0;
          for (ptrdiff_t k = 0; k < a.k; ++k) {
            sum += static_cast<uint32_t>(a.difference(k) * b.difference(k));
          }
          sums[j] = sum;
        }
      }
    });
    return {};
  }
};

/// The product of a row and a column, both without gaps.
INTARSIA_INLINE uint32_t dot_bytes(const ByteFactor& row, const ByteFactor& column) {
  const uint8_t *a = row.data, *b = column.data, a_flip = row.flip, b_flip = column.flip;
  const auto a_zero = static_cast<int16_t>(*row.zeros ^ a_flip);
  const auto b_zero = static_cast<int16_t>(*column.zeros ^ b_flip);
  int32_t sum = 0;
  INTARSIA_INDEPENDENT
  for (ptrdiff_t k = 0; k < row.k; ++k) {
    const auto left = static_cast<int16_t>((a[k] ^ a_flip) - a_zero);
    const auto right = static_cast<int16_t>((b[k] ^ b_flip) - b_zero);
    sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(left * right));
  }
  return static_cast<uint32_t>(sum);
}

template <class A, class B>
struct FastMatMulInteger {
  static constexpr KernelId id{"MatMulInteger", "fast", {kernel_type_of<A>, kernel_type_of<B>}};
  static constexpr KernelTargets targets = kPackingTargets;

  static bool supports(const KernelContext&) { return true; }

  /// Where one matrix B and one zero point of A serve all, the leading axes of A are rows. What
  /// depends on planned extents alone, so that the workspace grows with the extents.
  static bool one_product(const KernelContext& context) {
    bool one = single_zero(context, 2);
    const int32_t* planned = context.planned_extents(1);
    for (int axis = 0; axis < context.input(1).rank - 2; ++axis) one = one && planned[axis] == 1;
    const TensorView& zero = context.input(3);
    for (int axis = 0; zero.present() && axis < zero.rank - 2; ++axis) {
      one = one && context.planned_extents(3)[axis] == 1;
    }
    return one;
  }

  static ProductLayout layout_of(const KernelContext& context, bool one) {
    ProductLayout l = matmul_layout(context);
    if (!one) return l;
    CheckedInt rows = 1;
    const TensorView& a = context.input(0);
    for (int axis = 0; axis < a.rank - 1; ++axis) rows *= a.extents[axis];
    l.rows = rows.value();
    return l;
  }
  template <class S>
  static GemmShape shape_of(const ProductLayout& l) {
    return {l.rows, l.columns, (CheckedInt(l.inner) + kGroup<S> - 1).value() / kGroup<S>};
  }

  static int64_t workspace(const KernelContext& context) {
    const ProductLayout l = layout_of(context, one_product(context));
    return byte_products_workspace(context, [&]<class S>(S) { return shape_of<S>(l); });
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_matmul_integer<A, B>(context); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    const ProductLayout l = layout_of(context, one_product(context));
    const int64_t matrix = l.rows * l.columns;
    if (l.inner <= kSmall && matrix * l.inner <= kSmall) {
      run_small(context, l);
      return {};
    }
    if (l.columns == 1) {
      run_dots(context, l);
      return {};
    }
    if (l.rows <= most_thin_byte_rows(context.isa())) {
      run_thin(context, l);
      return {};
    }
    pick_groups(context.isa(), [&]<class S>(S) {
      run_products<S>(context, shape_of<S>(l), y.count() / matrix, [&](int64_t index) {
        const ByteOperands operands(context, l, index);
        TypedArgs<S> args{};
        args.shape = shape_of<S>(l);
        args.a = operands.a;
        args.b = operands.b;
        args.c = y.as<uint32_t>() + index * matrix;
        args.isa = context.isa();
        return args;
      });
    });
    return {};
  }

 private:
  /// Multiply-adds of a product that take less time than to set up vectors for it.
  static constexpr int64_t kSmall = 128;

  /// Whole matrices are shared out.
  static void run_small(const KernelContext& context, const ProductLayout& l) {
    const TensorView& y = context.output(0);
    const int64_t matrix = l.rows * l.columns;
    auto* c = y.as<uint32_t>();
    context.parallel_for(y.count() / matrix, [&](int64_t begin, int64_t end, int) {
      for (int64_t index = begin; index < end; ++index) {
        const ByteOperands operands(context, l, index);
        multiply_small(operands, l, c + index * matrix);
      }
    });
  }
  static void multiply_small(const ByteOperands& operands, const ProductLayout& l, uint32_t* c) {
    const ByteFactor &a = operands.a, &b = operands.b;
    const int inner = static_cast<int>(l.inner), columns = static_cast<int>(l.columns);
    for (ptrdiff_t row = 0; row < l.rows; ++row, c += columns) {
      const uint8_t* of_a = a.data + row * inner;
      const int a_zero = a.zeros[row * a.zero_step] ^ a.flip;
      for (int j = 0; j < columns; ++j) {
        const int b_zero = b.zeros[j * b.zero_step] ^ b.flip;
        int sum = 0;  // of so few terms
        for (int k = 0; k < inner; ++k) {
          sum += ((of_a[k] ^ a.flip) - a_zero) * ((b.data[k * columns + j] ^ b.flip) - b_zero);
        }
        c[j] = static_cast<uint32_t>(sum);
      }
    }
  }

  /// Matrices by vectors, of which the threads share out the rows.
  static void run_dots(const KernelContext& context, const ProductLayout& l) {
    const TensorView& y = context.output(0);
    auto* c = y.as<uint32_t>();
    context.parallel_for(y.count(), [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        const ByteOperands operands(context, l, row / l.rows);
        const ByteFactor a = operands.a.at(static_cast<ptrdiff_t>(row % l.rows), 0);
        on_widest_isa(context.isa(), [&] { c[row] = dot_bytes(a, operands.b); });
      }
    });
  }

  /// Matrices of few rows, of which the threads share out the columns.
  static void run_thin(const KernelContext& context, const ProductLayout& l) {
    const TensorView& y = context.output(0);
    const int64_t units = (l.columns + kThinByteColumns - 1) / kThinByteColumns;
    const int64_t matrix = l.rows * l.columns;
    auto* c = y.as<uint32_t>();
    context.parallel_for(y.count() / matrix * units, [&](int64_t begin, int64_t end, int) {
      while (begin < end) {
        const int64_t index = begin / units, first = begin % units * kThinByteColumns;
        const int64_t last = (index + 1) * units < end ? (index + 1) * units : end;
        const int64_t behind = first + (last - begin) * kThinByteColumns;
        const int64_t columns = (behind < l.columns ? behind : l.columns) - first;
        const ByteOperands operands(context, l, index);
        multiply_thin_bytes({static_cast<ptrdiff_t>(l.rows), static_cast<ptrdiff_t>(columns),
                             operands.a, operands.b.at(static_cast<ptrdiff_t>(first), 0),
                             c + index * matrix + first, static_cast<ptrdiff_t>(l.columns)},
                            context.isa());
        begin = last;
      }
    });
  }
};

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList matmul_integer_kernels;
constinit const KernelList matmul_integer_kernels =
    kernel_list<EachPair<MatMulInteger, Bytes, Bytes>, EachPair<FastMatMulInteger, Bytes, Bytes>>();

}  // namespace intarsia::cpu
