// SPDX-License-Identifier: Apache-2.0
//
// Softmax and LogSoftmax by the vectors of the instruction set at hand (math/vector_math.h), in
// double precision for doubles. Rows of neighbours are handled as a whole; of lines whose elements
// lie apart, kAxisLanes neighbours at a time. See softmax.h.
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/vector_math.h"
#include "kernels_cpu/nn/softmax.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct Functions {
  void (*rows)(const V* x, V* y, int64_t rows, int64_t n);
  void (*exp)(const V* x, V* y, int64_t n, const float*);
};

/// The functions of Op on the vectors of `isa`, in single or double precision.
template <class V, bool Log>
Functions<V> functions_of(Isa isa) {
  const auto pick = [](auto math) {
    using Math = decltype(math);
    return Functions<V>{Log ? &Math::log_softmax : &Math::softmax, &Math::exp};
  };
  if constexpr (std::is_same_v<V, double>) {
    return pick_vector_math_double(isa, pick);
  } else {
    return pick_vector_math(isa, pick);
  }
}

/// Lines side by side as rows of `width` elements. Where few lines fill the memory, several
/// positions are one row: element i of each is of line i % lanes.
struct LaneRows {
  int64_t lanes, groups = 1, width, rows, rest, step;

  LaneRows(int64_t length, int64_t stride, int64_t lines) : lanes(lines) {
    // So few lines are never cut apart for threads (AxisLoop): all groups are alike.
    constexpr int64_t kMost = 256;
    while (INTARSIA_HAS_VECTORS && stride == lanes && lanes <= kRowLanes &&
           2 * groups * lanes <= kMost && 2 * groups <= length) {
      groups *= 2;
    }
    width = groups * lanes;
    rows = length / groups;
    rest = (length - rows * groups) * lanes;
    step = stride * groups;
  }
  /// Calls body(first, elements) for each row.
  template <class Body>
  void each(const Body& body) const {
    for (int64_t row = 0; row < rows; ++row) body(row * step, width);
    if (rest > 0) body(rows * step, rest);
  }
  /// Of each line: what is merged of its elements of `row`, finished, in place of them all.
  template <class V, class Merge, class Finish>
  void merge(V* row, Merge merge, const Finish& finish) const {
    merge_groups(row, lanes, groups, merge);
    for (int64_t i = 0; i < lanes; ++i) row[i] = finish(row[i]);
    for (int64_t i = lanes; i < width; ++i) row[i] = row[i - lanes];
  }
};

template <bool Log, class V>
V last_of(V sum) {
  return Log ? std::log(sum) : 1 / sum;
}
template <class V>
V larger_of(V a, V b) {
  return b > a ? b : a;
}
template <class V>
V sum_of(V a, V b) {
  return a + b;
}

template <bool Log, class V>
void strided_lines(const Functions<V>& functions, const V* x, V* y, const LaneRows& rows) {
  V largest[kAxisLanes], sum[kAxisLanes], block[kAxisLanes];
  for (int64_t i = 0; i < rows.width; ++i) largest[i] = x[i];
  rows.each(
      [&](int64_t first, int64_t n) { step_rows(largest, x + first, 0, 1, n, larger_of<V>); });
  rows.merge(largest, larger_of<V>, [](V v) { return v; });
  for (int64_t i = 0; i < rows.width; ++i) sum[i] = 0;
  rows.each([&](int64_t first, int64_t n) {
    const V* in = x + first;
    V* out = Log ? block : y + first;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] - largest[i];
    functions.exp(out, out, n, nullptr);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) sum[i] += out[i];
  });
  rows.merge(sum, sum_of<V>, last_of<Log, V>);
  rows.each([&](int64_t first, int64_t n) {
    const V* in = x + first;
    V* out = y + first;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      out[i] = Log ? (in[i] - largest[i]) - sum[i] : out[i] * sum[i];
    }
  });
}

/// Rows of 16-bit elements pass through floats: as many short ones as fit, long ones block by block
/// for each of the three steps.
constexpr int64_t kHalfBlock = 1024;

template <class T>
void half_rows(Isa isa, const Functions<float>& functions, const T* x, T* y, int64_t rows,
               int64_t length) {
  float block[kHalfBlock];
  const int64_t most = kHalfBlock / length;
  for (int64_t row = 0, count; row < rows; row += count) {
    count = most < rows - row ? most : rows - row;
    to_floats(isa, x + row * length, block, count * length);
    functions.rows(block, block, count, length);
    from_floats(isa, block, y + row * length, count * length);
  }
}

struct HalfParts {
  float (*largest)(const float* x, int64_t n);
  float (*exp_sum)(const float* x, float* y, int64_t n, float shift);
};

template <bool Log, class T>
void long_half_row(Isa isa, const T* x, T* y, int64_t length) {
  const HalfParts parts = pick_vector_math(isa, [](auto math) {
    using Math = decltype(math);
    return HalfParts{&Math::largest, &Math::exp_sum};
  });
  float block[kHalfBlock];
  block[0] = 0;  // GCC does not see that `to_floats` writes it
  const auto each_block = [&](const auto& body) {
    for (int64_t k = 0; k < length; k += kHalfBlock) {
      const int64_t count = length - k < kHalfBlock ? length - k : kHalfBlock;
      to_floats(isa, x + k, block, count);
      body(k, count);
    }
  };
  float largest = -std::numeric_limits<float>::infinity(), sum = 0;
  each_block([&](int64_t, int64_t count) {
    const float found = parts.largest(block, count);
    largest = found > largest ? found : largest;
  });
  each_block([&](int64_t, int64_t count) { sum += parts.exp_sum(block, nullptr, count, largest); });
  const float last = Log ? std::log(sum) : 1.0f / sum;
  each_block([&](int64_t k, int64_t count) {
    if constexpr (!Log) parts.exp_sum(block, block, count, largest);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      block[i] = Log ? (block[i] - largest) - last : block[i] * last;
    }
    from_floats(isa, block, y + k, count);
  });
}

template <bool Log, class T>
void strided_lines(Isa isa, const Functions<float>& functions, const T* x, T* y,
                   const LaneRows& rows) {
  float largest[kAxisLanes], sum[kAxisLanes], block[kAxisLanes];
  to_floats(isa, x, largest, rows.width);
  rows.each([&](int64_t first, int64_t n) {
    to_floats(isa, x + first, block, n);
    step_rows(largest, block, 0, 1, n, larger_of<float>);
  });
  rows.merge(largest, larger_of<float>, [](float v) { return v; });
  for (int64_t i = 0; i < rows.width; ++i) sum[i] = 0;
  const auto shifted = [&](int64_t first, int64_t n) {
    to_floats(isa, x + first, block, n);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) block[i] -= largest[i];
  };
  rows.each([&](int64_t first, int64_t n) {
    shifted(first, n);
    functions.exp(block, block, n, nullptr);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) sum[i] += block[i];
  });
  rows.merge(sum, sum_of<float>, last_of<Log, float>);
  rows.each([&](int64_t first, int64_t n) {
    shifted(first, n);
    if constexpr (!Log) functions.exp(block, block, n, nullptr);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) block[i] = Log ? block[i] - sum[i] : block[i] * sum[i];
    from_floats(isa, block, y + first, n);
  });
}

template <class Op, class T>
struct FastSoftmax {
  static constexpr KernelId id{Op::name, "fast", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) { return check_softmax<T>(context); }

  static Status run(const KernelContext& context) {
    constexpr bool kLog = std::is_same_v<Op, LogSoftmaxOp>;
    const AxisLoop loop(context.input(0), context.attributes<SoftmaxAttributes>().axis);
    if (loop.length == 0) return {};
    using V = std::conditional_t<kIsHalf<T>, float, T>;
    const Functions<V> functions = functions_of<V, kLog>(context.isa());
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    const Isa isa = context.isa();
    const int64_t length = loop.length;
    if (loop.inner == 1) {
      context.parallel_for(loop.outer, [&](int64_t begin, int64_t end, int) {
        const T* from = x + begin * length;
        T* to = y + begin * length;
        if constexpr (!kIsHalf<T>) {
          functions.rows(from, to, end - begin, length);
        } else if (length <= kHalfBlock) {
          half_rows(isa, functions, from, to, end - begin, length);
        } else {
          for (int64_t row = 0; row < end - begin; ++row) {
            on_isa(isa, [&] {
              long_half_row<kLog>(isa, from + row * length, to + row * length, length);
            });
          }
        }
      });
      return {};
    }
    loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
      on_isa(isa, [&] {
        const T* from = x + first;
        T* to = y + first;
        const LaneRows rows(length, loop.inner, lanes);
        if constexpr (kIsHalf<T>) {
          strided_lines<kLog>(isa, functions, from, to, rows);
        } else {
          strided_lines<kLog>(functions, from, to, rows);
        }
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList softmax_fast_kernels;
constinit const KernelList softmax_fast_kernels =
    kernel_list<EachPair<FastSoftmax, Types<SoftmaxOp, LogSoftmaxOp>, Floats>>();

}  // namespace intarsia::cpu
