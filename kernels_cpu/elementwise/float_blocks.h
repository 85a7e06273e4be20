// SPDX-License-Identifier: Apache-2.0
//
// Blocks of floats on the stack: how elements of 16 bits reach functions on arrays of floats, and
// operands that stand still become arrays.
#pragma once

#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/math/half_conversion.h"

namespace intarsia::cpu {

inline constexpr int64_t kFloatBlock = 256;

/// Elements of 16 bits, computed with as floats.
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <class To, class From>
void convert_block(const typename From::Stored* x, typename To::Stored* y, int64_t n) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = To::store(From::load(x[i]));
}

#if INTARSIA_WITH_AVX2
inline bool has_half_conversion(Isa isa) {
  const Isa vectors = vector_isa(isa);
  return vectors == Isa::kAvx2 || vectors == Isa::kAvx512;
}
#endif

template <class T>
void to_floats(Isa isa, const T* x, float* y, int64_t n) {
#if INTARSIA_WITH_AVX2
  if constexpr (std::is_same_v<T, Float16>) {
    if (has_half_conversion(isa)) return HalfConversion<Isa::kAvx2>::widen(x, y, n);
  }
#endif
  on_isa(isa, [=] { convert_block<Element<float>, Element<T>>(x, y, n); });
}
template <class T>
void from_floats(Isa isa, const float* x, T* y, int64_t n) {
#if INTARSIA_WITH_AVX2
  if constexpr (std::is_same_v<T, Float16>) {
    if (has_half_conversion(isa)) return HalfConversion<Isa::kAvx2>::narrow(x, y, n);
  }
#endif
  on_isa(isa, [=] { convert_block<Element<T>, Element<float>>(x, y, n); });
}

/// n elements as what they are computed in: where they are, or in `block`.
template <class T>
const typename Element<T>::Value* values_at(Isa isa, const T* x,
                                            [[maybe_unused]] typename Element<T>::Value* block,
                                            [[maybe_unused]] int64_t n) {
  if constexpr (kIsHalf<T>) {
    to_floats(isa, x, block, n);
    return block;
  } else {
    return x;
  }
}

/// Blocks of an operand of rows, which may stand still: then one is filled once.
template <class T>
class RowBlocks {
 public:
  using V = typename Element<T>::Value;
  const V* next(Isa isa, const T* x, bool advances, int64_t n) {
    if (advances) {
      filled_ = 0;
      return values_at(isa, x, block_, n);
    }
    if (x != still_) filled_ = 0;
    still_ = x;
    const V value = Element<T>::load(*x);
    for (; filled_ < n; ++filled_) block_[filled_] = value;
    return block_;
  }

 private:
  V block_[kFloatBlock];
  const T* still_ = nullptr;
  int64_t filled_ = 0;  // with what *still_ is
};

/// Calls f(x, y, z, n) for z = f(x, y) with broadcasting, on arrays of at most kFloatBlock floats,
/// or doubles if T is double, of which z may be x or y. Z is T, or what f makes of them.
template <class T, class Z = T, class F>
void compute_float_blocks(const KernelContext& context, const F& f) {
  const TensorView& output = context.output(0);
  const TensorView* inputs[] = {&context.input(0), &context.input(1)};
  const BroadcastLoop loop(output, inputs);
  const BroadcastOperand operands[] = {inputs[0]->as<T>(), inputs[1]->as<T>()};
  Z* z = output.as<Z>();
  const Isa isa = context.isa();
  for_elements(context, loop.count, [&](int64_t begin, int64_t end) {
    RowBlocks<T> left, right;
    BroadcastPieces pieces(loop, operands, begin, end);
    for (BroadcastPiece piece; pieces.next(piece);) {
      for (int64_t k = 0; k < piece.length; k += kFloatBlock) {
        const int64_t n = piece.length - k < kFloatBlock ? piece.length - k : kFloatBlock;
        const T* x = piece.at<T>(0) + (piece.advances[0] ? k : 0);
        const T* y = piece.at<T>(1) + (piece.advances[1] ? k : 0);
        const auto* a = left.next(isa, x, piece.advances[0], n);
        const auto* b = right.next(isa, y, piece.advances[1], n);
        if constexpr (std::is_same_v<Z, T> && kIsHalf<T>) {
          float results[kFloatBlock];
          f(a, b, results, n);
          from_floats(isa, results, z + piece.first + k, n);
        } else {
          f(a, b, z + piece.first + k, n);
        }
      }
    }
  });
}

}  // namespace intarsia::cpu
