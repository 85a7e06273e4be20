// SPDX-License-Identifier: Apache-2.0
//
// Bytes as pairs of 16 bits (`Int16Pair`): their products, and how matrices and the windows of
// images are packed.
//
// Included by typed_tile.h only, which says who may include that.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/typed_lanes.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// sum += a * b of pairs: both products of each.
struct PairProducts {
  template <class X>
  INTARSIA_INLINE static void add(X& sum, const X& a, const X& b) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(X) == 64) {
      sum += (X)_mm512_madd_epi16((__m512i)a, (__m512i)b);
      return;
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(X) == 32) {
      sum += (X)_mm256_madd_epi16((__m256i)a, (__m256i)b);
      return;
    }
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(X) == 16) {
      sum += (X)_mm_madd_epi16((__m128i)a, (__m128i)b);
      return;
    }
#endif
    using Signed = typename VectorOfType<int32_t, sizeof(X) / 4>::Type;
    const Signed low = ((Signed)(a << 16) >> 16) * ((Signed)(b << 16) >> 16);
    const Signed high = ((Signed)a >> 16) * ((Signed)b >> 16);
    sum += (X)low + (X)high;
  }
};

/// Where four lanes are read; null: zeros.
struct ByteLanes {
  const uint8_t* at[4];
  int zero[4];  ///< Unsigned, as `flip` makes the bytes.
  uint8_t flip;
};

/// Eight bytes, of which `count` exist, without their zero point as four pairs.
INTARSIA_INLINE void load_pairs(const ByteLanes& lanes, int lane, ptrdiff_t from, ptrdiff_t count,
                                Quad<uint32_t>& v) {
  using Bytes = typename VectorOfType<uint8_t, 8>::Type;
  using Shorts = typename VectorOfType<int16_t, 8>::Type;
  if (lanes.at[lane] == nullptr) {
    v = Quad<uint32_t>{};
    return;
  }
  const uint8_t* p = lanes.at[lane] + from;
  Bytes bytes;
  if (count >= 8) {
    std::memcpy(&bytes, p, sizeof bytes);
  } else {
    uint8_t some[8];
    for (int i = 0; i < 8; ++i) {
      some[i] = i < count ? p[i] : static_cast<uint8_t>(lanes.zero[lane] ^ lanes.flip);
    }
    std::memcpy(&bytes, some, sizeof bytes);
  }
  const Bytes flips = lanes.flip - Bytes{};
  const Shorts zeros = static_cast<int16_t>(lanes.zero[lane]) - Shorts{};
  const Shorts numbers = __builtin_convertvector(bytes ^ flips, Shorts) - zeros;
  std::memcpy(&v, &numbers, sizeof v);
}

/// `count` bytes of each lane as lines of pairs, `stored` pairs apart.
INTARSIA_INLINE void pack_line(const ByteLanes& lanes, ptrdiff_t count, uint32_t* to,
                               ptrdiff_t stored) {
  for (ptrdiff_t from = 0; from < count; from += 8, to += 4 * stored) {
    Quad<uint32_t> v[4];
    INTARSIA_UNROLL
    for (int lane = 0; lane < 4; ++lane) load_pairs(lanes, lane, from, count - from, v[lane]);
    transpose(v);
    const ptrdiff_t pairs = count - from >= 8 ? 4 : (count - from + 1) / 2;
    for (ptrdiff_t i = 0; i < pairs; ++i) std::memcpy(to + i * stored, &v[i], sizeof v[i]);
  }
}

/// Where the windows of four pixels begin: image, plane, row and column.
struct WindowOrigins {
  ptrdiff_t image[4], z[4], y[4], x[4];

  INTARSIA_INLINE WindowOrigins(const ConvShape& s, ptrdiff_t pixel) {
    int64_t out_x = pixel % s.out_w, out_y = pixel / s.out_w % s.out_h;
    int64_t out_z = pixel / s.out_w / s.out_h % s.out_d;
    int64_t out_image = pixel / s.out_w / s.out_h / s.out_d;
    for (int lane = 0; lane < 4; ++lane) {
      image[lane] = static_cast<ptrdiff_t>(out_image);
      z[lane] = static_cast<ptrdiff_t>(out_z * s.stride_d - s.pad_front);
      y[lane] = static_cast<ptrdiff_t>(out_y * s.stride_h - s.pad_top);
      x[lane] = static_cast<ptrdiff_t>(out_x * s.stride_w - s.pad_left);
      if (++out_x < s.out_w) continue;
      out_x = 0;
      if (++out_y < s.out_h) continue;
      out_y = 0;
      if (++out_z < s.out_d) continue;
      out_z = 0;
      ++out_image;
    }
  }
};

/// The pairs [factor.first_pair, + pairs) of the windows of up to four pixels, tap by tap.
template <Isa I>
void pack_windows(const ByteFactor& factor, ptrdiff_t pixel, ptrdiff_t count, ptrdiff_t pairs,
                  uint32_t* to, ptrdiff_t stored) {
  const ConvShape& s = *factor.windows;
  const auto channels = static_cast<ptrdiff_t>(s.in_c / s.groups);
  const ptrdiff_t tap_pairs = (channels + 1) / 2;
  const WindowOrigins origins(s, pixel);
  ByteLanes lanes{};
  lanes.flip = factor.flip;
  for (int& zero : lanes.zero) zero = *factor.zeros ^ factor.flip;
  int64_t tap = factor.first_pair / tap_pairs;
  ptrdiff_t first = factor.first_pair % tap_pairs * 2;
  for (ptrdiff_t left = pairs; left > 0; ++tap, first = 0) {
    const int64_t h = tap / s.kernel_w / s.kernel_h * s.dilation_d;
    const int64_t i = tap / s.kernel_w % s.kernel_h * s.dilation_h;
    const int64_t j = tap % s.kernel_w * s.dilation_w;
    for (int lane = 0; lane < 4; ++lane) {
      const int64_t z = origins.z[lane] + h, y = origins.y[lane] + i, x = origins.x[lane] + j;
      const bool inside =
          lane < count && z >= 0 && z < s.in_d && y >= 0 && y < s.in_h && x >= 0 && x < s.in_w;
      const int64_t place = ((origins.image[lane] * s.in_d + z) * s.in_h + y) * s.in_w + x;
      lanes.at[lane] = inside ? factor.data + place * s.in_pitch + first : nullptr;
    }
    const ptrdiff_t bytes = channels - first < 2 * left ? channels - first : 2 * left;
    pack_line(lanes, bytes, to, stored);
    to += (bytes + 1) / 2 * stored;
    left -= (bytes + 1) / 2;
  }
}

/// Rows of memory hold a lane each.
template <Isa I>
void pack_byte_lanes(const TypedPack<Int16Pair>& job) {
  const ByteFactor& x = job.from;
  for (ptrdiff_t first = 0; first < job.lanes; first += job.width) {
    const ptrdiff_t left = job.lanes - first;
    const ptrdiff_t here = left < job.width ? left : job.width;
    const ptrdiff_t stored = job.padded ? job.width : here;
    // From the last lanes to the first: what is written beyond a line is written again.
    for (ptrdiff_t q = (stored - 1) / 4 * 4; q >= 0; q -= 4) {
      uint32_t* to = job.to + first * job.k + q;
      if (x.windows != nullptr) {
        pack_windows<I>(x, x.first_lane + first + q, here - q, job.k, to, stored);
        continue;
      }
      ByteLanes lanes{};
      lanes.flip = x.flip;
      for (ptrdiff_t lane = 0; lane < 4 && lane < here - q; ++lane) {
        lanes.at[lane] = x.data + (first + q + lane) * x.lane_step;
        lanes.zero[lane] = x.zeros[(first + q + lane) * x.zero_step] ^ x.flip;
      }
      pack_line(lanes, x.k < 2 * job.k ? x.k : 2 * job.k, to, stored);
    }
  }
}

/// Two rows of memory hold the halves of a line of pairs.
template <Isa I>
void pack_byte_rows(const TypedPack<Int16Pair>& job) {
  constexpr ptrdiff_t kMostLanes = 64;
  const ByteFactor& x = job.from;
  const int flip = x.flip;
  for (ptrdiff_t first = 0; first < job.lanes; first += job.width) {
    const ptrdiff_t left = job.lanes - first;
    const ptrdiff_t here = left < job.width ? left : job.width;
    const ptrdiff_t stored = job.padded ? job.width : here;
    int zeros[kMostLanes];
    for (ptrdiff_t lane = 0; lane < here; ++lane) {
      zeros[lane] = x.zeros[(first + lane) * x.zero_step] ^ flip;
    }
    for (ptrdiff_t k = 0; k < job.k; ++k) {
      const uint8_t* low = x.data + 2 * k * x.k_step + first;
      uint32_t* line = job.to + first * job.k + k * stored;
      if (2 * k + 1 < x.k) {
        const uint8_t* high = low + x.k_step;
        INTARSIA_INDEPENDENT
        for (ptrdiff_t lane = 0; lane < here; ++lane) {
          const int a = (low[lane] ^ flip) - zeros[lane], b = (high[lane] ^ flip) - zeros[lane];
          line[lane] = (static_cast<uint32_t>(a) & 0xffffu) | (static_cast<uint32_t>(b) << 16);
        }
      } else {  // the last one of an odd number
        for (ptrdiff_t lane = 0; lane < here; ++lane) {
          line[lane] = static_cast<uint32_t>((low[lane] ^ flip) - zeros[lane]) & 0xffffu;
        }
      }
      for (ptrdiff_t lane = here; lane < stored; ++lane) line[lane] = 0;
    }
  }
}

}  // namespace intarsia::cpu
