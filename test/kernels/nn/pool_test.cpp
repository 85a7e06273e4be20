// SPDX-License-Identifier: Apache-2.0
//
// Pooling, over windows and over all spatial axes: against naive loops in double, channels-last
// against channels-first, and rejected nodes.
#include <limits>

#include "core/operators/nn/pool.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

constexpr int32_t kHugeWindow = std::numeric_limits<int32_t>::max();

/// Which elements a pooling window meets, how many padded ones, and the result that follows.
template <class T, class A>
void expect_pool(std::string_view op, const A& attributes, const NaiveWindow& window,
                 const Dims& x_dims, const Dims& y_dims,
                 const std::function<double(const Numbers&, int)>& result, double absolute = 0) {
  std::mt19937 engine(9);
  const auto x = random_values<T>(count_of(x_dims), engine, std::is_unsigned_v<T> ? 0 : -100, 100);
  Numbers expected(static_cast<size_t>(count_of(y_dims)));
  for_each_index(y_dims, [&](const Dims& index) {
    Numbers met;
    int padded = 0;
    window.taps(spatial_of(index), spatial_of(x_dims), [&](const Dims&, const Dims& at, bool in) {
      if (in) {
        const int64_t from = place(x_dims, joined({index[0], index[1]}, at));
        met.push_back(as_double<T>(x[static_cast<size_t>(from)]));
        return;
      }
      bool in_padding = true;  // the last windows of ceil mode reach beyond the padding
      for (size_t i = 0; i < at.size(); ++i) {
        in_padding =
            in_padding &&
            at[i] < x_dims[2 + i] + attributes.pool.window.pads[static_cast<int>(at.size() + i)];
      }
      padded += in_padding ? 1 : 0;
    });
    expected[static_cast<size_t>(place(y_dims, index))] = result(met, padded);
  });
  for (bool last : {false, true}) {
    A a = attributes;
    a.pool.channels_last = last ? 1 : 0;
    Node node;
    node.input<T>(last ? channels_last(x_dims) : x_dims, last ? channels_last(x_dims, x) : x);
    node.output<T>(last ? channels_last(y_dims) : y_dims).attributes(a);
    for (Isa isa : cpu::available_isas()) {
      if (!last) {
        ASSERT_TRUE(node.threads(1).isa(isa).run(kernel_name(op, {data_type_of<T>})).ok());
        expect_near<T>(node.result<T>(), expected, tolerance<T>(), absolute);
      }
      ASSERT_TRUE(node.threads(3).isa(isa).run(kernel_name(op, {data_type_of<T>})).ok())
          << node.diagnostic().what << " " << node.diagnostic().expected << " "
          << node.diagnostic().found;
      expect_near<T>(node.result<T>(), last ? channels_last(y_dims, expected) : expected,
                     tolerance<T>(), absolute);
    }
  }
}

/// Sums of a few floats of up to 100 are rounded some ten times.
constexpr double kFewRoundings = 10 * 100 * 0x1p-24;

double largest(const Numbers& met, int) {
  return *std::max_element(met.begin(), met.end());
}

double mean(const Numbers& met, int padded) {
  double sum = 0;
  for (double value : met) sum += value;
  return met.empty() ? 0 : sum / static_cast<double>(met.size() + static_cast<size_t>(padded));
}

TEST(Pool, EqualsNaiveLoops) {
  const NaiveWindow window{{3, 2}, {2, 3}, {1, 2}, {1, 0}};
  const Dims x = {2, 67, 9, 9};
  const Dims floor_y = {2, 67, 4, 3}, ceil_y = {2, 67, 5, 3};
  MaxPoolAttributes max;
  max.pool.window = window.attributes({0, 2});
  expect_pool<float>("MaxPool", max, window, x, floor_y, largest);
  expect_pool<double>("MaxPool", max, window, x, floor_y, largest);
  expect_pool<Float16>("MaxPool", max, window, x, floor_y, largest);
  expect_pool<int8_t>("MaxPool", max, window, x, floor_y, largest);
  expect_pool<uint8_t>("MaxPool", max, window, x, floor_y, largest);
  max.pool.ceil_mode = 1;
  expect_pool<float>("MaxPool", max, window, x, ceil_y, largest);

  AveragePoolAttributes average;
  average.pool = max.pool;
  expect_pool<float>(
      "AveragePool", average, window, x, ceil_y,
      [](const Numbers& met, int) { return mean(met, 0); }, kFewRoundings);
  average.count_include_pad = 1;
  expect_pool<float>("AveragePool", average, window, x, ceil_y, mean, kFewRoundings);
  expect_pool<BFloat16>("AveragePool", average, window, x, ceil_y, mean);

  LpPoolAttributes norm;
  norm.pool = max.pool;
  norm.p = 3;
  expect_pool<float>("LpPool", norm, window, x, ceil_y, [](const Numbers& met, int) {
    double sum = 0;
    for (double value : met) sum += std::fabs(value * value * value);
    return std::cbrt(sum);
  });
}

// Steps, gaps and windows of every size beside the 128 results and 256 columns that are taken at
// once.
TEST(Pool, WindowsOfAllSizes) {
  struct Case {
    Dims spatial;
    NaiveWindow window;
    Dims after;
  };
  const Case cases[] = {
      {{9, 70}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}},
      {{8, 150}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}}, {0, 0}},
      {{5, 400}, {{3, 5}, {2, 3}, {1, 2}, {1, 4}}, {0, 3}},
      {{4, 300}, {{1, 299}, {1, 1}, {1, 1}, {0, 1}}, {0, 0}},    // more taps than columns
      {{3, 620}, {{2, 3}, {1, 2}, {1, 200}, {0, 199}}, {0, 3}},  // dilated beyond that
      {{6, 330}, {{2, 2}, {3, 40}, {2, 3}, {1, 0}}, {0, 1}},     // most columns are passed over
      {{257}, {{7}, {1}, {1}, {3}}, {3}},
      {{7}, {{7}, {1}, {1}, {0}}, {0}},
      {{4, 5, 66}, {{2, 3, 2}, {1, 2, 2}, {2, 1, 1}, {1, 1, 0}}, {0, 1, 1}},
      {{7, 7}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}},  // short rows
      {{7, 7}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}}, {1, 1}},
      {{9, 7}, {{3, 4}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}},  // without padding
      {{8, 9}, {{2, 3}, {1, 2}, {1, 1}, {0, 0}}, {0, 0}},
      {{7, 11}, {{2, 4}, {1, 3}, {1, 1}, {0, 0}}, {0, 0}},
      {{4, 4}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}},
      {{6, 3}, {{3, 2}, {1, 1}, {2, 1}, {2, 1}}, {2, 0}},
      {{10, 5}, {{3, 3}, {2, 3}, {1, 1}, {1, 0}}, {0, 1}},
      {{9, 6}, {{20, 3}, {1, 1}, {1, 1}, {12, 1}}, {16, 1}},  // each row meets other taps
      {{14, 14}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}}, {0, 0}},
      {{13, 13}, {{13, 13}, {1, 1}, {1, 1}, {6, 6}}, {6, 6}},
      {{7, 7}, {{7, 7}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}},  // one result
      {{3, 3}, {{7, 7}, {1, 1}, {1, 1}, {2, 2}}, {2, 2}},
      {{16, 16}, {{4, 4}, {4, 4}, {1, 1}, {0, 0}}, {0, 0}},
      {{5, 9}, {{2, 3}, {1, 1}, {1, 2}, {1, 5}}, {0, 5}},         // results all in the padding
      {{3, 1200}, {{2, 250}, {1, 499}, {1, 1}, {0, 0}}, {0, 0}},  // long steps
      {{70, 1}, {{3, 1}, {2, 1}, {1, 1}, {1, 0}}, {1, 0}},        // columns of one element
      {{150, 1}, {{2, 1}, {1, 3}, {3, 2}, {0, 0}}, {1, 1}},
      {{40, 1}, {{2, 2}, {1, 1}, {1, 1}, {0, 0}}, {0, 1}},  // the second one is padding
      {{1, 67}, {{1, 3}, {1, 2}, {1, 1}, {0, 1}}, {0, 1}},
      {{1, 9, 1}, {{1, 3, 1}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0}}, {0, 1, 0}},
      {{9, 1, 6}, {{3, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0}}, {1, 0, 0}},
      {{1, 1}, {{1, 1}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}},
      // One result of neighbours, of whole rows and of some, and of others.
      {{2, 2}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}}, {0, 0}},
      {{3, 4}, {{2, 4}, {2, 1}, {1, 1}, {0, 0}}, {0, 0}},
      {{3, 3, 2}, {{1, 2, 2}, {3, 2, 1}, {1, 1, 1}, {0, 0, 0}}, {0, 0, 0}},
      {{3, 3}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}}, {0, 0}},
      {{5}, {{2}, {4}, {3}, {0}}, {0}},
      {{300, 4}, {{270, 2}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}},  // more rows than are listed
  };
  // Small images are many: whole planes of them are taken together, again and again.
  for (size_t i = 0; i < 2 * std::size(cases); ++i) {
    const Case& shape = cases[i / 2];
    const bool many = i % 2 != 0;
    if (many && count_of(shape.spatial) > 100) continue;
    SCOPED_TRACE(::testing::PrintToString(shape.spatial));
    const bool one = count_of(shape.window.output(shape.spatial, shape.after)) == 1;
    const Dims planes =
        many ? Dims{3, (kSlowBuild ? 7 : 41) - (one ? 1 : 0)} : Dims{kSlowBuild ? 1 : 2, 3};
    const Dims x = joined(planes, shape.spatial);
    const Dims y = joined(planes, shape.window.output(shape.spatial, shape.after));
    MaxPoolAttributes max;
    max.pool.window = shape.window.attributes(shape.after);
    const auto top = [](const Numbers& met, int) {
      return met.empty() ? -HUGE_VAL : *std::max_element(met.begin(), met.end());
    };
    expect_pool<float>("MaxPool", max, shape.window, x, y, top);
    AveragePoolAttributes average;
    average.pool = max.pool;
    const auto mean_of_met = [](const Numbers& met, int) { return mean(met, 0); };
    expect_pool<float>("AveragePool", average, shape.window, x, y, mean_of_met, kFewRoundings);
    average.count_include_pad = 1;
    expect_pool<float>("AveragePool", average, shape.window, x, y, mean, kFewRoundings);
    LpPoolAttributes norm;
    norm.pool = max.pool;
    expect_pool<float>("LpPool", norm, shape.window, x, y, [](const Numbers& met, int) {
      double sum = 0;
      for (double value : met) sum += value * value;
      return std::sqrt(sum);
    });
  }
}

// Many small images: odd rows, padding, steps and gaps, in every type's width.
TEST(Pool, RandomWindows) {
  std::mt19937 engine(5);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  for (int i = 0; i < part_of(120); ++i) {
    const size_t rank = static_cast<size_t>(draw(1, 3));
    Dims spatial, after;
    NaiveWindow window;
    for (size_t axis = 0; axis < rank; ++axis) {
      window.kernel.push_back(draw(1, 5));
      window.stride.push_back(draw(1, 5));
      window.dilation.push_back(draw(1, 2));
      const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
      window.before.push_back(draw(0, reach - 1));
      after.push_back(draw(0, reach - 1));
      spatial.push_back(draw(reach, axis + 1 == rank ? 40 : reach + 6));
    }
    SCOPED_TRACE(::testing::PrintToString(spatial));
    const Dims planes{static_cast<int>(draw(1, 2)), static_cast<int>(draw(1, 5))};
    const Dims x = joined(planes, spatial), y = joined(planes, window.output(spatial, after));
    MaxPoolAttributes max;
    max.pool.window = window.attributes(after);
    const auto top = [](const Numbers& met, int) {
      return met.empty() ? -HUGE_VAL : *std::max_element(met.begin(), met.end());
    };
    const auto low = [](const Numbers& met, int) {
      return met.empty() ? -128 : *std::max_element(met.begin(), met.end());
    };
    AveragePoolAttributes average;
    average.pool = max.pool;
    average.count_include_pad = static_cast<int32_t>(draw(0, 1));
    const auto result = [&](const Numbers& met, int padded) {
      return mean(met, average.count_include_pad != 0 ? padded : 0);
    };
    expect_pool<float>("AveragePool", average, window, x, y, result, kFewRoundings);
    switch (i % 4) {
      case 0:
        expect_pool<float>("MaxPool", max, window, x, y, top);
        break;
      case 1:
        expect_pool<double>("MaxPool", max, window, x, y, top);
        expect_pool<double>("AveragePool", average, window, x, y, result, kFewRoundings);
        break;
      case 2:
        expect_pool<int8_t>("MaxPool", max, window, x, y, low);
        break;
      default:
        expect_pool<Float16>("MaxPool", max, window, x, y, top);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(Pool, CeilModeDropsWindowsThatStartInTheTrailingPadding) {
  AveragePoolAttributes a;
  a.pool.window = NaiveWindow{{1}, {2}, {1}, {0}}.attributes({1});
  a.pool.ceil_mode = 1;
  Node node;
  node.input<float>({1, 1, 2}, {1, 2}).output<float>({1, 1, 1}).attributes(a);
  ASSERT_TRUE(node.run("AveragePool<float>").ok());
  EXPECT_EQ(node.result<float>(), std::vector<float>{1});
}

TEST(Pool, IndicesCountInEitherOrder) {
  for (int32_t order : {0, 1}) {
    MaxPoolAttributes a;
    a.pool.window = NaiveWindow{{2, 2}, {1, 2}, {1, 1}, {0, 1}}.attributes({0, 0});
    a.storage_order = order;
    Node node;
    node.input<float>({1, 2, 2, 3}, {1, 5, 2, 7, 0, 7, -1, -1, -1, -1, -1, -1});
    node.output<float>({1, 2, 1, 2}).output<int64_t>({1, 2, 1, 2}).attributes(a);
    ASSERT_TRUE(node.run("MaxPool<float>").ok());
    EXPECT_EQ(node.result<float>(), (std::vector<float>{7, 7, -1, -1}));
    // Element (row 1, column 0) is number 3 by rows, 1 by columns; the first of equals counts.
    EXPECT_EQ(node.result<int64_t>(1),
              order == 0 ? (std::vector<int64_t>{3, 5, 6, 7}) : (std::vector<int64_t>{1, 5, 6, 8}));
    a.pool.channels_last = 1;
    Node last;
    last.input<float>({1, 2, 3, 1}, std::vector<float>(6));
    last.output<float>({1, 1, 2, 1}).output<int64_t>({1, 1, 2, 1}).attributes(a);
    EXPECT_EQ(last.check("MaxPool<float>").code(), Code::kUnsupported);
  }
}

TEST(Pool, IndicesOfManyPlanesOfOneResultCountInEitherOrder) {
  constexpr int kPlanes = 24, kRows = 2, kColumns = 3;
  std::mt19937 engine(5);
  const auto x = random_values<float>(kPlanes * kRows * kColumns, engine, -1, 1);
  for (int32_t order : {0, 1}) {
    MaxPoolAttributes a;
    a.pool.window = NaiveWindow{{kRows, kColumns}, {1, 1}, {1, 1}, {0, 0}}.attributes({0, 0});
    a.storage_order = order;
    std::vector<int64_t> expected;
    for (int plane = 0; plane < kPlanes; ++plane) {
      const auto* first = x.data() + plane * kRows * kColumns;
      const auto at = static_cast<int>(std::max_element(first, first + kRows * kColumns) - first);
      const int in_plane = order == 0 ? at : at % kColumns * kRows + at / kColumns;
      expected.push_back(plane * kRows * kColumns + in_plane);
    }
    Node node;
    node.input<float>({3, kPlanes / 3, kRows, kColumns}, x);
    node.output<float>({3, kPlanes / 3, 1, 1}).output<int64_t>({3, kPlanes / 3, 1, 1});
    node.attributes(a).threads(2);
    ASSERT_TRUE(node.run("MaxPool<float>").ok());
    EXPECT_EQ(node.result<int64_t>(1), expected);
  }
}

/// Planes of so many elements, the windows of which are `rows` high.
struct IndexedPlanes {
  int planes, height, width, rows;
};

template <class T>
void expect_indices(const IndexedPlanes& p, int stride, int dilation, int pad) {
  constexpr int kKernel = 4;
  const int height = p.height - p.rows + 1;
  const int width = (p.width + 2 * pad - (kKernel - 1) * dilation - 1) / stride + 1;
  std::mt19937 engine(3);
  std::vector<T> x = random_values<T>(p.planes * p.height * p.width, engine, 0, 5);
  for (T& value : x) value = T(std::floor(static_cast<float>(value)));  // equal ones
  std::vector<T> y;
  std::vector<int64_t> where;
  for_each_index({p.planes, height, width}, [&](const Dims& index) {
    int64_t best = -1;
    for (int k = 0; k < p.rows * kKernel; ++k) {
      const int at = index[2] * stride - pad + k % kKernel * dilation;
      if (at < 0 || at >= p.width) continue;
      const int64_t row = index[0] * p.height + index[1] + k / kKernel, i = row * p.width + at;
      if (best < 0 || x[static_cast<size_t>(i)] > x[static_cast<size_t>(best)]) best = i;
    }
    where.push_back(best);
    y.push_back(x[static_cast<size_t>(best)]);
  });
  MaxPoolAttributes a;
  a.pool.window =
      NaiveWindow{{p.rows, kKernel}, {1, stride}, {1, dilation}, {0, pad}}.attributes({0, pad});
  for (Isa isa : cpu::available_isas()) {
    Node node;
    node.input<T>({1, p.planes, p.height, p.width}, x);
    node.output<T>({1, p.planes, height, width});
    node.output<int64_t>({1, p.planes, height, width}).attributes(a).isa(isa).threads(2);
    ASSERT_TRUE(node.run(kernel_name("MaxPool", {data_type_of<T>})).ok());
    EXPECT_EQ(node.result<T>(), y);
    EXPECT_EQ(node.result<int64_t>(1), where);
  }
}

TEST(Pool, IndicesAreThoseOfTheFirstOfEquals) {
  for (const IndexedPlanes& planes :
       {IndexedPlanes{3, 1, 211, 1}, IndexedPlanes{37, 1, 15, 1}, IndexedPlanes{83, 5, 13, 2}}) {
    for (int stride : {1, 2, 3}) {
      for (int dilation : {1, 3}) {
        for (int pad : {0, 2}) {
          expect_indices<float>(planes, stride, dilation, pad);
          expect_indices<double>(planes, stride, dilation, pad);
          expect_indices<uint8_t>(planes, stride, dilation, pad);
        }
      }
    }
  }
}

TEST(Pool, GlobalReducesEverySpatialAxis) {
  const Dims x_dims = {2, 70, 3, 7}, y_dims = {2, 70, 1, 1};
  std::mt19937 engine(2);
  const auto x = random_values<float>(count_of(x_dims), engine, -1, 1);
  Numbers mean, top, norm;
  for (size_t plane = 0; plane < 140; ++plane) {
    double sum = 0, high = -2, squares = 0;
    for (size_t i = 0; i < 21; ++i) {
      const double value = x[plane * 21 + i];
      sum += value;
      high = std::max(high, value);
      squares += value * value;
    }
    mean.push_back(sum / 21);
    top.push_back(high);
    norm.push_back(std::sqrt(squares));
  }
  for (bool last : {false, true}) {
    GlobalLpPoolAttributes a;
    a.global.channels_last = last ? 1 : 0;
    const auto node = [&] {
      Node result;
      result.input<float>(last ? channels_last(x_dims) : x_dims,
                          last ? channels_last(x_dims, x) : x);
      result.output<float>(last ? channels_last(y_dims) : y_dims).attributes(a).threads(2);
      return result;
    };
    Node average = node(), highest = node(), lp = node();
    ASSERT_TRUE(average.run("GlobalAveragePool<float>").ok());
    expect_near<float>(average.result<float>(), mean, 1e-6, 1e-7);
    ASSERT_TRUE(highest.run("GlobalMaxPool<float>").ok());
    expect_near<float>(highest.result<float>(), top, 0, 0);
    ASSERT_TRUE(lp.run("GlobalLpPool<float>").ok());
    expect_near<float>(lp.result<float>(), norm, 1e-6, 0);
  }
}

TEST(Pool, RefusesHostileAttributes) {
  const auto code = [](void (*spoil)(MaxPoolAttributes&)) {
    MaxPoolAttributes a;
    a.pool.window.kernel_shape.push(2);
    spoil(a);
    Node node;
    node.input<float>({1, 1, 4}, {1, 2, 3, 4}).output<float>({1, 1, 3}).attributes(a);
    return node.check("MaxPool<float>").code();
  };
  using A = MaxPoolAttributes;
  EXPECT_EQ(code([](A&) {}), Code::kOk);
  EXPECT_EQ(code([](A& a) { a.pool.window.kernel_shape.count = 0; }), Code::kInvalidValue);
  EXPECT_EQ(code([](A& a) { a.pool.window.kernel_shape[0] = 0; }), Code::kInvalidValue);
  EXPECT_EQ(code([](A& a) { a.pool.window.kernel_shape[0] = kHugeWindow; }), Code::kWrongExtent);
  EXPECT_EQ(code([](A& a) { a.pool.window.strides = {1, {0}}; }), Code::kInvalidValue);
  EXPECT_EQ(code([](A& a) {
              a.pool.window.pads = {2, {kHugeWindow, kHugeWindow}};
            }),
            Code::kWrongExtent);
  EXPECT_EQ(code([](A& a) { a.pool.window.dilations = {1, {kHugeWindow}}; }), Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
