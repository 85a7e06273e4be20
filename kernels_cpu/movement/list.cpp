// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/movement/concat.h"
#include "kernels_cpu/movement/depth_to_space.h"
#include "kernels_cpu/movement/pad.h"
#include "kernels_cpu/movement/resize.h"
#include "kernels_cpu/movement/reverse_sequence.h"
#include "kernels_cpu/movement/slice.h"
#include "kernels_cpu/movement/split.h"
#include "kernels_cpu/movement/transpose.h"
#include "kernels_cpu/movement/trilu.h"

namespace intarsia::cpu {

extern const KernelList movement_kernels;
constinit const KernelList movement_kernels =
    kernel_list<Each<Concat, Widths>, Each<Split, Widths>, Each<Slice, Widths>,
                Each<Transpose, Widths>, Each<Pad, Widths>, Each<DepthToSpace, Widths>,
                Each<SpaceToDepth, Widths>, Each<Trilu, Widths>, Each<ReverseSequence, Widths>,
                Each<ResizeNearest, Widths>, Each<Resize, Numbers>>();

}  // namespace intarsia::cpu
