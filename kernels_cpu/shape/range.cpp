// SPDX-License-Identifier: Apache-2.0
//
// Range: start + i * delta for as many i as lie before the limit. Elements of 16-bit reals are
// computed in float and rounded once. The output is resized to their number.
// https://onnx.ai/onnx/operators/onnx__Range.html
#include "core/operators/shape/range.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class T>
int64_t count_of(const T& start, const T& limit, const T& delta) {
  if constexpr (std::is_integral_v<T>) {
    return delta == 0 ? -1 : ops::range_count(CheckedInt(start), limit, delta).value();
  } else {
    const auto real = [](const T& value) { return static_cast<double>(Element<T>::load(value)); };
    return ops::real_range_count(real(start), real(limit), real(delta));
  }
}

/// output[i] = start + i * delta. Integers as unsigned, since the element after the last may lie
/// beyond T; narrow ones alike, whose low bits do not depend on the others.
template <class T>
void fill_range(T start, T delta, int32_t count, T* output) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    auto value = static_cast<U>(start);
    for (int32_t i = 0; i < count; ++i) {
      output[i] = static_cast<T>(value);
      value += static_cast<U>(delta);
    }
  } else {
    using C = typename Element<T>::Value;
    const C first = static_cast<C>(start), step = static_cast<C>(delta);
    for (int32_t i = 0; i < count; ++i) {
      output[i] = Element<T>::store(first + static_cast<C>(i) * step);
    }
  }
}

template <class T>
struct Range {
  static constexpr KernelId id{"Range", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    if (Status status = check_operand_types(
            context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
        !status) {
      return status;
    }
    if (Status status = check_scalars(context, {0, 1, 2}); !status) return status;
    return context.output(0).rank == 1
               ? Status()
               : context.fail(Code::kWrongRank, "rank", 1, context.output(0).rank, 3);
  }
  static Status run(const KernelContext& context) {
    const T start = *context.input(0).as<const T>();
    const T delta = *context.input(2).as<const T>();
    const int64_t count = count_of<T>(start, *context.input(1).as<const T>(), delta);
    if (count < 0 || count > INT32_MAX) {
      return context.fail(Code::kInvalidValue, "number of elements", INT32_MAX, count, 2);
    }
    const int32_t extent = static_cast<int32_t>(count);
    if (Status status = context.resize_output(0, {&extent, 1}); !status) return status;
    T* output = context.output(0).as<T>();
    on_isa(context.isa(), [=] { fill_range(start, delta, extent, output); });
    return {};
  }
};

}  // namespace

extern const KernelList range_kernels;
constinit const KernelList range_kernels =
    kernel_list<Each<Range, Join<Floats, Types<int16_t, int32_t, int64_t>>>>();

}  // namespace intarsia::cpu
