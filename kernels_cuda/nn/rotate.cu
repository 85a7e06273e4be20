// SPDX-License-Identifier: Apache-2.0
//
// One thread per element of the output, in turns of the grid's size.
#include "kernels_cuda/nn/rotate.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"

namespace intarsia::cuda {
namespace {

/// `rows` finds the angles of a row.
template <class T>
INTARSIA_GLOBAL rotate_kernel(StridedAxes<1> rows, Global<const T> x, Global<const T> cosines,
                              Global<const T> sines, Global<T> y, int64_t size, int64_t pairs,
                              bool interleaved, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    const int64_t j = i % size, row = i - j;
    if (j >= 2 * pairs) {
      y[i] = x[i];
      continue;
    }
    int64_t angles[1];
    rows.locate(i / size, angles);
    const int64_t pair = interleaved ? j / 2 : j % pairs;
    const bool second = interleaved ? j % 2 != 0 : j >= pairs;
    const int64_t first = row + (interleaved ? 2 * pair : pair);
    const float a = number_of(x[first]), b = number_of(x[first + (interleaved ? 1 : pairs)]);
    const float cosine = number_of(cosines[angles[0] + pair]);
    const float sine = number_of(sines[angles[0] + pair]);
    y[i] = element_of<T>(second ? sine * a + cosine * b : cosine * a - sine * b);
  }
}

}  // namespace

template <class T>
Status Rotate<T>::run(const KernelContext& context) {
  const TensorView &x = context.input(0), &angles = context.input(1);
  const int64_t count = x.count();
  if (count == 0) return {};
  StridedAxes<1> rows;
  for (int axis = 0; axis < 3; ++axis) {
    rows.add(x.extents[axis], {broadcast_stride(angles, x.rank, axis)});
  }
  const bool interleaved = context.attributes<RotateAttributes>().interleaved != 0;
  return launched(context, launch<rotate_kernel<T>>(
                               grid_for(count), kThreads, stream_of(context), rows, elements<T>(x),
                               elements<T>(angles), elements<T>(context.input(2)),
                               writable<T>(context.output(0)), int64_t{x.extents[3]},
                               int64_t{angles.extents[3]}, interleaved, count));
}

extern const KernelList rotate_kernels;
constinit const KernelList rotate_kernels = kernel_list<RotateKernels>();

}  // namespace intarsia::cuda
