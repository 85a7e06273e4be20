// SPDX-License-Identifier: Apache-2.0
#include "intarsia/small_types.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace intarsia {
namespace {

constexpr DataType kFloats[] = {DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                DataType::kFloat8E5M2,   DataType::kFloat8E5M2FNUZ,
                                DataType::kFloat4E2M1,   DataType::kFloat6E2M3,
                                DataType::kFloat6E3M2};

float decoded(DataType type, unsigned code) {
  return decode_float(float_format(type), static_cast<uint8_t>(code));
}
unsigned encoded(DataType type, double value, bool saturate = true) {
  return encode_float(float_format(type), static_cast<float>(value), saturate);
}

TEST(SmallTypes, FormatsAreAsWideAsTheirElements) {
  for (int number = 1; number <= kLastDataType; ++number) {
    const auto type = static_cast<DataType>(number);
    const FloatFormat format = float_format(type);
    if (format.exponent != 0) {
      EXPECT_EQ(format.bits(), element_bits(type));
    }
  }
}

// From the tables of the specifications.
TEST(SmallTypes, LargestAndSmallestNumbers) {
  const std::array<std::array<double, 3>, 7> kExpected{{{448, 0x1p-9, 0x1p-6},
                                                        {240, 0x1p-10, 0x1p-7},
                                                        {57344, 0x1p-16, 0x1p-14},
                                                        {57344, 0x1p-17, 0x1p-15},
                                                        {6, 0.5, 1},
                                                        {7.5, 0.125, 1},
                                                        {28, 0.0625, 0.25}}};
  for (size_t i = 0; i < std::size(kFloats); ++i) {
    const FloatFormat format = float_format(kFloats[i]);
    EXPECT_EQ(decoded(kFloats[i], format.largest()), kExpected[i][0]);
    EXPECT_EQ(decoded(kFloats[i], 1), kExpected[i][1]);
    EXPECT_EQ(decoded(kFloats[i], 1u << format.mantissa), kExpected[i][2]);
  }
}

TEST(SmallTypes, EveryCodeOfANumberComesBack) {
  for (const DataType type : kFloats) {
    for (unsigned code = 0; code < 1u << element_bits(type); ++code) {
      const float value = decoded(type, code);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decoded(type, encoded(type, value))));
      } else {
        EXPECT_EQ(encoded(type, value, false), code) << "type " << static_cast<int>(type);
      }
    }
  }
}

// What lies between two neighbours goes to the nearer one, in the middle to the even one.
TEST(SmallTypes, RoundsToNearestTiesToEven) {
  for (const DataType type : kFloats) {
    for (unsigned code = 0; code < float_format(type).largest(); ++code) {
      const double low = decoded(type, code), high = decoded(type, code + 1);
      const double middle = (low + high) / 2, step = (high - low) / 1024;
      EXPECT_EQ(encoded(type, middle), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(encoded(type, middle - step), code);
      EXPECT_EQ(encoded(type, middle + step), code + 1);
      const float negative = decoded(type, encoded(type, -middle - step));
      EXPECT_EQ(negative, static_cast<float>(-high));
    }
  }
}

TEST(SmallTypes, WhatIsTooLarge) {
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (const DataType type : kFloats) {
    const FloatFormat format = float_format(type);
    const double largest = decoded(type, format.largest());
    const double step = largest - decoded(type, format.largest() - 1);
    for (const double value : {largest + 0.51 * step, 1e30, kInfinity}) {
      for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(decoded(type, encoded(type, sign * value)), sign * largest);
        const float open = decoded(type, encoded(type, sign * value, false));
        if (format.special == FloatFormat::kNothing) {
          EXPECT_EQ(open, sign * largest);
        } else if (format.special == FloatFormat::kIeee) {
          EXPECT_EQ(open, sign * kInfinity);
        } else {
          EXPECT_TRUE(std::isnan(open));
        }
      }
    }
    EXPECT_EQ(encoded(type, largest + 0.49 * step, false), format.largest());
  }
}

TEST(SmallTypes, ZerosAndNan) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(encoded(DataType::kFloat8E4M3FN, -0.0), 0x80U);
  EXPECT_EQ(encoded(DataType::kFloat8E4M3FNUZ, -0.0), 0U);
  EXPECT_EQ(encoded(DataType::kFloat8E4M3FNUZ, -1e-20), 0U);
  EXPECT_EQ(encoded(DataType::kFloat8E4M3FNUZ, kNan), 0x80U);
  EXPECT_EQ(encoded(DataType::kFloat8E4M3FN, kNan), 0x7fU);
  EXPECT_EQ(encoded(DataType::kFloat8E5M2, kNan), 0x7eU);
  EXPECT_EQ(encoded(DataType::kFloat4E2M1, kNan), 8U);
}

TEST(SmallTypes, PowersOfTwo) {
  for (unsigned code = 0; code < 255; ++code) {
    const float value = decode_power(static_cast<uint8_t>(code));
    EXPECT_EQ(value, std::ldexp(1.0, static_cast<int>(code) - 127));
    for (const auto mode : {PowerRounding::kUp, PowerRounding::kDown, PowerRounding::kNearest}) {
      EXPECT_EQ(encode_power(value, false, mode), code);
      const float above = value * 1.25f, half = value * 1.5f;
      const unsigned next = code == 254 ? 255 : code + 1;
      EXPECT_EQ(encode_power(above, false, mode), mode == PowerRounding::kUp ? next : code);
      EXPECT_EQ(encode_power(half, false, mode), mode == PowerRounding::kDown ? code : next);
    }
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(decode_power(255)));
  EXPECT_EQ(encode_power(0, true, PowerRounding::kUp), 0);
  EXPECT_EQ(encode_power(0, false, PowerRounding::kNearest), 255);
  EXPECT_EQ(encode_power(infinity, true, PowerRounding::kUp), 254);
  EXPECT_EQ(encode_power(infinity, false, PowerRounding::kUp), 255);
  EXPECT_EQ(encode_power(0x1p-140f, true, PowerRounding::kDown), 0);
}

TEST(SmallTypes, PackedElementsLeaveTheirNeighbours) {
  for (const int bits : {2, 4, 6, 8}) {
    constexpr int64_t kCount = 13;
    const auto mask = static_cast<unsigned>((1 << bits) - 1);
    for (int64_t changed = 0; changed < kCount; ++changed) {
      std::array<std::byte, kCount> bytes;
      bytes.fill(std::byte{0xff});
      set_packed_code(bytes.data(), changed, bits, 0);
      for (int64_t i = 0; i < kCount; ++i) {
        EXPECT_EQ(packed_code(bytes.data(), i, bits), i == changed ? 0 : mask);
      }
      set_packed_code(bytes.data(), changed, bits, 0xff);
      for (const std::byte byte : bytes) EXPECT_EQ(byte, std::byte{0xff});
    }
  }
  // ONNX: x0 | x1 << 6, x1 >> 2 | x2 << 4, x2 >> 4 | x3 << 2
  std::array<std::byte, 3> six{};
  for (int i = 0; i < 4; ++i) set_packed_code(six.data(), i, 6, static_cast<uint8_t>(0x2a + i));
  const unsigned x[] = {0x2a, 0x2b, 0x2c, 0x2d};
  EXPECT_EQ(std::to_integer<unsigned>(six[0]), (x[0] | x[1] << 6) & 0xff);
  EXPECT_EQ(std::to_integer<unsigned>(six[1]), (x[1] >> 2 | x[2] << 4) & 0xff);
  EXPECT_EQ(std::to_integer<unsigned>(six[2]), (x[2] >> 4 | x[3] << 2) & 0xff);
}

TEST(SmallTypes, IntegersHaveTwosComplement) {
  EXPECT_EQ(decode_integer(0xf, 4, true), -1);
  EXPECT_EQ(decode_integer(0x8, 4, true), -8);
  EXPECT_EQ(decode_integer(0xf, 4, false), 15);
  EXPECT_EQ(decode_integer(2, 2, true), -2);
  EXPECT_EQ(decode_integer(1, 2, true), 1);
}

}  // namespace
}  // namespace intarsia
