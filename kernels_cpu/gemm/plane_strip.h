// SPDX-License-Identifier: Apache-2.0
//
// How planes.h cuts a convolution into units, and the strip that a unit copies its input into.
#pragma once

#include "kernels_cpu/gemm/planes.h"

namespace intarsia::cpu {

/// The same with an image as one row, where windows are one pixel.
ConvShape with_one_row(ConvShape s);

int64_t plane_taps(const ConvShape& s);
/// Channels of a pass, which all passes but the last one have.
int64_t plane_channels(const ConvShape& s);

/// Floats that a strip has at most, for this shape and any with smaller images.
CheckedInt most_strip_floats(const ConvShape& s);

struct PlanePlan {
  int64_t channels;                ///< Of a group and a pass.
  int64_t rows, columns, filters;  ///< Of a unit at most.
  int64_t row_parts, column_parts, filter_parts;
  /// Of the strip: floats of a row, and of one of its phases; rows of a channel and kernel plane.
  int64_t pitch, phase_pitch, height;
  int64_t strip_floats;
};

/// `s` has elements.
PlanePlan plane_plan(const ConvShape& s);

/// Output rows, columns and filters, the first ones and how many.
struct PlaneUnit {
  int64_t image, z, group, y, x, filter;
  int64_t rows, columns, filters;
};

PlaneUnit plane_unit(const ConvShape& s, const PlanePlan& p, int64_t unit);

/// Copies what a unit reads of channels [first, first + count) of its group.
void copy_strip(const ConvArgs& args, const ConvShape& s, const PlanePlan& p, const PlaneUnit& u,
                int64_t first, int64_t count, float* strip);

/// Where the taps of all channels of a pass meet the strip, for the unit's first element.
void point_taps(const ConvShape& s, const PlanePlan& p, ptrdiff_t* taps);

}  // namespace intarsia::cpu
