// SPDX-License-Identifier: Apache-2.0
//
// The windows of an image of bytes, channels first, as a matrix: each row is a term of a filter,
// channels and taps in the order of its weights, and each column a window. It is gathered in strips
// of columns, which a product reads while they lie in a cache. Where windows are single pixels side
// by side, the image is that matrix.
#pragma once

#include <cstdint>

#include "kernels_cpu/gemm/conv.h"

namespace intarsia::cpu {

class ByteStrips {
 public:
  /// `shape` as conv_shape() gives it for images that have their channels first.
  explicit ByteStrips(const ConvShape& shape);

  /// Rows: products of a sum.
  int64_t terms() const { return terms_; }
  /// Columns of an image.
  int64_t pixels() const { return pixels_; }
  /// Columns of a strip; the last one of an image may have fewer.
  int64_t columns() const { return columns_; }
  int64_t count() const;
  /// Bytes from row to row of a matrix that is gathered, and of one that lies in the image.
  int64_t pitch() const { return in_place_ ? in_plane_ : columns_; }
  bool in_place() const { return in_place_; }
  /// Of a strip that is gathered, aligned to 64. No less for larger extents.
  CheckedInt bytes() const;

  /// The first channel of a group of image `image`, as an offset into all images.
  int64_t offset(int64_t image, int64_t group) const;
  /// Columns [first, first + count) of the channels from `channels` on; outside lies `padding`.
  void gather(const uint8_t* channels, uint8_t padding, int64_t first, int64_t count, Isa isa,
              uint8_t* to) const;

 private:
  struct Tap;
  struct Row;
  template <class Use>
  void for_rows(int64_t first, int64_t count, const Use& use) const;
  bool inside(const Tap& tap, const Row& row) const;
  void copy(const uint8_t* plane, uint8_t padding, const Tap& tap, const Row& row,
            uint8_t* to) const;
  void shift(const uint8_t* plane, uint8_t padding, const Tap& tap, int64_t first, int64_t count,
             uint8_t* to) const;

  ConvShape shape_;
  int64_t terms_, pixels_, in_plane_, columns_;
  bool shifted_;   ///< A row of the matrix is a plane of the image, shifted, but for the padding.
  bool in_place_;  ///< Windows are single pixels: no shift and no padding.
};

}  // namespace intarsia::cpu
