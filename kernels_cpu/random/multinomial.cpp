// SPDX-License-Identifier: Apache-2.0
//
// Multinomial: y[row, s] is the class k that a number u drawn for (row, s) falls on, where class k
// is as wide as exp(x[row, k]) of the sum over k. Minus infinity is a class that is never drawn;
// NaN, infinity, and a row of minus infinities fail. Exponentials are computed in float (double for
// doubles) by a series, the same bits on every target, and added in double. Rows are shared among
// threads, each with a row of sums in the workspace. See draw.h for u.
// https://onnx.ai/onnx/operators/onnx__Multinomial.html
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "intarsia/checked_int.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/random/draw.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct Exponential;
template <>
struct Exponential<float> {
  using Bits = int32_t;
  static constexpr int kMantissa = 23, kBias = 127, kTerms = 7;
  static constexpr float kLowest = -87, kRound = 0x1.8p23f;
  static constexpr float kLog2 = 1.44269504f, kLn2 = 0.693359375f, kRest = -2.12194440e-4f;
};
template <>
struct Exponential<double> {
  using Bits = int64_t;
  static constexpr int kMantissa = 52, kBias = 1023, kTerms = 13;
  static constexpr double kLowest = -708, kRound = 0x1.8p52;
  static constexpr double kLog2 = 1.4426950408889634, kLn2 = 6.93147180369123816490e-01,
                          kRest = 1.90821492927058770002e-10;
};

/// exp(x) for x <= 0: 2^n exp(r), r = x - n ln 2; what is below the normal numbers is 0.
template <class V>
V exp_of(V x) {
  using X = Exponential<V>;
  using Bits = typename X::Bits;
  const V bounded = x < X::kLowest ? X::kLowest : x;
  const V shifted = bounded * X::kLog2 + X::kRound;  // adding it rounds to an integer
  const V n = shifted - X::kRound;
  const V r = (bounded - n * X::kLn2) - n * X::kRest;
  V series = 1;
  INTARSIA_UNROLLED
  for (int k = X::kTerms; k > 0; --k) series = 1 + r * series * (V(1) / V(k));
  const Bits exponent = std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(X::kRound);
  const V power = std::bit_cast<V>((exponent + X::kBias) << X::kMantissa);
  return x < X::kLowest ? V(0) : series * power;
}

/// The largest element; infinity if any is that or NaN.
template <class E>
typename E::Value largest_of(const typename E::Stored* x, int64_t count) {
  using V = typename E::Value;
  constexpr V kInfinity = std::numeric_limits<V>::infinity();
  constexpr int kLanes = 16;
  V lanes[kLanes];
  for (V& lane : lanes) lane = -kInfinity;
  for (int64_t first = 0; first < count; first += kLanes) {
    const int64_t left = count - first;
    const int width = left < kLanes ? static_cast<int>(left) : kLanes;
    INTARSIA_INDEPENDENT
    for (int i = 0; i < width; ++i) {
      const V value = E::load(x[first + i]);
      const V larger = value > lanes[i] ? value : lanes[i];
      lanes[i] = value < kInfinity ? larger : kInfinity;
    }
  }
  return *std::max_element(lanes, lanes + kLanes);
}

/// The sums of the weights of classes 0 to k.
template <class E>
void sum_weights(const typename E::Stored* x, int64_t classes, double* sums) {
  using V = typename E::Value;
  const V largest = largest_of<E>(x, classes);
  double sum = 0;
  for (int64_t first = 0; first < classes; first += kPiece) {
    const int64_t left = classes - first;
    const int count = left < kPiece ? static_cast<int>(left) : kPiece;
    V weights[kPiece];
    INTARSIA_INDEPENDENT
    for (int k = 0; k < count; ++k) weights[k] = exp_of(E::load(x[first + k]) - largest);
    for (int k = 0; k < count; ++k) sums[first + k] = sum += static_cast<double>(weights[k]);
  }
}

/// Draws one row, whose numbers begin at position `position`.
template <class Out>
void draw_row(const Numbers& numbers, int64_t position, const double* sums, int64_t classes, Out* y,
              int64_t samples) {
  const double total = sums[classes - 1];
  // Rounding may let u * total reach the total: the last class that has a width.
  const double* last = std::lower_bound(sums, sums + classes, total);
  for (int64_t first = 0; first < samples; first += kPiece) {
    const int64_t left = samples - first;
    const int count = left < kPiece ? static_cast<int>(left) : kPiece;
    double u[kPiece];
    numbers.uniforms(position + first, count, u);
    for (int i = 0; i < count; ++i) {
      y[first + i] = static_cast<Out>(std::upper_bound(sums, last, u[i] * total) - sums);
    }
  }
}

template <class T, class Out>
struct Multinomial : DrawingKernel<MultinomialAttributes, Draws::kMultinomial> {
  static constexpr KernelId id{"Multinomial", "", {kernel_type_of<T>, kernel_type_of<Out>}};

  /// A row of sums for each thread.
  static int64_t workspace(const KernelContext& context) {
    const CheckedInt classes = context.input(0).extents[1];
    return (classes * sizeof(double) * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    Status status = check_operands<ops::Multinomial>(
        context, {.inputs = {kernel_type_of<T>}, .outputs = {kernel_type_of<Out>}});
    if (!status) return status;
    if (context.input(0).extents[1] == 0 && context.output(0).count() > 0) {
      return context.fail(Code::kWrongExtent, "number of classes (at least)", 1, 0, 0, 1);
    }
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const TensorView& input = context.input(0);
    const int64_t rows = input.extents[0], classes = input.extents[1];
    const int64_t samples = context.output(0).extents[1];
    const Numbers numbers = next_numbers(context);
    if (rows == 0 || samples == 0) return {};
    const auto* x = input.as<const typename E::Stored>();
    for (int64_t row = 0; row < rows; ++row) {
      if (std::isfinite(largest_of<E>(x + row * classes, classes))) continue;
      return context.fail(Code::kInvalidValue, "largest number of row {}, which is not finite", 0,
                          row, 0);
    }
    // A row's numbers begin at a whole counter.
    const int64_t pitch = samples <= 4 ? 4 : (samples + kPiece - 1) / kPiece * kPiece;
    auto* y = context.output(0).as<Out>();
    const PerThread<double> memory(context.workspace(), context.threads(), classes);
    context.parallel_for(rows, [&](int64_t begin, int64_t end, int thread) {
      double* sums = memory[thread];
      for (int64_t row = begin; row < end; ++row) {
        on_isa(context.isa(), [=] { sum_weights<E>(x + row * classes, classes, sums); });
        draw_row(numbers, row * pitch, sums, classes, y + row * samples, samples);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList multinomial_kernels;
constinit const KernelList multinomial_kernels =
    kernel_list<EachPair<Multinomial, Floats, Indices>>();

}  // namespace intarsia::cpu
