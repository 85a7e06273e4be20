// SPDX-License-Identifier: Apache-2.0
//
// Cast from and to the types that C++ lacks: floating-point numbers of 8, 6 and 4 bits, integers of
// 4 and 2.
//
// To integers the low bits are kept, of floating-point numbers those of what they truncate to; to
// floating-point types rounding is to nearest, ties to even, whatever the type of the input.
// Specification: https://onnx.ai/onnx/operators/onnx__Cast.html
#include <algorithm>
#include <type_traits>

#include "core/kernel_list.h"
#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/small_runs.h"

namespace intarsia::cpu {
namespace {

// Each type has one loop that reads and one that writes; between them lies a block of values of a
// type that holds them exactly, so that the pairs of types need no loops of their own.
constexpr int64_t kBlock = 256;

template <class In>
constexpr auto carrier_of() {
  using Value = decltype(load_at<In>(nullptr, 0));
  if constexpr (std::is_floating_point_v<Value> || std::is_same_v<Value, uint64_t>) {
    return Value{};
  } else if constexpr (is_small<In>) {
    return int32_t{};
  } else {
    return int64_t{};
  }
}
template <class In>
using Carrier = decltype(carrier_of<In>());

template <class In>
void read_block(Isa isa, const std::byte* x, int64_t begin, int64_t count, void* values) {
  auto* to = static_cast<Carrier<In>*>(values);
  on_isa(isa, [=] { load_elements<In>(x, begin, count, to); });
}

template <class Out, class Value>
void write_block(Isa isa, const void* values, int64_t begin, int64_t count,
                 [[maybe_unused]] const Encoding& encoding, std::byte* y) {
  const auto* from = static_cast<const Value*>(values);
  if constexpr (is_small<Out>) {
    constexpr DataType kType = small_type<Out>;
    on_widest_isa(isa, [=] { store_elements<kType>(from, begin, count, encoding, y); });
  } else {
    auto* to = reinterpret_cast<typename Element<Out>::Stored*>(y) + begin;
    on_isa(isa, [=] {
      INTARSIA_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) to[i] = convert<Out>(from[i]);
    });
  }
}

Status cast_blocks(const KernelContext& context, decltype(&read_block<float>) read,
                   decltype(&write_block<float, float>) write) {
  const auto& a = context.attributes<CastAttributes>();
  const Encoding encoding{a.saturate != 0, static_cast<PowerRounding>(a.round_mode)};
  const auto* x = context.input(0).as<std::byte>();
  auto* y = context.output(0).as<std::byte>();
  const Isa isa = context.isa();
  for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
    alignas(8) std::byte values[kBlock * 8];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t count = std::min(kBlock, end - first);
      read(isa, x, first, count, values);
      write(isa, values, first, count, encoding, y);
    }
  });
  return {};
}

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
    return cast_blocks(context, &read_block<In>, &write_block<Out, Carrier<In>>);
  }
};

}  // namespace

using WideTypes = Join<Numbers, Types<bool>>;
extern const KernelList cast_small_kernels;
constinit const KernelList cast_small_kernels =
    kernel_list<EachPair<CastSmall, WideTypes, SmallTypes>,
                EachPair<CastSmall, SmallTypes, Join<WideTypes, SmallTypes>>>();

}  // namespace intarsia::cpu
