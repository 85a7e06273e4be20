// SPDX-License-Identifier: Apache-2.0
//
// Products with packed bytes (gemm/byte_panels.h) against naive loops, exactly, for every
// instruction set of the machine: any rows, columns, terms and zero points, bytes signed or not.
#include "kernels_cpu/gemm/byte_panels.h"

#include "test/kernels/gemm/harness.h"

namespace intarsia::cpu {
namespace {

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
  const auto at = [](const std::vector<uint8_t>& bytes, int64_t i) {
    return bytes[static_cast<size_t>(i)];
  };
  const std::vector<uint8_t> a = draw(rows * k), b = draw(columns * k), zeros = draw(columns);
  const uint8_t flip = random.coin() ? 0x80 : 0;
  const auto a_zero = static_cast<uint32_t>(random.between(0, 255));
  const int64_t quads = quads_of(k), pitch = quads + random.between(0, 2);
  const int64_t panels = panel_count(columns), c_pitch = panels * kPanel + random.between(0, 3);

  std::vector<uint32_t> packed(static_cast<size_t>(byte_panel_bytes(k, columns).value() / 4), 7);
  pack_byte_panels(b.data(), k, columns, flip, zeros.data(), packed.data());
  std::vector<uint32_t> coded(static_cast<size_t>(rows * pitch)), sums(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    auto* to = reinterpret_cast<uint8_t*>(coded.data() + row * pitch);
    for (int64_t i = 0; i < k; ++i) sums[static_cast<size_t>(row)] += to[i] = at(a, row * k + i);
  }
  for (Isa isa : available_byte_isas()) {
    SCOPED_TRACE(std::string(isa_name(isa)) + ": " + std::to_string(rows) + " x " +
                 std::to_string(columns) + " x " + std::to_string(k));
    std::vector<uint32_t> c(static_cast<size_t>(rows * c_pitch), 99);
    multiply_bytes({static_cast<ptrdiff_t>(rows), static_cast<ptrdiff_t>(panels),
                    static_cast<ptrdiff_t>(quads), coded.data(), static_cast<ptrdiff_t>(pitch),
                    sums.data(), a_zero, packed.data(), c.data(), static_cast<ptrdiff_t>(c_pitch)},
                   isa);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < c_pitch; ++column) {
        uint32_t sum = column < panels * kPanel ? 0 : 99;
        for (int64_t i = 0; column < columns && i < k; ++i) {
          const auto number = [&](uint8_t byte) { return static_cast<int8_t>(byte ^ flip); };
          sum += (at(a, row * k + i) - a_zero) *
                 static_cast<uint32_t>(number(at(b, column * k + i)) - number(at(zeros, column)));
        }
        ASSERT_EQ(c[static_cast<size_t>(row * c_pitch + column)], sum) << row << ", " << column;
      }
    }
  }
}

TEST(BytePanels, EqualLoops) {
  Random random(9);
  for (const int64_t rows : {1, 2, 3, 4, 7, 13}) {
    for (const int64_t columns : {1, 16, 17, 150}) {
      for (const int64_t k : {0, 1, 4, 6, 67}) {
        expect_product(random, rows, columns, k, random.coin());
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::cpu
