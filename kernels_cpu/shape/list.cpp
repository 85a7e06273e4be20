// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/shape/expand.h"
#include "kernels_cpu/shape/extents.h"
#include "kernels_cpu/shape/fill.h"
#include "kernels_cpu/shape/view.h"

namespace intarsia::cpu {

extern const KernelList shape_kernels;
constinit const KernelList shape_kernels =
    kernel_list<Identity, Reshape, Squeeze, Unsqueeze, Flatten, Dropout, ShapeOf, Size,
                Each<ConstantOfShape, Types<Width<8>, Width<16>, Width<32>, Width<64>>>,
                Each<Range, Join<Floats, Types<int16_t, int32_t, int64_t>>>,
                Each<EyeLike, Join<Numbers, Types<bool>>>, Each<Expand, Widths>,
                Each<TileTensor, Widths>>();

}  // namespace intarsia::cpu
