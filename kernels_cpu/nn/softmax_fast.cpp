// SPDX-License-Identifier: Apache-2.0
//
// Softmax and LogSoftmax of floats, by the vectors of the instruction set at hand
// (math/vector_math.h). Lines of neighbouring elements are handled as a whole; of lines whose
// elements lie apart, kAxisLanes neighbours at a time. See softmax.h.
#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cpu/common/isa_loop.h"
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
    // The exponentials are only summed: a block of them is kept, and overwritten, on the stack.
    constexpr int64_t kBlock = 256;
    float block[kBlock];
    float sum = 0;
    for (int64_t k = 0; k < length; k += kBlock) {
      const int64_t count = length - k < kBlock ? length - k : kBlock;
      sum += functions.exp_sum(x + k, block, count, largest);
    }
    const float log_sum = std::log(sum);
    INTARSIA_INDEPENDENT
    for (int64_t k = 0; k < length; ++k) y[k] = (x[k] - largest) - log_sum;
  } else {
    const float scale = 1.0f / functions.exp_sum(x, y, length, largest);
    INTARSIA_INDEPENDENT
    for (int64_t k = 0; k < length; ++k) y[k] *= scale;
  }
}

template <bool Log>
void strided_lines(const Functions& functions, const float* x, float* y, int64_t length,
                   int64_t stride, int64_t lanes) {
  float largest[kAxisLanes];
  float sum[kAxisLanes];
  float block[kAxisLanes];
  for (int64_t i = 0; i < lanes; ++i) largest[i] = x[i];
  step_rows(largest, x + stride, stride, length - 1, lanes,
            [](float a, float b) { return b > a ? b : a; });
  for (int64_t i = 0; i < lanes; ++i) sum[i] = 0;
  for (int64_t k = 0; k < length; ++k) {
    const float* in = x + k * stride;
    float* out = Log ? block : y + k * stride;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < lanes; ++i) out[i] = in[i] - largest[i];
    functions.exp(out, out, lanes, 0);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < lanes; ++i) sum[i] += out[i];
  }
  for (int64_t i = 0; i < lanes; ++i) sum[i] = Log ? std::log(sum[i]) : 1.0f / sum[i];
  for (int64_t k = 0; k < length; ++k) {
    const float* in = x + k * stride;
    float* out = y + k * stride;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < lanes; ++i) {
      out[i] = Log ? (in[i] - largest[i]) - sum[i] : out[i] * sum[i];
    }
  }
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
    const float* x = context.input(0).as<float>();
    float* y = context.output(0).as<float>();
    loop.for_lines(context, [&](int64_t first, int64_t, int64_t lanes) {
      on_isa(context.isa(), [&] {
        if (loop.inner == 1) {
          dense_line<kLog>(functions, x + first, y + first, loop.length);
        } else {
          strided_lines<kLog>(functions, x + first, y + first, loop.length, loop.inner, lanes);
        }
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList softmax_fast_kernels;
constinit const KernelList softmax_fast_kernels =
    kernel_list<EachPair<FastSoftmax, Types<SoftmaxOp, LogSoftmaxOp>, Types<float>>>();

}  // namespace intarsia::cpu
