// SPDX-License-Identifier: Apache-2.0
//
// Runs a target on files: its corpus and what once broke it. No fuzzer needed, any compiler.
//
//     fuzz_plan [--allocations MOST] FILE|FOLDER...
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "test/fuzz/target.h"

namespace {

namespace fs = std::filesystem;

// What takes too long makes expressions and graphs again and again, all of which are allocated. A
// count says so however fast the machine is; twice what any input of the corpus takes.
int64_t most_allocations = 8'000'000;
std::atomic<int64_t> allocations{0};

bool replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  // A copy of the exact size, so that reading behind it is seen.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  allocations = 0;
  std::fprintf(stderr, "%s\n", path.c_str());  // first, so that a crash names its input
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  if (allocations <= most_allocations) return true;
  std::fprintf(stderr, "%s: took %lld allocations, at most %lld are allowed\n", path.c_str(),
               static_cast<long long>(allocations.load()),
               static_cast<long long>(most_allocations));
  return false;
}

}  // namespace

/// Called by the allocator of AddressSanitizer; with others nothing is counted.
extern "C" void __sanitizer_malloc_hook(const volatile void*, size_t) {  // NOLINT: its name
  allocations.fetch_add(1, std::memory_order_relaxed);
}

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  int first = 1;
  if (argc > 2 && std::string_view(argv[1]) == "--allocations") {
    most_allocations = std::atoll(argv[2]);
    first = 3;
  }
  for (int i = first; i < argc; ++i) {
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
