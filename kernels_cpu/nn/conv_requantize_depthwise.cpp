// SPDX-License-Identifier: Apache-2.0
//
// Fast depthwise ConvRequantize: some output rows become sums, then codes. Output rows are shared
// out over the threads.
#include "core/kernel_list.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/nn/conv_requantize.h"
#include "kernels_cpu/nn/depthwise_byte_sums.h"

namespace intarsia::cpu {
namespace {

/// Elements whose sums wait at once; a row, if it has more.
constexpr int64_t kMostSums = 1 << 15;

template <class Y>
void convolve(const KernelContext& context) {
  const DepthwiseByteSums sums(context, kRequantizedZeroPoints);
  const FilterCodes<Y> codes(context);
  const int64_t row = sums.row_elements(), filters = sums.shape.out_c;
  const int64_t block = std::max<int64_t>(kMostSums / row, 1);
  const PerThread<uint32_t> memory(context.workspace(), context.threads());
  Y* y = context.output(0).as<Y>();
  context.parallel_for(sums.rows(), [&](int64_t begin, int64_t end, int thread) {
    uint32_t* some = memory[thread];
    for (int64_t first = begin, last; first < end; first = last) {
      last = std::min(end, first + block);
      sums.sum(first, last, some);
      codes.store(some, (last - first) * sums.shape.out_w, filters, y + first * row);
    }
  });
}

template <class X, class W, class Y>
struct ConvRequantizeDepthwise : DepthwiseByteFilters {
  static constexpr KernelId id{"intarsia:ConvRequantize",
                               "depthwise",
                               {kernel_type_of<X>, kernel_type_of<W>, kernel_type_of<Y>}};

  static int64_t workspace(const KernelContext& context) {
    const DepthwiseByteSums sums(context, kRequantizedZeroPoints);
    const CheckedInt row = CheckedInt(sums.shape.out_w) * sums.shape.out_c, most = kMostSums;
    const CheckedInt bytes = (row < most ? most : row) * sizeof(uint32_t) + 64;
    return (bytes * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_conv_requantize<X, W, Y>(context); !status) return status;
    if (Status status = check_fast_image(context); !status) return status;
    if (Status status = check_filters(context); !status) return status;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() > 0) convolve<Y>(context);
    return {};
  }
};

template <class X, class W, class Y>
using OfComputed = PackedAtRun<ConvRequantizeDepthwise<X, W, Y>>;

}  // namespace

extern const KernelList conv_requantize_depthwise_kernels;
constinit const KernelList conv_requantize_depthwise_kernels =
    kernel_list<EachOfBytes<ConvRequantizeDepthwise>, EachOfBytes<OfComputed>>();

}  // namespace intarsia::cpu
