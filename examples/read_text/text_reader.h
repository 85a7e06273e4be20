// SPDX-License-Identifier: Apache-2.0
//
// Finds lines of text in pictures, and reads them: two models of PP-OCRv4 that are two entry points
// of one plan, which run in turn in one arena.
#pragma once

#include <string>
#include <vector>

#include "intarsia/session.h"
#include "read_text/text_boxes.h"

namespace examples {

struct TextLine {
  TextBox box;       ///< In pixels of the picture.
  std::string text;  ///< UTF-8.
  float score = 0;   ///< Mean probability of its characters.
};

/// What a picture took.
struct ReadingCosts {
  double find_ms = 0, read_ms = 0;  ///< Of the models alone.
  long heap_calls = 0;              ///< Of the models.
};

/// Pictures of any size; larger ones than the detector's input are made smaller for it, lines are
/// read from the picture as it is, turned by up to 45 degrees or running downwards, not upside
/// down. The recogniser knows Chinese and English. Errors of the models are std::runtime_error.
class TextReader {
 public:
  TextReader();

  std::vector<TextLine> read(const Picture& picture);
  const ReadingCosts& costs() const { return costs_; }
  std::size_t arena_bytes() const;

 private:
  std::vector<TextBox> find(const Picture& picture);
  TextLine read_line(const Picture& picture, const TextBox& box);
  void run(int entry, double& milliseconds);

  intarsia::Session session_;
  ReadingCosts costs_;
};

}  // namespace examples
