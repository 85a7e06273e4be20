// SPDX-License-Identifier: Apache-2.0
//
// Loops over strings, shared by the threads: those that read, and those that make new ones. An
// element takes tens of nanoseconds however few its operands' bytes are, so a few hundred are worth
// a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "intarsia/kernel.h"

namespace intarsia::cpu {

/// Calls `body(begin, end)` over [0, count).
template <class Body>
void for_strings(const KernelContext& context, int64_t count, const Body& body) {
  constexpr int64_t kGrain = 256;
  const auto share = [&](int64_t begin, int64_t end, int) {
    body(begin * kGrain, end * kGrain < count ? end * kGrain : count);
  };
  context.parallel_for((count + kGrain - 1) / kGrain, share, Share::kAlways);
}

/// Characters that the threads of a node write side by side, behind all strings that are there.
class StringRoom {
 public:
  explicit StringRoom(const KernelContext& context) : context_(context), pool_(context.strings()) {
    if (pool_ == nullptr) return;
    room_ = pool_->room();
    first_ = pool_->used();
  }

  /// Room for so many characters, at `at`; false, and `finish` will fail, where there is none. Of
  /// any thread.
  bool take(uint64_t bytes, StringRef& place, char*& at) {
    uint32_t taken = taken_.load();
    do {
      if (bytes > room_.size() - taken) {
        refused_.store(bytes < UINT32_MAX ? static_cast<uint32_t>(bytes) : UINT32_MAX);
        return false;
      }
    } while (!taken_.compare_exchange_weak(taken, taken + static_cast<uint32_t>(bytes)));
    place = {first_ + taken, static_cast<uint32_t>(bytes)};
    at = room_.data() + taken;
    return true;
  }

  /// Once all threads are done.
  Status finish() const {
    StringRef all;
    char* at = nullptr;
    const uint32_t taken = taken_.load(), refused = refused_.load();
    if (taken != 0) {
      if (Status s = context_.add_string(taken, all, at); !s) return s;
    }
    return refused == 0 ? Status() : context_.add_string(refused, all, at);  // which says why
  }

 private:
  const KernelContext& context_;
  StringPool* pool_;
  std::span<char> room_;
  uint32_t first_ = 0;
  std::atomic<uint32_t> taken_{0}, refused_{0};
};

/// Makes `count` strings: `prepare(first, batch)` looks at what those from `first` on are made of
/// and gives each a Made, whose `size()` is the bytes that its `write(char*)` writes. y may be what
/// `prepare` reads at the same index. The characters are the same for any number of threads; the
/// places where they lie are not. Fails with kTooManyCharacters; some strings are then unmade.
template <class Made, class Prepare>
Status make_strings(const KernelContext& context, int64_t count, StringRef* y,
                    const Prepare& prepare) {
  // Threads wait for each other where they take room: they do so for several strings.
  constexpr int64_t kBatch = 32;
  StringRoom room(context);
  for_strings(context, count, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kBatch) {
      Made made[kBatch];
      const std::span batch(made, static_cast<size_t>(end - first < kBatch ? end - first : kBatch));
      prepare(first, batch);
      uint64_t bytes = 0;
      for (const Made& one : batch) bytes += one.size();
      StringRef place;
      char* at = nullptr;
      if (!room.take(bytes, place, at)) return;
      StringRef* to = y + first;
      for (const Made& one : batch) {
        const auto size = static_cast<uint32_t>(one.size());
        *to++ = {size != 0 ? place.offset : 0, size};
        if (size != 0) one.write(at);
        place.offset += size;
        at += size;
      }
    }
  });
  return room.finish();
}

}  // namespace intarsia::cpu
