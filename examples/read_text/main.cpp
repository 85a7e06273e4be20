// SPDX-License-Identifier: Apache-2.0
//
// Reads the text in a picture with PP-OCRv4: one model finds lines, another reads each of them.
// Both are part of this program, as one plan; they run in turn in one arena, which is known when
// the program is built.
//
//     read_text PICTURE.png [BOXES.png]
//
// Prints a line for each line of text: how sure it is, and the text. Writes the picture with a box
// around each to BOXES.png.
#include <cstdio>
#include <exception>

#include "read_text/text_reader.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: read_text PICTURE.png [BOXES.png]\n", stderr);
    return 2;
  }
  try {
    examples::Picture picture = examples::read_png(argv[1]);
    examples::TextReader reader;
    const auto lines = reader.read(picture);
    for (const examples::TextLine& line : lines) {
      std::printf("%.3f  %s\n", static_cast<double>(line.score), line.text.c_str());
    }
    const examples::ReadingCosts& costs = reader.costs();
    std::printf(
        "%zu lines in %d by %d pixels: found in %.1f ms, read in %.1f ms; arena %zu bytes, "
        "heap calls %ld\n",
        lines.size(), picture.width, picture.height, costs.find_ms, costs.read_ms,
        reader.arena_bytes(), costs.heap_calls);
    if (argc == 2) return 0;
    for (const examples::TextLine& line : lines) {
      for (std::size_t i = 0; i < line.box.size(); ++i) {
        examples::draw_line(picture, line.box[i], line.box[(i + 1) % line.box.size()]);
      }
    }
    examples::write_png(argv[2], picture);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "read_text: %s\n", error.what());
    return 1;
  }
  return 0;
}
