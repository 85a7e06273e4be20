// SPDX-License-Identifier: Apache-2.0
//
// A thread takes an element of the output, and compares its coordinate with the index.
#include "kernels_cuda/indexing/one_hot.h"

#include "core/kernel_list.h"
#include "kernels_cuda/indexing/places.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

/// Numbers that no int64 holds lie outside every depth.
INTARSIA_DEVICE int64_t whole(float index) {
  return index > -0x1p62f && index < 0x1p62f ? static_cast<int64_t>(index) : -ops::kBeyondExtents;
}
INTARSIA_DEVICE int64_t whole(int64_t index) {
  return index;
}
INTARSIA_DEVICE int64_t whole(int32_t index) {
  return index;
}

template <class T, class I>
INTARSIA_GLOBAL one_hot_kernel(Divisor inner, Divisor along, int64_t depth, int64_t columns,
                               Global<const I> indices, Global<const T> values, Global<T> y,
                               int64_t count) {
  const T off = values[0], on = values[1];
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t line, column, outer, at;
    inner.divide(i, line, column);
    along.divide(line, outer, at);
    const int64_t index = whole(indices[outer * columns + column]);
    y[i] = (index < 0 ? index + depth : index) == at ? on : off;
  }
}

}  // namespace

template <ElementWidth W>
Status OneHot<W>::run(const KernelContext& context) {
  const TensorView& indices = context.input(0);
  const TensorView& y = context.output(0);
  const int64_t count = y.count();
  if (count == 0) return {};
  int axis = context.attributes<OneHotAttributes>().axis;
  if (axis < 0) axis += y.rank;
  const int64_t columns = span_count(y, axis + 1, y.rank), depth = y.extents[axis];
  return with_element(bytes_of(W), [&]<class T>(T) {
    const auto start = [&]<class I>(I) {
      return launched(context,
                      launch<one_hot_kernel<T, I>>(
                          grid_for(count), kThreads, stream_of(context), Divisor(columns, count),
                          Divisor(depth, count / columns), depth, columns, elements<I>(indices),
                          elements<T>(context.input(2)), writable<T>(y), count));
    };
    return indices.type == DataType::kFloat   ? start(float())
           : indices.type == DataType::kInt32 ? start(int32_t())
                                              : start(int64_t());
  });
}

extern const KernelList one_hot_kernels;
constinit const KernelList one_hot_kernels = kernel_list<OneHotKernels>();

}  // namespace intarsia::cuda
