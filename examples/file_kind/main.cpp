// SPDX-License-Identifier: Apache-2.0
//
// Tells what kind of file each argument is, by content alone, with Magika. The model is part of
// this program; a session runs in memory that is known when the program is built.
//
//     file_kind FILE...
//
// Prints one line per file: kind, score, name. The kind is the model's first choice; the package's
// own program replaces it by "txt" or "unknown" where the score is low or the file very short.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>

#include "file_kind/features.h"
#include "file_model.h"
#include "intarsia/describe.h"
#include "labels.h"

namespace {

static_assert(file_kind::inputs::bytes::count == 2048);
static_assert(file_kind::outputs::target_label::count == std::size(kLabels));

alignas(file_kind::arena_alignment) std::byte arena[file_kind::arena_bytes];

int report(const intarsia::Diagnostic& diagnostic) {
  char text[512];
  intarsia::describe(diagnostic, file_kind::plan(), text, sizeof(text));
  std::fprintf(stderr, "file_kind: %s\n", text);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: file_kind FILE...\n", stderr);
    return 2;
  }
  intarsia::Diagnostic diagnostic;
  auto session = file_kind::open(arena, {}, &diagnostic);
  if (!session.ok()) return report(diagnostic);
  int result = 0;
  for (int i = 1; i < argc; ++i) {
    try {
      const examples::FileEnds ends = examples::read_ends(argv[i]);
      if (ends.begin.empty()) {
        std::printf("%-16s %8s  %s\n", "empty", "", argv[i]);
        continue;
      }
      examples::extract_features(ends, file_kind::inputs::bytes::of(*session));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "file_kind: %s\n", error.what());
      result = 1;
      continue;
    }
    if (!session->run()) return report(session->diagnostic());
    const auto scores = file_kind::outputs::target_label::of(*session);
    const auto best = std::max_element(scores.begin(), scores.end());
    std::printf("%-16s %.6f  %s\n", kLabels[best - scores.begin()], static_cast<double>(*best),
                argv[i]);
  }
  return result;
}
