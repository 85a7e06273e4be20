// SPDX-License-Identifier: Apache-2.0
//
// RandomNormal, RandomNormalLike: y = mean + z scale, z of the standard normal distribution, in
// the type that is drawn (16-bit types: in float). Elements 2k and 2k + 1 are r cos t and r sin t
// with r = sqrt(-2 ln u) (G. E. P. Box and M. E. Muller, "A Note on the Generation of Random Normal
// Deviates", 1958). u is a multiple of 2^-32 above 0, of 2^-54 for doubles, so that |z| stays below
// 6.7, or 8.7; t has as many digits. Logarithm, sine and cosine are series of a few products each:
// the same bits on every target. See draw.h for the bits; nothing of an input but its extents is
// read.
// https://onnx.ai/onnx/operators/onnx__RandomNormal.html and onnx__RandomNormalLike.html
#include <bit>
#include <cmath>
#include <numbers>

#include "core/kernel_list.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/random/draw.h"

namespace intarsia::cpu {
namespace {

template <class V>
struct Real;
template <>
struct Real<float> {
  using Bits = int32_t;
  static constexpr int kMantissa = 23;
  static constexpr Bits kRootOfHalf = 0x3f3504f3;
  static constexpr int kLog = 4, kSine = 4, kCosine = 5;  // terms; what follows rounds away
};
template <>
struct Real<double> {
  using Bits = int64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kRootOfHalf = 0x3fe6a09e667f3bcd;
  static constexpr int kLog = 10, kSine = 9, kCosine = 9;
};

/// -2 ln u for u in (0, 1]: u = 2^e m, and ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172.
template <class V>
V minus_two_log(V u) {
  using R = Real<V>;
  using Bits = typename R::Bits;
  const Bits bits = std::bit_cast<Bits>(u) - R::kRootOfHalf;
  const auto exponent = static_cast<V>(static_cast<int32_t>(bits >> R::kMantissa));
  const V m = std::bit_cast<V>((bits & ((Bits{1} << R::kMantissa) - 1)) + R::kRootOfHalf);
  const V s = (m - 1) / (m + 1), square = s * s;
  V series = 0;
  INTARSIA_UNROLLED
  for (int k = R::kLog; k > 0; --k) series = (series + V(1) / V(2 * k + 1)) * square;
  return -2 * (exponent * std::numbers::ln2_v<V> + (2 * s + 2 * s * series));
}

/// Cosine and sine of 2 pi (quadrant / 4 + turn), |turn| <= 1/8.
template <class V>
void cosine_and_sine(uint32_t quadrant, V turn, V& cosine, V& sine) {
  const V t = turn * (2 * std::numbers::pi_v<V>), square = t * t;
  V even = 1, odd = 1;
  INTARSIA_UNROLLED
  for (int k = Real<V>::kCosine; k > 0; --k)
    even = 1 - square * even * (V(1) / V((2 * k - 1) * 2 * k));
  INTARSIA_UNROLLED
  for (int k = Real<V>::kSine; k > 0; --k) odd = 1 - square * odd * (V(1) / V(2 * k * (2 * k + 1)));
  odd *= t;
  const V a = (quadrant & 1) != 0 ? odd : even, b = (quadrant & 1) != 0 ? even : odd;
  cosine = ((quadrant + 1) & 2) != 0 ? -a : a;
  sine = (quadrant & 2) != 0 ? -b : b;
}

/// Two normal numbers from two words, and two more of further digits.
template <class V>
void normal_pair(const uint32_t* coarse, const uint32_t* fine, V* z) {
  V u = static_cast<V>(static_cast<int32_t>(coarse[0] >> 1)) * V(0x1p-31);
  const uint32_t quadrant = (coarse[1] + 0x20000000u) >> 30;
  V turn = static_cast<V>(static_cast<int32_t>(coarse[1] - (quadrant << 30))) * V(0x1p-32);
  if constexpr (std::is_same_v<V, double>) {
    u += static_cast<V>(static_cast<int32_t>((coarse[0] & 1) << 21 | fine[0] >> 11)) * 0x1p-53;
    turn += static_cast<V>(static_cast<int32_t>(fine[1] >> 11)) * 0x1p-53;
    u += 0x1p-54;
  } else {
    u += 0x1p-32f;
  }
  const V radius = std::sqrt(minus_two_log(u));
  V cosine, sine;
  cosine_and_sine(quadrant, turn, cosine, sine);
  z[0] = radius * cosine;
  z[1] = radius * sine;
}

template <class V>
void make_pairs(const uint32_t* coarse, const uint32_t* fine, int pairs, V* z) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < pairs; ++i) normal_pair(coarse + 2 * i, fine + 2 * i, z + 2 * i);
}

[[gnu::noinline]] void normals(const Numbers& numbers, int64_t first, int count, float* z) {
  uint32_t coarse[kPiece];
  numbers.words(0, first, count, coarse);
  on_isa(numbers.isa(), [&] { make_pairs(coarse, coarse, (count + 1) / 2, z); });
}
[[gnu::noinline]] void normals(const Numbers& numbers, int64_t first, int count, double* z) {
  uint32_t coarse[kPiece], fine[kPiece];
  numbers.words(0, first, count, coarse);
  numbers.words(1, first, count, fine);
  on_isa(numbers.isa(), [&] { make_pairs(coarse, fine, (count + 1) / 2, z); });
}

template <class E, class V>
void place(const V* z, typename E::Stored* y, int count, V mean, V scale) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < count; ++i) y[i] = E::store(mean + z[i] * scale);
}

template <class Rule, class T>
struct Normal : FillingKernel<Rule, T, Draws::kNormal> {
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using V = typename E::Value;
    const NormalAttributes& attributes =
        numbers_of(context.attributes<typename Rule::Attributes>());
    const V mean = attributes.mean, scale = attributes.scale;
    const auto draw = [](const Numbers& numbers, int64_t first, int count, V* z) {
      normals(numbers, first, count, z);
    };
    return Normal::fill(context, draw, [=](const V* z, typename E::Stored* y, int count) {
      place<E>(z, y, count, mean, scale);
    });
  }
};

}  // namespace

extern const KernelList random_normal_kernels;
constinit const KernelList random_normal_kernels =
    kernel_list<EachPair<Normal, Types<ops::RandomNormal, ops::RandomNormalLike>, Floats>>();

}  // namespace intarsia::cpu
