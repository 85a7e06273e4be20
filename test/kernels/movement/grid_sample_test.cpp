// SPDX-License-Identifier: Apache-2.0
//
// GridSample of the nearest element, which copies elements of every width: against the kernel of
// floats, and rejected nodes. test/nodes/expansions_test.py has the other modes.
#include "core/operators/movement/grid_sample.h"

#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {
namespace {

TEST(GridSample, CopiesTheNearestElementOfAnyType) {
  std::mt19937 engine(1);
  const Dims x = {2, 3, 4, 5}, y = {2, 3, 6, 7};
  const auto places = random_values<float>(2 * 6 * 7 * 2, engine, -1.7, 1.7);
  const auto elements = random_numbers(DataType::kInt8, count_of(x), engine, -100, 100);
  for (int32_t padding : {0, 1, 2}) {
    for (int32_t corners : {0, 1}) {
      GridSampleAttributes a;
      a.mode = GridSampleAttributes::kNearest;
      a.padding_mode = padding;
      a.align_corners = corners;
      const auto sample = [&](DataType type, const std::string& kernel, int threads) {
        Node node;
        node.input(type, x, elements).input<float>({2, 6, 7, 2}, places);
        node.output(type, y).attributes(a).threads(threads);
        EXPECT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
        return node.numbers();
      };
      const auto expected = sample(DataType::kFloat, "GridSample<float, float>", 1);
      EXPECT_EQ(sample(DataType::kFloat, "GridSample.nearest<32 bits, float>", 3), expected);
      EXPECT_EQ(sample(DataType::kInt8, "GridSample.nearest<8 bits, float>", 1), expected);
      EXPECT_EQ(sample(DataType::kInt16, "GridSample.nearest<16 bits, float>", 1), expected);
      EXPECT_EQ(sample(DataType::kInt64, "GridSample.nearest<64 bits, float>", 2), expected);
    }
  }
}

TEST(GridSample, RefusesToWeighWhatIsNoFloat) {
  GridSampleAttributes a;
  Node node;
  node.input<int32_t>({1, 1, 2, 2}, {1, 2, 3, 4}).input<float>({1, 1, 1, 2}, {0, 0});
  node.output<int32_t>({1, 1, 1, 1}).attributes(a);
  EXPECT_EQ(node.check("GridSample.nearest<32 bits, float>").code(), Code::kUnsupported);
  Node floats;
  floats.input<float>({1, 1, 2, 2}, {1, 2, 3, 4}).input<float>({1, 1, 1, 2}, {0, 0});
  floats.output<float>({1, 1, 1, 1}).attributes(a);
  EXPECT_EQ(floats.check("GridSample.nearest<32 bits, float>").code(), Code::kInvalidValue);
  EXPECT_EQ(floats.check("GridSample<float, float>").code(), Code::kOk);
}

}  // namespace
}  // namespace intarsia::test
