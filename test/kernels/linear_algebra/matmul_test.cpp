// SPDX-License-Identifier: Apache-2.0
//
// Reference matrix products: numpy's rules and the epilogue against naive loops in double,
// wrapping integers, and rejected nodes.
#include <limits>

#include "core/operators/linear_algebra/matmul.h"
#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();

template <class T>
void expect_matmul(const Dims& a_dims, const Dims& b_dims, const Dims& y_dims, bool fused) {
  std::mt19937 engine(4);
  const auto a = random_values<T>(count_of(a_dims), engine, -1, 1);
  const auto b = random_values<T>(count_of(b_dims), engine, -1, 1);
  Dims left = a_dims, right = b_dims, out = y_dims;
  if (a_dims.size() == 1)
    left.insert(left.begin(), 1), out.insert(out.end() - (b_dims.size() > 1), 1);
  if (b_dims.size() == 1) right.push_back(1), out.push_back(1);
  const size_t rank = out.size();
  const auto bias = random_values<T>(out[rank - 1], engine, -1, 1);
  const auto residual = random_values<T>(count_of(y_dims), engine, -1, 1);
  const auto broadcast = [&](const Dims& dims, Dims index) {
    index.erase(index.begin(), index.end() - static_cast<int64_t>(dims.size()));
    for (size_t i = 0; i < dims.size(); ++i) index[i] = dims[i] == 1 ? 0 : index[i];
    return static_cast<size_t>(place(dims, index));
  };
  Numbers expected;
  for_each_index(out, [&](const Dims& index) {
    double sum = 0;
    for (int32_t k = 0; k < left.back(); ++k) {
      Dims in_a = index, in_b = index;
      in_a[rank - 1] = k;
      in_b[rank - 2] = k;
      sum += as_double<T>(a[broadcast(left, in_a)]) * as_double<T>(b[broadcast(right, in_b)]);
    }
    if (fused) {
      sum += as_double<T>(bias[static_cast<size_t>(index[rank - 1])]) +
             as_double<T>(residual[expected.size()]);
      if (!std::is_same_v<T, double>) sum = std::max(sum, 0.0);
    }
    expected.push_back(sum);
  });
  MatMulAttributes attributes;
  Node node;
  node.input<T>(a_dims, a).template input<T>(b_dims, b).threads(2);
  if (fused) {
    node.input<T>({out[rank - 1]}, bias).template input<T>(y_dims, residual).in_place(3);
    if (!std::is_same_v<T, double>) attributes.activation = static_cast<int32_t>(Activation::kRelu);
  }
  node.output<T>(y_dims).attributes(attributes);
  ASSERT_TRUE(node.run(kernel_name("MatMul", {data_type_of<T>})).ok()) << node.diagnostic().what;
  expect_near<T>(node.result<T>(), expected, tolerance<T>(), 8 * tolerance<T>());
}

TEST(MatMul, FollowsNumpy) {
  for (bool fused : {false, true}) {
    expect_matmul<float>({3, 5}, {5, 130}, {3, 130}, fused);
    expect_matmul<float>({5}, {5, 4}, {4}, fused);
    expect_matmul<float>({3, 5}, {5}, {3}, fused);
    expect_matmul<float>({5}, {5}, {}, fused);
    expect_matmul<float>({2, 1, 3, 5}, {4, 5, 2}, {2, 4, 3, 2}, fused);
    expect_matmul<float>({5}, {2, 5, 2}, {2, 2}, fused);
    expect_matmul<float>({2, 3, 5}, {5}, {2, 3}, fused);
    expect_matmul<float>({3, 0}, {0, 2}, {3, 2}, fused);
    expect_matmul<float>({0, 3, 5}, {5, 2}, {0, 3, 2}, fused);
    expect_matmul<double>({2, 3, 5}, {1, 5, 2}, {2, 3, 2}, fused);
    expect_matmul<Float16>({3, 5}, {5, 2}, {3, 2}, fused);
    expect_matmul<BFloat16>({3, 5}, {5, 2}, {3, 2}, fused);
  }
}

TEST(MatMul, IntegersWrap) {
  Node node;
  node.input<int32_t>({1, 2}, {kHuge, 3}).input<int32_t>({2, 1}, {2, 5}).output<int32_t>({1, 1});
  ASSERT_TRUE(node.attributes(MatMulAttributes{}).run("MatMul<int32>").ok());
  EXPECT_EQ(node.result<int32_t>(), std::vector<int32_t>{13});  // 2^32 - 2 + 15
}

Code check_matmul(const Dims& a, const Dims& b, const Dims& y, int32_t activation = 0) {
  Node node;
  node.input<int32_t>(a, std::vector<int32_t>(static_cast<size_t>(count_of(a))));
  node.input<int32_t>(b, std::vector<int32_t>(static_cast<size_t>(count_of(b))));
  MatMulAttributes attributes;
  attributes.activation = activation;
  return node.output<int32_t>(y).attributes(attributes).check("MatMul<int32>").code();
}

TEST(MatMul, RefusesContradictions) {
  EXPECT_EQ(check_matmul({2, 3}, {3, 4}, {2, 4}), Code::kOk);
  EXPECT_EQ(check_matmul({2, 3}, {4, 4}, {2, 4}), Code::kWrongExtent);
  EXPECT_EQ(check_matmul({2, 3}, {3, 4}, {2, 5}), Code::kWrongExtent);
  EXPECT_EQ(check_matmul({}, {3, 4}, {4}), Code::kWrongRank);
  EXPECT_EQ(check_matmul({2, 2, 3}, {3, 3, 4}, {2, 2, 4}), Code::kWrongExtent);
  EXPECT_EQ(check_matmul({2, 3}, {3, 4}, {2, 4}, 1), Code::kUnsupported);
}

template <class T>
void expect_gemm(const Dims& c_dims, bool trans_a, bool trans_b, bool fused) {
  const int32_t m = 3, n = 70, k = 21;
  std::mt19937 engine(6);
  const auto a = random_values<T>(m * k, engine, -1, 1);
  const auto b = random_values<T>(k * n, engine, -1, 1);
  const auto c = random_values<T>(count_of(c_dims), engine, -1, 1);
  const auto residual = random_values<T>(m * n, engine, -1, 1);
  GemmAttributes attributes;
  attributes.alpha = 0.5f;
  attributes.beta = -2;
  attributes.trans_a = trans_a ? 1 : 0;
  attributes.trans_b = trans_b ? 1 : 0;
  Numbers expected;
  for (int32_t row = 0; row < m; ++row) {
    for (int32_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int32_t i = 0; i < k; ++i) {
        sum += as_double<T>(a[static_cast<size_t>(trans_a ? i * m + row : row * k + i)]) *
               as_double<T>(b[static_cast<size_t>(trans_b ? column * k + i : i * n + column)]);
      }
      const int32_t c_columns = c_dims.empty() ? 1 : c_dims.back();
      const int32_t c_row = c_dims.size() == 2 && c_dims[0] > 1 ? row : 0;
      const int32_t at = c_row * c_columns + (c_columns > 1 ? column : 0);
      sum = 0.5 * sum - 2 * as_double<T>(c[static_cast<size_t>(at)]);
      if (fused) sum = std::tanh(sum + as_double<T>(residual[expected.size()]));
      expected.push_back(sum);
    }
  }
  Node node;
  node.input<T>(trans_a ? Dims{k, m} : Dims{m, k}, a);
  node.input<T>(trans_b ? Dims{n, k} : Dims{k, n}, b).template input<T>(c_dims, c);
  if (fused) {
    node.input<T>({m, n}, residual).in_place(3);
    attributes.activation = static_cast<int32_t>(Activation::kTanh);
  }
  node.output<T>({m, n}).attributes(attributes);
  ASSERT_TRUE(node.run(kernel_name("Gemm", {data_type_of<T>})).ok());
  expect_near<T>(node.result<T>(), expected, tolerance<T>(), 16 * tolerance<T>());
}

TEST(Gemm, EqualsNaiveLoops) {
  for (const Dims& c : {Dims{3, 70}, Dims{70}, Dims{3, 1}, Dims{1, 70}, Dims{1}, Dims{}}) {
    for (bool trans_a : {false, true}) {
      for (bool trans_b : {false, true}) {
        expect_gemm<float>(c, trans_a, trans_b, false);
        expect_gemm<float>(c, trans_a, trans_b, true);
        expect_gemm<double>(c, trans_a, trans_b, false);
      }
    }
  }
  expect_gemm<Float16>({70}, false, true, true);
}

TEST(Gemm, RefusesWhatItCannotCompute) {
  const auto code = [](float alpha, const Dims& c) {
    GemmAttributes a;
    a.alpha = alpha;
    Node node;
    node.input<int64_t>({1, 2}, {3, 4}).input<int64_t>({2, 2}, {5, 6, 7, 8});
    node.input<int64_t>(c, std::vector<int64_t>(static_cast<size_t>(count_of(c)), 1));
    node.output<int64_t>({1, 2}).attributes(a);
    return node.check("Gemm<int64>").code();
  };
  EXPECT_EQ(code(-2, {2}), Code::kOk);
  EXPECT_EQ(code(0.5f, {2}), Code::kUnsupported);
  EXPECT_EQ(code(std::numeric_limits<float>::quiet_NaN(), {2}), Code::kUnsupported);
  EXPECT_EQ(code(1, {3}), Code::kWrongExtent);
  EXPECT_EQ(code(1, {2, 2}), Code::kWrongExtent);
  EXPECT_EQ(code(1, {1, 1, 2}), Code::kWrongRank);
}

}  // namespace
}  // namespace intarsia::test
