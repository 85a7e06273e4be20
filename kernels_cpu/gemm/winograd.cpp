// SPDX-License-Identifier: Apache-2.0
//
// See winograd.h. A unit is a block of consecutive tiles, of all planes and images, by a part of
// the filters. A thread that goes on with the next part of the same block keeps V.
#include "kernels_cpu/gemm/winograd.h"

#include <cstring>

#include "kernels_cpu/gemm/block.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/winograd_transform.h"

namespace intarsia::cpu {
namespace {

// Panels, and filters, whose products are made and transformed back together.
constexpr int64_t kChunkPanels = 2;
constexpr int64_t kChunk = kChunkPanels * kPanel;
// V is read again for each chunk, and U for each block of tiles: the bytes of V are a quarter of
// those of U, between half a second-level cache and what an arena can spare.
constexpr int64_t kLeastWindowBytes = 384 << 10;
constexpr int64_t kMostWindowBytes = 2 << 20;
// The most tiles of a block are a multiple of this: whole register tiles where these have 6 rows.
constexpr int64_t kBlockStep = 12;
// There are that many units, if the filters can be parted so.
constexpr int64_t kEnoughUnits = 16;

CheckedInt align(CheckedInt floats) {
  return floor_div(floats + 15, 16) * 16;
}

int64_t points(int m) {
  return int64_t{m + 2} * (m + 2);
}

/// Floats from a tile's row of V to the next: rows 4 KiB apart would compete for a few cache lines.
int64_t v_pitch(const ConvShape& s) {
  const int64_t lines = ceil_div(s.in_c, 16) * 16;
  return lines % 256 == 0 ? lines + 16 : lines;
}

int64_t most_block_tiles(int m, const ConvShape& s) {
  const int64_t row = points(m) * s.kernel_d * v_pitch(s) * static_cast<int64_t>(sizeof(float));
  const int64_t wanted =
      s.out_c / 4 * s.in_c * points(m) * s.kernel_d * static_cast<int64_t>(sizeof(float));
  const int64_t bytes = min(max(wanted, kLeastWindowBytes), kMostWindowBytes);
  return max(bytes / row / kBlockStep, 1) * kBlockStep;
}

struct Plan {
  int64_t tiles_x, plane_tiles, tiles;
  int64_t block;  // Tiles of a block.
  int64_t blocks;
  int64_t chunks, parts;
};

Plan make_plan(int m, const ConvShape& s) {
  Plan p{};
  p.tiles_x = ceil_div(s.out_w, m);
  p.plane_tiles = p.tiles_x * ceil_div(s.out_h, m);
  p.tiles = s.batch * s.out_d * p.plane_tiles;
  const int64_t most = most_block_tiles(m, s);
  // Nearly the same for all blocks, so that threads have equal shares.
  p.block = ceil_div(p.tiles, ceil_div(p.tiles, most));
  p.blocks = ceil_div(p.tiles, p.block);
  p.chunks = ceil_div(s.out_c, kChunk);
  p.parts = min(ceil_div(kEnoughUnits, p.blocks), p.chunks);
  return p;
}

/// Where a thread's workspace holds what.
struct Workspace {
  const float** rows;  // [kernel_d][block]
  const float* zeros;  // [in_c]
  float* v;            // [kernel_d][points][block][v_pitch]
  float* products;     // [points][block][kChunk]
};

constexpr int64_t kPointerFloats = (sizeof(void*) + 3) / sizeof(float);

CheckedInt row_floats(const ConvShape& s, int64_t block) {
  return align(CheckedInt(s.kernel_d) * block * kPointerFloats);
}

Workspace divide(int m, const ConvShape& s, int64_t block, void* memory) {
  auto* const floats = static_cast<float*>(memory);
  Workspace w{};
  w.rows = static_cast<const float**>(memory);
  float* const zeros = floats + row_floats(s, block).value();
  std::memset(zeros, 0, static_cast<size_t>(s.in_c) * sizeof(float));
  w.zeros = zeros;
  w.v = zeros + v_pitch(s);
  w.products = w.v + points(m) * s.kernel_d * block * v_pitch(s);
  return w;
}

struct Kernels {
  void (*input)(const WinogradWindow&);
  void (*output)(const WinogradTile&);
};

template <int M>
Kernels kernels_of(Isa isa) {
  return pick_isa(isa, [](auto i) -> Kernels {
    using I = Microkernels<decltype(i)::value>;
    return {[](const WinogradWindow& window) { I::winograd_input(Winograd<M>{}, window); },
            [](const WinogradTile& tile) { I::winograd_output(Winograd<M>{}, tile); }};
  });
}

/// A tile's place: output plane, counted over all images, and its first row and column.
struct Place {
  int64_t plane, y, x;
};

Place place_of(int m, const Plan& p, int64_t tile) {
  const int64_t in_plane = tile % p.plane_tiles;
  return {tile / p.plane_tiles, in_plane / p.tiles_x * m, in_plane % p.tiles_x * m};
}

/// The pixels of a window in input plane `h` of those that the tile's kernel meets.
void point_pixels(int m, const ConvArgs& args, const Place& at, int64_t h, const float* zeros,
                  const float** pixels) {
  const ConvShape& s = args.shape;
  const int64_t image = at.plane / s.out_d;
  const int64_t z = at.plane % s.out_d * s.stride_d - s.pad_front + h * s.dilation_d;
  const float* plane = args.input + (image * s.in_d + z) * s.in_h * s.in_w * s.in_pitch;
  const bool inside = z >= 0 && z < s.in_d;
  for (int64_t y = at.y - s.pad_top, i = 0; i < m + 2; ++i, ++y) {
    const float* row = plane + y * s.in_w * s.in_pitch;
    const bool row_inside = inside && y >= 0 && y < s.in_h;
    for (int64_t x = at.x - s.pad_left, j = 0; j < m + 2; ++j, ++x) {
      *pixels++ = row_inside && x >= 0 && x < s.in_w ? row + x * s.in_pitch : zeros;
    }
  }
}

}  // namespace

bool is_winograd(const ConvShape& s) {
  return s.groups == 1 && s.kernel_h == 3 && s.kernel_w == 3 && s.stride_h == 1 &&
         s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1 && s.out_row_pitch == 0;
}

int64_t winograd_tiles(int m, const ConvShape& s) {
  return s.batch * s.out_d * ceil_div(s.out_h, m) * ceil_div(s.out_w, m);
}

CheckedInt winograd_bytes(int m, int64_t depth, int64_t channels, int64_t filters) {
  return CheckedInt(points(m)) * panel_bytes(1, 1, filters) * depth * channels;
}

void pack_winograd(int m, const float* weights, int64_t filters, int64_t channels, int64_t depth,
                   float* packed) {
  const int n = m + 2;
  const double(*g)[3] = m == 2 ? Winograd<2>::kFilter : Winograd<4>::kFilter;
  std::memset(packed, 0, static_cast<size_t>(winograd_bytes(m, depth, channels, filters).value()));
  const int64_t panels = panel_count(filters);
  const int64_t panel_floats = depth * channels * kPanel;
  for (int64_t o = 0; o < filters; ++o) {
    const int64_t chunk = o / kChunk, panel = o % kChunk / kPanel;
    const int64_t width = min(kChunkPanels, panels - chunk * kChunkPanels);
    float* const first = packed + chunk * kChunkPanels * points(m) * panel_floats;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t h = 0; h < depth; ++h) {
        const float* w = weights + ((o * channels + c) * depth + h) * 9;
        for (int i = 0; i < n; ++i) {
          double row[3];  // of G w
          for (int k = 0; k < 3; ++k)
            row[k] = g[i][0] * w[k] + g[i][1] * w[3 + k] + g[i][2] * w[6 + k];
          for (int j = 0; j < n; ++j) {
            const double u = row[0] * g[j][0] + row[1] * g[j][1] + row[2] * g[j][2];
            first[((i * n + j) * width + panel) * panel_floats + (h * channels + c) * kPanel +
                  o % kPanel] = static_cast<float>(u);
          }
        }
      }
    }
  }
}

int64_t winograd_units(int m, const ConvShape& s) {
  if (winograd_tiles(m, s) <= 0 || s.out_c <= 0) return 0;
  const Plan p = make_plan(m, s);
  return p.blocks * p.parts;
}

CheckedInt winograd_workspace_bytes(int m, const ConvShape& s) {
  const int64_t tiles = winograd_tiles(m, s);
  if (tiles <= 0) return 0;
  const int64_t block = min(most_block_tiles(m, s), ceil_div(tiles, kBlockStep) * kBlockStep);
  const CheckedInt v = CheckedInt(points(m)) * s.kernel_d * block * v_pitch(s);
  const CheckedInt products = CheckedInt(points(m)) * block * kChunk;
  return (row_floats(s, block) + v_pitch(s) + v + products) * sizeof(float);
}

void winograd_run(int m, const ConvArgs& args, int64_t begin, int64_t end, void* workspace) {
  if (begin >= end) return;
  const ConvShape& s = args.shape;
  const Plan p = make_plan(m, s);
  const Kernels kernels = m == 2 ? kernels_of<2>(args.isa) : kernels_of<4>(args.isa);
  const Workspace memory = divide(m, s, p.block, workspace);
  const int64_t n2 = points(m), pitch = v_pitch(s), point_pitch = p.block * pitch;
  for (int64_t h = 0; h < s.kernel_d; ++h) {
    for (int64_t t = 0; t < p.block; ++t) {
      memory.rows[h * p.block + t] = memory.v + h * n2 * point_pitch + t * pitch;
    }
  }

  Block block{};
  block.isa = args.isa;
  block.rows = memory.rows;
  block.row_pitch = p.block;
  block.taps = s.kernel_d;
  block.k = s.in_c;
  block.c_pitch = kChunk;
  WinogradTile tile{};
  tile.p_pitch = p.block * kChunk;
  tile.output_pitch = s.out_pitch;
  tile.output_row_pitch = s.out_w * s.out_pitch;
  tile.residual_pitch = args.residual_pitch;
  tile.residual_row_pitch = s.out_w * args.residual_pitch;
  tile.epilogue = args.epilogue;
  const int64_t panel_floats = s.kernel_d * s.in_c * kPanel;
  int64_t transformed = -1;  // the block of tiles that V holds
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t first = unit / p.parts * p.block;
    const int64_t last = min(first + p.block, p.tiles);
    if (transformed != first) {
      transformed = first;
      const float* pixels[36];
      for (int64_t t = first; t < last; ++t) {
        const Place at = place_of(m, p, t);
        for (int64_t h = 0; h < s.kernel_d; ++h) {
          point_pixels(m, args, at, h, memory.zeros, pixels);
          float* v = memory.v + h * n2 * point_pitch + (t - first) * pitch;
          kernels.input(
              {pixels, static_cast<ptrdiff_t>(s.in_c), v, static_cast<ptrdiff_t>(point_pitch)});
        }
      }
    }
    block.m = last - first;
    const int64_t part = unit % p.parts;
    for (int64_t chunk = p.chunks * part / p.parts; chunk < p.chunks * (part + 1) / p.parts;
         ++chunk) {
      const int64_t o = chunk * kChunk;
      block.n = min(kChunk, s.out_c - o);
      const int64_t width = panel_count(block.n);
      const float* u = args.weights + chunk * kChunkPanels * n2 * panel_floats;
      for (int64_t point = 0; point < n2; ++point) {
        block.row_offset = point * point_pitch;
        block.b = u + point * width * panel_floats;
        block.c = memory.products + point * tile.p_pitch;
        run_block(block);
      }
      tile.filters = block.n;
      tile.bias = args.bias != nullptr ? args.bias + o : nullptr;
      for (int64_t t = first; t < last; ++t) {
        const Place at = place_of(m, p, t);
        const int64_t pixel = (at.plane * s.out_h + at.y) * s.out_w + at.x;
        tile.p = memory.products + (t - first) * kChunk;
        tile.rows = static_cast<int>(min(m, s.out_h - at.y));
        tile.columns = static_cast<int>(min(m, s.out_w - at.x));
        tile.output = args.output + pixel * s.out_pitch + o;
        tile.residual =
            args.residual != nullptr ? args.residual + pixel * args.residual_pitch + o : nullptr;
        kernels.output(tile);
      }
    }
  }
}

}  // namespace intarsia::cpu
