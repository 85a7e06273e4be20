// SPDX-License-Identifier: Apache-2.0
//
// ReverseSequence: the first sequence_lens[b] steps of batch b in reverse order, the others as they
// are. Time and batch are the first two axes, in either order. T is a Width; what lies behind them
// is copied as bytes. A length outside [0, steps] is an error.
// https://onnx.ai/onnx/operators/onnx__ReverseSequence.html
#include "core/operators/movement/reverse_sequence.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct ReverseSequence {
  static constexpr KernelId id{"ReverseSequence", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::ReverseSequence>(
        context, {.inputs = {kType, DataType::kInt64}, .required_inputs = 2, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
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
      int64_t b = time_axis == 0 ? begin % batches : begin / steps;
      int64_t t = time_axis == 0 ? begin / batches : begin % steps;
      for (int64_t item = begin; item < end; ++item) {
        const int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
        copy_run(out + item * inner, in + b * batch + from * step, bytes);
        int64_t &fast = time_axis == 0 ? b : t, &slow = time_axis == 0 ? t : b;
        if (++fast < (time_axis == 0 ? batches : steps)) continue;
        fast = 0;
        ++slow;
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList reverse_sequence_kernels;
constinit const KernelList reverse_sequence_kernels = kernel_list<Each<ReverseSequence, Widths>>();

}  // namespace intarsia::cpu
