// SPDX-License-Identifier: Apache-2.0
//
// The reference of Softmax exp(x - max) / sum, LogSoftmax x - max - log(sum), and Hardmax, which is
// 1 at the first largest element, else 0. Sums and exponentials are in double. A line that contains
// NaN becomes NaN; NaN counts as largest for Hardmax. See softmax.h.
#include <algorithm>
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/nn/softmax.h"
#include "kernels_cpu/reduction/arg_search.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

/// One line: elements `stride` apart. REQUIRES: length > 0.
template <class Op, class E>
void compute_line(const typename E::Stored* x, typename E::Stored* y, int64_t length,
                  int64_t stride) {
  auto best = E::load(x[0]);
  for (int64_t k = 1; k < length; ++k) {
    const auto value = E::load(x[k * stride]);
    if (value > best || value != value) best = value;
  }
  const double largest = best;
  double sum = 0;
  for (int64_t k = 0; k < length; ++k) sum += std::exp(E::load(x[k * stride]) - largest);
  const double log_sum = std::log(sum);
  for (int64_t k = 0; k < length; ++k) {
    const double shifted = E::load(x[k * stride]) - largest;
    const double value =
        std::is_same_v<Op, LogSoftmaxOp> ? shifted - log_sum : std::exp(shifted) / sum;
    y[k * stride] = E::store(static_cast<typename E::Value>(value));
  }
}

template <class Op, class T>
struct Softmax {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) { return check_softmax<T>(context); }

  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const AxisLoop loop(context.input(0), context.attributes<SoftmaxAttributes>().axis);
    if (loop.length == 0) return {};
    const auto* x = context.input(0).as<typename E::Stored>();
    auto* y = context.output(0).as<typename E::Stored>();
    loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        compute_line<Op, E>(x + first + lane, y + first + lane, loop.length, loop.inner);
      }
    });
    return {};
  }
};

template <class T>
struct Hardmax {
  static constexpr KernelId id{"Hardmax", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) { return check_softmax<T>(context); }

  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const AxisLoop loop(context.input(0), context.attributes<SoftmaxAttributes>().axis);
    const auto* x = context.input(0).as<typename E::Stored>();
    auto* y = context.output(0).as<typename E::Stored>();
    const auto larger = [](auto a, auto b) { return a > b; };
    if (INTARSIA_HAS_VECTORS && loop.inner == 1 && loop.length > 0) {
      context.parallel_for(loop.outer, [&](int64_t begin, int64_t end, int) {
        on_isa(context.isa(), [&] { of_rows<E>(x, y, begin, end, loop.length, larger); });
      });
      return {};
    }
    loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
      on_isa(context.isa(), [&] {
        int64_t where[kAxisLanes];
        extreme_indices<E, kAxisLanes>(x + first, 1, loop.inner, loop.length, lanes, false, where,
                                       replacing(larger));
        for (int64_t row = 0; row < loop.length; ++row) {
          std::fill_n(y + first + row * loop.inner, lanes, E::store(0));
        }
        for (int64_t lane = 0; lane < lanes; ++lane) {
          y[first + where[lane] * loop.inner + lane] = E::store(1);
        }
      });
    });
    return {};
  }

 private:
  /// The rows [begin, end), whose elements are neighbours.
  template <class E, class Larger>
  static void of_rows(const typename E::Stored* x, typename E::Stored* y, int64_t begin,
                      int64_t end, int64_t length, Larger larger) {
    constexpr int64_t kRows = 16;
    int64_t where[kRows];
    for (int64_t row = begin, count; row < end; row += count) {
      count = end - row < kRows ? end - row : kRows;
      const int64_t first = row * length;
      extreme_of_rows<E>(x + first, length, count, false, where, larger);
      std::fill_n(y + first, count * length, E::store(0));
      for (int64_t i = 0; i < count; ++i) y[first + i * length + where[i]] = E::store(1);
    }
  }
};

}  // namespace

extern const KernelList softmax_kernels;
constinit const KernelList softmax_kernels =
    kernel_list<EachPair<Softmax, Types<SoftmaxOp, LogSoftmaxOp>, Floats>, Each<Hardmax, Floats>>();

}  // namespace intarsia::cpu
