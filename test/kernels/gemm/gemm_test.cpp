// SPDX-License-Identifier: Apache-2.0
//
// Activations, packing and products of the f32 GEMM family against loops in double precision, for
// every instruction set of the machine.
//
// Operands are drawn from seeds that are printed; buffers hold exactly what a kernel may read, so
// that an address sanitizer sees any read beyond.
#include <cstring>
#include <limits>
#include <numeric>

#include "kernels_cpu/gemm/block.h"
#include "kernels_cpu/gemm/block_grid.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::cpu {
namespace {

class GemmFamily : public ::testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, GemmFamily, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return isa_name(info.param); });

TEST(Isa, ForcedTilesAreThoseAskedFor) {
  for (Isa isa : available_isas()) {
    for (Isa other : available_isas()) {
      EXPECT_EQ(tile_kernels(isa).families == tile_kernels(other).families, isa == other);
    }
  }
}

// Fused instruction sets round once for each multiply-add, portable code twice.
TEST_P(GemmFamily, MultiplyAddsAreFused) {
  const float a[2] = {1.0f, 1.0f + 0x1p-12f};
  float b[2 * kPanel] = {};
  b[0] = -1.0f;
  b[kPanel] = 1.0f + 0x1p-12f;
  float c[1];
  GemmArgs args{{1, 1, 2}, a, 2, b, c, 1};
  args.isa = GetParam();
  gemm_run(args, 0, 1);
  EXPECT_EQ(c[0], 0x1p-11f + (GetParam() == Isa::kPortable ? 0.0f : 0x1p-24f));
}

// ---- activations --------------------------------------------------------------------------------

// y = act(x): the product of nothing, with x as the residual.
void activate_rows(Isa isa, const ActivationSpec& spec, const float* x, float* y, int64_t pitch,
                   int64_t rows, int64_t n) {
  GemmArgs args{{rows, n, 0}, nullptr, 0, nullptr, y, pitch};
  args.residual = x;
  args.residual_pitch = pitch;
  args.epilogue = epilogue_of(spec, isa);
  args.isa = isa;
  gemm_run(args, 0, gemm_units(args.shape));
}

TEST_P(GemmFamily, ActivationsAreAccurate) {
  std::vector<float> x;
  for (int i = -40000; i <= 40000; ++i) x.push_back(static_cast<float>(i) * 0.0005f);
  for (float e = 1e-30f; e < 1e30f; e *= 3) x.insert(x.end(), {e, -e});
  x.push_back(0.0f);
  for (int kind = 0; kind < kActivations; ++kind) {
    const ActivationSpec spec = spec_of(kind);
    std::vector<float> y(x.size());
    const auto n = static_cast<int64_t>(x.size());
    activate_rows(GetParam(), spec, x.data(), y.data(), n, 1, n);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = reference(spec, x[i]);
      if (std::fabs(want) > std::numeric_limits<float>::max()) continue;
      const double error = std::fabs(y[i] - want);
      // Products that only the hardware's range ends may be flushed or lose bits.
      if (error < 1e-37) continue;
      // A result that is a small difference of its input's parts: relative to what is subtracted.
      double scale = std::fabs(want);
      if (spec.kind == Activation::kHardSigmoid) scale = std::fmax(scale, 0.5);
      if (spec.kind == Activation::kHardSwish) scale = std::fmax(scale, std::fabs(x[i]) * 0.5);
      if (spec.kind == Activation::kGeluTanh && x[i] < 0) {
        // The exponent itself is a float of up to 100: its rounding is amplified.
        scale *= 1 + 0.3 * (std::fabs(x[i]) + 0.0447 * std::pow(std::fabs(x[i]), 3));
      }
      worst = std::fmax(worst, error / scale);
      ASSERT_LE(error, 2e-6 * scale)
          << "activation " << kind << " at " << x[i] << ": " << y[i] << " instead of " << want;
      // The reference squares in float, far out in the tail of GELU.
      if (spec.kind == Activation::kGelu && x[i] < 0) scale *= 1 + x[i] * x[i] * 0.1;
      ASSERT_LE(std::fabs(activate(spec, x[i]) - want), 2e-6 * scale)
          << "reference activation " << kind << " at " << x[i];
    }
    RecordProperty("worst_relative_error_e9_" + std::to_string(kind), std::to_string(worst * 1e9));
  }
}

TEST_P(GemmFamily, ActivationsKeepNanAndLimits) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[4] = {nan, inf, -inf, -0.0f};
  for (int kind = 0; kind < kActivations; ++kind) {
    const ActivationSpec spec = spec_of(kind);
    float y[4];
    activate_rows(GetParam(), spec, x, y, 4, 1, 4);
    for (int i = 0; i < 4; ++i) {
      const float want = activate(spec, x[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(y[i])) << "activation " << kind << " of " << x[i] << ": " << y[i];
      } else if (std::isinf(want)) {
        EXPECT_EQ(y[i], want) << "activation " << kind << " of " << x[i];
      } else {
        EXPECT_NEAR(y[i], want, 1e-6) << "activation " << kind << " of " << x[i];
      }
    }
  }
}

TEST_P(GemmFamily, ActivationsWriteOnlyTheirColumns) {
  for (int64_t n = 1; n < 40; ++n) {
    const int64_t pitch = n + 5;
    const std::vector<float> x = Random(7).floats(3 * pitch);
    std::vector<float> y(x.size(), kUntouched);
    const ActivationSpec spec = spec_of(static_cast<int>(Activation::kTanh));
    activate_rows(GetParam(), spec, x.data(), y.data(), pitch, 3, n);
    for (int64_t i = 0; i < 3 * pitch; ++i) {
      const float want = i % pitch < n ? std::tanh(x[i]) : kUntouched;
      EXPECT_NEAR(y[i], want, i % pitch < n ? 2e-6 : 0);
    }
  }
}

// ---- packing ------------------------------------------------------------------------------------

TEST(Pack, LayoutsAgree) {
  Random random(11);
  for (int trial = 0; trial < test::part_of(60); ++trial) {
    const int64_t k = random.between(1, 40), n = random.between(1, 300);
    const int64_t pitch = n + random.between(0, 3), pitch_t = k + random.between(0, 3);
    const std::vector<float> b = random.floats((k - 1) * pitch + n);
    std::vector<float> transposed(static_cast<size_t>((n - 1) * pitch_t + k));
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < n; ++j) transposed[j * pitch_t + i] = b[i * pitch + j];
    }
    const auto size = static_cast<size_t>(packed_floats(1, k, n));
    std::vector<float> one(size, kUntouched), two(size, kUntouched);
    pack_b(b.data(), pitch, k, n, one.data());
    pack_b_transposed(transposed.data(), pitch_t, k, n, two.data());
    for (int64_t j = 0; j < panel_count(n) * kPanel; ++j) {
      for (int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<size_t>((j / kPanel * k + i) * kPanel + j % kPanel);
        const float want = j < n ? b[i * pitch + j] : 0.0f;
        ASSERT_EQ(one[at], want) << "k " << k << " n " << n;
        ASSERT_EQ(two[at], want) << "transposed, k " << k << " n " << n;
      }
    }
  }
}

// ---- matrix product -----------------------------------------------------------------------------

struct GemmCase {
  GemmShape shape;
  int64_t a_pad, c_pad, residual_pad;
  bool bias, residual, in_place;
  ActivationSpec activation;
};

void check_gemm(Isa isa, const GemmCase& p, uint32_t seed) {
  const int64_t m = p.shape.m, n = p.shape.n, k = p.shape.k;
  SCOPED_TRACE("seed " + std::to_string(seed) + " m " + std::to_string(m) + " n " +
               std::to_string(n) + " k " + std::to_string(k) + " in_place " +
               std::to_string(p.in_place));
  Random random(seed);
  const int64_t a_pitch = k + p.a_pad, c_pitch = n + p.c_pad;
  const int64_t r_pitch = p.in_place ? c_pitch : n + p.residual_pad;
  const std::vector<float> a = random.floats((m - 1) * a_pitch + k);
  const std::vector<float> b = random.floats(k * n);
  const std::vector<float> bias = random.floats(n);
  const std::vector<float> residual = random.floats((m - 1) * r_pitch + n);
  std::vector<float> packed(static_cast<size_t>(packed_floats(1, k, n)));
  pack_b(b.data(), n, k, n, packed.data());

  std::vector<float> c(static_cast<size_t>((m - 1) * c_pitch + n), kUntouched);
  const auto fill = [&] {
    for (int64_t i = 0; p.in_place && i < m; ++i) {
      std::memcpy(&c[i * c_pitch], &residual[i * r_pitch], n * sizeof(float));
    }
  };
  fill();
  GemmArgs args{p.shape, a.data(), a_pitch, packed.data(), c.data(), c_pitch};
  args.bias = p.bias ? bias.data() : nullptr;
  args.residual = p.in_place ? c.data() : p.residual ? residual.data() : nullptr;
  args.residual_pitch = r_pitch;
  args.epilogue = epilogue_of(p.activation, isa);
  args.isa = isa;
  const int64_t units = gemm_units(p.shape);
  gemm_run(args, 0, units);

  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Sum sum;
      for (int64_t q = 0; q < k; ++q) sum.add(double{a[i * a_pitch + q]} * b[q * n + j]);
      if (p.bias) sum.add(bias[j]);
      if (args.residual) sum.add(residual[i * r_pitch + j]);
      ASSERT_TRUE(close(p.activation, sum, c[i * c_pitch + j])) << "row " << i << " column " << j;
    }
    for (int64_t j = n; i + 1 < m && j < c_pitch; ++j) {
      ASSERT_EQ(c[i * c_pitch + j], kUntouched) << "row " << i << " column " << j;
    }
  }
  const std::vector<float> whole = c;
  for (float& x : c) x = kUntouched;
  fill();
  for (int64_t unit = units; unit-- > 0;) gemm_run(args, unit, unit + 1);
  EXPECT_EQ(std::memcmp(whole.data(), c.data(), c.size() * sizeof(float)), 0)
      << "the result depends on the split of the units";
}

TEST_P(GemmFamily, RandomProducts) {
  const uint32_t base = 20240000;
  for (uint32_t trial = 0; trial < test::part_of(250); ++trial) {
    Random random(base + trial);
    const bool few_rows = random.between(0, 2) == 0;
    GemmCase p{};
    p.shape = {few_rows ? random.between(1, 8) : random.between(1, 60), random.between(1, 200),
               random.between(1, 60)};
    if (trial % 10 == 0) p.shape.k = random.between(200, 800);
    p.a_pad = random.between(0, 5);
    p.c_pad = random.coin() ? 0 : random.between(1, 9);
    p.residual_pad = random.between(0, 3);
    p.bias = random.coin();
    p.residual = random.coin();
    p.in_place = random.between(0, 3) == 0;
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    check_gemm(GetParam(), p, base + trial);
    if (HasFatalFailure()) return;
  }
}

TEST_P(GemmFamily, EveryRowCountAndColumnTail) {
  for (int64_t m = 1; m <= 26; ++m) {
    for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 63, 64, 97, 128, 130, 145}) {
      check_gemm(GetParam(), {{m, n, 5}, 0, 3, 0, true, true, false, {}}, 31);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GemmFamily, BlocksAndPasses) {
  check_gemm(GetParam(), {{500, 70, 600}, 1, 1, 0, true, true, false, {}}, 41);
  check_gemm(GetParam(), {{13, 1200, 2100}, 0, 0, 0, true, true, true, {}}, 42);
  check_gemm(GetParam(), {{1, 900, 1030}, 0, 0, 0, true, false, false, {}}, 43);
  check_gemm(GetParam(), {{250, 260, 257}, 0, 0, 0, false, false, true, spec_of(10)}, 44);
  // Few blocks, which are made even.
  check_gemm(GetParam(), {{49, 150, 300}, 0, 1, 0, true, true, false, {}}, 45);
  check_gemm(GetParam(), {{101, 66, 200}, 0, 0, 0, true, false, true, {}}, 46);
}

// The unevenness of shares, beside a count of the elements of each.
TEST(Blocks, SharesAreCounted) {
  for (uint32_t trial = 0; trial < 200; ++trial) {
    Random random(700 + trial);
    const BlockGrid grid{random.between(1, 90), random.between(1, 40), random.between(1, 90),
                         random.between(1, 40)};
    const int64_t threads = random.between(1, 5);
    std::vector<int64_t> blocks;
    for (int64_t line = 0; line < grid.lines; line += grid.line_block) {
      for (int64_t at = 0; at < grid.length; at += grid.length_block) {
        blocks.push_back(std::min(grid.line_block, grid.lines - line) *
                         std::min(grid.length_block, grid.length - at));
      }
    }
    const auto count = static_cast<int64_t>(blocks.size());
    int64_t most = 0;
    for (int64_t thread = 0, done = 0; thread < threads; ++thread) {
      const int64_t end = done + count / threads + (thread < count % threads ? 1 : 0);
      most =
          std::max(most, std::accumulate(blocks.begin() + done, blocks.begin() + end, int64_t{}));
      done = end;
    }
    EXPECT_EQ(grid.unevenness(threads), most * threads * 100 / (grid.lines * grid.length) - 100);
  }
}

// Products of any shape that are worth two threads give each of them about half.
TEST(Blocks, ThreadsHaveEvenShares) {
  int shapes = 0, uneven = 0;
  for (uint32_t trial = 0; trial < 2000; ++trial) {
    Random random(900 + trial);
    const int64_t m = random.between(1, random.coin() ? 100 : 3000);
    const int64_t n = random.between(1, random.coin() ? 200 : 2000), k = random.between(1, 1500);
    if (m * n * k < 1 << 21) continue;
    const Blocking s = choose_blocking(m, n, k, m * k, kMaxBlockRows);
    const BlockGrid grid = s.columns_first ? BlockGrid{m, s.m_block, n, s.n_block}
                                           : BlockGrid{n, s.n_block, m, s.m_block};
    const int64_t percent = grid.unevenness(2);
    EXPECT_LE(percent, 60) << m << " x " << n << " x " << k;
    ++shapes;
    uneven += percent > 20 ? 1 : 0;
  }
  EXPECT_LE(uneven * 30, shapes) << uneven << " of " << shapes << " shapes";
}

TEST_P(GemmFamily, EmptyExtents) {
  EXPECT_EQ(gemm_units({0, 5, 5}), 0);
  EXPECT_EQ(gemm_units({5, 0, 5}), 0);
  check_gemm(GetParam(), {{14, 40, 0}, 0, 1, 0, true, true, false, spec_of(1)}, 51);
}

TEST_P(GemmFamily, BoundsKeepNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float b[kPanel] = {1};
  float c[1];
  for (int kind : {0, 1, 2}) {
    GemmArgs args{{1, 1, 1}, &nan, 1, b, c, 1};
    args.epilogue = epilogue_of(spec_of(kind), GetParam());
    args.isa = GetParam();
    gemm_run(args, 0, 1);
    EXPECT_TRUE(std::isnan(c[0])) << "activation " << kind;
  }
}

// An element is one chain of fused multiply-adds, whatever the tile: the bits are the same.
TEST(Isa, FusedInstructionSetsGiveTheSameBits) {
  if (vector_isa(detect_isa()) != Isa::kAvx512) GTEST_SKIP() << "needs AVX-512";
  Random random(61);
  const GemmShape shape{37, 83, 700};
  const std::vector<float> a = random.floats(shape.m * shape.k);
  const std::vector<float> b = random.floats(packed_floats(1, shape.k, shape.n));
  std::vector<float> c[2];
  for (int i = 0; i < 2; ++i) {
    c[i].resize(static_cast<size_t>(shape.m * shape.n));
    GemmArgs args{shape, a.data(), shape.k, b.data(), c[i].data(), shape.n};
    args.isa = i == 0 ? Isa::kAvx2 : Isa::kAvx512;
    gemm_run(args, 0, gemm_units(shape));
  }
  EXPECT_EQ(std::memcmp(c[0].data(), c[1].data(), c[0].size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace intarsia::cpu
