// SPDX-License-Identifier: Apache-2.0
//
// Convolution in NCDHW, f32: the sums of conv.h where planes of channels lie behind one another.
// For nodes that stand alone, which would be most of the time at turning their operands, and for
// groups of a few channels, where vectors of channels would be empty.
//
// Filters take the part of rows, columns of the image that of vectors:
//
//     unit: some rows of the output of one group     w, 12 filters side by side
//                                                        [k][12]
//     strip [channel][kernel_d][rows][phases][columns]     |
//        x[k] ------ unaligned vectors of columns ---->  6 x 64 sums, 12 x 32, 4 x 64, ...
//
// A unit copies the input rows that it reads, with their padding, into a strip: the columns of a
// stride s as s runs ("phases") of every s-th one, so that each tap reads neighbours. Long sums are
// made in passes over channels, and wait in the output between them. A window of one pixel takes
// the whole image as one row. Every element is one chain of multiply-adds, in the order of
// the weights or, of a filter that a tile takes alone, column by column of each window: its bits
// depend neither on threads nor on units.
#pragma once

#include "kernels_cpu/gemm/conv.h"

namespace intarsia::cpu {

/// Filters that lie side by side in packed weights.
inline constexpr int64_t kPlaneFilters = 12;

/// As packed_floats of gemm.h: weights take as many floats as they have elements,
/// [group][12 filters][k][12], the last filters of a group side by side, however few they are.
template <class E>
void pack_planes(const E* weights, int64_t groups, int64_t filters, int64_t k, E* packed);
/// Calls next(filter, i) for the terms of all filters, `filters` for each group, in that order.
template <class Next>
void for_packed_planes(int64_t groups, int64_t filters, int64_t k, const Next& next) {
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t first = 0; first < filters; first += kPlaneFilters) {
      const int64_t here = filters - first < kPlaneFilters ? filters - first : kPlaneFilters;
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t r = 0; r < here; ++r) next(group * filters + first + r, i);
      }
    }
  }
}

/// As conv_units, conv_workspace_bytes and conv_run, of dense operands; pitches are not read. The
/// residual may be the output itself.
int64_t plane_units(const ConvShape& shape);
[[gnu::cold]] CheckedInt plane_workspace_bytes(const ConvShape& shape);
void plane_run(const ConvArgs& args, int64_t begin, int64_t end, void* workspace);

}  // namespace intarsia::cpu
