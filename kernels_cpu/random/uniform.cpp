// SPDX-License-Identifier: Apache-2.0
//
// RandomUniform, RandomUniformLike: y = low + u (high - low) with u in [0, 1), in the type that is
// drawn (16-bit types: in float). y stays below high, also where rounding would reach it.
// See draw.h for u. Nothing of an input but its extents is read.
// https://onnx.ai/onnx/operators/onnx__RandomUniform.html and onnx__RandomUniformLike.html
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/random/draw.h"

namespace intarsia::cpu {
namespace {

/// The largest number of type T below `high`. REQUIRES: high is finite.
template <class T>
typename Element<T>::Value below(float high) {
  using E = Element<T>;
  using V = typename E::Value;
  constexpr V kLowest = -std::numeric_limits<V>::infinity();
  if constexpr (std::is_same_v<T, V>) {
    return std::nextafter(static_cast<V>(high), kLowest);
  } else {
    // Down in steps of T: what rounds to `high` or above is none.
    T found(high);
    while (static_cast<float>(found) >= high) {
      const bool negative = (found.bits & 0x8000u) != 0, zero = (found.bits & 0x7fffu) == 0;
      found.bits = static_cast<uint16_t>(zero       ? 0x8001u
                                         : negative ? found.bits + 1u
                                                    : found.bits - 1u);
    }
    return E::load(found);
  }
}

template <class E, class V>
void place(const V* u, typename E::Stored* y, int count, V half, V range, V last) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < count; ++i) {
    const V value = 2 * (half + u[i] * range);
    y[i] = E::store(value > last ? last : value);
  }
}

template <class Rule, class T>
struct Uniform : FillingKernel<Rule, T, Draws::kUniform> {
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using V = typename E::Value;
    const UniformAttributes& attributes =
        numbers_of(context.attributes<typename Rule::Attributes>());
    const V infinite = std::numeric_limits<V>::infinity();
    const bool bounded = attributes.low < attributes.high && std::isfinite(attributes.high);
    const V last = bounded ? below<T>(attributes.high) : infinite;
    // Halves: the distance of two floats may be no float.
    const V half = static_cast<V>(attributes.low) / 2;
    const V range = static_cast<V>(attributes.high) / 2 - half;
    const auto draw = [](const Numbers& numbers, int64_t first, int count, V* u) {
      numbers.uniforms(first, count, u);
    };
    return Uniform::fill(context, draw, [=](const V* u, typename E::Stored* y, int count) {
      place<E>(u, y, count, half, range, last);
    });
  }
};

}  // namespace

extern const KernelList random_uniform_kernels;
constinit const KernelList random_uniform_kernels =
    kernel_list<EachPair<Uniform, Types<ops::RandomUniform, ops::RandomUniformLike>, Floats>>();

}  // namespace intarsia::cpu
