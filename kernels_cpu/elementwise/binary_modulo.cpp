// SPDX-License-Identifier: Apache-2.0
//
// Mod, core/operators/elementwise/binary_arithmetic.h. Variant "fast", of floating-point types: x -
// t y with t = trunc(x / y), which of floats is exact in double precision while t is below 2^27, of
// doubles in a fused multiply-add while t is below 2^51; blocks in which it is not, or y is
// infinite, are computed by fmod.
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"
#include "kernels_cpu/elementwise/float_blocks.h"

namespace intarsia::cpu {
namespace {

/// z = fmod(x, y); false if some of them are wrong.
bool remainders(const float* x, const float* y, float* z, int64_t n) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = std::fabs(x[i]), b = std::fabs(y[i]);
    const double quotient = a / b;
    const double nearest = (quotient + 0x1p52) - 0x1p52;
    const double whole = nearest > quotient ? nearest - 1.0 : nearest;
    const bool exact = quotient < 0x1p27 && b <= std::numeric_limits<float>::max();
    wrong |= exact ? int64_t{0} : int64_t{1};
    z[i] = std::copysign(static_cast<float>(a - whole * b), x[i]);
  }
  return wrong == 0;
}

/// The same. The quotient may be one too large, never too small: then the remainder is negative,
/// and a double, too.
bool remainders(const double* x, const double* y, double* z, int64_t n) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = std::fabs(x[i]), b = std::fabs(y[i]);
    const double quotient = a / b;
    const double nearest = (quotient + 0x1p52) - 0x1p52;
    const double rest = std::fma(-nearest, b, a);
    const bool exact = quotient < 0x1p51 && b <= std::numeric_limits<double>::max();
    wrong |= exact ? int64_t{0} : int64_t{1};
    z[i] = std::copysign(rest < 0 ? rest + b : rest, x[i]);
  }
  return wrong == 0;
}

/// From the remainder with the sign of x to that with the sign of y.
template <class V>
void take_signs(const V* rest, const V* y, V* z, int64_t n) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const V r = rest[i];
    const V moved = (r < 0) != (y[i] < 0) ? r + y[i] : r;
    z[i] = r == 0 ? std::copysign(V{0}, y[i]) : moved;
  }
}

template <class V>
void modulo_block(const V* x, const V* y, V* z, int64_t n, bool truncate) {
  V rest[kFloatBlock];
  if (!remainders(x, y, rest, n)) {
    for (int64_t i = 0; i < n; ++i) rest[i] = std::fmod(x[i], y[i]);
  }
  if (truncate) {
    for (int64_t i = 0; i < n; ++i) z[i] = rest[i];
  } else {
    take_signs(rest, y, z, n);
  }
}

template <class T>
struct FastModulo {
  static constexpr KernelId id{ModOp::name, "fast", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0, 1};
  static Status check(const KernelContext& context) { return Binary<ModOp, T>::check(context); }
  static Status run(const KernelContext& context) {
    const bool truncate = attributes_of<ModAttributes>(context).fmod != 0;
    using V = typename Element<T>::Value;
    compute_float_blocks<T>(context, [&](const V* x, const V* y, V* z, int64_t n) {
      on_widest_isa(context.isa(), [=] { modulo_block(x, y, z, n, truncate); });
    });
    return {};
  }
};

}  // namespace

extern const KernelList binary_modulo_kernels;
constinit const KernelList binary_modulo_kernels =
    kernel_list<EachPair<Binary, Types<ModOp>, Numbers>, Each<FastModulo, Floats>>();

}  // namespace intarsia::cpu
