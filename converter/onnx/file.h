// SPDX-License-Identifier: Apache-2.0
//
// Reading whole files, mapped into memory, and writing them. Failures throw `converter::Error` with
// the path and the system's reason.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace intarsia::converter {

/// A regular file, mapped read-only for as long as the object lives.
class MappedFile {
 public:
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Writes a file as a whole; a file of that name is replaced.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace intarsia::converter
