// SPDX-License-Identifier: Apache-2.0
//
// MurmurHash3 of com.microsoft: y[i] is the hash of the bytes of x[i], of a string those of its
// characters, by MurmurHash3_x86_32: words of four bytes, the least significant first, are mixed
// into the state, then the rest, then the number of bytes. The algorithm is in the public domain
// (Austin Appleby). https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "core/operators/strings/murmur_hash.h"

#include <bit>

#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/strings/string_loops.h"

namespace intarsia::cpu {
namespace {

constexpr uint32_t mixed(uint32_t word) {
  return std::rotl(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

uint32_t murmur_hash(const char* bytes, size_t count, uint32_t seed) {
  const auto byte = [bytes](size_t i) { return uint32_t{static_cast<uint8_t>(bytes[i])}; };
  uint32_t hash = seed;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const uint32_t word = byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24;
    hash = std::rotl(hash ^ mixed(word), 13) * 5 + 0xe6546b64u;
  }
  uint32_t rest = 0;
  for (size_t k = count; k > i; --k) rest = rest << 8 | byte(k - 1);
  hash ^= mixed(rest);  // 0 where nothing is left
  hash ^= static_cast<uint32_t>(count);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

template <class T>
struct MurmurHash3 {
  static constexpr KernelId id{"com.microsoft:MurmurHash3", "", {data_type_of<T>}};
  static Status check(const KernelContext& context) {
    if (Status s = check_attributes<MurmurHash3Attributes>(context); !s) return s;
    const bool positive = context.attributes<MurmurHash3Attributes>().positive != 0;
    const DataType hashes = positive ? DataType::kUint32 : DataType::kInt32;
    return check_operands<ops::MurmurHash3>(context,
                                            {.inputs = {data_type_of<T>}, .outputs = {hashes}});
  }
  static Status run(const KernelContext& context) {
    const auto seed = static_cast<uint32_t>(context.attributes<MurmurHash3Attributes>().seed);
    const auto* x = context.input(0).as<const T>();
    auto* y = context.output(0).as<uint32_t>();
    const int64_t count = context.output(0).count();
    if constexpr (std::is_same_v<T, StringRef>) {
      for_strings(context, count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const std::string_view text = context.string(x[i]);
          y[i] = murmur_hash(text.data(), text.size(), seed);
        }
      });
    } else {
      for_elements(context, count, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          y[i] = murmur_hash(reinterpret_cast<const char*>(x + i), sizeof(T), seed);
        }
      });
    }
    return {};
  }
};

using HashedTypes = Types<StringRef, int32_t, uint32_t, int64_t, uint64_t, float, double>;

}  // namespace

extern const KernelList murmur_hash_kernels;
constinit const KernelList murmur_hash_kernels = kernel_list<Each<MurmurHash3, HashedTypes>>();

}  // namespace intarsia::cpu
