// SPDX-License-Identifier: Apache-2.0
//
// The fast MatMul and Gemm of types other than float32 beside the reference kernels: numpy's rules
// for extents, transpositions, factors, addends, residuals and activations, on every instruction
// set of the machine, the same bits with one thread and with three.
#include <limits>

#include "core/operators/linear_algebra/matmul.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using cpu::available_isas;
using cpu::Random;

template <class T>
constexpr bool kIsHalf = sizeof(T) == 2;

template <class T>
std::vector<T> elements(const Dims& dims, Random& random) {
  std::vector<T> values;
  for (int64_t i = 0; i < count_of(dims); ++i) {
    if constexpr (std::is_integral_v<T>) {
      values.push_back(static_cast<T>(random.between(INT64_MIN, INT64_MAX)));
    } else {
      values.push_back(T(random.floats(1)[0]));
    }
  }
  return values;
}

/// Runs the node that `make` gives by the reference and by the fast kernels; compares.
template <class T, class Make>
void compare(std::string_view op, bool bounded, double terms, const Make& make) {
  const auto type = std::vector<DataType>{data_type_of<T>};
  Node node = make();
  ASSERT_TRUE(node.run(kernel_name(op, type)).ok()) << node.diagnostic().what;
  const std::vector<T> expected = node.template result<T>();
  std::vector<std::string> variants{".fast"};
  if (kIsHalf<T> && bounded) variants.emplace_back(".bounded");
  for (const std::string& variant : variants) {
    for (Isa isa : available_isas()) {
      SCOPED_TRACE(variant + " " + cpu::isa_name(isa));
      std::vector<T> found[2];
      for (int threads : {1, 3}) {
        Node fast = make();
        fast.isa(isa).threads(threads);
        ASSERT_TRUE(fast.run(kernel_name(std::string(op) + variant, type)).ok())
            << fast.diagnostic().what;
        found[threads / 3] = fast.template result<T>();
      }
      const size_t bytes = expected.size() * sizeof(T);
      EXPECT_TRUE(bytes == 0 || std::memcmp(found[0].data(), found[1].data(), bytes) == 0)
          << "the result depends on the number of threads";
      if constexpr (std::is_integral_v<T>) {
        EXPECT_EQ(found[0], expected);
      } else {
        // Sums in float, of 16-bit results that differ in the last bit.
        const double unit = kIsHalf<T> ? 0x1p-22 : 0x1p-50;
        expect_near<T>(found[0], numbers_of(expected), 2 * epsilon_of<T>(), unit * (terms + 8));
      }
    }
  }
}

/// An operand that may be absent.
template <class T>
struct Addend {
  bool present;
  Dims dims;
  std::vector<T> values;
};

/// Appends bias (or C), residual and output.
template <class T>
void finish(Node& node, const Addend<T>& addend, const Addend<T>& residual) {
  if (addend.present) {
    node.input<T>(addend.dims, addend.values);
  } else {
    node.absent();
  }
  if (residual.present) node.input<T>(residual.dims, residual.values).in_place(3);
  node.output<T>(residual.dims);
}

struct Extents {
  Dims a, b, y;
};

/// Batch axes that A, B or both have, aligned at their ends; vectors on either side.
Extents random_extents(Random& random) {
  const auto extent = [&] { return static_cast<int32_t>(random.between(1, 40)); };
  const int32_t m = extent(), n = random.between(0, 5) == 0 ? 1 : extent(), k = extent();
  const bool vector_a = random.between(0, 6) == 0, vector_b = random.between(0, 6) == 0;
  const int64_t a_rank = vector_a ? 0 : random.between(0, 3);
  const int64_t b_rank = vector_b ? 0 : random.between(0, 3);
  Extents e;
  for (int64_t left = std::max(a_rank, b_rank); left > 0; --left) {
    const auto size = static_cast<int32_t>(random.between(1, 4));
    const int64_t one = random.between(0, 3);  // Whose extent is 1, where both have the axis.
    const bool in_a = left <= a_rank, in_b = left <= b_rank;
    if (in_a) e.a.push_back(in_b && one == 0 ? 1 : size);
    if (in_b) e.b.push_back(in_a && one == 1 ? 1 : size);
    e.y.push_back(size);
  }
  if (!vector_a) e.a.push_back(m), e.y.push_back(m);
  if (!vector_b) e.y.push_back(n);
  e.a.push_back(k), e.b.push_back(k);
  if (!vector_b) e.b.push_back(n);
  return e;
}

template <class T>
void random_matmuls(uint32_t first, int count) {
  for (uint32_t seed = first; seed < first + part_of(count); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Extents e = random_extents(random);
    const auto a = elements<T>(e.a, random), b = elements<T>(e.b, random);
    const Dims columns{e.b.size() > 1 ? e.b.back() : 1};
    Addend<T> bias{false, columns, elements<T>(columns, random)};
    Addend<T> residual{false, e.y, elements<T>(e.y, random)};
    bias.present = random.coin(), residual.present = random.coin();
    MatMulAttributes attributes;
    const bool bounded = random.coin();
    if (kIsHalf<T>) {
      const Activation kind = bounded ? Activation::kRelu : Activation::kTanh;
      attributes.activation = static_cast<int32_t>(kind);
    }
    compare<T>("MatMul", bounded, e.a.back(), [&] {
      Node node;
      node.input<T>(e.a, a).template input<T>(e.b, b).attributes(attributes);
      finish(node, bias, residual);
      return node;
    });
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TypedMatMul, EqualsTheReference) {
  random_matmuls<double>(0, 60);
  random_matmuls<int32_t>(100, 60);
  random_matmuls<int64_t>(200, 30);
  random_matmuls<uint32_t>(300, 20);
  random_matmuls<uint64_t>(400, 20);
  random_matmuls<Float16>(500, 60);
  random_matmuls<BFloat16>(600, 60);
}

template <class T>
void matmul_of(const Extents& e) {
  Random random(7);
  const auto a = elements<T>(e.a, random), b = elements<T>(e.b, random);
  compare<T>("MatMul", true, e.a.back(), [&] {
    Node node;
    node.input<T>(e.a, a).template input<T>(e.b, b).template output<T>(e.y);
    node.attributes(MatMulAttributes{});
    return node;
  });
}

TEST(TypedMatMul, ServesEveryForm) {
  const Extents forms[] = {{{5}, {5}, {}},
                           {{5}, {5, 4}, {4}},
                           {{300, 5}, {5}, {300}},
                           {{5}, {2, 5, 2}, {2, 2}},
                           {{2, 3, 5}, {5}, {2, 3}},
                           {{3, 2, 5}, {3, 5, 1}, {3, 2, 1}},
                           {{1, 2, 5}, {3, 1, 5, 4}, {3, 1, 2, 4}},
                           {{2, 1, 3, 5}, {4, 5, 2}, {2, 4, 3, 2}},
                           {{3, 0}, {0, 2}, {3, 2}},
                           {{3, 0}, {0}, {3}},
                           {{0, 3, 5}, {5, 2}, {0, 3, 2}},
                           {{2, 0, 5}, {2, 5, 2}, {2, 0, 2}},
                           {{2, 260, 300}, {2, 300, 140}, {2, 260, 140}}};
  for (const Extents& e : forms) {
    matmul_of<double>(e);
    matmul_of<uint32_t>(e);
    matmul_of<Float16>(e);
    if (HasFailure()) return;
  }
}

template <class T>
void random_gemms(uint32_t first, int count) {
  for (uint32_t seed = first; seed < first + part_of(count); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto extent = [&] {
      return static_cast<int32_t>(random.between(1, random.coin() ? 4 : 70));
    };
    const int32_t m = extent(), n = extent(), k = extent();
    const Dims addends[] = {{m, n}, {n}, {m, 1}, {1, n}, {1}, {}};
    const Dims c_dims = addends[random.between(0, 5)];
    GemmAttributes attributes;
    attributes.trans_a = random.coin() ? 1 : 0;
    attributes.trans_b = random.coin() ? 1 : 0;
    attributes.alpha = static_cast<float>(random.between(-3, 3));
    attributes.beta = static_cast<float>(random.between(-3, 3));
    if (!std::is_integral_v<T>) attributes.alpha *= 0.25f;
    const bool bounded = random.coin();
    if (kIsHalf<T> && !bounded) attributes.activation = static_cast<int32_t>(Activation::kSigmoid);
    const Dims a_dims = attributes.trans_a != 0 ? Dims{k, m} : Dims{m, k};
    const Dims b_dims = attributes.trans_b != 0 ? Dims{n, k} : Dims{k, n};
    const auto a = elements<T>(a_dims, random), b = elements<T>(b_dims, random);
    Addend<T> c{false, c_dims, elements<T>(c_dims, random)};
    Addend<T> residual{false, {m, n}, elements<T>({m, n}, random)};
    c.present = random.coin(), residual.present = random.coin();
    compare<T>("Gemm", bounded, k, [&] {
      Node node;
      node.input<T>(a_dims, a).template input<T>(b_dims, b).attributes(attributes);
      finish(node, c, residual);
      return node;
    });
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TypedGemm, EqualsTheReference) {
  random_gemms<double>(0, 80);
  random_gemms<int32_t>(100, 60);
  random_gemms<int64_t>(200, 30);
  random_gemms<uint32_t>(300, 20);
  random_gemms<uint64_t>(400, 20);
  random_gemms<Float16>(500, 80);
  random_gemms<BFloat16>(600, 80);
}

TEST(TypedGemm, RefusesWhatItCannotCompute) {
  const auto code = [](float alpha, int32_t activation) {
    GemmAttributes a;
    a.alpha = alpha;
    a.activation = activation;
    Node node;
    node.input<int64_t>({1, 2}, {3, 4}).input<int64_t>({2, 2}, {5, 6, 7, 8});
    node.output<int64_t>({1, 2}).attributes(a);
    return node.run("Gemm.fast<int64>").code();
  };
  EXPECT_EQ(code(-2, 0), Code::kOk);
  EXPECT_EQ(code(0.5f, 0), Code::kUnsupported);
  EXPECT_EQ(code(std::numeric_limits<float>::quiet_NaN(), 0), Code::kUnsupported);
  EXPECT_EQ(code(1, 1), Code::kUnsupported);
}

TEST(TypedMatMul, NeedsItsWorkspace) {
  Node node;
  node.input<double>({2, 2}, {1, 2, 3, 4}).input<double>({2, 1}, {5, 6}).output<double>({2, 1});
  node.attributes(MatMulAttributes{});
  EXPECT_EQ(node.check("MatMul.fast<double>").code(), Code::kCorruptPlan);
  EXPECT_TRUE(node.run("MatMul.fast<double>").ok());
  EXPECT_EQ(node.result<double>(), (std::vector<double>{17, 39}));
}

}  // namespace
}  // namespace intarsia::test
