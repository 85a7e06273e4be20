// SPDX-License-Identifier: Apache-2.0
//
// One thread per element of the output, in turns of the grid's size. Operands of the same extents
// merge to one axis, for which `locate` is the identity.
#include "kernels_cuda/elementwise/binary.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/strided.h"

namespace intarsia::cuda {
namespace {

template <class Op>
INTARSIA_GLOBAL binary_kernel(typename Op::Attributes attributes, StridedAxes<2> axes,
                              Global<const float> x, Global<const float> y,
                              Global<typename Op::template Result<float>> z, int64_t count) {
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t at[2];
    axes.locate(i, at);
    z[i] = Op::apply(x[at[0]], y[at[1]], attributes);
  }
}

}  // namespace

template <class Op>
Status Binary<Op>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.input(1);
  const TensorView& z = context.output(0);
  const int64_t count = z.count();
  if (count == 0) return {};
  StridedAxes<2> axes;
  for (int axis = 0; axis < z.rank; ++axis) {
    axes.add(z.extents[axis],
             {broadcast_stride(x, z.rank, axis), broadcast_stride(y, z.rank, axis)});
  }
  return launched(context,
                  launch(grid_for(count), kThreads, stream_of(context), binary_kernel<Op>,
                         attributes_of<typename Op::Attributes>(context), axes, elements<float>(x),
                         elements<float>(y), writable<Result>(z), count));
}

extern const KernelList binary_kernels;
constinit const KernelList binary_kernels = kernel_list<BinaryKernels>();

}  // namespace intarsia::cuda
