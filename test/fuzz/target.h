// SPDX-License-Identifier: Apache-2.0
//
// What every program of this folder is: a function of bytes that must return, whatever they are.
//
// Linked with libFuzzer (INTARSIA_FUZZ) it is given inputs that reach new code; linked with
// replay_main.cpp it is given files. A violated promise aborts; memory errors, undefined behaviour,
// leaks, time and memory beyond the limits are seen by the sanitizers and by libFuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace intarsia::fuzz {

/// Aborts with a message unless `condition` holds.
inline void require(bool condition, const char* promise) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// Bytes that a target draws numbers from; zeros after the last.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t next() { return position_ < size_ ? data_[position_++] : 0; }
  /// A number in [0, limit). REQUIRES: limit > 0.
  uint32_t below(uint32_t limit) {
    uint32_t number = next();
    number = number << 8 | next();
    return number % limit;
  }
  bool empty() const { return position_ >= size_; }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t position_ = 0;
};

}  // namespace intarsia::fuzz
