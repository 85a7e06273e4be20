// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/movement/resize_taps.h"

namespace intarsia::cpu {

void read_resize_axes(const KernelContext& context, ResizeAxis (&axes)[kMaxRank]) {
  ops::read_resize_axes(context, axes);
}

int64_t resize_taps(const ResizeAttributes& a, const ResizeAxis& axis) {
  return ops::resize_taps(a, axis);
}

CheckedInt resize_taps_bound(const KernelContext& context) {
  return ops::resize_taps_bound(context);
}

bool is_resized(const ResizeAttributes& a, int rank, int axis) {
  return ops::is_resized(a, rank, axis);
}

Status check_resize(const KernelContext& context, KernelType type) {
  return ops::check_resize(context, type);
}

void resize_taps_of(const ResizeAttributes& a, const ResizeAxis& axis, int64_t j, Tap<double>* taps,
                    int64_t count) {
  ops::fill_resize_taps<double>(a, axis, j, taps, count);
}
void resize_taps_of(const ResizeAttributes& a, const ResizeAxis& axis, int64_t j, Tap<float>* taps,
                    int64_t count) {
  ops::fill_resize_taps<float>(a, axis, j, taps, count);
}

int64_t resize_nearest(const ResizeAttributes& a, const ResizeAxis& axis, int64_t j) {
  return ops::resize_nearest(a, axis, j);
}

}  // namespace intarsia::cpu
