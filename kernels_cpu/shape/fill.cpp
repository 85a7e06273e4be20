// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/shape/fill.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "core/operators/shape/shape.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
namespace {

/// What elements of T are computed in.
template <class T>
using Compute =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
int64_t count_of(const T& start, const T& limit, const T& delta) {
  if constexpr (std::is_integral_v<T>) {
    return delta == 0 ? -1 : ops::range_count(CheckedInt(start), limit, delta).value();
  } else {
    const auto real = [](const T& value) {
      return static_cast<double>(static_cast<Compute<T>>(value));
    };
    return ops::real_range_count(real(start), real(limit), real(delta));
  }
}

}  // namespace

template <class W>
Status ConstantOfShape<W>::check(const KernelContext& context) {
  if (Status status = check_attributes<ConstantOfShapeAttributes>(context); !status) {
    return status;
  }
  return check_operand_types(context,
                             {.inputs = {DataType::kInt64}, .outputs = {kernel_type_of<W>}});
}

template <class W>
Status ConstantOfShape<W>::run(const KernelContext& context) {
  using Element = typename W::Element;
  const int64_t bits = context.attributes<ConstantOfShapeAttributes>().value_bits;
  Element element{};
  std::memcpy(&element, &bits, sizeof(Element) < sizeof(bits) ? sizeof(Element) : sizeof(bits));
  const TensorView& output = context.output(0);
  Element* elements = output.as<Element>();
  const int64_t count = output.count();
  for (int64_t i = 0; i < count; ++i) elements[i] = element;
  return {};
}

template <class T>
Status Range<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  if (Status status =
          check_operand_types(context, {.inputs = {t, t, t}, .required_inputs = 3, .outputs = {t}});
      !status) {
    return status;
  }
  for (int input = 0; input < 3; ++input) {
    if (context.input(input).count() != 1) {
      return context.fail(Code::kWrongExtent, "number of elements", 1, context.input(input).count(),
                          input);
    }
  }
  return context.output(0).rank == 1
             ? Status()
             : context.fail(Code::kWrongRank, "rank", 1, context.output(0).rank, 3);
}

template <class T>
Status Range<T>::run(const KernelContext& context) {
  using C = Compute<T>;
  const T start = *context.input(0).as<const T>();
  const T delta = *context.input(2).as<const T>();
  const int64_t count = count_of<T>(start, *context.input(1).as<const T>(), delta);
  if (count < 0 || count > INT32_MAX) {
    return context.fail(Code::kInvalidValue, "number of elements", INT32_MAX, count, 2);
  }
  const int32_t extent = static_cast<int32_t>(count);
  if (Status status = context.resize_output(0, {&extent, 1}); !status) return status;
  T* output = context.output(0).as<T>();
  if constexpr (std::is_integral_v<T>) {
    // Unsigned, since the element after the last may lie beyond T.
    auto value = static_cast<uint64_t>(int64_t{start});
    for (int64_t i = 0; i < count; ++i) {
      output[i] = static_cast<T>(value);
      value += static_cast<uint64_t>(int64_t{delta});
    }
  } else {
    const C first = static_cast<C>(start);
    const C step = static_cast<C>(delta);
    for (int64_t i = 0; i < count; ++i) output[i] = T(first + static_cast<C>(i) * step);
  }
  return {};
}

template <class T>
Status EyeLike<T>::check(const KernelContext& context) {
  return check_operands<ops::EyeLike>(context,
                                      {.inputs = {kAnyType}, .outputs = {kernel_type_of<T>}});
}

template <class T>
Status EyeLike<T>::run(const KernelContext& context) {
  const int64_t k = context.attributes<EyeLikeAttributes>().k;
  const TensorView& output = context.output(0);
  const int64_t rows = output.extents[0];
  const int64_t columns = output.extents[1];
  T* elements = output.as<T>();
  if (output.count() == 0) return {};
  for (int64_t i = 0; i < rows * columns; ++i) elements[i] = T(Compute<T>(0));
  for (int64_t row = 0; row < rows; ++row) {
    if (row + k >= 0 && row + k < columns) elements[row * columns + row + k] = T(Compute<T>(1));
  }
  return {};
}

template struct ConstantOfShape<Width<8>>;
template struct ConstantOfShape<Width<16>>;
template struct ConstantOfShape<Width<32>>;
template struct ConstantOfShape<Width<64>>;
template struct Range<float>;
template struct Range<double>;
template struct Range<Float16>;
template struct Range<BFloat16>;
template struct Range<int16_t>;
template struct Range<int32_t>;
template struct Range<int64_t>;
template struct EyeLike<float>;
template struct EyeLike<double>;
template struct EyeLike<Float16>;
template struct EyeLike<BFloat16>;
template struct EyeLike<bool>;
template struct EyeLike<int8_t>;
template struct EyeLike<uint8_t>;
template struct EyeLike<int16_t>;
template struct EyeLike<uint16_t>;
template struct EyeLike<int32_t>;
template struct EyeLike<uint32_t>;
template struct EyeLike<int64_t>;
template struct EyeLike<uint64_t>;

}  // namespace intarsia::cpu
