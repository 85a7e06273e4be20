// SPDX-License-Identifier: Apache-2.0
//
// Inverse: the CUDA kernels' own sources in the emulator, beside the CPU's reference
// kernels.
#include "test/cuda/kernel_cases.h"
#include "test/kernels/linear_algebra/inverse_naive.h"

namespace intarsia::test {
namespace {

std::vector<double> floats(const Dims& dims, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 random(seed);
  return random_numbers(kFloat, count_of(dims), random, low, high);
}

/// The reference for `agree`; computes in double whatever the type is.
Status run_naive_inverse(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (x.count() == 0) return {};
  store_numbers(y.type,
                naive_inverse(load_numbers(x.type, x.data, x.count()), x.extents[x.rank - 1]),
                static_cast<uint8_t*>(y.data));
  return {};
}
KernelUnderTest naive() {
  KernelUnderTest kernel;
  kernel.name = "naive inverse";
  kernel.run = &run_naive_inverse;
  return kernel;
}

Node inverse_node(DataType type, const Dims& dims, const std::vector<double>& values) {
  Node node;
  node.input(type, dims, values).output(type, dims);
  return node;
}

/// Random matrices with a zero in the corner, so that pivoting matters, far from singular.
std::vector<double> matrices(DataType type, const Dims& dims, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values = random_numbers(type, count_of(dims), random, -1, 1);
  const int n = dims.back();
  for (size_t i = 0; n > 1 && i < values.size(); i += static_cast<size_t>(n) * n) {
    for (int k = 0; k < n; ++k) values[i + static_cast<size_t>(k * n + (k + 1) % n)] += n;
    values[i] = 0;
  }
  std::vector<uint8_t> rounded(values.size() * 8);
  store_numbers(type, values, rounded.data());
  return load_numbers(type, rounded.data(), static_cast<int64_t>(values.size()));
}

TEST(CudaKernels, CTR_1_TheInverseTestsOfTheSpecification) {
  const std::vector<double> two{4, 7, 2, 6};
  const std::vector<double> four{4, 0, 0, 0, 0, 0, 2, 0, 0, 1, 2, 0, 1, 0, 0, 1};
  std::vector<double> twelve;
  for (int i = 0; i < 12; ++i) twelve.insert(twelve.end(), four.begin(), four.end());
  const auto check = [&]<class T>(T, double tolerance) {
    const DataType type = data_type_of<T>;
    const KernelUnderTest kernel = on_device(kernel_name("com.microsoft:Inverse.cuda", {type}));
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {2, 2}, two);
        },
        tolerance);
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {4, 4}, four);
        },
        tolerance);
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {3, 4, 4, 4}, twelve);
        },
        tolerance);
    const std::vector<double> sixteen = matrices(type, {5, 16, 16}, 14);
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {5, 16, 16}, sixteen);
        },
        tolerance);
  };
  check(float(), 1e-5);
  check(double(), 1e-13);
  check(Float16(), 1e-3);
}

TEST(CudaKernels, CTR_1_Float16OfAConditionNearHundred) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    // The largest element of the inverse is at most 1, so that this is 2.4e-3 at most.
    agree(
        on_device("com.microsoft:Inverse.cuda<float16>"), naive(),
        [&] {
          return inverse_node(DataType::kFloat16, {16, 16}, conditioned_matrix(16, 90, seed));
        },
        2.4e-3);
  }
}

TEST(CudaKernels, CTR_1_ThePivotIsTheLargestInMagnitude) {
  // Each has another wrong choice, which loses all digits.
  const std::vector<double> values{1e-7, 1, -1,   1, 0.5,  1, 1e-7, 1,
                                   -1,   1, 1e-7, 1, 1e-7, 1, 0.5,  1};
  agree(on_device("com.microsoft:Inverse.cuda<float>"), naive(), [&] {
    return inverse_node(kFloat, {4, 2, 2}, values);
  });
}

/// Which matrices of a stack have no inverse.
std::vector<bool> singular_ones(const KernelUnderTest& kernel, DataType type, const Dims& dims,
                                const std::vector<double>& values) {
  TestDevice::get().reset(0);
  Node node = inverse_node(type, dims, values);
  (void)node.run(kernel);  // fails on the CPU, is reported on the device
  std::vector<bool> result;
  const std::vector<double> inverses = node.numbers();
  for (size_t i = 0; i < inverses.size(); i += static_cast<size_t>(dims[1] * dims[2])) {
    result.push_back(std::isnan(inverses[i]));
  }
  return result;
}

TEST(CudaKernels, CTR_4_TheSameMatricesAreSingularOnBothDevices) {
  std::mt19937 random(20);
  for (int n : {2, 3, 4, 5}) {
    const Dims dims{100, n, n};
    for (const double unit : {1.0, 1.0 / 3}) {
      // Few values, so that many are singular; thirds, so that rounding decides.
      std::vector<double> values;
      for (int i = 0; i < 100 * n * n; ++i) {
        values.push_back(unit * std::uniform_int_distribution<int>(-2, 2)(random));
      }
      const std::vector<bool> expected =
          singular_ones(cpu_kernel("com.microsoft:Inverse<float>"), kFloat, dims, values);
      EXPECT_GT(std::count(expected.begin(), expected.end(), true), 2);
      EXPECT_EQ(singular_ones(on_device("com.microsoft:Inverse.cuda<float>"), kFloat, dims, values),
                expected);
    }
  }
}

TEST(CudaKernels, CTR_2_InverseOfEmptyAndSmallStacks) {
  for (const Dims& dims : {Dims{0, 3, 3}, Dims{3, 0, 0}, Dims{1, 1}, Dims{2, 3, 3}, Dims{48, 48}}) {
    const std::vector<double> values =
        count_of(dims) == 1 ? std::vector<double>{-0.25} : matrices(kFloat, dims, 15);
    agree(on_device("com.microsoft:Inverse.cuda<float>"), naive(),
          [&] { return inverse_node(kFloat, dims, values); });
  }
}

TEST(CudaKernels, CTR_3_MatricesMustBeSquare) {
  Node rectangle = inverse_node(kFloat, {2, 3}, floats({2, 3}, 16));
  EXPECT_EQ(rectangle.check(on_device("com.microsoft:Inverse.cuda<float>")).code(),
            Code::kWrongExtent);
  Node vector = inverse_node(kFloat, {3}, floats({3}, 17));
  EXPECT_EQ(vector.check(on_device("com.microsoft:Inverse.cuda<float>")).code(), Code::kWrongRank);
}

TEST(CudaKernels, CTR_4_ASingularMatrixIsReportedAndFilledWithNaN) {
  std::vector<double> values = matrices(kFloat, {4, 3, 3}, 18);
  // Matrix 1 has no first pivot; in matrix 3, where a row repeats another, the last one is zero.
  for (size_t i = 0; i < 3; ++i) {
    values[9 * 1 + 3 * i] = 0;
    values[9 * 3 + 3 + i] = values[9 * 3 + i];
  }
  for (int order = 0; order < TestDevice::kOrders; ++order) {
    TestDevice::get().reset(order);
    Node node = inverse_node(kFloat, {4, 3, 3}, values);
    ASSERT_TRUE(node.run(on_device("com.microsoft:Inverse.cuda<float>")).ok());
    EXPECT_EQ(TestDevice::get().violations(), "");
    EXPECT_EQ(cuda::item_of(TestDevice::get().report), 1);
    const std::vector<double> found = node.numbers();
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(std::isnan(found[i]), i / 9 == 1 || i / 9 == 3) << i;
    }
  }
}

TEST(CudaKernels, InverseMistakesAreFound) {
  const std::vector<double> values = matrices(kFloat, {2, 12, 12}, 19);
  expect_mistakes_found(
      on_device("com.microsoft:Inverse.cuda<float>"), naive(),
      [&] {
        return inverse_node(kFloat, {2, 12, 12}, values);
      },
      1e-5);
}

}  // namespace
}  // namespace intarsia::test
