// SPDX-License-Identifier: Apache-2.0
//
// Softmax and LogSoftmax of floats and 16-bit elements, by the vectors of the instruction set at
// hand (math/vector_math.h). Lines of neighbouring elements are handled as a whole; of lines whose
// elements lie apart, kAxisLanes neighbours at a time. See softmax.h.
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

struct Functions {
  float (*largest)(const float* x, int64_t n);
  float (*exp_sum)(const float* x, float* y, int64_t n, float shift);
  VectorMap exp;
};

template <bool Log>
void dense_line(const Functions& functions, const float* x, float* y, int64_t length) {
  const float largest = functions.largest(x, length);
  if constexpr (Log) {
    const float sum = functions.exp_sum(x, nullptr, length, largest);
    const float log_sum = std::log(sum);
    INTARSIA_INDEPENDENT
    for (int64_t k = 0; k < length; ++k) y[k] = (x[k] - largest) - log_sum;
  } else {
    const float scale = 1.0f / functions.exp_sum(x, y, length, largest);
    INTARSIA_INDEPENDENT
    for (int64_t k = 0; k < length; ++k) y[k] *= scale;
  }
}

/// Lines side by side as rows of `width` elements. Where few lines fill the memory, several
/// positions are one row: element i of each is of line i % lanes.
struct LaneRows {
  int64_t lanes, groups = 1, width, rows, rest, step;

  LaneRows(int64_t length, int64_t stride, int64_t lines) : lanes(lines) {
    constexpr int64_t kMost = 256;
    while (INTARSIA_HAS_VECTORS && stride == lanes && 2 * groups * lanes <= kMost &&
           2 * groups <= length) {
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
  template <class Merge, class Finish>
  void merge(float* row, Merge merge, const Finish& finish) const {
    merge_groups(row, lanes, groups, merge);
    for (int64_t i = 0; i < lanes; ++i) row[i] = finish(row[i]);
    for (int64_t i = lanes; i < width; ++i) row[i] = row[i - lanes];
  }
};

template <bool Log>
float last_of(float sum) {
  return Log ? std::log(sum) : 1.0f / sum;
}
inline float larger_of(float a, float b) {
  return b > a ? b : a;
}

template <bool Log>
void strided_lines(const Functions& functions, const float* x, float* y, const LaneRows& rows) {
  float largest[kAxisLanes], sum[kAxisLanes], block[kAxisLanes];
  for (int64_t i = 0; i < rows.width; ++i) largest[i] = x[i];
  rows.each([&](int64_t first, int64_t n) { step_rows(largest, x + first, 0, 1, n, larger_of); });
  rows.merge(largest, larger_of, [](float v) { return v; });
  for (int64_t i = 0; i < rows.width; ++i) sum[i] = 0;
  rows.each([&](int64_t first, int64_t n) {
    const float* in = x + first;
    float* out = Log ? block : y + first;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] - largest[i];
    functions.exp(out, out, n, nullptr);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) sum[i] += out[i];
  });
  rows.merge(
      sum, [](float a, float b) { return a + b; }, last_of<Log>);
  rows.each([&](int64_t first, int64_t n) {
    const float* in = x + first;
    float* out = y + first;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      out[i] = Log ? (in[i] - largest[i]) - sum[i] : out[i] * sum[i];
    }
  });
}

/// Lines of 16-bit elements pass through floats: short ones as a whole, others block by block for
/// each of the three steps.
constexpr int64_t kHalfLine = 1024;

template <bool Log, class T>
void dense_line(Isa isa, const Functions& functions, const T* x, T* y, int64_t length) {
  float block[kHalfLine];
  block[0] = 0;  // GCC does not see that `to_floats` writes it
  if (length <= kHalfLine) {
    to_floats(isa, x, block, length);
    dense_line<Log>(functions, block, block, length);
    return from_floats(isa, block, y, length);
  }
  const auto each_block = [&](const auto& body) {
    for (int64_t k = 0; k < length; k += kHalfLine) {
      const int64_t count = length - k < kHalfLine ? length - k : kHalfLine;
      to_floats(isa, x + k, block, count);
      body(k, count);
    }
  };
  float largest = -std::numeric_limits<float>::infinity(), sum = 0;
  each_block([&](int64_t, int64_t count) {
    const float found = functions.largest(block, count);
    largest = found > largest ? found : largest;
  });
  each_block(
      [&](int64_t, int64_t count) { sum += functions.exp_sum(block, nullptr, count, largest); });
  const float last = Log ? std::log(sum) : 1.0f / sum;
  each_block([&](int64_t k, int64_t count) {
    if constexpr (!Log) functions.exp_sum(block, block, count, largest);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      block[i] = Log ? (block[i] - largest) - last : block[i] * last;
    }
    from_floats(isa, block, y + k, count);
  });
}

template <bool Log, class T>
void strided_lines(Isa isa, const Functions& functions, const T* x, T* y, const LaneRows& rows) {
  float largest[kAxisLanes], sum[kAxisLanes], block[kAxisLanes];
  to_floats(isa, x, largest, rows.width);
  rows.each([&](int64_t first, int64_t n) {
    to_floats(isa, x + first, block, n);
    step_rows(largest, block, 0, 1, n, larger_of);
  });
  rows.merge(largest, larger_of, [](float v) { return v; });
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
  rows.merge(
      sum, [](float a, float b) { return a + b; }, last_of<Log>);
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
    const Functions functions = pick_vector_math(context.isa(), [](auto math) {
      using Math = decltype(math);
      return Functions{&Math::largest, &Math::exp_sum, &Math::exp};
    });
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    const Isa isa = context.isa();
    loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
      on_isa(isa, [&] {
        const T* from = x + first;
        T* to = y + first;
        if constexpr (std::is_same_v<T, float>) {
          loop.inner == 1
              ? dense_line<kLog>(functions, from, to, loop.length)
              : strided_lines<kLog>(functions, from, to, LaneRows(loop.length, loop.inner, lanes));
        } else {
          loop.inner == 1 ? dense_line<kLog>(isa, functions, from, to, loop.length)
                          : strided_lines<kLog>(isa, functions, from, to,
                                                LaneRows(loop.length, loop.inner, lanes));
        }
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList softmax_fast_kernels;
constinit const KernelList softmax_fast_kernels = kernel_list<
    EachPair<FastSoftmax, Types<SoftmaxOp, LogSoftmaxOp>, Types<float, Float16, BFloat16>>>();

}  // namespace intarsia::cpu
