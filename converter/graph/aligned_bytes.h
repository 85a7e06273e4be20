// SPDX-License-Identifier: Apache-2.0
//
// Memory on the heap with the alignment that plans, arenas and packed weights ask for.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "intarsia/session.h"

namespace intarsia::converter {

/// Bytes that start at a multiple of kArenaAlignment and are exactly as many as asked for, so that
/// AddressSanitizer sees every access beyond; not initialised.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size = 0)
      : size_(size), data_(static_cast<std::byte*>(::operator new(size, kAlignment))) {}

  std::span<std::byte> span() const { return {data_.get(), size_}; }
  std::byte* data() const { return data_.get(); }

  /// The bytes without their size, for a pointer that other owners share.
  std::shared_ptr<std::byte> share() && { return std::move(data_); }

 private:
  static constexpr std::align_val_t kAlignment{kArenaAlignment};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
  };
  size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace intarsia::converter
