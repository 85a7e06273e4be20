// SPDX-License-Identifier: Apache-2.0
//
// QuantizeLinear and DequantizeLinear against their formulas in double precision, bit for bit, on
// every instruction set: one scale for all, one for each position of an axis, one for each block;
// parts of 256 elements begin and end within all of them.
#include "core/operators/quantization/quantize.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

const Dims kDims = {3, 5, 61};
/// Of blocks that rows and parts are made of.
const Dims kWhole = {3, 7, 128};
/// Of several rows in a block, and of long blocks that parts are not made of.
const Dims kRows = {3, 20, 5, 3}, kLong = {2, 3, 250};

/// Where the scale of an element of a tensor of these extents lies.
struct Scales {
  Dims dims;
  int32_t axis = 1;
  int32_t block = 0;
  Dims of = kDims;

  size_t index(int64_t element) const {
    if (dims.empty()) return 0;
    int64_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < of.size(); ++i) inner *= of[i];
    const int64_t length = of[static_cast<size_t>(axis)];
    const int64_t position = element / inner % length;
    if (block == 0) return static_cast<size_t>(position);
    const int64_t blocks = (length + block - 1) / block;
    return static_cast<size_t>((element / inner / length * blocks + position / block) * inner +
                               element % inner);
  }
};

const Scales kScales[] = {{{}, 1, 0},
                          {{3}, 0, 0},
                          {{5}, 1, 0},
                          {{61}, 2, 0},
                          {{3, 2, 61}, 1, 3},
                          {{3, 5, 4}, 2, 16},
                          {{1, 5, 61}, 0, 3},
                          {{3, 5, 61}, 2, 1},
                          {{3, 5, 61}, 0, 1},
                          {kWhole, 1, 1, kWhole},
                          {{3, 7, 64}, 2, 2, kWhole},
                          {{3, 7, 8}, 2, 16, kWhole},
                          {{3, 7, 4}, 2, 32, kWhole},
                          {{3, 7, 2}, 2, 64, kWhole},
                          {{3, 7, 1}, 2, 128, kWhole},
                          {{3, 3, 5, 3}, 1, 7, kRows},
                          {{2, 3, 3}, 2, 100, kLong}};

struct Range {
  double low, high;
};
Range range_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return {-128, 127};
    case DataType::kUint8:
      return {0, 255};
    case DataType::kInt16:
      return {-32768, 32767};
    case DataType::kInt32:
      return {-0x1p31, 0x1p31 - 1};
    default:
      return {0, 65535};
  }
}

double rounded_to(DataType type, double value) {
  if (type == DataType::kFloat16) return as_double(Float16(static_cast<float>(value)));
  if (type == DataType::kBfloat16) return as_double(BFloat16(static_cast<float>(value)));
  return static_cast<float>(value);  // of a quotient of floats, in double: rounded once
}

constexpr DataType kIntegers[] = {DataType::kInt8, DataType::kUint8, DataType::kInt16,
                                  DataType::kUint16};

void expect_quantized(DataType x_type, DataType scale_type, DataType y_type, const Scales& scales,
                      bool has_zeros) {
  std::mt19937 engine(static_cast<uint32_t>(y_type) * 7 + static_cast<uint32_t>(x_type));
  const Range range = range_of(y_type);
  const double reach = range.high - range.low;
  // Some results lie beyond the range.
  const auto x = random_numbers(x_type, count_of(scales.of), engine, -0.6 * reach, 0.6 * reach);
  const int64_t count = count_of(scales.dims);
  const auto factors = random_numbers(scale_type, count, engine, 0.5, 3);
  const auto zeros = random_numbers(y_type, count, engine, range.low, range.high);
  std::vector<double> expected(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t s = scales.index(static_cast<int64_t>(i));
    const double whole = std::nearbyint(rounded_to(scale_type, x[i] / factors[s]));
    expected[i] = std::clamp(whole + (has_zeros ? zeros[s] : 0), range.low, range.high);
  }
  QuantizeAttributes a;
  a.axis = scales.axis;
  a.block_size = scales.block;
  Node node;
  node.input(x_type, scales.of, x).input(scale_type, scales.dims, factors);
  if (has_zeros) node.input(y_type, scales.dims, zeros);
  node.output(y_type, scales.of).attributes(a).threads(has_zeros ? 3 : 1);
  const std::string kernel = kernel_name("QuantizeLinear", {x_type, y_type});
  for (Isa isa : cpu::available_isas()) {
    SCOPED_TRACE(kernel + " " + std::to_string(static_cast<int>(isa)));
    ASSERT_TRUE(node.isa(isa).run(kernel).ok()) << node.diagnostic().what;
    expect_numbers_near(node.numbers(), expected, 0, 0);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Quantize, EqualsItsFormula) {
  for (const Scales& scales : kScales) {
    SCOPED_TRACE(::testing::PrintToString(scales.dims) + " axis " + std::to_string(scales.axis));
    for (DataType y : kIntegers) {
      for (bool has_zeros : {false, true}) {
        if (!has_zeros && y != DataType::kUint8) continue;  // without one the type is uint8
        expect_quantized(DataType::kFloat, DataType::kFloat, y, scales, has_zeros);
      }
    }
    expect_quantized(DataType::kFloat16, DataType::kFloat16, DataType::kInt8, scales, true);
    expect_quantized(DataType::kBfloat16, DataType::kBfloat16, DataType::kUint8, scales, true);
    expect_quantized(DataType::kFloat16, DataType::kFloat, DataType::kInt8, scales, true);
  }
}

/// NaN, of whatever sign, becomes the lowest integer and infinity the highest, next to numbers.
TEST(Quantize, NumbersThatAreNone) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const int32_t block : {0, 1, 16, 64}) {
    for (const double none : {kNan, -kNan, kInf, -kInf}) {
      std::vector<double> x(128, 7), expected(128, 3 + 2);
      x[33] = none;
      expected[33] = none > 0 ? 127 : -128;
      QuantizeAttributes a;
      a.axis = 0;
      a.block_size = block;
      Node node;
      const Dims of_scale = block == 0 ? Dims{} : Dims{128 / block};
      const auto scales = static_cast<size_t>(count_of(of_scale));
      node.input(DataType::kFloat, {128}, x);
      node.input(DataType::kFloat, of_scale, std::vector<double>(scales, 2.25));
      node.input(DataType::kInt8, of_scale, std::vector<double>(scales, 2));
      node.output(DataType::kInt8, {128}).attributes(a);
      for (Isa isa : cpu::available_isas()) {
        ASSERT_TRUE(node.isa(isa).run("QuantizeLinear<float, int8>").ok());
        EXPECT_EQ(node.numbers(), expected) << none;
      }
    }
  }
}

void expect_dequantized(DataType x_type, DataType y_type, const Scales& scales, bool has_zeros) {
  std::mt19937 engine(static_cast<uint32_t>(y_type) * 7 + static_cast<uint32_t>(x_type));
  const Range range = range_of(x_type);
  const auto x = random_numbers(x_type, count_of(scales.of), engine, range.low, range.high);
  const int64_t count = count_of(scales.dims);
  const auto factors = random_numbers(y_type, count, engine, 0.01, 0.3);
  const auto zeros = random_numbers(x_type, count, engine, range.low, range.high);
  std::vector<double> expected(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t s = scales.index(static_cast<int64_t>(i));
    const double difference = static_cast<float>(x[i] - (has_zeros ? zeros[s] : 0));
    expected[i] = rounded_to(y_type, static_cast<float>(difference * factors[s]));
  }
  DequantizeAttributes a;
  a.axis = scales.axis;
  a.block_size = scales.block;
  Node node;
  node.input(x_type, scales.of, x).input(y_type, scales.dims, factors);
  if (has_zeros) node.input(x_type, scales.dims, zeros);
  node.output(y_type, scales.of).attributes(a).threads(has_zeros ? 1 : 3);
  const std::string kernel = kernel_name("DequantizeLinear", {x_type, y_type});
  for (Isa isa : cpu::available_isas()) {
    SCOPED_TRACE(kernel + " " + std::to_string(static_cast<int>(isa)));
    ASSERT_TRUE(node.isa(isa).run(kernel).ok()) << node.diagnostic().what;
    expect_numbers_near(node.numbers(), expected, 0, 0);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Dequantize, EqualsItsFormula) {
  for (const Scales& scales : kScales) {
    SCOPED_TRACE(::testing::PrintToString(scales.dims) + " axis " + std::to_string(scales.axis));
    for (DataType x : kIntegers) {
      for (DataType y : {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16}) {
        expect_dequantized(x, y, scales, true);
      }
    }
    expect_dequantized(DataType::kInt8, DataType::kFloat, scales, false);
    expect_dequantized(DataType::kInt32, DataType::kFloat, scales, false);
  }
}

}  // namespace
}  // namespace intarsia::test
