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
#include "kernels_cpu/math/element.h"

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
    const int64_t count = output.count();
    for (int64_t i = 0; i < count; ++i) elements[i] = element;
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
    if (output.count() == 0) return {};
    for (int64_t i = 0; i < rows * columns; ++i) elements[i] = E::store(0);
    for (int64_t row = 0; row < rows; ++row) {
      if (row + k >= 0 && row + k < columns) elements[row * columns + row + k] = E::store(1);
    }
    return {};
  }
};

}  // namespace

extern const KernelList fill_kernels;
constinit const KernelList fill_kernels =
    kernel_list<Each<ConstantOfShape, Types<Width<8>, Width<16>, Width<32>, Width<64>>>,
                Each<EyeLike, Join<Numbers, Types<bool>>>>();

}  // namespace intarsia::cpu
