// SPDX-License-Identifier: Apache-2.0
//
// Resize: against sums over taps taken straight from the specification, one output element at a
// time, and rejected nodes.
#include "core/operators/movement/resize.h"
#include "test/kernels/movement/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using A = ResizeAttributes;

/// x_original of the specification for the coordinates tested here.
double original(const A& a, double j, double in, double out, double scale) {
  switch (a.coordinates) {
    case A::kAlignCorners:
      return out == 1 ? 0 : j * (in - 1) / (out - 1);
    case A::kAsymmetric:
      return j / scale;
    case A::kPytorchHalfPixel:
      return out == 1 ? 0 : (j + 0.5) / scale - 0.5;
    default:
      return (j + 0.5) / scale - 0.5;
  }
}

double weight(const A& a, double distance) {
  const double x = std::fabs(distance), c = -0.75;
  if (a.mode == A::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return (c + 2) * x * x * x - (c + 3) * x * x + 1;
  return x < 2 ? c * x * x * x - 5 * c * x * x + 8 * c * x - 4 * c : 0;
}

/// Interpolates along the axes from `axis` on around the output element `index`.
double interpolated(const A& a, const Dense<float>& x, const Dims& y, const Index& index, Index& at,
                    size_t axis) {
  if (axis == y.size()) return static_cast<double>(x.at(at));
  const double in = x.dims[axis], out = y[axis];
  const double centre = original(a, static_cast<double>(index[axis]), in, out, out / in);
  double sum = 0, total = 0;
  for (int64_t i = -4; i < x.dims[axis] + 4; ++i) {
    const double w = weight(a, static_cast<double>(i) - centre);
    const bool outside = i < 0 || i >= x.dims[axis];
    if (w == 0 || (outside && a.exclude_outside != 0)) continue;
    at[axis] = std::clamp<int64_t>(i, 0, x.dims[axis] - 1);
    sum += w * interpolated(a, x, y, index, at, axis + 1);
    total += w;
  }
  return sum / total;
}

Node resize_node(const Dense<float>& x, const Dims& y, const A& a) {
  std::vector<int64_t> sizes(y.begin(), y.end());
  Node node;
  node.input<float>(x.dims, x.values).absent().absent();
  node.input<int64_t>({static_cast<int32_t>(sizes.size())}, sizes).output<float>(y).attributes(a);
  return node;
}

TEST(Resize, LinearAndCubicOfRandomShapes) {
  Random random(1);
  for (int round = 0; round < part_of(64); ++round) {
    A a;
    a.mode = round % 2 == 0 ? A::kLinear : A::kCubic;
    const std::vector<int32_t> coordinates = {A::kHalfPixel, A::kPytorchHalfPixel, A::kAlignCorners,
                                              A::kAsymmetric};
    a.coordinates = coordinates[static_cast<size_t>(round / 2 % 4)];
    a.exclude_outside = round / 8 % 2;
    Dims x_dims, y_dims;
    for (int64_t rank = random.number(1, 4); rank > 0; --rank) {
      x_dims.push_back(static_cast<int32_t>(random.number(1, 5)));
      y_dims.push_back(random.chance(3) ? x_dims.back()
                                        : static_cast<int32_t>(random.number(1, 7)));
    }
    const Dense<float> x{x_dims, random_values<float>(count_of(x_dims), random.engine, -1, 1)};
    std::vector<double> expected;
    for_each_index(y_dims, [&](const Index& index) {
      Index at(index.size());
      expected.push_back(interpolated(a, x, y_dims, index, at, 0));
    });
    Node node = resize_node(x, y_dims, a);
    node.threads(1 + round % 3);
    ASSERT_TRUE(node.run("Resize<float>").ok()) << node.diagnostic().what;
    expect_near(node.result<float>(), expected, 1e-5, 1e-5);
  }
}

TEST(Resize, NearestTakesTheRoundingAsked) {
  // Coordinates 0, 0.5, 1, ... of an axis that doubles.
  const std::vector<std::vector<float>> expected = {
      {1, 1, 2, 2, 3, 3}, {1, 2, 2, 3, 3, 3}, {1, 1, 2, 2, 3, 3}, {1, 2, 2, 3, 3, 3}};
  for (int32_t rounding = 0; rounding < 4; ++rounding) {
    A a;
    a.coordinates = A::kAsymmetric;
    a.nearest_mode = rounding;
    const Dense<float> x{{1, 3}, {1, 2, 3}};
    Node moves = resize_node(x, {2, 6}, a);
    ASSERT_TRUE(moves.run("Resize.nearest<32 bits>").ok());
    std::vector<float> both = expected[static_cast<size_t>(rounding)];
    both.insert(both.end(), both.begin(), both.begin() + 6);
    EXPECT_EQ(moves.result<float>(), both);
    Node computes = resize_node(x, {2, 6}, a);
    ASSERT_TRUE(computes.run("Resize<float>").ok());
    EXPECT_EQ(computes.result<float>(), both);
  }
}

TEST(Resize, IntegersAreRoundedAndSaturate) {
  A a;
  a.mode = A::kCubic;
  Node node;
  node.input<uint8_t>({4}, {0, 255, 255, 0}).absent().input<float>({1}, {2.0f});
  node.output<uint8_t>({8}).attributes(a);
  ASSERT_TRUE(node.run("Resize<uint8>").ok());
  EXPECT_EQ(node.result<uint8_t>()[4], 255);
  EXPECT_EQ(node.result<uint8_t>()[0], 0);
}

TEST(Resize, AntialiasingAveragesWhatIsSkipped) {
  A a;
  a.mode = A::kLinear;
  a.antialias = 1;
  Node node = resize_node({{4}, {1, 2, 3, 4}}, {2}, a);
  ASSERT_TRUE(node.run("Resize<float>").ok());
  // Weights 1, 3, 3, 1 over 8, the end repeated.
  expect_near(node.result<float>(), {(1 + 3 + 6 + 3) / 8.0, (2 + 9 + 12 + 4) / 8.0}, 1e-6, 0);
}

TEST(Resize, CropTakesTheExtrapolationValueOutside) {
  A a;
  a.mode = A::kLinear;
  a.coordinates = A::kCropAndResize;
  a.extrapolation_value = 9.0f;
  Node node;
  node.input<float>({3}, {1, 2, 3}).input<float>({2}, {0.5f, 1.5f}).absent();
  node.input<int64_t>({1}, {3}).output<float>({3}).attributes(a);
  ASSERT_TRUE(node.run("Resize<float>").ok());
  EXPECT_EQ(node.result<float>(), (std::vector<float>{2, 3, 9}));
}

TEST(Resize, KeepsTheAspectRatioAlongListedAxes) {
  A a;
  a.policy = A::kNotLarger;
  a.axes.push(-1);
  a.axes.push(0);
  Node node;
  node.input<float>({2, 1, 4}, std::vector<float>(8, 1.0f)).absent().absent();
  node.input<int64_t>({2}, {8, 3}).output<float>({3, 1, 6}).attributes(a);
  ASSERT_TRUE(node.run("Resize.nearest<32 bits>").ok()) << node.diagnostic().what;
}

TEST(Resize, ImpossibleScalesAndSizesAreRejected) {
  for (const float scale : {0.0f, -1.0f, NAN, INFINITY, 1e20f}) {
    Node node;
    node.input<float>({3}, {1, 2, 3}).absent().input<float>({1}, {scale});
    node.output<float>({6}).attributes(A{});
    EXPECT_FALSE(node.run("Resize.nearest<32 bits>").ok()) << scale;
  }
  A linear;
  linear.mode = A::kLinear;
  Node from_nothing = resize_node({{0}, {}}, {4}, linear);
  EXPECT_EQ(from_nothing.run("Resize<float>").code(), Code::kWrongExtent);
  Node wrong_mode = resize_node({{1}, {1}}, {4}, linear);
  EXPECT_EQ(wrong_mode.check("Resize.nearest<32 bits>").code(), Code::kUnsupported);
}

}  // namespace
}  // namespace intarsia::test
