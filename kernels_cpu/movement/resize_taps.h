// SPDX-License-Identifier: Apache-2.0
//
// The taps of one resized axis.
//
// Output index j lies at coordinate x of the input axis, as coordinate_transformation_mode says.
// Around floor(x) lie the taps of the filter: one for nearest, two for linear, four for cubic, more
// where antialiasing stretches the filter of a reduction by 1 / scale. Taps beyond the ends repeat
// the end, or count for nothing (exclude_outside). Weights are computed in double and add up to 1.
#pragma once

#include "core/operators/movement/resize.h"
#include "intarsia/kernel.h"

namespace intarsia::cpu {

/// What is known of one axis; numbers as in the specification.
struct ResizeAxis {
  int64_t in = 0, out = 0;
  double scale = 1.0;
  double roi_start = 0.0, roi_end = 1.0;
  bool listed = false;  ///< False: the axis is never resized.

  bool identity(bool crop) const;
};

/// Index of an input element (-1: the output is extrapolation_value) and its weight.
template <class V>
struct Tap {
  int32_t index = 0;
  V weight{};
};

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
