// SPDX-License-Identifier: Apache-2.0
//
// Products of two computed factors in float against the reference kernels in double: Gemm of any
// form, stacks of matrices, few rows and many, every instruction set and number of threads.
#include "core/operators/linear_algebra/matmul.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using cpu::Random;

struct Product {
  Dims a, b, c, y;  // c: bias of MatMul, C of Gemm; may be absent
  bool has_c = false, residual = false;
};

template <class T>
std::vector<T> draw(Random& random, const Dims& dims) {
  const std::vector<float> values = random.floats(count_of(dims));
  return {values.begin(), values.end()};
}

template <class T, class A>
std::vector<T> run_node(const std::string& kernel, const Product& p, const A& attributes,
                        uint32_t seed, Isa isa, int threads) {
  Random random(seed);
  Node node;
  node.input<T>(p.a, draw<T>(random, p.a)).template input<T>(p.b, draw<T>(random, p.b));
  const auto c = draw<T>(random, p.c);
  p.has_c ? node.input<T>(p.c, c) : node.absent();
  const auto residual = draw<T>(random, p.y);
  if (p.residual) node.input<T>(p.y, residual).in_place(3);
  node.output<T>(p.y).attributes(attributes).isa(isa).threads(threads);
  if (kernel.find(".packed") != std::string::npos) node.constant(1);
  EXPECT_TRUE(node.run(kernel).ok()) << kernel << ": " << node.diagnostic().what;
  return node.result<T>();
}

/// `plain`: the attributes without the activation, which is a relu if there is one.
template <class A>
void compare(const std::string& op, const Product& p, A attributes, int64_t k, uint32_t seed,
             const std::string& variant = ".computed<float>") {
  A plain = attributes;
  plain.activation = 0;
  std::vector<double> expected =
      run_node<double>(op + "<double>", p, plain, seed, Isa::kPortable, 1);
  if (attributes.activation != 0) {
    for (double& value : expected) value = std::max(value, 0.0);
  }
  const double tolerance = 8 * epsilon_of<float>() * (4 + std::sqrt(static_cast<double>(k)));
  for (const Isa isa : cpu::available_isas()) {
    SCOPED_TRACE(op + " " + cpu::isa_name(isa) + " seed " + std::to_string(seed));
    const std::string kernel = op + variant;
    const auto found = run_node<float>(kernel, p, attributes, seed, isa, 1);
    expect_near<float>(found, expected, tolerance, tolerance);
    EXPECT_EQ(run_node<float>(kernel, p, attributes, seed, isa, 3), found)
        << "bits depend on threads";
  }
}

int32_t extent(Random& random) {
  return static_cast<int32_t>(random.between(1, random.coin() ? 5 : 150));
}

TEST(ComputedGemm, EqualsTheReference) {
  for (uint32_t seed = 0; seed < part_of(200); ++seed) {
    Random random(seed);
    const int32_t m = extent(random), n = extent(random);
    const int32_t k = seed % 17 == 0 ? 0 : extent(random);
    GemmAttributes attributes;
    attributes.trans_a = random.coin() ? 1 : 0;
    attributes.trans_b = random.coin() ? 1 : 0;
    if (random.coin()) attributes.alpha = 0.5f;
    if (random.coin()) attributes.beta = -2;
    if (random.coin()) attributes.activation = static_cast<int32_t>(Activation::kRelu);
    const std::vector<Dims> forms = {{}, {1}, {n}, {1, n}, {m, 1}, {1, 1}, {m, n}};
    Product p;
    p.a = attributes.trans_a != 0 ? Dims{k, m} : Dims{m, k};
    p.b = attributes.trans_b != 0 ? Dims{n, k} : Dims{k, n};
    p.y = {m, n};
    p.has_c = random.between(0, 4) != 0;
    p.c = forms[static_cast<size_t>(random.between(0, 6))];
    p.residual = random.coin();
    compare("Gemm", p, attributes, k, seed);
    if (HasFailure()) return;
  }
}

TEST(ComputedMatMul, EqualsTheReference) {
  for (uint32_t seed = 1000; seed < 1000 + part_of(100); ++seed) {
    Random random(seed);
    const int32_t m = extent(random), n = extent(random), k = extent(random);
    Product p;
    // Stacks along up to three axes, which either factor may lack or have one matrix for.
    p.a = {m, k}, p.b = {k, n}, p.y = {m, n};
    bool more_a = true, more_b = true;
    for (auto axes = random.between(0, 3); axes > 0; --axes) {
      const auto count = static_cast<int32_t>(random.between(1, 5));
      const bool all_a = random.coin(), all_b = !all_a || random.coin();
      p.y.insert(p.y.begin(), count);
      // Without an axis, a factor has none of those in front.
      more_a = more_a && (all_a || random.coin() || !more_b);
      more_b = more_b && (all_b || random.coin() || !more_a);
      if (more_a) p.a.insert(p.a.begin(), all_a || !more_b ? count : 1);
      if (more_b) p.b.insert(p.b.begin(), all_b || !more_a ? count : 1);
    }
    p.c = {n};
    p.has_c = random.coin();
    p.residual = random.coin();
    MatMulAttributes attributes;
    if (random.coin()) attributes.activation = static_cast<int32_t>(Activation::kRelu);
    compare("MatMul", p, attributes, k, seed);
    if (HasFailure()) return;
  }
}

void compare_forms(const std::vector<int32_t>& rows, const std::vector<int32_t>& terms,
                   int32_t columns = 8) {
  uint32_t seed = 3000;
  for (const int32_t m : rows) {
    for (const int32_t k : terms) {
      for (int32_t n = 1; n <= columns; ++n, ++seed) {
        if (kSlowBuild && seed % 5 != 0) continue;
        Product p{{m, k}, {k, n}, {n}, {m, n}};
        p.has_c = seed % 2 == 0;
        p.residual = seed % 3 == 0;
        MatMulAttributes of_matmul;
        if (seed % 4 < 2) of_matmul.activation = static_cast<int32_t>(Activation::kRelu);
        compare("MatMul", p, of_matmul, k, seed);
        if (columns == 1) compare("MatMul", p, of_matmul, k, seed, ".packed<float>");
        GemmAttributes attributes;
        attributes.trans_a = seed / 2 % 2 != 0 ? 1 : 0;
        attributes.trans_b = seed / 3 % 2 != 0 ? 1 : 0;
        attributes.alpha = 0.5f;
        attributes.beta = seed % 5 == 0 ? 1 : -2;
        if (attributes.trans_a != 0) p.a = {k, m};
        if (attributes.trans_b != 0) p.b = {n, k};
        if (seed % 7 < 3) p.c = {m, n};
        compare("Gemm", p, attributes, k, seed);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// Few columns and terms, whose rows go side by side, and few elements, whose terms do.
TEST(ComputedProducts, NarrowOnesEqualTheReference) {
  compare_forms({16, 21, 300, 517}, {1, 3, 4, 6, 8, 13, 32});
}
TEST(ComputedProducts, FewSumsEqualTheReference) {
  compare_forms({1, 2, 3, 5, 8}, {64, 127, 128, 131, 300});
}
// Dot products of four rows at once, and what is left of the rows and of the terms.
TEST(ComputedProducts, OfOneColumnEqualTheReference) {
  compare_forms({4, 15, 16, 21, 130, 300}, {7, 8, 9, 15, 16, 33, 100, 512, 513}, 1);
}

TEST(ComputedMatMul, OfVectorsEqualsTheReference) {
  for (uint32_t seed = 2000; seed < 2000 + part_of(60); ++seed) {
    Random random(seed);
    const int32_t m = extent(random), k = seed % 17 == 0 ? 0 : extent(random);
    const auto outer = static_cast<int32_t>(random.between(1, 20));
    const Product forms[] = {
        {{m, k}, {k}, {1}, {m}},       {{outer, m, k}, {k}, {1}, {outer, m}},
        {{k}, {k, m}, {m}, {m}},       {{k}, {outer, k, m}, {m}, {outer, m}},
        {{k}, {k}, {1}, {}},           {{outer, m, k}, {outer, k, 1}, {1}, {outer, m, 1}},
        {{m, k}, {k, 1}, {1}, {m, 1}},
    };
    Product p = forms[seed % 7];
    p.has_c = p.b.size() > 1 && random.coin();
    p.residual = random.coin();
    MatMulAttributes attributes;
    if (random.coin()) attributes.activation = static_cast<int32_t>(Activation::kRelu);
    compare("MatMul", p, attributes, k, seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace intarsia::test
