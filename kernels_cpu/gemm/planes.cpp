// SPDX-License-Identifier: Apache-2.0
//
// See planes.h.
#include "kernels_cpu/gemm/planes.h"

#include <cstring>

#include "kernels_cpu/gemm/plane_strip.h"

namespace intarsia::cpu {
namespace {

// Floats behind the strip, which the last vectors of a row reach.
constexpr int64_t kSlack = 64;

constexpr int64_t min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

bool is_empty(const ConvShape& s) {
  return s.batch <= 0 || s.out_d <= 0 || s.out_h <= 0 || s.out_w <= 0 || s.out_c <= 0;
}

CheckedInt align(CheckedInt bytes) {
  return floor_div(bytes + 63, 64) * 64;
}
CheckedInt tap_bytes(const ConvShape& s) {
  return align(CheckedInt(plane_taps(s)) * plane_channels(s) * sizeof(ptrdiff_t));
}

}  // namespace

template <class E>
void pack_planes(const E* weights, int64_t groups, int64_t filters, int64_t k, E* packed) {
  for_packed_planes(groups, filters, k,
                    [&](int64_t filter, int64_t i) { *packed++ = weights[filter * k + i]; });
}
template void pack_planes(const float*, int64_t, int64_t, int64_t, float*);
template void pack_planes(const uint16_t*, int64_t, int64_t, int64_t, uint16_t*);

int64_t plane_units(const ConvShape& shape) {
  if (is_empty(shape)) return 0;
  const ConvShape s = with_one_row(shape);
  const PlanePlan p = plane_plan(s);
  return s.batch * s.groups * s.out_d * p.filter_parts * p.row_parts * p.column_parts;
}

CheckedInt plane_workspace_bytes(const ConvShape& shape) {
  if (is_empty(shape)) return 0;
  const ConvShape s = with_one_row(shape);
  const CheckedInt floats = most_strip_floats(s) + kSlack;
  return tap_bytes(s) + align(floats * sizeof(float));
}

void plane_run(const ConvArgs& args, int64_t begin, int64_t end, void* workspace) {
  if (begin >= end) return;
  const ConvShape s = with_one_row(args.shape);
  const PlanePlan p = plane_plan(s);
  const int64_t channels = s.in_c / s.groups;
  const int64_t group_filters = s.out_c / s.groups;
  const int64_t k = channels * plane_taps(s);
  const int64_t plane = s.out_d * s.out_h * s.out_w;
  auto* offsets = static_cast<ptrdiff_t*>(workspace);
  auto* strip = reinterpret_cast<float*>(static_cast<char*>(workspace) + tap_bytes(s).value());
  point_taps(s, p, offsets);
  // Vectors reach into gaps that no row fills: what lies there might be numbers of the slow kind.
  std::memset(strip, 0, static_cast<size_t>(p.strip_floats + kSlack) * sizeof(float));
  const PlaneFunction kernel = plane_kernel(args.isa);

  PlaneBlock block{};
  block.taps = offsets;
  block.input = strip;
  block.tap_rows = s.kernel_h;
  block.tap_columns = s.kernel_w;
  const int64_t row_step = s.stride_h / s.dilation_h;
  block.tap_row_step = min(s.stride_h % s.dilation_h == 0 ? row_step : s.kernel_h, s.kernel_h);
  block.input_row_pitch = s.stride_h * p.pitch;
  block.output_row_pitch = s.out_w;
  block.output_plane_pitch = plane;
  for (int64_t unit = begin; unit < end; ++unit) {
    const PlaneUnit u = plane_unit(s, p, unit);
    const int64_t filter = u.group * group_filters + u.filter;
    const int64_t at = (u.image * s.out_c + filter) * plane + (u.z * s.out_h + u.y) * s.out_w + u.x;
    block.rows = u.rows;
    block.columns = u.columns;
    for (int64_t first = 0; first == 0 || first < channels; first += p.channels) {
      const int64_t count = min(p.channels, channels - first);
      copy_strip(args, s, p, u, first, count, strip);
      const bool last = first + count == channels;
      block.k = count * plane_taps(s);
      block.start = first == 0;
      block.lower = last ? args.epilogue.lower : Epilogue{}.lower;
      block.upper = last ? args.epilogue.upper : Epilogue{}.upper;
      for (int64_t n = 0; n < u.filters; n += kPlaneFilters) {
        block.filters = min(kPlaneFilters, u.filters - n);
        block.weights_pitch = block.filters;
        block.weights = args.weights + (filter + n) * k + first * plane_taps(s) * block.filters;
        block.bias = args.bias != nullptr ? args.bias + filter + n : nullptr;
        block.output = args.output + at + n * plane;
        block.residual = args.residual != nullptr ? args.residual + at + n * plane : nullptr;
        kernel(block);
      }
    }
    if (args.epilogue.activate == nullptr) continue;
    for (int64_t n = 0; n < u.filters; ++n) {
      args.epilogue.activate(args.epilogue.spec, args.output + at + n * plane, s.out_w, u.rows,
                             u.columns);
    }
  }
}

}  // namespace intarsia::cpu
