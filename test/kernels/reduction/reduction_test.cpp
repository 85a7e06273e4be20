// SPDX-License-Identifier: Apache-2.0
//
// Reduce*, ArgMax/ArgMin, Softmax and its relatives, CumSum/CumProd against sums in long double,
// over all sets of axes, odd tails, rank 0 and empty tensors; NaN, ties, and rejected nodes.
#include <functional>
#include <limits>

#include "core/operators/elementwise/elementwise.h"
#include "core/operators/nn/softmax.h"
#include "kernels_cpu/reduction/arg_reduce.h"
#include "kernels_cpu/reduction/cumsum.h"
#include "kernels_cpu/reduction/reduce.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using List = std::vector<long double>;
using Fold = std::function<long double(const List&)>;

/// Extents after the axes in `mask` are reduced.
Dims reduced_dims(const Dims& dims, unsigned mask, bool keep) {
  Dims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if ((mask >> axis & 1u) == 0) {
      result.push_back(dims[axis]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

/// The elements behind each output of a reduction over the axes in `mask`.
std::vector<List> groups_of(const Dims& dims, const std::vector<double>& x, unsigned mask) {
  std::vector<List> groups(static_cast<size_t>(count_of(reduced_dims(dims, mask, true))));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), group = 0, stride = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const int64_t index = rest % dims[axis];
      rest /= dims[axis];
      if ((mask >> axis & 1u) != 0) continue;
      group += index * stride;
      stride *= dims[axis];
    }
    groups[static_cast<size_t>(group)].push_back(x[i]);
  }
  return groups;
}

std::vector<int64_t> axes_of(unsigned mask, size_t rank, bool negative) {
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < rank; ++axis) {
    if ((mask >> axis & 1u) == 0) continue;
    axes.push_back(static_cast<int64_t>(axis) - (negative ? static_cast<int64_t>(rank) : 0));
  }
  return axes;
}

void expect_reduce(const KernelUnderTest& kernel, DataType type, const Fold& fold, double low,
                   double high, double units) {
  SCOPED_TRACE(kernel);
  std::mt19937 engine(17);
  for (const Dims& dims :
       {Dims{}, Dims{1}, Dims{37}, Dims{3, 5}, Dims{4, 1, 19}, Dims{2, 3, 4, 5}, Dims{17, 2, 33},
        Dims{1, 1}, Dims{2, 700}, Dims{90, 40}, Dims{2, 1, 3, 2, 1, 2, 3, 2}}) {
    const auto x = random_numbers(type, count_of(dims), engine, low, high);
    for (unsigned mask = 0; mask < 1u << dims.size(); ++mask) {
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
      node.attributes(ReduceAttributes{keep ? 1 : 0, 1});
      ASSERT_TRUE(node.run(kernel).ok());
      const double smallest = type == DataType::kFloat16 ? 0x1p-25 : 1e-12;
      expect_numbers_near(node.numbers(), expected, units * epsilon_of(type), smallest);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class K, class T>
void expect_reduce(const Fold& fold, double low, double high, double units = 2) {
  expect_reduce(under_test<K>(), data_type_of<T>, fold, low, high, units);
}

template <template <class> class K>
void expect_reduce_floats(const Fold& fold, double low, double high, double units = 2) {
  expect_reduce<K<float>, float>(fold, low, high, units);
  expect_reduce<K<double>, double>(fold, low, high, 64 * units);
  expect_reduce<K<Float16>, Float16>(fold, low, high, units);
  expect_reduce<K<BFloat16>, BFloat16>(fold, low, high, units);
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
long double exponentials_of(const List& list) {
  long double sum = 0;
  for (long double value : list) sum += std::exp(value);
  return sum;
}

TEST(Reduce, Floats) {
  expect_reduce_floats<cpu::ReduceSum>(sum_of, 0, 3);
  expect_reduce_floats<cpu::ReduceMean>(mean_of, 1, 3);
  expect_reduce_floats<cpu::ReduceL1>(magnitudes_of, -3, 3);
  expect_reduce_floats<cpu::ReduceL2>([](const List& l) { return std::sqrt(squares_of(l)); }, -3,
                                      3);
  expect_reduce_floats<cpu::ReduceLogSum>([](const List& l) { return std::log(sum_of(l)); }, 2, 3);
  expect_reduce_floats<cpu::ReduceLogSumExp>(
      [](const List& l) { return std::log(exponentials_of(l)); }, 1, 9, 3);
  expect_reduce_floats<cpu::ReduceSumSquare>(squares_of, 0, 3, 3);
  expect_reduce<cpu::ReduceProd<float>, float>(product_of, 0.99, 1.01);
  expect_reduce<cpu::ReduceProd<double>, double>(product_of, -1, 1, 3000);
  const Fold largest = [](const List& l) { return *std::max_element(l.begin(), l.end()); };
  const Fold smallest = [](const List& l) { return *std::min_element(l.begin(), l.end()); };
  expect_reduce_floats<cpu::ReduceMax>(largest, -9, 9);
  expect_reduce_floats<cpu::ReduceMin>(smallest, -9, 9);
}

TEST(Reduce, Integers) {
  const Fold largest = [](const List& l) { return *std::max_element(l.begin(), l.end()); };
  const Fold smallest = [](const List& l) { return *std::min_element(l.begin(), l.end()); };
  expect_reduce<cpu::ReduceSum<int32_t>, int32_t>(sum_of, -99, 99);
  expect_reduce<cpu::ReduceSum<uint64_t>, uint64_t>(sum_of, 0, 99);
  expect_reduce<cpu::ReduceL1<int64_t>, int64_t>(magnitudes_of, -99, 99);
  expect_reduce<cpu::ReduceSumSquare<uint32_t>, uint32_t>(squares_of, 0, 99);
  expect_reduce<cpu::ReduceMean<int32_t>, int32_t>(
      [](const List& l) { return std::trunc(mean_of(l)); }, -99, 99);
  expect_reduce<cpu::ReduceMean<uint32_t>, uint32_t>(
      [](const List& l) { return std::trunc(mean_of(l)); }, 0, 99);
  expect_reduce<cpu::ReduceL2<int32_t>, int32_t>(
      [](const List& l) { return std::trunc(std::sqrt(squares_of(l))); }, -9, 9);
  expect_reduce<cpu::ReduceProd<int64_t>, int64_t>(product_of, 1, 1);
  expect_reduce<cpu::ReduceMax<uint8_t>, uint8_t>(largest, 0, 255);
  expect_reduce<cpu::ReduceMin<int8_t>, int8_t>(smallest, -128, 127);
  expect_reduce<cpu::ReduceMax<bool>, bool>(largest, 0, 1);
  expect_reduce<cpu::ReduceMin<bool>, bool>(smallest, 0, 1);
}

/// The results of K<T> over the axes in `mask`.
template <class K, class T = float>
std::vector<T> reduce(const Dims& dims, const std::vector<T>& x, unsigned mask) {
  const auto axes = axes_of(mask, dims.size(), false);
  Node node;
  node.input<T>(dims, x).template input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
  node.output<T>(reduced_dims(dims, mask, true)).attributes(ReduceAttributes{});
  EXPECT_TRUE(node.run<K>().ok());
  return node.result<T>();
}

TEST(Reduce, NothingToReduce) {
  const float inf = std::numeric_limits<float>::infinity();
  using Floats = std::vector<float>;
  const Dims dims{2, 0};
  EXPECT_EQ(reduce<cpu::ReduceSum<float>>(dims, {}, 2), (Floats{0, 0}));
  EXPECT_EQ(reduce<cpu::ReduceProd<float>>(dims, {}, 2), (Floats{1, 1}));
  EXPECT_EQ(reduce<cpu::ReduceMax<float>>(dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ(reduce<cpu::ReduceMin<float>>(dims, {}, 2), (Floats{inf, inf}));
  EXPECT_EQ(reduce<cpu::ReduceLogSum<float>>(dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ(reduce<cpu::ReduceLogSumExp<float>>(dims, {}, 2), (Floats{-inf, -inf}));
  EXPECT_EQ((reduce<cpu::ReduceMax<int32_t>, int32_t>(dims, {}, 2)),
            (std::vector<int32_t>(2, std::numeric_limits<int32_t>::min())));
  EXPECT_TRUE(std::isnan(reduce<cpu::ReduceMean<float>>(dims, {}, 2)[0]));
  EXPECT_TRUE(reduce<cpu::ReduceSum<float>>(dims, {}, 1).empty());
  EXPECT_EQ(reduce<cpu::ReduceSum<float>>({0}, {}, 1), (Floats{0}));
  Node mean;
  mean.input<int32_t>(dims, {}).output<int32_t>({1, 1}).attributes(ReduceAttributes{});
  EXPECT_EQ(mean.run<cpu::ReduceMean<int32_t>>().code(), Code::kDivisionByZero);
}

TEST(Reduce, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(40, 1.0f);
  x[23] = nan;
  EXPECT_TRUE(std::isnan(reduce<cpu::ReduceMax<float>>({40}, x, 1)[0]));
  EXPECT_TRUE(std::isnan(reduce<cpu::ReduceMin<float>>({40}, x, 1)[0]));
  EXPECT_TRUE(std::isnan(reduce<cpu::ReduceLogSumExp<float>>({40}, x, 1)[0]));
  EXPECT_EQ(reduce<cpu::ReduceLogSumExp<float>>({2}, {1000, -inf}, 1)[0], 1000);
  EXPECT_EQ(reduce<cpu::ReduceLogSumExp<float>>({2}, {-inf, -inf}, 1)[0], -inf);
  EXPECT_EQ(reduce<cpu::ReduceLogSumExp<float>>({3}, {inf, 0, inf}, 1)[0], inf);
  EXPECT_EQ((reduce<cpu::ReduceSum<int32_t>, int32_t>({2}, {std::numeric_limits<int32_t>::max(), 1},
                                                      1))[0],
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
      ASSERT_TRUE(node.run<cpu::ReduceSumSquare<float>>().ok());
      EXPECT_EQ(node.result<float>(),
                noop != 0 ? (std::vector<float>{1, 4, 9, 16}) : (std::vector<float>{30}));
    }
  }
  const auto run = [](const Dims& planned, std::vector<int64_t> axes, int32_t keep) {
    Node node;
    node.input<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    node.input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
    node.output<float>(planned).attributes(ReduceAttributes{keep, 0});
    const Status status = node.run<cpu::ReduceSum<float>>();
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

/// Calls body(extents, axis, axis from the front) for every axis of several tensors.
void for_axes(const std::function<void(const Dims&, int32_t, unsigned)>& body) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{37}, Dims{3, 5}, Dims{2, 19, 33}, Dims{4, 1, 3, 2},
                           Dims{300, 40}, Dims{3, 0, 2}}) {
    for (int32_t axis = 0; axis < static_cast<int32_t>(std::max<size_t>(dims.size(), 1)); ++axis) {
      const auto rank = static_cast<int32_t>(dims.size());
      body(dims, rank > 0 && axis % 2 != 0 ? axis - rank : axis, static_cast<unsigned>(axis));
    }
  }
}

/// Lines along `axis`, each a list of indices into the tensor.
std::vector<std::vector<size_t>> lines_of(const Dims& dims, unsigned axis) {
  std::vector<size_t> indices(static_cast<size_t>(count_of(dims)));
  std::vector<double> numbers;
  for (size_t i = 0; i < indices.size(); ++i) numbers.push_back(static_cast<double>(i));
  std::vector<std::vector<size_t>> lines;
  for (const List& group : groups_of(dims, numbers, 1u << axis)) {
    lines.emplace_back(group.begin(), group.end());
  }
  return lines;
}

void expect_softmax(std::string_view op, DataType type, bool log, double units,
                    Isa isa = Isa::kPortable) {
  const std::string kernel = kernel_name(op, {type});
  SCOPED_TRACE(kernel);
  std::mt19937 engine(19);
  for_axes([&](const Dims& dims, int32_t axis, unsigned plain) {
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

TEST(Softmax, Hardmax) {
  Node node;
  node.input<float>({2, 4}, {1, 3, 3, 2, 1, NAN, 9, 0}).output<float>({2, 4});
  node.attributes(SoftmaxAttributes{}).in_place(0);
  ASSERT_TRUE(node.run("Hardmax<float>").ok());
  EXPECT_EQ(node.result<float>(), (std::vector<float>{0, 1, 0, 0, 0, 1, 0, 0}));
}

void expect_arg(const KernelUnderTest& kernel, DataType type, bool largest) {
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
      ASSERT_TRUE(node.run(kernel).ok());
      EXPECT_EQ(node.numbers(), expected);
    });
  }
}
template <class K, class T>
void expect_arg(bool largest) {
  expect_arg(under_test<K>(), data_type_of<T>, largest);
}

TEST(ArgReduce, Extremes) {
  expect_arg<cpu::ArgMax<float>, float>(true);
  expect_arg<cpu::ArgMax<uint8_t>, uint8_t>(true);
  expect_arg<cpu::ArgMin<int32_t>, int32_t>(false);
  expect_arg<cpu::ArgMin<Float16>, Float16>(false);
  for (int32_t last : {0, 1}) {
    Node node;
    node.input<float>({5}, {1, NAN, 7, NAN, -7}).output<int64_t>({1});
    node.attributes(ArgReduceAttributes{0, 1, last});
    ASSERT_TRUE(node.run<cpu::ArgMax<float>>().ok());
    EXPECT_EQ(node.result<int64_t>()[0], last != 0 ? 3 : 1);
    ASSERT_TRUE(node.run<cpu::ArgMin<float>>().ok());
    EXPECT_EQ(node.result<int64_t>()[0], last != 0 ? 3 : 1);
  }
}

void expect_cumulative(const KernelUnderTest& kernel, DataType type, bool product) {
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
      node.attributes(CumulativeAttributes{exclusive ? 1 : 0, reverse ? 1 : 0});
      ASSERT_TRUE(node.run(kernel).ok());
      expect_numbers_near(node.numbers(), expected, epsilon_of(type), 0);
    });
  }
}
template <class K, class T>
void expect_cumulative(bool product) {
  expect_cumulative(under_test<K>(), data_type_of<T>, product);
}

TEST(Cumulative, SumsAndProducts) {
  expect_cumulative<cpu::CumSum<float>, float>(false);
  expect_cumulative<cpu::CumSum<double>, double>(false);
  expect_cumulative<cpu::CumSum<Float16>, Float16>(false);
  expect_cumulative<cpu::CumSum<int32_t>, int32_t>(false);
  expect_cumulative<cpu::CumProd<float>, float>(true);
  expect_cumulative<cpu::CumProd<uint64_t>, uint64_t>(true);
}

// ---- shape rules and rejected nodes ----

TEST(ReductionShapes, RejectedNodes) {
  Node axis;
  axis.input<float>({2, 3}, std::vector<float>(6)).output<float>({2, 3});
  axis.attributes(SoftmaxAttributes{2});
  EXPECT_EQ(axis.check("Softmax<float>").code(), Code::kIndexOutOfRange);
  EXPECT_EQ(axis.check("Softmax.fast<float>").code(), Code::kIndexOutOfRange);
  Node search;
  search.input<float>({2, 0}, {}).output<int64_t>({2, 1}).attributes(ArgReduceAttributes{1, 1, 0});
  EXPECT_EQ(search.check<cpu::ArgMax<float>>().code(), Code::kWrongExtent);
  Node large;
  large.input<float>({2, 2}, {1, 2, 3, 4}).output<int64_t>({4});
  large.attributes(ArgReduceAttributes{1, 0, 0});
  EXPECT_EQ(large.check<cpu::ArgMax<float>>().code(), Code::kWrongExtent);
  Node bare;
  bare.input<float>({2}, {1, 2}).output<float>({1});
  EXPECT_EQ(bare.check<cpu::ReduceSum<float>>().code(), Code::kCorruptPlan);
  bare.attributes(ReduceAttributes{}).attribute_bytes(4);
  EXPECT_EQ(bare.check<cpu::ReduceSum<float>>().code(), Code::kCorruptPlan);
  Node type;
  type.input<float>({2}, {1, 2}).input<int32_t>({1}, {0}).output<float>({1});
  type.attributes(ReduceAttributes{});
  EXPECT_EQ(type.check<cpu::ReduceSum<float>>().code(), Code::kWrongType);
  Node running;
  running.input<float>({2}, {1, 2}).input<int64_t>({}, {1}).output<float>({2});
  running.attributes(CumulativeAttributes{});
  EXPECT_EQ(running.run<cpu::CumSum<float>>().code(), Code::kIndexOutOfRange);
}

}  // namespace
}  // namespace intarsia::test
