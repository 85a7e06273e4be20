// SPDX-License-Identifier: Apache-2.0
//
// CumSum, CumProd: running sums and products along one axis, which is a scalar input (int32 or
// int64, read at run time), forwards or backwards, with or without the element itself. Floats
// accumulate in double, or, where lines lie side by side, compensated in float: conversions of
// whole vectors would take longer. Integers wrap around. The output may be the input.
// Specification: https://onnx.ai/onnx/operators/onnx__CumSum.html
#include "core/kernel_list.h"
#include "core/operators/reduction/reduction.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/indexing/index_check.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

struct CumSumOp {
  static constexpr std::string_view name = "CumSum";
  static constexpr int kNeutral = 0;
  template <class A>
  static A step(A sum, A value) {
    return sum + value;
  }
};
struct CumProdOp {
  static constexpr std::string_view name = "CumProd";
  static constexpr int kNeutral = 1;
  template <class A>
  static A step(A product, A value) {
    return product * value;
  }
};

/// Whether positions of so many lines side by side are taken four at once: else running results
/// are loaded and stored for each. Rows whole pages apart meet in one set of the cache, and of many
/// lines that costs more.
template <class T>
constexpr bool in_fours(int64_t lanes, int64_t stride) {
  constexpr int64_t kManyLines = 1024, kPage = 4096 / sizeof(T);
  return lanes < kManyLines || stride % kPage != 0;
}

/// kRows positions, 1 or 4, of `lanes` lines side by side, `stride` apart: several, since running
/// results are loaded and stored for each call.
template <int kRows, bool exclusive, class Op, class E, class A>
void scan_together(A* running, const typename E::Stored* x, typename E::Stored* y, int64_t stride,
                   int64_t lanes) {
  using V = typename E::Value;
  const int64_t more = kRows > 1 ? stride : 0;
  const auto *x1 = x + more, *x2 = x1 + more, *x3 = x2 + more;
  auto *y1 = y + more, *y2 = y1 + more, *y3 = y2 + more;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < lanes; ++i) {
    const A before = running[i];
    if constexpr (kRows == 1) {
      const A after = Op::step(before, static_cast<A>(E::load(x[i])));
      running[i] = after;
      y[i] = E::store(static_cast<V>(exclusive ? before : after));
    } else {
      const A a = Op::step(before, static_cast<A>(E::load(x[i])));
      const A b = Op::step(a, static_cast<A>(E::load(x1[i])));
      const A c = Op::step(b, static_cast<A>(E::load(x2[i])));
      const A d = Op::step(c, static_cast<A>(E::load(x3[i])));
      running[i] = d;
      y[i] = E::store(static_cast<V>(exclusive ? before : a));
      y1[i] = E::store(static_cast<V>(exclusive ? a : b));
      y2[i] = E::store(static_cast<V>(exclusive ? b : c));
      y3[i] = E::store(static_cast<V>(exclusive ? c : d));
    }
  }
}

/// Sums that are compensated in their own type; others accumulate in a wider one.
template <class Op, class T>
constexpr bool kCompensated = (std::is_same_v<Op, CumSumOp> && std::is_same_v<T, float>);

/// A sum, and what rounding has added to it, which the next step takes away (W. Kahan, "Further
/// Remarks on Reducing Truncation Errors", CACM 8(1), 1965); of infinities nothing.
struct Compensated {
  float sum, surplus;
  INTARSIA_INLINE Compensated plus(float value) const {
    const float wanted = value - surplus, after = sum + wanted;
    const float more = (after - sum) - wanted;
    return {after, more == more ? more : 0.0f};
  }
};

/// kRows positions, 1 or 4, of `lanes` lines side by side, `stride` apart, as in scan_together.
template <int kRows, bool exclusive>
void sum_together(float* sums, float* surpluses, const float* x, float* y, int64_t stride,
                  int64_t lanes) {
  const int64_t more = kRows > 1 ? stride : 0;
  const float *x1 = x + more, *x2 = x1 + more, *x3 = x2 + more;
  float *y1 = y + more, *y2 = y1 + more, *y3 = y2 + more;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < lanes; ++i) {
    const Compensated before{sums[i], surpluses[i]}, a = before.plus(x[i]);
    Compensated last = a;
    y[i] = (exclusive ? before : a).sum;
    if constexpr (kRows > 1) {
      const Compensated b = a.plus(x1[i]), c = b.plus(x2[i]);
      last = c.plus(x3[i]);
      y1[i] = (exclusive ? a : b).sum;
      y2[i] = (exclusive ? b : c).sum;
      y3[i] = (exclusive ? c : last).sum;
    }
    sums[i] = last.sum;
    surpluses[i] = last.surplus;
  }
}

/// Calls body(first, n) for lanes [first, first + n) that make up `lanes`: what is left of whole
/// vectors of 16 by shorter ones, for lines side by side are often few.
template <class Body>
INTARSIA_INLINE void for_lane_pieces(int64_t lanes, const Body& body) {
  int64_t first = lanes / 16 * 16;
  if (first > 0) body(0, first);
  if (lanes - first >= 8) body(first, 8), first += 8;
  if (lanes - first >= 4) body(first, 4), first += 4;
  if (lanes > first) body(first, lanes - first);
}

/// y = running results of `lanes` lines side by side, whose positions are `stride` apart.
template <class Op, class E, class A, bool exclusive>
void scan_rows(Isa isa, const typename E::Stored* x, typename E::Stored* y, int64_t stride,
               int64_t length, int64_t lanes) {
  [[maybe_unused]] const bool fours = in_fours<typename E::Stored>(lanes, stride);
  if constexpr (kIsHalf<typename E::Stored>) {
    A running[kAxisLanes];
    float from[kAxisLanes], to[kAxisLanes];
    for (int64_t i = 0; i < lanes; ++i) running[i] = Op::kNeutral;
    for (; length > 0; --length, x += stride, y += stride) {
      to_floats(isa, x, from, lanes);
      on_widest_isa(isa, [&] {
        scan_together<1, exclusive, Op, Element<float>>(running, from, to, stride, lanes);
      });
      from_floats(isa, to, y, lanes);
    }
    return;
  }
  if constexpr (kCompensated<Op, typename E::Stored>) {
    float sums[kAxisLanes], surpluses[kAxisLanes];
    for (int64_t i = 0; i < lanes; ++i) sums[i] = surpluses[i] = 0;
    for (; fours && length >= 4; length -= 4, x += 4 * stride, y += 4 * stride) {
      for_lane_pieces(lanes, [&](int64_t i, int64_t n) {
        sum_together<4, exclusive>(sums + i, surpluses + i, x + i, y + i, stride, n);
      });
    }
    for (; length > 0; --length, x += stride, y += stride) {
      sum_together<1, exclusive>(sums, surpluses, x, y, stride, lanes);
    }
    return;
  }
  A running[kAxisLanes];
  for (int64_t i = 0; i < lanes; ++i) running[i] = Op::kNeutral;
  for (; fours && length >= 4; length -= 4, x += 4 * stride, y += 4 * stride) {
    for_lane_pieces(lanes, [&](int64_t i, int64_t n) {
      scan_together<4, exclusive, Op, E>(running + i, x + i, y + i, stride, n);
    });
  }
  for (; length > 0; --length, x += stride, y += stride) {
    for_lane_pieces(lanes, [&](int64_t i, int64_t n) {
      scan_together<1, exclusive, Op, E>(running + i, x + i, y + i, stride, n);
    });
  }
}

/// The same line by line: `lines` of them, `distance` apart. Four at once, since each waits for its
/// own last step.
template <class Op, class E, class A>
void scan_lines(const typename E::Stored* x, typename E::Stored* y, int64_t distance, int64_t lines,
                int64_t stride, int64_t length, bool exclusive) {
  const auto next = [=](int64_t at, A before) {
    const A after = Op::step(before, static_cast<A>(E::load(x[at])));
    y[at] = E::store(static_cast<typename E::Value>(exclusive ? before : after));
    return after;
  };
  int64_t line = 0;
  for (; INTARSIA_HAS_VECTORS && line + 4 <= lines; line += 4) {
    A a = Op::kNeutral, b = Op::kNeutral, c = Op::kNeutral, d = Op::kNeutral;
    int64_t at = line * distance;
    for (int64_t k = 0; k < length; ++k, at += stride) {
      a = next(at, a);
      b = next(at + distance, b);
      c = next(at + 2 * distance, c);
      d = next(at + 3 * distance, d);
    }
  }
  for (; line < lines; ++line) {
    A a = Op::kNeutral;
    int64_t at = line * distance;
    for (int64_t k = 0; k < length; ++k, at += stride) a = next(at, a);
  }
}

/// So few lines side by side are taken one by one: vectors of them would be mostly empty.
constexpr int64_t kFewLanes = 16;

template <class Op, class T>
struct Cumulative {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    const KernelType axis = index_type(context.input(1));
    if (Status s = check_attributes<CumulativeAttributes>(context); !s) return s;
    if (Status s =
            check_elementwise(context, {.inputs = {t, axis}, .required_inputs = 2, .outputs = {t}});
        !s) {
      return s;
    }
    return check_scalars(context, {1});
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using A = AxisAccumulator<T>;
    const auto& attributes = context.attributes<CumulativeAttributes>();
    const TensorView& operand = context.input(1);
    const int64_t axis =
        operand.type == DataType::kInt64 ? *operand.as<int64_t>() : *operand.as<int32_t>();
    if (!axis_in_range(context.input(0), axis)) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", context.input(0).rank, axis,
                          1);
    }
    const AxisLoop loop(context.input(0), axis);
    const bool exclusive = attributes.exclusive != 0;
    const bool reverse = attributes.reverse != 0;
    const auto* x = context.input(0).as<typename E::Stored>();
    auto* y = context.output(0).as<typename E::Stored>();
    // The first step is at these elements.
    const int64_t start = reverse ? (loop.length - 1) * loop.inner : 0;
    const int64_t stride = reverse ? -loop.inner : loop.inner;
    if (loop.length == 0) return {};
    if (INTARSIA_HAS_VECTORS && loop.inner == 1) {
      context.parallel_for((loop.outer + 3) / 4, [&](int64_t begin, int64_t end, int) {
        const int64_t lines = (4 * end < loop.outer ? 4 * end : loop.outer) - 4 * begin;
        const int64_t first = 4 * begin * loop.length + start;
        scan_lines<Op, E, A>(x + first, y + first, loop.length, lines, stride, loop.length,
                             exclusive);
      });
      return {};
    }
    if (!INTARSIA_HAS_VECTORS || loop.inner < kFewLanes) {
      loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
        scan_lines<Op, E, A>(x + first + start, y + first + start, 1, lanes, stride, loop.length,
                             exclusive);
      });
      return {};
    }
    if constexpr (INTARSIA_HAS_VECTORS) {
      loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
        const auto* from = x + first + start;
        auto* to = y + first + start;
        const auto scan = [&] {
          if (exclusive) {
            scan_rows<Op, E, A, true>(context.isa(), from, to, stride, loop.length, lanes);
          } else {
            scan_rows<Op, E, A, false>(context.isa(), from, to, stride, loop.length, lanes);
          }
        };
        if constexpr (kIsHalf<T>) {
          scan();  // which asks for the instruction set where it computes
        } else if constexpr (kCompensated<Op, T>) {
          on_isa(context.isa(), scan);  // longer vectors lie across lines of the cache more often
        } else {
          on_widest_isa(context.isa(), scan);
        }
      });
    }
    return {};
  }
};

}  // namespace

extern const KernelList cumsum_kernels;
constinit const KernelList cumsum_kernels =
    kernel_list<EachPair<Cumulative, Types<CumSumOp, CumProdOp>, WideNumbers>>();

}  // namespace intarsia::cpu
