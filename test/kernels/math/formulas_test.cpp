// SPDX-License-Identifier: Apache-2.0
//
// Formulas of kernels against the C library in double precision, and that the instruction set of
// this machine is found, compiled in and chosen.
#include "test/kernels/math/formulas.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels_cpu/math/half_conversion.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

// A prime: all exponents, and mantissas without a pattern.
constexpr uint32_t kStep = 16381;

class Formulas : public ::testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Isas, Formulas, ::testing::ValuesIn(cpu::available_isas()),
                         [](const auto& info) { return cpu::isa_name(info.param); });

void expect_accurate(const Formula& formula, Isa isa) {
  const Worst worst = check(formula, isa, kStep);
  EXPECT_LE(worst.used, 1) << formula.name << " of " << worst.x << " is " << worst.got
                           << " instead of " << worst.want << ", " << worst.used
                           << " times the error that is allowed";
  ::testing::Test::RecordProperty(formula.name, std::to_string(worst.used));
}

TEST_P(Formulas, OfVectorsAgreeWithTheCLibrary) {
  for (const Formula& formula : kVectorFormulas) expect_accurate(formula, GetParam());
}

TEST(Formula, OfScalarsAgreeWithTheCLibrary) {
  for (const Formula& formula : kScalarFormulas) expect_accurate(formula, Isa::kPortable);
}

struct DoubleFormula {
  const char* name;
  cpu::VectorMapDouble map;
  long double (*exact)(long double x);
};

/// Of arguments of all exponents, near 1 and where functions end, in units in the last place.
TEST_P(Formulas, OfDoublesAgreeWithLongDouble) {
  if (std::numeric_limits<long double>::digits <= 53) GTEST_SKIP() << "long double is double";
  const auto of = [](auto function) { return cpu::pick_vector_math_double(GetParam(), function); };
  const DoubleFormula formulas[] = {
      {"exp", of([](auto m) { return &decltype(m)::exp; }),
       [](long double x) { return std::exp(x); }},
      {"log", of([](auto m) { return &decltype(m)::log; }),
       [](long double x) { return std::log(x); }},
      {"sigmoid", of([](auto m) { return &decltype(m)::sigmoid; }),
       [](long double x) {
         const long double e = std::exp(-std::fabs(x));
         return (x < 0 ? e : 1) / (1 + e);
       }},
      {"tanh", of([](auto m) { return &decltype(m)::tanh; }),
       [](long double x) { return std::tanh(x); }},
      {"sin", of([](auto m) { return &decltype(m)::sin; }),
       [](long double x) { return std::sin(x); }},
      {"cos", of([](auto m) { return &decltype(m)::cos; }),
       [](long double x) { return std::cos(x); }},
      {"tan", of([](auto m) { return &decltype(m)::tan; }),
       [](long double x) { return std::tan(x); }},
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<double> x = {0.0,
                           -0.0,
                           1,
                           -1,
                           kInf,
                           -kInf,
                           709.78,
                           709.79,
                           -745.13,
                           -745.2,
                           -800,
                           1e300,
                           -1e300,
                           0x1p-1022,
                           0x1p-1074,
                           -0x1p-1074,
                           0x1.fffffffffffffp1023};
  x.push_back(std::numeric_limits<double>::quiet_NaN());
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 5000; ++i) {
    for (const double scale : {1.0, 22.0, 750.0}) x.push_back(scale * unit(engine));
    x.push_back(1 + std::ldexp(unit(engine), -(i % 50)));
    x.push_back(std::bit_cast<double>(engine()));
    // Next to multiples of pi/2, where most digits of an angle cancel, and about the largest one.
    const double multiple = std::nearbyint(std::exp2(11 + 11 * unit(engine)));
    x.push_back(static_cast<double>(1.57079632679489661923132169163975144L * multiple));
    x.push_back(std::nextafter(-x.back(), kInf));
    x.push_back(0x1.9p20 * (1 + 0.01 * unit(engine)));
  }
  x.insert(x.end(), {0x1.9p20, std::nextafter(0x1.9p20, kInf)});
  for (const DoubleFormula& formula : formulas) {
    std::vector<double> y(x.size());
    formula.map(x.data(), y.data(), static_cast<int64_t>(x.size()), nullptr);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double want = formula.exact(x[i]);
      const auto rounded = static_cast<double>(want);
      SCOPED_TRACE(std::string(formula.name) + " of " + std::to_string(x[i]));
      if (std::isnan(rounded) || std::isinf(rounded)) {
        EXPECT_TRUE(std::isnan(rounded) ? std::isnan(y[i]) : y[i] == rounded) << y[i];
      } else {
        const int exponent = want == 0 ? -1022 : std::max(-1022, std::ilogb(want));
        EXPECT_LE(std::fabs(y[i] - want), 4 * std::ldexp(1.0L, exponent - 52)) << y[i];
        EXPECT_TRUE(want != 0 || std::signbit(y[i]) == std::signbit(want));
      }
    }
  }
}

/// The double that is nearest to a multiple of pi/2.
TEST_P(Formulas, OfDoublesReduceHugeAngles) {
  const double x[] = {1, 6381956970095103.0 * 0x1p797, -1};
  double y[3];
  cpu::pick_vector_math_double(GetParam(), [](auto m) { return &decltype(m)::cos; })(x, y, 3,
                                                                                     nullptr);
  EXPECT_NEAR(y[1], -4.68716592425462761e-19, 1e-33);
  EXPECT_NEAR(y[0], 0.54030230586813972, 2e-16);
  EXPECT_EQ(y[0], y[2]);
}

TEST_P(Formulas, SumAndLargestCountEveryElement) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (int n = 1; n < 70; ++n) {
    std::vector<float> x(static_cast<size_t>(n)), y(x.size());
    for (int i = 0; i < n; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i % 7) - 5;
    const float sum = cpu::pick_vector_math(GetParam(), [](auto math) {
      return &decltype(math)::exp_sum;
    })(x.data(), y.data(), n, 0.5f);
    double expected = 0;
    for (const float value : x) expected += std::exp(value - 0.5);
    EXPECT_NEAR(sum, expected, 1e-6 * expected) << n;
    const auto largest =
        cpu::pick_vector_math(GetParam(), [](auto math) { return &decltype(math)::largest; });
    for (int place = 0; place < n; ++place) {
      std::vector<float> values(x.size(), kNan);
      EXPECT_EQ(largest(values.data(), n), -kInf);
      values[static_cast<size_t>(place)] = -3;
      EXPECT_EQ(largest(values.data(), n), -3);
    }
  }
}

#if INTARSIA_WITH_AVX2
TEST(Formula, OfF16cAgreesWithTheConversionsOfTheTypes) {
  if (cpu::compiled_isa(detect_isa()) == Isa::kPortable) GTEST_SKIP() << "no AVX2";
  using Conversion = cpu::HalfConversion<Isa::kAvx2>;
  std::vector<Float16> halves;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    halves.push_back(Float16::from_bits(static_cast<uint16_t>(bits)));
  }
  halves.resize(halves.size() - 3);  // a last part that is no vector
  std::vector<float> floats(halves.size());
  Conversion::widen(halves.data(), floats.data(), static_cast<int64_t>(halves.size()));
  for (size_t i = 0; i < halves.size(); ++i) {
    const float want = static_cast<float>(halves[i]);
    if (std::isnan(want) && std::isnan(floats[i])) continue;
    EXPECT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(want)) << i;
  }
  floats.clear();
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStep) {
    floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (uint32_t bits = 0x33000000; bits < 0x47900000;
       bits += 0x1000) {  // ties and their neighbours
    for (uint32_t near : {bits - 1, bits, bits + 1}) floats.push_back(std::bit_cast<float>(near));
  }
  halves.resize(floats.size());
  Conversion::narrow(floats.data(), halves.data(), static_cast<int64_t>(floats.size()));
  for (size_t i = 0; i < floats.size(); ++i) {
    EXPECT_EQ(halves[i].bits, Float16(floats[i]).bits) << floats[i];
  }
}
#endif

// ---- kernels of <cmath>
// --------------------------------------------------------------------------

struct CFunction {
  double (*exact)(double);
  double units;  ///< What the C libraries of this project's targets promise for float, rounded up.
  double (*slack)(double) = nullptr;
};

void expect_like_double(std::string_view op, const CFunction& function) {
  std::vector<float> x = {0.0f,
                          -0.0f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN(),
                          0x1p-149f,
                          -0x1p-149f};
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 16 * kStep) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  Node node;
  const Dims dims{static_cast<int32_t>(x.size())};
  node.input<float>(dims, x).output<float>(dims);
  ASSERT_TRUE(node.run(kernel_name(op, {DataType::kFloat})).ok());
  const auto y = node.result<float>();
  const Formula formula{"", nullptr, function.exact, function.units, function.slack};
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = function.exact(x[i]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(y[i])) << op << " of " << x[i] << ": " << y[i];
    } else {
      EXPECT_LE(used_by(formula, x[i], y[i], want), 1)
          << op << " of " << x[i] << " is " << y[i] << " instead of " << want;
    }
  }
}

TEST(Formula, OfCmathAgreeWithDoublePrecision) {
  expect_like_double("Exp", {std::exp, 2});
  expect_like_double("Log", {std::log, 2});
  expect_like_double("Erf", {std::erf, 2});
  expect_like_double("Sin", {std::sin, 2});
  expect_like_double("Cos", {std::cos, 2});
  expect_like_double("Tan", {std::tan, 2});
  expect_like_double("Asin", {std::asin, 2});
  expect_like_double("Acos", {std::acos, 2});
  expect_like_double("Atan", {std::atan, 2});
  expect_like_double("Sinh", {std::sinh, 3});
  expect_like_double("Cosh", {std::cosh, 3});
  expect_like_double("Tanh", {std::tanh, 3});
  expect_like_double("Asinh", {std::asinh, 3});
  expect_like_double("Acosh", {std::acosh, 3});
  expect_like_double("Atanh", {std::atanh, 3});
  expect_like_double("Sigmoid", {exact_sigmoid, 4});
  expect_like_double("Softplus", {exact_softplus, 3});
  expect_like_double("HardSwish", {exact_hard_swish, 2, slack_hard_swish});
}

// ---- the instruction set
// -------------------------------------------------------------------------

#if defined(__x86_64__)
/// Whether the processor has tiles of bytes and the system grants them.
bool grants_tiles() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.find("amx_int8") == std::string::npos) return false;
  uint64_t granted = 0;
  constexpr long kGetPermissions = 0x1022;
  return syscall(SYS_arch_prctl, kGetPermissions, &granted) == 0 && (granted >> 18 & 1) != 0;
}
#endif

/// The best of this processor that the build was asked for.
Isa expected_isa() {
  const auto asked_for = [](const char* name) {
    return std::strstr("," INTARSIA_ISA_LIST ",", name) != nullptr;
  };
#if defined(__aarch64__)
  if (asked_for(",neon,")) return Isa::kNeon;
#elif defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512 && asked_for(",avx512,")) {
    if (!__builtin_cpu_supports("avx512vnni")) return Isa::kAvx512;
    return grants_tiles() ? Isa::kAmx : Isa::kAvx512Vnni;
  }
  if (avx2 && asked_for(",avx2,")) return Isa::kAvx2;
#endif
  static_cast<void>(asked_for);
  return Isa::kPortable;
}

template <Isa I>
void expect_chosen() {
  const Isa best = detect_isa();
  EXPECT_EQ(cpu::pick_isa(best, [](auto i) { return decltype(i)::value; }), I);
  EXPECT_EQ(cpu::tile_kernels(best).families, cpu::Microkernels<I>::tiles().families);
  EXPECT_EQ(cpu::epilogue_of({Activation::kTanh}, best).activate, &cpu::Microkernels<I>::activate);
  EXPECT_EQ(cpu::pick_vector_math(best, [](auto math) { return &decltype(math)::exp; }),
            &cpu::VectorMath<I>::exp);
}

TEST(Isa, OfThisProcessorIsFoundAndChosen) {
  EXPECT_EQ(cpu::compiled_isa(detect_isa()), expected_isa());
  switch (expected_isa()) {
    case Isa::kPortable:
      return expect_chosen<Isa::kPortable>();
#if INTARSIA_WITH_AVX2
    case Isa::kAvx2:
      return expect_chosen<Isa::kAvx2>();
#endif
#if INTARSIA_WITH_AVX512
    case Isa::kAvx512:
    case Isa::kAvx512Vnni:
    case Isa::kAmx:
      return expect_chosen<Isa::kAvx512>();
#endif
#if INTARSIA_WITH_NEON
    case Isa::kNeon:
      return expect_chosen<Isa::kNeon>();
#endif
    default:
      FAIL() << "the instruction set of this processor is not compiled in";
  }
}

}  // namespace
}  // namespace intarsia::test
