// SPDX-License-Identifier: Apache-2.0
//
// Kernels where extents vary: they serve all that a node can have, and have enough workspace for
// them, not only for the largest.
#include <gtest/gtest.h>

#include <vector>

#include "test/converter/inferred_model.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// x is its own filter, as wide as the image: the fewer taps there are, the more channels a pass of
/// the kernel copies at a time.
TEST(NodeExtents, WorkspaceSufficesForFilterOfAnyWidth) {
  for (const int64_t most : {int64_t{5}, int64_t{90}}) {
    OnnxBuilder model(21);
    symbol(model.input("x", {1, 16, 7, 0}), 3, "n");
    model.output("y");
    OnnxBuilder::set(model.node("Conv", {"x", "x"}, {"y"}), "pads",
                     std::vector<int64_t>{1, 2, 7, 1});
    converter::ConvertOptions options;
    options.dims["n"] = converter::DimRange{1, most};
    SmallPlan plan(model, options);
    Session session = plan.open().value();
    for (int32_t n = 1; n <= most; ++n) {
      const int32_t extents[] = {1, 16, 7, n};
      ASSERT_TRUE(session.resize_input(0, extents).ok()) << n;
      write(session, 0, std::vector<float>(static_cast<size_t>(16 * 7 * n), 0.5f));
      ASSERT_TRUE(session.run().ok()) << n << ": " << plan.text(session.diagnostic());
      // Where the filter lies upon the image, all products are 1/4.
      EXPECT_EQ(read(session, 0)[6], static_cast<float>(16 * 7 * n) / 4) << n;
    }
  }
}

/// The same where the width is the number of columns that a node has kept.
TEST(NodeExtents, WorkspaceSufficesForFilterOfColumnsThatAreFound) {
  constexpr int32_t kMost = 5;
  OnnxBuilder model(21);
  model.input("x", {1, 16, 7, kMost});
  model.input("keep", {kMost}, DataType::kBool);
  model.output("y");
  OnnxBuilder::set(model.node("Compress", {"x", "keep"}, {"kept"}), "axis", int64_t{3});
  OnnxBuilder::set(model.node("Conv", {"kept", "kept"}, {"y"}), "pads",
                   std::vector<int64_t>{1, 2, 7, 1});
  SmallPlan plan(model, {});
  Session session = plan.open().value();
  for (int32_t n = 1; n <= kMost; ++n) {
    write(session, 0, std::vector<float>(16 * 7 * kMost, 0.5f));
    const auto keep = session.input<bool>(1).value();
    for (int32_t i = 0; i < kMost; ++i) keep[static_cast<size_t>(i)] = kMost - i <= n;
    ASSERT_TRUE(session.run().ok()) << n << ": " << plan.text(session.diagnostic());
    EXPECT_EQ(read(session, 0)[6], static_cast<float>(16 * 7 * n) / 4) << n;
  }
}

/// At the largest extents there is a kernel for windows of three columns.
TEST(NodeExtents, KernelServesWindowsOfAnyWidth) {
  constexpr int64_t kMost = 3;
  OnnxBuilder model(21);
  symbol(model.input("x", {1, 2, 2, 2, 0}), 4, "n");
  symbol(model.input("w", {2, 1, 2, 2, 0}), 4, "n");
  model.output("y");
  OnnxBuilder::set(model.node("Conv", {"x", "w"}, {"y"}), "group", int64_t{2});
  converter::ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, kMost};
  SmallPlan plan(model, options);
  Session session = plan.open().value();
  for (int32_t n = 1; n <= kMost; ++n) {
    const int32_t x[] = {1, 2, 2, 2, n}, w[] = {2, 1, 2, 2, n};
    ASSERT_TRUE(session.resize_input(0, x).ok() && session.resize_input(1, w).ok()) << n;
    const auto elements = static_cast<size_t>(2 * 2 * 2 * n);
    write(session, 0, std::vector<float>(elements, 2));
    write(session, 1, std::vector<float>(elements, 0.5f));
    ASSERT_TRUE(session.run().ok()) << n << ": " << plan.text(session.diagnostic());
    const auto sum = static_cast<float>(elements) / 2;
    EXPECT_EQ(read(session, 0), (std::vector<float>{sum, sum})) << n;
  }
}

}  // namespace
}  // namespace intarsia::test
