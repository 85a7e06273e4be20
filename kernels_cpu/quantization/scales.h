// SPDX-License-Identifier: Apache-2.0
//
// Scales and zero points of a piece of elements, as numbers to compute with.
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/repeat.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/small_runs.h"
#include "kernels_cpu/quantization/granularity.h"

namespace intarsia::cpu {

/// `count` elements of a tensor of type T from `index` on, `step` (0 or 1) apart.
template <class T, class W>
void load_numbers(const std::byte* elements, int64_t index, int64_t step, int64_t count, W* to) {
  if (step == 0) {
    std::fill(to, to + count, static_cast<W>(load_at<T>(elements, index)));
  } else {
    load_elements<T>(elements, index, count, to);
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

/// `load_numbers`, by vectors where these are worth a call.
template <class T, class W>
void load_some(Isa isa, const std::byte* elements, int64_t index, int64_t step, int64_t count,
               W* to) {
  if (INTARSIA_HAS_VECTORS && step == 1 && count >= 16) {
    return load_run<T>(isa, elements, index, count, to);
  }
  load_numbers<T>(elements, index, step, count, to);
}

/// How a type is loaded: kernels that differ in nothing else share their code.
template <class W>
struct Loader {
  void (*run)(Isa isa, const std::byte* elements, int64_t index, int64_t count, W* to);
  void (*some)(Isa isa, const std::byte* elements, int64_t index, int64_t step, int64_t count,
               W* to);
};
template <class T, class W>
constexpr Loader<W> loader_of() {
  return {&load_run<T, W>, &load_some<T, W>};
}

/// `load_some` of any type that a scale may have.
template <class W>
void load_scales(Isa isa, const TensorView& scale, int64_t index, int64_t step, int64_t count,
                 W* to) {
  const auto* elements = scale.as<const std::byte>();
  switch (scale.type) {
    case DataType::kFloat16:
      return load_some<Float16>(isa, elements, index, step, count, to);
    case DataType::kBfloat16:
      return load_some<BFloat16>(isa, elements, index, step, count, to);
    case DataType::kInt32:
      return load_some<int32_t>(isa, elements, index, step, count, to);
    case DataType::kFloat8E8M0:
      return load_numbers<Small<DataType::kFloat8E8M0>>(elements, index, step, count, to);
    default:
      return load_some<float>(isa, elements, index, step, count, to);
  }
}

/// Neighbours with one scale: whole vectors of floats, or of all elements, or all that there are.
inline constexpr int64_t kGroup = 16, kRun = 64, kAll = std::numeric_limits<int64_t>::max();

// Threads share elements in whole parts, or a run of one scale could reach behind those of a
// thread.
static_assert(kPointwiseGrain % kPart == 0);

/// Scales and zero points of a part of at most kPart elements: one for `each` elements, which is 1,
/// kGroup, at least kRun, or kAll. Parts are whole groups, or runs.
template <class W>
struct PartScales {
  const W* scales;  ///< In the tensor, where they lie there as they are needed, or in `room`.
  int64_t each;
  W room[kPart];
  W zeros[kPart];

  PartScales() {}  // NOLINT(modernize-use-equals-default): not set to zeros

  /// Those of the elements [begin, end). REQUIRES: begin < end. `zero` may be null.
  void load(Isa isa, const Granularity& granularity, const TensorView& scale, const std::byte* zero,
            Loader<W> zeros_of, int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    scales = room;
    each = 1;
    if constexpr (INTARSIA_HAS_VECTORS) {
      const int64_t times = granularity.repeats();
      if (times > 0) return load_blocks(isa, scale, zero, zeros_of, begin, count, times);
    }
    if (zero == nullptr) std::fill(zeros, zeros + count, W{});
    granularity.for_pieces(
        begin, end,
        [&](int64_t first, int64_t length, int64_t index, int64_t distance, int64_t row) {
          const bool whole = length == count && length <= row;
          if (whole && distance == 0) each = kAll;
          const int64_t needed = each == kAll ? 1 : std::min(length, row);
          const auto repeat = [=](W* to) {
            if (length > row) repeat_row(to, row * int64_t{sizeof(W)}, length * int64_t{sizeof(W)});
          };
          if (whole && scale.type == data_type_of<W>) {
            scales = scale.as<const W>() + index;
          } else {
            load_scales(isa, scale, index, distance, needed, room + (first - begin));
            repeat(room + (first - begin));
          }
          if (zero == nullptr) return;
          zeros_of.some(isa, zero, index, distance, needed, zeros + (first - begin));
          repeat(zeros + (first - begin));
        });
  }

 private:
  /// Those of whole blocks of `times` elements each.
  void load_blocks(Isa isa, const TensorView& scale, const std::byte* zero, Loader<W> zeros_of,
                   int64_t begin, int64_t count, int64_t times) {
    const int64_t index = begin / times, blocks = (count + times - 1) / times;
    if (times % kGroup == 0) each = times < kRun ? kGroup : times;
    times /= each;
    W once[kPart];
    if (zero != nullptr) {
      zeros_of.some(isa, zero, index, 1, blocks, times == 1 ? zeros : once);
      if (times > 1) repeat_each(zeros, once, blocks, times, sizeof(W));
    } else {
      std::fill(zeros, zeros + blocks * times, W{});
    }
    if (times == 1 && scale.type == data_type_of<W>) {
      scales = scale.as<const W>() + index;
    } else {
      load_scales(isa, scale, index, 1, blocks, times == 1 ? room : once);
      if (times > 1) repeat_each(room, once, blocks, times, sizeof(W));
    }
  }
};

/// `for_scaled` of several scales.
template <class W, class Body>
[[gnu::noinline]] void for_scales(Isa isa, const PartScales<W>& part, int64_t count,
                                  const Body& body) {
  on_widest_isa(isa, [&] {
    const W *scales = part.scales, *zeros = part.zeros;
    const int64_t each = part.each;
    if (INTARSIA_HAS_VECTORS && each == kGroup) {
      for (int64_t group = 0; group < count / kGroup; ++group) {
        const W scale = scales[group], zero = zeros[group];
        INTARSIA_INDEPENDENT
        for (int64_t i = 0; i < kGroup; ++i) body(group * kGroup + i, scale, zero);
      }
    } else if (INTARSIA_HAS_VECTORS && each > 1) {
      for (int64_t begin = 0; begin < count; begin += each) {
        const W scale = *scales++, zero = *zeros++;
        INTARSIA_INDEPENDENT
        for (int64_t i = 0; i < each; ++i) body(begin + i, scale, zero);
      }
    } else {
      INTARSIA_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) body(i, scales[i], zeros[i]);
    }
  });
}

/// body(i, scale, zero) for i in [0, count), as vector code.
template <class W, class Body>
void for_scaled(Isa isa, const PartScales<W>& part, int64_t count, const Body& body) {
  if (part.each < count) return for_scales(isa, part, count, body);
  on_widest_isa(isa, [&] {
    const W scale = *part.scales, zero = *part.zeros;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) body(i, scale, zero);
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
