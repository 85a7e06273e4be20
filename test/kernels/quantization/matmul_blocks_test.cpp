// SPDX-License-Identifier: Apache-2.0
//
// MatMulBlocks of bytes against its formula, on every instruction set and on several threads: terms
// that fill no block, no vector and no part; zeros of blocks or none. Codes below a byte have their
// cases beside ONNX Runtime.
#include "core/operators/quantization/matmul_blocks.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

MatMulBlocksAttributes blocks_of(int32_t size) {
  MatMulBlocksAttributes attributes;
  attributes.block_size = size;
  return attributes;
}

void expect_product(int64_t rows, int64_t terms, int64_t columns, int32_t block, bool has_zeros) {
  std::mt19937 engine(static_cast<uint32_t>(rows * terms + columns));
  const int64_t blocks = (terms + block - 1) / block, padded = blocks * block;
  const Dims a_dims{1, static_cast<int32_t>(rows), static_cast<int32_t>(terms)};
  const Dims code_dims{static_cast<int32_t>(columns), static_cast<int32_t>(padded)};
  const Dims block_dims{static_cast<int32_t>(columns), static_cast<int32_t>(blocks)};
  const auto a = random_numbers(DataType::kFloat, count_of(a_dims), engine, -1, 1);
  const auto codes = random_numbers(DataType::kUint8, count_of(code_dims), engine, 0, 255);
  const auto scales = random_numbers(DataType::kFloat, count_of(block_dims), engine, 0.01, 0.1);
  const auto zeros = random_numbers(DataType::kUint8, count_of(block_dims), engine, 0, 255);
  std::vector<double> expected;
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < terms; ++k) {
        const auto at = static_cast<size_t>(n * blocks + k / block);
        const double zero = has_zeros ? zeros[at] : 128;
        sum += a[static_cast<size_t>(m * terms + k)] *
               (codes[static_cast<size_t>(n * padded + k)] - zero) * scales[at];
      }
      expected.push_back(sum);
    }
  }
  const auto run = [&](const std::string& variant, Isa isa) {
    Node node;
    node.input(DataType::kFloat, a_dims, a).input(DataType::kUint8, code_dims, codes);
    node.input(DataType::kFloat, block_dims, scales);
    if (has_zeros) node.input(DataType::kUint8, block_dims, zeros);
    node.output(DataType::kFloat, {1, static_cast<int32_t>(rows), static_cast<int32_t>(columns)});
    node.attributes(blocks_of(block)).threads(has_zeros ? 3 : 1).isa(isa);
    for (int input = 1; input < (has_zeros ? 4 : 3); ++input) node.constant(input);
    const Status status = node.run("intarsia:MatMulBlocks" + variant + "<uint8>");
    EXPECT_TRUE(status.ok()) << node.diagnostic().what;
    expect_numbers_near(node.numbers(), expected, 1e-4, 1e-2);
    return node.numbers();
  };
  const std::vector<double> first = run("", Isa::kPortable);
  for (Isa isa : cpu::available_isas()) {
    SCOPED_TRACE(std::string(cpu::isa_name(isa)) + " terms " + std::to_string(terms));
    EXPECT_EQ(run("", isa), first);  // the same bits
    if (columns > 0 && padded > 0) run(".packed", isa);
    run(".computed", isa);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(MatMulBlocks, EqualsFormula) {
  for (const bool has_zeros : {false, true}) {
    expect_product(1, 64, 7, 32, has_zeros);
    expect_product(3, 1, 1, 16, has_zeros);
    expect_product(4, 37, 5, 16, has_zeros);
    expect_product(9, 1100, 6, 48, has_zeros);
    expect_product(5, 700, 3, 1024, has_zeros);
    expect_product(2, 75, 150, 32, has_zeros);  // panels of several and of one row
    expect_product(70, 3, 33, 16, has_zeros);
    expect_product(200, 300, 150, 48, has_zeros);  // several units and pieces
    expect_product(0, 32, 3, 32, has_zeros);
    expect_product(2, 32, 0, 32, has_zeros);
    expect_product(2, 0, 3, 32, has_zeros);
  }
}

TEST(MatMulBlocks, Refused) {
  const auto check = [](int32_t block, Dims codes, Dims scales, Dims zeros) {
    const auto numbers = [](const Dims& dims) {
      return std::vector<double>(static_cast<size_t>(count_of(dims)), 1);
    };
    Node node;
    node.input(DataType::kFloat, {2, 40}, numbers({2, 40}));
    node.input(DataType::kUint8, codes, numbers(codes));
    node.input(DataType::kFloat, scales, numbers(scales));
    node.input(DataType::kUint8, zeros, numbers(zeros));
    node.output(DataType::kFloat, {2, 3}).attributes(blocks_of(block));
    return node.check(kernel_name("intarsia:MatMulBlocks", {DataType::kUint8})).code();
  };
  EXPECT_EQ(check(32, {3, 64}, {3, 2}, {3, 2}), Code::kOk);
  EXPECT_EQ(check(24, {3, 48}, {3, 2}, {3, 2}), Code::kInvalidValue);
  EXPECT_EQ(check(0, {3, 64}, {3, 2}, {3, 2}), Code::kInvalidValue);
  EXPECT_EQ(check(32, {3, 32}, {3, 1}, {3, 1}), Code::kWrongExtent);
  EXPECT_EQ(check(32, {3, 64}, {3, 1}, {3, 2}), Code::kWrongExtent);
  EXPECT_EQ(check(32, {3, 64}, {3, 2}, {1, 2}), Code::kWrongExtent);
  EXPECT_EQ(check(32, {192}, {3, 2}, {3, 2}), Code::kWrongRank);
  EXPECT_EQ(check(32, {3, 64}, {6}, {3, 2}), Code::kWrongRank);
}

}  // namespace
}  // namespace intarsia::test
