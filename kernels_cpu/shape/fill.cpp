// SPDX-License-Identifier: Apache-2.0
//
// ConstantOfShape: one value everywhere; elements are copied as bits. EyeLike: 1 on a diagonal, 0
// elsewhere; nothing of the input but its extents is read.
// https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html and onnx__EyeLike.html
#include <cstring>

#include "core/kernel_list.h"
#include "core/operators/shape/fill.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/repeat.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/math/small_runs.h"

namespace intarsia::cpu {
namespace {

template <class W>
struct ConstantOfShape {
  static constexpr KernelId id{"ConstantOfShape", "", {kernel_type_of<W>}};
  static Status check(const KernelContext& context) {
    return check_operand_types<ops::ConstantOfShape>(
        context, {.inputs = {DataType::kInt64}, .outputs = {kernel_type_of<W>}});
  }
  static Status run(const KernelContext& context) {
    using Element = typename W::Element;
    const int64_t bits = context.attributes<ConstantOfShapeAttributes>().value_bits;
    Element element{};
    std::memcpy(&element, &bits, sizeof(Element) < sizeof(bits) ? sizeof(Element) : sizeof(bits));
    const TensorView& output = context.output(0);
    Element* elements = output.as<Element>();
    constexpr auto kBytes = static_cast<int64_t>(sizeof(Element));
    for_items(context, output.count(), kBytes, [&](int64_t begin, int64_t end) {
      repeat_each(elements + begin, &element, 1, end - begin, sizeof(Element));
    });
    return {};
  }
};

/// Elements of less than a byte: a thread writes whole bytes.
template <class T>
struct ConstantOfShapePacked {
  static constexpr DataType kElement = small_type<T>;
  static constexpr KernelId id{"ConstantOfShape", "", {kElement}};
  static Status check(const KernelContext& context) {
    return check_operand_types<ops::ConstantOfShape>(
        context, {.inputs = {DataType::kInt64}, .outputs = {kElement}});
  }
  static Status run(const KernelContext& context) {
    const int64_t bits = context.attributes<ConstantOfShapeAttributes>().value_bits;
    const auto code = static_cast<uint8_t>(bits & ((1 << element_bits(kElement)) - 1));
    auto* elements = context.output(0).as<std::byte>();
    for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
      store_codes<kElement>(elements, begin, end, [=](int64_t) { return code; });
    });
    return {};
  }
};

template <class T>
struct EyeLike {
  static constexpr KernelId id{"EyeLike", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::EyeLike>(context,
                                        {.inputs = {kAnyType}, .outputs = {kernel_type_of<T>}});
  }
  static Status run(const KernelContext& context) {
    const int64_t k = context.attributes<EyeLikeAttributes>().k;
    const TensorView& output = context.output(0);
    const int64_t rows = output.extents[0];
    const int64_t columns = output.extents[1];
    using E = Element<T>;
    auto* elements = output.as<typename E::Stored>();
    // 0 is all bits 0 in every type.
    for_items(context, output.bytes(), 1, [&](int64_t begin, int64_t end) {
      std::memset(output.as<std::byte>() + begin, 0, static_cast<size_t>(end - begin));
    });
    if (k <= -rows || k >= columns) return {};
    const int64_t first = k < 0 ? -k : 0, last = columns - k < rows ? columns - k : rows;
    for (int64_t row = first; row < last; ++row) elements[row * columns + row + k] = E::store(1);
    return {};
  }
};

}  // namespace

extern const KernelList fill_kernels;
constinit const KernelList fill_kernels =
    kernel_list<Each<ConstantOfShape, Types<Width<8>, Width<16>, Width<32>, Width<64>>>,
                Each<ConstantOfShapePacked, PackedTypes>,
                Each<EyeLike, Join<Numbers, Types<bool>>>>();

}  // namespace intarsia::cpu
