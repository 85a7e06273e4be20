// SPDX-License-Identifier: Apache-2.0
#include "read_text/text_boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace examples {
namespace {

constexpr float kText = 0.3f;     // probability from which a pixel is of text
constexpr float kScore = 0.5f;    // mean probability in a box that is kept
constexpr float kLeastSide = 3;   // of the core of a line
constexpr float kGrowth = 2;      // of a box beyond its core, times area / circumference
constexpr float kUpright = 1.5f;  // height / width from which a line runs downwards

float cross(Point a, Point b, Point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// The corners of the least convex polygon around points (Andrew's monotone chain).
std::vector<Point> convex_hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end(),
            [](Point a, Point b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  std::vector<Point> hull;
  for (int side = 0; side < 2; ++side) {
    const std::size_t start = hull.size();
    for (Point point : points) {
      while (hull.size() >= start + 2 && cross(hull[hull.size() - 2], hull.back(), point) <= 0) {
        hull.pop_back();
      }
      hull.push_back(point);
    }
    hull.pop_back();  // the first of the other side
    std::reverse(points.begin(), points.end());
  }
  return hull.empty() ? points : hull;
}

/// A rectangle by its middle and the halves of its sides, along `along` and at a right angle to it.
struct Rectangle {
  Point middle, along;
  float half_width = 0, half_height = 0;

  Point at(float x, float y) const {
    return {middle.x + x * along.x - y * along.y, middle.y + x * along.y + y * along.x};
  }
  void grow() {
    const float width = 2 * half_width, height = 2 * half_height;
    const float by = width * height * kGrowth / (2 * (width + height));
    half_width += by;
    half_height += by;
  }
  TextBox corners() const {
    TextBox box{at(-half_width, -half_height), at(half_width, -half_height),
                at(half_width, half_height), at(-half_width, half_height)};
    if (half_height >= kUpright * half_width) std::rotate(box.begin(), box.begin() + 1, box.end());
    return box;
  }
};

/// The rectangle of least area around a convex polygon: one of its sides lies on an edge.
Rectangle least_rectangle(const std::vector<Point>& hull) {
  Rectangle best;
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const Point a = hull[i], b = hull[(i + 1) % hull.size()];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    Point along = length > 0 ? Point{(b.x - a.x) / length, (b.y - a.y) / length} : Point{1, 0};
    // Of the two sides the one that is nearer to the horizontal, from left to right.
    if (std::abs(along.x) < std::abs(along.y)) along = {along.y, -along.x};
    if (along.x < 0) along = {-along.x, -along.y};
    constexpr float kFar = std::numeric_limits<float>::infinity();
    float left = kFar, right = -kFar, top = kFar, bottom = -kFar;
    for (Point p : hull) {
      const float x = p.x * along.x + p.y * along.y, y = p.y * along.x - p.x * along.y;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = std::max(bottom, y);
    }
    const float area = (right - left) * (bottom - top);
    if (area >= least) continue;
    least = area;
    best = {{}, along, (right - left) / 2, (bottom - top) / 2};
    best.middle = best.at((left + right) / 2, (top + bottom) / 2);
  }
  return best;
}

class Finder {
 public:
  Finder(std::span<const float> map, int width, int height)
      : map_(map), width_(width), height_(height), seen_(map.size()) {}

  std::vector<TextBox> run() {
    std::vector<TextBox> boxes;
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        if (seen_[index(x, y)] || !is_text(x, y)) continue;
        Rectangle box = least_rectangle(convex_hull(region(x, y)));
        if (2 * std::min(box.half_width, box.half_height) < kLeastSide) continue;
        if (mean(box) < kScore) continue;
        box.grow();
        boxes.push_back(box.corners());
      }
    }
    return boxes;
  }

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }

  /// Text there or at the pixels above and to the left, which closes narrow gaps.
  bool is_text(int x, int y) const {
    for (int dy = -1; dy <= 0; ++dy) {
      for (int dx = -1; dx <= 0; ++dx) {
        if (inside(x + dx, y + dy) && map_[index(x + dx, y + dy)] > kText) return true;
      }
    }
    return false;
  }

  /// The pixels of text that hang together with (x, y).
  std::vector<Point> region(int x, int y) {
    std::vector<Point> found{{static_cast<float>(x), static_cast<float>(y)}};
    seen_[index(x, y)] = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const int at_x = static_cast<int>(found[i].x), at_y = static_cast<int>(found[i].y);
      for (int next_y = at_y - 1; next_y <= at_y + 1; ++next_y) {
        for (int next_x = at_x - 1; next_x <= at_x + 1; ++next_x) {
          if (!inside(next_x, next_y) || seen_[index(next_x, next_y)]) continue;
          if (!is_text(next_x, next_y)) continue;
          seen_[index(next_x, next_y)] = true;
          found.push_back({static_cast<float>(next_x), static_cast<float>(next_y)});
        }
      }
    }
    return found;
  }

  /// Of the probabilities in a box.
  float mean(const Rectangle& box) const {
    double sum = 0;
    std::size_t count = 0;
    for (float y = -box.half_height; y <= box.half_height; ++y) {
      for (float x = -box.half_width; x <= box.half_width; ++x) {
        const Point point = box.at(x, y);
        const int px = static_cast<int>(std::lround(point.x));
        const int py = static_cast<int>(std::lround(point.y));
        if (!inside(px, py)) continue;
        sum += static_cast<double>(map_[index(px, py)]);
        ++count;
      }
    }
    return count > 0 ? static_cast<float>(sum / static_cast<double>(count)) : 0;
  }

  std::span<const float> map_;
  int width_, height_;
  std::vector<bool> seen_;
};

float middle_y(const TextBox& box) {
  return (box[0].y + box[1].y + box[2].y + box[3].y) / 4;
}
float height(const TextBox& box) {
  return std::hypot(box[3].x - box[0].x, box[3].y - box[0].y);
}

}  // namespace

std::vector<TextBox> text_boxes(std::span<const float> map, int width, int height_of_map) {
  std::vector<TextBox> boxes = Finder(map, width, height_of_map).run();
  std::sort(boxes.begin(), boxes.end(),
            [](const TextBox& a, const TextBox& b) { return middle_y(a) < middle_y(b); });
  // Boxes beside one another are one row, read from the left.
  for (auto row = boxes.begin(); row != boxes.end();) {
    auto end = row + 1;
    while (end != boxes.end() && middle_y(*end) - middle_y(*row) < height(*row) / 2) ++end;
    std::sort(row, end, [](const TextBox& a, const TextBox& b) { return a[0].x < b[0].x; });
    row = end;
  }
  return boxes;
}

}  // namespace examples
