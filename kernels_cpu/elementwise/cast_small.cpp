// SPDX-License-Identifier: Apache-2.0
//
// Cast from and to the types that C++ lacks: floating-point numbers of 8, 6 and 4 bits, integers of
// 4 and 2.
//
// To integers the low bits are kept, of floating-point numbers those of what they truncate to; to
// floating-point types rounding is to nearest, ties to even, whatever the type of the input.
// Specification: https://onnx.ai/onnx/operators/onnx__Cast.html
#include "core/kernel_list.h"
#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {
namespace {

template <class In, class Out>
struct CastSmall {
  static constexpr KernelId id{"Cast", "", {kernel_type_of<In>, kernel_type_of<Out>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    if (Status status = check_attributes<CastAttributes>(context); !status) return status;
    return check_elementwise(context,
                             {.inputs = {kernel_type_of<In>}, .outputs = {kernel_type_of<Out>}});
  }
  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<CastAttributes>();
    const Encoding encoding{a.saturate != 0, static_cast<PowerRounding>(a.round_mode)};
    const auto* x = context.input(0).as<std::byte>();
    auto* y = context.output(0).as<std::byte>();
    for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      if constexpr (is_small<Out>) {
        constexpr DataType kType = small_type<Out>;
        store_codes<kType>(y, begin, end,
                           [&](int64_t i) { return encode<kType>(load_at<In>(x, i), encoding); });
      } else {
        auto* to = reinterpret_cast<typename Element<Out>::Stored*>(y);
        for (int64_t i = begin; i < end; ++i) to[i] = convert<Out>(load_at<In>(x, i));
      }
    });
    return {};
  }
};

}  // namespace

using WideTypes = Join<Numbers, Types<bool>>;
extern const KernelList cast_small_kernels;
constinit const KernelList cast_small_kernels =
    kernel_list<EachPair<CastSmall, WideTypes, SmallTypes>,
                EachPair<CastSmall, SmallTypes, Join<WideTypes, SmallTypes>>>();

}  // namespace intarsia::cpu
