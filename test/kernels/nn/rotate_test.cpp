// SPDX-License-Identifier: Apache-2.0
//
// Rotate against its formula in double precision: angles that are broadcast along some axes, both
// kinds of pairs, elements behind the pairs, on every instruction set, in place and not; refused
// nodes.
#include "core/operators/nn/attention.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

constexpr int64_t kX[] = {2, 3, 5};

Numbers rotated(const Numbers& x, const Numbers& cosines, const Numbers& sines, const Dims& angles,
                int64_t size, bool interleaved) {
  Numbers y = x;
  const int64_t pairs = angles[3];
  for (int64_t row = 0; row < kX[0] * kX[1] * kX[2]; ++row) {
    const int64_t index[] = {row / kX[2] / kX[1], row / kX[2] % kX[1], row % kX[2]};
    int64_t place = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      place = place * angles[axis] + (angles[axis] == 1 ? 0 : index[axis]);
    }
    for (int64_t i = 0; i < pairs; ++i) {
      const auto first = static_cast<size_t>(row * size + (interleaved ? 2 * i : i));
      const auto second = first + static_cast<size_t>(interleaved ? 1 : pairs);
      const auto at = static_cast<size_t>(place * pairs + i);
      y[first] = cosines[at] * x[first] - sines[at] * x[second];
      y[second] = sines[at] * x[first] + cosines[at] * x[second];
    }
  }
  return y;
}

template <class T>
void expect_rotated(const Dims& angles, int32_t size, bool interleaved, double tolerance) {
  const Dims dims{2, 3, 5, size};
  std::vector<T> x, cosines, sines;
  const Numbers xs = random_numbers(count_of(dims), 1, x);
  const Numbers cs = random_numbers(count_of(angles), 2, cosines);
  const Numbers ss = random_numbers(count_of(angles), 3, sines);
  const Numbers expected = rotated(xs, cs, ss, angles, size, interleaved);
  for (const Isa isa : cpu::available_isas()) {
    for (const int threads : {1, 3}) {
      Node node;
      node.input<T>(dims, x);
      node.input<T>(angles, cosines);
      node.input<T>(angles, sines);
      node.output<T>(dims);
      node.attributes(RotateAttributes{interleaved ? 1 : 0}).isa(isa).threads(threads);
      ASSERT_TRUE(node.run(kernel_name("intarsia:Rotate", {data_type_of<T>})).ok())
          << node.diagnostic().what;
      expect_near<T>(node.result<T>(), expected, tolerance, tolerance);
    }
  }
}

TEST(Rotate, EqualsItsFormula) {
  for (const bool interleaved : {false, true}) {
    for (const int32_t pairs : {0, 1, 7, 19}) {
      for (const Dims& outer : {Dims{2, 3, 5}, Dims{2, 1, 5}, Dims{2, 3, 1}, Dims{1, 1, 1}}) {
        Dims angles = outer;
        angles.push_back(pairs);
        expect_rotated<float>(angles, 2 * pairs + (pairs == 7 ? 3 : 0), interleaved, 1e-6);
        expect_rotated<Float16>(angles, 2 * pairs, interleaved, 2e-3);
        expect_rotated<BFloat16>(angles, 2 * pairs, interleaved, 2e-2);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Rotate, RefusesContradictions) {
  const auto code = [](const Dims& x, const Dims& cosines, const Dims& sines) {
    Node node;
    for (const Dims& dims : {x, cosines, sines}) {
      node.input<float>(dims, std::vector<float>(static_cast<size_t>(count_of(dims)), 1.0f));
    }
    node.output<float>(x).attributes(RotateAttributes{});
    return node.check("intarsia:Rotate<float>").code();
  };
  EXPECT_EQ(code({1, 2, 3, 4}, {1, 1, 3, 2}, {1, 1, 3, 2}), Code::kOk);
  EXPECT_EQ(code({1, 2, 3, 4}, {1, 1, 3, 3}, {1, 1, 3, 3}), Code::kWrongExtent);
  EXPECT_EQ(code({1, 2, 3, 4}, {1, 1, 3, 2}, {1, 1, 3, 1}), Code::kWrongExtent);
  EXPECT_EQ(code({1, 2, 3, 4}, {1, 1, 2, 2}, {1, 1, 2, 2}), Code::kWrongExtent);
  EXPECT_EQ(code({2, 3, 4}, {1, 3, 2}, {1, 3, 2}), Code::kWrongRank);
}

}  // namespace
}  // namespace intarsia::test
