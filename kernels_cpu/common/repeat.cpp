// SPDX-License-Identifier: Apache-2.0
//
// See repeat.h. Few repetitions have loops of their own, which become shuffles of vectors.
#include "kernels_cpu/common/repeat.h"

#include <cstring>

#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <int64_t Times, class E>
void repeat_times(E* to, const E* from, int64_t count) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < Times; ++k) to[i * Times + k] = from[i];
  }
}

template <int Bits>
void repeat(void* to, const void* from, int64_t count, int64_t times) {
  using E = typename Width<Bits>::Element;
  E* out = static_cast<E*>(to);
  const E* in = static_cast<const E*>(from);
  if (times == 2) return repeat_times<2>(out, in, count);
  if (times == 3) return repeat_times<3>(out, in, count);
  if (times == 4) return repeat_times<4>(out, in, count);
  int64_t i = 0;
  if constexpr (INTARSIA_HAS_VECTORS && sizeof(E) < 16) {
    // Whole vectors: what they write beyond the places of an element is written again after it.
    constexpr int64_t kLanes = 16 / sizeof(E);
    typedef E Vector __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
    const int64_t written = (times + kLanes - 1) / kLanes * kLanes;
    const int64_t most = times > 4 && times <= 8 * kLanes ? count * times : 0;
    for (int64_t room = most; room >= written && room > 0; room -= times, ++i, out += times) {
      const Vector value = in[i] - Vector{};
      for (int64_t k = 0; k < times; k += kLanes) std::memcpy(out + k, &value, sizeof value);
    }
  }
  for (; i < count; ++i, out += times) {
    const E value = in[i];
    INTARSIA_INDEPENDENT
    for (int64_t k = 0; k < times; ++k) out[k] = value;
  }
}

}  // namespace

void repeat_each(void* to, const void* from, int64_t count, int64_t times, size_t element_bytes) {
  if (count <= 0) return;
  if (times == 1) {
    std::memmove(to, from, static_cast<size_t>(count) * element_bytes);
    return;
  }
  switch (element_bytes) {
    case 1:
      return repeat<8>(to, from, count, times);
    case 2:
      return repeat<16>(to, from, count, times);
    case 4:
      return repeat<32>(to, from, count, times);
    case 8:
      return repeat<64>(to, from, count, times);
    default:
      return repeat<128>(to, from, count, times);
  }
}

}  // namespace intarsia::cpu
