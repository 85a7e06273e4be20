// SPDX-License-Identifier: Apache-2.0
//
// From the map that the detector makes, the probability of text at each pixel, to rectangles around
// lines of text. The map shows the core of each line: "Real-time Scene Text Detection with
// Differentiable Binarization" (Liao et al., 2020), section 3.4.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "read_text/picture.h"

namespace examples {

/// A rectangle, perhaps turned: corners at the start and end of the line's top, then at the end and
/// start of its bottom.
using TextBox = std::array<Point, 4>;

/// Boxes in the order in which they are read, in pixels of the map, `height` rows of `width`
/// probabilities.
std::vector<TextBox> text_boxes(std::span<const float> map, int width, int height);

}  // namespace examples
