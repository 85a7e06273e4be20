// SPDX-License-Identifier: Apache-2.0
//
// MatMulBlocks with constant weights, whose pieces become panels of floats by shifts and masks
// (block_product.h). How the weights lie: block_weights.h.
#include "core/kernel_list.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/quantization/block_product.h"
#include "kernels_cpu/quantization/block_weights.h"

namespace intarsia::cpu {
namespace {

// Rows that are multiplied one by one, without floats in between, and panels that they meet at
// once.
constexpr int64_t kFewRows = 2;
constexpr int64_t kRowPanels = 4;

/// to[panel][i][lane] = element(16 * panel + lane, i), for `count` i; 0 beyond the last row.
template <class T, class Of>
void pack_lanes(int64_t rows, int64_t count, T* to, const Of& element) {
  for (int64_t row = 0; row < panel_count(rows) * kPanel; ++row) {
    T* lane = to + row / kPanel * kPanel * count + row % kPanel;
    for (int64_t i = 0; i < count; ++i) lane[i * kPanel] = row < rows ? element(row, i) : T{};
  }
}

template <class X>
struct MatMulBlocksPacked {
  static constexpr KernelId id{"intarsia:MatMulBlocks", "packed", {kernel_type_of<X>}};
  static constexpr int kBits = element_bits(static_cast<DataType>(kernel_type_of<X>.code));
  static constexpr int64_t kEach = 32 / kBits;  // codes of a column in a line
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr std::string_view packing = "panels of 16 columns";

  static bool supports(const KernelContext& context) {
    for (int input = 1; input < 4; ++input) {
      const TensorView& constant = context.input(input);
      if (!constant.present() && input == 3) continue;
      if (constant.data == nullptr || constant.count() == 0) return false;
    }
    return true;
  }
  /// Elements of a packed operand.
  static CheckedInt packed_count(const KernelContext& context, int input) {
    const TensorView& operand = context.input(input);
    const int64_t of_row = input == 1 ? operand.extents[1] / kEach : operand.extents[1];
    return CheckedInt(panel_count(operand.extents[0])) * kPanel * of_row;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input == 0 || !context.input(input).present()) return 0;
    return (packed_count(context, input) * (input == 3 ? 1 : 4)).value();
  }
  static void pack(const KernelContext& context, int input, void* packed) {
    const TensorView& operand = context.input(input);
    const int64_t rows = operand.extents[0], count = operand.extents[1];
    if (input == 1) {
      const auto* bytes = operand.as<const uint8_t>();
      const int64_t words = count / kEach;
      pack_lanes(rows, words, static_cast<uint32_t*>(packed), [=](int64_t row, int64_t i) {
        const uint8_t* at = bytes + (row * words + i) * 4;
        return uint32_t{at[0]} | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16 |
               uint32_t{at[3]} << 24;
      });
    } else if (input == 2) {
      const auto* from = operand.as<const float>();
      pack_lanes(rows, count, static_cast<float*>(packed),
                 [=](int64_t row, int64_t i) { return from[row * count + i]; });
    } else {
      const auto* from = operand.as<const uint8_t>();
      pack_lanes(rows, count, static_cast<uint8_t*>(packed),
                 [=](int64_t row, int64_t i) { return from[row * count + i]; });
    }
  }

  static int64_t workspace(const KernelContext& context) {
    return BlockProduct::workspace(context);
  }

  static Status check(const KernelContext& context) {
    Status status = BlockProduct::check<X>(context);
    for (int input = 1; status && input < 4; ++input) {
      if (!context.input(input).present()) continue;
      status = check_capacity(context, input, packed_bytes(context, input));
    }
    return status ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    const BlockProduct product(context);
    const int64_t columns = product.columns, terms = product.terms;
    const Blocks weights(context, terms);
    if (product.rows <= kFewRows) {
      const auto* a = context.input(0).as<const float>();
      const int64_t units = (panel_count(columns) + kRowPanels - 1) / kRowPanels;
      context.parallel_for(units * product.rows, [&](int64_t begin, int64_t end, int) {
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t row = unit / units, panel = unit % units * kRowPanels;
          multiply_few(context.isa(), weights, a + row * terms, panel, columns,
                       y.as<float>() + row * columns);
        }
      });
      return {};
    }
    product.run(
        context, [&](int64_t column, int64_t count, int64_t first, int64_t depth, float* piece) {
          on_vectors(context.isa(), [&](auto bytes) {
            using V = PanelVectors<bytes>;
            const int64_t from = column / V::kWidth;
            for (int64_t v = 0; v < panel_count(count) * V::kParts; ++v) {
              unpack<V, kBits>(weights, from + v, first, depth,
                               piece + v / V::kParts * depth * kPanel + v % V::kParts * V::kWidth);
            }
          });
        });
    return {};
  }

 private:
  /// kRowPanels panels, or what is left of them.
  static void multiply_few(Isa isa, const Blocks& weights, const float* a, int64_t panel,
                           int64_t columns, float* y) {
    constexpr int kVectors = 4;
    float sums[kRowPanels * kPanel];
    const int64_t first = panel * kPanel, left = std::min(columns - first, kRowPanels * kPanel);
    on_vectors(isa, [&](auto bytes) {
      using V = PanelVectors<bytes>;
      const int64_t begin = panel * V::kParts, count = panel_count(left) * V::kParts;
      int64_t v = 0;
      for (; v + kVectors <= count; v += kVectors) {
        multiply_row<V, kBits, kVectors>(weights, a, begin + v, sums + v * V::kWidth);
      }
      for (; v < count; ++v) {
        multiply_row<V, kBits, 1>(weights, a, begin + v, sums + v * V::kWidth);
      }
    });
    std::copy(sums, sums + left, y + first);
  }
};

}  // namespace

extern const KernelList matmul_blocks_packed_kernels;
constinit const KernelList matmul_blocks_packed_kernels = kernel_list<
    Each<MatMulBlocksPacked, Types<uint8_t, Small<DataType::kUint4>, Small<DataType::kUint2>>>>();

}  // namespace intarsia::cpu
