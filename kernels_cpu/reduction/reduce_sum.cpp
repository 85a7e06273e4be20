// SPDX-License-Identifier: Apache-2.0
//
// ReduceSum ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceSumSquare. Float sums accumulate in
// double, four elements together where these are plain sums; integers wrap around. An integer mean
// truncates towards zero, and of nothing is an error (NaN for floats); an integer L2 norm is the
// truncated root of the (wrapped) sum. Specification:
// https://onnx.ai/onnx/operators/onnx__ReduceSum.html and its relatives
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/common/byte_words.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/reduction/reduce.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct Sum {
  using Accumulator = AxisAccumulator<V>;
  static Accumulator identity() { return 0; }
  static Accumulator step(Accumulator sum, V value) {
    return sum + static_cast<Accumulator>(value);
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return a + b; }
  static V finish(Accumulator sum, int64_t) { return static_cast<V>(sum); }
};

/// Sums of four floats are rounded as floats, twice, before they are added to the others in double:
/// that is less than what the elements themselves are off, and most of the work is conversion.
template <class V>
struct PlainSum : Sum<V> {
  /// Of vectors, too.
  template <class F>
  static F join(const F& a, const F& b) requires std::is_same_v<V, float> {
    return a + b;
  }
};

template <class V>
struct SumOfSquares : Sum<V> {
  using typename Sum<V>::Accumulator;
  static Accumulator step(Accumulator sum, V value) {
    const auto factor = static_cast<Accumulator>(value);
    return sum + factor * factor;
  }
};

template <class V>
struct Mean : PlainSum<V> {
  using typename Sum<V>::Accumulator;
  static constexpr bool kNeedsElements = std::is_integral_v<V>;
  static V finish(Accumulator sum, int64_t count) {
    if constexpr (std::is_unsigned_v<V>) {
      return static_cast<V>(static_cast<uint64_t>(sum) / static_cast<uint64_t>(count));
    } else if constexpr (std::is_integral_v<V>) {
      return static_cast<V>(static_cast<int64_t>(static_cast<V>(sum)) / count);
    } else {
      return static_cast<V>(sum / static_cast<double>(count));
    }
  }
};

template <class V>
struct Magnitudes : Sum<V> {
  using typename Sum<V>::Accumulator;
  static Accumulator step(Accumulator sum, V value) {
    const auto term = static_cast<Accumulator>(value);
    if constexpr (std::is_integral_v<V>) {
      return sum + (value < 0 ? Accumulator{0} - term : term);
    } else {
      return sum + std::fabs(term);
    }
  }
};

template <class V>
struct Norm : SumOfSquares<V> {
  using typename Sum<V>::Accumulator;
  static V finish(Accumulator sum, int64_t) {
    if constexpr (std::is_integral_v<V>) {
      return saturate_cast<V>(std::sqrt(static_cast<double>(static_cast<V>(sum))));
    } else {
      return static_cast<V>(std::sqrt(sum));
    }
  }
};

template <class V>
struct Product : Sum<V> {
  using typename Sum<V>::Accumulator;
  static Accumulator identity() { return 1; }
  static Accumulator step(Accumulator product, V value) {
    return product * static_cast<Accumulator>(value);
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return a * b; }
};

struct ReduceL1Op {
  static constexpr std::string_view name = "ReduceL1";
  template <class V>
  using Reducer = Magnitudes<V>;
};
struct ReduceL2Op {
  static constexpr std::string_view name = "ReduceL2";
  template <class V>
  using Reducer = Norm<V>;
};
struct ReduceMeanOp {
  static constexpr std::string_view name = "ReduceMean";
  template <class V>
  using Reducer = Mean<V>;
};
struct ReduceProdOp {
  static constexpr std::string_view name = "ReduceProd";
  template <class V>
  using Reducer = Product<V>;
};
struct ReduceSumOp {
  static constexpr std::string_view name = "ReduceSum";
  template <class V>
  using Reducer = PlainSum<V>;
};
struct ReduceSumSquareOp {
  static constexpr std::string_view name = "ReduceSumSquare";
  template <class V>
  using Reducer = SumOfSquares<V>;
};

/// ReduceSum of bytes as integers of 32 bits.
template <class T>
struct SumCodes {
  static constexpr KernelId id{"intarsia:SumCodes", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_reduction(context, kernel_type_of<T>, kernel_type_of<int32_t>);
  }
  static Status run(const KernelContext& context) {
    bool is_reduced[kMaxRank];
    if (Status s = resolve_reduction(context, is_reduced); !s) return s;
    const ReduceLoop loop(context.input(0), is_reduced);
    if (loop.rows_are_dense() && loop.reduced.count <= kShortRow<T>) {
      sum_rows(context, loop.kept.count, loop.reduced.count);
      return {};
    }
    const Sum<int32_t> reducer;
    const auto load = [](T code) { return int32_t{code}; };
    reduce<T, int32_t>(context, loop, reducer,
                       [&](const T* x, int64_t lanes, int64_t begin, int64_t end, auto* sums) {
                         on_isa(context.isa(), [&] {
                           if (lanes > 1 || loop.stride() != 1) {
                             return loop.accumulate(x, lanes, begin, end, sums, reducer, load);
                           }
                           uint32_t sum = 0;
                           loop.for_runs(begin, end, [&](int64_t offset, int64_t length) {
                             sum += sum_of_bytes(x + offset, length);
                           });
                           sums[0] = static_cast<int32_t>(sum);
                         });
                       });
    return {};
  }

 private:
  /// Of many short rows, which a loop over blocks would take longer to find than to add up.
  static void sum_rows(const KernelContext& context, int64_t rows, int64_t length) {
    constexpr int64_t kUnit = 32;
    const T* x = context.input(0).as<T>();
    auto* y = context.output(0).as<int32_t>();
    context.parallel_for((rows + kUnit - 1) / kUnit, [&](int64_t begin, int64_t end, int) {
      on_isa(context.isa(), [&] {
        const int64_t last = end * kUnit < rows ? end * kUnit : rows;
        for (int64_t row = begin * kUnit; row < last; ++row) {
          y[row] = static_cast<int32_t>(sum_of_bytes(x + row * length, length));
        }
      });
    });
  }
};

using Sums =
    Types<ReduceL1Op, ReduceL2Op, ReduceMeanOp, ReduceProdOp, ReduceSumOp, ReduceSumSquareOp>;
using Halves = Types<Float16, BFloat16>;
template <class Op, class T>
using ReduceHalves = Widened<Reduce<Op, float>, T>;

}  // namespace

extern const KernelList reduce_sum_kernels;
constinit const KernelList reduce_sum_kernels =
    kernel_list<EachPair<Reduce, Sums, WideNumbers>, EachPair<ReduceHalves, Sums, Halves>,
                Each<SumCodes, Types<int8_t, uint8_t>>>();

}  // namespace intarsia::cpu
