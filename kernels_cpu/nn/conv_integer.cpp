// SPDX-License-Identifier: Apache-2.0
//
// Reference ConvInteger.
// Specification: https://onnx.ai/onnx/operators/onnx__ConvInteger.html
#include "core/kernel_list.h"
#include "kernels_cpu/nn/conv_integer_rows.h"

namespace intarsia::cpu {
namespace {

struct IntegerSums {
  uint32_t* y;
  static uint32_t start(int64_t) { return 0; }
  void store(int64_t at, uint32_t sum) const { y[at] = sum; }
};

template <class X, class W>
struct ConvInteger {
  static constexpr KernelId id{"ConvInteger", "", {kernel_type_of<X>, kernel_type_of<W>}};

  static Status check(const KernelContext& context) { return check_conv_integer<X, W>(context); }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    convolve_bytes(context, kZeroPoints, IntegerSums{context.output(0).as<uint32_t>()});
    return {};
  }
};

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_kernels;
constinit const KernelList conv_integer_kernels =
    kernel_list<EachPair<ConvInteger, Bytes, Bytes>>();

}  // namespace intarsia::cpu
