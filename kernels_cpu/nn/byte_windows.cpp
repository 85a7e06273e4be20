// SPDX-License-Identifier: Apache-2.0
//
// See byte_windows.h.
#include "kernels_cpu/nn/byte_windows.h"

#include <cstring>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kSlack = 64;  // behind an image, whose last group of four is read

/// Pixels along an axis that windows reach over, the first one's first to the last one's last.
int64_t reach(int64_t out, int64_t stride, int64_t kernel, int64_t dilation) {
  if (out <= 0) return 0;
  return ((CheckedInt(out) - 1) * stride + (CheckedInt(kernel) - 1) * dilation + 1).value();
}

ConvShape integer_conv_shape(const KernelContext& context, int64_t joined) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  ConvShape shape = conv_shape(context, a.window, a.group);
  shape.groups /= joined;
  return shape;
}

/// For any extents of the image.
bool may_have_padding(const KernelContext& context) {
  const WindowAttributes& window = context.attributes<IntegerConvAttributes>().window;
  const TensorView& w = context.input(1);
  for (int axis = 2; window.same() && axis < w.rank; ++axis) {
    if (w.extents[axis] != 1) return true;
  }
  for (int i = 0; i < 2 * (w.rank - 2); ++i) {
    if (window.explicit_pad(i) > 0) return true;
  }
  return false;
}

INTARSIA_INLINE void flip_bytes(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
}

INTARSIA_INLINE uint32_t sum_bytes(const uint8_t* from, int64_t count) {
  uint32_t sum = 0;
  if (count < 16) {  // a vector's set-up would take longer
    for (; count >= 4; count -= 4, from += 4) {
      uint32_t four;
      std::memcpy(&four, from, sizeof four);
      const uint32_t pairs = (four & 0x00ff00ff) + (four >> 8 & 0x00ff00ff);
      sum += (pairs & 0xffff) + (pairs >> 16);
    }
    if (count > 0) sum += from[0];
    if (count > 1) sum += from[1];
    if (count > 2) sum += from[2];
    return sum;
  }
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) sum += from[i];
  return sum;
}

}  // namespace

int64_t groups_of_panel(const KernelContext& context) {
  const int64_t groups = context.attributes<IntegerConvAttributes>().group;
  const int64_t filters = context.input(1).extents[0] / groups;
  int64_t joined = filters > 0 ? std::min(groups, kPanel / filters) : 1;
  while (joined > 1 && groups % joined != 0) --joined;
  return std::max<int64_t>(joined, 1);
}

FilterRuns::FilterRuns(const KernelContext& context, int64_t joined) {
  const TensorView& w = context.input(1);
  const auto& a = context.attributes<IntegerConvAttributes>();
  if (w.count() == 0) return;
  channels = (CheckedInt(w.extents[1]) * joined).value();
  CheckedInt all = 1;
  for (int axis = 2; axis < w.rank; ++axis) all *= w.extents[axis];
  taps = all.value();
  const int last = w.rank - 3;  // of the spatial axes
  if (a.group == joined && a.window.dilation(last) == 1) together = w.extents[2 + last];
}

void pack_byte_filters(const KernelContext& context, int zero_points, int64_t joined,
                       uint32_t* packed) {
  const TensorView& w = context.input(1);
  const auto& a = context.attributes<IntegerConvAttributes>();
  const FilterRuns by(context, joined);
  const ByteOperand weights(context, 1, zero_points);
  const uint8_t flip = weights.flip ^ 0x80;  // signed
  const int64_t own = w.extents[0] / a.group, channels = w.extents[1];
  const int64_t filters = own * joined, runs = by.taps / by.together;
  const int64_t words = panel_count(filters) * byte_panel_words(by.quads().value());
  for (int64_t first = 0; first < w.extents[0]; first += filters, packed += words) {
    const auto zero_of = [&](int64_t column) {
      return weights.zeros[(first + column) * weights.zero_step];
    };
    pack_byte_panels(
        filters, runs, by.bytes(), flip,
        [&](int64_t column, int64_t run, ByteColumn& to) {
          const uint8_t* filter = weights.data + (first + column) * channels * by.taps;
          const int64_t before = column / own * channels, after = by.channels - before - channels;
          for (int64_t tap = run * by.together; tap < (run + 1) * by.together; ++tap) {
            to.repeat(zero_of(column), before);
            to.copy(filter + tap, channels, by.taps);
            to.repeat(zero_of(column), after);
          }
        },
        zero_of, packed);
  }
}

ByteWindows::ByteWindows(const KernelContext& context, int zero_points, int64_t joined)
    : shape_(integer_conv_shape(context, joined)),
      windows_(shape_),
      x_(context, 0, zero_points),
      run_bytes_(FilterRuns(context, joined).bytes()),
      zero_points_(zero_points),
      copied_(may_have_padding(context) || x_.flip != 0 || run_bytes_ % 4 != 0),
      image_(x_.data),
      panels_(context.input(1).as<const uint32_t>()),
      isa_(context.isa()) {
  const ConvShape& s = shape_;
  if (copied_) {
    windows_.in_d = reach(s.out_d, s.stride_d, s.kernel_d, s.dilation_d);
    windows_.in_h = reach(s.out_h, s.stride_h, s.kernel_h, s.dilation_h);
    windows_.in_w = reach(s.out_w, s.stride_w, s.kernel_w, s.dilation_w);
    windows_.pad_front = windows_.pad_top = windows_.pad_left = 0;
  }
  const CheckedInt row = CheckedInt(windows_.in_w) * s.in_pitch;
  const auto bytes = [](CheckedInt number) { return static_cast<ptrdiff_t>(number.value()); };
  runs_ = {static_cast<ptrdiff_t>(quads_of(run_bytes_)),
           {static_cast<ptrdiff_t>(s.kernel_d), static_cast<ptrdiff_t>(s.kernel_h),
            static_cast<ptrdiff_t>(s.kernel_w / FilterRuns(context, joined).together)},
           {bytes(row * windows_.in_h * s.dilation_d), bytes(row * s.dilation_h),
            bytes(CheckedInt(s.in_pitch) * s.dilation_w)}};
}

CheckedInt ByteWindows::image_bytes() const {
  const ConvShape& w = windows_;
  return CheckedInt(w.batch) * w.in_d * w.in_h * w.in_w * w.in_pitch + kSlack;
}

CheckedInt ByteWindows::most_image_bytes(const KernelContext& context) const {
  const TensorView &x = context.input(0), &y = context.output(0), &w = context.input(1);
  const auto& window = context.attributes<IntegerConvAttributes>().window;
  const int spatial = x.rank - 2;
  CheckedInt bytes = CheckedInt(x.extents[0]) * x.extents[x.rank - 1];
  for (int i = 0; i < spatial; ++i) {
    const int64_t out = y.extents[1 + i], kernel = std::max<int64_t>(w.extents[2 + i], 1);
    const CheckedInt padded =
        CheckedInt(x.extents[1 + i]) + window.explicit_pad(i) + window.explicit_pad(spatial + i);
    bytes *= dim_max(padded, reach(out, window.stride(i), kernel, window.dilation(i)));
  }
  return bytes + kSlack;
}

void ByteWindows::prepare(const KernelContext& context, uint8_t* to) {
  const ByteOperand weights(context, 1, zero_points_);
  has_zeros_ = !weights.is_symmetric(context.input(1).extents[0]);
  if (!copied_) return;
  image_ = to;
  const int64_t rows = windows_.batch * windows_.in_d * windows_.in_h;
  constexpr int64_t kShared = 1 << 15;
  if (image_bytes().value() < kShared) return copy_rows(0, rows, to);
  context.parallel_for(rows, [&](int64_t begin, int64_t end, int) { copy_rows(begin, end, to); });
}

void ByteWindows::copy_rows(int64_t begin, int64_t end, uint8_t* to) const {
  const ConvShape &s = shape_, &w = windows_;
  const int64_t pixel = s.in_pitch, width = w.in_w * pixel;
  const int64_t left = std::max<int64_t>(s.pad_left, 0), first = left - s.pad_left;
  const int64_t columns = std::min(w.in_w - left, s.in_w - first);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t y = row % w.in_h - s.pad_top, z = row / w.in_h % w.in_d - s.pad_front;
    const int64_t image = row / w.in_h / w.in_d;
    uint8_t* pixels = to + row * width;
    std::memset(pixels, *x_.zeros ^ x_.flip, static_cast<size_t>(width));
    if (y < 0 || y >= s.in_h || z < 0 || z >= s.in_d || columns <= 0) continue;
    const uint8_t* from = x_.data + (((image * s.in_d + z) * s.in_h + y) * s.in_w + first) * pixel;
    const int64_t bytes = columns * pixel;
    if (x_.flip == 0) {
      std::memcpy(pixels + left * pixel, from, static_cast<size_t>(bytes));
    } else {
      on_widest_isa(isa_,
                    [&, flip = x_.flip] { flip_bytes(from, bytes, flip, pixels + left * pixel); });
    }
  }
}

int64_t ByteWindows::line() const {
  const ConvShape& w = windows_;
  const int64_t rows[] = {w.in_w * w.stride_h, w.in_h * w.stride_d, w.in_d};
  const int64_t pixels[] = {w.out_w * w.stride_w, w.out_h * w.stride_h, w.out_d * w.stride_d};
  const int64_t more[] = {w.out_h, w.out_d, w.batch};
  int64_t line = w.out_w;
  for (int i = 0; i < 3 && rows[i] == pixels[i]; ++i) line *= more[i];
  return line;
}

void ByteWindows::find(int64_t first, int64_t count, int64_t channel, const uint8_t** to) const {
  const ConvShape& w = windows_;
  int64_t x = first % w.out_w, y = first / w.out_w % w.out_h;
  int64_t z = first / w.out_w / w.out_h % w.out_d, image = first / w.out_w / w.out_h / w.out_d;
  const int64_t step = w.stride_w * w.in_pitch;
  const uint8_t* at = nullptr;
  for (int64_t i = 0; i < count; ++i, ++x, at += step) {
    if (x == w.out_w) {
      x = 0;
      if (++y == w.out_h) {
        y = 0;
        if (++z == w.out_d) {
          z = 0;
          ++image;
        }
      }
    }
    if (i == 0 || x == 0) {
      const int64_t plane = image * w.in_d + z * w.stride_d - w.pad_front;
      const int64_t row = plane * w.in_h + y * w.stride_h - w.pad_top;
      at = image_ + (row * w.in_w + x * w.stride_w - w.pad_left) * w.in_pitch + channel;
    }
    to[i] = at;
  }
}

void ByteWindows::sum(const uint8_t* const* windows, int64_t count, uint32_t* sums) const {
  on_widest_isa(isa_, [&, runs = runs_, bytes = run_bytes_] {
    for (int64_t row = 0; row < count; ++row) {
      uint32_t sum = 0;
      for (ptrdiff_t i = 0; i < runs.counts[0]; ++i) {
        for (ptrdiff_t j = 0; j < runs.counts[1]; ++j) {
          const uint8_t* from = windows[row] + i * runs.steps[0] + j * runs.steps[1];
          for (ptrdiff_t k = 0; k < runs.counts[2]; ++k, from += runs.steps[2]) {
            sum += sum_bytes(from, bytes);
          }
        }
      }
      sums[row] = sum;
    }
  });
}

bool ByteWindows::has_short_runs() const {
  constexpr int64_t kShortRun = 64;
  return INTARSIA_HAS_VECTORS && run_bytes_ < kShortRun && quads() <= kMostOnes;
}

void ByteWindows::sum_by_ones(const uint8_t* const* windows, int64_t count, uint32_t* products,
                              int64_t pitch, uint32_t* sums) const {
  uint32_t ones[(kByteTerms + kMostOnes) * kPanel];
  uint32_t* line = std::fill_n(ones, kByteTerms * kPanel, 0);
  const int64_t last = run_bytes_ % 4;
  for (int64_t left = quads(); left > 0; left -= runs_.quads) {
    line = std::fill_n(line, runs_.quads * kPanel, 0x01010101);
    if (last != 0) std::fill_n(line - kPanel, kPanel, 0x01010101u >> (32 - 8 * last));
  }
  multiply_bytes({static_cast<ptrdiff_t>(count), 1, windows, runs_, nullptr, 0, ones, products,
                  static_cast<ptrdiff_t>(pitch)},
                 isa_);
  for (int64_t i = 0; i < count; ++i) sums[i] = products[i * pitch];
}

void ByteWindows::multiply(int64_t group, int64_t first, int64_t rows, int64_t panel,
                           int64_t panels, uint32_t* sums, const ByteSumsSink& sink) const {
  const uint8_t* at[kMostRows];
  uint32_t a_sums[kMostRows];
  find(first, rows, group * (shape_.in_c / shape_.groups), at);
  const int64_t words = byte_panel_words(quads());
  const uint32_t* b = panels_ + (group * panel_count(filters()) + panel) * words;
  if (has_zeros_) {
    if (has_short_runs()) {
      sum_by_ones(at, rows, sums, panels * kPanel, a_sums);
    } else {
      sum(at, rows, a_sums);
    }
  }
  multiply_bytes({static_cast<ptrdiff_t>(rows), static_cast<ptrdiff_t>(panels), at, runs_,
                  has_zeros_ ? a_sums : nullptr, static_cast<uint32_t>(*x_.zeros ^ x_.flip), b,
                  sums, static_cast<ptrdiff_t>(panels * kPanel), sink, first == 0},
                 isa_);
}

WindowBlocks::WindowBlocks(const ByteWindows& windows, int64_t threads) {
  constexpr int64_t kCached = 1 << 18;
  const int64_t step = windows.rows_step(), most_panels = kMostSums / (step * 2 * kPanel) * 2;
  const int64_t pixels = windows.pixels().value(), all = panel_count(windows.filters());
  const int64_t panel_bytes = byte_panel_words(windows.quads()) * int64_t{sizeof(uint32_t)};
  panels =
      std::min(all, even_block(all, std::clamp<int64_t>(kCached / panel_bytes, 2, most_panels), 2));
  const int64_t fit = kMostSums / (panels * kPanel) / step * step;
  const int64_t most = std::min(fit, ByteWindows::kMostRows / step * step);
  rows = std::min(pixels, even_block(pixels, most, step));
  // More blocks for threads, unless they would become too small.
  const int64_t wanted = threads > 1 ? 4 * threads : 1;
  for (;;) {
    of_rows = ceil_div(pixels, rows);
    of_columns = ceil_div(all, panels);
    constexpr int64_t kSmall = 1 << 16;  // groups of products of 16
    if (of_rows * of_columns * windows.groups() >= wanted) break;
    if (rows * panels * windows.quads() < kSmall) break;
    if (rows >= 2 * step) {
      rows = even_block(pixels, rows / 2, step);
    } else if (panels >= 4) {
      panels = even_block(all, panels / 2, 2);
    } else {
      break;
    }
  }
  if (threads == 1 || windows.groups() > 1) return;
  // Threads then read all filters, not some each, but the pixels that they have had before.
  const int64_t filter_bytes = all * panel_bytes;
  columns_first = filter_bytes <= std::min(2 * kCached, windows.pixel_bytes());
  // Others, if threads have equal shares of those.
  constexpr int64_t kUneven = 4;
  const auto of = [=, first = *this](const BlockCut& cut) {
    WindowBlocks other = first;
    other.rows = std::min(first.rows, even_block(pixels, ceil_div(pixels, cut.rows), step));
    other.panels = std::min(first.panels, even_block(all, ceil_div(all, cut.columns), 2));
    other.of_rows = ceil_div(pixels, other.rows);
    other.of_columns = ceil_div(all, other.panels);
    return other;
  };
  *this = of(even_cut({of_rows, of_columns}, of_rows + 1, kUneven, [&](const BlockCut& cut) {
    const WindowBlocks other = of(cut);
    const BlockGrid grid = columns_first ? BlockGrid{pixels, other.rows, all, other.panels}
                                         : BlockGrid{all, other.panels, pixels, other.rows};
    return grid.unevenness(threads);
  }));
}

CheckedInt WindowBlocks::sums_bytes(const ByteWindows& windows) {
  const CheckedInt all = windows.pixels() * (CheckedInt(panel_count(windows.filters())) * kPanel);
  return floor_div(dim_min(all, kMostSums) * sizeof(uint32_t) + 63, 64) * 64;
}

}  // namespace intarsia::cpu
