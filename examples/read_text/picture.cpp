// SPDX-License-Identifier: Apache-2.0
#include "read_text/picture.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace examples {
namespace {

constexpr char kNoPicture[] = "no PNG file that can be read";

/// libpng's record of one file, which frees what it holds.
struct PngImage {
  png_image image{};

  PngImage() {
    image.version = PNG_IMAGE_VERSION;
    image.format = PNG_FORMAT_RGB;
  }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  [[noreturn]] void fail(const std::string& path, const char* what) const {
    throw std::runtime_error("'" + path + "': " + what + ": " + image.message);
  }
};

}  // namespace

Picture read_png(const std::string& path) {
  PngImage png;
  if (png_image_begin_read_from_file(&png.image, path.c_str()) == 0) {
    png.fail(path, kNoPicture);
  }
  if (png.image.width > kMaxSide || png.image.height > kMaxSide) {
    throw std::runtime_error("'" + path + "': " + std::to_string(png.image.width) + " by " +
                             std::to_string(png.image.height) + " pixels, expected at most " +
                             std::to_string(kMaxSide) + " by " + std::to_string(kMaxSide));
  }
  png.image.format = PNG_FORMAT_RGB;
  Picture picture;
  picture.width = static_cast<int>(png.image.width);
  picture.height = static_cast<int>(png.image.height);
  picture.rgb.resize(PNG_IMAGE_SIZE(png.image));
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&png.image, &white, picture.rgb.data(), 0, nullptr) == 0) {
    png.fail(path, kNoPicture);
  }
  return picture;
}

void write_png(const std::string& path, const Picture& picture) {
  PngImage png;
  png.image.width = static_cast<png_uint_32>(picture.width);
  png.image.height = static_cast<png_uint_32>(picture.height);
  if (png_image_write_to_file(&png.image, path.c_str(), 0, picture.rgb.data(), 0, nullptr) == 0) {
    png.fail(path, "the picture cannot be written");
  }
}

void draw_line(Picture& picture, Point from, Point to) {
  const float length = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
  const int steps = std::max(1, static_cast<int>(std::ceil(length)));
  for (int i = 0; i <= steps; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(steps);
    const long x = std::lround(from.x + part * (to.x - from.x));
    const long y = std::lround(from.y + part * (to.y - from.y));
    if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) continue;
    const auto at = static_cast<std::size_t>(y * picture.width + x) * 3;
    picture.rgb[at] = 255;
    picture.rgb[at + 1] = picture.rgb[at + 2] = 0;
  }
}

}  // namespace examples
