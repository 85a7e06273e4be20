// SPDX-License-Identifier: Apache-2.0
//
// Reduce*, ArgMax/ArgMin, CumSum/CumProd against sums in long double, over all sets of axes, odd
// tails, rank 0 and empty tensors; NaN, ties, and rejected nodes.
#include <functional>
#include <limits>

#include "core/operators/reduction/reduction.h"
#include "test/kernels/common/axis_lines.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using Fold = std::function<long double(const List&)>;

std::vector<int64_t> axes_of(unsigned mask, size_t rank, bool negative) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < rank; ++axis) {
    if ((mask >> axis & 1u) == 0) continue;
    axes.push_back(static_cast<int64_t>(axis) - (negative ? static_cast<int64_t>(rank) : 0));
  }
  return axes;
}

/// One of this machine's instruction sets.
Isa any_isa(unsigned number) {
  const std::vector<Isa> isas = cpu::available_isas();
  return isas[number % isas.size()];
}

void expect_reduce(std::string_view op, DataType type, const Fold& fold, double low, double high,
                   double units = 2, Isa isa = Isa::kPortable) {
  const std::string kernel = kernel_name(op, {type});
  SCOPED_TRACE(kernel);
  std::mt19937 engine(17);
  static Part part(13);
  for (const Dims& dims :
       {Dims{}, Dims{1}, Dims{37}, Dims{3, 5}, Dims{4, 1, 19}, Dims{2, 3, 4, 5}, Dims{17, 2, 33},
        Dims{1, 1}, Dims{2, 700}, Dims{90, 40}, Dims{2, 1, 3, 2, 1, 2, 3, 2}}) {
    const auto x = random_numbers(type, count_of(dims), engine, low, high);
    for (unsigned mask = 0; mask < 1u << dims.size(); ++mask) {
      if (!part.takes()) continue;
      const bool keep = mask % 3 != 0;
      std::vector<double> expected;
      for (const List& group : groups_of(dims, x, mask)) {
        expected.push_back(static_cast<double>(fold(group)));
      }
      const auto axes = axes_of(mask, dims.size(), mask % 2 != 0);
      Node node;
      node.input(type, dims, x);
      if (!axes.empty()) node.input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
      node.output(type, reduced_dims(dims, mask, keep)).threads(mask % 2 != 0 ? 3 : 1);
      node.isa(any_isa(mask));
      node.attributes(ReduceAttributes{keep ? 1 : 0, 1}).isa(isa);
      ASSERT_TRUE(node.run(kernel).ok());
      const double smallest = type == DataType::kFloat16 ? 0x1p-25 : 1e-12;
      expect_numbers_near(node.numbers(), expected, units * epsilon_of(type), smallest);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void expect_reduce_floats(std::string_view op, const Fold& fold, double low, double high,
                          double units = 2) {
  expect_reduce(op, DataType::kFloat, fold, low, high, units);
  expect_reduce(op, DataType::kDouble, fold, low, high, 64 * units);
  expect_reduce(op, DataType::kFloat16, fold, low, high, units);
  expect_reduce(op, DataType::kBfloat16, fold, low, high, units);
}

long double sum_of(const List& list) {
  long double sum = 0;
  for (long double value : list) sum += value;
  return sum;
}
long double squares_of(const List& list) {
  long double sum = 0;
  for (long double value : list) sum += value * value;
  return sum;
}
long double magnitudes_of(const List& list) {
  long double sum = 0;
  for (long double value : list) sum += std::fabs(value);
  return sum;
}
long double product_of(const List& list) {
  long double product = 1;
  for (long double value : list) product *= value;
  return product;
}
long double mean_of(const List& list) {
  return sum_of(list) / static_cast<long double>(list.size());
}
TEST(Reduce, Floats) {
  expect_reduce_floats("ReduceSum", sum_of, 0, 3);
  expect_reduce_floats("ReduceMean", mean_of, 1, 3);
  expect_reduce_floats("ReduceL1", magnitudes_of, -3, 3);
  expect_reduce_floats(
      "ReduceL2", [](const List& l) { return std::sqrt(squares_of(l)); }, -3, 3);
  expect_reduce_floats(
      "ReduceLogSum", [](const List& l) { return std::log(sum_of(l)); }, 2, 3);
  expect_reduce_floats(
      "ReduceLogSumExp", [](const List& l) { return std::log(exponentials_of(l)); }, 1, 9, 3);
  for (Isa isa : cpu::available_isas()) {
    const auto log_sum = [](const List& l) { return std::log(exponentials_of(l)); };
    expect_reduce("ReduceLogSumExp.fast", DataType::kFloat, log_sum, 1, 9, 3, isa);
    expect_reduce("ReduceLogSumExp.fast", DataType::kFloat, log_sum, 400, 409, 3, isa);
  }
  expect_reduce_floats("ReduceSumSquare", squares_of, 0, 3, 3);
  expect_reduce("ReduceProd", DataType::kFloat, product_of, 0.99, 1.01);
  expect_reduce("ReduceProd", DataType::kDouble, product_of, -1, 1, 3000);
  const Fold largest = [](const List& l) { return *std::max_element(l.begin(), l.end()); };
  const Fold smallest = [](const List& l) { return *std::min_element(l.begin(), l.end()); };
  expect_reduce_floats("ReduceMax", largest, -9, 9);
  expect_reduce_floats("ReduceMin", smallest, -9, 9);
}

TEST(Reduce, Integers) {
  const Fold largest = [](const List& l) { return *std::max_element(l.begin(), l.end()); };
  const Fold smallest = [](const List& l) { return *std::min_element(l.begin(), l.end()); };
  expect_reduce("ReduceSum", DataType::kInt32, sum_of, -99, 99);
  expect_reduce("ReduceSum", DataType::kUint64, sum_of, 0, 99);
  expect_reduce("ReduceL1", DataType::kInt64, magnitudes_of, -99, 99);
  expect_reduce("ReduceSumSquare", DataType::kUint32, squares_of, 0, 99);
  expect_reduce(
      "ReduceMean", DataType::kInt32, [](const List& l) { return std::trunc(mean_of(l)); }, -99,
      99);
  expect_reduce(
      "ReduceMean", DataType::kUint32, [](const List& l) { return std::trunc(mean_of(l)); }, 0, 99);
  expect_reduce(
      "ReduceL2", DataType::kInt32,
      [](const List& l) { return std::trunc(std::sqrt(squares_of(l))); }, -9, 9);
  expect_reduce("ReduceProd", DataType::kInt64, product_of, 1, 1);
  expect_reduce("ReduceMax", DataType::kUint8, largest, 0, 255);
  expect_reduce("ReduceMin", DataType::kInt8, smallest, -128, 127);
  expect_reduce("ReduceMax", DataType::kBool, largest, 0, 1);
  expect_reduce("ReduceMin", DataType::kBool, smallest, 0, 1);
}

/// The kernel's results over the axes in `mask`.
template <class T = float>
std::vector<T> reduce(std::string_view kernel, const Dims& dims, const std::vector<T>& x,
                      unsigned mask) {
  const auto axes = axes_of(mask, dims.size(), false);
  Node node;
  node.input<T>(dims, x).template input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
  node.output<T>(reduced_dims(dims, mask, true)).attributes(ReduceAttributes{});
  EXPECT_TRUE(node.run(kernel).ok());
  return node.result<T>();
}

// Long runs are cut into pieces, wide rows into blocks: the same bits for any number of threads and
// any instruction set.
TEST(Reduce, LargeTensors) {
  struct Case {
    Dims dims;
    unsigned mask;
  };
  const auto expect_same = [](const Case& shape, std::string_view kernel, const Fold& fold) {
    SCOPED_TRACE(::testing::PrintToString(shape.dims) + std::string(kernel));
    std::mt19937 engine(3);
    const auto numbers = random_numbers(DataType::kFloat, count_of(shape.dims), engine, -9, 9);
    std::vector<double> expected;
    double roundings = 0;  // of sums of up to four floats, each of which is at most 36
    for (const List& group : groups_of(shape.dims, numbers, shape.mask)) {
      expected.push_back(static_cast<double>(fold(group)));
      roundings = std::sqrt(static_cast<double>(group.size()));
    }
    const double tolerance = 1e-6 + 36 * 0x1p-24 * roundings;
    const auto axes = axes_of(shape.mask, shape.dims.size(), false);
    std::vector<float> first;
    for (Isa isa : cpu::available_isas()) {
      for (int threads : {1, 2, 7}) {
        Node node;
        node.input(DataType::kFloat, shape.dims, numbers);
        node.input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
        node.output<float>(reduced_dims(shape.dims, shape.mask, true)).threads(threads).isa(isa);
        ASSERT_TRUE(node.attributes(ReduceAttributes{}).run(kernel).ok());
        expect_near<float>(node.result<float>(), expected, 1e-6, tolerance);
        if (first.empty()) first = node.result<float>();
        EXPECT_EQ(node.result<float>(), first);
      }
    }
  };
  const Case cases[] = {{{70001}, 1},
                        {{3, 30011}, 2},
                        {{30011, 3}, 1},
                        {{20003, 4}, 2},
                        {{900, 70}, 1},
                        {{70, 900}, 1},
                        {{5, 7, 11, 130}, 5},
                        {{5, 7, 11, 130}, 10},
                        {{6, 5000, 2}, 5},
                        {{2, 300, 65}, 2},
                        {{1, 40000, 1, 3}, 13},
                        {{2, 9000, 3}, 3},
                        // Short rows inside of kept axes, and more outside.
                        {{160, 33, 7}, 5},
                        {{9, 700, 5}, 5},
                        {{20003, 3, 4}, 5},
                        {{2, 90000, 2}, 5},
                        {{6, 3, 5, 40, 9}, 21},
                        {{30, 41, 16}, 5},
                        {{30, 41, 17}, 5}};
  for (const Case& shape : cases) {
    expect_same(shape, "ReduceSum<float>", sum_of);
    expect_same(shape, "ReduceMax<float>",
                [](const List& l) { return *std::max_element(l.begin(), l.end()); });
  }
}

/// Rows that are taken together, of every length about those of vectors, and what is left of them;
/// whole numbers, of which every order of steps gives the same result.
TEST(Reduce, ShortRows) {
  struct Case {
    std::string_view op;
    DataType type;
    Fold fold;
  };
  const Fold largest = [](const List& l) { return *std::max_element(l.begin(), l.end()); };
  const Case cases[] = {{"ReduceSum", DataType::kFloat, sum_of},
                        {"ReduceSum", DataType::kDouble, sum_of},
                        {"ReduceSum", DataType::kInt32, sum_of},
                        {"ReduceSumSquare", DataType::kFloat16, squares_of},
                        {"ReduceL1", DataType::kBfloat16, magnitudes_of},
                        {"ReduceMax", DataType::kFloat, largest},
                        {"ReduceMax", DataType::kInt32, largest},
                        {"ReduceMax", DataType::kUint8, largest}};
  std::vector<int32_t> lengths = {63, 64, 100, 255, 256, 257, 1023, 1024, 1025};
  for (int32_t length = 1; length <= 50; ++length) lengths.push_back(length);
  Part part(3);
  for (const Case& one : cases) {
    for (const int32_t length : lengths) {
      if (!part.takes()) continue;
      const Dims dims{length % 2 != 0 ? 19 : 8, length};
      // Few ones, so that 16 bits hold the sums; each place counts in some row.
      std::vector<double> x(static_cast<size_t>(count_of(dims)));
      for (size_t i = 0; i < x.size(); ++i) x[i] = i % 13 == 0 || i % 7 == 3 ? 1.0 : 0.0;
      std::vector<double> expected;
      for (const List& group : groups_of(dims, x, 2)) {
        expected.push_back(static_cast<double>(one.fold(group)));
      }
      for (Isa isa : cpu::available_isas()) {
        SCOPED_TRACE(kernel_name(one.op, {one.type}) + " of " + std::to_string(length));
        Node node;
        node.input(one.type, dims, x).input<int64_t>({1}, {1});
        node.output(one.type, reduced_dims(dims, 2, true)).threads(3).isa(isa);
        ASSERT_TRUE(node.attributes(ReduceAttributes{}).run(kernel_name(one.op, {one.type})).ok());
        ASSERT_EQ(node.numbers(), expected);
      }
    }
  }
  for (const int32_t length : lengths) {
    for (int32_t place = 0; place < length; place += 1 + length / 40) {
      if (!part.takes()) continue;
      std::vector<float> x(static_cast<size_t>(8 * length), 1.0f);
      x[static_cast<size_t>(3 * length + place)] = std::numeric_limits<float>::quiet_NaN();
      Node node;
      node.input<float>({8, length}, x).input<int64_t>({1}, {1}).output<float>({8, 1});
      node.attributes(ReduceAttributes{}).isa(any_isa(static_cast<unsigned>(length)));
      ASSERT_TRUE(node.run("ReduceMax<float>").ok());
      for (size_t row = 0; row < 8; ++row) {
        ASSERT_EQ(std::isnan(node.result<float>()[row]), row == 3);
      }
    }
  }
}

TEST(Reduce, NothingToReduce) {
  const float inf = std::numeric_limits<float>::infinity();
  using Floats = std::vector<float>;
  const Dims dims{2, 0};
  EXPECT_EQ(reduce("ReduceSum<float>", dims, {}, 2), (Floats{0, 0}));
  EXPECT_EQ(reduce("ReduceProd<float>", dims, {}, 2), (Floats{1, 1}));
  EXPECT_EQ(reduce("ReduceMax<float>", dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ(reduce("ReduceMin<float>", dims, {}, 2), (Floats{inf, inf}));
  EXPECT_EQ(reduce("ReduceLogSum<float>", dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ(reduce("ReduceLogSumExp<float>", dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ(reduce("ReduceLogSumExp.fast<float>", dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ((reduce<int32_t>("ReduceMax<int32>", dims, {}, 2)),
            (std::vector<int32_t>(2, std::numeric_limits<int32_t>::min())));
  EXPECT_TRUE(std::isnan(reduce("ReduceMean<float>", dims, {}, 2)[0]));
  EXPECT_TRUE(reduce("ReduceSum<float>", dims, {}, 1).empty());
  EXPECT_EQ(reduce("ReduceSum<float>", {0}, {}, 1), (Floats{0}));
  EXPECT_EQ(reduce("ReduceSum<float>", {2, 3, 0}, {}, 5), (Floats{0, 0, 0}));
  EXPECT_EQ(reduce("ReduceSum<float>", {0, 3, 2}, {}, 5), (Floats{0, 0, 0}));
  Node mean;
  mean.input<int32_t>(dims, {}).output<int32_t>({1, 1}).attributes(ReduceAttributes{});
  EXPECT_EQ(mean.run("ReduceMean<int32>").code(), Code::kDivisionByZero);
}

TEST(Reduce, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(40, 1.0f);
  x[23] = nan;
  EXPECT_TRUE(std::isnan(reduce("ReduceMax<float>", {40}, x, 1)[0]));
  EXPECT_TRUE(std::isnan(reduce("ReduceMin<float>", {40}, x, 1)[0]));
  for (const char* kernel : {"ReduceLogSumExp<float>", "ReduceLogSumExp.fast<float>"}) {
    EXPECT_TRUE(std::isnan(reduce(kernel, {40}, x, 1)[0]));
    EXPECT_EQ(reduce(kernel, {2}, {1000, -inf}, 1)[0], 1000);
    EXPECT_EQ(reduce(kernel, {2}, {-inf, -inf}, 1)[0], -inf);
    EXPECT_EQ(reduce(kernel, {3}, {inf, 0, inf}, 1)[0], inf);
    EXPECT_EQ(reduce(kernel, {2, 2}, {inf, -inf, 0, 0}, 1), (std::vector<float>{inf, 0}));
    EXPECT_TRUE(std::isnan(reduce(kernel, {2}, {-inf, nan}, 1)[0]));
  }
  EXPECT_EQ(
      (reduce<int32_t>("ReduceSum<int32>", {2}, {std::numeric_limits<int32_t>::max(), 1}, 1))[0],
      std::numeric_limits<int32_t>::min());
}

TEST(Reduce, Axes) {
  // No axes: everything or nothing, as the attribute says; nothing still squares.
  for (int noop : {0, 1}) {
    for (bool listed : {false, true}) {
      Node node;
      node.input<float>({2, 2}, {1, 2, 3, 4});
      if (listed) node.input<int64_t>({0}, {});
      node.output<float>(noop != 0 ? Dims{2, 2} : Dims{1, 1});
      node.attributes(ReduceAttributes{1, noop});
      ASSERT_TRUE(node.run("ReduceSumSquare<float>").ok());
      EXPECT_EQ(node.result<float>(),
                noop != 0 ? (std::vector<float>{1, 4, 9, 16}) : (std::vector<float>{30}));
    }
  }
  const auto run = [](const Dims& planned, std::vector<int64_t> axes, int32_t keep) {
    Node node;
    node.input<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    node.input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
    node.output<float>(planned).attributes(ReduceAttributes{keep, 0});
    const Status status = node.run("ReduceSum<float>");
    return std::tuple(status.code(), status.ok() ? node.dims() : Dims{});
  };
  // Axes that were not known to the converter: the output shrinks to what they give.
  EXPECT_EQ(run({2, 3}, {1}, 1), std::tuple(Code::kOk, Dims{2, 1}));
  EXPECT_EQ(run({2, 3}, {0, 1}, 1), std::tuple(Code::kOk, Dims{1, 1}));
  EXPECT_EQ(run({3}, {1}, 0), std::tuple(Code::kOk, Dims{2}));
  EXPECT_EQ(run({1}, {1}, 0), std::tuple(Code::kWrongExtent, Dims{}));
  EXPECT_EQ(run({2, 3}, {1}, 0), std::tuple(Code::kWrongRank, Dims{}));
  EXPECT_EQ(run({2, 1}, {2}, 1), std::tuple(Code::kIndexOutOfRange, Dims{}));
  EXPECT_EQ(run({2, 1}, {-3}, 1), std::tuple(Code::kIndexOutOfRange, Dims{}));
  EXPECT_EQ(run({2, 1}, {1, -1}, 1), std::tuple(Code::kInvalidValue, Dims{}));
}

// ---- along one axis ----

void expect_arg(std::string_view op, DataType type, bool largest) {
  const std::string kernel = kernel_name(op, {type});
  SCOPED_TRACE(kernel);
  std::mt19937 engine(23);
  for (int32_t flags = 0; flags < 4; ++flags) {
    const int32_t last = flags & 1, keep = flags >> 1;
    for_axes([&](const Dims& dims, int32_t axis, unsigned plain) {
      if (count_of(dims) == 0) return;
      auto x = random_numbers(type, count_of(dims), engine, 0, 3);
      for (double& value : x) value = std::floor(value);  // many ties
      std::vector<double> expected;
      for (const auto& line : lines_of(dims, plain)) {
        size_t best = 0;
        for (size_t i = 1; i < line.size(); ++i) {
          const double value = x[line[i]], so_far = x[line[best]];
          if ((largest ? value > so_far : value < so_far) || (last != 0 && value == so_far)) {
            best = i;
          }
        }
        expected.push_back(static_cast<double>(best));
      }
      Node node;
      node.input(type, dims, x);
      node.output(DataType::kInt64, reduced_dims(dims, 1u << plain, keep != 0));
      node.attributes(ArgReduceAttributes{axis, keep, last}).threads(2);
      for (Isa isa : cpu::available_isas()) {
        ASSERT_TRUE(node.isa(isa).run(kernel).ok());
        EXPECT_EQ(node.numbers(), expected);
      }
    });
  }
}

TEST(ArgReduce, Extremes) {
  expect_arg("ArgMax", DataType::kFloat, true);
  expect_arg("ArgMax", DataType::kUint8, true);
  expect_arg("ArgMin", DataType::kInt32, false);
  expect_arg("ArgMin", DataType::kFloat16, false);
  for (int32_t last : {0, 1}) {
    Node node;
    node.input<float>({5}, {1, NAN, 7, NAN, -7}).output<int64_t>({1});
    node.attributes(ArgReduceAttributes{0, 1, last});
    ASSERT_TRUE(node.run("ArgMax<float>").ok());
    EXPECT_EQ(node.result<int64_t>()[0], last != 0 ? 3 : 1);
    ASSERT_TRUE(node.run("ArgMin<float>").ok());
    EXPECT_EQ(node.result<int64_t>()[0], last != 0 ? 3 : 1);
  }
  // Beyond a block of elements, and side by side, where pieces of lines are shared.
  for (const Dims& dims : {Dims{700, 1}, Dims{700, 3}, Dims{700, 100}}) {
    for (int32_t last : {0, 1}) {
      for (bool nan : {false, true}) {
        std::vector<float> x(static_cast<size_t>(count_of(dims)), 1);
        for (int32_t at : {131, 699}) {
          for (int32_t i = 0; i < dims[1]; ++i) {
            x[static_cast<size_t>(at * dims[1] + i)] = nan ? NAN : 5;
          }
        }
        for (Isa isa : cpu::available_isas()) {
          Node node;
          node.input<float>(dims, x).output<int64_t>({1, dims[1]}).isa(isa);
          node.attributes(ArgReduceAttributes{0, 1, last}).threads(3);
          ASSERT_TRUE(node.run("ArgMax<float>").ok());
          EXPECT_EQ(node.result<int64_t>(),
                    std::vector<int64_t>(static_cast<size_t>(dims[1]), last != 0 ? 699 : 131));
        }
      }
    }
  }
}

TEST(ArgReduce, NoLines) {
  for (const Dims& dims : {Dims{0, 100, 3}, Dims{2, 100, 0}}) {
    Node node;
    node.input<float>(dims, {}).output<int64_t>({dims[0], dims[2]});
    node.attributes(ArgReduceAttributes{1, 0, 0});
    EXPECT_TRUE(node.run("ArgMax<float>").ok());
  }
}

/// Blocks of short lines, which are turned, and those that are just too long.
TEST(ArgReduce, ShortLines) {
  std::mt19937 engine(31);
  for (const int32_t inner : {1, 2, 3, 15, 16}) {
    for (const int32_t length : {1, 2, 9, 32, 33, 64, 65}) {
      const Dims dims{inner == 1 ? 77 : 7, length, inner};
      auto x = random_numbers(DataType::kFloat, count_of(dims), engine, 0, 6);
      for (double& value : x) value = value > 5.9 ? NAN : std::floor(value);
      for (const int32_t last : {0, 1}) {
        std::vector<double> expected;
        for (const auto& line : lines_of(dims, 1)) {
          size_t best = 0;
          const auto nan = [&](size_t at) { return std::isnan(x[line[at]]); };
          for (size_t i = 1; i < line.size(); ++i) {
            const bool better = x[line[i]] > x[line[best]] || (nan(i) && !nan(best));
            const bool equal = x[line[i]] == x[line[best]] || (nan(i) && nan(best));
            if (better || (last != 0 && equal)) best = i;
          }
          expected.push_back(static_cast<double>(best));
        }
        for (const Isa isa : cpu::available_isas()) {
          Node node;
          node.input(DataType::kFloat, dims, x).output(DataType::kInt64, {dims[0], inner});
          node.attributes(ArgReduceAttributes{1, 0, last}).threads(2).isa(isa);
          ASSERT_TRUE(node.run("ArgMax<float>").ok());
          ASSERT_EQ(node.numbers(), expected) << inner << " lines of " << length;
        }
      }
    }
  }
}

void expect_cumulative(std::string_view op, DataType type, bool product) {
  const std::string kernel = kernel_name(op, {type});
  SCOPED_TRACE(kernel);
  std::mt19937 engine(29);
  for (int32_t flags = 0; flags < 4; ++flags) {
    const bool exclusive = (flags & 1) != 0, reverse = (flags & 2) != 0;
    for_axes([&](const Dims& dims, int32_t axis, unsigned plain) {
      const bool whole = epsilon_of(type) == 0;
      const auto x =
          random_numbers(type, count_of(dims), engine, whole ? 1 : 0.98, whole ? 1 : 1.02);
      std::vector<double> expected(x.size());
      for (auto line : lines_of(dims, plain)) {
        if (reverse) std::reverse(line.begin(), line.end());
        double running = product ? 1 : 0;
        for (size_t at : line) {
          const double before = running;
          running = product ? running * x[at] : running + x[at];
          expected[at] = exclusive ? before : running;
        }
      }
      Node node;
      node.input(type, dims, x);
      if (reverse) {
        node.input<int64_t>({}, {axis});
      } else {
        node.input<int32_t>({1}, {axis});
      }
      node.output(type, dims).in_place(exclusive ? 0 : -1).threads(2);
      node.isa(any_isa(plain + static_cast<unsigned>(flags)));
      node.attributes(CumulativeAttributes{exclusive ? 1 : 0, reverse ? 1 : 0});
      ASSERT_TRUE(node.run(kernel).ok());
      // Beside its own rounding a compensated sum has that of the last element.
      expect_numbers_near(node.numbers(), expected, (product ? 1 : 2) * epsilon_of(type), 0);
    });
  }
}

/// Rows side by side and those left over, with ties, in which a NaN comes first.
TEST(ArgReduce, ShortRows) {
  std::mt19937 engine(31);
  for (int32_t length : {1, 2, 3, 5, 8, 16, 17, 31, 64, 100, 255, 256, 257, 300}) {
    const int32_t rows = 37;
    auto x = random_numbers(DataType::kFloat, rows * length, engine, 0, 4);
    for (double& value : x) value = std::floor(value);
    x[static_cast<size_t>(3 * length)] = std::numeric_limits<double>::quiet_NaN();
    x[static_cast<size_t>(35 * length - 1)] = std::numeric_limits<double>::quiet_NaN();
    for (const bool last : {false, true}) {
      std::vector<int64_t> expected;
      for (int32_t row = 0; row < rows; ++row) {
        int32_t best = 0;
        for (int32_t i = 1; i < length; ++i) {
          const double value = x[static_cast<size_t>(row * length + i)];
          const double so_far = x[static_cast<size_t>(row * length + best)];
          if (std::isnan(so_far)) break;
          if (value > so_far || std::isnan(value) || (last && value == so_far)) best = i;
        }
        expected.push_back(best);
      }
      for (Isa isa : cpu::available_isas()) {
        for (DataType type : {DataType::kFloat, DataType::kDouble, DataType::kFloat16}) {
          SCOPED_TRACE(kernel_name("ArgMax", {type}) + " of " + std::to_string(length));
          Node node;
          node.input(type, {rows, length}, x)
              .output<int64_t>({rows, 1})
              .threads(last ? 3 : 1)
              .isa(isa);
          node.attributes(ArgReduceAttributes{-1, 1, last ? 1 : 0});
          ASSERT_TRUE(node.run(kernel_name("ArgMax", {type})).ok());
          ASSERT_EQ(node.result<int64_t>(), expected);
        }
      }
    }
  }
}

TEST(Cumulative, SumsAndProducts) {
  expect_cumulative("CumSum", DataType::kFloat, false);
  expect_cumulative("CumSum", DataType::kDouble, false);
  expect_cumulative("CumSum", DataType::kFloat16, false);
  expect_cumulative("CumSum", DataType::kInt32, false);
  expect_cumulative("CumProd", DataType::kFloat, true);
  expect_cumulative("CumProd", DataType::kUint64, true);
}

// ---- shape rules and rejected nodes ----

TEST(ReductionShapes, RejectedNodes) {
  Node search;
  search.input<float>({2, 0}, {}).output<int64_t>({2, 1}).attributes(ArgReduceAttributes{1, 1, 0});
  EXPECT_EQ(search.check("ArgMax<float>").code(), Code::kWrongExtent);
  Node large;
  large.input<float>({2, 2}, {1, 2, 3, 4}).output<int64_t>({4});
  large.attributes(ArgReduceAttributes{1, 0, 0});
  EXPECT_EQ(large.check("ArgMax<float>").code(), Code::kWrongExtent);
  Node bare;
  bare.input<float>({2}, {1, 2}).output<float>({1});
  EXPECT_EQ(bare.check("ReduceSum<float>").code(), Code::kCorruptPlan);
  bare.attributes(ReduceAttributes{}).attribute_bytes(4);
  EXPECT_EQ(bare.check("ReduceSum<float>").code(), Code::kCorruptPlan);
  Node type;
  type.input<float>({2}, {1, 2}).input<int32_t>({1}, {0}).output<float>({1});
  type.attributes(ReduceAttributes{});
  EXPECT_EQ(type.check("ReduceSum<float>").code(), Code::kWrongType);
  Node running;
  running.input<float>({2}, {1, 2}).input<int64_t>({}, {1}).output<float>({2});
  running.attributes(CumulativeAttributes{});
  EXPECT_EQ(running.run("CumSum<float>").code(), Code::kIndexOutOfRange);
}

}  // namespace
}  // namespace intarsia::test
