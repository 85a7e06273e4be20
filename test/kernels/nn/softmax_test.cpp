// SPDX-License-Identifier: Apache-2.0
//
// Softmax and its relatives against sums in long double, along every axis, odd tails, rank 0 and
// empty tensors; in place, infinities, NaN, ties, and rejected nodes.
#include <limits>

#include "core/operators/nn/softmax.h"
#include "test/kernels/common/axis_lines.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_softmax(std::string_view op, DataType type, bool log, double units,
                    Isa isa = Isa::kPortable) {
  const std::string kernel = kernel_name(op, {type});
  SCOPED_TRACE(kernel);
  std::mt19937 engine(19);
  static Part part(3);  // other shapes with other types
  for_axes([&](const Dims& dims, int32_t axis, unsigned plain) {
    if (!part.takes()) return;
    const auto x = random_numbers(type, count_of(dims), engine, -9, 9);
    std::vector<double> expected(x.size());
    for (const auto& line : lines_of(dims, plain)) {
      List values;
      for (size_t at : line) values.push_back(x[at]);
      const long double sum = exponentials_of(values);
      for (size_t i = 0; i < line.size(); ++i) {
        expected[line[i]] =
            static_cast<double>(log ? values[i] - std::log(sum) : std::exp(values[i]) / sum);
      }
    }
    for (bool in_place : {false, true}) {
      Node node;
      node.input(type, dims, x).output(type, dims).attributes(SoftmaxAttributes{axis});
      node.threads(3).isa(isa).in_place(in_place ? 0 : -1);
      ASSERT_TRUE(node.run(kernel).ok());
      expect_numbers_near(node.numbers(), expected, units * epsilon_of(type),
                          log ? 16 * epsilon_of(type) : epsilon_of(type) * 1e-2);
    }
  });
}

TEST(Softmax, Reference) {
  expect_softmax("Softmax", DataType::kFloat, false, 1.5);
  expect_softmax("Softmax", DataType::kDouble, false, 64);
  expect_softmax("Softmax", DataType::kFloat16, false, 1.5);
  expect_softmax("LogSoftmax", DataType::kFloat, true, 1.5);
  expect_softmax("LogSoftmax", DataType::kBfloat16, true, 1.5);
}

TEST(Softmax, Fast) {
  for (Isa isa : cpu::available_isas()) {
    expect_softmax("Softmax.fast", DataType::kFloat, false, 40, isa);
    expect_softmax("LogSoftmax.fast", DataType::kFloat, true, 8, isa);
    expect_softmax("Softmax.fast", DataType::kDouble, false, 64, isa);
    expect_softmax("LogSoftmax.fast", DataType::kDouble, true, 64, isa);
    expect_softmax("Softmax.fast", DataType::kFloat16, false, 1.5, isa);
    expect_softmax("LogSoftmax.fast", DataType::kBfloat16, true, 1.5, isa);
    Node node;
    const float inf = std::numeric_limits<float>::infinity();
    node.input<float>({2, 3}, {1e30f, -inf, 1e30f, NAN, 0, 0}).output<float>({2, 3});
    node.attributes(SoftmaxAttributes{}).isa(isa);
    ASSERT_TRUE(node.run("Softmax.fast<float>").ok());
    expect_near<float>(node.result<float>(), {0.5, 0, 0.5, kNan, kNan, kNan}, 0, 0);
    ASSERT_TRUE(node.run("Softmax<float>").ok());
    expect_near<float>(node.result<float>(), {0.5, 0, 0.5, kNan, kNan, kNan}, 0, 0);
  }
}

/// Rows of every length about those of vectors, with infinities; each row by itself.
TEST(Softmax, ShortRows) {
  std::mt19937 engine(29);
  Part part(3);
  for (DataType type : {DataType::kFloat, DataType::kDouble, DataType::kFloat16}) {
    for (int32_t length = 1; length <= 40; ++length) {
      if (!part.takes()) continue;
      const int32_t rows = 11;
      auto x = random_numbers(type, rows * length, engine, -9, 9);
      const double inf = std::numeric_limits<double>::infinity();
      for (int32_t i = 0; i < length; ++i) x[static_cast<size_t>(length + i)] = -inf;
      x[static_cast<size_t>(3 * length - 1)] = -inf;
      x[static_cast<size_t>(4 * length - 1)] = kNan;
      for (const bool log : {false, true}) {
        const std::string op = log ? "LogSoftmax" : "Softmax";
        Node reference;
        reference.input(type, {rows, length}, x).output(type, {rows, length});
        ASSERT_TRUE(reference.attributes(SoftmaxAttributes{}).run(kernel_name(op, {type})).ok());
        for (Isa isa : cpu::available_isas()) {
          SCOPED_TRACE(op + " of " + std::to_string(length));
          Node node;
          node.input(type, {rows, length}, x).output(type, {rows, length}).threads(3).isa(isa);
          node.attributes(SoftmaxAttributes{}).in_place(isa == Isa::kAvx2 ? 0 : -1);
          ASSERT_TRUE(node.run(kernel_name(op + ".fast", {type})).ok());
          expect_numbers_near(node.numbers(), reference.numbers(), 40 * epsilon_of(type),
                              (log ? 16 : 1e-2) * epsilon_of(type));
        }
      }
    }
  }
}

/// Lines that do not fit the block of floats through which they pass.
TEST(Softmax, LongLinesOfHalves) {
  std::mt19937 engine(23);
  for (Isa isa : cpu::available_isas()) {
    for (const bool log : {false, true}) {
      const auto x = random_numbers(DataType::kFloat16, 2 * 2571, engine, -9, 9);
      Node fast, reference;
      for (Node* node : {&fast, &reference}) {
        node->input(DataType::kFloat16, {2, 2571}, x).output(DataType::kFloat16, {2, 2571});
        node->attributes(SoftmaxAttributes{}).isa(isa);
      }
      const std::string op = log ? "LogSoftmax" : "Softmax";
      ASSERT_TRUE(fast.in_place(0).run(op + ".fast<float16>").ok());
      ASSERT_TRUE(reference.run(op + "<float16>").ok());
      const double unit = epsilon_of(DataType::kFloat16);
      expect_numbers_near(fast.numbers(), reference.numbers(), unit, unit * 1e-4);
    }
  }
}

/// Few lines side by side, several positions of which are taken at once, and what is left of them.
TEST(Softmax, FewLinesSideBySide) {
  std::mt19937 engine(29);
  Part part(3);
  for (const int32_t lines : {2, 3, 5, 20, 100}) {
    for (const int32_t length : {1, 2, 3, 7, 8, 33, 171}) {
      for (const DataType type : {DataType::kFloat, DataType::kBfloat16}) {
        if (!part.takes()) continue;
        const Dims dims{2, length, lines};
        const auto x = random_numbers(type, count_of(dims), engine, -9, 9);
        for (const std::string op : {"Softmax", "LogSoftmax"}) {
          Node reference;
          reference.input(type, dims, x).output(type, dims).attributes(SoftmaxAttributes{1});
          ASSERT_TRUE(reference.run(kernel_name(op, {type})).ok());
          for (const Isa isa : cpu::available_isas()) {
            Node fast;
            fast.input(type, dims, x).output(type, dims).attributes(SoftmaxAttributes{1});
            ASSERT_TRUE(fast.isa(isa).in_place(0).run(kernel_name(op + ".fast", {type})).ok());
            const double unit = epsilon_of(type);
            expect_numbers_near(fast.numbers(), reference.numbers(), 40 * unit, 16 * unit);
          }
        }
      }
    }
  }
}

TEST(Softmax, Hardmax) {
  Node node;
  node.input<float>({2, 4}, {1, 3, 3, 2, 1, NAN, 9, 0}).output<float>({2, 4});
  node.attributes(SoftmaxAttributes{}).in_place(0);
  ASSERT_TRUE(node.run("Hardmax<float>").ok());
  EXPECT_EQ(node.result<float>(), (std::vector<float>{0, 1, 0, 0, 0, 1, 0, 0}));
}

TEST(Softmax, AxesOutOfRangeAreRejected) {
  Node axis;
  axis.input<float>({2, 3}, std::vector<float>(6)).output<float>({2, 3});
  axis.attributes(SoftmaxAttributes{2});
  EXPECT_EQ(axis.check("Softmax<float>").code(), Code::kIndexOutOfRange);
  EXPECT_EQ(axis.check("Softmax.fast<float>").code(), Code::kIndexOutOfRange);
}

}  // namespace
}  // namespace intarsia::test
