// SPDX-License-Identifier: Apache-2.0
//
// A thread takes an element; k is read on the device.
#include "kernels_cuda/movement/trilu.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

template <class T>
INTARSIA_GLOBAL trilu_kernel(bool upper, Divisor columns, Divisor rows, Global<const int64_t> k,
                             Global<const T> x, Global<T> y, int64_t count) {
  const int64_t diagonal = k.present() ? k[0] : 0;
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t line, column, matrix, row;
    columns.divide(i, line, column);
    rows.divide(line, matrix, row);
    // Both are extents at most: what is compared cannot overflow, unlike row + k.
    const int64_t right = column - row;
    const bool kept = upper ? right >= diagonal : right <= diagonal;
    y[i] = kept ? x[i] : T{};
  }
}

}  // namespace

template <ElementWidth W>
Status Trilu<W>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const int64_t count = x.count();
  if (count == 0) return {};
  const int64_t rows = x.extents[x.rank - 2], columns = x.extents[x.rank - 1];
  const bool upper = context.attributes<TriluAttributes>().upper != 0;
  return with_element(bytes_of(W), [&]<class T>(T) {
    return launched(context,
                    launch<trilu_kernel<T>>(grid_for(count), kThreads, stream_of(context), upper,
                                            Divisor(columns, count), Divisor(rows, count / columns),
                                            elements<int64_t>(context.input(1)), elements<T>(x),
                                            writable<T>(context.output(0)), count));
  });
}

extern const KernelList trilu_kernels;
constinit const KernelList trilu_kernels = kernel_list<TriluKernels>();

}  // namespace intarsia::cuda
