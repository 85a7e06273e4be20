// SPDX-License-Identifier: Apache-2.0
//
// Kernels that walk through tables of the converter: what they find, and that tables from a hostile
// plan lead them nowhere else.
#include <cmath>

#include "core/operators/strings/lookup.h"
#include "core/operators/strings/ngrams.h"
#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {
namespace {

/// A pool of these characters and no room for others.
StringPool full_of(std::span<char> characters) {
  StringPool pool({}, characters);
  pool.use(pool.end(), pool.end());
  return pool;
}

/// The slots of keys, none of which are equal.
template <class T>
std::vector<int32_t> slots_of(const std::vector<T>& keys, int64_t count) {
  std::vector<int32_t> slots(static_cast<size_t>(count), -1);
  for (size_t i = 0; i < keys.size(); ++i) {
    visit_slots(key_hash(keys[i]), count, [&](int64_t slot) {
      if (slots[static_cast<size_t>(slot)] >= 0) return false;
      slots[static_cast<size_t>(slot)] = static_cast<int32_t>(i);
      return true;
    });
  }
  return slots;
}

template <class T>
Node lookup(const std::vector<T>& x, const std::vector<T>& keys, const std::vector<int32_t>& slots,
            int32_t strict = 0) {
  Node node;
  const auto extent = [](const auto& list) { return Dims{static_cast<int32_t>(list.size())}; };
  node.input<T>(extent(x), x).template input<T>(extent(keys), keys);
  node.template input<int32_t>(extent(slots), slots).template output<int32_t>(extent(x));
  return std::move(node.attributes(LookupAttributes{strict}));
}

template <class T>
class Lookup : public testing::Test {};
using KeyTypes = testing::Types<float, double, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Lookup, KeyTypes);

TYPED_TEST(Lookup, FindsKeysWhereverTheyAre) {
  std::vector<TypeParam> keys, x;
  std::vector<int32_t> expected;
  for (int i = 0; i < 1000; ++i) keys.push_back(static_cast<TypeParam>(7 * i - 3000));
  for (int i = 0; i < 8000; ++i) {
    x.push_back(static_cast<TypeParam>(i - 3500));
    const int place = i - 500;
    expected.push_back(place >= 0 && place % 7 == 0 && place < 7000 ? place / 7 : 1000);
  }
  const std::string name = kernel_name("intarsia:Lookup", {data_type_of<TypeParam>});
  for (const int64_t slots : {1000, 1001, 4099}) {  // one of them full
    for (const int threads : {1, 3}) {
      Node node = lookup<TypeParam>(x, keys, slots_of(keys, slots));
      ASSERT_TRUE(node.threads(threads).run(name).ok());
      EXPECT_EQ(node.template result<int32_t>(), expected);
    }
  }
}

TEST(LookupOfReals, ZerosAreEqualAndNaNsToo) {
  const float nan = std::nanf("1");
  const std::vector<float> keys = {nan, 0.0f, INFINITY};
  Node node = lookup<float>({-nan, -0.0f, 0.0f, -INFINITY, 1}, keys, slots_of(keys, 8));
  ASSERT_TRUE(node.run("intarsia:Lookup<float>").ok());
  EXPECT_EQ(node.result<int32_t>(), (std::vector<int32_t>{0, 1, 1, 3, 3}));
}

TEST(LookupOfStrings, ComparesBytes) {
  char characters[] = "onetwothreeones";
  StringPool pool = full_of(characters);
  const std::vector<StringRef> keys = {{0, 3}, {3, 3}, {6, 5}, {0, 0}};
  std::vector<int32_t> slots(8, -1);
  for (size_t i = 0; i < keys.size(); ++i) {
    visit_slots(key_hash(pool[keys[i]]), 8, [&](int64_t slot) {
      if (slots[static_cast<size_t>(slot)] >= 0) return false;
      slots[static_cast<size_t>(slot)] = static_cast<int32_t>(i);
      return true;
    });
  }
  Node node = lookup<StringRef>({{11, 3}, {11, 4}, {6, 5}, {4, 0}, {99, 1}}, keys, slots);
  ASSERT_TRUE(node.strings(pool).run("intarsia:Lookup<string>").ok());
  EXPECT_EQ(node.result<int32_t>(), (std::vector<int32_t>{0, 4, 2, 3, 3}));
}

TEST(LookupStrict, FailsOnWhatIsNoKey) {
  const std::vector<int64_t> keys = {4, 5};
  Node known = lookup<int64_t>({5, 4}, keys, slots_of(keys, 4), 1);
  EXPECT_TRUE(known.run("intarsia:Lookup<int64>").ok());
  Node unknown = lookup<int64_t>({5, 6}, keys, slots_of(keys, 4), 1);
  EXPECT_EQ(unknown.run("intarsia:Lookup<int64>").code(), Code::kInvalidValue);
  EXPECT_EQ(unknown.diagnostic().found, 1);
}

TEST(LookupHostile, EndsInTablesOfAnyNumbers) {
  const std::vector<int32_t> keys = {1, 2};
  for (const std::vector<int32_t>& slots :
       {std::vector<int32_t>{0, 0, 0, 0}, {2, 2, 2, 2}, {INT32_MIN, 5, -7, INT32_MAX}, {1}}) {
    Node node = lookup<int32_t>({1, 2, 3}, keys, slots);
    ASSERT_TRUE(node.run("intarsia:Lookup<int32>").ok());
    EXPECT_EQ(node.result<int32_t>()[2], 2);
  }
  EXPECT_EQ(lookup<int32_t>({1}, keys, {}).run("intarsia:Lookup<int32>").code(),
            Code::kWrongExtent);
}

struct Edge {
  int32_t from, token, to;
};

Node ngrams(const Dims& extents, const std::vector<int32_t>& x, const std::vector<Edge>& list,
            const std::vector<int32_t>& columns, NgramAttributes attributes) {
  std::vector<int32_t> edges(16 * kEdgeNumbers, -1);
  for (const Edge& edge : list) {
    visit_slots(edge_hash(edge.from, edge.token), 16, [&](int64_t slot) {
      int32_t* row = edges.data() + slot * kEdgeNumbers;
      if (row[0] >= 0) return false;
      row[0] = edge.from;
      row[1] = edge.token;
      row[2] = edge.to;
      return true;
    });
  }
  Dims result = {attributes.columns};
  if (extents.size() == 2) result.insert(result.begin(), extents[0]);
  Node node;
  node.input<int32_t>(extents, x).input<int32_t>({16, kEdgeNumbers}, edges);
  node.input<int32_t>({static_cast<int32_t>(columns.size())}, columns);
  return std::move(node.output<float>(result).attributes(attributes));
}

constexpr const char* kNgrams = "intarsia:NgramCounts";

// The pool (1), (2), (1, 2), (2, 2): columns 3, 0, 1, 2.
const std::vector<Edge> kPool = {{0, 1, 1}, {0, 2, 2}, {1, 2, 3}, {2, 2, 4}};
const std::vector<int32_t> kColumns = {-1, 3, 0, 1, 2};

TEST(NgramCounts, CountsInEachRow) {
  const std::vector<int32_t> x = {1, 2, 2, 2, /**/ 9, 1, 9, 2};
  for (const int threads : {1, 2}) {
    Node node = ngrams({2, 4}, x, kPool, kColumns,
                       {.columns = 5, .max_gram_length = 2, .max_skip_count = 1});
    ASSERT_TRUE(node.threads(threads).run(kNgrams).ok());
    EXPECT_EQ(node.result<float>(), (std::vector<float>{3, 2, 3, 1, 0, /**/ 1, 1, 0, 1, 0}));
  }
  Node pairs = ngrams({4}, {1, 2, 2, 2}, kPool, kColumns,
                      {.columns = 4, .min_gram_length = 2, .max_gram_length = 2});
  ASSERT_TRUE(pairs.run(kNgrams).ok());
  EXPECT_EQ(pairs.result<float>(), (std::vector<float>{0, 1, 2, 0}));
}

TEST(NgramCounts, Weighs) {
  const std::vector<float> weights = {0, 5, 0.5f, 2, 3};
  for (const int32_t once : {0, 1}) {
    Node node =
        ngrams({3}, {2, 2, 2}, kPool, kColumns, {.columns = 4, .max_gram_length = 2, .once = once});
    ASSERT_TRUE(node.input<float>({5}, weights).run(kNgrams).ok());
    EXPECT_EQ(node.result<float>(),
              (std::vector<float>{once != 0 ? 0.5f : 1.5f, 0, once != 0 ? 3.0f : 6.0f, 0}));
  }
}

TEST(NgramCounts, EndsInTablesOfAnyNumbers) {
  const std::vector<int32_t> x = {1, 1, 1, 1};
  // A node behind itself, nodes that do not exist, columns that do not.
  for (const std::vector<Edge>& pool :
       {std::vector<Edge>{{0, 1, 0}}, {{0, 1, INT32_MAX}}, {{0, 1, -5}}, {{0, 1, 2}, {2, 1, 1}}}) {
    Node node = ngrams({4}, x, pool, {-1, 1 << 30, -9},
                       {.columns = 1,
                        .min_gram_length = INT32_MIN,
                        .max_gram_length = INT32_MAX,
                        .max_skip_count = INT32_MAX});
    ASSERT_TRUE(node.run(kNgrams).ok());
    EXPECT_EQ(node.result<float>(), (std::vector<float>{0}));
  }
}

TEST(NgramCounts, RefusesOperandsThatDoNotFit) {
  const NgramAttributes attributes{.columns = 2};
  EXPECT_EQ(ngrams({1, 1, 1}, {1}, {}, {-1}, attributes).run(kNgrams).code(), Code::kWrongRank);
  Node weights = ngrams({1}, {1}, {}, {-1}, attributes);
  EXPECT_EQ(weights.input<float>({2}, {1, 1}).run(kNgrams).code(), Code::kWrongExtent);
  Node edges;
  edges.input<int32_t>({1}, {1}).input<int32_t>({0, 3}, {});
  edges.input<int32_t>({1}, {-1}).output<float>({2}).attributes(attributes);
  EXPECT_EQ(edges.run(kNgrams).code(), Code::kWrongExtent);
  Node short_of_attributes = ngrams({1}, {1}, {}, {-1}, attributes);
  EXPECT_EQ(short_of_attributes.attribute_bytes(4).run(kNgrams).code(), Code::kCorruptPlan);
}

/// An automaton of two classes, of which 'b' is the second.
Node automaton(const std::vector<StringRef>& x, const std::vector<uint16_t>& transitions,
               const std::vector<bool>& accepting, uint8_t second = 1) {
  std::vector<uint8_t> classes(256, 0);
  classes['b'] = second;
  const auto states = static_cast<int32_t>(accepting.size());
  Node node;
  node.input<StringRef>({static_cast<int32_t>(x.size())}, x).input<uint8_t>({256}, classes);
  node.input<uint16_t>({static_cast<int32_t>(transitions.size()) / 2, 2}, transitions);
  node.input<bool>({states}, accepting).output<bool>({static_cast<int32_t>(x.size())});
  return node;
}

TEST(RegexFullMatch, WalksThroughItsTable) {
  char characters[] = "ababb";
  StringPool pool = full_of(characters);
  const std::vector<StringRef> x = {{0, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 5}, {1, 1}};
  const char* kernel = "intarsia:RegexFullMatch<string>";
  Node node = automaton(x, {0, 0, 2, 0, 0, 1}, {false, true, false});  // (ab)*
  ASSERT_TRUE(node.strings(pool).run(kernel).ok());
  EXPECT_EQ(node.result<bool>(), (std::vector<bool>{true, false, true, true, false, false}));
  Node nothing = automaton(x, {0, 0}, {false});
  ASSERT_TRUE(nothing.strings(pool).run(kernel).ok());
  EXPECT_EQ(nothing.result<bool>(), std::vector<bool>(6, false));
  Node beyond = automaton(x, {9, 9, 65535, 65535}, {true, false}, 255);
  ASSERT_TRUE(beyond.strings(pool).run(kernel).ok());
  EXPECT_EQ(beyond.result<bool>(), std::vector<bool>(6, false));
  EXPECT_EQ(automaton(x, {0, 0, 0, 0}, {true}).run(kernel).code(), Code::kWrongExtent);
  EXPECT_EQ(automaton(x, {}, {}).run(kernel).code(), Code::kWrongExtent);
}

/// (a|b)*a: state 1 accepts. There are classes for a, for b and for others.
Node states(const std::vector<StringRef>& x, const std::vector<int32_t>& begins,
            const std::vector<int32_t>& next) {
  std::vector<uint8_t> classes(256, 2);
  classes['a'] = 0;
  classes['b'] = 1;
  const auto extent = [](const auto& list) { return Dims{static_cast<int32_t>(list.size())}; };
  Node node;
  node.input<StringRef>(extent(x), x).input<uint8_t>({256}, classes);
  node.input<int32_t>({static_cast<int32_t>(begins.size() / 3), 3}, begins);
  node.input<int32_t>(extent(next), next).input<bool>({2}, {false, true}).output<bool>(extent(x));
  return node;
}

TEST(RegexStates, KeepsSetsOfStates) {
  char characters[] = "abaabac";
  StringPool pool = full_of(characters);
  const std::vector<StringRef> x = {{0, 0}, {0, 1}, {0, 2}, {0, 6}, {0, 7}, {1, 2}};
  const char* kernel = "intarsia:RegexStates<string>";
  for (const int threads : {1, 3}) {
    Node node = states(x, {0, 2, 3, 3, 3, 3}, {0, 1, 0});
    ASSERT_TRUE(node.strings(pool).threads(threads).run(kernel).ok());
    EXPECT_EQ(node.result<bool>(), (std::vector<bool>{false, true, false, true, false, true}));
  }
  for (const std::vector<int32_t>& wild :
       {std::vector<int32_t>{-5, INT32_MAX, INT32_MIN, 7, 1 << 30, -1}, {2, 0, 2, 0, 2, 0}}) {
    Node node = states(x, wild, {2, -1, 64, INT32_MAX, INT32_MIN, 1, 0});
    EXPECT_TRUE(node.strings(pool).run(kernel).ok());
  }
  EXPECT_EQ(states(x, {0, 0, 0}, {}).run(kernel).code(), Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
