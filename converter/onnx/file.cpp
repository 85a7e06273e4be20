// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "converter/graph/error.h"

namespace intarsia::converter {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw Error("cannot read " + path.string() + ": " + reason);
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK a named pipe would wait for a writer before it could be refused.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) fail(path, std::strerror(errno));
  struct stat information {};
  if (::fstat(file.number, &information) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(information.st_mode)) fail(path, "it is not a regular file");
  std::shared_ptr<MappedFile> result(new MappedFile);
  result->size_ = static_cast<size_t>(information.st_size);
  if (result->size_ == 0) return result;
  void* data = ::mmap(nullptr, result->size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED) fail(path, std::strerror(errno));
  result->data_ = static_cast<const std::byte*>(data);
  return result;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error("cannot write " + path.string() + ": " + std::strerror(errno));
}

}  // namespace intarsia::converter
