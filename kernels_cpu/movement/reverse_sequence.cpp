// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/movement/reverse_sequence.h"

#include "core/operators/movement/movement.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/width_instances.h"
#include "kernels_cpu/movement/movement_check.h"

namespace intarsia::cpu {

template <class T>
Status ReverseSequence<T>::check(const KernelContext& context) {
  constexpr KernelType kType = kernel_type_of<T>;
  return check_operands<ops::ReverseSequence>(
      context, {.inputs = {kType, DataType::kInt64}, .required_inputs = 2, .outputs = {kType}});
}

template <class T>
Status ReverseSequence<T>::run(const KernelContext& context) {
  using E = typename T::Element;
  const TensorView& x = context.input(0);
  const int time_axis = context.attributes<ReverseSequenceAttributes>().time_axis;
  const int64_t steps = x.extents[time_axis], batches = x.extents[1 - time_axis];
  const auto* lengths = context.input(1).as<const int64_t>();
  for (int64_t b = 0; b < batches; ++b) {
    if (lengths[b] < 0 || lengths[b] > steps) {
      return context.fail(Code::kIndexOutOfRange, "sequence length", steps, lengths[b], 1);
    }
  }
  const int64_t inner = span_count(x, 2, x.rank);
  const int64_t step = time_axis == 0 ? batches * inner : inner;
  const int64_t batch = time_axis == 0 ? inner : steps * inner;
  const auto bytes = inner * static_cast<int64_t>(sizeof(E));
  const E* in = x.as<const E>();
  E* out = context.output(0).as<E>();
  for_items(context, batches * steps, bytes, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t b = time_axis == 0 ? item % batches : item / steps;
      const int64_t t = time_axis == 0 ? item / batches : item % steps;
      const int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
      copy_run(out + item * inner, in + b * batch + from * step, bytes);
    }
  });
  return {};
}

INTARSIA_FOR_WIDTHS(ReverseSequence);

}  // namespace intarsia::cpu
