// SPDX-License-Identifier: Apache-2.0
//
// The portable formats PBM, PGM and PPM, by hand: as text (P1 to P3) and as bytes (P4 to P6).
// Values are scaled to 8 bits. http://netpbm.sourceforge.net/doc/ppm.html
#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

bool is_space(uint8_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// A number behind white space and comments; what stands behind it is read, one byte. Beyond `most`
/// it is that.
uint32_t read_number(ByteReader& reader, uint32_t most) {
  uint8_t c = reader.byte();
  while (!reader.ended() && (is_space(c) || c == '#')) {
    if (c == '#') {
      while (!reader.ended() && c != '\n') c = reader.byte();
    }
    c = reader.byte();
  }
  if (c < '0' || c > '9') {
    reader.seek(~uint64_t{0});  // no number
    return 0;
  }
  uint64_t value = 0;
  while (c >= '0' && c <= '9') {
    value = value * 10 + (c - '0');
    if (value > most) value = most;
    if (reader.left() == 0) break;  // a text may end with its last digit
    c = reader.byte();
  }
  return static_cast<uint32_t>(value);
}

/// A bit of a text, which needs no white space around it.
uint32_t read_bit(ByteReader& reader) {
  uint8_t c = reader.byte();
  while (!reader.ended() && is_space(c)) c = reader.byte();
  if (c != '0' && c != '1') reader.seek(~uint64_t{0});
  return c == '1' ? 1 : 0;
}

}  // namespace

bool decode_pnm(Bytes bytes, Canvas& canvas) {
  constexpr uint32_t kMostExtent = 0x7fffffff, kMostValue = 65535;
  ByteReader reader(bytes);
  reader.seek(1);
  const int kind = reader.byte() - '0';
  const bool text = kind <= 3, bitmap = kind == 1 || kind == 4, colour = kind == 3 || kind == 6;
  const uint32_t width = read_number(reader, kMostExtent);
  const uint32_t height = read_number(reader, kMostExtent);
  const uint32_t largest = bitmap ? 1 : read_number(reader, kMostValue + 1);
  if (reader.ended()) return canvas.fail("PNM picture, damaged or cut off");
  if (largest < 1 || largest > kMostValue) return canvas.fail("largest value of a PNM picture");
  if (!canvas.begin(width, height)) return false;
  const auto value = [&]() -> uint8_t {
    uint32_t found = 0;
    if (text) {
      found = read_number(reader, largest);
    } else {
      found = reader.byte();
      if (largest > 255) found = found << 8 | reader.byte();
    }
    if (found > largest) found = largest;
    return static_cast<uint8_t>((found * 255 + largest / 2) / largest);
  };
  for (int64_t y = 0; y < canvas.height() && !reader.ended(); ++y) {
    uint8_t* to = canvas.row(y);
    uint32_t held = 0;
    for (int64_t x = 0; x < canvas.width(); ++x, to += 3) {
      if (bitmap) {
        if (!text && x % 8 == 0) held = reader.byte();
        const bool black = text ? read_bit(reader) != 0 : (held >> (7 - x % 8) & 1) != 0;
        to[0] = to[1] = to[2] = black ? 0 : 255;
      } else if (colour) {
        for (int channel = 0; channel < 3; ++channel) to[channel] = value();
      } else {
        to[0] = to[1] = to[2] = value();
      }
    }
  }
  return !reader.ended() || canvas.fail("PNM picture, damaged or cut off");
}

}  // namespace intarsia::images
