// SPDX-License-Identifier: Apache-2.0
//
// The f32 GEMM family against loops in double precision, for every instruction set of the machine.
//
// Tolerance: a chain of K roundings in float has an error of at most K u S, u = 2^-24 and S the sum
// of |terms|; roundings being as good as random, sqrt(K) u S is typical. Tests allow
// (8 + 2 sqrt(K)) u S, far below the effect of one wrong operand, plus 2e-6 of the result for the
// activation. Operands are drawn from seeds that are printed; buffers hold exactly what a kernel
// may read, so that an address sanitizer sees any read beyond.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/microkernel.h"
#include "kernels_cpu/gemm/pack.h"

namespace intarsia::cpu {
namespace {

constexpr float kUntouched = -12345.678f;
constexpr int kActivations = static_cast<int>(Activation::kSoftplus) + 1;

double reference(const ActivationSpec& s, double x) {
  const auto clip = [](double v, double a, double b) { return v < a ? a : (v > b ? b : v); };
  const double alpha = s.alpha, beta = s.beta;
  switch (s.kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kClip:
      return clip(x, alpha, beta);
    case Activation::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Activation::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kHardSigmoid:
      return clip(alpha * x + beta, 0, 1);
    case Activation::kHardSwish:
      return x * clip(x / 6 + 0.5, 0, 1);
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
    case Activation::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSoftplus:
      return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

// The activation of that number, with parameters where it has some.
ActivationSpec spec_of(int kind) {
  constexpr float kParameters[kActivations][2] = {{}, {}, {-0.75f, 1.5f}, {0.125f}, {1.25f},
                                                  {}, {}, {0.2f, 0.5f}};
  return {static_cast<Activation>(kind), kParameters[kind][0], kParameters[kind][1]};
}

std::vector<Isa> available_isas() {
  std::vector<Isa> list = {Isa::kPortable};
  const Isa best = compiled_isa(detect_isa());
  if (best == Isa::kAvx2 || best == Isa::kAvx512) list.push_back(Isa::kAvx2);
  if (best == Isa::kAvx512) list.push_back(Isa::kAvx512);
  return list;
}

std::string isa_name(Isa isa) {
  return isa == Isa::kAvx512 ? "avx512" : isa == Isa::kAvx2 ? "avx2" : "portable";
}

// Seeded operands and dimensions.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool coin() { return between(0, 1) == 1; }
  std::vector<float> floats(int64_t count) {
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<float> v(static_cast<size_t>(count));
    for (float& x : v) x = value(engine_);
    return v;
  }

 private:
  std::mt19937 engine_;
};

// What a naive loop finds for one element: the sum and the sum of magnitudes.
struct Sum {
  double value = 0;
  double magnitude = 0;
  int64_t terms = 0;
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
    ++terms;
  }
  double tolerance() const {
    const double rounding = std::ldexp(1.0, -24);
    return (8 + 2 * std::sqrt(static_cast<double>(terms))) * rounding * magnitude;
  }
};

// True if `got` is act(sum) within the tolerance above; 1.3 bounds the slope of every activation.
::testing::AssertionResult close(const ActivationSpec& spec, const Sum& sum, float got) {
  const double want = reference(spec, sum.value);
  const double allowed = 1.3 * sum.tolerance() + 2e-6 * std::fabs(want) + 1e-12;
  if (std::fabs(got - want) <= allowed) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << got << ", expected " << want << " within "
                                       << allowed << ", activation " << static_cast<int>(spec.kind);
}

class GemmFamily : public ::testing::TestWithParam<Isa> {
 protected:
  const Microkernels& kernels() const { return microkernels(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Isas, GemmFamily, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return isa_name(info.param); });

TEST(Isa, ForcedTableIsTheOneAskedFor) {
  for (Isa isa : available_isas()) {
    for (Isa other : available_isas()) {
      EXPECT_EQ(&microkernels(isa) == &microkernels(other), isa == other);
    }
  }
}

// ---- activations --------------------------------------------------------------------------------

TEST_P(GemmFamily, ActivationsAreAccurate) {
  std::vector<float> x;
  for (int i = -40000; i <= 40000; ++i) x.push_back(static_cast<float>(i) * 0.0005f);
  for (float e = 1e-30f; e < 1e30f; e *= 3) x.insert(x.end(), {e, -e});
  x.push_back(0.0f);
  for (int kind = 0; kind < kActivations; ++kind) {
    const ActivationSpec spec = spec_of(kind);
    std::vector<float> y(x.size());
    const auto n = static_cast<int64_t>(x.size());
    kernels().activate(spec, x.data(), n, y.data(), n, 1, n);
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
    kernels().activate(spec, x, 4, y, 4, 1, 4);
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
    kernels().activate(spec, x.data(), pitch, y.data(), pitch, 3, n);
    for (int64_t i = 0; i < 3 * pitch; ++i) {
      const float want = i % pitch < n ? std::tanh(x[i]) : kUntouched;
      EXPECT_NEAR(y[i], want, i % pitch < n ? 2e-6 : 0);
    }
  }
}

// ---- packing ------------------------------------------------------------------------------------

TEST(Pack, LayoutsAgree) {
  Random random(11);
  for (int trial = 0; trial < 60; ++trial) {
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

void check_gemm(const Microkernels& kernels, const GemmCase& p, uint32_t seed) {
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
  args.activation = p.activation;
  args.kernels = &kernels;
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
  for (uint32_t trial = 0; trial < 250; ++trial) {
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
    check_gemm(kernels(), p, base + trial);
    if (HasFatalFailure()) return;
  }
}

TEST_P(GemmFamily, EveryRowCountAndColumnTail) {
  for (int64_t m = 1; m <= 26; ++m) {
    for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 63, 64, 97, 128, 130, 145}) {
      check_gemm(kernels(), {{m, n, 5}, 0, 3, 0, true, true, false, {}}, 31);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GemmFamily, BlocksAndPasses) {
  check_gemm(kernels(), {{500, 70, 600}, 1, 1, 0, true, true, false, {}}, 41);
  check_gemm(kernels(), {{13, 1200, 2100}, 0, 0, 0, true, true, true, {}}, 42);
  check_gemm(kernels(), {{1, 900, 1030}, 0, 0, 0, true, false, false, {}}, 43);
  check_gemm(kernels(), {{250, 260, 257}, 0, 0, 0, false, false, true, spec_of(10)}, 44);
}

TEST_P(GemmFamily, EmptyExtents) {
  EXPECT_EQ(gemm_units({0, 5, 5}), 0);
  EXPECT_EQ(gemm_units({5, 0, 5}), 0);
  check_gemm(kernels(), {{14, 40, 0}, 0, 1, 0, true, true, false, spec_of(1)}, 51);
}

TEST_P(GemmFamily, BoundsKeepNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float b[kPanel] = {1};
  float c[1];
  for (int kind : {0, 1, 2}) {
    GemmArgs args{{1, 1, 1}, &nan, 1, b, c, 1};
    args.activation = spec_of(kind);
    args.kernels = &kernels();
    gemm_run(args, 0, 1);
    EXPECT_TRUE(std::isnan(c[0])) << "activation " << kind;
  }
}

// An element is one chain of fused multiply-adds, whatever the tile: the bits are the same.
TEST(Isa, FusedInstructionSetsGiveTheSameBits) {
  if (compiled_isa(detect_isa()) != Isa::kAvx512) GTEST_SKIP() << "needs AVX-512";
  Random random(61);
  const GemmShape shape{37, 83, 700};
  const std::vector<float> a = random.floats(shape.m * shape.k);
  const std::vector<float> b = random.floats(packed_floats(1, shape.k, shape.n));
  std::vector<float> c[2];
  for (int i = 0; i < 2; ++i) {
    c[i].resize(static_cast<size_t>(shape.m * shape.n));
    GemmArgs args{shape, a.data(), shape.k, b.data(), c[i].data(), shape.n};
    args.kernels = &microkernels(i == 0 ? Isa::kAvx2 : Isa::kAvx512);
    gemm_run(args, 0, gemm_units(shape));
  }
  EXPECT_EQ(std::memcmp(c[0].data(), c[1].data(), c[0].size() * sizeof(float)), 0);
}

// ---- convolution --------------------------------------------------------------------------------

struct ConvCase {
  ConvShape shape;
  int64_t residual_pad;
  bool bias, residual;
  ActivationSpec activation;
};

std::string describe(const ConvShape& s) {
  std::string text;
  for (int64_t v : {s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.kernel_h,
                    s.kernel_w, s.stride_h, s.stride_w, s.dilation_h, s.dilation_w, s.pad_top,
                    s.pad_left, s.groups, s.in_pitch, s.out_pitch}) {
    text += " " + std::to_string(v);
  }
  return text;
}

// The sum of one output element, weights in ONNX's order.
Sum convolve(const ConvShape& s, const float* input, const float* weights, int64_t b, int64_t y,
             int64_t x, int64_t o) {
  const int64_t channels = s.in_c / s.groups;
  const int64_t first = o / (s.out_c / s.groups) * channels;
  Sum sum;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < s.kernel_h; ++i) {
      for (int64_t j = 0; j < s.kernel_w; ++j) {
        const int64_t in_y = y * s.stride_h - s.pad_top + i * s.dilation_h;
        const int64_t in_x = x * s.stride_w - s.pad_left + j * s.dilation_w;
        if (in_y < 0 || in_y >= s.in_h || in_x < 0 || in_x >= s.in_w) continue;
        const int64_t pixel = (b * s.in_h + in_y) * s.in_w + in_x;
        const float w = weights[((o * channels + c) * s.kernel_h + i) * s.kernel_w + j];
        sum.add(double{input[pixel * s.in_pitch + first + c]} * w);
      }
    }
  }
  return sum;
}

// Runs `run(begin, end)` whole and unit by unit into `output`, and compares with the definition.
template <class Run>
void check_output(const ConvCase& p, const std::vector<float>& input,
                  const std::vector<float>& weights, const std::vector<float>& bias,
                  const std::vector<float>& residual, std::vector<float>& output, int64_t units,
                  Run run) {
  const ConvShape& s = p.shape;
  run(0, units);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t y = 0; y < s.out_h; ++y) {
      for (int64_t x = 0; x < s.out_w; ++x) {
        const int64_t pixel = (b * s.out_h + y) * s.out_w + x;
        for (int64_t o = 0; o < s.out_c; ++o) {
          Sum sum = convolve(s, input.data(), weights.data(), b, y, x, o);
          if (p.bias) sum.add(bias[o]);
          if (p.residual) sum.add(residual[pixel * (s.out_c + p.residual_pad) + o]);
          ASSERT_TRUE(close(p.activation, sum, output[pixel * s.out_pitch + o]))
              << "image " << b << " y " << y << " x " << x << " channel " << o;
        }
        for (int64_t o = s.out_c; o < s.out_pitch; ++o) {
          const auto at = static_cast<size_t>(pixel * s.out_pitch + o);
          if (at < output.size()) {
            ASSERT_EQ(output[at], kUntouched);
          }
        }
      }
    }
  }
  const std::vector<float> whole = output;
  for (float& v : output) v = kUntouched;
  for (int64_t unit = units; unit-- > 0;) run(unit, unit + 1);
  EXPECT_EQ(std::memcmp(whole.data(), output.data(), output.size() * sizeof(float)), 0)
      << "the result depends on the split of the units";
}

int64_t pixel_floats(int64_t pixels, int64_t channels, int64_t pitch) {
  return (pixels - 1) * pitch + channels;
}

void check_conv(const Microkernels& kernels, const ConvCase& p, uint32_t seed) {
  const ConvShape& s = p.shape;
  SCOPED_TRACE("seed " + std::to_string(seed) + " shape" + describe(s));
  Random random(seed);
  const int64_t channels = s.in_c / s.groups;
  const int64_t out_pixels = s.batch * s.out_h * s.out_w;
  const int64_t r_pitch = s.out_c + p.residual_pad;
  const auto input = random.floats(pixel_floats(s.batch * s.in_h * s.in_w, s.in_c, s.in_pitch));
  const auto weights = random.floats(s.out_c * channels * s.kernel_h * s.kernel_w);
  const auto bias = random.floats(s.out_c);
  const auto residual = random.floats(pixel_floats(out_pixels, s.out_c, r_pitch));
  std::vector<float> output(static_cast<size_t>(pixel_floats(out_pixels, s.out_c, s.out_pitch)),
                            kUntouched);
  std::vector<float> packed(static_cast<size_t>(
      packed_floats(s.groups, s.kernel_h * s.kernel_w * channels, s.out_c / s.groups)));
  pack_conv(weights.data(), s.groups, s.out_c / s.groups, channels, s.kernel_h, s.kernel_w,
            packed.data());
  ConvArgs args{s, input.data(), packed.data(), output.data()};
  args.bias = p.bias ? bias.data() : nullptr;
  args.residual = p.residual ? residual.data() : nullptr;
  args.residual_pitch = r_pitch;
  args.activation = p.activation;
  args.kernels = &kernels;
  const auto run = [&](int64_t begin, int64_t end) {
    // Fresh and full of NaN each time: nothing may be expected of it.
    std::vector<uint8_t> workspace(conv_workspace_bytes(s), 0xff);
    conv_run(args, begin, end, workspace.data());
  };
  check_output(p, input, weights, bias, residual, output, conv_units(s), run);
}

// A random window and the output extent that some padding at the end gives; false if empty.
bool draw_axis(Random& random, int64_t extent, int64_t most_taps, int64_t& kernel, int64_t& stride,
               int64_t& dilation, int64_t& pad, int64_t& out) {
  kernel = random.between(1, most_taps);
  stride = random.between(1, 3);
  dilation = random.coin() ? 1 : random.between(1, 3);
  pad = random.between(0, (kernel - 1) * dilation);
  const int64_t pad_end = random.between(0, (kernel - 1) * dilation);
  const int64_t room = extent + pad + pad_end - (kernel - 1) * dilation - 1;
  out = room < 0 ? 0 : room / stride + 1;
  return out > 0;
}

bool draw_conv(Random& random, ConvShape& s) {
  s.batch = random.between(1, 2);
  s.in_h = random.coin() ? 1 : random.between(1, 14);
  s.in_w = random.between(1, 20);
  s.in_pitch = s.in_c + (random.coin() ? 0 : random.between(1, 5));
  s.out_pitch = s.out_c + (random.coin() ? 0 : random.between(1, 5));
  return draw_axis(random, s.in_h, s.in_h == 1 ? 1 : 5, s.kernel_h, s.stride_h, s.dilation_h,
                   s.pad_top, s.out_h) &&
         draw_axis(random, s.in_w, 5, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, s.out_w);
}

TEST_P(GemmFamily, RandomConvolutions) {
  const uint32_t base = 771000;
  int checked = 0;
  for (uint32_t trial = 0; checked < 250; ++trial) {
    Random random(base + trial);
    ConvCase p{};
    ConvShape& s = p.shape;
    s.groups = random.between(0, 2) == 0 ? random.between(2, 4) : 1;
    s.in_c = s.groups * random.between(1, random.coin() ? 4 : 20);
    s.out_c = s.groups * random.between(1, random.coin() ? 5 : 40);
    if (!draw_conv(random, s)) continue;
    p.bias = random.coin();
    p.residual = random.coin();
    p.residual_pad = random.between(0, 2);
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    check_conv(kernels(), p, base + trial);
    if (HasFatalFailure()) return;
    ++checked;
  }
}

// Shapes that reach each way of conv.cpp with several blocks, passes over K and parts of a row.
TEST_P(GemmFamily, ConvolutionBlocksAndPasses) {
  ConvCase p{};
  p.bias = p.residual = true;
  p.activation = spec_of(1);
  const auto check = [&](ConvShape s) {
    s.in_pitch = s.in_c;
    s.out_pitch = s.out_c;
    p.shape = s;
    check_conv(kernels(), p, 91);
  };
  check({1, 30, 40, 3, 15, 20, 35, 7, 7, 2, 2, 1, 1, 3, 3, 1, 0, 0});    // strip of rows
  check({2, 1, 900, 1, 1, 449, 20, 1, 5, 1, 2, 1, 1, 0, 1, 1, 0, 0});    // strip of a part of a row
  check({1, 3, 300, 4, 3, 300, 9, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0});     // the same in rows
  check({1, 9, 9, 80, 9, 9, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0});       // several taps in a pass
  check({1, 5, 6, 300, 5, 6, 33, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0});      // parts of a tap
  check({1, 20, 20, 24, 10, 10, 130, 1, 1, 2, 2, 1, 1, 0, 0, 1, 0, 0});  // 1 x 1 with a stride
  check({1, 20, 20, 24, 20, 20, 130, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0});  // matrix product
  check({1, 16, 16, 24, 16, 16, 48, 3, 3, 1, 1, 1, 1, 1, 1, 6, 0, 0});   // groups
  check({1, 40, 40, 2, 20, 20, 8, 11, 13, 2, 2, 1, 1, 5, 6, 1, 0, 0});   // large window
  check({1, 40, 40, 9, 20, 20, 8, 11, 13, 2, 2, 1, 1, 5, 6, 1, 0, 0});   // the same without a strip
}

TEST_P(GemmFamily, RandomDepthwise) {
  const uint32_t base = 555000;
  int checked = 0;
  for (uint32_t trial = 0; checked < 250; ++trial) {
    Random random(base + trial);
    ConvCase p{};
    ConvShape& s = p.shape;
    s.groups = s.in_c = s.out_c = random.between(1, random.coin() ? 8 : 70);
    if (!draw_conv(random, s)) continue;
    if (trial % 3 == 0) {  // the windows that have kernels of their own
      s.kernel_w = random.coin() ? 3 : random.coin() ? 5 : 7;
      s.stride_w = random.between(1, 2);
      s.dilation_w = random.between(1, 2);
      s.pad_left = s.kernel_w / 2 * s.dilation_w;
      s.out_w = (s.in_w - 1) / s.stride_w + 1;
    }
    p.bias = random.coin();
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    const uint32_t seed = base + trial;
    SCOPED_TRACE("seed " + std::to_string(seed) + " shape" + describe(s));
    const auto input = random.floats(pixel_floats(s.batch * s.in_h * s.in_w, s.in_c, s.in_pitch));
    const auto weights = random.floats(s.in_c * s.kernel_h * s.kernel_w);
    const auto bias = random.floats(s.in_c);
    std::vector<float> packed(weights.size());
    pack_depthwise(weights.data(), s.in_c, s.kernel_h, s.kernel_w, packed.data());
    const int64_t pixels = s.batch * s.out_h * s.out_w;
    std::vector<float> output(static_cast<size_t>(pixel_floats(pixels, s.out_c, s.out_pitch)),
                              kUntouched);
    DepthwiseArgs args{s, input.data(), packed.data(), output.data()};
    args.bias = p.bias ? bias.data() : nullptr;
    args.activation = p.activation;
    args.kernels = &kernels();
    check_output(p, input, weights, bias, {}, output, depthwise_units(s),
                 [&](int64_t begin, int64_t end) { depthwise_run(args, begin, end); });
    if (HasFatalFailure()) return;
    ++checked;
  }
}

}  // namespace
}  // namespace intarsia::cpu
