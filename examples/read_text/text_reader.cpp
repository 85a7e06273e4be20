// SPDX-License-Identifier: Apache-2.0
#include "read_text/text_reader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "characters.h"
#include "common/heap_calls.h"
#include "intarsia/describe.h"
#include "read_text/sample.h"
#include "text_models.h"

namespace examples {
namespace {

namespace detect = text::detect;
namespace recognize = text::recognize;
using Map = detect::outputs::sigmoid_0_tmp_0;
using Scores = recognize::outputs::softmax_11_tmp_0;

constexpr int kMostSide = detect::inputs::x::extents[3];
constexpr int kSideStep = 32;  // the detector halves its input five times
constexpr int kLineHeight = recognize::inputs::x::extents[2];
constexpr int kMostWidth = recognize::inputs::x::extents[3];
constexpr int kLeastWidth = 320;  // of the lines that the recogniser has learnt from
constexpr float kLeastScore = 0.5f;

// Class 0 is the gap between characters.
static_assert(Scores::extents[2] == std::size(kCharacters));

alignas(text::arena_alignment) std::byte arena[text::arena_bytes];

[[noreturn]] void fail(const intarsia::Diagnostic& diagnostic) {
  char message[512];
  intarsia::describe(diagnostic, text::plan(), message, sizeof message);
  throw std::runtime_error(message);
}

intarsia::Session open_session() {
  intarsia::Diagnostic diagnostic;
  auto session = text::open(arena, {}, &diagnostic);
  if (!session.ok()) fail(diagnostic);
  return std::move(session).value();
}

/// The side of the detector's input for one of `side` pixels.
int detector_side(int side, float scale) {
  const int steps = static_cast<int>(std::lround(static_cast<float>(side) * scale / kSideStep));
  return std::clamp(steps, 1, kMostSide / kSideStep) * kSideStep;
}

/// A pixel as both models want it: blue, green and red from -1 to 1, in planes.
void store_pixel(std::span<float> planes, std::size_t at, const Color& color) {
  const std::size_t plane = planes.size() / 3;
  for (std::size_t c = 0; c < 3; ++c) planes[c * plane + at] = color[2 - c] / 127.5f - 1;
}

float length(Point a, Point b) {
  return std::hypot(b.x - a.x, b.y - a.y);
}

}  // namespace

TextReader::TextReader() : session_(open_session()) {}

std::size_t TextReader::arena_bytes() const {
  return text::arena_bytes;
}

void TextReader::run(int entry, double& milliseconds) {
  const long calls = heap_calls();
  const auto start = std::chrono::steady_clock::now();
  if (!session_.run(entry)) fail(session_.diagnostic());
  const auto time = std::chrono::steady_clock::now() - start;
  milliseconds += std::chrono::duration<double, std::milli>(time).count();
  costs_.heap_calls += heap_calls() - calls;
}

std::vector<TextBox> TextReader::find(const Picture& picture) {
  const int longest = std::max(picture.width, picture.height);
  const float scale = std::min(1.0f, static_cast<float>(kMostSide) / static_cast<float>(longest));
  const int width = detector_side(picture.width, scale);
  const int height = detector_side(picture.height, scale);
  if (!detect::inputs::x::resize(session_, {1, 3, height, width})) fail(session_.diagnostic());
  const std::span<float> planes = detect::inputs::x::of(session_);
  const float right = static_cast<float>(picture.width) - 0.5f;
  const float bottom = static_cast<float>(picture.height) - 0.5f;
  const TextBox all{Point{-0.5f, -0.5f}, {right, -0.5f}, {right, bottom}, {-0.5f, bottom}};
  std::size_t at = 0;
  sample(picture, all, width, height,
         [&](const Color& color, int, int) { store_pixel(planes, at++, color); });
  run(detect::entry, costs_.find_ms);
  std::vector<TextBox> boxes = text_boxes(Map::of(session_), width, height);
  for (TextBox& box : boxes) {
    for (Point& corner : box) {
      corner.x *= static_cast<float>(picture.width) / static_cast<float>(width);
      corner.y *= static_cast<float>(picture.height) / static_cast<float>(height);
    }
  }
  return boxes;
}

TextLine TextReader::read_line(const Picture& picture, const TextBox& box) {
  const float ratio = length(box[0], box[1]) / std::max(1.0f, length(box[0], box[3]));
  const int width = std::clamp(static_cast<int>(std::ceil(ratio * kLineHeight)), 1, kMostWidth);
  const int columns = std::max(width, kLeastWidth);
  if (!recognize::inputs::x::resize(session_, {1, 3, kLineHeight, columns})) {
    fail(session_.diagnostic());
  }
  const std::span<float> planes = recognize::inputs::x::of(session_);
  std::ranges::fill(planes, 0.0f);
  sample(picture, box, width, kLineHeight, [&](const Color& color, int x, int y) {
    store_pixel(planes, static_cast<std::size_t>(y * columns + x), color);
  });
  run(recognize::entry, costs_.read_ms);

  // Of each column the likeliest character; repeated ones are one, gaps none.
  TextLine line{box, "", 0};
  const auto scores = Scores::of(session_);
  std::size_t before = 0, count = 0;
  for (auto from = scores.begin(); from != scores.end(); from += std::size(kCharacters)) {
    const auto best = std::max_element(from, from + std::size(kCharacters));
    const auto character = static_cast<std::size_t>(best - from);
    if (character != before && character != 0) {
      line.text += kCharacters[character];
      line.score += *best;
      ++count;
    }
    before = character;
  }
  if (count > 0) line.score /= static_cast<float>(count);
  return line;
}

std::vector<TextLine> TextReader::read(const Picture& picture) {
  costs_ = {};
  std::vector<TextLine> lines;
  for (const TextBox& box : find(picture)) {
    TextLine line = read_line(picture, box);
    if (!line.text.empty() && line.score >= kLeastScore) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace examples
