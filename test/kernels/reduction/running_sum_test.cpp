// SPDX-License-Identifier: Apache-2.0
//
// Running sums of large terms that cancel, against sums in double.
#include <limits>

#include "core/operators/reduction/reduction.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

/// Sums that keep little of large terms are as exact as in double, and infinities stay.
TEST(Cumulative, SumsThatCancel) {
  constexpr int32_t kLength = 1001, kLanes = 37;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::mt19937 engine(7);
  std::vector<float> x(size_t{kLength} * kLanes);
  for (size_t i = 0; i < x.size(); ++i) {
    const float sign = i / kLanes % 2 == 0 ? 1.0f : -1.0f;
    x[i] = sign * 1e8f + static_cast<float>(engine() % 1000) / 64;
  }
  x[500 * kLanes + 3] = kInfinity;
  x[500 * kLanes + 4] = kInfinity;
  x[600 * kLanes + 4] = -kInfinity;
  for (Isa isa : cpu::available_isas()) {
    for (const int32_t exclusive : {0, 1}) {
      Node node;
      node.input<float>({kLength, kLanes}, x)
          .input<int32_t>({}, {0})
          .output<float>({kLength, kLanes})
          .isa(isa);
      node.attributes(CumulativeAttributes{.exclusive = exclusive});
      ASSERT_TRUE(node.run("CumSum<float>").ok());
      const auto y = node.result<float>();
      for (int32_t lane = 0; lane < kLanes; ++lane) {
        double sum = 0;
        for (int32_t i = 0; i < kLength; ++i) {
          const auto at = static_cast<size_t>(i * kLanes + lane);
          const double before = sum;
          sum += x[at];
          const double expected = exclusive != 0 ? before : sum;
          if (std::isfinite(expected)) {
            ASSERT_NEAR(y[at], expected, std::abs(expected) * 0x1p-23) << i << ", " << lane;
          } else {
            ASSERT_EQ(std::isnan(y[at]), std::isnan(expected)) << i << ", " << lane;
            ASSERT_TRUE(std::isnan(y[at]) || y[at] == expected) << i << ", " << lane;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::test
