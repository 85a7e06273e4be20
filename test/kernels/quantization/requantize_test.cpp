// SPDX-License-Identifier: Apache-2.0
//
// Requantize against its formula, bit for bit, on every instruction set: scale and bias for all or
// for each position of an axis, sums beyond the range of the result, ties.
#include "core/operators/quantization/quantize.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

struct Form {
  int32_t axis;
  Dims scale;
  bool has_bias;
  Dims bias;
  Dims sums = {3, 5, 61};
};

size_t position(const Form& form, const Dims& dims, size_t element) {
  const auto axis = static_cast<size_t>(form.axis);
  size_t inner = 1;
  for (size_t i = axis + 1; i < form.sums.size(); ++i) inner *= static_cast<size_t>(form.sums[i]);
  const size_t at = element / inner % static_cast<size_t>(form.sums[axis]);
  return dims.empty() || dims[0] == 1 ? 0 : at;
}

void expect_requantized(DataType y, const Form& form) {
  std::mt19937 engine(static_cast<uint32_t>(y) + static_cast<uint32_t>(form.axis));
  const double low = y == DataType::kInt8 ? -128 : 0, high = low + 255;
  const auto x = random_numbers(DataType::kInt32, count_of(form.sums), engine, -70000, 70000);
  auto scales = random_numbers(DataType::kFloat, count_of(form.scale), engine, 0.0005, 0.003);
  scales[0] = 1.0 / 512;  // ties
  const auto biases = random_numbers(DataType::kInt32, count_of(form.bias), engine, -9000, 9000);
  const auto zero = random_numbers(y, 1, engine, low, high);
  std::vector<double> expected(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double sum = x[i] + (form.has_bias ? biases[position(form, form.bias, i)] : 0);
    const auto scale = static_cast<float>(scales[position(form, form.scale, i)]);
    const float product = static_cast<float>(sum) * scale;
    const double whole = std::nearbyint(product);
    expected[i] = std::clamp(whole + zero[0], low, high);
  }
  RequantizeAttributes attributes;
  attributes.axis = form.axis;
  Node node;
  node.input(DataType::kInt32, form.sums, x).input(DataType::kFloat, form.scale, scales);
  node.input(y, {}, zero);
  if (form.has_bias) node.input(DataType::kInt32, form.bias, biases);
  node.output(y, form.sums).attributes(attributes).threads(form.has_bias ? 3 : 1);
  const std::string kernel = kernel_name("intarsia:Requantize", {y});
  for (Isa isa : cpu::available_isas()) {
    SCOPED_TRACE(kernel + " " + cpu::isa_name(isa) + " axis " + std::to_string(form.axis));
    ASSERT_TRUE(node.isa(isa).run(kernel).ok()) << node.diagnostic().what;
    expect_numbers_near(node.numbers(), expected, 0, 0);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Requantize, EqualsItsFormula) {
  const Form forms[] = {{0, {}, false, {}},   {0, {}, true, {}},   {1, {5}, true, {5}},
                        {2, {61}, true, {1}}, {2, {}, true, {61}}, {0, {3}, false, {}},
                        {1, {1}, true, {5}}};
  // Lines that are held several at once, in parts that begin within one, and those that are too
  // long for it.
  const Form lines[] = {{1, {300}, true, {300}, {97, 300}},
                        {1, {1025}, true, {1025}, {3, 1025}},
                        {1, {}, true, {1024}, {5, 1024}}};
  for (const std::span<const Form> some : {std::span<const Form>(forms), {lines}}) {
    for (const Form& form : some) {
      expect_requantized(DataType::kInt8, form);
      expect_requantized(DataType::kUint8, form);
      if (HasFailure()) return;
    }
  }
}

// A bias that leaves 32 bits wraps around; the largest sums are rounded to floats, then clipped.
TEST(Requantize, Wraps) {
  Node node;
  node.input(DataType::kInt32, {2}, {2147483647.0, -2147483648.0});
  node.input(DataType::kFloat, {}, {1.0}).input(DataType::kInt8, {}, {0.0});
  node.input(DataType::kInt32, {}, {1.0});
  node.output(DataType::kInt8, {2}).attributes(RequantizeAttributes{0});
  ASSERT_TRUE(node.run(kernel_name("intarsia:Requantize", {DataType::kInt8})).ok());
  EXPECT_EQ(node.numbers(), (std::vector<double>{-128, -128}));
}

}  // namespace
}  // namespace intarsia::test
