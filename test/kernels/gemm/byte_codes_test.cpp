// SPDX-License-Identifier: Apache-2.0
//
// Sums as codes (gemm/byte_codes.h) against arithmetic in double, for every instruction set of the
// machine: parts of a product, any columns, zero points at the ends of the range, ties, sums that
// wrap around, products beyond integers, NaN.
#include "kernels_cpu/gemm/byte_codes.h"

#include <cmath>
#include <limits>

#include "test/kernels/gemm/harness.h"

namespace intarsia::cpu {
namespace {

uint8_t expected_code(uint32_t sum, int32_t bias, float scale, int32_t zero, bool is_signed) {
  const auto biased = static_cast<int32_t>(sum + static_cast<uint32_t>(bias));
  const float product = static_cast<float>(biased) * scale;
  const double low = is_signed ? -128 : 0, high = low + 255;
  if (std::isnan(product)) return static_cast<uint8_t>(static_cast<int>(low));
  const double code = std::nearbyint(static_cast<double>(product)) + zero;
  return static_cast<uint8_t>(static_cast<int>(std::fmin(std::fmax(code, low), high)));
}

void expect_codes(Random& random, int64_t rows, int64_t columns, bool is_signed) {
  const int64_t panels = panel_count(columns), width = panels * kPanel;
  const int64_t pitch = width + random.between(0, 2) * 16, y_pitch = columns + random.between(0, 3);
  std::vector<uint32_t> sums(static_cast<size_t>(rows * pitch));
  for (uint32_t& sum : sums) {
    const int64_t kind = random.between(0, 5);
    sum = static_cast<uint32_t>(kind == 0 ? random.between(INT32_MIN, INT32_MAX)
                                          : random.between(-400, 400));
  }
  std::vector<float> scale(static_cast<size_t>(width));
  std::vector<int32_t> bias(static_cast<size_t>(width));
  for (float& each : scale) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const float scales[] = {0.5f, 0.25f, 0.3f, -0.5f, 1e30f, -1e30f, kNan, 3e-9f};
    each = scales[random.between(0, 7)];
  }
  for (int32_t& each : bias) {
    each = static_cast<int32_t>(random.between(0, 9) == 0 ? INT32_MAX : random.between(-50, 50));
  }
  const int32_t zeros[] = {is_signed ? -128 : 0, is_signed ? 127 : 255, 3};
  const int32_t zero = zeros[random.between(0, 2)];
  const ptrdiff_t row = random.between(0, 4);
  std::vector<uint8_t> expected(static_cast<size_t>((row + rows) * y_pitch), 77);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto column = static_cast<size_t>(c);
      expected[static_cast<size_t>((row + r) * y_pitch + c)] = expected_code(
          sums[static_cast<size_t>(r * pitch + c)], bias[column], scale[column], zero, is_signed);
    }
  }
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(std::string(isa_name(isa)) + ": " + std::to_string(rows) + " x " +
                 std::to_string(columns));
    std::vector<uint8_t> y(expected.size(), 77);
    const ByteCodes codes{scale.data(), bias.data(), zero, is_signed, columns, y.data(), y_pitch};
    // In two parts, the second one from a panel in the middle on.
    const ptrdiff_t split = random.between(0, panels);
    store_codes({sums.data(), pitch, row, rows, 0, split}, codes, isa);
    store_codes({sums.data() + split * kPanel, pitch, row, rows, split, panels - split}, codes,
                isa);
    ASSERT_EQ(y, expected);
  }
}

TEST(ByteCodes, EqualArithmeticInDouble) {
  Random random(11);
  for (const int64_t rows : {1, 2, 3, 4, 5, 7, 16, 33}) {
    for (const int64_t columns : {1, 7, 15, 16, 17, 31, 32, 33, 48, 70}) {
      for (const bool is_signed : {false, true}) {
        expect_codes(random, rows, columns, is_signed);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::cpu
