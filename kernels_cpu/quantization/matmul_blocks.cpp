// SPDX-License-Identifier: Apache-2.0
//
// MatMulBlocks: a product with weights that are codes of 2, 4 or 8 bits, block by block.
//
// A part of a row of weights becomes floats on the stack and meets that part of every row of A
// before the next one does: weights are read once, as the few bytes that they are. Sums are kept in
// as many lanes on every instruction set, so that they are the same bits.
#include <algorithm>

#include "core/kernel_list.h"
#include "core/operators/quantization/matmul_blocks.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kPart = 256;  // weights that are floats at a time; whole bytes of codes
constexpr int kLanes = 16;
constexpr int kRows = 4;  // of A that share a load of the weights

/// Codes [0, count) from `bytes` on as floats; up to a byte's worth more are written.
template <int kBits>
INTARSIA_INLINE void load_codes(const uint8_t* bytes, int64_t count, float* to) {
  constexpr int kEach = 8 / kBits;
  constexpr unsigned kMask = (1u << kBits) - 1;
  for (int64_t i = 0; i < (count + kEach - 1) / kEach; ++i) {
    for (int part = 0; part < kEach; ++part) {
      to[i * kEach + part] = static_cast<float>((bytes[i] >> (part * kBits)) & kMask);
    }
  }
}

/// y[r * distance] += the sum of a[r * stride + i] * w[i], for kCount rows r.
template <int kCount>
INTARSIA_INLINE void add_products(const float* a, int64_t stride, const float* w, int64_t count,
                                  float* y, int64_t distance) {
  float sums[kCount][kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int row = 0; row < kCount; ++row) {
      for (int lane = 0; lane < kLanes; ++lane) {
        sums[row][lane] += a[row * stride + i + lane] * w[i + lane];
      }
    }
  }
  for (int row = 0; row < kCount; ++row) {
    for (int lane = 0; i + lane < count; ++lane) {
      sums[row][lane] += a[row * stride + i + lane] * w[i + lane];
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) sums[row][lane] += sums[row][lane + half];
    }
    y[row * distance] += sums[row][0];
  }
}

template <class X>
struct MatMulBlocks {
  static constexpr KernelId id{"intarsia:MatMulBlocks", "", {kernel_type_of<X>}};
  static constexpr int kBits = element_bits(static_cast<DataType>(kernel_type_of<X>.code));

  static Status check(const KernelContext& context) {
    constexpr KernelType real = kernel_type_of<float>;
    return check_operands<ops::MatMulBlocks>(
        context, {.inputs = {real, kernel_type_of<X>, real, kernel_type_of<uint8_t>},
                  .required_inputs = 3,
                  .outputs = {real}});
  }

  static Status run(const KernelContext& context) {
    const TensorView &a = context.input(0), &codes = context.input(1), &zeros = context.input(3);
    const int64_t terms = a.extents[a.rank - 1], columns = codes.extents[0];
    if (context.output(0).count() == 0) return {};
    const int64_t rows = context.output(0).count() / columns;
    const int64_t block = context.attributes<MatMulBlocksAttributes>().block_size;
    const int64_t padded = codes.extents[1], blocks = padded / block;
    const auto* bytes = codes.as<const uint8_t>();
    const auto* scales = context.input(2).as<const float>();
    const uint8_t* zero = zeros.present() ? zeros.as<const uint8_t>() : nullptr;
    const auto* from = a.as<const float>();
    auto* y = context.output(0).as<float>();
    for_items(context, columns, terms * static_cast<int64_t>(sizeof(float)),
              [&](int64_t begin, int64_t end) {
                on_widest_isa(context.isa(), [&] {
                  for (int64_t n = begin; n < end; ++n) {
                    const Row row{bytes + n * padded * kBits / 8, scales + n * blocks,
                                  zero != nullptr ? zero + n * blocks : nullptr, block, terms};
                    multiply(row, from, rows, y + n, columns);
                  }
                });
              });
    return {};
  }

 private:
  struct Row {
    const uint8_t* codes;
    const float* scales;
    const uint8_t* zeros;
    int64_t block, terms;
  };

  /// One column of the result, whose elements are `distance` apart.
  INTARSIA_INLINE static void multiply(const Row& row, const float* a, int64_t rows, float* y,
                                       int64_t distance) {
    for (int64_t m = 0; m < rows; ++m) y[m * distance] = 0;
    float w[kPart];
    for (int64_t first = 0; first < row.terms; first += kPart) {
      const int64_t count = std::min(kPart, row.terms - first);
      load_codes<kBits>(row.codes + first * kBits / 8, count, w);
      for (int64_t begin = 0; begin < count;) {
        const int64_t b = (first + begin) / row.block;
        const int64_t end = std::min(count, (b + 1) * row.block - first);
        const float scale = row.scales[b];
        const float zero =
            row.zeros != nullptr ? static_cast<float>(row.zeros[b]) : float{1 << (kBits - 1)};
        for (int64_t i = begin; i < end; ++i) w[i] = (w[i] - zero) * scale;
        begin = end;
      }
      int64_t m = 0;
      for (; m + kRows <= rows; m += kRows) {
        add_products<kRows>(a + m * row.terms + first, row.terms, w, count, y + m * distance,
                            distance);
      }
      for (; m < rows; ++m) {
        add_products<1>(a + m * row.terms + first, row.terms, w, count, y + m * distance, distance);
      }
    }
  }
};

}  // namespace

extern const KernelList matmul_blocks_kernels;
constinit const KernelList matmul_blocks_kernels = kernel_list<
    Each<MatMulBlocks, Types<uint8_t, Small<DataType::kUint4>, Small<DataType::kUint2>>>>();

}  // namespace intarsia::cpu
