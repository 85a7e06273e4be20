// SPDX-License-Identifier: Apache-2.0
//
// `StringPool`: where the characters of strings lie.
//
// An element of a tensor of strings is a StringRef: an offset and a length, in bytes. Characters
// are bytes of any value, zeros among them; ONNX means UTF-8. They lie in one of two ranges: those
// of the model's constants in the plan, where nothing writes, and those of inputs and results in
// the arena, filled from the front by what the program adds (`Session::add_string`) and then by the
// nodes of a run. Strings are never changed or taken away one by one; each run begins again behind
// its inputs.
//
// Errors: reading a StringRef that lies in neither range, which only a damaged plan or a program's
// own mistake can make, gives the empty string. Thread-safety: any number of threads may read; one
// may add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "intarsia/types.h"

namespace intarsia {

class StringPool {
 public:
  /// Set in the offset of a constant string.
  static constexpr uint32_t kConstant = uint32_t{1} << 31;
  /// Most bytes of either range.
  static constexpr uint32_t kMostBytes = kConstant - 1;

  StringPool() = default;
  /// REQUIRES: neither range exceeds kMostBytes.
  StringPool(std::span<const char> constants, std::span<char> characters)
      : constants_(constants.data()),
        characters_(characters.data()),
        constant_bytes_(static_cast<uint32_t>(constants.size())),
        bytes_(static_cast<uint32_t>(characters.size())),
        end_(bytes_) {}

  /// The characters of a string: in place, valid until the run after the one that made it begins.
  std::string_view operator[](StringRef string) const {
    const bool constant = (string.offset & kConstant) != 0;
    const uint32_t offset = string.offset & ~kConstant;
    const uint32_t bytes = constant ? constant_bytes_ : bytes_;
    if (offset > bytes || string.length > bytes - offset) return {};
    return {(constant ? constants_ : characters_) + offset, string.length};
  }

  /// The same for what a run reads: "" for characters that are still to be written. Memory that
  /// nobody wrote may hold any reference, and what it names must not change while a kernel reads
  /// it.
  std::string_view written(StringRef string) const {
    const std::string_view text = (*this)[string];
    const bool free = string.offset < end_ && string.offset + text.size() > used_;
    return free ? std::string_view() : text;
  }

  /// Room for a string of `length` bytes, which the caller writes to `at`. False, and nothing is
  /// taken, where there is none.
  bool add(size_t length, StringRef& string, char*& at) {
    if (length > end_ - used_) return false;
    string = {length != 0 ? used_ : 0, static_cast<uint32_t>(length)};
    at = characters_ + used_;
    used_ += static_cast<uint32_t>(length);
    return true;
  }
  /// The same for characters that are there already, in the pool or outside.
  bool add(std::string_view text, StringRef& string) {
    char* at = nullptr;
    if (!add(text.size(), string, at)) return false;
    if (!text.empty()) std::memmove(at, text.data(), text.size());
    return true;
  }

  /// Where the next strings go, whose first offset is `used()`. Until `add` takes it, what names a
  /// part of it reads as "" (`written`): so several threads may fill it while they read.
  std::span<char> room() { return {characters_ + used_, end_ - used_}; }

  /// Bytes of the second range in front of the next string, and those that it may not pass.
  uint32_t used() const { return used_; }
  uint32_t end() const { return end_; }
  /// The next strings lie in [begin, end) of the second range. REQUIRES: a part of it.
  void use(uint32_t begin, uint32_t end) {
    used_ = begin;
    end_ = end;
  }

 private:
  const char* constants_ = nullptr;
  char* characters_ = nullptr;
  uint32_t constant_bytes_ = 0;
  uint32_t bytes_ = 0;
  uint32_t used_ = 0;
  uint32_t end_ = 0;
};

}  // namespace intarsia
