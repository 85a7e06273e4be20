// SPDX-License-Identifier: Apache-2.0
//
// Runs a target on files: its corpus and what once broke it. No fuzzer needed, any compiler.
//
//     fuzz_plan FILE|FOLDER...
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/fuzz/target.h"

namespace {

namespace fs = std::filesystem;

// Of the processor, whatever else the machine does: far beyond what any input of the corpus takes,
// even under sanitizers.
constexpr double kMostSeconds = 60;

bool replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  // A copy of the exact size, so that reading behind it is seen.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  const std::clock_t start = std::clock();
  std::fprintf(stderr, "%s\n", path.c_str());  // first, so that a crash names its input
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (seconds <= kMostSeconds) return true;
  std::fprintf(stderr, "%s: took %.1f s, at most %.0f s are allowed\n", path.c_str(), seconds,
               kMostSeconds);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  bool good = !files.empty();
  for (const fs::path& file : files) good = replay(file) && good;
  std::printf("%zu inputs replayed\n", files.size());
  return good ? 0 : 1;
}
