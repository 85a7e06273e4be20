// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/random/draw.h"

#include "kernels_cpu/random/philox.h"

namespace intarsia::cpu {
namespace {

/// The words of counters [lowest, lowest + counters), which do not carry.
void fill(PhiloxCounter first, uint64_t key, int counters, uint32_t* to) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < counters; ++i) {
    PhiloxCounter counter = first;
    counter.words[0] += static_cast<uint32_t>(i);
    const PhiloxCounter made = philox(counter, key);
    for (int word = 0; word < 4; ++word) to[4 * i + word] = made.words[word];
  }
}

void convert(const uint32_t* coarse, int count, float* to) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < count; ++i) {
    to[i] = static_cast<float>(static_cast<int32_t>(coarse[i] >> 8)) * 0x1p-24f;
  }
}
/// Two exact halves of 53 bits: vectors convert no integers of 64.
void convert(const uint32_t* coarse, const uint32_t* fine, int count, double* to) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < count; ++i) {
    const auto upper = static_cast<double>(static_cast<int32_t>(coarse[i] >> 1));
    const auto lower =
        static_cast<double>(static_cast<int32_t>((coarse[i] & 1) << 21 | fine[i] >> 11));
    to[i] = upper * 0x1p-31 + lower * 0x1p-53;
  }
}

}  // namespace

void Numbers::words(uint32_t stream, int64_t first, int count, uint32_t* to) const {
  const auto counter = static_cast<uint64_t>(first) / 4;
  // A piece begins at a multiple of its length, so that the lowest word never carries.
  const PhiloxCounter lowest{
      {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32) | stream << 31,
       static_cast<uint32_t>(execution_), static_cast<uint32_t>(execution_ >> 32)}};
  const uint64_t key = key_;
  on_isa(isa_, [=] { fill(lowest, key, (count + 3) / 4, to); });
}

void Numbers::uniforms(int64_t first, int count, float* to) const {
  uint32_t coarse[kPiece];
  words(0, first, count, coarse);
  on_isa(isa_, [&] { convert(coarse, count, to); });
}

void Numbers::uniforms(int64_t first, int count, double* to) const {
  uint32_t coarse[kPiece], fine[kPiece];
  words(0, first, count, coarse);
  words(1, first, count, fine);
  on_isa(isa_, [&] { convert(coarse, fine, count, to); });
}

}  // namespace intarsia::cpu
