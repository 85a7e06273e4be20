// SPDX-License-Identifier: Apache-2.0
//
// BMP, by hand: 1, 4, 8, 16, 24 and 32 bits for each pixel, with a palette or bit masks, from the
// top or from the bottom. Transparency is left out; run-length encoding is refused.
#include <bit>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

constexpr uint32_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40;
constexpr uint32_t kPlain = 0, kMasks = 3, kMasksAndAlpha = 6;

struct Mask {
  uint32_t bits = 0;
  uint8_t of(uint32_t pixel) const {
    if (bits == 0) return 0;
    const int shift = std::countr_zero(bits);
    const uint64_t largest = bits >> shift;
    return static_cast<uint8_t>((((pixel & bits) >> shift) * uint64_t{255} + largest / 2) /
                                largest);
  }
};

struct Header {
  uint32_t pixels = 0, size = 0, compression = kPlain, colours = 0;
  int64_t width = 0, height = 0;
  uint32_t bits = 0;
  Mask masks[3] = {};
};

/// Reads the header; what it says of colours is made sense of later.
Header read_header(ByteReader& reader) {
  Header header;
  reader.seek(10);
  header.pixels = reader.little(4);
  header.size = reader.little(4);
  const bool core = header.size == kCoreHeader;
  header.width = core ? int64_t{reader.little(2)} : static_cast<int32_t>(reader.little(4));
  header.height = core ? int64_t{reader.little(2)} : static_cast<int32_t>(reader.little(4));
  reader.little(2);  // planes
  header.bits = reader.little(2);
  if (!core) {
    header.compression = reader.little(4);
    reader.seek(reader.place() + 12);  // bytes of the picture, pixels per metre
    header.colours = reader.little(4);
    reader.little(4);  // important colours
  }
  const bool masked = header.compression == kMasks || header.compression == kMasksAndAlpha;
  for (int i = 0; masked && i < 3; ++i) header.masks[i].bits = reader.little(4);
  if (!masked && header.bits == 16)
    header.masks[0] = {0x7c00}, header.masks[1] = {0x3e0}, header.masks[2] = {0x1f};
  if (!masked && header.bits == 32) {
    header.masks[0] = {0xff0000}, header.masks[1] = {0xff00}, header.masks[2] = {0xff};
  }
  return header;
}

}  // namespace

bool decode_bmp(Bytes bytes, Canvas& canvas) {
  ByteReader reader(bytes);
  const Header header = read_header(reader);
  if (reader.ended() || (header.size != kCoreHeader && header.size < kInfoHeader)) {
    return canvas.fail("BMP picture, damaged or cut off");
  }
  const bool upwards = header.height > 0;
  if (header.width < 0) return canvas.fail("width of a BMP picture");
  if (!canvas.begin(static_cast<uint64_t>(header.width),
                    static_cast<uint64_t>(upwards ? header.height : -header.height))) {
    return false;
  }
  const uint32_t bits = header.bits;
  const bool masked = header.compression == kMasks || header.compression == kMasksAndAlpha;
  if (header.compression != kPlain && !masked) {
    return canvas.fail("BMP picture with compression, which is not decoded");
  }
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32) {
    return canvas.fail("bits for each pixel of a BMP picture");
  }
  if (masked && bits != 16 && bits != 32)
    return canvas.fail("BMP picture with masks it cannot have");

  uint8_t palette[256][3] = {};
  if (bits <= 8) {
    const uint32_t most = 1u << bits;
    const uint32_t count = header.colours == 0 || header.colours > most ? most : header.colours;
    reader.seek(uint64_t{kFileHeader} + header.size);
    for (uint32_t i = 0; i < count; ++i) {
      for (int channel = 2; channel >= 0; --channel) palette[i][channel] = reader.byte();
      if (header.size != kCoreHeader) reader.byte();
    }
  }
  const uint64_t row_bytes = (static_cast<uint64_t>(header.width) * bits + 31) / 32 * 4;
  for (int64_t y = 0; y < canvas.height() && !reader.ended(); ++y) {
    reader.seek(header.pixels + static_cast<uint64_t>(y) * row_bytes);
    uint8_t* to = canvas.row(upwards ? canvas.height() - 1 - y : y);
    uint32_t held = 0, left = 0;  // bits of a byte that holds several pixels
    for (int64_t x = 0; x < canvas.width(); ++x, to += 3) {
      if (bits <= 8) {
        if (left == 0) held = reader.byte(), left = 8;
        left -= bits;
        const uint8_t* colour = palette[(held >> left) & ((1u << bits) - 1)];
        for (int channel = 0; channel < 3; ++channel) to[channel] = colour[channel];
      } else if (bits == 24) {
        for (int channel = 2; channel >= 0; --channel) to[channel] = reader.byte();
      } else {
        const uint32_t pixel = reader.little(static_cast<int>(bits / 8));
        for (int channel = 0; channel < 3; ++channel) to[channel] = header.masks[channel].of(pixel);
      }
    }
  }
  return !reader.ended() || canvas.fail("BMP picture, damaged or cut off");
}

}  // namespace intarsia::images
