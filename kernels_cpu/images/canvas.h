// SPDX-License-Identifier: Apache-2.0
//
// What a decoder is given: the bytes of a file, and a canvas for its pixels; and the decoders. Each
// says the picture's extents first, which the canvas compares with the plan's bound, and decodes
// only then, row by row from the top, three bytes for each pixel: red, green, blue. What stands in
// the file is not trusted: a picture that is damaged or ends early is refused, not filled up.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels_cpu/images/image_decoder.h"

namespace intarsia::images {

using Bytes = std::span<const uint8_t>;

class Canvas {
 public:
  Canvas(const KernelContext& context, Output<uint8_t> image, int32_t pixel_format)
      : context_(context), image_(image), pixel_format_(pixel_format) {}

  /// To be called once, before `row`. False if the picture has no pixel, or more than there is room
  /// for: the decoder then gives up.
  bool begin(uint64_t width, uint64_t height);
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  /// Where the three bytes of the pixels of row `y` go. REQUIRES: 0 <= y < height().
  uint8_t* row(int64_t y) { return pixels_ + y * width_ * 3; }
  /// What is wrong with the picture, a literal. Returns false.
  bool fail(const char* what);

  /// Makes red, green and blue what the node asks for.
  Status finish(bool decoded);

 private:
  const KernelContext& context_;
  Output<uint8_t> image_;
  int32_t pixel_format_;
  int64_t width_ = 0, height_ = 0;
  uint8_t* pixels_ = nullptr;
  std::unique_ptr<uint8_t[]> own_;  // where the image has one byte for each pixel
  Status status_;
};

/// Numbers of a file, of which there may be less than one would read. Reading beyond the end gives
/// 0 and is noted.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}
  bool ended() const { return ended_; }
  size_t place() const { return place_; }
  size_t left() const { return bytes_.size() - place_; }
  void seek(uint64_t place) {
    ended_ = ended_ || place > bytes_.size();
    place_ = place > bytes_.size() ? bytes_.size() : static_cast<size_t>(place);
  }
  uint8_t byte() {
    if (place_ < bytes_.size()) return bytes_[place_++];
    ended_ = true;
    return 0;
  }
  /// The most significant byte first.
  uint32_t big(int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | byte();
    return value;
  }
  /// The least significant byte first.
  uint32_t little(int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i) value |= uint32_t{byte()} << (8 * i);
    return value;
  }

 private:
  Bytes bytes_;
  size_t place_ = 0;
  bool ended_ = false;
};

bool decode_bmp(Bytes bytes, Canvas& canvas);
bool decode_jpeg(Bytes bytes, Canvas& canvas);
bool decode_jpeg2000(Bytes bytes, Canvas& canvas);
bool decode_png(Bytes bytes, Canvas& canvas);
bool decode_pnm(Bytes bytes, Canvas& canvas);
bool decode_tiff(Bytes bytes, Canvas& canvas);
bool decode_webp(Bytes bytes, Canvas& canvas);

}  // namespace intarsia::images
