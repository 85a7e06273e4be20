// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, rounding, predicates and logic, core/operators/elementwise/unary_arithmetic.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {
namespace {

/// Halves whose bits say what is asked: two numbers that they are compared with.
template <class T>
inline constexpr uint16_t kInfinityBits = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;
constexpr uint16_t kSignBit = 0x8000;

template <class T>
struct IsInfBits {
  uint16_t first, second;
  bool any;
  explicit IsInfBits(const IsInfAttributes& attributes)
      : first(kInfinityBits<T>), second(kInfinityBits<T> | kSignBit) {
    any = attributes.detect_positive != 0 || attributes.detect_negative != 0;
    if (attributes.detect_positive == 0) first = second;
    if (attributes.detect_negative == 0) second = first;
  }
  bool operator()(uint16_t bits) const { return any & ((bits == first) | (bits == second)); }
};
template <class T>
struct IsNaNBits {
  explicit IsNaNBits(const NoAttributes&) {}
  bool operator()(uint16_t bits) const {
    return static_cast<uint16_t>(bits & ~kSignBit) > kInfinityBits<T>;
  }
};

template <class Op, class T, class Bits>
struct HalfPredicate : UnaryKernel<Op, T, true> {
  static Status run(const KernelContext& context) {
    const Bits holds(attributes_of<typename Op::Attributes>(context));
    const auto* x = static_cast<const uint16_t*>(context.input(0).data);
    auto* y = context.output(0).as<uint8_t>();
    compute_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      find(holds, x + begin, y + begin, end - begin);
    });
    return {};
  }

 private:
  /// By value: bytes may alias whatever a closure refers to.
  INTARSIA_INLINE static void find(Bits holds, const uint16_t* x, uint8_t* y, int64_t n) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = holds(x[i]) ? 1 : 0;
  }
};

}  // namespace

template <class T>
requires kIsHalf<T>
struct Unary<IsInfOp, T> : HalfPredicate<IsInfOp, T, IsInfBits<T>> {
};
template <class T>
requires kIsHalf<T>
struct Unary<IsNaNOp, T> : HalfPredicate<IsNaNOp, T, IsNaNBits<T>> {
};

extern const KernelList unary_arithmetic_kernels;
constinit const KernelList unary_arithmetic_kernels =
    kernel_list<EachPair<Unary, operators::FloatArithmetic, Floats>,
                EachPair<Unary, operators::SignedArithmetic, Join<Floats, SignedIntegers>>,
                EachPair<Unary, operators::NumberArithmetic, Numbers>,
                EachPair<Unary, operators::BoolLogic, Types<bool>>,
                EachPair<Unary, operators::IntegerLogic, Integers>>();

}  // namespace intarsia::cpu
