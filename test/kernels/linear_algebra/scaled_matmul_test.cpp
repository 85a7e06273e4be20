// SPDX-License-Identifier: Apache-2.0
//
// ScaledMatMul against sums in double: stacks whose matrices lie transposed or not, few rows and
// many, factors, bias, residual and activation, in every type, by every kernel, on every
// instruction set and several threads.
#include "core/operators/linear_algebra/matmul.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using cpu::Random;

struct Stacks {
  Dims a, b, y;  // as they lie
  ScaledMatMulAttributes attributes;
  bool bias = false, residual = false;

  explicit Stacks(Random& random) {
    const auto extent = [&] {
      return static_cast<int32_t>(random.between(1, random.coin() ? 5 : 150));
    };
    const int32_t m = extent(), n = extent(), k = extent();
    attributes.trans_a = random.coin() ? 1 : 0;
    attributes.trans_b = random.coin() ? 1 : 0;
    if (random.coin()) attributes.alpha = random.coin() ? -0.375f : 2;
    if (random.coin()) attributes.activation = static_cast<int32_t>(Activation::kRelu);
    bias = random.coin(), residual = random.coin();
    a = attributes.trans_a != 0 ? Dims{k, m} : Dims{m, k};
    b = attributes.trans_b != 0 ? Dims{n, k} : Dims{k, n};
    y = {m, n};
    const auto batches = random.between(0, 2);
    const auto lacks = random.between(0, 3);  // 0: A has no leading axes, 1: B has none
    for (int64_t axis = 0; axis < batches; ++axis) {
      const auto count = static_cast<int32_t>(random.between(1, 4));
      const int64_t one = random.between(0, 3);
      y.insert(y.begin(), count);
      if (lacks != 0) a.insert(a.begin(), lacks != 1 && one == 0 ? 1 : count);
      if (lacks != 1) b.insert(b.begin(), lacks != 0 && one == 1 ? 1 : count);
    }
  }

  int64_t depth() const { return a[a.size() - (attributes.trans_a != 0 ? 2 : 1)]; }
};

/// The element at `index` of Y's leading axes, row and column of what lies as `dims`.
size_t locate(const Dims& dims, const Dims& index, bool transposed, int32_t row, int32_t column) {
  Dims at(dims.size());
  for (size_t i = 0; i + 2 < dims.size(); ++i) {
    at[i] = dims[i] == 1 ? 0 : index[index.size() - dims.size() + i];
  }
  at.end()[-2] = transposed ? column : row;
  at.end()[-1] = transposed ? row : column;
  return static_cast<size_t>(place(dims, at));
}

template <class T>
void expect_product(const Stacks& s, std::string_view variant, uint32_t seed) {
  std::mt19937 engine(seed);
  const bool rounds = sizeof(T) == 2;
  const auto a = random_values<T>(count_of(s.a), engine, -1, 1);
  const auto b = random_values<T>(count_of(s.b), engine, -1, 1);
  const Dims columns{s.y.back()};
  const auto bias = random_values<T>(columns[0], engine, -1, 1);
  const auto residual = random_values<T>(count_of(s.y), engine, -1, 1);
  ScaledMatMulAttributes attributes = s.attributes;
  if (std::is_same_v<T, double>) attributes.activation = 0;
  Numbers expected;
  for_each_index(s.y, [&](const Dims& index) {
    double sum = 0;
    for (int32_t k = 0; k < s.depth(); ++k) {
      sum += as_double<T>(a[locate(s.a, index, attributes.trans_a != 0, index.end()[-2], k)]) *
             as_double<T>(b[locate(s.b, index, attributes.trans_b != 0, k, index.end()[-1])]);
    }
    sum *= static_cast<double>(attributes.alpha);
    if (s.bias) sum += as_double<T>(bias[static_cast<size_t>(index.back())]);
    if (s.residual) sum += as_double<T>(residual[expected.size()]);
    expected.push_back(attributes.activation != 0 ? std::max(sum, 0.0) : sum);
  });
  // Sums of terms below 1; elements of 16 bits are rounded once more.
  const double exact = 4 * (4 + std::sqrt(static_cast<double>(s.depth())));
  const double absolute = exact * (rounds ? 0x1p-23 : epsilon_of<T>());
  for (const Isa isa : cpu::available_isas()) {
    for (const int threads : {1, 3}) {
      Node node;
      node.input<T>(s.a, a).template input<T>(s.b, b);
      s.bias ? node.input<T>(columns, bias) : node.absent();
      if (s.residual) node.input<T>(s.y, residual).in_place(3);
      node.output<T>(s.y).attributes(attributes).isa(isa).threads(threads);
      const std::string kernel =
          kernel_name("intarsia:ScaledMatMul" + std::string(variant), {data_type_of<T>});
      ASSERT_TRUE(node.run(kernel).ok()) << kernel << ": " << node.diagnostic().what;
      SCOPED_TRACE(kernel + " " + cpu::isa_name(isa) + " seed " + std::to_string(seed));
      expect_near<T>(node.result<T>(), expected, rounds ? epsilon_of<T>() : absolute, absolute);
    }
  }
}

TEST(ScaledMatMul, EqualsSumsInDouble) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(part_of(150)); ++seed) {
    Random random(seed);
    const Stacks s(random);
    expect_product<float>(s, ".computed", seed);
    if (seed % 4 == 0) {
      expect_product<float>(s, "", seed);
      expect_product<double>(s, "", seed);
      expect_product<double>(s, ".fast", seed);
      expect_product<Float16>(s, "", seed);
      expect_product<Float16>(s, ".fast", seed);
      expect_product<Float16>(s, ".bounded", seed);
      expect_product<BFloat16>(s, ".fast", seed);
    }
    if (HasFailure()) return;
  }
}

Code check_scaled(const Dims& a, const Dims& b, const Dims& y, int32_t trans_a, int32_t trans_b) {
  Node node;
  node.input<float>(a, std::vector<float>(static_cast<size_t>(count_of(a))));
  node.input<float>(b, std::vector<float>(static_cast<size_t>(count_of(b))));
  ScaledMatMulAttributes attributes;
  attributes.trans_a = trans_a;
  attributes.trans_b = trans_b;
  node.output<float>(y).attributes(attributes);
  return node.check("intarsia:ScaledMatMul<float>").code();
}

TEST(ScaledMatMul, RefusesContradictions) {
  EXPECT_EQ(check_scaled({3, 2}, {4, 3}, {2, 4}, 1, 1), Code::kOk);
  EXPECT_EQ(check_scaled({3}, {4, 3}, {4}, 0, 1), Code::kOk);
  EXPECT_EQ(check_scaled({3, 2}, {3, 4}, {2, 4}, 1, 1), Code::kWrongExtent);
  EXPECT_EQ(check_scaled({2, 3}, {4, 3}, {2, 3}, 0, 1), Code::kWrongExtent);
  EXPECT_EQ(check_scaled({3}, {3, 4}, {4}, 1, 0), Code::kWrongRank);
  EXPECT_EQ(check_scaled({2, 3}, {3}, {2}, 0, 1), Code::kWrongRank);
}

}  // namespace
}  // namespace intarsia::test
