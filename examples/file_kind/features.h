// SPDX-License-Identifier: Apache-2.0
//
// What Magika's model reads of a file: 2,048 numbers. The first 1,024 bytes behind leading white
// space, and the last 1,024 before trailing white space, each searched in a block of 4,096 bytes.
// Where there are fewer, 256 fills up: behind the first half, in front of the second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

inline constexpr size_t kBlock = 4096;

/// The first and the last block of a file; they overlap in short files.
struct FileEnds {
  std::vector<uint8_t> begin, end;
};

/// Throws std::runtime_error naming the file.
FileEnds read_ends(const std::string& path);

/// REQUIRES: features has 2,048 elements. Uses no heap.
void extract_features(const FileEnds& ends, std::span<int32_t> features);

}  // namespace examples
