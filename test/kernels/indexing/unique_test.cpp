// SPDX-License-Identifier: Apache-2.0
//
// Unique of lists long enough to be sorted by their bytes, of every type of numbers, against a
// search element by element: extremes, infinities, both zeros and NaN among them.
#include <limits>

#include "core/operators/indexing/selection.h"
#include "kernels_cpu/indexing/element_order.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/movement/naive.h"

namespace intarsia::test {
namespace {

using cpu::Random;
using Longs = std::vector<int64_t>;

template <class T>
class UniqueOf : public testing::Test {
 protected:
  using Value = typename cpu::Element<T>::Value;
  static Value value(T stored) { return cpu::Element<T>::load(stored); }

  static std::vector<Value> extremes() {
    using Limits = std::numeric_limits<Value>;
    if constexpr (std::is_integral_v<Value>) {
      return {Limits::lowest(), Limits::max(), 0, 1};
    } else {
      const Value infinity = Limits::infinity(), nan = Limits::quiet_NaN();
      return {Value(0), -Value(0), infinity, -infinity, nan, -nan};
    }
  }
  static T draw(Random& random, int64_t different) {
    const std::vector<Value> special = extremes();
    if (random.between(0, 9) == 0) {
      const auto last = static_cast<int64_t>(special.size()) - 1;
      return cpu::Element<T>::store(special[static_cast<size_t>(random.between(0, last))]);
    }
    const int64_t least = std::is_signed_v<Value> ? -different / 2 : 0;
    return cpu::Element<T>::store(static_cast<Value>(random.between(least, least + different)));
  }

  static void check(int32_t count, int64_t different, bool sorted) {
    Random random(static_cast<uint32_t>(count + different));
    std::vector<T> x(static_cast<size_t>(count));
    for (T& element : x) element = draw(random, different);

    // The place of each element's like in the list of different ones, which begins in their order.
    std::vector<int64_t> first, inverse, counts;
    const auto alike = [&](int64_t a, int64_t b) {
      const Value u = value(x[static_cast<size_t>(a)]), v = value(x[static_cast<size_t>(b)]);
      return !cpu::less_nan_last(u, v) && !cpu::less_nan_last(v, u);
    };
    for (int64_t i = 0; i < count; ++i) {
      const auto at = std::ranges::find_if(first, [&](int64_t other) { return alike(other, i); });
      inverse.push_back(at - first.begin());
      if (at == first.end()) first.push_back(i);
    }
    if (sorted) {
      const std::vector<int64_t> before = first;
      std::ranges::sort(first, [&](int64_t a, int64_t b) {
        return cpu::less_nan_last(value(x[static_cast<size_t>(a)]),
                                  value(x[static_cast<size_t>(b)]));
      });
      for (int64_t& at : inverse) {
        at = std::ranges::find(first, before[static_cast<size_t>(at)]) - first.begin();
      }
    }
    counts.resize(first.size());
    for (const int64_t at : inverse) ++counts[static_cast<size_t>(at)];
    std::vector<T> expected;
    for (const int64_t i : first) expected.push_back(x[static_cast<size_t>(i)]);

    Node node;
    node.input<T>({count}, x).template output<T>({count});
    for (int i = 0; i < 3; ++i) node.output<int64_t>({count});
    node.attributes(UniqueAttributes{kNoAxis, sorted ? 1 : 0}).threads(2);
    ASSERT_TRUE(node.run(kernel_name("Unique", {data_type_of<T>})).ok()) << node.diagnostic().what;
    EXPECT_EQ(node.result<int64_t>(1), first);
    EXPECT_EQ(node.result<int64_t>(2), inverse);
    EXPECT_EQ(node.result<int64_t>(3), counts);
    const std::vector<T> found = node.result<T>();
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), sizeof(T) * found.size()), 0);
  }
};

using Types = testing::Types<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t,
                             uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(UniqueOf, Types);

TYPED_TEST(UniqueOf, LongListsIsWhatASearchFinds) {
  for (const int32_t count : {1, 127, 128, 300, 1000}) {
    for (const int64_t different : {3, 100, 70'000}) {
      for (const bool sorted : {true, false}) {
        SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(different));
        this->check(count, different, sorted);
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::test
