// SPDX-License-Identifier: Apache-2.0
//
// See plane_strip.h.
#include "kernels_cpu/gemm/plane_strip.h"

#include <cstring>
#include <numeric>
#include <utility>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/lane_vector.h"
#include "kernels_cpu/gemm/even_block.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kSums = 512;        // terms of a pass: their weights stay in the first cache
constexpr int64_t kStrip = 32 << 10;  // floats: half of a second cache of 256 KiB
constexpr int64_t kEven = 32;         // columns of two of the longest vectors
constexpr int64_t kLeastColumns = 64;
constexpr int64_t kMostColumns = 1024;
constexpr int64_t kLeastUnits = 8;  // for threads to share

int64_t reach(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation;
}
int64_t reach_h(const ConvShape& s) {
  return reach(s.kernel_h, s.dilation_h);
}
int64_t reach_w(const ConvShape& s) {
  return reach(s.kernel_w, s.dilation_w);
}
/// Taps meet every so many columns and rows.
int64_t column_step(const ConvShape& s) {
  return std::gcd(s.stride_w, s.dilation_w);
}
int64_t row_step(const ConvShape& s) {
  return std::gcd(s.stride_h, s.dilation_h);
}
int64_t phases(const ConvShape& s) {
  return min(s.stride_w / column_step(s), reach_w(s) / column_step(s) + 1);
}
CheckedInt phase_columns(const ConvShape& s, int64_t columns) {
  return CheckedInt(columns) + reach_w(s) / s.stride_w;
}
/// Of a row of the strip: an odd number of cache lines, so that the channels of a tile do not meet
/// in a few places of the cache.
CheckedInt strip_pitch(const ConvShape& s, int64_t columns) {
  constexpr int64_t kLine = 16;
  const CheckedInt pairs = floor_div(phases(s) * phase_columns(s, columns) + kLine - 1, 2 * kLine);
  return (pairs * 2 + 1) * kLine;
}
CheckedInt strip_rows(const ConvShape& s, int64_t rows) {
  return CheckedInt(rows - 1) * s.stride_h + reach_h(s) + 1;
}

CheckedInt strip_floats(const ConvShape& s, int64_t rows, int64_t columns) {
  return strip_rows(s, rows) * strip_pitch(s, columns) * s.kernel_d * plane_channels(s);
}

/// Planes lie far from each other, which prefetching of the processor does not follow: lines of a
/// channel are asked for while an earlier one is copied.
constexpr int64_t kChannelsAhead = 4;

/// Of steps up to this, floats are picked out of vectors.
constexpr int kMostStep = 4;

/// N floats of every kStep-th one.
template <int kStep, class V, int... I>
INTARSIA_INLINE void copy_vector(const float* from, float* to, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  V v[kStep];
  std::memcpy(v, from, sizeof v);
  if constexpr (kStep == 2) v[0] = __builtin_shufflevector(v[0], v[1], (2 * I)...);
  if constexpr (kStep == 3) {
    v[0] = __builtin_shufflevector(v[0], v[1], (3 * I < 2 * n ? 3 * I : 0)...);
    v[0] = __builtin_shufflevector(v[0], v[2], (3 * I < 2 * n ? I : 3 * I - n)...);
  }
  if constexpr (kStep == 4) {
    v[0] = __builtin_shufflevector(v[0], v[1], (2 * I)...);
    v[2] = __builtin_shufflevector(v[2], v[3], (2 * I)...);
    v[0] = __builtin_shufflevector(v[0], v[2], (2 * I)...);
  }
  std::memcpy(to, v, sizeof v[0]);
}

/// `count` floats of every kStep-th one, in vectors of N, the last of which may copy again what the
/// one before did; lines so far `ahead` are fetched into the second cache. With larger steps each
/// vector reads up to a float that is not there behind the last one.
template <int kStep, int N>
INTARSIA_INLINE void copy_line(const float* from, int64_t count, float* to, int64_t ahead) {
  const int64_t last = count - (kStep > 1 ? 1 : 0) - N;
  if (last >= 0) {
    using V = typename LaneVector<float, N>::V;
    for (int64_t i = 0;; i = min(i + N, last)) {
      for (int v = 0; v < kStep; ++v) __builtin_prefetch(from + i * kStep + v * N + ahead, 0, 2);
      copy_vector<kStep, V>(from + i * kStep, to + i, std::make_integer_sequence<int, N>());
      if (i == last) break;
    }
    to[count - 1] = from[(count - 1) * kStep];
  } else if constexpr (N > 4) {
    copy_line<kStep, N / 2>(from, count, to, ahead);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * kStep];
  }
}

template <int N, int kStep = 1>
INTARSIA_INLINE void copy_every(const float* from, int64_t step, int64_t count, float* to,
                                int64_t ahead) {
  // AVX2 has no shuffle of two vectors across their halves.
  constexpr int kLanes = kStep > 1 && N == 8 ? 4 : N;
  if (step == kStep) return copy_line<kStep, kLanes>(from, count, to, ahead);
  if constexpr (kStep < kMostStep) {
    copy_every<N, kStep + 1>(from, step, count, to, ahead);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  }
}

/// A few zeros. Behind each the compiler is told of memory, or it would call memset.
void clear(float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = 0;
    __asm__("" ::: "memory");
  }
}

/// Columns of a phase that lie in the image: [low, high) of phase_pitch; the others are padding.
struct PhaseRun {
  int64_t first;  ///< Column of the image that [0] is.
  int64_t low, high;
};

PhaseRun phase_run(const ConvShape& s, const PlanePlan& p, const PlaneUnit& u, int64_t phase) {
  const int64_t first = u.x * s.stride_w - s.pad_left + phase * column_step(s);
  const int64_t low = min(first < 0 ? ceil_div(-first, s.stride_w) : 0, p.phase_pitch);
  const int64_t end = first < s.in_w ? ceil_div(s.in_w - first, s.stride_w) : 0;
  return {first, low, max(min(end, p.phase_pitch), low)};
}

/// Whether the padding lies at the same places of the strip for all units, which is empty at first.
bool pads_alike(const PlanePlan& p) {
  return p.column_parts == 1 && p.row_parts == 1;
}

/// What a unit reads of one plane, null in the padding.
template <int N>
INTARSIA_INLINE void copy_plane(const ConvShape& s, const PlanePlan& p, const PlaneUnit& u,
                                const float* plane, float* to) {
  const int64_t height = strip_rows(s, u.rows).value(), needed = reach_h(s) + 1;
  const int64_t every = row_step(s);
  const bool clears = !pads_alike(p);
  for (int64_t phase = 0; phase < phases(s); ++phase, to += p.phase_pitch) {
    const PhaseRun run = phase_run(s, p, u, phase);
    int64_t step = 0;  // i % stride_h
    for (int64_t i = 0; i < height;
         i += every, step = step + every < s.stride_h ? step + every : 0) {
      if (step >= needed) continue;  // no window reads the row
      const int64_t y = u.y * s.stride_h - s.pad_top + i;
      float* row = to + i * p.pitch;
      if (plane == nullptr || y < 0 || y >= s.in_h) {
        if (clears || plane == nullptr) {
          std::memset(row, 0, static_cast<size_t>(p.phase_pitch) * sizeof(float));
        }
        continue;
      }
      if (clears) clear(row, run.low);
      if (run.high > run.low) {
        copy_every<N>(plane + y * s.in_w + run.first + run.low * s.stride_w, s.stride_w,
                      run.high - run.low, row + run.low, kChannelsAhead * s.in_d * s.in_h * s.in_w);
      }
      if (clears) clear(row + run.high, p.phase_pitch - run.high);
    }
  }
}

template <int N>
INTARSIA_INLINE void copy_channels(const ConvArgs& args, const ConvShape& s, const PlanePlan& p,
                                   const PlaneUnit& u, int64_t first, int64_t count, float* strip) {
  const int64_t plane = s.in_h * s.in_w;
  const int64_t channel = u.image * s.in_c + u.group * (s.in_c / s.groups) + first;
  const float* image = args.input + channel * s.in_d * plane;
  for (int64_t c = 0; c < count; ++c, image += s.in_d * plane) {
    for (int64_t h = 0; h < s.kernel_d; ++h, strip += p.height * p.pitch) {
      const int64_t z = u.z * s.stride_d - s.pad_front + h * s.dilation_d;
      copy_plane<N>(s, p, u, z >= 0 && z < s.in_d ? image + z * plane : nullptr, strip);
    }
  }
}

}  // namespace

ConvShape with_one_row(ConvShape s) {
  const bool one_pixel = s.kernel_d == 1 && s.kernel_h == 1 && s.kernel_w == 1 && s.stride_d == 1 &&
                         s.stride_h == 1 && s.stride_w == 1 && s.pad_front == 0 && s.pad_top == 0 &&
                         s.pad_left == 0 && s.out_d == s.in_d && s.out_h == s.in_h &&
                         s.out_w == s.in_w;
  if (!one_pixel) return s;
  s.in_w = s.out_w = s.in_d * s.in_h * s.in_w;
  s.in_d = s.in_h = s.out_d = s.out_h = 1;
  return s;
}

int64_t plane_taps(const ConvShape& s) {
  return s.kernel_d * s.kernel_h * s.kernel_w;
}
int64_t plane_channels(const ConvShape& s) {
  const int64_t channels = max(s.in_c / s.groups, 1);
  return ceil_div(channels, ceil_div(channels, max(kSums / plane_taps(s), 1)));
}

CheckedInt most_strip_floats(const ConvShape& s) {
  // Smaller images are cut otherwise: into no more than all of it, or what a unit has at most.
  const CheckedInt all = strip_floats(s, s.out_h, s.out_w);
  const CheckedInt least = strip_floats(s, 1, min(s.out_w, kLeastColumns));
  return dim_min(all, dim_max(least, kStrip));
}

PlanePlan plane_plan(const ConvShape& s) {
  PlanePlan p{};
  p.channels = plane_channels(s);
  p.columns = min(s.out_w, kMostColumns);
  while (p.columns > kLeastColumns && strip_floats(s, 1, p.columns) > kStrip) {
    p.columns = ceil_div(p.columns, 2 * kEven) * kEven;
  }
  p.column_parts = ceil_div(s.out_w, p.columns);
  p.columns = min(ceil_div(ceil_div(s.out_w, p.column_parts), kEven) * kEven, p.columns);
  p.column_parts = ceil_div(s.out_w, p.columns);
  const int64_t planes = s.batch * s.out_d * s.groups;
  // Rows of a few units for threads to share, as many as fit.
  p.rows = max(ceil_div(s.out_h * planes * p.column_parts, kLeastUnits), 1);
  p.rows = min(p.rows, s.out_h);
  while (p.rows > 1 && strip_floats(s, p.rows, p.columns) > kStrip) p.rows = ceil_div(p.rows, 2);
  p.row_parts = ceil_div(s.out_h, p.rows);
  p.rows = ceil_div(s.out_h, p.row_parts);
  const int64_t blocks = ceil_div(s.out_c / s.groups, kPlaneFilters);
  const int64_t parts = max(kLeastUnits / (planes * p.column_parts * p.row_parts), 1);
  p.filters = ceil_div(blocks, min(parts, blocks)) * kPlaneFilters;
  p.filter_parts = ceil_div(blocks * kPlaneFilters, p.filters);
  p.phase_pitch = phase_columns(s, p.columns).value();
  p.pitch = strip_pitch(s, p.columns).value();
  p.height = strip_rows(s, p.rows).value();
  p.strip_floats = p.channels * s.kernel_d * p.height * p.pitch;
  return p;
}

PlaneUnit plane_unit(const ConvShape& s, const PlanePlan& p, int64_t unit) {
  PlaneUnit u{};
  const auto next = [&](int64_t count) -> int64_t {
    if (count == 1) return 0;  // most are, and a division takes long
    const int64_t index = unit % count;
    unit /= count;
    return index;
  };
  u.x = next(p.column_parts) * p.columns;
  u.y = next(p.row_parts) * p.rows;
  u.filter = next(p.filter_parts) * p.filters;
  u.z = next(s.out_d);
  u.group = next(s.groups);
  u.image = unit;
  u.columns = min(p.columns, s.out_w - u.x);
  u.rows = min(p.rows, s.out_h - u.y);
  u.filters = min(p.filters, s.out_c / s.groups - u.filter);
  return u;
}

void copy_strip(const ConvArgs& args, const ConvShape& s, const PlanePlan& p, const PlaneUnit& u,
                int64_t first, int64_t count, float* strip) {
  on_vectors(args.isa, [&](auto bytes) {
    copy_channels<decltype(bytes)::value / sizeof(float)>(args, s, p, u, first, count, strip);
  });
}

void point_taps(const ConvShape& s, const PlanePlan& p, ptrdiff_t* to) {
  for (int64_t c = 0; c < p.channels; ++c) {
    for (int64_t h = 0; h < s.kernel_d; ++h) {
      for (int64_t i = 0; i < s.kernel_h; ++i) {
        const int64_t row = ((c * s.kernel_d + h) * p.height + i * s.dilation_h) * p.pitch;
        for (int64_t j = 0; j < s.kernel_w; ++j) {
          const int64_t column = j * s.dilation_w;
          *to++ = static_cast<ptrdiff_t>(
              row + column % s.stride_w / column_step(s) * p.phase_pitch + column / s.stride_w);
        }
      }
    }
  }
}

}  // namespace intarsia::cpu
