// SPDX-License-Identifier: Apache-2.0
//
// Fast ConvInteger by products.
#include "kernels_cpu/nn/conv_integer_packed.h"

#include "core/kernel_list.h"

namespace intarsia::cpu {
namespace {

template <class S>
void convolve(const KernelContext& context) {
  const ByteConvProducts<S> products(context, kZeroPoints);
  const ConvShape& s = products.shape;
  run_products<S>(context, products.product, s.groups, [&](int64_t group) {
    TypedArgs<S> args = products.args(group);
    args.c = context.output(0).as<uint32_t>() + group * products.product.n;
    args.pitch = static_cast<ptrdiff_t>(s.out_c);
    return args;
  });
}

template <class X, class W>
struct ConvIntegerPacked : ByteFilters {
  static constexpr KernelId id{"ConvInteger", "packed", {kernel_type_of<X>, kernel_type_of<W>}};

  static int64_t workspace(const KernelContext& context) {
    const ConvShape s = integer_conv_shape(context);
    return byte_products_workspace(context,
                                   [&]<class S>(S) { return integer_conv_product<S>(context, s); });
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_fast_conv_integer<X, W>(context); !status) return status;
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    pick_groups(context.isa(), [&]<class S>(S) { convolve<S>(context); });
    return {};
  }
};

template <class X, class W>
using ConvIntegerComputed = PackedAtRun<ConvIntegerPacked<X, W>>;

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_packed_kernels;
constinit const KernelList conv_integer_packed_kernels =
    kernel_list<EachPair<ConvIntegerPacked, Bytes, Bytes>,
                EachPair<ConvIntegerComputed, Bytes, Bytes>>();

}  // namespace intarsia::cpu
