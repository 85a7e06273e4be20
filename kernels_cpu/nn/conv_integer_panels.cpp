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
  for_window_sums(context, windows, [&](int64_t filter, int64_t count, int64_t pitch) {
    return [=](const uint32_t* sums, int64_t row, int64_t rows) {
      uint32_t* to = y + row * filters + filter;
      if (count == kPanel) {
        for (int64_t i = 0; i < rows; ++i, sums += pitch, to += filters) {
          std::memcpy(to, sums, kPanel * sizeof *to);
        }
      } else if (count < kPanel / 2) {
        for (int64_t column = 0; column < count; ++column) {
          for (int64_t i = 0; i < rows; ++i) to[i * filters + column] = sums[i * pitch + column];
        }
      } else {
        for (int64_t i = 0; i < rows; ++i, sums += pitch, to += filters) {
          std::memcpy(to, sums, static_cast<size_t>(count) * sizeof *to);
        }
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
