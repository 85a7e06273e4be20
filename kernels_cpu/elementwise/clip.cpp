// SPDX-License-Identifier: Apache-2.0
//
// Clip: y[i] = min(max(x[i], low), high); the bounds are optional scalar inputs. An absent bound is
// the type's limit: infinity for floating-point types. Everything becomes `high` where low > high;
// NaN stays NaN. The output may be the input.
// Specification: https://onnx.ai/onnx/operators/onnx__Clip.html
#include <limits>

#include "core/kernel_list.h"
#include "core/operators/elementwise/unary_activations.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class E, class V>
void clip_elements(const typename E::Stored* x, typename E::Stored* y, int64_t n, V low, V high) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = E::store(ClipOp::apply(E::load(x[i]), low, high));
}

template <class T>
struct Clip {
  static constexpr KernelId id{ClipOp::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    if (Status s = check_elementwise(context, {.inputs = {t, t, t}, .outputs = {t}}); !s) return s;
    for (int bound = 1; bound <= 2; ++bound) {
      if (!context.input(bound).present() || context.input(bound).count() == 1) continue;
      return context.fail(Code::kWrongExtent, "elements of a bound", 1,
                          context.input(bound).count(), bound);
    }
    return {};
  }
  static Status run(const KernelContext& context) {
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
    compute_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      clip_elements<E>(x + begin, y + begin, end - begin, low, high);
    });
    return {};
  }
};

}  // namespace

extern const KernelList clip_kernels;
constinit const KernelList clip_kernels = kernel_list<Each<Clip, Numbers>>();

}  // namespace intarsia::cpu
