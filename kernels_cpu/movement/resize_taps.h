// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of Resize share, compiled once (core/operators/movement/resize_taps.h).
#pragma once

#include "core/operators/movement/resize_taps.h"
#include "intarsia/kernel.h"

namespace intarsia::cpu {

template <class V>
using Tap = ResizeTap<V>;

/// Reads scales or sizes, and roi. REQUIRES: ops::Resize::infer agreed with the output.
void read_resize_axes(const KernelContext& context, ResizeAxis (&axes)[kMaxRank]);

/// Taps per output index.
int64_t resize_taps(const ResizeAttributes& a, const ResizeAxis& axis);

/// Most taps that all axes together can have, for every node with extents up to these.
CheckedInt resize_taps_bound(const KernelContext& context);

/// True if the attributes list the axis, or list none. REQUIRES: check_resize.
bool is_resized(const ResizeAttributes& a, int rank, int axis);

/// What `check` of all Resize kernels has in common; `type` is that of X and Y.
Status check_resize(const KernelContext& context, KernelType type);

/// Fills taps[0, resize_taps) of output index j. REQUIRES: axis.in > 0.
void resize_taps_of(const ResizeAttributes& a, const ResizeAxis& axis, int64_t j, Tap<double>* taps,
                    int64_t count);
/// The same with weights in float.
void resize_taps_of(const ResizeAttributes& a, const ResizeAxis& axis, int64_t j, Tap<float>* taps,
                    int64_t count);

/// The nearest input index of output index j. REQUIRES: axis.in > 0.
int64_t resize_nearest(const ResizeAttributes& a, const ResizeAxis& axis, int64_t j);

}  // namespace intarsia::cpu
