// SPDX-License-Identifier: Apache-2.0
//
// Fast depthwise ConvInteger. Output rows are shared out over the threads.
#include "core/kernel_list.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/nn/depthwise_byte_sums.h"

namespace intarsia::cpu {
namespace {

template <class X, class W>
struct ConvIntegerDepthwise : DepthwiseByteFilters {
  static constexpr KernelId id{"ConvInteger", "depthwise", {kernel_type_of<X>, kernel_type_of<W>}};

  static Status check(const KernelContext& context) {
    if (Status status = check_fast_conv_integer<X, W>(context); !status) return status;
    return check_filters(context);
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const DepthwiseByteSums sums(context, kZeroPoints);
    auto* y = context.output(0).as<uint32_t>();
    context.parallel_for(sums.rows(), [&](int64_t begin, int64_t end, int) {
      sums.sum(begin, end, y + begin * sums.row_elements());
    });
    return {};
  }
};

template <class X, class W>
using DepthwiseComputed = PackedAtRun<ConvIntegerDepthwise<X, W>>;

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_depthwise_kernels;
constinit const KernelList conv_integer_depthwise_kernels =
    kernel_list<EachPair<ConvIntegerDepthwise, Bytes, Bytes>,
                EachPair<DepthwiseComputed, Bytes, Bytes>>();

}  // namespace intarsia::cpu
