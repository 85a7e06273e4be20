// SPDX-License-Identifier: Apache-2.0
//
// Products in float64, integers, float16 and bfloat16 (gemm/typed.h) against naive loops, for every
// instruction set of the machine: integers exactly, others within a bound of rounding.
//
// Buffers hold exactly what a product may read, so that an address sanitizer sees any read beyond;
// the workspace starts out as NaN patterns.
#include <cstring>
#include <limits>

#include "kernels_cpu/gemm/typed.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::cpu {
namespace {

template <class S>
constexpr bool kHalf = sizeof(S) == 2;

template <class S>
S random_element(Random& random) {
  if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(random.between(std::numeric_limits<int64_t>::min(), INT64_MAX));
  } else {
    return S(random.floats(1)[0]);
  }
}
template <class S>
std::vector<S> random_elements(Random& random, int64_t count) {
  std::vector<S> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(random_element<S>(random));
  return elements;
}

/// How D lies: absent, a scalar, a row, a column, a matrix.
enum class Addend { kNone, kScalar, kRow, kColumn, kMatrix };

struct TypedCase {
  GemmShape shape;
  bool trans_a, trans_b;
  Addend addend;
  bool residual, in_place;
  int alpha, beta;
  ActivationSpec activation = {};
};

/// A value as the naive loop computes with it.
template <class S>
auto wide(S value) {
  if constexpr (std::is_integral_v<S>) {
    return value;
  } else {
    return static_cast<double>(static_cast<Computed<S>>(value));
  }
}

template <class S>
::testing::AssertionResult agrees(const TypedCase& p, const Sum& sum, S got) {
  const double want = kHalf<S> ? reference(p.activation, sum.value) : sum.value;
  // Of one rounding of the sum, and of the result.
  const double unit = kHalf<S> ? 0x1p-24 : 0x1p-53;
  const double last = std::is_same_v<S, Float16> ? 0x1p-11 : kHalf<S> ? 0x1p-8 : 0;
  const double allowed =
      1.3 * (8 + 2 * std::sqrt(static_cast<double>(sum.terms))) * unit * sum.magnitude +
      (last + (kHalf<S> ? 2e-6 : 0)) * std::fabs(want) + 1e-7 * kHalf<S>;
  if (std::fabs(wide(got) - want) <= allowed) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "got " << wide(got) << ", expected " << want << " within " << allowed;
}

template <class S>
void check_product(Isa isa, const TypedCase& p, uint32_t seed) {
  using V = Computed<S>;
  const int64_t m = p.shape.m, n = p.shape.n, k = p.shape.k;
  SCOPED_TRACE("seed " + std::to_string(seed) + " m " + std::to_string(m) + " n " +
               std::to_string(n) + " k " + std::to_string(k) + " transposed " +
               std::to_string(p.trans_a) + std::to_string(p.trans_b));
  Random random(seed);
  const auto a = random_elements<S>(random, m * k), b = random_elements<S>(random, k * n);
  const auto d = random_elements<S>(random, m * n), z = random_elements<S>(random, m * n);
  TypedArgs<S> args{};
  args.shape = p.shape;
  args.a = p.trans_a ? TypedFactor<S>{a.data(), 1, m} : TypedFactor<S>{a.data(), k, 1};
  args.b = p.trans_b ? TypedFactor<S>{b.data(), k, 1} : TypedFactor<S>{b.data(), 1, n};
  args.alpha = static_cast<V>(p.alpha);
  args.beta = static_cast<V>(p.beta);
  if (p.addend != Addend::kNone) args.d = d.data();
  args.d_row = p.addend == Addend::kColumn ? 1 : p.addend == Addend::kMatrix ? n : 0;
  args.d_column = p.addend == Addend::kRow || p.addend == Addend::kMatrix ? 1 : 0;
  args.epilogue = epilogue_of(p.activation, isa);
  args.isa = isa;
  std::vector<S> c;
  const auto start = [&] {
    c = p.in_place ? z : std::vector<S>(z.size(), S{});
    args.c = c.data();
    args.z = p.in_place ? c.data() : p.residual ? z.data() : nullptr;
  };
  const auto bytes = static_cast<size_t>(typed_workspace<S>(p.shape));
  std::vector<std::byte> room(bytes + 128, std::byte{0xff});
  const auto address = reinterpret_cast<uintptr_t>(room.data());
  std::byte* workspace = room.data() + (64 - address % 64) % 64;
  start();
  const int64_t units = typed_units<S>(p.shape);
  typed_run(args, 0, units, workspace);
  for (const std::byte* at = workspace + bytes; at < room.data() + room.size(); ++at) {
    ASSERT_EQ(*at, std::byte{0xff}) << "written behind the workspace";
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const S got = c[static_cast<size_t>(i * n + j)];
      const auto term = [&](int64_t q) {
        return wide(args.a.data[i * args.a.lane_step + q * args.a.k_step]) *
               wide(args.b.data[j * args.b.lane_step + q * args.b.k_step]);
      };
      const S addend = d[static_cast<size_t>(i * args.d_row + j * args.d_column)];
      const S rest = z[static_cast<size_t>(i * n + j)];
      if constexpr (std::is_integral_v<S>) {
        S sum = 0;
        for (int64_t q = 0; q < k; ++q) sum += term(q);
        sum *= args.alpha;
        if (args.d != nullptr) sum += addend * args.beta;
        if (args.z != nullptr) sum += rest;
        ASSERT_EQ(got, sum) << "row " << i << " column " << j;
      } else {
        Sum sum;
        for (int64_t q = 0; q < k; ++q) sum.add(p.alpha * term(q));
        if (args.d != nullptr) sum.add(p.beta * wide(addend));
        if (args.z != nullptr) sum.add(wide(rest));
        ASSERT_TRUE(agrees<S>(p, sum, got)) << "row " << i << " column " << j;
      }
    }
  }
  const std::vector<S> whole = c;
  start();
  args.enough_units = 16;
  const int64_t small = typed_units<S>(args.shape, args.enough_units);
  for (int64_t unit = small; unit-- > 0;) typed_run(args, unit, unit + 1, workspace);
  EXPECT_EQ(std::memcmp(whole.data(), c.data(), c.size() * sizeof(S)), 0)
      << "the result depends on the split of the units";
}

class TypedProducts : public ::testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, TypedProducts, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return isa_name(info.param); });

template <class Check>
void for_each_type(const Check& check) {
  check(double());
  check(uint32_t());
  check(uint64_t());
  check(Float16());
  check(BFloat16());
}

TEST_P(TypedProducts, RandomShapes) {
  for (uint32_t trial = 0; trial < test::part_of(200); ++trial) {
    Random random(2000 + trial);
    const auto extent = [&](int64_t most) { return random.between(1, random.coin() ? 9 : most); };
    TypedCase p{};
    p.shape = {extent(60), extent(150), extent(60)};
    if (trial % 10 == 0) p.shape.k = random.between(200, 800);
    p.trans_a = random.coin();
    p.trans_b = random.coin();
    p.addend = static_cast<Addend>(random.between(0, 4));
    p.residual = random.coin();
    p.in_place = random.between(0, 3) == 0;
    p.alpha = random.coin() ? 1 : static_cast<int>(random.between(-3, 3));
    p.beta = random.coin() ? 1 : static_cast<int>(random.between(-3, 3));
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    for_each_type([&]<class S>(S) {
      if (!::testing::Test::HasFatalFailure()) check_product<S>(GetParam(), p, trial);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(TypedProducts, EveryRowCountAndColumnTail) {
  for (int64_t m = 1; m <= 25; m += test::kSlowBuild ? 6 : 1) {
    for (int64_t n : {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130}) {
      TypedCase p{{m, n, 6}, m % 2 == 0, n % 2 == 0, Addend::kRow, true, false, 1, 1};
      for_each_type([&]<class S>(S) { check_product<S>(GetParam(), p, 31); });
      if (HasFatalFailure()) return;
    }
  }
}

/// Rows read where they lie: every vector of columns, tails of rows, short and long sums.
TEST_P(TypedProducts, FewColumnsAndShortSums) {
  int64_t m = 3;
  uint32_t seed = 71;
  for (int64_t n = 1; n <= 17; n += test::kSlowBuild ? 5 : 1) {
    for (int64_t k : {1, 3, 16, 17, 300}) {
      m = m % 13 + 4;
      const bool odd = m % 2 != 0;
      TypedCase p{{m, n, k}, odd, n % 2 == 0, Addend::kRow, n % 3 == 0, k == 17, 1, 2};
      if (k == 3) p.alpha = -2;
      if (n % 4 == 0) p.addend = Addend::kScalar;
      if (n % 5 == 0) p.addend = Addend::kColumn;
      for_each_type([&]<class S>(S) { check_product<S>(GetParam(), p, ++seed); });
      if (HasFatalFailure()) return;
    }
  }
  for (int64_t n : {37, 300}) {
    TypedCase p{{131, n, 5}, false, n == 300, Addend::kNone, n == 300, false, 3, 1};
    for_each_type([&]<class S>(S) { check_product<S>(GetParam(), p, ++seed); });
  }
}

TEST_P(TypedProducts, BlocksAndPasses) {
  const auto check = [&](const GemmShape& shape, bool trans_a, bool trans_b, bool in_place) {
    TypedCase p{shape, trans_a,  trans_b, in_place ? Addend::kRow : Addend::kMatrix,
                true,  in_place, 1,       2};
    for_each_type([&]<class S>(S) { check_product<S>(GetParam(), p, 41); });
  };
  check({250, 40, 300}, false, false, false);
  check({13, 600, 270}, true, true, true);
  check({2, 600, 300}, false, false, false);
  check({3, 70, 1100}, false, true, true);
  check({1, 8, 1030}, false, false, false);
  check({2, 15, 259}, true, false, true);
  check({3, 32, 515}, false, false, true);
  check({250, 530, 20}, false, true, true);
}

TEST_P(TypedProducts, EmptyExtents) {
  EXPECT_EQ(typed_units<double>({0, 5, 5}), 0);
  EXPECT_EQ(typed_units<double>({5, 0, 5}), 0);
  for (Addend addend : {Addend::kNone, Addend::kColumn}) {
    TypedCase p{{14, 40, 0}, false, false, addend, addend == Addend::kColumn, false, 1, 1};
    for_each_type([&]<class S>(S) { check_product<S>(GetParam(), p, 51); });
  }
}

/// The workspace that a plan has for its largest extents serves all smaller ones.
TEST(TypedProducts, WorkspaceGrowsWithExtents) {
  for_each_type([]<class S>(S) {
    for (int64_t size = 1; size < 600; ++size) {
      const int64_t here = typed_workspace<S>({size, 77, 33});
      EXPECT_LE(here, typed_workspace<S>({size + 1, 77, 33}));
      EXPECT_LE(typed_workspace<S>({77, size, 33}), typed_workspace<S>({77, size + 1, 33}));
      EXPECT_LE(typed_workspace<S>({77, 33, size}), typed_workspace<S>({77, 33, size + 1}));
    }
    EXPECT_LT(typed_workspace<S>({INT64_MAX, INT64_MAX, INT64_MAX}), 2 << 20);
  });
}

/// An element is one chain of fused multiply-adds, or of few columns four, whatever the tile: the
/// bits are the same.
TEST(TypedProducts, FusedInstructionSetsGiveTheSameBits) {
  if (vector_isa(detect_isa()) != Isa::kAvx512) GTEST_SKIP() << "needs AVX-512";
  Random random(61);
  for (const GemmShape& shape : {GemmShape{37, 83, 700}, GemmShape{2, 5, 703},
                                 GemmShape{37, 7, 300}, GemmShape{30, 83, 9}}) {
    const auto a = random_elements<double>(random, shape.m * shape.k);
    const auto b = random_elements<double>(random, shape.k * shape.n);
    std::vector<std::byte> workspace(static_cast<size_t>(typed_workspace<double>(shape)));
    std::vector<double> c[2];
    for (int i = 0; i < 2; ++i) {
      c[i].resize(static_cast<size_t>(shape.m * shape.n));
      TypedArgs<double> args{};
      args.shape = shape;
      args.a = {a.data(), shape.k, 1};
      args.b = {b.data(), 1, shape.n};
      args.c = c[i].data();
      args.isa = i == 0 ? Isa::kAvx2 : Isa::kAvx512;
      typed_run(args, 0, typed_units<double>(shape), workspace.data());
    }
    EXPECT_EQ(std::memcmp(c[0].data(), c[1].data(), c[0].size() * sizeof(double)), 0);
  }
}

template <class S>
S of_bits(uint16_t bits) {
  S element;
  element.bits = bits;
  return element;
}

/// Conversion in blocks is that of one element: all numbers of 16 bits, times one.
TEST_P(TypedProducts, HalvesAreConvertedExactly) {
  const auto check = [&]<class S>(S) {
    std::vector<S> all(1 << 16), product(all.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = of_bits<S>(static_cast<uint16_t>(i));
    const S one = S(1.0f);
    const GemmShape shape{1, static_cast<int64_t>(all.size()), 1};
    std::vector<std::byte> workspace(static_cast<size_t>(typed_workspace<S>(shape)) + 64);
    const auto address = reinterpret_cast<uintptr_t>(workspace.data());
    TypedArgs<S> args{};
    args.shape = shape;
    args.a = {&one, 1, 1};
    args.b = {all.data(), 1, shape.n};
    args.c = product.data();
    args.isa = GetParam();
    typed_run(args, 0, typed_units<S>(shape), workspace.data() + (64 - address % 64) % 64);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto want = static_cast<float>(all[i]), got = static_cast<float>(product[i]);
      ASSERT_TRUE(want == got || (std::isnan(want) && std::isnan(got)))
          << "bits " << i << ": " << got << " instead of " << want;
    }
  };
  check(Float16());
  check(BFloat16());
}

/// Sums are rounded as one conversion would round them.
TEST_P(TypedProducts, HalvesAreRoundedAsElementsAre) {
  const auto check = [&]<class S>(S) {
    Random random(71);
    // x * y + 0: products of 16-bit numbers are exact in float.
    for (int trial = 0; trial < test::part_of(4000); ++trial) {
      const S x = of_bits<S>(static_cast<uint16_t>(random.between(0, 0xffff)));
      const S y = of_bits<S>(static_cast<uint16_t>(random.between(0, 0xffff)));
      S c;
      alignas(64) std::byte workspace[4096];
      TypedArgs<S> args{};
      args.shape = {1, 1, 1};
      ASSERT_LE(typed_workspace<S>(args.shape), 4096);
      args.a = {&x, 1, 1};
      args.b = {&y, 1, 1};
      args.c = &c;
      args.isa = GetParam();
      typed_run(args, 0, 1, workspace);
      const float product = static_cast<float>(x) * static_cast<float>(y);
      const S want(product);
      if (std::isnan(product)) {
        ASSERT_TRUE(std::isnan(static_cast<float>(c)));
      } else {
        ASSERT_EQ(static_cast<float>(c), static_cast<float>(want)) << product;
      }
    }
  };
  check(Float16());
  check(BFloat16());
}

}  // namespace
}  // namespace intarsia::cpu
