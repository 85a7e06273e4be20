// SPDX-License-Identifier: Apache-2.0
//
// A part of a picture, perhaps turned, with another number of pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "read_text/text_boxes.h"

namespace examples {

using Color = std::array<float, 3>;  ///< Red, green and blue, 0 to 255.

/// Adds the color at a point between pixels; beyond the edges, that of the nearest pixel.
inline void add_color(const Picture& picture, Point at, Color& color) {
  const float x = std::clamp(at.x, 0.0f, static_cast<float>(picture.width - 1));
  const float y = std::clamp(at.y, 0.0f, static_cast<float>(picture.height - 1));
  const int left = static_cast<int>(x), top = static_cast<int>(y);
  const int right = std::min(left + 1, picture.width - 1);
  const int bottom = std::min(top + 1, picture.height - 1);
  const float u = x - static_cast<float>(left), v = y - static_cast<float>(top);
  for (std::size_t c = 0; c < 3; ++c) {
    const float above = (1 - u) * picture.pixel(left, top)[c] + u * picture.pixel(right, top)[c];
    const float below =
        (1 - u) * picture.pixel(left, bottom)[c] + u * picture.pixel(right, bottom)[c];
    color[c] += (1 - v) * above + v * below;
  }
}

/// Calls body(color, x, y) for all pixels of a picture of `width` by `height` that shows what lies
/// in `box`, row by row. Where it becomes smaller, a pixel is the mean of several.
template <class Body>
void sample(const Picture& picture, const TextBox& box, int width, int height, const Body& body) {
  const auto step = [](Point from, Point to, int count) {
    const auto n = static_cast<float>(count);
    return Point{(to.x - from.x) / n, (to.y - from.y) / n};
  };
  const Point right = step(box[0], box[1], width), down = step(box[0], box[3], height);
  const auto parts = [](Point p) {
    return std::max(1, static_cast<int>(std::lround(std::hypot(p.x, p.y))));
  };
  const int across = parts(right), along = parts(down);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      Color color{};
      for (int j = 0; j < along; ++j) {
        for (int i = 0; i < across; ++i) {
          const float u =
              static_cast<float>(x) + (static_cast<float>(i) + 0.5f) / static_cast<float>(across);
          const float v =
              static_cast<float>(y) + (static_cast<float>(j) + 0.5f) / static_cast<float>(along);
          add_color(picture,
                    {box[0].x + u * right.x + v * down.x, box[0].y + u * right.y + v * down.y},
                    color);
        }
      }
      for (float& part : color) part /= static_cast<float>(across * along);
      body(color, x, y);
    }
  }
}

}  // namespace examples
