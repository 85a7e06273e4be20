// SPDX-License-Identifier: Apache-2.0
//
// ReduceLogSum ReduceLogSumExp. LogSumExp keeps the largest exponent seen and the sum relative to
// it, so that nothing overflows in one pass. Variant "fast", of floats: the largest first, then the
// sum, by the exponentials of math/vector_math.h; those of many short rows at once. Specification:
// https://onnx.ai/onnx/operators/onnx__ReduceLogSumExp.html and its relative
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/math/vector_math.h"
#include "kernels_cpu/reduction/reduce.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct LogSum {
  using Accumulator = double;
  static double identity() { return 0; }
  static double step(double sum, V value) { return sum + static_cast<double>(value); }
  static double merge(double a, double b) { return a + b; }
  static V finish(double sum, int64_t) { return static_cast<V>(std::log(sum)); }
};

template <class V>
struct LogSumExp {
  /// exp(largest) * sum is the sum so far.
  struct Accumulator {
    double largest;
    double sum;
  };
  static Accumulator identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static Accumulator step(Accumulator a, V value) { return merge(a, {value, 1}); }
  static Accumulator merge(Accumulator a, Accumulator b) {
    if (a.largest == b.largest) return {a.largest, a.sum + b.sum};  // infinities too
    if (a.largest > b.largest) return {a.largest, a.sum + b.sum * std::exp(b.largest - a.largest)};
    return {b.largest, b.sum + a.sum * std::exp(a.largest - b.largest)};  // NaN too: it stays NaN
  }
  static V finish(Accumulator a, int64_t) { return static_cast<V>(std::log(a.sum) + a.largest); }
};

struct ReduceLogSumOp {
  static constexpr std::string_view name = "ReduceLogSum";
  template <class V>
  using Reducer = LogSum<V>;
};
struct ReduceLogSumExpOp {
  static constexpr std::string_view name = "ReduceLogSumExp";
  template <class V>
  using Reducer = LogSumExp<V>;
};
/// NaN counts for nothing: the exponentials say that there is one.
struct LargestNumber {
  using Accumulator = float;
  static float identity() { return -std::numeric_limits<float>::infinity(); }
  static float step(float largest, float value) { return value > largest ? value : largest; }
  static float merge(float a, float b) { return step(a, b); }
};

struct Functions {
  VectorMap exp, log;
  float (*exp_sum)(const float* x, float* y, int64_t n, float shift);
};

/// totals[i] += exp(x - shift[i]), by blocks of neighbours.
void add_rows(const float* x, int64_t stride, int64_t length, int64_t lanes, const float* shift,
              VectorMap exp, double* totals) {
  float block[kReduceLanes];
  const int64_t most = kReduceLanes / lanes;
  for (int64_t k = 0; k < length; k += most) {
    const int64_t rows = length - k < most ? length - k : most;
    const float* in = x + k * stride;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < lanes; ++i) block[row * lanes + i] = in[row * stride + i] - shift[i];
    }
    exp(block, block, rows * lanes, nullptr);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < lanes; ++i) totals[i] += block[row * lanes + i];
    }
  }
}

/// The same of a single lane: no x is above shift.
double row_sum(const float* x, int64_t stride, int64_t length, float shift,
               const Functions& functions) {
  float block[kReduceLanes];
  double total = 0;
  for (int64_t k = 0; k < length; k += kReduceLanes) {
    const int64_t count = length - k < kReduceLanes ? length - k : kReduceLanes;
    const float* in = x + k * stride;
    if (stride != 1) {
      for (int64_t i = 0; i < count; ++i) block[i] = in[i * stride];
      in = block;
    }
    total += functions.exp_sum(in, block, count, shift);
  }
  return total;
}

/// Infinity less infinity would be NaN; without a shift exp gives infinity, or 0.
float shift_of(float largest) {
  return std::isfinite(largest) ? largest : 0.0f;
}

/// Rows of so few neighbours share one call of each function.
constexpr int64_t kFewNeighbours = 32;

/// y = the results of `rows` rows of `length` neighbours, together at most kReduceLanes.
void reduce_short_rows(const float* x, float* y, int64_t rows, int64_t length,
                       const Functions& functions) {
  float block[kReduceLanes], shift[kReduceLanes], sums[kReduceLanes];
  block[0] = 0;  // GCC does not see that there is a row
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * length;
    float largest = in[0];
    for (int64_t i = 1; i < length; ++i) largest = in[i] > largest ? in[i] : largest;
    shift[row] = shift_of(largest);
    for (int64_t i = 0; i < length; ++i) block[row * length + i] = in[i] - shift[row];
  }
  functions.exp(block, block, rows * length, nullptr);
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += block[row * length + i];
    sums[row] = sum;
  }
  functions.log(sums, sums, rows, nullptr);
  for (int64_t row = 0; row < rows; ++row) y[row] = sums[row] + shift[row];
}

struct FastLogSumExp {
  static constexpr KernelId id{ReduceLogSumExpOp::name, "fast", {kernel_type_of<float>}};
  using Reducer = LogSumExp<float>;
  using Sum = Reducer::Accumulator;

  static Status check(const KernelContext& context) {
    return check_reduction(context, kernel_type_of<float>, kernel_type_of<float>);
  }
  static Status run(const KernelContext& context) {
    bool is_reduced[kMaxRank];
    if (Status s = resolve_reduction(context, is_reduced); !s) return s;
    const ReduceLoop loop(context.input(0), is_reduced);
    const Functions functions = pick_vector_math(context.isa(), [](auto math) {
      using Math = decltype(math);
      return Functions{&Math::exp, &Math::log, &Math::exp_sum};
    });
    if (loop.rows_are_dense() && loop.reduced.count <= kFewNeighbours) {
      const int64_t length = loop.reduced.count, rows = loop.kept.count;
      const int64_t most = kReduceLanes / length;
      const auto* x = context.input(0).as<const float>();
      auto* y = context.output(0).as<float>();
      context.parallel_for((rows + most - 1) / most, [&](int64_t begin, int64_t end, int) {
        on_isa(context.isa(), [&] {
          for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t first = unit * most, left = rows - first;
            reduce_short_rows(x + first * length, y + first, left < most ? left : most, length,
                              functions);
          }
        });
      });
      return {};
    }
    reduce<float>(context, loop, Reducer(),
                  [&](const float* x, int64_t lanes, int64_t begin, int64_t end, Sum* sums) {
                    on_isa(context.isa(),
                           [&] { accumulate(loop, functions, x, lanes, begin, end, sums); });
                  });
    return {};
  }

 private:
  static void accumulate(const ReduceLoop& loop, const Functions& functions, const float* x,
                         int64_t lanes, int64_t begin, int64_t end, Sum* sums) {
    float shift[kReduceLanes];
    double totals[kReduceLanes];
    loop.accumulate(x, lanes, begin, end, shift, LargestNumber(),
                    [](float value) { return value; });
    for (int64_t i = 0; i < lanes; ++i) {
      sums[i].largest = shift[i];
      totals[i] = 0;
    }
    const bool finite = std::isfinite(shift[0]);
    for (int64_t i = 0; i < lanes; ++i) shift[i] = shift_of(shift[i]);
    loop.for_runs(begin, end, [&](int64_t offset, int64_t length) {
      if (loop.row == 1 && finite) {
        totals[0] += row_sum(x + offset, loop.stride(), length, shift[0], functions);
      } else {
        add_rows(x + offset, loop.stride(), length, lanes, shift, functions.exp, totals);
      }
    });
    for (int64_t i = 0; i < lanes; ++i) sums[i].sum = totals[i];
  }
};

}  // namespace

extern const KernelList reduce_exponential_kernels;
constinit const KernelList reduce_exponential_kernels =
    kernel_list<EachPair<Reduce, Types<ReduceLogSumOp, ReduceLogSumExpOp>, Floats>,
                WithHalves<FastLogSumExp>, OfHalves<Reduce<ReduceLogSumOp, float>>>();

}  // namespace intarsia::cpu
