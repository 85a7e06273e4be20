// SPDX-License-Identifier: Apache-2.0
//
// See byte_strips.h.
#include "kernels_cpu/nn/byte_strips.h"

#include <algorithm>
#include <cstring>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

// A strip has as many columns as a block of a product, or fewer, so that it stays in the second
// cache level, but not so few that packing the filters for each would be much of the work.
constexpr int64_t kMostColumns = 512, kLeastColumns = 256, kStripBytes = 1 << 18;
constexpr int64_t kLine = 64;

/// Whether window i begins at the same distance from pixel i, whatever i.
bool has_window_for_each_pixel(const ConvShape& s) {
  return s.stride_d == 1 && s.stride_h == 1 && s.stride_w == 1 && s.in_d == s.out_d &&
         s.in_h == s.out_h && s.in_w == s.out_w;
}

void copy_bytes(const uint8_t* from, int64_t step, int64_t count, uint8_t* to) {
  if (step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count));
  } else if (step == 2) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[step * i];
  }
}

}  // namespace

/// Where a tap lies from a window's first one, and which columns of a row have it inside.
struct ByteStrips::Tap {
  int64_t z, y, x;
  int64_t begin, end;

  Tap(const ConvShape& s, int64_t kz, int64_t ky, int64_t kx)
      : z(kz * s.dilation_d - s.pad_front),
        y(ky * s.dilation_h - s.pad_top),
        x(kx * s.dilation_w - s.pad_left),
        begin(x < 0 ? std::min(ceil_div(-x, s.stride_w), s.out_w) : 0),
        end(x < s.in_w ? std::min(ceil_div(s.in_w - x, s.stride_w), s.out_w) : 0) {
    end = std::max(begin, end);
  }
};

/// Windows of a row, one behind the other, which are `columns` of the strip from `column` on.
struct ByteStrips::Row {
  int64_t z, y, x;
  int64_t column, columns;
};

/// use(row) for the rows of columns [first, first + count).
template <class Use>
void ByteStrips::for_rows(int64_t first, int64_t count, const Use& use) const {
  const ConvShape& s = shape_;
  Row row{first / s.out_w / s.out_h, first / s.out_w % s.out_h, first % s.out_w, 0, 0};
  for (; row.column < count; row.column += row.columns, row.x = 0) {
    row.columns = std::min(s.out_w - row.x, count - row.column);
    use(row);
    if (++row.y == s.out_h) row.y = 0, ++row.z;
  }
}

ByteStrips::ByteStrips(const ConvShape& shape)
    : shape_(without_single_columns(shape)),
      terms_(
          (CheckedInt(shape.in_c / shape.groups) * shape.kernel_d * shape.kernel_h * shape.kernel_w)
              .value()),
      pixels_(shape.out_d * shape.out_h * shape.out_w),
      in_plane_(shape.in_d * shape.in_h * shape.in_w),
      columns_(std::clamp(kStripBytes / std::max<int64_t>(terms_, 1) / kLine * kLine, kLeastColumns,
                          kMostColumns)),
      shifted_(has_window_for_each_pixel(shape)),
      in_place_(shifted_ && terms_ == shape.in_c / shape.groups) {
  columns_ = std::min(columns_, round_up(pixels_, kLine));
}

int64_t ByteStrips::count() const {
  return columns_ > 0 ? ceil_div(pixels_, columns_) : 0;
}

CheckedInt ByteStrips::bytes() const {
  const int64_t pixels = round_up(pixels_, kLine);
  const CheckedInt whole = CheckedInt(terms_) * std::min(pixels, kMostColumns);
  const CheckedInt least = CheckedInt(terms_) * std::min(pixels, kLeastColumns);
  return dim_max(least, dim_min(whole, CheckedInt(kStripBytes)));
}

int64_t ByteStrips::offset(int64_t image, int64_t group) const {
  return (image * shape_.in_c + group * (shape_.in_c / shape_.groups)) * in_plane_;
}

void ByteStrips::gather(const uint8_t* channels, uint8_t padding, int64_t first, int64_t count,
                        Isa isa, uint8_t* to) const {
  const ConvShape& s = shape_;
  const auto each_tap = [&](const auto& use) {
    for (int64_t channel = 0; channel < s.in_c / s.groups; ++channel) {
      const uint8_t* plane = channels + channel * in_plane_;
      for (int64_t kz = 0; kz < s.kernel_d; ++kz) {
        for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < s.kernel_w; ++kx, to += columns_) {
            use(plane, Tap(s, kz, ky, kx));
          }
        }
      }
    }
  };
  if (shifted_) {
    each_tap([&](const uint8_t* plane, const Tap& tap) {
      shift(plane, padding, tap, first, count, to);
    });
  } else {
    on_isa(isa, [&] {
      each_tap([&](const uint8_t* plane, const Tap& tap) {
        for_rows(first, count, [&](const Row& row) { copy(plane, padding, tap, row, to); });
      });
    });
  }
}

/// Pixels of all rows are copied at once; then those that lie outside are replaced.
void ByteStrips::shift(const uint8_t* plane, uint8_t padding, const Tap& tap, int64_t first,
                       int64_t count, uint8_t* to) const {
  const ConvShape& s = shape_;
  const int64_t from = first + (tap.z * s.in_h + tap.y) * s.in_w + tap.x;
  const int64_t begin = std::clamp<int64_t>(-from, 0, count);
  const int64_t end = std::clamp(in_plane_ - from, begin, count);
  if (begin < end) std::memcpy(to + begin, plane + from + begin, static_cast<size_t>(end - begin));
  const auto fill = [&](int64_t pixel, int64_t last) {  // of the plane
    const int64_t begin = std::max(pixel - first, int64_t{0}), end = std::min(last - first, count);
    if (begin < end) std::memset(to + begin, padding, static_cast<size_t>(end - begin));
  };
  const int64_t slice = s.out_h * s.out_w;
  for (int64_t z = first / slice; z * slice < first + count; ++z) {
    const bool inside = z + tap.z >= 0 && z + tap.z < s.in_d;
    const int64_t above = inside ? -tap.y : s.out_h;
    if (above > 0) fill(z * slice, z * slice + above * s.out_w);
    if (tap.y > 0) fill(z * slice + (s.out_h - tap.y) * s.out_w, (z + 1) * slice);
  }
  const int64_t row = first % s.out_w;
  for (int64_t x = tap.begin > 0 ? 0 : tap.end; x < s.out_w;
       x = x + 1 == tap.begin ? tap.end : x + 1) {
    for (int64_t i = x < row ? x + s.out_w - row : x - row; i < count; i += s.out_w)
      to[i] = padding;
  }
}

bool ByteStrips::inside(const Tap& tap, const Row& row) const {
  const ConvShape& s = shape_;
  const int64_t y = row.y * s.stride_h + tap.y, z = row.z * s.stride_d + tap.z;
  return y >= 0 && y < s.in_h && z >= 0 && z < s.in_d;
}

void ByteStrips::copy(const uint8_t* plane, uint8_t padding, const Tap& tap, const Row& row,
                      uint8_t* to) const {
  const ConvShape& s = shape_;
  const int64_t last = row.x + row.columns;
  const int64_t begin = inside(tap, row) ? std::clamp(tap.begin, row.x, last) : last;
  const int64_t end = std::clamp(tap.end, begin, last);
  uint8_t* pixels = to + row.column - row.x;
  if (begin > row.x) std::memset(pixels + row.x, padding, static_cast<size_t>(begin - row.x));
  if (end > begin) {
    const int64_t y = row.y * s.stride_h + tap.y, z = row.z * s.stride_d + tap.z;
    const uint8_t* from = plane + (z * s.in_h + y) * s.in_w + tap.x;
    copy_bytes(from + begin * s.stride_w, s.stride_w, end - begin, pixels + begin);
  }
  if (last > end) std::memset(pixels + end, padding, static_cast<size_t>(last - end));
}

}  // namespace intarsia::cpu
