// SPDX-License-Identifier: Apache-2.0
//
// Fast ConvRequantize by products of windows and filters in panels: sums of a block, which lie in
// the first cache level, become codes.
#include "core/kernel_list.h"
#include "kernels_cpu/nn/byte_windows.h"
#include "kernels_cpu/nn/conv_requantize.h"

namespace intarsia::cpu {
namespace {

/// The codes of a block of filters.
template <class Y>
struct BlockCodes {
  static constexpr int64_t kMost = WindowBlocks::kMostColumns;

  float scale[kMost];
  int32_t bias[kMost];
  Y* y;
  int64_t filters;  // all of them
  int64_t count;
  int32_t zero;
  Isa isa;

  BlockCodes(const FilterCodes<Y>& by, int64_t first, int64_t some, Y* to, int64_t all)
      : y(to), filters(all), count(some), zero(static_cast<int32_t>(by.zero)), isa(by.isa) {
    by.list(first, count, scale, bias);
    const int64_t end = panel_count(count) * kPanel;
    std::fill(scale + count, scale + end, 0.0f);
    std::fill(bias + count, bias + end, 0);
  }
  void operator()(const ByteSums& sums, int64_t pixel) const {
    auto* to = reinterpret_cast<uint8_t*>(y + pixel * filters);
    store_codes(sums,
                {scale, bias, zero, std::is_signed_v<Y>, static_cast<ptrdiff_t>(count), to,
                 static_cast<ptrdiff_t>(filters)},
                isa);
  }
};

template <class Y>
void convolve(const KernelContext& context, ByteWindows windows) {
  const FilterCodes<Y> codes(context);
  Y* y = context.output(0).as<Y>();
  const int64_t filters = windows.groups() * windows.filters();
  for_window_sums(context, windows, [&](int64_t filter, int64_t count) {
    return BlockCodes<Y>(codes, filter, count, y + filter, filters);
  });
}

template <class X, class W, class Y, bool kJoins>
struct ConvRequantizeWindows : ByteFilters<kRequantizedZeroPoints, kJoins> {
  using Filters = ByteFilters<kRequantizedZeroPoints, kJoins>;
  static constexpr KernelId id{"intarsia:ConvRequantize",
                               Filters::kVariant,
                               {kernel_type_of<X>, kernel_type_of<W>, kernel_type_of<Y>}};

  static Status check(const KernelContext& context) {
    if (Status status = check_conv_requantize<X, W, Y>(context); !status) return status;
    return Filters::check_image(context);
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() > 0) convolve<Y>(context, Filters::windows_of(context));
    return {};
  }
};

template <class X, class W, class Y>
using ConvRequantizeJoined = ConvRequantizeWindows<X, W, Y, true>;
template <class X, class W, class Y>
using ConvRequantizePanels = ConvRequantizeWindows<X, W, Y, false>;
template <class X, class W, class Y>
using OfComputed =
    PackedAtRun<OfAnyFilters<ConvRequantizeJoined<X, W, Y>, ConvRequantizePanels<X, W, Y>>>;

}  // namespace

extern const KernelList conv_requantize_panels_kernels;
constinit const KernelList conv_requantize_panels_kernels =
    kernel_list<EachOfBytes<ConvRequantizeJoined>, EachOfBytes<ConvRequantizePanels>,
                EachOfBytes<OfComputed>>();

}  // namespace intarsia::cpu
