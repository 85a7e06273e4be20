// SPDX-License-Identifier: Apache-2.0
//
// Chains of nodes whose extents as expressions would become too long to follow: the converter goes
// on with their bounds, the run with their numbers.
#include <numeric>

#include "test/runtime/both_ways.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

constexpr int32_t kLongest = 40;

void list(OnnxBuilder& model, const std::string& name, int64_t value) {
  model.initializer(name, DataType::kInt64, {1}, &value, sizeof(value));
}

/// Runs the model for all n, x being 0, 1, ...; `after(x)` is what a node of the chain leaves of x.
template <class After>
void check(const OnnxBuilder& model, int nodes, const After& after) {
  converter::ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, kLongest};
  both(model, options, [&](SmallPlan& plan, Session& session) {
    for (int32_t n = 1; n <= kLongest; n += kSlowBuild ? 4 : 1) {
      ASSERT_TRUE(session.resize_input(0, {{n}}).ok());
      std::vector<float> expected(static_cast<size_t>(n));
      std::iota(expected.begin(), expected.end(), 0.F);
      for (int32_t start = -3; start <= 3; ++start) {
        write(session, 0, expected);  // a run may overwrite its inputs
        if (session.input_count() > 1) session.input<int64_t>(1).value()[0] = start;
        std::vector<float> rest = expected;
        for (int i = 0; i < nodes; ++i) rest = after(rest, start);
        ASSERT_TRUE(session.run().ok()) << n << ": " << plan.text(session.diagnostic());
        ASSERT_EQ(read(session, 0), rest) << n << " from " << start;
      }
    }
  });
}

/// x[start:], again and again.
TEST(LongExtents, SlicesFromWhereAnInputSays) {
  for (const int nodes : {1, 2, 8, 40}) {
    SCOPED_TRACE(nodes);
    OnnxBuilder model;
    symbol(model.input("x", {1}), 0, "n");
    model.input("start", {1}, DataType::kInt64);
    list(model, "end", INT64_MAX);
    std::string last = "x";
    for (int i = 0; i < nodes; ++i) {
      const std::string next = "x" + std::to_string(i);
      model.node("Slice", {last, "start", "end"}, {next});
      last = next;
    }
    model.output(last);
    check(model, nodes, [](const std::vector<float>& x, int64_t start) {
      const auto size = static_cast<int64_t>(x.size());
      const int64_t begin = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
      return std::vector<float>(x.begin() + begin, x.end());
    });
  }
}

/// x[:len(x) / 2 + 1], so that only n decides.
TEST(LongExtents, SlicesUpToWhatIsComputedFromExtents) {
  for (const int nodes : {3, 60}) {
    SCOPED_TRACE(nodes);
    OnnxBuilder model;
    symbol(model.input("x", {1}), 0, "n");
    list(model, "zero", 0);
    list(model, "one", 1);
    list(model, "two", 2);
    std::string last = "x";
    for (int i = 0; i < nodes; ++i) {
      const std::string at = std::to_string(i);
      model.node("Shape", {last}, {"s" + at});
      model.node("Div", {"s" + at, "two"}, {"h" + at});
      model.node("Add", {"h" + at, "one"}, {"e" + at});
      model.node("Slice", {last, "zero", "e" + at}, {"x" + at});
      last = "x" + at;
    }
    model.output(last);
    check(model, nodes, [](const std::vector<float>& x, int64_t) {
      const size_t end = std::min(x.size() / 2 + 1, x.size());
      return std::vector<float>(x.begin(), x.begin() + static_cast<ptrdiff_t>(end));
    });
  }
}

}  // namespace
}  // namespace intarsia::test
