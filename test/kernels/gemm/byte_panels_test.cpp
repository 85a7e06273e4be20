// SPDX-License-Identifier: Apache-2.0
//
// Products with packed bytes (gemm/byte_panels.h) against naive loops, exactly, for every
// instruction set of the machine: rows anywhere, in runs, any columns, terms and zero points, bytes
// signed or not.
#include "kernels_cpu/gemm/byte_panels.h"

#include "kernels_cpu/gemm/byte_row_tiles.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::cpu {
namespace {

/// Rows of A as ByteRuns say: at[i][j][l] runs of `bytes` bytes, any distance apart, in lines of
/// any length, in any order. Between lines is room for some rows more, or for any bytes, and some
/// lines are far from the others: those of another image.
struct Rows {
  std::vector<uint8_t> image;
  std::vector<const uint8_t*> at;
  ByteRuns runs{};
  int64_t bytes;

  Rows(Random& random, int64_t rows, int64_t run_bytes) : bytes(run_bytes) {
    runs.quads = static_cast<ptrdiff_t>(quads_of(bytes));
    ptrdiff_t step = 4 * runs.quads;
    for (int level = 2; level >= 0; --level) {
      runs.counts[level] = static_cast<ptrdiff_t>(random.between(1, 3));
      runs.steps[level] = step + static_cast<ptrdiff_t>(random.between(0, 5));
      step = runs.steps[level] * runs.counts[level];
    }
    const ptrdiff_t apart = static_cast<ptrdiff_t>(random.between(1, 9));
    const int64_t line = random.between(1, 40), in_front = random.between(0, line - 1);
    const ptrdiff_t gap = static_cast<ptrdiff_t>(random.between(1, random.coin() ? 2 : 20));
    std::vector<ptrdiff_t> places;
    ptrdiff_t place = 0;
    for (int64_t row = 0; row < rows; ++row) {
      if ((row + in_front) % line == 0) {
        place += gap * apart;
        if (random.between(0, 5) == 0) place += static_cast<ptrdiff_t>(random.between(0, 2000));
      }
      places.push_back(place);
      place += apart;
    }
    image = std::vector<uint8_t>(static_cast<size_t>(place + step));
    for (uint8_t& byte : image) byte = static_cast<uint8_t>(random.between(0, 255));
    for (ptrdiff_t row : places) at.push_back(image.data() + row);
    if (random.coin()) std::reverse(at.begin(), at.end());
  }
  int64_t count() const { return runs.all_quads() / runs.quads; }
  uint8_t byte(int64_t row, int64_t run, int64_t i) const {
    const ptrdiff_t* n = runs.counts;
    const int64_t place = run / n[2] / n[1] * runs.steps[0] + run / n[2] % n[1] * runs.steps[1] +
                          run % n[2] * runs.steps[2];
    return at[static_cast<size_t>(row)][place + i];
  }
};

/// The sums that a sink has seen.
struct Taken {
  std::vector<uint32_t> c;
  ptrdiff_t pitch;
  int64_t count = 0;

  static void take(void* context, const ByteSums& some) {
    Taken& all = *static_cast<Taken*>(context);
    all.count += some.rows * some.panels;
    for (ptrdiff_t row = 0; row < some.rows; ++row) {
      std::copy_n(some.sums + row * some.pitch, some.panels * kPanel,
                  all.c.data() + (some.row + row) * all.pitch + some.panel * kPanel);
    }
  }
};

void expect_product(Random& random, int64_t rows, int64_t columns, int64_t k, bool extremes) {
  const auto draw = [&](int64_t count) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t any = random.between(0, 255);
      // The least and the largest numbers, signed or not.
      bytes.push_back(static_cast<uint8_t>(extremes ? (any & 0x80) - (any & 1) : any));
    }
    return bytes;
  };
  const Rows a(random, rows, k);
  const int64_t runs = a.count();
  const std::vector<uint8_t> b = draw(columns * runs * k);
  const uint8_t flip = random.coin() ? 0x80 : 0;
  const bool has_zeros = random.coin();
  const std::vector<uint8_t> zeros =
      has_zeros ? draw(columns) : std::vector<uint8_t>(static_cast<size_t>(columns), flip);
  const auto b_byte = [&](int64_t column, int64_t run, int64_t i) {
    return b[static_cast<size_t>((column * runs + run) * k + i)];
  };
  const auto zero = [&](int64_t column) { return zeros[static_cast<size_t>(column)]; };
  const auto a_zero = static_cast<uint32_t>(random.between(0, 255));
  const int64_t panels = panel_count(columns), c_pitch = panels * kPanel + random.between(0, 3);

  const int64_t bytes = byte_panel_bytes(a.runs.all_quads(), columns).value();
  std::vector<uint32_t> packed(static_cast<size_t>(bytes / 4), 7);
  const auto write_run = [&](int64_t column, int64_t run, ByteColumn& to) {
    for (int64_t i = 0; i < k; ++i) to.repeat(b_byte(column, run, i), 1);
  };
  pack_byte_panels(columns, runs, k, flip, write_run, zero, packed.data());
  std::vector<uint32_t> sums(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t run = 0; run < runs; ++run) {
      for (int64_t i = 0; i < k; ++i) sums[static_cast<size_t>(row)] += a.byte(row, run, i);
    }
  }
  std::vector<uint32_t> expected(static_cast<size_t>(rows * c_pitch), 99);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < panels * kPanel; ++column) {
      uint32_t sum = 0;
      const auto number = [&](uint8_t byte) { return static_cast<int8_t>(byte ^ flip); };
      for (int64_t run = 0; column < columns && run < runs; ++run) {
        for (int64_t i = 0; i < k; ++i) {
          sum += (a.byte(row, run, i) - a_zero) *
                 static_cast<uint32_t>(number(b_byte(column, run, i)) - number(zero(column)));
        }
      }
      expected[static_cast<size_t>(row * c_pitch + column)] = sum;
    }
  }
  for (Isa isa : available_byte_isas()) {
    SCOPED_TRACE(std::string(isa_name(isa)) + ": " + std::to_string(rows) + " x " +
                 std::to_string(columns) + " x " + std::to_string(k));
    std::vector<uint32_t> c(static_cast<size_t>(rows * c_pitch), 99);
    ByteProduct product{static_cast<ptrdiff_t>(rows),
                        static_cast<ptrdiff_t>(panels),
                        a.at.data(),
                        a.runs,
                        has_zeros ? sums.data() : nullptr,
                        a_zero,
                        packed.data(),
                        c.data(),
                        static_cast<ptrdiff_t>(c_pitch)};
    multiply_bytes(product, isa);
    ASSERT_EQ(c, expected);
    Taken taken{std::vector<uint32_t>(c.size(), 99), product.c_pitch};
    product.sink = {Taken::take, &taken};
    product.streams = true;
    multiply_bytes(product, isa);
    ASSERT_EQ(taken.c, expected);
    ASSERT_EQ(taken.count, rows * panels);
  }
}

TEST(BytePanels, EqualLoops) {
  Random random(9);
  for (const int64_t rows : {1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 25, 27, 48, 49, 84, 96, 131}) {
    for (const int64_t columns : {1, 16, 17, 150}) {
      for (const int64_t k : {1, 4, 6, 67, 128, 150}) {
        expect_product(random, rows, columns, k, random.coin());
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

/// Nothing else sees what tiles read that nobody takes.
TEST(ByteRowTiles, HoldEachRowOnceAndReadBetweenRowsOnly) {
  Random random(17);
  using Tiles = ByteRowTiles<Isa::kAmx>;
  int copied = 0, with_gaps = 0;
  for (int trial = 0; trial < 8000; ++trial) {
    const int64_t count = random.between(1, random.coin() ? 9 : Tiles::kMostRows);
    const Rows rows(random, count, 4);
    const Tiles of(rows.at.data(), static_cast<ptrdiff_t>(count));
    ASSERT_TRUE(of.height >= 1 && of.height <= kTileRows);
    const auto [least, most] = std::minmax_element(rows.at.begin(), rows.at.end());
    std::vector<int> held(rows.at.size());
    for (ptrdiff_t t = 0; t < of.count; ++t) {
      const Tiles::Tile& tile = of.tiles[t];
      const auto line = [&](ptrdiff_t i) {
        return tile.rows != nullptr ? tile.rows[i] : tile.even + i * of.pitch;
      };
      for (ptrdiff_t i = 0; i < of.height; ++i) {
        ASSERT_TRUE(line(i) >= *least && line(i) <= *most) << count << " rows";
      }
      for (int p = tile.first_piece; p < tile.first_piece + tile.pieces; ++p) {
        const Tiles::Piece& piece = of.pieces[p];
        ASSERT_LE(piece.first + piece.rows, of.height);
        for (int i = 0; i < piece.rows; ++i) {
          ASSERT_EQ(line(piece.first + i), rows.at[static_cast<size_t>(piece.row + i)]);
          ++held[static_cast<size_t>(piece.row + i)];
        }
      }
      copied += tile.rows != nullptr ? 1 : 0;
      with_gaps += tile.pieces > 1 ? 1 : 0;
    }
    ASSERT_EQ(held, std::vector<int>(held.size(), 1));
  }
  EXPECT_GT(copied, 1000);
  EXPECT_GT(with_gaps, 1000);
}

}  // namespace
}  // namespace intarsia::cpu
