// SPDX-License-Identifier: Apache-2.0
//
// Operators that read, write or select by index or value: against one-element-at-a-time
// definitions, and with hostile indices.
#include <limits>
#include <map>
#include <numeric>

#include "core/operators/indexing/gather.h"
#include "core/operators/indexing/non_max_suppression.h"
#include "core/operators/indexing/one_hot.h"
#include "core/operators/indexing/scatter.h"
#include "core/operators/indexing/selection.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/movement/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using Longs = std::vector<int64_t>;
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

template <class T>
class ByIndex : public ::testing::Test {};
TYPED_TEST_SUITE(ByIndex, AllWidths);

/// "Gather<32 bits, int64>": a kernel of elements of a width and of indices.
std::string indexed_kernel_name(std::string_view op, DataType type, DataType index) {
  std::string text = width_kernel_name(op, type);
  return text.insert(text.size() - 1, ", " + std::string(data_type_name(index)));
}

Dims joined(Dims a, const Dims& b, size_t from = 0) {
  a.insert(a.end(), b.begin() + static_cast<ptrdiff_t>(from), b.end());
  return a;
}
Index joined(Index a, const Index& b, size_t from) {
  a.insert(a.end(), b.begin() + static_cast<ptrdiff_t>(from), b.end());
  return a;
}

/// Shape of rank `rank` without empty axes.
Dims full_dims(Random& random, int64_t rank, int64_t high) {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(static_cast<int32_t>(random.number(1, high)));
  return dims;
}

template <class I>
std::vector<I> random_indices(Random& random, int64_t count, int64_t extent) {
  return random_values<I>(count, random.engine, static_cast<double>(-extent),
                          static_cast<double>(extent - 1));
}

int64_t wrapped(int64_t index, int64_t extent) {
  return index < 0 ? index + extent : index;
}

// ---- Gather, GatherElements, GatherND ----

template <class T, class I>
void expect_gathered(Random& random, int threads) {
  const int64_t rank = random.number(1, 4);
  const auto axis = static_cast<size_t>(random.number(0, rank - 1));
  const Dense<T> x = random.tensor<T>(full_dims(random, rank, 5));
  const Dims indices = random.dims(random.number(0, 3), 4);
  const std::vector<I> index = random_indices<I>(random, count_of(indices), x.dims[axis]);
  const Dims front(x.dims.begin(), x.dims.begin() + static_cast<ptrdiff_t>(axis));
  const Dims y = joined(joined(front, indices), x.dims, axis + 1);
  Node node;
  node.input<T>(x.dims, x.values).template input<I>(indices, index).template output<T>(y);
  node.attributes(AxisAttributes{static_cast<int32_t>(axis)}).threads(threads);
  ASSERT_TRUE(node.run(indexed_kernel_name("Gather", data_type_of<T>, data_type_of<I>)).ok());
  EXPECT_EQ(node.result<T>(), generate<T>(y, [&](const Index& i) {
              const auto first = i.begin() + static_cast<ptrdiff_t>(axis);
              const Index at(first, first + static_cast<ptrdiff_t>(indices.size()));
              Index source(i.begin(), first);
              source.push_back(wrapped(Dense<I>{indices, index}.at(at), x.dims[axis]));
              return x.at(joined(source, i, axis + indices.size()));
            }));
}

TYPED_TEST(ByIndex, Gather) {
  Random random(1);
  for (int i = 0; i < part_of(40); ++i) {
    expect_gathered<TypeParam, int64_t>(random, 1 + i % 3);
    expect_gathered<TypeParam, int32_t>(random, 1);
  }
}

TYPED_TEST(ByIndex, GatherElementsAndScatterElements) {
  using T = TypeParam;
  Random random(2);
  for (int round = 0; round < part_of(40); ++round) {
    const int64_t rank = random.number(1, 4);
    const auto axis = static_cast<size_t>(random.number(0, rank - 1));
    const Dense<T> x = random.tensor<T>(full_dims(random, rank, 5));
    Dims dims = x.dims;
    for (int32_t& extent : dims) extent = static_cast<int32_t>(random.number(1, extent));
    if (round % 2 == 0) dims[axis] = random.extent(6);
    const std::vector<int32_t> index =
        random_indices<int32_t>(random, count_of(dims), x.dims[axis]);
    const auto target = [&](Index i) {
      i[axis] = wrapped(Dense<int32_t>{dims, index}.at(i), x.dims[axis]);
      return i;
    };
    Node gather;
    gather.input<T>(x.dims, x.values).template input<int32_t>(dims, index);
    gather.output<T>(dims).attributes(AxisAttributes{static_cast<int32_t>(axis)}).threads(2);
    ASSERT_TRUE(
        gather.run(indexed_kernel_name("GatherElements", data_type_of<T>, DataType::kInt32)).ok());
    EXPECT_EQ(gather.result<T>(),
              generate<T>(dims, [&](const Index& i) { return x.at(target(i)); }));

    const Dense<T> updates = random.tensor<T>(dims);
    std::map<Index, T> written;
    for_each_index(dims, [&](const Index& i) { written[target(i)] = updates.at(i); });
    Node scatter;
    scatter.input<T>(x.dims, x.values).template input<int32_t>(dims, index);
    scatter.input<T>(dims, updates.values).template output<T>(x.dims);
    scatter.attributes(ScatterElementsAttributes{0, static_cast<int32_t>(axis)});
    if (round % 3 == 0) scatter.in_place(0);
    scatter.threads(1 + round % 4);
    ASSERT_TRUE(
        scatter.run(indexed_kernel_name("ScatterElements", data_type_of<T>, DataType::kInt32))
            .ok());
    EXPECT_EQ(scatter.result<T>(), generate<T>(x.dims, [&](const Index& i) {
                return written.count(i) ? written[i] : x.at(i);
              }));
  }
}

TYPED_TEST(ByIndex, GatherElementsOfLongLines) {
  using T = TypeParam;
  Random random(3);
  for (const Isa isa : cpu::available_isas()) {
    for (int32_t axis = 0; axis < 2; ++axis) {
      const Dense<T> x = random.tensor<T>({37, 611});
      const Dims dims = axis == 0 ? Dims{9, 611} : Dims{37, 300};
      const auto index = random_indices<int64_t>(random, count_of(dims), x.dims[size_t(axis)]);
      Node node;
      node.input<T>(x.dims, x.values).template input<int64_t>(dims, index);
      node.template output<T>(dims).attributes(AxisAttributes{axis}).isa(isa).threads(3);
      const auto kernel = indexed_kernel_name("GatherElements", data_type_of<T>, DataType::kInt64);
      ASSERT_TRUE(node.run(kernel).ok());
      EXPECT_EQ(node.template result<T>(), generate<T>(dims, [&](Index i) {
                  const auto picked = Dense<int64_t>{dims, index}.at(i);
                  i[size_t(axis)] = wrapped(picked, x.dims[size_t(axis)]);
                  return x.at(i);
                }));
    }
  }
}

TYPED_TEST(ByIndex, GatherNDAndScatterND) {
  using T = TypeParam;
  Random random(3);
  for (int round = 0; round < part_of(40); ++round) {
    const int64_t rank = random.number(1, 4);
    const Dense<T> x = random.tensor<T>(full_dims(random, rank, 4));
    const auto batch = static_cast<size_t>(random.number(0, rank - 1));
    const auto tuple = static_cast<size_t>(random.number(0, rank - static_cast<int64_t>(batch)));
    Dims lead(x.dims.begin(), x.dims.begin() + static_cast<ptrdiff_t>(batch));
    lead = joined(lead, full_dims(random, random.number(0, 1), 3));
    const Dims indices = joined(lead, {static_cast<int32_t>(tuple)});
    Longs index;
    for (int64_t i = 0; i < count_of(lead); ++i) {
      for (size_t k = 0; k < tuple; ++k) {
        const int64_t extent = x.dims[batch + k];
        index.push_back(random.number(-extent, extent - 1));
      }
    }
    const auto source = [&](const Index& i, size_t batches) {
      Index result(i.begin(), i.begin() + static_cast<ptrdiff_t>(batches));
      Index at(i.begin(), i.begin() + static_cast<ptrdiff_t>(lead.size()));
      for (size_t k = 0; k < tuple; ++k) {
        at.push_back(static_cast<int64_t>(k));
        result.push_back(wrapped(Dense<int64_t>{indices, index}.at(at), x.dims[batches + k]));
        at.pop_back();
      }
      return joined(result, i, lead.size());
    };
    const Dims y = joined(lead, x.dims, batch + tuple);
    Node gather;
    gather.input<T>(x.dims, x.values).template input<int64_t>(indices, index);
    gather.output<T>(y).attributes(GatherNDAttributes{static_cast<int32_t>(batch)}).threads(2);
    ASSERT_TRUE(gather.run(width_kernel_name("GatherND", data_type_of<T>)).ok())
        << gather.diagnostic().what;
    EXPECT_EQ(gather.result<T>(),
              generate<T>(y, [&](const Index& i) { return x.at(source(i, batch)); }));
    if (batch > 0) continue;

    const Dense<T> updates = random.tensor<T>(y);
    std::map<Index, T> written;
    for_each_index(y, [&](const Index& i) { written[source(i, 0)] = updates.at(i); });
    Node scatter;
    scatter.input<T>(x.dims, x.values).template input<int64_t>(indices, index);
    scatter.input<T>(y, updates.values).template output<T>(x.dims);
    scatter.attributes(ScatterNDAttributes{});
    ASSERT_TRUE(scatter.run(width_kernel_name("ScatterND", data_type_of<T>)).ok());
    EXPECT_EQ(scatter.result<T>(), generate<T>(x.dims, [&](const Index& i) {
                return written.count(i) ? written[i] : x.at(i);
              }));
  }
}

TEST(HostileIndices, AreReportedAndWriteNothing) {
  for (const int64_t hostile : {int64_t{3}, int64_t{-4}, kLowest, kHighest}) {
    Node gather;
    gather.input<float>({3, 2}, {1, 2, 3, 4, 5, 6}).input<int64_t>({2}, {0, hostile});
    gather.output<float>({2, 2}).attributes(AxisAttributes{0});
    EXPECT_EQ(gather.run("Gather<32 bits, int64>").code(), Code::kIndexOutOfRange);

    Node elements;
    elements.input<float>({3, 2}, {1, 2, 3, 4, 5, 6}).input<int64_t>({1, 2}, {0, hostile});
    elements.output<float>({1, 2}).attributes(AxisAttributes{0});
    EXPECT_EQ(elements.run("GatherElements<32 bits, int64>").code(), Code::kIndexOutOfRange);

    // Behind blocks of good ones, on another thread.
    std::vector<int64_t> many(20000, -1);
    many[19999] = hostile;
    Node last;
    last.input<float>({3}, {1, 2, 3}).input<int64_t>({20000}, many).threads(2);
    last.output<float>({20000}).attributes(AxisAttributes{0});
    EXPECT_EQ(last.run("GatherElements<32 bits, int64>").code(), Code::kIndexOutOfRange);

    Node tuples;
    tuples.input<float>({2, 3}, {1, 2, 3, 4, 5, 6}).input<int64_t>({1, 2}, {0, hostile});
    tuples.output<float>({1}).attributes(GatherNDAttributes{});
    EXPECT_EQ(tuples.run("GatherND<32 bits>").code(), Code::kIndexOutOfRange);

    Node scatter;
    scatter.input<float>({3}, {1, 2, 3}).input<int64_t>({1}, {hostile}).input<float>({1}, {9});
    scatter.output<float>({3}).attributes(ScatterElementsAttributes{1, 0}).in_place(0);
    EXPECT_EQ(scatter.run("ScatterElements.reduce<float, int64>").code(), Code::kIndexOutOfRange);
    EXPECT_EQ(scatter.result<float>(), (std::vector<float>{1, 2, 3}));

    Node scatter_nd;
    scatter_nd.input<float>({3}, {1, 2, 3}).input<int64_t>({1, 1}, {hostile});
    scatter_nd.input<float>({1}, {9}).output<float>({3}).attributes(ScatterNDAttributes{});
    EXPECT_EQ(scatter_nd.run("ScatterND<32 bits>").code(), Code::kIndexOutOfRange);
  }
}

TEST(Scatter, ReductionsCombineInOrder) {
  const std::vector<std::vector<float>> expected = {{}, {6, 2}, {6, 2}, {3, 2}, {1, 2}};
  for (int32_t reduction = 1; reduction <= 4; ++reduction) {
    Node node;
    node.input<float>({2}, {1, 2}).input<int64_t>({2}, {0, -2}).input<float>({2}, {2, 3});
    node.output<float>({2}).attributes(ScatterElementsAttributes{reduction, 0});
    ASSERT_TRUE(node.run("ScatterElements.reduce<float, int64>").ok());
    EXPECT_EQ(node.result<float>(), expected[static_cast<size_t>(reduction)]);
  }
  Node wraps;
  wraps.input<int8_t>({1}, {127}).input<int64_t>({1, 1}, {0}).input<int8_t>({1}, {1});
  wraps.output<int8_t>({1}).attributes(ScatterNDAttributes{1});
  ASSERT_TRUE(wraps.run("ScatterND.reduce<int8>").ok());
  EXPECT_EQ(wraps.result<int8_t>(), (std::vector<int8_t>{-128}));

  Node refused;
  refused.input<float>({1}, {1}).input<int64_t>({1, 1}, {0}).input<float>({1}, {1});
  refused.output<float>({1}).attributes(ScatterNDAttributes{1});
  EXPECT_EQ(refused.check("ScatterND<32 bits>").code(), Code::kUnsupported);
}

// Many updates for each position, along each axis, on several threads: sums of floats tell the
// order.
TEST(Scatter, ThreadsKeepTheOrderOfUpdatesOfAPosition) {
  Random random(11);
  for (const Dims& dims : {Dims{3, 300}, Dims{300, 3}, Dims{2, 3, 150}, Dims{40, 3, 7}, Dims{5}}) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const Dense<float> x = random.tensor<float>(dims);
      Dims many = dims;
      many[axis] = 60;
      const std::vector<int32_t> index =
          random_indices<int32_t>(random, count_of(many), dims[axis]);
      const Dense<float> updates = random.tensor<float>(many);
      const Dense<int32_t> indices{many, index};
      Dense<float> expected = x;
      for_each_index(many, [&](const Index& i) {
        Index at = i;
        at[axis] = wrapped(indices.at(i), dims[axis]);
        expected.values[expected.position(at)] += updates.at(i);
      });
      Node node;
      node.input<float>(dims, x.values).input<int32_t>(many, index);
      node.input<float>(many, updates.values).output<float>(dims).threads(3);
      node.attributes(ScatterElementsAttributes{static_cast<int32_t>(ScatterReduction::kAdd),
                                                static_cast<int32_t>(axis)});
      ASSERT_TRUE(node.run("ScatterElements.reduce<float, int32>").ok());
      EXPECT_EQ(node.result<float>(), expected.values) << "axis " << axis;
    }
  }
}

TEST(Scatter, ThreadsShareTheColumnsOfRuns) {
  Random random(12);
  for (const int32_t run : {1, 63, 64, 65, 300}) {
    const Dense<float> x = random.tensor<float>({7, run}),
                       updates = random.tensor<float>({40, run});
    Longs rows;
    for (int i = 0; i < 40; ++i) rows.push_back(i < 9 ? i % 7 : random.number(-7, 6));
    for (const bool add : {false, true}) {
      Dense<float> expected = x;
      for_each_index(updates.dims, [&](const Index& i) {
        float& y = expected.values[expected.position({wrapped(rows[size_t(i[0])], 7), i[1]})];
        y = add ? y + updates.at(i) : updates.at(i);
      });
      Node node;
      node.input<float>(x.dims, x.values).input<int64_t>({40, 1}, rows);
      node.input<float>(updates.dims, updates.values).output<float>(x.dims).threads(3);
      const auto reduction = add ? ScatterReduction::kAdd : ScatterReduction::kNone;
      node.attributes(ScatterNDAttributes{static_cast<int32_t>(reduction)});
      ASSERT_TRUE(node.run(add ? "ScatterND.reduce<float>" : "ScatterND<32 bits>").ok());
      EXPECT_EQ(node.result<float>(), expected.values) << run;
    }
  }
}

// ---- TopK, Unique ----

TEST(TopK, SortsRandomRowsWithTies) {
  Random random(4);
  for (int round = 0; round < part_of(40); ++round) {
    const Dims dims = full_dims(random, 3, 6);
    const auto axis = static_cast<size_t>(random.number(0, 2));
    const auto k = static_cast<int32_t>(random.number(0, dims[axis]));
    const bool largest = round % 2 == 0;
    const Dense<int8_t> x{dims, random_values<int8_t>(count_of(dims), random.engine, -3, 3)};
    Dims y = dims;
    y[axis] = k;
    const auto chosen = [&](Index i) {
      Longs order(static_cast<size_t>(dims[axis]));
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](int64_t j) {
        Index at = i;
        at[axis] = j;
        return x.at(at);
      };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return largest ? value(a) > value(b) : value(a) < value(b);
      });
      return order[static_cast<size_t>(i[axis])];
    };
    Node node;
    node.input<int8_t>(dims, x.values).input<int64_t>({1}, {k}).output<int8_t>(y);
    node.output<int64_t>(y).threads(1 + round % 3);
    node.attributes(TopKAttributes{static_cast<int32_t>(axis) - 3, largest ? 1 : 0, 1});
    ASSERT_TRUE(node.run("TopK<int8>").ok()) << node.diagnostic().what;
    EXPECT_EQ(node.result<int64_t>(1), generate<int64_t>(y, chosen));
    EXPECT_EQ(node.result<int8_t>(0), generate<int8_t>(y, [&](Index i) {
                i[axis] = chosen(i);
                return x.at(i);
              }));
  }
}

/// Of NaN, which counts as largest, zeros of both signs and numbers that repeat.
std::vector<float> numbers_with_ties(Random& random, int64_t count) {
  auto values = random_values<float>(count, random.engine, -20, 20);
  for (float& value : values) {
    value = random.chance(30) ? std::numeric_limits<float>::quiet_NaN() : std::trunc(value * 8);
  }
  return values;
}

TEST(TopK, LongLinesSideBySideAndAlone) {
  Random random(5);
  for (const Isa isa : cpu::available_isas()) {
    for (const int32_t inner : {1, 7, 32, 70}) {
      for (const int32_t k : {1, 7, 16, 17, 90, 131}) {
        const bool largest = random.chance(2);
        const Dense<float> x{{2, 131, inner}, numbers_with_ties(random, 262 * inner)};
        const Dims y = {2, k, inner};
        Node node;
        node.input<float>(x.dims, x.values).input<int64_t>({1}, {k}).output<float>(y);
        node.output<int64_t>(y).threads(2).isa(isa).attributes(TopKAttributes{1, largest, 1});
        ASSERT_TRUE(node.run("TopK<float>").ok()) << node.diagnostic().what;
        const auto before = [](float a, float b) {
          return std::isnan(a) ? false : a < b || std::isnan(b);
        };
        std::map<std::pair<int64_t, int64_t>, Longs> orders;
        const auto chosen = [&](const Index& i) {
          Longs& order = orders[{i[0], i[2]}];
          if (order.empty()) {
            order.resize(131);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
              const float u = x.at({i[0], a, i[2]}), v = x.at({i[0], b, i[2]});
              return largest ? before(v, u) : before(u, v);
            });
          }
          return order[static_cast<size_t>(i[1])];
        };
        EXPECT_EQ(node.result<int64_t>(1), generate<int64_t>(y, chosen))
            << inner << " lines, the best " << k;
      }
    }
  }
}

TEST(TopK, MoreThanThereIsIsRejected) {
  for (const int64_t k : {int64_t{4}, int64_t{-1}, kHighest}) {
    Node node;
    node.input<float>({3}, {1, 2, 3}).input<int64_t>({1}, {k}).output<float>({3});
    node.output<int64_t>({3}).attributes(TopKAttributes{});
    EXPECT_FALSE(node.run("TopK<float>").ok());
  }
}

Node unique_node(const Dims& dims, const std::vector<float>& x, int32_t axis, int32_t sorted) {
  Node node;
  const Dims list = {axis == kNoAxis ? static_cast<int32_t>(count_of(dims)) : dims[0]};
  node.input<float>(dims, x).output<float>(axis == kNoAxis ? list : dims);
  for (int i = 0; i < 3; ++i) node.output<int64_t>(list);
  node.attributes(UniqueAttributes{axis, sorted});
  return node;
}

TEST(Unique, TheSpecificationsExamples) {
  Node first = unique_node({6}, {2, 1, 1, 3, 4, 3}, kNoAxis, 0);
  ASSERT_TRUE(first.run("Unique<float>").ok());
  EXPECT_EQ(first.result<float>(), (std::vector<float>{2, 1, 3, 4}));
  EXPECT_EQ(first.result<int64_t>(1), (Longs{0, 1, 3, 4}));
  EXPECT_EQ(first.result<int64_t>(2), (Longs{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(first.result<int64_t>(3), (Longs{1, 2, 2, 1}));

  Node sorted = unique_node({6}, {2, 1, 1, 3, 4, 3}, kNoAxis, 1);
  ASSERT_TRUE(sorted.run("Unique<float>").ok());
  EXPECT_EQ(sorted.result<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(sorted.result<int64_t>(1), (Longs{1, 0, 3, 4}));
  EXPECT_EQ(sorted.result<int64_t>(2), (Longs{1, 0, 0, 2, 3, 2}));

  Node rows = unique_node({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4}, 0, 1);
  ASSERT_TRUE(rows.run("Unique<float>").ok());
  EXPECT_EQ(rows.dims(0), (Dims{2, 3}));
  EXPECT_EQ(rows.result<float>(), (std::vector<float>{1, 0, 0, 2, 3, 4}));
  EXPECT_EQ(rows.result<int64_t>(1), (Longs{0, 2}));
  EXPECT_EQ(rows.result<int64_t>(2), (Longs{0, 0, 1}));
  EXPECT_EQ(rows.result<int64_t>(3), (Longs{2, 1}));

  Node empty = unique_node({0}, {}, kNoAxis, 1);
  ASSERT_TRUE(empty.run("Unique<float>").ok());
  EXPECT_EQ(empty.dims(0), (Dims{0}));
}

// ---- Selection by value ----

TEST(NonZero, FindsCoordinatesInOrder) {
  Node node;
  node.input<float>({2, 3}, {0, -1, 0, NAN, -0.0f, 2}).output<int64_t>({2, 6});
  ASSERT_TRUE(node.run("NonZero<float>").ok());
  EXPECT_EQ(node.dims(), (Dims{2, 3}));
  EXPECT_EQ(node.result<int64_t>(), (Longs{0, 1, 1, 1, 0, 2}));

  // Many blocks, which several threads write.
  Random random(12);
  const Dims dims = {13, 50, 60};
  const Dense<int32_t> x{dims, random_indices<int32_t>(random, count_of(dims), 2)};
  std::vector<Longs> columns(3);
  for_each_index(dims, [&](const Index& i) {
    if (x.at(i) == 0) return;
    for (size_t axis = 0; axis < 3; ++axis) columns[axis].push_back(i[axis]);
  });
  const auto found = static_cast<int32_t>(columns[0].size());
  Node many;
  many.input<int32_t>(dims, x.values).output<int64_t>({3, 13 * 50 * 60}).threads(3);
  ASSERT_TRUE(many.run("NonZero<int32>").ok());
  EXPECT_EQ(many.dims(), (Dims{3, found}));
  for (size_t axis = 1; axis < 3; ++axis) {
    columns[0].insert(columns[0].end(), columns[axis].begin(), columns[axis].end());
  }
  EXPECT_EQ(many.result<int64_t>(), columns[0]);

  Node scalar;
  scalar.input<bool>({}, {true}).output<int64_t>({0, 1});
  ASSERT_TRUE(scalar.run("NonZero<bool>").ok());
  EXPECT_EQ(scalar.dims(), (Dims{0, 1}));
}

TEST(Compress, AlongAnAxisAndFlat) {
  Node axis;
  axis.input<float>({3, 2}, {1, 2, 3, 4, 5, 6}).input<bool>({2}, {false, true});
  axis.output<float>({2, 2}).attributes(CompressAttributes{0});
  ASSERT_TRUE(axis.run("Compress<32 bits>").ok());
  EXPECT_EQ(axis.dims(), (Dims{1, 2}));
  EXPECT_EQ(axis.result<float>(), (std::vector<float>{3, 4}));

  Node flat;
  flat.input<float>({3, 2}, {1, 2, 3, 4, 5, 6}).input<bool>({5}, {false, true, false, false, true});
  flat.output<float>({5}).attributes(CompressAttributes{});
  ASSERT_TRUE(flat.run("Compress<32 bits>").ok());
  EXPECT_EQ(flat.result<float>(), (std::vector<float>{2, 5}));
}

// Slices that threads share, whose place in the output follows from the conditions before them:
// many of each outer index, few, and none.
TEST(Compress, OnSeveralThreads) {
  Random random(41);
  for (const auto& [outer, extent, inner] :
       std::vector<std::array<int32_t, 3>>{{7, 50, 9}, {40, 3, 33}, {1, 4000, 1}, {300, 1, 13}}) {
    for (int share : {1, 3, 1000}) {
      const Dense<float> x = random.tensor<float>({outer, extent, inner});
      std::vector<bool> condition(static_cast<size_t>(extent));
      for (size_t i = 0; i < condition.size(); ++i) condition[i] = random.number(0, share - 1) == 0;
      std::vector<float> expected;
      for (int32_t row = 0; row < outer * extent; ++row) {
        if (!condition[static_cast<size_t>(row % extent)]) continue;
        const auto from = x.values.begin() + row * inner;
        expected.insert(expected.end(), from, from + inner);
      }
      Node node;
      node.input<float>({outer, extent, inner}, x.values).input<bool>({extent}, condition);
      node.output<float>({outer, extent, inner}).attributes(CompressAttributes{1}).threads(3);
      ASSERT_TRUE(node.run("Compress<32 bits>").ok());
      EXPECT_EQ(node.result<float>(), expected) << outer << " x " << extent << " x " << inner;
    }
  }
}

// ---- OneHot ----

TYPED_TEST(ByIndex, OneHotAlongEveryAxis) {
  using T = TypeParam;
  Random random(5);
  const Dense<T> values = random.tensor<T>({2});
  const Dense<double> indices{{2, 3}, {0, -1, 2.9, 3, -4, 1e300}};
  for (int32_t axis = -3; axis <= 2; ++axis) {
    const auto at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    Dims y = indices.dims;
    y.insert(y.begin() + static_cast<ptrdiff_t>(at), 3);
    Node node;
    node.input<double>(indices.dims, indices.values).template input<float>({1}, {3.0f});
    node.input<T>({2}, values.values).template output<T>(y).attributes(OneHotAttributes{axis});
    ASSERT_TRUE(node.run(width_kernel_name("OneHot", data_type_of<T>)).ok())
        << node.diagnostic().what;
    EXPECT_EQ(node.result<T>(), generate<T>(y, [&](Index i) {
                const auto coordinate = static_cast<double>(i[at]);
                i.erase(i.begin() + static_cast<ptrdiff_t>(at));
                const double index = std::trunc(indices.at(i));
                return values.values[index == coordinate || index + 3 == coordinate ? 1 : 0];
              }));
  }
}

// ---- NonMaxSuppression ----

Node suppression_node(const std::vector<float>& boxes, const std::vector<float>& scores,
                      int64_t limit, float iou, int32_t planned) {
  const auto count = static_cast<int32_t>(scores.size());
  Node node;
  node.input<float>({1, count, 4}, boxes).input<float>({1, 1, count}, scores);
  node.input<int64_t>({1}, {limit}).input<float>({1}, {iou}).input<float>({1}, {0.0f});
  node.output<int64_t>({planned, 3}).attributes(NonMaxSuppressionAttributes{});
  return node;
}

TEST(NonMaxSuppression, DropsOverlappingBoxes) {
  const std::vector<float> boxes = {0, 0,    1, 1,    0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                    0, 10.f, 1, 11.f, 0, 10.1f, 1, 11.1f, 0, 100.f, 1, 101.f};
  const std::vector<float> scores = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};
  Node node = suppression_node(boxes, scores, 3, 0.5f, 6);
  ASSERT_TRUE(node.run("NonMaxSuppression").ok());
  EXPECT_EQ(node.result<int64_t>(), (Longs{0, 0, 3, 0, 0, 0, 0, 0, 5}));

  Node two = suppression_node(boxes, scores, 2, 0.5f, 6);
  ASSERT_TRUE(two.run("NonMaxSuppression").ok());
  EXPECT_EQ(two.dims(), (Dims{2, 3}));

  Node too_many = suppression_node(boxes, scores, 6, 1.0f, 2);
  EXPECT_EQ(too_many.run("NonMaxSuppression").code(), Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
