// SPDX-License-Identifier: Apache-2.0
//
// Fast ConvInteger by products of windows and filters in panels.
#include <cstring>

#include "core/kernel_list.h"
#include "kernels_cpu/nn/byte_windows.h"

namespace intarsia::cpu {
namespace {

void convolve(const KernelContext& context, ByteWindows windows) {
  auto* y = context.output(0).as<uint32_t>();
  const int64_t filters = windows.groups() * windows.filters();
  for_window_sums(context, windows, [=](int64_t filter, int64_t count) {
    return [=](const ByteSums& sums, int64_t pixel) {
      const int64_t first = int64_t{sums.panel} * kPanel;
      const int64_t some = std::min(int64_t{sums.panels} * kPanel, count - first);
      uint32_t* to = y + (pixel + sums.row) * filters + filter + first;
      const uint32_t* from = sums.sums;
      if (some < kPanel / 2) {
        for (int64_t column = 0; column < some; ++column) {
          for (int64_t i = 0; i < sums.rows; ++i) {
            to[i * filters + column] = from[i * sums.pitch + column];
          }
        }
        return;
      }
      for (int64_t i = 0; i < sums.rows; ++i, from += sums.pitch, to += filters) {
        std::memcpy(to, from, static_cast<size_t>(some) * sizeof *to);
      }
    };
  });
}

template <class X, class W, bool kJoins>
struct ConvIntegerWindows : ByteFilters<kZeroPoints, kJoins> {
  using Filters = ByteFilters<kZeroPoints, kJoins>;
  static constexpr KernelId id{
      "ConvInteger", Filters::kVariant, {kernel_type_of<X>, kernel_type_of<W>}};

  static Status check(const KernelContext& context) {
    if (Status status = check_conv_integer<X, W>(context); !status) return status;
    return Filters::check_image(context);
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() > 0) convolve(context, Filters::windows_of(context));
    return {};
  }
};

template <class X, class W>
using ConvIntegerJoined = ConvIntegerWindows<X, W, true>;
template <class X, class W>
using ConvIntegerPanels = ConvIntegerWindows<X, W, false>;
template <class X, class W>
using OfComputed = PackedAtRun<OfAnyFilters<ConvIntegerJoined<X, W>, ConvIntegerPanels<X, W>>>;

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_panels_kernels;
constinit const KernelList conv_integer_panels_kernels =
    kernel_list<EachPair<ConvIntegerJoined, Bytes, Bytes>,
                EachPair<ConvIntegerPanels, Bytes, Bytes>, EachPair<OfComputed, Bytes, Bytes>>();

}  // namespace intarsia::cpu
