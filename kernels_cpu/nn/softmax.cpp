// SPDX-License-Identifier: Apache-2.0
//
// The reference of Softmax exp(x - max) / sum, LogSoftmax x - max - log(sum), and Hardmax, which is
// 1 at the first largest element, else 0. Sums and exponentials are in double. A line that contains
// NaN becomes NaN; NaN counts as largest for Hardmax. See softmax.h.
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/nn/softmax.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

/// One line: elements `stride` apart.
template <class Op, class E>
void compute_line(const typename E::Stored* x, typename E::Stored* y, int64_t length,
                  int64_t stride) {
  int64_t where = 0;
  for (int64_t k = 1; k < length; ++k) {
    const auto value = E::load(x[k * stride]);
    const auto best = E::load(x[where * stride]);
    if (value > best || (value != value && best == best)) where = k;
  }
  const double largest = E::load(x[where * stride]);
  if constexpr (std::is_same_v<Op, HardmaxOp>) {
    for (int64_t k = 0; k < length; ++k) y[k * stride] = E::store(k == where ? 1 : 0);
    return;
  }
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
    loop.for_lines(context, [&](int64_t first, int64_t, int lanes) {
      for (int lane = 0; lane < lanes; ++lane) {
        compute_line<Op, E>(x + first + lane, y + first + lane, loop.length, loop.inner);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList softmax_kernels;
constinit const KernelList softmax_kernels =
    kernel_list<EachPair<Softmax, Types<SoftmaxOp, LogSoftmaxOp, HardmaxOp>, Floats>>();

}  // namespace intarsia::cpu
