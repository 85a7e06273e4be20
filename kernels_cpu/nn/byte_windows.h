// SPDX-License-Identifier: Apache-2.0
//
// Convolution of bytes with constant weights, channels last, of 1 to 3 spatial axes, as products:
// for each group one of the windows, which are read where they lie, and the filters in panels
// (gemm/byte_panels.h). The bytes of an image are read once for each tap, and nothing is written
// but sums. Images with padding or signed bytes, and those whose runs end inside a group of four,
// are copied first, with their padding. Where groups have so few filters that one panel holds those
// of several, these groups may be joined to one, whose filters have no part in the channels of
// others: no more products than each group's alone, since a panel is multiplied whole.
#pragma once

#include "intarsia/per_thread.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/gemm/block_grid.h"
#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {

/// The most groups that divide all of them and whose filters fit in a panel; else 1.
int64_t groups_of_panel(const KernelContext& context);

/// How the bytes of a filter, [tap][channel], are cut into runs: those of a row of taps where its
/// pixels lie side by side and belong to one group, else those of a tap.
struct FilterRuns {
  int64_t channels = 0, taps = 1;  ///< Channels of all groups that are joined.
  int64_t together = 1;            ///< Taps of a run.

  FilterRuns(const KernelContext& context, int64_t joined);
  int64_t bytes() const { return (CheckedInt(together) * channels).value(); }
  CheckedInt quads() const { return CheckedInt(taps / together) * quads_of(bytes()); }
};

/// The windows of a node's image, and its filters.
class ByteWindows {
 public:
  /// `zero_points` as for ByteOperand; `joined`: groups that are taken as one.
  ByteWindows(const KernelContext& context, int zero_points, int64_t joined);

  int64_t groups() const { return shape_.groups; }
  /// Columns of a product: filters of a group.
  int64_t filters() const { return shape_.out_c / shape_.groups; }
  /// Rows of a product: pixels of the output.
  CheckedInt pixels() const {
    return CheckedInt(shape_.batch) * shape_.out_d * shape_.out_h * shape_.out_w;
  }
  int64_t quads() const { return runs_.all_quads(); }
  /// Bytes of the images that are read and written.
  int64_t pixel_bytes() const {
    return shape_.batch * (shape_.in_d * shape_.in_h * shape_.in_w * shape_.in_c +
                           shape_.out_d * shape_.out_h * shape_.out_w * shape_.out_c);
  }
  int64_t rows_step() const { return byte_rows_step(runs_, line(), isa_); }

  /// Whether the image is copied: for these weights and attributes, images of all extents are or
  /// none.
  bool copied() const { return copied_; }
  CheckedInt image_bytes() const;
  /// No less, whatever the weights are: smaller ones may reach over more of an image.
  CheckedInt most_image_bytes(const KernelContext& context) const;
  /// Before products: copies the image if need be, on all threads, and looks at the zero points.
  void prepare(const KernelContext& context, uint8_t* to);

  static constexpr int64_t kMostRows = 96;
  /// Sums of up to kMostRows pixels from `first` on, by so many panels of a group's filters.
  /// `sums` is for rows of whole panels; `sink` counts rows and panels from the first ones on.
  void multiply(int64_t group, int64_t first, int64_t rows, int64_t panel, int64_t panels,
                uint32_t* sums, const ByteSumsSink& sink) const;

 private:
  /// Windows that are the same distance apart, from the first pixel of a row on.
  int64_t line() const;
  void copy_rows(int64_t begin, int64_t end, uint8_t* to) const;
  void find(int64_t first, int64_t count, int64_t channel, const uint8_t** to) const;
  void sum(const uint8_t* const* windows, int64_t count, uint32_t* sums) const;
  /// The same as products by a filter of ones, which costs less where runs are short. `products`
  /// are sums of a panel, `pitch` apart, that are not needed any more.
  void sum_by_ones(const uint8_t* const* windows, int64_t count, uint32_t* products, int64_t pitch,
                   uint32_t* sums) const;
  static constexpr int64_t kMostOnes = 128;
  bool has_short_runs() const;

  ConvShape shape_;    // of the node
  ConvShape windows_;  // over the image that is read
  ByteOperand x_;
  int64_t run_bytes_;
  ByteRuns runs_;
  int zero_points_;
  bool copied_;
  bool has_zeros_ = false;  // other than 0, of the filters
  const uint8_t* image_;
  const uint32_t* panels_;
  Isa isa_;
};

/// Blocks of pixels and filters that threads share.
struct WindowBlocks {
  static constexpr int64_t kMostSums = 12 * 512;
  static constexpr int64_t kMostColumns = kMostSums / kLeastByteRowsStep;

  int64_t rows, panels;  ///< Of a block.
  int64_t of_rows, of_columns;
  /// Consecutive units walk along the filters, not along the pixels: a thread's pixels then are
  /// those of what comes before and next. Where filters are few enough to be read again.
  bool columns_first = false;

  WindowBlocks(const ByteWindows& windows, int64_t threads);

  /// Units of the same filters, which follow one another in pixels.
  struct Run {
    int64_t column, row;  ///< Of the first one; columns count through the groups.
    int64_t count;
  };
  /// That of unit `begin`, as far as `end`.
  Run run_of(int64_t begin, int64_t end) const {
    if (columns_first) return {begin % of_columns, begin / of_columns, 1};
    const int64_t column = begin / of_rows, row = begin % of_rows;
    return {column, row, std::min(end - begin, of_rows - row)};
  }

  /// Of a thread, for any number of threads.
  static CheckedInt sums_bytes(const ByteWindows& windows);
};

/// store_of(filter, count) gives a function for the sums of these filters of all groups:
/// store(sums, pixel), whose rows are pixels from that one on.
template <class StoreOf>
void for_window_sums(const KernelContext& context, ByteWindows& windows, const StoreOf& store_of) {
  const int64_t share = WindowBlocks::sums_bytes(windows).value();
  const std::span<std::byte> room = context.workspace();
  const auto of_sums = static_cast<size_t>(share * context.threads());
  windows.prepare(context, reinterpret_cast<uint8_t*>(room.data() + of_sums));
  const PerThread<uint32_t> memory(room.first(of_sums), context.threads());
  const WindowBlocks blocks(windows, context.threads());
  const int64_t pixels = windows.pixels().value(), filters = windows.filters();
  const int64_t units = windows.groups() * blocks.of_columns * blocks.of_rows;
  context.parallel_for(units, [&](int64_t begin, int64_t end, int thread) {
    uint32_t* sums = memory[thread];
    for (WindowBlocks::Run run; begin < end; begin += run.count) {
      run = blocks.run_of(begin, end);
      const int64_t group = run.column / blocks.of_columns;
      const int64_t panel = run.column % blocks.of_columns * blocks.panels, first = panel * kPanel;
      const int64_t panels = std::min(blocks.panels, panel_count(filters) - panel);
      struct Block {
        decltype(store_of(int64_t{}, int64_t{})) store;
        int64_t pixel;
      } block{store_of(group * filters + first, std::min(panels * kPanel, filters - first)), 0};
      const auto take = [](void* to, const ByteSums& some) {
        const auto& [store, pixel] = *static_cast<const Block*>(to);
        store(some, pixel);
      };
      for (int64_t row = run.row; row < run.row + run.count; ++row) {
        block.pixel = row * blocks.rows;
        const int64_t rows = std::min(blocks.rows, pixels - block.pixel);
        windows.multiply(group, block.pixel, rows, panel, panels, sums, {take, &block});
      }
    }
  });
}

void pack_byte_filters(const KernelContext& context, int zero_points, int64_t joined,
                       uint32_t* packed);

/// Bytes of workspace: the sums of all threads, and behind them the copy of an image.
inline int64_t window_workspace(const KernelContext& context, const ByteWindows& windows,
                                CheckedInt image_bytes) {
  return (WindowBlocks::sums_bytes(windows) * context.threads() + image_bytes).value();
}

/// What kernels of such weights say of them; kZeros as for ByteOperand. Those that join groups
/// serve nodes that have groups to join.
template <int kZeros, bool kJoins>
struct ByteFilters {
  static constexpr std::string_view kVariant = kJoins ? "joined" : "panels";
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr std::string_view packing = "panels of 16 filters in groups of four bytes";

  static int64_t joined(const KernelContext& context) {
    return kJoins ? groups_of_panel(context) : 1;
  }
  static ByteWindows windows_of(const KernelContext& context) {
    return {context, kZeros, joined(context)};
  }
  static bool serves(const KernelContext& context) { return context.input(0).rank <= 5; }
  static bool supports(const KernelContext& context) {
    return has_constant_filters(context, kZeros) && serves(context) &&
           (!kJoins || joined(context) > 1);
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input != 1) return 0;
    const int64_t filters = context.input(1).extents[0], of_one = joined(context);
    const int64_t groups = context.attributes<IntegerConvAttributes>().group / of_one;
    const CheckedInt quads = FilterRuns(context, of_one).quads();
    return (byte_panel_bytes(quads, filters / groups) * groups).value();
  }
  static void pack(const KernelContext& context, int, void* packed) {
    pack_byte_filters(context, kZeros, joined(context), static_cast<uint32_t*>(packed));
  }
  static int64_t workspace(const KernelContext& context) {
    const ByteWindows windows = windows_of(context);
    return window_workspace(context, windows, windows.copied() ? windows.image_bytes() : 0);
  }
  /// What `check` asks for besides the operands.
  static Status check_image(const KernelContext& context) {
    if (Status status = check_fast_image(context); !status) return status;
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }
};

/// For weights that are computed, whose extents may vary: as they are packed in each run, Joined
/// serves all, by the name of Panels, which does not join groups.
template <class Joined, class Panels>
struct OfAnyFilters : Joined {
  static constexpr KernelId id = Panels::id;

  static int64_t workspace(const KernelContext& context) {
    const ByteWindows windows = Joined::windows_of(context);
    return window_workspace(context, windows, windows.most_image_bytes(context));
  }
};

}  // namespace intarsia::cpu
