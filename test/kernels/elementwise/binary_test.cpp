// SPDX-License-Identifier: Apache-2.0
//
// Element-wise kernels of several inputs and Clip, against formulas in double precision, over
// broadcast shapes, odd tails, rank 0 and empty tensors; what the specification says of NaN,
// infinities and overflow; rejected nodes. Kernels of one input: unary_test.cpp, cast_test.cpp.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/math/element.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// ---- two inputs ----

/// Element of an operand of extents `dims` that is broadcast to index `flat` of `out`.
size_t broadcast_index(const Dims& dims, const Dims& out, int64_t flat) {
  int64_t offset = 0, stride = 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t axis = out.size() - 1 - i;
    const int64_t index = flat % out[axis];
    flat /= out[axis];
    if (i >= dims.size()) continue;
    const int32_t extent = dims[dims.size() - 1 - i];
    if (extent != 1) offset += index * stride;
    stride *= extent;
  }
  return static_cast<size_t>(offset);
}

struct Shapes {
  Dims a, b, out;
};
const Shapes kShapes[] = {
    {{}, {}, {}},
    {{3}, {}, {3}},
    {{}, {2, 3}, {2, 3}},
    {{5}, {5}, {5}},
    {{2, 3, 5}, {3, 1}, {2, 3, 5}},
    {{4, 1, 7}, {1, 6, 1}, {4, 6, 7}},
    {{1, 2, 1, 3}, {4, 1, 5, 1}, {4, 2, 5, 3}},
    {{2, 1, 3, 4}, {2, 5, 1, 1}, {2, 5, 3, 4}},
    {{0, 3}, {1, 3}, {0, 3}},
    {{1, 0}, {4, 1}, {4, 0}},
    {{1, 1, 1}, {1}, {1, 1, 1}},
    {{3, 70, 111}, {70, 1}, {3, 70, 111}},
    {{23310}, {23310}, {23310}},
    {{2, 2, 2, 2, 2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 1}, {2, 2, 2, 2, 2, 2, 2, 2}},
};

using Function2 = std::function<double(double, double)>;

struct BinaryCase {
  DataType type, second, out;
  double low, high, low2, high2;
  Isa isa = Isa::kPortable;
};

void expect_binary(const KernelUnderTest& kernel, std::span<const std::byte> attributes,
                   const Function2& f, const BinaryCase& test) {
  SCOPED_TRACE(std::string(kernel.name) + " of type " +
               std::to_string(static_cast<int>(test.type)));
  std::mt19937 engine(11);
  for (const Shapes& shapes : kShapes) {
    const auto a = random_numbers(test.type, count_of(shapes.a), engine, test.low, test.high);
    const auto b = random_numbers(test.second, count_of(shapes.b), engine, test.low2, test.high2);
    std::vector<double> expected;
    for (int64_t i = 0; i < count_of(shapes.out); ++i) {
      expected.push_back(f(a[broadcast_index(shapes.a, shapes.out, i)],
                           b[broadcast_index(shapes.b, shapes.out, i)]));
    }
    for (int in_place : {-1, 0, 1}) {
      const Dims& taken = in_place == 0 ? shapes.a : shapes.b;
      const DataType taken_type = in_place == 0 ? test.type : test.second;
      if (in_place >= 0 &&
          (taken != shapes.out || element_bits(taken_type) != element_bits(test.out))) {
        continue;
      }
      Node node;
      node.input(test.type, shapes.a, a).input(test.second, shapes.b, b);
      node.output(test.out, shapes.out).raw_attributes(attributes);
      node.threads(in_place < 0 ? 3 : 1).in_place(in_place).isa(test.isa);
      ASSERT_TRUE(node.run(kernel).ok());
      expect_numbers_near(node.numbers(), expected, 2 * epsilon_of(test.out), 1e-30);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class A = NoAttributes>
void expect_binary(std::string_view kernel, const Function2& f, const BinaryCase& test,
                   const A& attributes = {}) {
  expect_binary(cpu_kernel(kernel), std::as_bytes(std::span(&attributes, 1)), f, test);
}
/// Both inputs and the result are of one type.
template <class A = NoAttributes>
void expect_binary(std::string_view op, DataType type, const Function2& f, double low, double high,
                   double low2, double high2, const A& attributes = {}) {
  expect_binary(kernel_name(op, {type}), f, {type, type, type, low, high, low2, high2}, attributes);
}
/// The result is a bool.
void expect_predicate(std::string_view op, DataType type, const Function2& f, double high) {
  expect_binary(kernel_name(op, {type}), f, {type, type, DataType::kBool, 0, high, 0, high});
}
void expect_power(DataType type, DataType exponent, const Function2& f, double low, double high,
                  double low2, double high2) {
  expect_binary(kernel_name("Pow", {type, exponent}), f,
                {type, exponent, type, low, high, low2, high2});
}

void expect_binary_floats(std::string_view op, const Function2& f, double low, double high) {
  for (DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16}) {
    expect_binary(op, type, f, low, high, low, high);
  }
}
void expect_binary_integers(std::string_view op, const Function2& f, double low, double high) {
  for (DataType type : {DataType::kInt8, DataType::kUint16, DataType::kInt32, DataType::kInt64,
                        DataType::kUint64}) {
    expect_binary(op, type, f, low, high, low, high);
  }
}

TEST(Binary, Arithmetic) {
  const auto add = [](double x, double y) { return x + y; };
  const auto multiply = [](double x, double y) { return x * y; };
  expect_binary_floats("Add", add, 1, 9);
  expect_binary_integers("Add", add, 1, 9);
  expect_binary_floats("Mul", multiply, -9, 9);
  expect_binary_integers("Mul", multiply, 1, 9);
  expect_binary(
      "Sub", DataType::kFloat, [](double x, double y) { return x - y; }, 1, 9, 20, 30);
  expect_binary(
      "Sub", DataType::kInt16, [](double x, double y) { return x - y; }, 1, 9, 1, 9);
  expect_binary_floats(
      "Div", [](double x, double y) { return x / y; }, 1, 9);
  expect_binary_integers(
      "Div", [](double x, double y) { return std::trunc(x / y); }, 1, 99);
  expect_binary(
      "Div", DataType::kInt8, [](double x, double y) { return std::trunc(x / y); }, -99, 99, -99,
      -1);
}

TEST(Binary, Modulo) {
  const auto floored = [](double x, double y) { return x - y * std::floor(x / y); };
  const auto truncated = [](double x, double y) { return std::fmod(x, y); };
  expect_binary("Mod", DataType::kInt32, floored, -99, 99, -9, -1, ModAttributes{});
  expect_binary("Mod", DataType::kInt8, floored, -99, 99, 1, 9, ModAttributes{});
  expect_binary("Mod", DataType::kUint8, floored, 0, 99, 1, 9, ModAttributes{});
  expect_binary("Mod", DataType::kInt64, truncated, -99, 99, 1, 9, ModAttributes{1});
  expect_binary("Mod", DataType::kDouble, truncated, -99, 99, 1, 9, ModAttributes{1});
  const auto run = [](float x, float y) {
    Node node;
    node.input<float>({}, {x}).input<float>({}, {y}).output<float>({}).attributes(ModAttributes{});
    EXPECT_TRUE(node.run("Mod<float>").ok());
    return node.result<float>()[0];
  };
  EXPECT_EQ(run(-5.5f, 2), 0.5f);
  EXPECT_EQ(run(5.5f, -2), -0.5f);
  EXPECT_EQ(run(-1, std::numeric_limits<float>::infinity()), kInf);
  EXPECT_TRUE(std::signbit(run(4, -2)));
  EXPECT_TRUE(std::isnan(run(1, 0)));
}

TEST(Binary, ComparisonsAndLogic) {
  expect_predicate(
      "Equal", DataType::kInt8, [](double x, double y) { return x == y; }, 2);
  expect_predicate(
      "Equal", DataType::kBool, [](double x, double y) { return x == y; }, 1);
  expect_predicate(
      "Less", DataType::kFloat, [](double x, double y) { return x < y; }, 2);
  expect_predicate(
      "LessOrEqual", DataType::kUint32, [](double x, double y) { return x <= y; }, 2);
  expect_predicate(
      "Greater", DataType::kFloat16, [](double x, double y) { return x > y; }, 2);
  expect_predicate(
      "GreaterOrEqual", DataType::kInt64, [](double x, double y) { return x >= y; }, 2);
  expect_predicate(
      "And", DataType::kBool, [](double x, double y) { return x * y; }, 1);
  expect_predicate(
      "Or", DataType::kBool, [](double x, double y) { return std::fmax(x, y); }, 1);
  expect_predicate(
      "Xor", DataType::kBool, [](double x, double y) { return x != y; }, 1);
}

TEST(Binary, Bitwise) {
  const auto bits = [](double x) { return static_cast<int64_t>(x); };
  expect_binary_integers(
      "BitwiseAnd", [=](double x, double y) { return static_cast<double>(bits(x) & bits(y)); }, 0,
      99);
  expect_binary_integers(
      "BitwiseOr", [=](double x, double y) { return static_cast<double>(bits(x) | bits(y)); }, 0,
      99);
  expect_binary_integers(
      "BitwiseXor", [=](double x, double y) { return static_cast<double>(bits(x) ^ bits(y)); }, 0,
      99);
  const auto shift = [](std::vector<int8_t> x, std::vector<int8_t> y, int32_t direction) {
    Node node;
    const Dims dims{static_cast<int32_t>(x.size())};
    node.input<int8_t>(dims, x).input<int8_t>(dims, y).output<int8_t>(dims);
    node.attributes(BitShiftAttributes{direction});
    EXPECT_TRUE(node.run("BitShift<int8>").ok());
    return node.result<int8_t>();
  };
  EXPECT_EQ(shift({1, -1, 3, 3, 3}, {3, 1, 8, -1, 7}, BitShiftAttributes::kLeft),
            (std::vector<int8_t>{8, -2, 0, 0, -128}));
  EXPECT_EQ(shift({100, -100, -1, -1, 1}, {2, 2, 9, -3, 9}, BitShiftAttributes::kRight),
            (std::vector<int8_t>{25, -25, -1, -1, 0}));
}

TEST(Binary, Pow) {
  const auto power = [](double x, double y) { return std::pow(x, y); };
  expect_power(DataType::kFloat, DataType::kFloat, power, 0.1, 9, -3, 3);
  expect_power(DataType::kDouble, DataType::kInt8, power, -9, 9, -3, 3);
  expect_power(DataType::kFloat16, DataType::kBfloat16, power, 0.5, 3, -2, 2);
  expect_power(DataType::kInt32, DataType::kUint8, power, -9, 9, 0, 5);
  expect_power(DataType::kInt64, DataType::kInt64, power, -9, 9, 0, 9);
  expect_power(
      DataType::kInt32, DataType::kFloat,
      [](double x, double y) { return std::trunc(std::pow(x, y)); }, 1, 9, 0, 3);
  Node node;
  node.input<int32_t>({1}, {2}).input<int32_t>({1}, {-1}).output<int32_t>({1});
  EXPECT_EQ(node.run("Pow<int32, int32>").code(), Code::kInvalidValue);
}

const DataType kOfFloats[] = {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16};

/// The same bits as fmod, also where a block has numbers that only fmod can serve, and where a
/// rounded quotient is the next integer.
template <class T>
void expect_bits_of_modulo(Isa isa) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T inf = std::numeric_limits<T>::infinity();
  std::mt19937_64 engine(5);
  std::vector<T> x, y;
  const auto any = [&] { return std::bit_cast<T>(static_cast<Bits>(engine())); };
  const auto number = [&] { return static_cast<T>(engine() >> 11) / (T{1} + engine() % 9); };
  for (int i = 0; i < 6000; ++i) {
    if (i % 1800 < 600) {
      x.push_back(any());
      y.push_back(i % 600 < 300 ? x.back() / static_cast<T>(engine() % 99 + 1) : any());
    } else {
      y.push_back(number());
      const T multiple = y.back() * static_cast<T>(engine() % 999);
      x.push_back(i % 3 == 0 ? multiple : std::nextafter(multiple, i % 3 == 1 ? inf : -inf));
    }
  }
  for (const T special : {T{0}, -T{0}, inf, -inf}) {
    x.insert(x.end(), {3, -3, special, special});
    y.insert(y.end(), {special, special, 2, -2});
  }
  const Dims dims{static_cast<int32_t>(x.size())};
  for (int fmod : {0, 1}) {
    std::vector<T> results[2];
    for (const std::string_view variant : {"Mod", "Mod.fast"}) {
      Node node;
      node.input<T>(dims, x).template input<T>(dims, y).template output<T>(dims);
      node.attributes(ModAttributes{fmod}).isa(isa);
      ASSERT_TRUE(node.run(kernel_name(std::string(variant), {data_type_of<T>})).ok());
      results[variant != "Mod"] = node.result<T>();
    }
    for (size_t i = 0; i < x.size(); ++i) {
      const T want = results[0][i], got = results[1][i];
      if (std::isnan(want) && std::isnan(got)) continue;
      EXPECT_EQ(std::bit_cast<Bits>(got), std::bit_cast<Bits>(want))
          << "Mod of " << x[i] << " and " << y[i] << " is " << got << " instead of " << want;
    }
  }
}

TEST(Binary, FastModulo) {
  const auto floored = [](double x, double y) {
    const double rest = std::fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  };
  const auto truncated = [](double x, double y) { return std::fmod(x, y); };
  for (Isa isa : cpu::available_isas()) {
    for (DataType type : {kOfFloats[0], kOfFloats[1], kOfFloats[2], DataType::kDouble}) {
      const std::string kernel = kernel_name("Mod.fast", {type});
      const BinaryCase test{type, type, type, -99, 99, 1, 9, isa};
      expect_binary(kernel, truncated, test, ModAttributes{1});
      expect_binary(kernel, floored, test, ModAttributes{0});
    }
    expect_bits_of_modulo<float>(isa);
    expect_bits_of_modulo<double>(isa);
  }
}

TEST(Binary, FastPow) {
  const auto power = [](double x, double y) { return std::pow(x, y); };
  for (Isa isa : cpu::available_isas()) {
    for (DataType type : kOfFloats) {
      const std::string kernel = kernel_name("Pow.fast", {type, type});
      expect_binary(kernel, power, {type, type, type, 0.5, 3, -2, 2, isa});
      // Exponents with a loop of their own, and others.
      for (const double exponent : {2.0, 3.0, 1.0, -1.0, 0.5, 0.0, -2.0, 1.5}) {
        expect_binary(kernel, power, {type, type, type, 0.5, 3, exponent, exponent, isa});
      }
    }
    // The special cases of C's pow, and what lies around them.
    const float numbers[] = {0,
                             -0.0f,
                             1,
                             -1,
                             2,
                             -2,
                             3,
                             -3,
                             0.5f,
                             -0.5f,
                             1.5f,
                             -2.5f,
                             1e30f,
                             -1e30f,
                             0x1p-149f,
                             16777215,
                             33554432.0f,
                             static_cast<float>(kInf),
                             -static_cast<float>(kInf),
                             std::numeric_limits<float>::quiet_NaN()};
    for (const float y : numbers) {
      std::vector<float> x(std::begin(numbers), std::end(numbers));
      const Dims dims{static_cast<int32_t>(x.size())};
      for (const bool still : {false, true}) {
        Node node;
        node.input<float>(dims, x);
        node.input<float>(still ? Dims{1} : dims, std::vector<float>(still ? 1 : x.size(), y));
        ASSERT_TRUE(node.output<float>(dims).isa(isa).run("Pow.fast<float, float>").ok());
        for (size_t i = 0; i < x.size(); ++i) {
          const float want = std::pow(x[i], y), got = node.result<float>()[i];
          SCOPED_TRACE("Pow of " + std::to_string(x[i]) + " and " + std::to_string(y));
          EXPECT_EQ(std::isnan(got), std::isnan(want));
          if (std::isnan(want)) continue;
          EXPECT_EQ(std::signbit(got), std::signbit(want));
          EXPECT_FLOAT_EQ(got, want);
        }
      }
    }
  }
}

TEST(Binary, PRelu) {
  const auto prelu = [](const Shapes& shapes) { return shapes.a == shapes.out; };
  std::mt19937 engine(3);
  for (const Shapes& shapes : kShapes) {
    if (!prelu(shapes)) continue;
    const auto x = random_values<float>(count_of(shapes.a), engine, -2, 2);
    const auto slope = random_values<float>(count_of(shapes.b), engine, -2, 2);
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = broadcast_index(shapes.b, shapes.out, static_cast<int64_t>(i));
      expected.push_back(x[i] < 0 ? double{x[i]} * slope[at] : x[i]);
    }
    Node node;
    node.input<float>(shapes.a, x).input<float>(shapes.b, slope).output<float>(shapes.out);
    ASSERT_TRUE(node.run("PRelu<float>").ok());
    expect_near<float>(node.result<float>(), expected, 1e-6, 0);
  }
  Node wider;
  wider.input<float>({1}, {1}).input<float>({2}, {1, 2}).output<float>({2});
  EXPECT_EQ(wider.check("PRelu<float>").code(), Code::kWrongExtent);
}

/// Quotients of what lies at the edges of T, and at random, against division of 64 bits.
template <class T>
void expect_quotients(const char* kernel) {
  std::vector<T> values;
  std::mt19937 engine(7);
  std::uniform_int_distribution<int64_t> any(std::numeric_limits<T>::min(),
                                             std::numeric_limits<T>::max());
  for (int near = -3; near <= 3; ++near) {
    for (const int64_t edge : {int64_t{std::numeric_limits<T>::min()}, int64_t{0},
                               int64_t{std::numeric_limits<T>::max()}}) {
      values.push_back(static_cast<T>(edge + near));
    }
  }
  for (int i = 0; i < 300; ++i) {
    values.push_back(static_cast<T>(any(engine)));
    values.push_back(static_cast<T>(any(engine) >> (i % static_cast<int>(8 * sizeof(T)))));
  }
  std::vector<T> divisors = values;
  std::erase(divisors, T{0});
  std::vector<T> x, y, expected;
  for (const T a : values) {
    for (const T b : divisors) {
      x.push_back(a);
      y.push_back(b);
      expected.push_back(static_cast<T>(int64_t{a} / int64_t{b}));
      // A multiple and its neighbour: where rounding would show.
      x.push_back(static_cast<T>(expected.back() * int64_t{b} - 1));
      y.push_back(b);
      expected.push_back(static_cast<T>(int64_t{x.back()} / int64_t{b}));
    }
  }
  const auto count = static_cast<int32_t>(x.size());
  for (const Isa isa : cpu::available_isas()) {
    Node node;
    node.isa(isa);
    node.input<T>({count}, x);
    node.input<T>({count}, y);
    node.output<T>({count});
    ASSERT_TRUE(node.run(kernel).ok());
    EXPECT_EQ(node.result<T>(), expected) << kernel;
  }
}

TEST(Binary, IntegerQuotientsAreExact) {
  expect_quotients<int8_t>("Div<int8>");
  expect_quotients<uint8_t>("Div<uint8>");
  expect_quotients<int16_t>("Div<int16>");
  expect_quotients<uint16_t>("Div<uint16>");
  expect_quotients<int32_t>("Div<int32>");
  expect_quotients<uint32_t>("Div<uint32>");
}

TEST(Binary, IntegerEdges) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  Node divide;
  divide.input<int32_t>({2}, {lowest, 7}).input<int32_t>({2}, {-1, -2}).output<int32_t>({2});
  ASSERT_TRUE(divide.run("Div<int32>").ok());
  EXPECT_EQ(divide.result<int32_t>(), (std::vector<int32_t>{lowest, -3}));
  Node zero;
  zero.input<int32_t>({2}, {1, 7}).input<int32_t>({2}, {1, 0}).output<int32_t>({2});
  EXPECT_EQ(zero.run("Div<int32>").code(), Code::kDivisionByZero);
  EXPECT_EQ(zero.diagnostic().operand, 1);
  EXPECT_EQ(zero.diagnostic().found, 1);
  zero.attributes(ModAttributes{});
  EXPECT_EQ(zero.run("Mod<int32>").code(), Code::kDivisionByZero);
  Node wrap;
  wrap.input<int16_t>({2}, {32767, -32768}).input<int16_t>({}, {1}).output<int16_t>({2});
  ASSERT_TRUE(wrap.run("Add<int16>").ok());
  EXPECT_EQ(wrap.result<int16_t>(), (std::vector<int16_t>{-32768, -32767}));
  Node product;
  product.input<uint16_t>({1}, {65535}).input<uint16_t>({1}, {65535}).output<uint16_t>({1});
  ASSERT_TRUE(product.run("Mul<uint16>").ok());
  EXPECT_EQ(product.result<uint16_t>(), (std::vector<uint16_t>{1}));
}

// ---- any number of inputs ----

void expect_variadic(const KernelUnderTest& kernel, DataType type, const Function2& f, bool mean,
                     Isa isa) {
  SCOPED_TRACE(std::string(kernel.name));
  std::mt19937 engine(5);
  const std::vector<Dims> all = {{70, 1}, {3, 70, 111}, {}, {3, 1, 111}, {111}};
  for (size_t inputs = 1; inputs <= all.size(); ++inputs) {
    const Dims dims = inputs == 1 ? all[0] : all[1];
    Node node;
    std::vector<double> expected(static_cast<size_t>(count_of(dims)));
    for (size_t k = 0; k < inputs; ++k) {
      const auto x = random_numbers(type, count_of(all[k]), engine, 0, 9);
      node.input(type, all[k], x);
      for (size_t i = 0; i < expected.size(); ++i) {
        const double value = x[broadcast_index(all[k], dims, static_cast<int64_t>(i))];
        expected[i] = k == 0 ? value : f(expected[i], value);
      }
    }
    for (double& value : expected) value /= mean ? static_cast<double>(inputs) : 1;
    node.output(type, dims).threads(3);
    if (inputs > 1) node.in_place(1);
    ASSERT_TRUE(node.isa(isa).run(kernel).ok());
    expect_numbers_near(node.numbers(), expected, 4 * epsilon_of(type), 0);
  }
}
void expect_variadic(std::string_view op, DataType type, const Function2& f, bool mean) {
  for (Isa isa : cpu::available_isas()) {
    expect_variadic(cpu_kernel(kernel_name(op, {type})), type, f, mean, isa);
  }
}

TEST(Variadic, Operators) {
  const auto add = [](double x, double y) { return x + y; };
  const auto largest = [](double x, double y) { return std::fmax(x, y); };
  const auto smallest = [](double x, double y) { return std::fmin(x, y); };
  expect_variadic("Sum", DataType::kFloat, add, false);
  expect_variadic("Sum", DataType::kFloat16, add, false);
  expect_variadic("Mean", DataType::kDouble, add, true);
  expect_variadic("Max", DataType::kBfloat16, largest, false);
  expect_variadic("Max", DataType::kInt8, largest, false);
  expect_variadic("Min", DataType::kUint64, smallest, false);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Node node;
  node.input<float>({2}, {nan, 1}).input<float>({2}, {1, nan}).output<float>({2});
  ASSERT_TRUE(node.run("Max<float>").ok());
  for (float value : node.result<float>()) EXPECT_TRUE(std::isnan(value));
  ASSERT_TRUE(node.run("Min<float>").ok());
  for (float value : node.result<float>()) EXPECT_TRUE(std::isnan(value));
}

// ---- Where, Clip ----

void expect_where(const KernelUnderTest& kernel, DataType type) {
  std::mt19937 engine(13);
  for (const Shapes& shapes : kShapes) {
    for (int order = 0; order < 3; ++order) {
      const Dims dims[] = {shapes.a, shapes.b, shapes.out};
      const Dims& c = dims[order];
      const Dims& x = dims[(order + 1) % 3];
      const Dims& y = dims[(order + 2) % 3];
      const auto condition = random_numbers(DataType::kBool, count_of(c), engine, 0, 1);
      const auto on = random_numbers(type, count_of(x), engine, 0, 99);
      const auto off = random_numbers(type, count_of(y), engine, 0, 99);
      std::vector<double> expected;
      for (int64_t i = 0; i < count_of(shapes.out); ++i) {
        expected.push_back(condition[broadcast_index(c, shapes.out, i)] != 0
                               ? on[broadcast_index(x, shapes.out, i)]
                               : off[broadcast_index(y, shapes.out, i)]);
      }
      Node node;
      node.input(DataType::kBool, c, condition).input(type, x, on).input(type, y, off);
      node.output(type, shapes.out).threads(3);
      if (x == shapes.out) node.in_place(1);
      ASSERT_TRUE(node.run(kernel).ok());
      EXPECT_EQ(node.numbers(), expected);
    }
  }
}

TEST(Where, Widths) {
  expect_where(cpu_kernel(width_kernel_name("Where", DataType::kInt8)), DataType::kInt8);
  expect_where(cpu_kernel(width_kernel_name("Where", DataType::kFloat16)), DataType::kFloat16);
  expect_where(cpu_kernel(width_kernel_name("Where", DataType::kFloat)), DataType::kFloat);
  expect_where(cpu_kernel(width_kernel_name("Where", DataType::kInt64)), DataType::kInt64);
  Node mixed;
  mixed.input<bool>({1}, {true}).input<float>({1}, {1}).input<int32_t>({1}, {1}).output<float>({1});
  EXPECT_EQ(mixed.check("Where<32 bits>").code(), Code::kWrongType);
}

TEST(Clip, Bounds) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {-3, -1, 0, 2, 5};
  const auto clip = [&](bool low, bool high) {
    Node node;
    node.input<float>({5}, x);
    low ? node.input<float>({}, {-1.5f}) : node.absent();
    if (high) node.input<float>({1}, {3});
    node.output<float>({5}).in_place(0);
    EXPECT_TRUE(node.run("Clip<float>").ok());
    return node.result<float>();
  };
  using List = std::vector<float>;
  EXPECT_EQ(clip(true, true), (List{-1.5f, -1, 0, 2, 3}));
  EXPECT_EQ(clip(true, false), (List{-1.5f, -1, 0, 2, 5}));
  EXPECT_EQ(clip(false, true), (List{-3, -1, 0, 2, 3}));
  EXPECT_EQ(clip(false, false), x);
  Node crossed;
  crossed.input<int8_t>({3}, {1, 5, 9}).input<int8_t>({}, {6}).input<int8_t>({}, {4});
  crossed.output<int8_t>({3});
  ASSERT_TRUE(crossed.run("Clip<int8>").ok());
  EXPECT_EQ(crossed.result<int8_t>(), (std::vector<int8_t>{4, 4, 4}));
  Node keeps_nan;
  keeps_nan.input<float>({1}, {nan}).input<float>({}, {0}).input<float>({}, {1});
  keeps_nan.output<float>({1});
  ASSERT_TRUE(keeps_nan.run("Clip<float>").ok());
  EXPECT_TRUE(std::isnan(keeps_nan.result<float>()[0]));
  Node many;
  many.input<float>({1}, {1}).input<float>({2}, {0, 0}).output<float>({1});
  EXPECT_EQ(many.check("Clip<float>").code(), Code::kWrongExtent);
}

TEST(Pointwise, RejectedNodes) {
  Node types;
  types.input<float>({2}, {1, 2}).input<double>({2}, {1, 2}).output<float>({2});
  EXPECT_EQ(types.check("Add<float>").code(), Code::kWrongType);
  Node extents;
  extents.input<float>({2}, {1, 2}).input<float>({3}, {1, 2, 3}).output<float>({3});
  EXPECT_EQ(extents.check("Add<float>").code(), Code::kWrongExtent);
  EXPECT_EQ(extents.diagnostic().operand, 0);
  Node rank;
  rank.input<float>({1, 1}, {1}).input<float>({1}, {1}).output<float>({1});
  EXPECT_EQ(rank.check("Add<float>").code(), Code::kWrongRank);
  Node one;
  one.input<float>({1}, {1}).output<float>({1});
  EXPECT_EQ(one.check("Add<float>").code(), Code::kCorruptPlan);
  Node larger;
  larger.input<float>({1}, {1}).output<float>({2});
  EXPECT_EQ(larger.check("Relu<float>").code(), Code::kWrongExtent);
  Node bare;
  bare.input<float>({1}, {1}).output<float>({1});
  EXPECT_EQ(bare.check("Elu<float>").code(), Code::kCorruptPlan);
  Node direction;
  direction.input<int8_t>({1}, {1}).input<int8_t>({1}, {1}).output<int8_t>({1});
  direction.attributes(BitShiftAttributes{});
  EXPECT_EQ(direction.check("BitShift<int8>").code(), Code::kCorruptPlan);
  Node none;
  none.output<float>({1});
  EXPECT_EQ(none.check("Sum<float>").code(), Code::kCorruptPlan);
}

}  // namespace
}  // namespace intarsia::test
