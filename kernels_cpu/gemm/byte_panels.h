// SPDX-License-Identifier: Apache-2.0
//
// C = (A - its zero point) * (B - its zero points), A rows of unsigned bytes wherever they lie, B
// constant and packed: exact sums of 32 bits, which wrap around. For the windows of convolutions,
// and for products of a few rows that come again and again, where packing A or B each time
// (typed.h) would be much of the work.
//
// B is packed in panels of 16 columns, the same for every instruction set:
//
//     [panel][2 + quads][16]     32 bits each
//
// The first line of a panel are the sums of its columns without their zero points, the second one
// these zero points, and each other one four bytes of each column, signed, one behind the other.
// What is missing of the last four of a run, and of the last panel, is 0.
#pragma once

#include <algorithm>
#include <cstring>

#include "intarsia/checked_int.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/typed.h"

namespace intarsia::cpu {

/// Lines of a panel in front of its bytes.
inline constexpr int64_t kByteTerms = 2;

/// Groups of four that k bytes take.
constexpr int64_t quads_of(int64_t k) {
  return k / 4 + (k % 4 != 0 ? 1 : 0);
}
/// Words of a panel.
constexpr int64_t byte_panel_words(int64_t quads) {
  return (quads + kByteTerms) * kPanel;
}
/// Bytes that packing n columns takes, for weights that are not proved to be there yet.
inline CheckedInt byte_panel_bytes(CheckedInt quads, int64_t n) {
  return CheckedInt(panel_count(n)) * (quads + kByteTerms) * (kPanel * sizeof(uint32_t));
}

/// Writes the bytes of a column, run by run, into its quads, a line apart.
class ByteColumn {
 public:
  ByteColumn(uint32_t* first, uint8_t missing) : to_(first), missing_(missing) {}

  void repeat(uint8_t byte, int64_t count) {
    for (; count > 0; --count) put(byte);
  }
  /// Bytes `step` apart.
  void copy(const uint8_t* from, int64_t count, int64_t step) {
    for (; count > 0 && shift_ != 0; --count, from += step) put(*from);
    for (; step == 1 && count >= 4; count -= 4, from += 4, to_ += kPanel) {
      std::memcpy(to_, from, sizeof *to_);
    }
    for (; count >= 4; count -= 4, from += 4 * step, to_ += kPanel) {
      *to_ = quad_of(from[0], from[step], from[2 * step], from[3 * step]);
    }
    for (; count > 0; --count, from += step) put(*from);
  }
  void end_run() {
    while (shift_ != 0) put(missing_);
  }

  static constexpr uint32_t quad_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return a | b << 8 | c << 16 | d << 24;
  }

 private:
  void put(uint8_t byte) {
    quad_ |= uint32_t{byte} << shift_;
    shift_ += 8;
    if (shift_ < 32) return;
    *to_ = quad_;
    to_ += kPanel;
    quad_ = 0;
    shift_ = 0;
  }

  uint32_t* to_;
  uint32_t quad_ = 0;
  int shift_ = 0;
  uint8_t missing_;
};

/// Packs n columns of `runs` runs of `bytes` bytes each: write_run(column, run, to) writes those of
/// a run to a ByteColumn. `flip` is 0x80 where they are unsigned; zero_at(column) is a column's
/// zero point.
template <class WriteRun, class ZeroAt>
void pack_byte_panels(int64_t n, int64_t runs, int64_t bytes, uint8_t flip,
                      const WriteRun& write_run, const ZeroAt& zero_at, uint32_t* packed) {
  const int64_t words = byte_panel_words(runs * quads_of(bytes));
  const uint32_t missing = ByteColumn::quad_of(flip, flip, flip, flip);
  const auto number = [](uint32_t byte) {
    return static_cast<uint32_t>(static_cast<int8_t>(byte));
  };
  for (int64_t first = 0; first < n; first += kPanel, packed += words) {
    std::fill(packed, packed + words, missing);
    const int64_t columns = std::min<int64_t>(kPanel, n - first);
    for (int64_t run = 0; run < runs; ++run) {  // lines of a run stay in a cache
      uint32_t* lines = packed + (kByteTerms + run * quads_of(bytes)) * kPanel;
      for (int64_t column = 0; column < columns; ++column) {
        ByteColumn to(lines + column, flip);
        write_run(first + column, run, to);
        to.end_run();
      }
    }
    uint32_t sums[kPanel] = {};
    for (uint32_t* line = packed + kByteTerms * kPanel; line < packed + words; line += kPanel) {
      for (int64_t i = 0; i < kPanel; ++i) {
        const uint32_t quad = line[i] ^ missing;
        line[i] = quad;
        sums[i] += number(quad) + number(quad >> 8) + number(quad >> 16) + number(quad >> 24);
      }
    }
    const auto count = static_cast<uint32_t>(runs * bytes);
    for (int64_t i = 0; i < kPanel; ++i) {
      const uint32_t zero = i < columns ? number(zero_at(first + i) ^ flip) : 0;
      packed[i] = sums[i] - zero * count;
      packed[kPanel + i] = zero;
    }
  }
}

/// Where the bytes of a row lie: runs of `quads` times four, at counts[0] x counts[1] x counts[2]
/// places, which are steps[0], steps[1] and steps[2] bytes apart.
struct ByteRuns {
  ptrdiff_t quads;
  ptrdiff_t counts[3] = {1, 1, 1};
  ptrdiff_t steps[3] = {};

  constexpr ptrdiff_t all_quads() const { return counts[0] * counts[1] * counts[2] * quads; }
};

/// Sums of some rows and panels of a product.
struct ByteSums {
  const uint32_t* sums;  ///< Rows of whole panels, `pitch` apart.
  ptrdiff_t pitch;
  ptrdiff_t row, rows, panel, panels;
};

/// What takes sums as they are made, from where they lie until the next ones are: in a cache.
struct ByteSumsSink {
  void (*take)(void* context, const ByteSums& sums) = nullptr;
  void* context = nullptr;
};

struct ByteProduct {
  ptrdiff_t rows;
  ptrdiff_t panels;
  /// The first byte of each row. All quads are read; where B has no byte, any may stand.
  const uint8_t* const* a;
  ByteRuns runs;
  const uint32_t* a_sums;  ///< Of the bytes of each row; null where the zero points of B are 0.
  uint32_t a_zero;
  const uint32_t* b;
  uint32_t* c;  ///< Rows of whole panels. Where a sink takes them, there must be room as well.
  ptrdiff_t c_pitch;
  ByteSumsSink sink = {};
  bool streams = false;  ///< B comes from memory: its next lines are fetched meanwhile.
};

void multiply_bytes(const ByteProduct& product, Isa isa);

/// Rows of a tile of AMX, and quads of a row.
inline constexpr ptrdiff_t kTileRows = 16, kTileQuads = 16;
/// Lines of fewer rows need not be whole in a block.
inline constexpr ptrdiff_t kShortLine = 6;

/// How many quads of a row the dot products multiply in the time that tiles of AMX save, 0 or less
/// if they save none: a step of four tiles takes as long as two quads, which may be 16, and what
/// comes before and after the steps as long as five.
constexpr ptrdiff_t quads_saved_by_tiles(const ByteRuns& runs) {
  if (runs.quads <= 0) return 0;
  const ptrdiff_t steps =
      runs.all_quads() / runs.quads * ((runs.quads + kTileQuads - 1) / kTileQuads);
  return runs.all_quads() - 2 * steps - 5;
}
/// Whether rows of such runs are multiplied by tiles of AMX, if they are not few.
constexpr bool has_byte_tiles(const ByteRuns& runs, Isa isa) {
  return compiled_isa(isa) == Isa::kAmx && quads_saved_by_tiles(runs) > 0;
}

/// The least that byte_rows_step gives.
inline constexpr int64_t kLeastByteRowsStep = 12;
/// A multiple of the rows that are best multiplied at once, if lines of so many are the same
/// distance apart: tiles are read where they lie if they end where lines do.
constexpr int64_t byte_rows_step(const ByteRuns& runs, int64_t line, Isa isa) {
  if (!has_byte_tiles(runs, isa)) return kLeastByteRowsStep;
  constexpr int64_t kPair = 2 * kTileRows;
  if (line < kShortLine || line > 3 * kPair) return kPair;
  const int64_t tiles = (line + kTileRows - 1) / kTileRows;
  return tiles % 2 != 0 && line <= kPair ? 2 * line : line;  // 6 * 2 at least
}

/// The same for one instruction set, with bytes taken in groups S; defined in typed_<isa>.cpp.
template <Isa I, class S>
struct BytePanels {
  static void multiply(const ByteProduct& product);
};

}  // namespace intarsia::cpu
