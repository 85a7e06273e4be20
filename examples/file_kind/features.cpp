// SPDX-License-Identifier: Apache-2.0
#include "file_kind/features.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace examples {
namespace {

constexpr size_t kHalf = 1024;
constexpr int32_t kPadding = 256;

bool is_space(uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

}  // namespace

FileEnds read_ends(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> begin(kBlock), end(kBlock);
  const auto read = [&file](std::vector<uint8_t>& bytes) {
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<size_t>(file.gcount()));
  };
  read(begin);
  if (file.bad() || !file.is_open()) throw std::runtime_error(path + ": cannot be read");
  if (begin.size() < kBlock) return {begin, begin};
  file.seekg(-static_cast<std::streamoff>(kBlock), std::ios::end);
  read(end);
  if (!file) throw std::runtime_error(path + ": cannot be read to its end");
  return {begin, end};
}

void extract_features(const FileEnds& ends, std::span<int32_t> features) {
  std::fill(features.begin(), features.end(), kPadding);
  const auto first = std::find_if_not(ends.begin.begin(), ends.begin.end(), is_space);
  const auto begin_count = std::min<size_t>(kHalf, static_cast<size_t>(ends.begin.end() - first));
  std::copy_n(first, begin_count, features.begin());
  const auto last = std::find_if_not(ends.end.rbegin(), ends.end.rend(), is_space);
  const auto end_count = std::min<size_t>(kHalf, static_cast<size_t>(ends.end.rend() - last));
  std::copy_n(last, end_count, features.rbegin());
}

}  // namespace examples
