// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes (gemm/typed.h) against naive loops, exactly, for every instruction set of the
// machine, in pairs and in quads: any signs, layouts and zero points.
//
// Buffers hold exactly what a product may read, so that an address sanitizer sees any read beyond
// that is not masked; the workspace starts out as large numbers.
#include <cstring>

#include "kernels_cpu/gemm/typed.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::cpu {
namespace {

enum class Zeros { kNone, kOne, kEach };

/// Bytes and how they lie.
struct Bytes {
  std::vector<uint8_t> data, zeros;
  ByteFactor factor{};

  /// `by_rows`: rows of memory hold a byte of each lane. Others may have gaps between them.
  Bytes(Random& random, int64_t lanes, int64_t k, bool by_rows, Zeros form, bool extremes) {
    const auto draw = [&](int64_t count) {
      std::vector<uint8_t> bytes;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t any = random.between(0, 255);
        // The least and the largest numbers, signed or not.
        bytes.push_back(static_cast<uint8_t>(extremes ? (any & 0x80) - (any & 1) : any));
      }
      return bytes;
    };
    const int64_t gap = random.coin() ? 0 : random.between(0, 3);
    data = draw(by_rows ? lanes * k : (lanes - 1) * (k + gap) + k);
    zeros = form == Zeros::kNone ? std::vector<uint8_t>{0} : draw(form == Zeros::kOne ? 1 : lanes);
    factor.data = data.data();
    factor.lane_step = by_rows ? 1 : k + gap;
    factor.k_step = by_rows ? lanes : 1;
    factor.k = k;
    factor.flip = random.coin() ? 0x80 : 0;
    // Without a zero point: that of either kind is the byte 0.
    factor.zeros = zeros.data();
    factor.zero_step = zeros.size() > 1 ? 1 : 0;
  }
  int difference(int64_t lane, int64_t k) const {
    const ptrdiff_t place = lane * factor.lane_step + k * factor.k_step;
    const uint8_t flip = factor.flip;
    return (data[static_cast<size_t>(place)] ^ flip) -
           (zeros[static_cast<size_t>(lane * factor.zero_step)] ^ flip);
  }
};

struct ByteCase {
  int64_t m, n, k;
  bool b_by_rows;
  Zeros a_zeros, b_zeros;
  bool extremes;
};

template <class S>
void check_product(Isa isa, const ByteCase& p, const Bytes& a, const Bytes& b,
                   const std::vector<uint32_t>& expected) {
  const int64_t groups = (p.k + kGroup<S> - 1) / kGroup<S>;
  TypedArgs<S> args{};
  args.shape = {p.m, p.n, groups};
  args.a = a.factor;
  args.b = b.factor;
  args.isa = isa;
  const auto bytes = static_cast<size_t>(typed_workspace<S>(args.shape));
  std::vector<std::byte> room(bytes + 128, std::byte{0x7f});
  const auto address = reinterpret_cast<uintptr_t>(room.data());
  std::byte* workspace = room.data() + (64 - address % 64) % 64;
  std::vector<uint32_t> c(expected.size());
  args.c = c.data();
  const int64_t units = typed_units<S>(args.shape);
  typed_run(args, 0, units, workspace);
  for (const std::byte* at = workspace + bytes; at < room.data() + room.size(); ++at) {
    ASSERT_EQ(*at, std::byte{0x7f}) << "written behind the workspace";
  }
  for (size_t i = 0; i < c.size(); ++i) {
    ASSERT_EQ(c[i], expected[i]) << "row " << i / static_cast<size_t>(p.n) << " column "
                                 << i % static_cast<size_t>(p.n);
  }
  std::vector<uint32_t> whole(c.size());
  whole.swap(c);
  args.c = c.data();
  args.enough_units = 16;
  const int64_t small = typed_units<S>(args.shape, args.enough_units);
  for (int64_t unit = small; unit-- > 0;) typed_run(args, unit, unit + 1, workspace);
  EXPECT_EQ(c, whole) << "the result depends on the split of the units";
}

void check(Isa isa, const ByteCase& p, uint32_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + " m " + std::to_string(p.m) + " n " +
               std::to_string(p.n) + " k " + std::to_string(p.k) + " by rows " +
               std::to_string(p.b_by_rows));
  Random random(seed);
  const Bytes a(random, p.m, p.k, false, p.a_zeros, p.extremes);
  const Bytes b(random, p.n, p.k, p.b_by_rows, p.b_zeros, p.extremes);
  std::vector<uint32_t> expected;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum += static_cast<uint32_t>(a.difference(i, k) * b.difference(j, k));
      }
      expected.push_back(sum);
    }
  }
  pick_groups(isa, [&]<class S>(S) { check_product<S>(isa, p, a, b, expected); });
}

class ByteProducts : public ::testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, ByteProducts, ::testing::ValuesIn(available_byte_isas()),
                         [](const auto& info) { return isa_name(info.param); });

TEST_P(ByteProducts, RandomShapes) {
  for (uint32_t seed = 0; seed < test::part_of(400); ++seed) {
    Random random(3000 + seed);
    const auto extent = [&](int64_t most) { return random.between(1, random.coin() ? 9 : most); };
    ByteCase p{extent(60),   extent(150),  extent(200),  random.coin(),
               Zeros::kNone, Zeros::kNone, seed % 3 == 0};
    p.a_zeros = static_cast<Zeros>(random.between(0, 2));
    p.b_zeros = static_cast<Zeros>(random.between(0, 2));
    check(GetParam(), p, seed);
    if (HasFailure()) return;
  }
}

TEST_P(ByteProducts, EveryRowCountAndColumnTail) {
  for (int64_t m = 1; m <= 26; m += test::kSlowBuild ? 6 : 1) {
    for (int64_t n : {1, 3, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 130}) {
      check(GetParam(), {m, n, 1 + m, n % 2 == 0, Zeros::kEach, Zeros::kEach, false}, 7);
      if (HasFailure()) return;
    }
  }
}

TEST_P(ByteProducts, BlocksAndPasses) {
  const ByteCase cases[] = {
      {250, 40, 2100, true, Zeros::kOne, Zeros::kEach, true},
      {13, 600, 1027, true, Zeros::kEach, Zeros::kEach, true},
      {2, 600, 1400, false, Zeros::kEach, Zeros::kOne, true},
      {3, 70, 3000, true, Zeros::kNone, Zeros::kNone, true},
      {250, 530, 20, true, Zeros::kEach, Zeros::kOne, false},
      {74, 600, 1020, true, Zeros::kEach, Zeros::kEach, true},
      {30, 70, 40 * 67, false, Zeros::kEach, Zeros::kEach, true},
  };
  uint32_t seed = 0;
  for (const ByteCase& p : cases) check(GetParam(), p, ++seed);
}

TEST_P(ByteProducts, NoTermsAreZero) {
  check(GetParam(), {14, 40, 0, true, Zeros::kEach, Zeros::kEach, false}, 1);
}

/// The largest sums of 32 bits wrap around: no instruction may saturate.
TEST_P(ByteProducts, Wrap) {
  const int64_t k = 33100;
  const std::vector<uint8_t> highest(static_cast<size_t>(k), 0xff);
  const uint8_t zero = 0;
  for (const GemmShape& shape : {GemmShape{1, 1, k}, GemmShape{9, 17, k}}) {
    pick_groups(GetParam(), [&]<class S>(S) {
      TypedArgs<S> args{};
      args.shape = shape;
      args.shape.k = (k + kGroup<S> - 1) / kGroup<S>;
      // All lanes are the same memory.
      args.a = args.b = {highest.data(), 0, 1, static_cast<ptrdiff_t>(k), 0, &zero, 0};
      std::vector<uint32_t> sums(static_cast<size_t>(shape.m * shape.n));
      args.c = sums.data();
      args.isa = GetParam();
      std::vector<std::byte> workspace(static_cast<size_t>(typed_workspace<S>(args.shape)) + 64);
      const auto address = reinterpret_cast<uintptr_t>(workspace.data());
      typed_run(args, 0, typed_units<S>(args.shape), workspace.data() + (64 - address % 64) % 64);
      for (uint32_t sum : sums) EXPECT_EQ(sum, static_cast<uint32_t>(k * 255 * 255));
    });
  }
}

TEST(ByteProducts, WorkspaceGrowsWithExtents) {
  for (int64_t size = 1; size < 600; ++size) {
    const int64_t here = typed_workspace<ByteQuad>({size, 77, 33});
    EXPECT_LE(here, typed_workspace<ByteQuad>({size + 1, 77, 33}));
    EXPECT_LE(typed_workspace<ByteQuad>({77, size, 33}),
              typed_workspace<ByteQuad>({77, size + 1, 33}));
    EXPECT_LE(typed_workspace<ByteQuad>({77, 33, size}),
              typed_workspace<ByteQuad>({77, 33, size + 1}));
  }
}

}  // namespace
}  // namespace intarsia::cpu
