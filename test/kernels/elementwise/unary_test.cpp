// SPDX-License-Identifier: Apache-2.0
//
// Element-wise kernels of one input against formulas in double precision, over odd tails, rank 0
// and empty tensors, in place, on several threads and every instruction set; what the specification
// says of NaN and infinities.
#include <bit>
#include <cfenv>
#include <functional>
#include <limits>

#include "core/operators/elementwise/elementwise.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> values_of(const std::vector<double>& values) {
  std::vector<T> result;
  for (double value : values) {
    if constexpr (std::is_same_v<T, double>) {
      result.push_back(value);
    } else {
      result.push_back(T(static_cast<float>(value)));
    }
  }
  return result;
}

using Function = std::function<double(double)>;

/// The kernel against f on random tensors, whole and in place, on one thread and on several.
void expect_unary(const KernelUnderTest& kernel, DataType type,
                  std::span<const std::byte> attributes, const Function& f, double low, double high,
                  double units, Isa isa) {
  SCOPED_TRACE(std::string(kernel.name) + " of type " + std::to_string(static_cast<int>(type)));
  std::mt19937 engine(7);
  for (const Dims& dims :
       {Dims{}, Dims{1}, Dims{3, 5}, Dims{0, 4}, Dims{2, 1031}, Dims{kSlowBuild ? 9001 : 40001}}) {
    const auto x = random_numbers(type, count_of(dims), engine, low, high);
    std::vector<double> expected;
    for (double value : x) expected.push_back(f(value));
    for (int threads : {1, 3}) {
      for (bool in_place : {false, true}) {
        if (kSlowBuild && in_place == (threads == 1)) continue;
        Node node;
        node.input(type, dims, x).output(type, dims).raw_attributes(attributes);
        node.threads(threads).isa(isa).in_place(in_place ? 0 : -1);
        ASSERT_TRUE(node.run(kernel).ok());
        const double smallest = type == DataType::kFloat16 ? 0x1p-25 : 1e-38;
        expect_numbers_near(node.numbers(), expected, units * epsilon_of(type), smallest);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class A = NoAttributes>
void expect_unary(std::string_view op, DataType type, const Function& f, double low, double high,
                  const A& attributes = {}, double units = 8, Isa isa = Isa::kPortable) {
  expect_unary(cpu_kernel(kernel_name(op, {type})), type, std::as_bytes(std::span(&attributes, 1)),
               f, low, high, units, isa);
}

template <class A = NoAttributes>
void expect_unary_floats(std::string_view op, const Function& f, double low, double high,
                         const A& attributes = {}) {
  for (DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16}) {
    expect_unary(op, type, f, low, high, attributes);
  }
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return std::log1p(std::exp(x));
}
double mish(double x) {
  return x * std::tanh(softplus(x));
}
double gelu(double x) {
  return x / 2 * std::erfc(-x / std::sqrt(2.0));
}
double gelu_tanh(double x) {
  return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}

TEST(Unary, Transcendental) {
  expect_unary_floats(
      "Exp", [](double x) { return std::exp(x); }, -9, 9);
  expect_unary_floats(
      "Log", [](double x) { return std::log(x); }, 2, 900);
  expect_unary_floats(
      "Erf", [](double x) { return std::erf(x); }, -4, 4);
  expect_unary_floats(
      "Sin", [](double x) { return std::sin(x); }, -9, 9);
  expect_unary_floats(
      "Cos", [](double x) { return std::cos(x); }, -9, 9);
  expect_unary_floats(
      "Tan", [](double x) { return std::tan(x); }, -1.5, 1.5);
  expect_unary_floats(
      "Asin", [](double x) { return std::asin(x); }, -1, 1);
  expect_unary_floats(
      "Acos", [](double x) { return std::acos(x); }, -1, 1);
  expect_unary_floats(
      "Atan", [](double x) { return std::atan(x); }, -9, 9);
  expect_unary_floats(
      "Sinh", [](double x) { return std::sinh(x); }, -9, 9);
  expect_unary_floats(
      "Cosh", [](double x) { return std::cosh(x); }, -9, 9);
  expect_unary_floats(
      "Tanh", [](double x) { return std::tanh(x); }, -9, 9);
  expect_unary_floats(
      "Asinh", [](double x) { return std::asinh(x); }, -9, 9);
  expect_unary_floats(
      "Acosh", [](double x) { return std::acosh(x); }, 1, 90);
  expect_unary_floats(
      "Atanh", [](double x) { return std::atanh(x); }, -0.9, 0.9);
}

TEST(Unary, Activations) {
  const double alpha = 0.3f;
  expect_unary_floats(
      "Relu", [](double x) { return std::fmax(x, 0); }, -9, 9);
  expect_unary_floats(
      "LeakyRelu", [=](double x) { return x < 0 ? alpha * x : x; }, -9, 9,
      LeakyReluAttributes{0.3f});
  expect_unary_floats(
      "ThresholdedRelu", [=](double x) { return x > alpha ? x : 0; }, -1, 1, AlphaAttributes{0.3f});
  expect_unary_floats(
      "Elu", [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; }, -9, 9,
      AlphaAttributes{0.3f});
  expect_unary_floats(
      "Celu",
      [=](double x) { return std::fmax(0, x) + std::fmin(0, alpha * std::expm1(x / alpha)); }, -9,
      9, AlphaAttributes{0.3f});
  const SeluAttributes selu;
  expect_unary_floats(
      "Selu",
      [=](double x) {
        return x > 0 ? double{selu.gamma} * x : double{selu.gamma} * selu.alpha * std::expm1(x);
      },
      -9, 9, selu);
  expect_unary_floats("Sigmoid", sigmoid, -9, 9);
  expect_unary_floats(
      "HardSwish", [](double x) { return x * std::fmin(1, std::fmax(0, x / 6 + 0.5)); }, -2.5, 9);
  const HardSigmoidAttributes hard;
  expect_unary_floats(
      "HardSigmoid",
      [=](double x) {
        return std::fmin(1, std::fmax(0, double{hard.alpha} * x + double{hard.beta}));
      },
      -2, 9, hard);
  expect_unary_floats(
      "Swish", [=](double x) { return x * sigmoid(alpha * x); }, -9, 9, AlphaAttributes{0.3f});
  expect_unary_floats("Softplus", softplus, -9, 9);
  expect_unary_floats(
      "Softsign", [](double x) { return x / (1 + std::fabs(x)); }, -9, 9);
  expect_unary_floats("Mish", mish, -9, 9);
  expect_unary_floats("Gelu", gelu, -1, 1, GeluAttributes{});
  expect_unary("Gelu", DataType::kFloat, gelu, -9, 9, GeluAttributes{});
  expect_unary_floats("Gelu", gelu_tanh, -1, 1, GeluAttributes{GeluAttributes::kTanh});
  expect_unary("Gelu", DataType::kFloat, gelu_tanh, -9, 9, GeluAttributes{GeluAttributes::kTanh});
}

TEST(Unary, Arithmetic) {
  expect_unary_floats(
      "Abs", [](double x) { return std::fabs(x); }, -9, 9);
  expect_unary_floats(
      "Neg", [](double x) { return -x; }, -9, 9);
  expect_unary_floats(
      "Sign", [](double x) { return (x > 0) - (x < 0); }, -9, 9);
  expect_unary_floats(
      "Reciprocal", [](double x) { return 1 / x; }, 0.1, 9);
  expect_unary_floats(
      "Sqrt", [](double x) { return std::sqrt(x); }, 0, 9);
  expect_unary_floats(
      "Ceil", [](double x) { return std::ceil(x); }, -9, 9);
  expect_unary_floats(
      "Floor", [](double x) { return std::floor(x); }, -9, 9);
  expect_unary_floats(
      "Round", [](double x) { return std::nearbyint(x); }, -9, 9);
  expect_unary(
      "Abs", DataType::kInt16, [](double x) { return std::fabs(x); }, -99, 99);
  const ShrinkAttributes shrink{.lambd = 3, .bias = 1.5F};
  const auto shrunk = [](double x) { return std::trunc(x < -3 ? x + 1.5 : x > 3 ? x - 1.5 : 0); };
  for (DataType type : {DataType::kInt8, DataType::kInt32}) {
    expect_unary("Shrink", type, shrunk, -128, 127, shrink);
  }
  expect_unary("Shrink", DataType::kUint8, shrunk, 0, 255, shrink);
  expect_unary(
      "Neg", DataType::kInt64, [](double x) { return -x; }, -99, 99);
  expect_unary(
      "Sign", DataType::kInt8, [](double x) { return (x > 0) - (x < 0); }, -99, 99);
  expect_unary(
      "Relu", DataType::kInt32, [](double x) { return std::fmax(x, 0); }, -99, 99);
  expect_unary(
      "BitwiseNot", DataType::kUint8, [](double x) { return 255 - x; }, 0, 255);
  expect_unary(
      "Not", DataType::kBool, [](double x) { return 1 - x; }, 0, 1);
}

/// The kernel's result for a few floats.
template <class Out = float, class A = NoAttributes>
std::vector<double> map(std::string_view kernel, const std::vector<double>& x,
                        const A& attributes = {}, Isa isa = Isa::kPortable) {
  Node node;
  const Dims dims{static_cast<int32_t>(x.size())};
  node.input<float>(dims, values_of<float>(x)).template output<Out>(dims);
  node.attributes(attributes).isa(isa);
  EXPECT_TRUE(node.run(kernel).ok());
  std::vector<double> result;
  for (Out value : node.result<Out>()) result.push_back(as_double<Out>(value));
  return result;
}

TEST(Unary, SpecialValues) {
  using List = std::vector<double>;
  EXPECT_EQ(map("Round<float>", {0.5, 1.5, 2.5, -0.5, -1.5, kInf}),
            (List{0, 2, 2, -0.0, -2, kInf}));
  EXPECT_TRUE(std::isnan(map("Relu<float>", {kNan})[0]));
  EXPECT_TRUE(std::isnan(map("Sign<float>", {kNan})[0]));
  EXPECT_TRUE(std::isnan(map("HardSigmoid<float>", {kNan}, HardSigmoidAttributes{})[0]));
  EXPECT_EQ(map("Sign<float>", {-0.0, -kInf}), (List{0, -1}));
  EXPECT_EQ((map<bool>("IsNaN<float>", {kNan, 1, kInf})), (List{1, 0, 0}));
  EXPECT_EQ((map<bool>("IsInf<float>", {kInf, -kInf, kNan}, IsInfAttributes{})), (List{1, 1, 0}));
  EXPECT_EQ((map<bool>("IsInf<float>", {kInf, -kInf, 0}, IsInfAttributes{0, 1})), (List{1, 0, 0}));
  EXPECT_EQ((map<bool>("IsInf<float>", {kInf, -kInf, 0}, IsInfAttributes{1, 0})), (List{0, 1, 0}));
  EXPECT_EQ(map("Sigmoid<float>", {-kInf, kInf, 0}), (List{0, 1, 0.5}));
  EXPECT_EQ(map("Softplus<float>", {-kInf, kInf, 1000}), (List{0, kInf, 1000}));
  Node node;
  node.input<int32_t>({2}, {std::numeric_limits<int32_t>::min(), 5}).output<int32_t>({2});
  ASSERT_TRUE(node.run("Neg<int32>").ok());
  EXPECT_EQ(node.result<int32_t>(),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::min(), -5}));
}

/// All of them, by their bits.
template <class T>
void expect_predicates_of_halves(Isa isa) {
  const Dims dims{1 << 16};
  std::vector<T> x;
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    x.push_back(std::bit_cast<T>(static_cast<uint16_t>(bits)));
  }
  for (int flags = 0; flags < 4; ++flags) {
    const IsInfAttributes attributes{flags & 1, flags >> 1};
    Node inf, nan;
    inf.input<T>(dims, x).template output<bool>(dims).attributes(attributes).isa(isa);
    nan.input<T>(dims, x).template output<bool>(dims).isa(isa);
    ASSERT_TRUE(inf.run(kernel_name("IsInf", {data_type_of<T>})).ok());
    ASSERT_TRUE(nan.run(kernel_name("IsNaN", {data_type_of<T>})).ok());
    const auto is_inf = inf.result<bool>(), is_nan = nan.result<bool>();
    for (size_t i = 0; i < x.size(); ++i) {
      const float value = static_cast<float>(x[i]);
      const bool detected = value < 0 ? (flags & 1) != 0 : (flags & 2) != 0;
      ASSERT_EQ(is_inf[i], std::isinf(value) && detected) << value << " flags " << flags;
      ASSERT_EQ(is_nan[i], std::isnan(value)) << i;
    }
  }
}

TEST(Unary, PredicatesOfHalves) {
  for (Isa isa : cpu::available_isas()) {
    expect_predicates_of_halves<Float16>(isa);
    expect_predicates_of_halves<BFloat16>(isa);
  }
}

/// Processors take more than a hundred cycles for a result that is subnormal or underflows: so
/// nothing within a kernel does for a result that does not. (But squares of what is below 1e-19.)
template <class A>
void expect_no_underflow(DataType type, const std::string& op, const A& attributes,
                         const Function& f, Isa isa) {
  for (double size :
       {1e-9, 1e-6, 1e-3, 1.0, 9.0, 15.0, 25.0, 45.0, 85.0, 95.0, 120.0, 1e3, 1e5, 1e30}) {
    for (double x : {-size, size}) {
      const double y = std::fabs(f(x));
      const bool single = type == DataType::kFloat;
      if (y < (single ? 1.2e-38 : 1e-307) && y > (single ? 1e-46 : 0)) continue;
      Node node;
      node.input(type, {40}, std::vector<double>(40, x)).output(type, {40});
      node.attributes(attributes).isa(isa);
      std::feclearexcept(FE_UNDERFLOW);
      ASSERT_TRUE(node.run(op).ok());
      EXPECT_EQ(std::fetestexcept(FE_UNDERFLOW), 0) << op << " of " << x << " is " << f(x);
    }
  }
}

TEST(Unary, Fast) {
  for (Isa isa : cpu::available_isas()) {
    SCOPED_TRACE(static_cast<int>(isa));
    const double units = 0x1p24 * 1e-6;
    const NoAttributes none;
    const auto test = [&]<class A>(const std::string& op, const A& attributes, const Function& f,
                                   double low, double high) {
      expect_unary(op + ".fast", DataType::kFloat, f, low, high, attributes, units, isa);
      expect_no_underflow(DataType::kFloat, op + ".fast<float>", attributes, f, isa);
      if (op == "Exp" || op == "Sigmoid" || op == "Tanh") {
        expect_no_underflow(DataType::kDouble, op + ".fast<double>", attributes, f, isa);
      }
      // Of 16 bits: as exact as the type, and no numbers that it lacks.
      for (DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
        expect_unary(op + ".fast", type, f, std::max(low, -9.0), std::min(high, 9.0), attributes, 1,
                     isa);
      }
      for (double x : map(op + ".fast<float>", {kNan}, attributes, isa)) {
        EXPECT_TRUE(std::isnan(x));
      }
    };
    const double tiny = std::log(1.2e-38);
    test(
        "Exp", none, [](double x) { return std::exp(x); }, tiny, 88);
    test("Sigmoid", none, sigmoid, tiny, 90);
    test(
        "Tanh", none, [](double x) { return std::tanh(x); }, -20, 20);
    test(
        "Tanh", none, [](double x) { return std::tanh(x); }, -0.01, 0.01);
    test(
        "Erf", none, [](double x) { return std::erf(x); }, -6, 6);
    test(
        "Erf", none, [](double x) { return std::erf(x); }, -0.01, 0.01);
    test(
        "Log", none, [](double x) { return std::log(x); }, 0.01, 900);
    test(
        "Sin", none, [](double x) { return std::sin(x); }, -30, 30);
    test(
        "Cos", none, [](double x) { return std::cos(x); }, -30, 30);
    test(
        "Tan", none, [](double x) { return std::tan(x); }, -1.5, 1.5);
    test(
        "Asin", none, [](double x) { return std::asin(x); }, -1, 1);
    test(
        "Acos", none, [](double x) { return std::acos(x); }, -1, 0.99);
    test(
        "Atan", none, [](double x) { return std::atan(x); }, -90, 90);
    test(
        "Sinh", none, [](double x) { return std::sinh(x); }, -80, 80);
    test(
        "Cosh", none, [](double x) { return std::cosh(x); }, -80, 80);
    test(
        "Asinh", none, [](double x) { return std::asinh(x); }, -900, 900);
    test(
        "Acosh", none, [](double x) { return std::acosh(x); }, 1, 900);
    test(
        "Atanh", none, [](double x) { return std::atanh(x); }, -0.99, 0.99);
    test("Softplus", none, softplus, -80, 80);
    test("Mish", none, mish, -80, 80);
    test("Gelu", GeluAttributes{}, gelu, -12, 12);
    // Beyond -5 the argument of the exponential is large, and its rounding counts.
    test("Gelu", GeluAttributes{GeluAttributes::kTanh}, gelu_tanh, -2, 12);
    // Not about their zeros, where what is added cancels.
    test(
        "HardSigmoid", HardSigmoidAttributes{0.3f, 0.4f},
        [](double x) { return std::fmin(1, std::fmax(0, double{0.3f} * x + double{0.4f})); }, -1.2,
        80);
    test(
        "HardSwish", none, [](double x) { return x * std::fmin(1, x / 6 + 0.5); }, -2.5, 80);
    EXPECT_EQ(map("HardSigmoid.fast<float>", {-9}, HardSigmoidAttributes{}, isa)[0], 0);
    EXPECT_EQ(map("HardSwish.fast<float>", {-9}, none, isa)[0], 0);
    test(
        "Swish", AlphaAttributes{0.5f}, [](double x) { return x * sigmoid(0.5 * x); }, -80, 80);
    test(
        "Elu", AlphaAttributes{0.5f}, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }, -80,
        80);
    test(
        "Celu", AlphaAttributes{0.5f},
        [](double x) { return x > 0 ? x : 0.5 * std::expm1(x / 0.5); }, -80, 80);
    test(
        "Celu", AlphaAttributes{-2}, [](double x) { return x > 0 ? x : -2 * std::expm1(x / -2); },
        -80, 80);
    test(
        "Selu", SeluAttributes{0.5f, 3},
        [](double x) { return 3 * (x > 0 ? x : 0.5 * std::expm1(x)); }, -80, 80);
    EXPECT_EQ(map("Log.fast<float>", {0, -0.0, 1, kInf}, none, isa),
              (std::vector<double>{-kInf, -kInf, 0, kInf}));
    EXPECT_EQ(map("Atan.fast<float>", {-kInf, kInf, 0}, none, isa),
              (std::vector<double>{-static_cast<float>(M_PI_2), static_cast<float>(M_PI_2), 0}));
    EXPECT_EQ(map("Atanh.fast<float>", {-1, 1, 0}, none, isa),
              (std::vector<double>{-kInf, kInf, 0}));
    // Zeros keep their sign, also among arguments that are far too large for the vector code.
    for (const char* op : {"Sin", "Tan", "Asin", "Atan", "Sinh", "Tanh", "Asinh", "Atanh"}) {
      const auto y = map(std::string(op) + ".fast<float>", {0, -0.0, 1e20}, none, isa);
      EXPECT_FALSE(std::signbit(y[0])) << op;
      EXPECT_TRUE(y[1] == 0 && std::signbit(y[1])) << op;
    }
    for (const char* op : {"Log", "Asin", "Acos", "Acosh", "Atanh", "Sin", "Cos", "Tan"}) {
      EXPECT_TRUE(std::isnan(map(std::string(op) + ".fast<float>", {-kInf}, none, isa)[0])) << op;
    }
    EXPECT_EQ(map("Exp.fast<float>", {-kInf, kInf, 0, 100}, none, isa),
              (std::vector<double>{0, kInf, 1, kInf}));
    EXPECT_EQ(map("Tanh.fast<float>", {-kInf, kInf, 0}, none, isa),
              (std::vector<double>{-1, 1, 0}));
    EXPECT_EQ(map("Erf.fast<float>", {-kInf, kInf, 0}, none, isa), (std::vector<double>{-1, 1, 0}));
  }
}

}  // namespace
}  // namespace intarsia::test
