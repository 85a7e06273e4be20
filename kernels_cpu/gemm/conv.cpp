// SPDX-License-Identifier: Apache-2.0
//
// See conv.h. Three ways to the same blocks (block.h):
//   1 x 1, stride 1     a matrix product; pixels are rows.
//   few input channels  the input rows of a block are copied with their padding ("strip"), so that
//                       the kernel_w * in_c operands of a kernel row are one run: a tap per row.
//   anything else       a tap per kernel element; rows are pointers to pixels, or to zeros.
#include "kernels_cpu/gemm/conv.h"

#include <cstring>

#include "kernels_cpu/gemm/block.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"

namespace intarsia::cpu {
namespace {

// Row pointers of a block take at most about 64 KiB.
constexpr int64_t kMaxRowPointers = 8192;
// With at most this many channels a tap of its own is too short.
constexpr int64_t kMaxStripChannels = 8;

bool is_matrix_product(const ConvShape& s) {
  return s.kernel_d == 1 && s.kernel_h == 1 && s.kernel_w == 1 && s.stride_d == 1 &&
         s.stride_h == 1 && s.stride_w == 1 && s.pad_front == 0 && s.pad_top == 0 &&
         s.pad_left == 0 && s.groups == 1 && s.out_d == s.in_d && s.out_h == s.in_h &&
         s.out_w == s.in_w && s.out_row_pitch == 0;
}

GemmShape product_shape(const ConvShape& s) {
  return {s.batch * s.out_d * s.out_h * s.out_w, s.out_c, s.in_c};
}

// The division of a convolution. A block is a run of output pixels of one plane, in row-major
// order; with strips it is either whole rows or a part of one row.
struct Plan {
  bool strip;
  int64_t taps;
  int64_t tap_k;  // Operands of a tap.
  Blocking blocking;
  int64_t column_blocks;  // n_blocks of all groups.
  int64_t row_columns;    // Strips: columns of a block, and blocks that a row is cut into.
  int64_t row_parts;
  int64_t block_rows;   // Strips: output rows of a block.
  int64_t strip_pitch;  // Floats of a row of the strip.
};

bool uses_strip(const ConvShape& s) {
  return s.groups == 1 && s.in_c <= kMaxStripChannels && s.kernel_w > 1 && s.dilation_w == 1;
}

int64_t tap_count(const ConvShape& s) {
  return s.kernel_d * s.kernel_h * (uses_strip(s) ? 1 : s.kernel_w);
}

int64_t most_block_rows(int64_t taps) {
  return min(kMaxBlockRows, max(kMaxRowPointers / taps, kMaxTileRows));
}

// Rows of a plane of the strip of a block of so many output rows.
int64_t strip_height(const ConvShape& s, int64_t rows) {
  return (rows - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
}

// Floats of the strip of a block of so many output rows and columns.
CheckedInt strip_floats(const ConvShape& s, int64_t rows, int64_t columns) {
  const CheckedInt height =
      CheckedInt(rows - 1) * s.stride_h + CheckedInt(s.kernel_h - 1) * s.dilation_h + 1;
  const CheckedInt width = CheckedInt(columns - 1) * s.stride_w + s.kernel_w;
  return height * width * s.in_c * s.kernel_d;
}

Plan make_plan(const ConvShape& s) {
  Plan p{};
  const int64_t channels = s.in_c / s.groups;
  p.strip = uses_strip(s);
  p.taps = tap_count(s);
  p.tap_k = p.strip ? s.kernel_w * s.in_c : channels;
  p.blocking = choose_blocking(s.out_h * s.out_w, s.out_c / s.groups, p.taps * p.tap_k,
                               min(s.kernel_d, s.in_d) * s.in_h * s.in_w * channels,
                               most_block_rows(p.taps));
  if (s.groups > 1) p.blocking.columns_first = true;
  if (p.strip) {
    const int64_t most_columns = p.blocking.m_block;
    p.row_parts = ceil_div(s.out_w, most_columns);
    p.row_columns = ceil_div(s.out_w, p.row_parts);
    p.block_rows = p.row_parts > 1 ? 1 : most_columns / s.out_w;
    p.blocking.m_block = p.block_rows * p.row_columns;
    p.blocking.m_blocks = ceil_div(s.out_h, p.block_rows) * p.row_parts;
    p.strip_pitch = ((p.row_columns - 1) * s.stride_w + s.kernel_w) * s.in_c;
  }
  p.column_blocks = s.groups * p.blocking.n_blocks;
  return p;
}

// Pixels [begin, end) of block `i` of a plane.
struct Run {
  int64_t begin;
  int64_t end;
};

Run block_run(const ConvShape& s, const Plan& p, int64_t i) {
  if (!p.strip) {
    const int64_t begin = i * p.blocking.m_block;
    return {begin, min(begin + p.blocking.m_block, s.out_h * s.out_w)};
  }
  const int64_t y = i / p.row_parts * p.block_rows;
  const int64_t x = i % p.row_parts * p.row_columns;
  if (p.row_parts == 1) return {y * s.out_w, min(y + p.block_rows, s.out_h) * s.out_w};
  return {y * s.out_w + x, y * s.out_w + min(x + p.row_columns, s.out_w)};
}

/// The input plane that tap `h` of output plane `z` meets; null in the padding.
const float* input_plane(const ConvShape& s, const float* image, int64_t z, int64_t h) {
  const int64_t in_z = z * s.stride_d - s.pad_front + h * s.dilation_d;
  return in_z >= 0 && in_z < s.in_d ? image + in_z * s.in_h * s.in_w * s.in_pitch : nullptr;
}

// Row pointers of a run into one plane: rows[tap * pitch + pixel].
void point_rows(const ConvShape& s, const float* plane, const float* zeros, Run run,
                int64_t row_pitch, const float** rows) {
  for (int64_t m = run.begin; m < run.end;) {
    const int64_t y = m / s.out_w;
    const int64_t x = m % s.out_w;
    const int64_t count = min(run.end - m, s.out_w - x);
    const float** tap = rows + (m - run.begin);
    for (int64_t i = 0; i < s.kernel_h; ++i) {
      const int64_t in_y = y * s.stride_h - s.pad_top + i * s.dilation_h;
      const bool row_inside = plane != nullptr && in_y >= 0 && in_y < s.in_h;
      for (int64_t j = 0; j < s.kernel_w; ++j, tap += row_pitch) {
        // Pixels [low, high) of the run read inside the image.
        const int64_t in_x = x * s.stride_w - s.pad_left + j * s.dilation_w;
        const int64_t low = in_x < 0 ? min(ceil_div(-in_x, s.stride_w), count) : 0;
        const int64_t end = in_x < s.in_w ? ceil_div(s.in_w - in_x, s.stride_w) : 0;
        const int64_t high = row_inside ? min(max(end, low), count) : low;
        for (int64_t q = 0; q < low; ++q) tap[q] = zeros;
        for (int64_t q = low; q < high; ++q) {
          tap[q] = plane + (in_y * s.in_w + in_x + q * s.stride_w) * s.in_pitch;
        }
        for (int64_t q = high; q < count; ++q) tap[q] = zeros;
      }
    }
    m += count;
  }
}

// Copies what a run reads of one plane into the strip, with its padding, and points rows into it.
void copy_strip(const ConvShape& s, const Plan& p, const float* plane, Run run, float* strip,
                const float** rows) {
  const int64_t first_y = run.begin / s.out_w;
  const int64_t first_x = run.begin % s.out_w;
  const int64_t out_rows = ceil_div(run.end - first_y * s.out_w, s.out_w);
  const int64_t columns = min(run.end - run.begin, s.out_w - first_x);
  const int64_t height = strip_height(s, out_rows);
  const int64_t width = (columns - 1) * s.stride_w + s.kernel_w;
  const int64_t in_y0 = first_y * s.stride_h - s.pad_top;
  const int64_t in_x0 = first_x * s.stride_w - s.pad_left;
  const int64_t left = min(max(-in_x0, 0), width);
  const int64_t right = max(min(s.in_w - in_x0, width), left);
  const int64_t pixel_bytes = s.in_c * static_cast<int64_t>(sizeof(float));
  for (int64_t i = 0; i < height; ++i) {
    float* to = strip + i * p.strip_pitch;
    const int64_t in_y = in_y0 + i;
    if (plane == nullptr || in_y < 0 || in_y >= s.in_h) {
      std::memset(to, 0, static_cast<size_t>(width * pixel_bytes));
      continue;
    }
    const float* from = plane + (in_y * s.in_w + in_x0 + left) * s.in_pitch;
    std::memset(to, 0, static_cast<size_t>(left * pixel_bytes));
    std::memset(to + right * s.in_c, 0, static_cast<size_t>((width - right) * pixel_bytes));
    if (s.in_pitch == s.in_c) {
      std::memcpy(to + left * s.in_c, from, static_cast<size_t>((right - left) * pixel_bytes));
    } else {
      for (int64_t x = left; x < right; ++x, from += s.in_pitch) {
        for (int64_t c = 0; c < s.in_c; ++c) to[x * s.in_c + c] = from[c];
      }
    }
  }
  for (int64_t i = 0; i < s.kernel_h; ++i) {
    const float** tap = rows + i * p.blocking.m_block;
    for (int64_t y = 0; y < out_rows; ++y) {
      const float* from = strip + (y * s.stride_h + i * s.dilation_h) * p.strip_pitch;
      for (int64_t x = 0; x < columns; ++x) *tap++ = from + x * s.stride_w * s.in_c;
    }
  }
}

// Row pointers of a run of plane z of an image, for the taps of all planes that it meets.
void point_planes(const ConvArgs& args, const Plan& p, int64_t image, int64_t z, Run run,
                  float* scratch, const float** rows) {
  const ConvShape& s = args.shape;
  const float* input = args.input + image * s.in_d * s.in_h * s.in_w * s.in_pitch;
  const int64_t strip_rows = strip_height(s, (run.end - 1) / s.out_w - run.begin / s.out_w + 1);
  const int64_t pointers = p.taps / s.kernel_d * p.blocking.m_block;
  for (int64_t h = 0; h < s.kernel_d; ++h, rows += pointers) {
    const float* plane = input_plane(s, input, z, h);
    if (p.strip) {
      copy_strip(s, p, plane, run, scratch + h * strip_rows * p.strip_pitch, rows);
    } else {
      point_rows(s, plane, scratch, run, p.blocking.m_block, rows);
    }
  }
}

// Cache lines.
size_t align(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}
CheckedInt align(CheckedInt bytes) {
  return floor_div(bytes + 63, 64) * 64;
}

size_t row_table_bytes(int64_t taps, int64_t block_rows) {
  return align(static_cast<size_t>(taps * block_rows) * sizeof(float*));
}

// The largest strip of any image of at most this size: smaller images may get longer blocks.
CheckedInt largest_strip(const ConvShape& s, int64_t block_rows) {
  CheckedInt largest = 0;
  for (int64_t rows = 1; rows <= min(s.out_h, block_rows); ++rows) {
    largest = dim_max(largest, strip_floats(s, rows, min(s.out_w, block_rows / rows)));
  }
  return largest;
}

bool is_empty(const ConvShape& s) {
  return s.batch <= 0 || s.out_d <= 0 || s.out_h <= 0 || s.out_w <= 0 || s.out_c <= 0;
}

}  // namespace

int64_t conv_units(const ConvShape& shape) {
  if (is_empty(shape)) return 0;
  if (is_matrix_product(shape)) return gemm_units(product_shape(shape));
  const Plan p = make_plan(shape);
  return shape.batch * shape.out_d * p.blocking.m_blocks * p.column_blocks;
}

CheckedInt conv_workspace_bytes(const ConvShape& shape) {
  if (is_empty(shape) || is_matrix_product(shape)) return 0;
  const int64_t taps = tap_count(shape);
  const int64_t rows = min(most_block_rows(taps), shape.out_h * shape.out_w);
  const CheckedInt floats = uses_strip(shape) ? largest_strip(shape, rows) : shape.in_c;
  return align(CheckedInt(taps) * rows * sizeof(float*)) + align(floats * sizeof(float));
}

void conv_run(const ConvArgs& args, int64_t begin, int64_t end, void* workspace) {
  const ConvShape& s = args.shape;
  if (begin >= end) return;
  if (is_matrix_product(s)) {
    gemm_run({product_shape(s), args.input, s.in_pitch, args.weights, args.output, s.out_pitch,
              args.bias, args.residual, args.residual_pitch, args.epilogue, args.isa},
             begin, end);
    return;
  }
  const Plan p = make_plan(s);
  const int64_t channels = s.in_c / s.groups;
  const int64_t group_n = s.out_c / s.groups;
  const auto rows = static_cast<const float**>(workspace);
  const auto scratch = reinterpret_cast<float*>(static_cast<char*>(workspace) +
                                                row_table_bytes(p.taps, p.blocking.m_block));
  if (!p.strip) std::memset(scratch, 0, static_cast<size_t>(s.in_c) * sizeof(float));

  Block block{};
  block.isa = args.isa;
  block.rows = rows;
  block.zeros = scratch;
  block.trim = p.strip ? nullptr : &trim_taps;
  block.row_pitch = p.blocking.m_block;
  block.taps = p.taps;
  block.k = p.tap_k;
  block.c_pitch = s.out_pitch;
  block.residual_pitch = args.residual_pitch;
  block.epilogue = args.epilogue;
  const int64_t units_per_plane = p.blocking.m_blocks * p.column_blocks;
  const bool gaps = s.out_row_pitch != 0;  // then each row is a piece of C
  int64_t rows_of = -1;                    // The block of pixels that `rows` describes.
  Run run{};
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t plane = unit / units_per_plane;
    const int64_t image = plane / s.out_d, z = plane % s.out_d;
    const int64_t i = unit % units_per_plane;
    const bool by_columns = p.blocking.columns_first;
    const int64_t fast = by_columns ? p.column_blocks : p.blocking.m_blocks;
    const int64_t row_block = by_columns ? i / fast : i % fast;
    const int64_t column_block = by_columns ? i % fast : i / fast;
    const int64_t group = column_block / p.blocking.n_blocks;
    const int64_t n0 = column_block % p.blocking.n_blocks * p.blocking.n_block;
    if (rows_of != plane * p.blocking.m_blocks + row_block) {
      rows_of = plane * p.blocking.m_blocks + row_block;
      run = block_run(s, p, row_block);
      point_planes(args, p, image, z, run, scratch, rows);
    }
    const int64_t k = p.taps * p.tap_k;
    const int64_t column = group * group_n + n0;
    block.row_offset = group * channels;
    block.n = min(p.blocking.n_block, group_n - n0);
    block.b = args.weights + group * packed_floats(1, k, group_n) + n0 * k;
    block.bias = args.bias ? args.bias + column : nullptr;
    float* out = args.output + column;
    if (gaps) out += image * s.out_image_pitch + z * s.out_plane_pitch;
    for (int64_t first = run.begin; first < run.end; first += block.m) {
      const int64_t y = first / s.out_w, x = first % s.out_w;
      const int64_t pixel = plane * s.out_h * s.out_w + first;
      block.m = gaps ? min(s.out_w - x, run.end - first) : run.end - first;
      block.rows = rows + (first - run.begin);
      block.c = out + (gaps ? y * s.out_row_pitch + x * s.out_pitch : pixel * s.out_pitch);
      block.residual =
          args.residual ? args.residual + pixel * args.residual_pitch + column : nullptr;
      run_block(block);
    }
  }
}

}  // namespace intarsia::cpu
