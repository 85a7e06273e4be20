// SPDX-License-Identifier: Apache-2.0
//
// Clip, see clip.h. An absent bound is the type's limit: infinity for floating-point types.
#include "kernels_cpu/elementwise/clip.h"

#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

template <class T>
Status Clip<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  if (Status s = check_elementwise(context, {.inputs = {t, t, t}, .outputs = {t}}); !s) return s;
  for (int bound = 1; bound <= 2; ++bound) {
    if (!context.input(bound).present() || context.input(bound).count() == 1) continue;
    return context.fail(Code::kWrongExtent, "elements of a bound", 1, context.input(bound).count(),
                        bound);
  }
  return {};
}

template <class T>
Status Clip<T>::run(const KernelContext& context) {
  using E = Element<T>;
  using V = typename E::Value;
  using Stored = typename E::Stored;
  using Limits = std::numeric_limits<V>;
  V low = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  V high = Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (context.input(1).present()) low = E::load(*context.input(1).as<Stored>());
  if (context.input(2).present()) high = E::load(*context.input(2).as<Stored>());
  const Stored* x = context.input(0).as<Stored>();
  Stored* y = context.output(0).as<Stored>();
  for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
    INTARSIA_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      V value = E::load(x[i]);
      value = value < low ? low : value;
      value = value > high ? high : value;
      y[i] = E::store(value);
    }
  });
  return {};
}

template struct Clip<float>;
template struct Clip<double>;
template struct Clip<Float16>;
template struct Clip<BFloat16>;
template struct Clip<int8_t>;
template struct Clip<int16_t>;
template struct Clip<int32_t>;
template struct Clip<int64_t>;
template struct Clip<uint8_t>;
template struct Clip<uint16_t>;
template struct Clip<uint32_t>;
template struct Clip<uint64_t>;

}  // namespace intarsia::cpu
