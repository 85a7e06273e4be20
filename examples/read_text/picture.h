// SPDX-License-Identifier: Apache-2.0
//
// Pictures in memory, from and to PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// Rows from the top, pixels of red, green and blue.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;

  const std::uint8_t* pixel(int x, int y) const {
    return rgb.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                         static_cast<std::size_t>(x)) *
                            3;
  }
};

/// Of pixels; the centre of the first one is at (0, 0).
struct Point {
  float x = 0;
  float y = 0;
};

/// The most pixels that a side of a file's picture may have.
inline constexpr int kMaxSide = 16384;

/// Any PNG file; what shows through transparent pixels is white. Throws std::runtime_error, which
/// names the file, if there is none, or it is no PNG file, or larger than kMaxSide.
Picture read_png(const std::string& path);

/// Throws std::runtime_error if the file cannot be written.
void write_png(const std::string& path, const Picture& picture);

/// Draws a red line, as far as it lies in the picture.
void draw_line(Picture& picture, Point from, Point to);

}  // namespace examples
