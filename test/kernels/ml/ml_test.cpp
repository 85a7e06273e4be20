// SPDX-License-Identifier: Apache-2.0
//
// Trees and support vector machines: against walks and sums one at a time, and with nodes that lead
// nowhere.
#include <array>
#include <cmath>
#include <limits>

#include "core/operators/ml/support_vectors.h"
#include "core/operators/ml/tree_ensemble.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

/// Full trees of random thresholds, in the form of the kernel of T, beside what they say.
template <class T>
class RandomTrees {
 public:
  using Own = TreeNode<T>;

  RandomTrees(int trees, int depth, int targets, bool named, unsigned seed, int features = 5)
      : depth_(depth), targets_(targets), features_(features), engine_(seed) {
    attributes.features = features;
    attributes.child_bits = depth + 1;
    attributes.targets = targets;
    attributes.votes = named ? 0 : targets;
    attributes.missing = 1;
    for (int t = 0; t < trees; ++t) add_tree(named);
    nodes.resize(nodes.size() + (size_t{1} << attributes.child_bits) + 1);
  }

  /// Makes room for more targets, for which nobody votes.
  void widen(int targets) { attributes.targets = targets_ = targets; }

  /// What kernels are given.
  Node node(const std::vector<T>& x, int rows) {
    const auto as = [](const auto& values, auto element) {
      const auto* begin = reinterpret_cast<const decltype(element)*>(values.data());
      return std::vector<decltype(element)>(
          begin, begin + values.size() * sizeof(values[0]) / sizeof(element));
    };
    Node made;
    made.input<T>({rows, features_}, x);
    made.input<uint64_t>({static_cast<int32_t>(nodes.size()), sizeof(Own) / 8},
                         as(nodes, uint64_t()));
    made.input<int32_t>({static_cast<int32_t>(records.size()), 4}, as(records, int32_t()));
    made.input<T>({static_cast<int32_t>(weights.size())}, weights);
    if (!named.empty()) made.input<int32_t>({static_cast<int32_t>(named.size())}, named);
    made.attributes(attributes);
    made.output<T>({rows, targets_});
    return made;
  }

  /// The sums, least or largest votes of one row.
  std::vector<double> expected(const T* row) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double start = attributes.aggregate == TreeEnsembleAttributes::kSum   ? 0
                         : attributes.aggregate == TreeEnsembleAttributes::kMin ? kInfinity
                                                                                : -kInfinity;
    std::vector<double> result(static_cast<size_t>(targets_), start);
    const int bits = attributes.feature_bits();
    for (const TreeRecord& record : records) {
      size_t place = 1;
      for (int step = 0; step < depth_; ++step) {
        const Own& at = nodes[static_cast<size_t>(record.base) + place];
        const T x = row[at.way & ((1 << bits) - 1)];
        const bool to_first = attributes.missing != 0 && ((at.way >> bits) & 1) != 0;
        const bool first = std::isnan(x) ? to_first : x <= at.threshold;
        place = 2 * place + (first ? 0 : 1);
      }
      for (int i = 0; i < targets_; ++i) {
        const auto vote = static_cast<size_t>(record.vote) +
                          (place - (size_t{1} << depth_)) * static_cast<size_t>(targets_) +
                          static_cast<size_t>(i);
        double& sum = result[static_cast<size_t>(i)];
        const auto weight = static_cast<double>(weights[vote]);
        sum = attributes.aggregate == TreeEnsembleAttributes::kSum   ? sum + weight
              : attributes.aggregate == TreeEnsembleAttributes::kMin ? std::min(sum, weight)
                                                                     : std::max(sum, weight);
      }
    }
    return result;
  }

  std::vector<T> rows(int count) {
    std::vector<T> x;
    for (int i = 0; i < count * features_; ++i) {
      x.push_back(i % 11 == 3 ? std::numeric_limits<T>::quiet_NaN() : draw());
    }
    return x;
  }

  TreeEnsembleAttributes attributes;
  std::vector<Own> nodes;
  std::vector<TreeRecord> records;
  std::vector<T> weights;
  std::vector<int32_t> named;

 private:
  T draw() { return std::uniform_real_distribution<T>(-1, 1)(engine_); }

  void add_tree(bool has_names) {
    const auto inner = uint32_t{1} << depth_;
    const int shift = Own::kWayBits - attributes.child_bits;
    records.push_back(
        {static_cast<int32_t>(nodes.size()), depth_, static_cast<int32_t>(weights.size()), 0});
    nodes.push_back({});
    for (uint32_t i = 1; i < inner; ++i) {
      const auto feature = static_cast<uint32_t>(engine_() % static_cast<unsigned>(features_));
      const uint32_t missing = (engine_() & 1) << attributes.feature_bits();
      nodes.push_back({draw(), feature | missing | static_cast<typename Own::Way>(2 * i) << shift});
    }
    for (uint32_t i = 0; i < inner; ++i) {
      const auto vote = static_cast<typename Own::Way>(i * static_cast<uint32_t>(targets_));
      nodes.push_back({std::bit_cast<T>(Own::kLeafBits | vote),
                       static_cast<typename Own::Way>(inner + i - 1) << shift});
      for (int target = 0; target < targets_; ++target) {
        weights.push_back(draw());
        const bool last = target + 1 == targets_;
        if (has_names) named.push_back(last ? target | INT32_MIN : target);
      }
    }
  }

  int depth_, targets_, features_;
  std::mt19937 engine_;
};

template <class T>
class Trees : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Trees, Reals);

TYPED_TEST(Trees, EveryRowReachesItsLeaves) {
  using T = TypeParam;
  const std::string kernel = kernel_name("intarsia:TreeEnsemble", {data_type_of<T>});
  unsigned seed = 0;
  for (const int trees : {1, 9, 300}) {
    for (const int depth : {1, 4, 9, 11}) {
      for (const int rows : {1, 3, 8, 75}) {
        if (trees * depth > 600) continue;
        const int targets = 1 + static_cast<int>(seed % 3);
        const int features = std::array{1, 5, 13, 32, 77}[seed % 5];
        RandomTrees<T> random(trees, depth, targets, seed % 2 == 1, seed, features);
        random.attributes.aggregate = static_cast<int32_t>(seed / 2 % 3);
        random.attributes.missing = seed % 7 == 0 ? 0 : 1;
        ++seed;
        const std::vector<T> x = random.rows(rows);
        for (const Isa isa : cpu::available_isas()) {
          Node node = random.node(x, rows);
          node.isa(isa);
          node.threads(1 + static_cast<int>(seed % 3));
          ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
          const std::vector<double> found = node.numbers();
          for (int row = 0; row < rows; ++row) {
            const std::vector<double> expected =
                random.expected(&x[static_cast<size_t>(row * features)]);
            for (int i = 0; i < targets; ++i) {
              EXPECT_NEAR(found[static_cast<size_t>(row * targets + i)],
                          expected[static_cast<size_t>(i)], 1e-5)
                  << trees << " trees of depth " << depth << " over " << features
                  << " features, row " << row << " of " << rows;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Trees, ResultsAreTheSameForAnyNumberOfThreads) {
  using T = TypeParam;
  const std::string kernel = kernel_name("intarsia:TreeEnsemble", {data_type_of<T>});
  for (const int rows : {2, 200}) {
    RandomTrees<T> random(600, 3, 2, false, 7);
    const std::vector<T> x = random.rows(rows);
    Node one = random.node(x, rows), many = random.node(x, rows);
    one.isa(cpu::available_isas().back());
    many.isa(cpu::available_isas().back()).threads(3);
    ASSERT_TRUE(one.run(kernel).ok());
    ASSERT_TRUE(many.run(kernel).ok());
    EXPECT_EQ(one.template result<T>(), many.template result<T>());
  }
}

TEST(TreesOfFloat, WhatNobodyVotesForIsZero) {
  for (const int aggregate : {0, 1, 2}) {
    RandomTrees<float> random(2, 2, 1, true, 3);
    random.attributes.aggregate = aggregate;
    random.widen(3);
    const std::vector<float> x = random.rows(2);
    Node node = random.node(x, 2);
    ASSERT_TRUE(node.run("intarsia:TreeEnsemble<float>").ok());
    const std::vector<double> found = node.numbers();
    for (const size_t i : {1, 2, 4, 5}) EXPECT_EQ(found[i], 0);
  }
}

/// Nodes of any bits stay inside the operands, which the harness guards.
TEST(TreesOfFloat, NodesThatLeadNowhereAreHarmless) {
  std::mt19937_64 bits(11);
  for (int round = 0; round < 60; ++round) {
    const int features = std::array{1, 5, 13, 32, 77}[static_cast<size_t>(round % 5)];
    RandomTrees<float> random(12, 5, 2, round % 2 == 1, static_cast<unsigned>(round), features);
    for (auto& node : random.nodes) {
      if (bits() % 3 == 0) node = std::bit_cast<TreeNode<float>>(bits());
    }
    for (int32_t& target : random.named) target = static_cast<int32_t>(bits());
    const int rows = 1 + round % 9;
    const std::vector<float> x = random.rows(rows);
    for (const Isa isa : cpu::available_isas()) {
      Node node = random.node(x, rows);
      node.isa(isa);
      EXPECT_TRUE(node.run("intarsia:TreeEnsemble<float>").ok());
    }
  }
}

TEST(TreesOfFloat, RecordsThatLeadOutsideAreRefused) {
  const auto run = [](const auto& change) {
    RandomTrees<float> random(3, 3, 2, false, 5);
    change(random);
    const std::vector<float> x = random.rows(4);
    return random.node(x, 4).run("intarsia:TreeEnsemble<float>").code();
  };
  using Random = RandomTrees<float>;
  EXPECT_EQ(run([](Random&) {}), Code::kOk);
  EXPECT_EQ(run([](Random& r) { r.records[1].base = -1; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.records[1].base = static_cast<int32_t>(r.nodes.size()) - 16; }),
            Code::kIndexOutOfRange);
  EXPECT_EQ(run([](Random& r) { r.records[2].depth = 1 << 20; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.records[2].depth = -1; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.records[0].vote = -4; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.records[0].target = 1; }), Code::kIndexOutOfRange);
  EXPECT_EQ(run([](Random& r) { r.attributes.features = 6; }), Code::kWrongExtent);
  EXPECT_EQ(run([](Random& r) { r.attributes.features = 0; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.attributes.child_bits = 32; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.attributes.child_bits = 0; }), Code::kInvalidValue);
  EXPECT_EQ(run([](Random& r) { r.attributes.votes = 3; }), Code::kInvalidValue);
}

template <class T>
class Vectors : public ::testing::Test {};
TYPED_TEST_SUITE(Vectors, Reals);

/// `kind` is one of SupportVectorsAttributes::Kernel.
template <class T>
void expect_sums(const std::string& kernel, int kind, Isa isa = Isa::kPortable) {
  SCOPED_TRACE(kernel);
  std::mt19937 engine(3);
  for (const int count : {1, 64, 150}) {
    const int rows = 1 + count % 19, columns = 7, sums = 2;
    const auto x = random_values<T>(int64_t{rows} * columns, engine, -1, 1);
    const auto vectors = random_values<T>(count * columns, engine, -1, 1);
    const auto weights = random_values<T>(count * sums, engine, -1, 1);
    const std::vector<int32_t> starts = {0, count / 3, count / 3, count};
    SupportVectorsAttributes a;
    a.kernel = kind;
    a.gamma = 0.5F;
    a.coef0 = 0.25F;
    a.degree = count == 64 ? 2.5F : 3.0F;
    Node node;
    node.input<T>({rows, columns}, x);
    node.input<T>({columns, count}, vectors).constant(1);
    node.input<T>({sums, count}, weights);
    node.input<int32_t>({4}, starts).attributes(a).output<double>({rows, 3, sums});
    node.threads(2).isa(isa);
    ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
    const std::vector<double> found = node.numbers();
    size_t next = 0;
    for (int row = 0; row < rows; ++row) {
      for (size_t group = 0; group < 3; ++group) {
        for (int s = 0; s < sums; ++s, ++next) {
          double expected = 0;
          for (int v = starts[group]; v < starts[group + 1]; ++v) {
            double dot = 0, distance = 0;
            for (int c = 0; c < columns; ++c) {
              const double p = x[static_cast<size_t>(row * columns + c)];
              const double q = vectors[static_cast<size_t>(c * count + v)];
              dot += p * q;
              distance += (p - q) * (p - q);
            }
            const double scaled = 0.5 * dot + 0.25;
            const double k = kind == 0   ? dot
                             : kind == 1 ? std::pow(scaled, static_cast<double>(a.degree))
                             : kind == 2 ? std::exp(-0.5 * distance)
                                         : std::tanh(scaled);
            expected += k * static_cast<double>(weights[static_cast<size_t>(s * count + v)]);
          }
          if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(found[next]));
          } else {
            EXPECT_NEAR(found[next], expected, 2e-5);
          }
        }
      }
    }
  }
}

TYPED_TEST(Vectors, SumsOfKernels) {
  using T = TypeParam;
  for (int kind = 0; kind < 4; ++kind) {
    expect_sums<T>(kernel_name("intarsia:SupportVectors", {data_type_of<T>}), kind);
  }
}

TEST(VectorsOfFloat, PackedSums) {
  for (Isa isa : cpu::available_isas()) {
    for (const int kind : {0, 1, 3}) {
      expect_sums<float>("intarsia:SupportVectors.packed<float>", kind, isa);
    }
  }
}

TEST(VectorsOfFloat, DistancesAreNotPacked) {
  Node node;
  node.input<float>({1, 1}, {1}).input<float>({1, 1}, {1}).constant(1).input<float>({1, 1}, {1});
  node.input<int32_t>({2}, {0, 1}).output<double>({1, 1, 1});
  SupportVectorsAttributes a;
  a.kernel = SupportVectorsAttributes::kRbf;
  node.attributes(a);
  EXPECT_EQ(node.run("intarsia:SupportVectors.packed<float>").code(), Code::kInvalidValue);
}

TEST(VectorsOfFloat, BoundsOfGroupsAreChecked) {
  const auto run = [](const std::vector<int32_t>& starts) {
    Node node;
    node.input<float>({1, 2}, {1, 2}).input<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    node.input<float>({1, 3}, {1, 1, 1}).input<int32_t>({2}, starts);
    node.attributes(SupportVectorsAttributes{}).output<double>({1, 1, 1});
    return node.run("intarsia:SupportVectors<float>").code();
  };
  EXPECT_EQ(run({0, 3}), Code::kOk);
  EXPECT_EQ(run({0, 4}), Code::kIndexOutOfRange);
  EXPECT_EQ(run({2, 1}), Code::kIndexOutOfRange);
  EXPECT_EQ(run({-1, 1}), Code::kIndexOutOfRange);
}

TEST(Probabilities, OfPairsAreCoupled) {
  // Of pairs that agree with p, the result is p.
  const std::vector<double> p = {0.5, 0.3, 0.15, 0.05};
  std::vector<double> scores;
  for (size_t i = 0; i < p.size(); ++i) {
    for (size_t j = i + 1; j < p.size(); ++j) scores.push_back(std::log(p[i] / p[j]));
  }
  Node node;
  PairwiseAttributes a;
  a.classes = 4;
  node.input<double>({1, 6}, scores).input<float>({6}, std::vector<float>(6, -1));
  node.input<float>({6}, std::vector<float>(6, 0)).attributes(a).output<float>({1, 4});
  ASSERT_TRUE(node.run("intarsia:PairwiseProbabilities").ok());
  const std::vector<double> found = node.numbers();
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(found[i], p[i], 0.005);
  a.classes = 5;
  EXPECT_EQ(node.attributes(a).check("intarsia:PairwiseProbabilities").code(), Code::kWrongExtent);
  a.classes = 1;
  EXPECT_EQ(node.attributes(a).check("intarsia:PairwiseProbabilities").code(), Code::kInvalidValue);
}

}  // namespace
}  // namespace intarsia::test
