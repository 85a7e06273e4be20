// SPDX-License-Identifier: Apache-2.0
//
// MelWeightMatrix: against its definition, for all types, and numbers that give no matrix.
#include "core/operators/nn/mel_weight_matrix.h"

#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {
namespace {

struct Mel {
  int64_t bands, length, rate;
  double low, high;
};

Node node_of(const Mel& mel, DataType type, const Dims& planned) {
  Node node;
  node.input<int64_t>({}, {mel.bands}).input<int64_t>({}, {mel.length});
  node.input<int32_t>({1}, {static_cast<int32_t>(mel.rate)});
  node.input<float>({}, {static_cast<float>(mel.low)}).input<double>({}, {mel.high});
  MelWeightMatrixAttributes a;
  a.output_datatype = static_cast<int32_t>(type);
  node.output(type, planned).attributes(a);
  return node;
}

std::vector<double> expected_matrix(const Mel& mel) {
  const auto rows = static_cast<size_t>(mel.length / 2 + 1), bands = static_cast<size_t>(mel.bands);
  std::vector<double> y(rows * bands);
  const auto mels = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const auto bin = [&](size_t corner) {
    const double step = (mels(mel.high) - mels(mel.low)) / (static_cast<double>(mel.bands) + 2);
    const double hertz =
        700 * (std::pow(10, (static_cast<double>(corner) * step + mels(mel.low)) / 2595) - 1);
    return static_cast<int64_t>(
        std::floor(static_cast<double>(mel.length + 1) * hertz / static_cast<double>(mel.rate)));
  };
  for (size_t band = 0; band < bands; ++band) {
    const int64_t first = bin(band), top = bin(band + 1), last = bin(band + 2);
    for (int64_t row = first; row <= last; ++row) {
      double value = row == top ? 1 : 0;
      if (row < top) value = static_cast<double>(row - first) / static_cast<double>(top - first);
      if (row > top) value = static_cast<double>(last - row) / static_cast<double>(last - top);
      if (value != 0) y[static_cast<size_t>(row) * bands + band] = value;
    }
  }
  return y;
}

TEST(MelWeightMatrix, EqualsItsDefinition) {
  for (const Mel& mel : {Mel{8, 16, 8192, 0, 4096}, Mel{80, 512, 16000, 20, 7600},
                         Mel{40, 401, 16000, 0, 8000}, Mel{1, 2, 8, 1, 2}, Mel{0, 16, 8, 1, 2}}) {
    const Dims dims = {static_cast<int32_t>(mel.length / 2 + 1), static_cast<int32_t>(mel.bands)};
    const std::vector<double> expected = expected_matrix(mel);
    for (const DataType type : {DataType::kFloat, DataType::kDouble, DataType::kFloat16,
                                DataType::kBfloat16, DataType::kInt32, DataType::kUint8}) {
      Node node = node_of(mel, type, {dims[0] + 3, dims[1] + 2});
      ASSERT_TRUE(node.run(kernel_name("MelWeightMatrix", {type})).ok()) << node.diagnostic().what;
      EXPECT_EQ(node.dims(), dims);
      const bool whole = type == DataType::kInt32 || type == DataType::kUint8;
      std::vector<double> wanted = expected;
      for (double& each : wanted) each = whole ? std::trunc(each) : each;
      expect_numbers_near(node.numbers(), wanted, 2 * epsilon_of(type), 0);
    }
  }
}

TEST(MelWeightMatrix, RefusesNumbersThatGiveNoMatrix) {
  const auto code = [](const Mel& mel) {
    return node_of(mel, DataType::kFloat, {20, 20}).run("MelWeightMatrix<float>").code();
  };
  EXPECT_EQ(code({-1, 16, 8192, 0, 4096}), Code::kInvalidValue);
  EXPECT_EQ(code({8, -2, 8192, 0, 4096}), Code::kInvalidValue);
  EXPECT_EQ(code({8, INT64_MAX, 8192, 0, 4096}), Code::kInvalidValue);
  EXPECT_EQ(code({8, 16, 0, 0, 4096}), Code::kInvalidValue);
  // Edges outside of the spectrum, and edges that are no numbers.
  EXPECT_EQ(code({8, 16, 8192, 0, 9000}), Code::kInvalidValue);
  EXPECT_EQ(code({8, 16, 8192, -100, 4096}), Code::kInvalidValue);
  EXPECT_EQ(code({8, 16, 8192, 0, std::nan("")}), Code::kInvalidValue);
  EXPECT_EQ(code({8, 16, 8192, 0, HUGE_VAL}), Code::kInvalidValue);
  // More than was planned for.
  EXPECT_EQ(code({80, 512, 16000, 0, 8000}), Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
