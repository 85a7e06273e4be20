// SPDX-License-Identifier: Apache-2.0
//
// Scales and zero points of a piece of elements, as numbers to compute with.
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/small_element.h"
#include "kernels_cpu/quantization/granularity.h"

namespace intarsia::cpu {

/// `count` elements of a tensor of type T from `index` on, `step` (0 or 1) apart.
template <class T, class W>
void load_numbers(const std::byte* elements, int64_t index, int64_t step, int64_t count, W* to) {
  if (step == 0) {
    std::fill(to, to + count, static_cast<W>(load_at<T>(elements, index)));
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<W>(load_at<T>(elements, index + i));
  }
}

/// `load_numbers` of neighbours, by the vectors of an instruction set. Kernels share it.
template <class T, class W>
[[gnu::noinline]] void load_run(Isa isa, const std::byte* elements, int64_t index, int64_t count,
                                W* to) {
  if constexpr (std::is_same_v<T, Float16> && std::is_same_v<W, float>) {
    to_floats(isa, reinterpret_cast<const Float16*>(elements) + index, to, count);
  } else {
    on_isa(isa, [=] { load_numbers<T>(elements, index, 1, count, to); });
  }
}

/// How a type is loaded: kernels that differ in nothing else share their code.
template <class W>
struct Loader {
  void (*run)(Isa isa, const std::byte* elements, int64_t index, int64_t count, W* to);
  void (*some)(const std::byte* elements, int64_t index, int64_t step, int64_t count, W* to);
};
template <class T, class W>
constexpr Loader<W> loader_of() {
  return {&load_run<T, W>, &load_numbers<T, W>};
}

/// `load_numbers` of any type that a scale may have.
template <class W>
void load_scales(const TensorView& scale, int64_t index, int64_t step, int64_t count, W* to) {
  const auto* elements = scale.as<const std::byte>();
  switch (scale.type) {
    case DataType::kFloat16:
      return load_numbers<Float16>(elements, index, step, count, to);
    case DataType::kBfloat16:
      return load_numbers<BFloat16>(elements, index, step, count, to);
    case DataType::kInt32:
      return load_numbers<int32_t>(elements, index, step, count, to);
    case DataType::kFloat8E8M0:
      return load_numbers<Small<DataType::kFloat8E8M0>>(elements, index, step, count, to);
    default:
      return load_numbers<float>(elements, index, step, count, to);
  }
}

/// Scales and zero points of a part of at most kPart elements: one of each if `step` is 0, else one
/// for each element.
template <class W>
struct PartScales {
  W scales[kPart];
  W zeros[kPart];
  int64_t step;

  /// Those of the elements [begin, end). REQUIRES: begin < end. `zero` may be null.
  void load(const Granularity& granularity, const TensorView& scale, const std::byte* zero,
            Loader<W> zeros_of, int64_t begin, int64_t end) {
    granularity.for_pieces(begin, end,
                           [&](int64_t first, int64_t count, int64_t index, int64_t distance) {
                             const bool one = count == end - begin && distance == 0;
                             step = one ? 0 : 1;
                             const int64_t room = one ? 1 : count;
                             load_scales(scale, index, distance, room, scales + (first - begin));
                             W* to = zeros + (first - begin);
                             if (zero != nullptr) {
                               zeros_of.some(zero, index, distance, room, to);
                             } else {
                               std::fill(to, to + room, W{});
                             }
                           });
  }
};

/// body(i, scale, zero) for i in [0, count), as vector code.
template <class W, class Body>
void for_scaled(Isa isa, const PartScales<W>& part, int64_t count, const Body& body) {
  on_widest_isa(isa, [&] {
    const W *scales = part.scales, *zeros = part.zeros;
    if (part.step == 0) {
      const W scale = *scales, zero = *zeros;
      INTARSIA_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) body(i, scale, zero);
    } else {
      INTARSIA_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) body(i, scales[i], zeros[i]);
    }
  });
}

/// Fails unless a scale may have this type.
inline Status check_scale_type(const KernelContext& context, bool integers) {
  const DataType type = context.input(1).type;
  const bool real = type == DataType::kFloat || type == DataType::kFloat16 ||
                    type == DataType::kBfloat16 || type == DataType::kFloat8E8M0;
  if (real || (integers && type == DataType::kInt32)) return {};
  return context.fail(Code::kWrongType, "type of scale", static_cast<int64_t>(DataType::kFloat),
                      static_cast<int64_t>(type), 1);
}

}  // namespace intarsia::cpu
