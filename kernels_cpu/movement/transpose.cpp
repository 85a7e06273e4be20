// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/movement/transpose.h"

#include "core/operators/movement/movement.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/width_instances.h"
#include "kernels_cpu/movement/movement_check.h"

namespace intarsia::cpu {

template <class T>
Status Transpose<T>::check(const KernelContext& context) {
  constexpr KernelType kType = kernel_type_of<T>;
  return check_operands<ops::Transpose>(context, {.inputs = {kType}, .outputs = {kType}});
}

template <class T>
Status Transpose<T>::run(const KernelContext& context) {
  using E = typename T::Element;
  const auto& a = context.attributes<TransposeAttributes>();
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  int64_t in_strides[kMaxRank], out_strides[kMaxRank];
  dense_strides(x, in_strides);
  dense_strides(y, out_strides);
  StridedCopy copy;
  for (int axis = 0; axis < y.rank; ++axis) {
    copy.add(y.extents[axis], out_strides[axis],
             in_strides[ops::Transpose::source(a, y.rank, axis)]);
  }
  strided_copy(context, copy, y.as<E>(), x.as<const E>());
  return {};
}

INTARSIA_FOR_WIDTHS(Transpose);

}  // namespace intarsia::cpu
