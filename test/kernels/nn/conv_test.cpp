// SPDX-License-Identifier: Apache-2.0
//
// Reference kernels of Conv and ConvTranspose: against naive loops in double, channels-last against
// channels-first, fused against unfused, and rejected nodes.
#include <limits>

#include "core/operators/nn/conv.h"
#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();

struct ConvCase {
  Dims x, w;
  int group;
  NaiveWindow window;
  Dims after;
};

const std::vector<ConvCase>& conv_cases() {
  static const std::vector<ConvCase> kCases = {
      {{2, 3, 7, 6}, {4, 3, 3, 2}, 1, {{3, 2}, {2, 1}, {1, 2}, {1, 0}}, {0, 2}},
      {{1, 4, 5, 5}, {6, 2, 1, 1}, 2, {{1, 1}, {3, 2}, {1, 1}, {0, 0}}, {0, 0}},
      {{1, 3, 9, 150}, {3, 1, 3, 3}, 3, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}},
      {{3, 2, 11}, {5, 2, 4}, 1, {{4}, {3}, {2}, {5}}, {1}},
      {{1, 2, 4, 3, 5},
       {2, 2, 2, 3, 2},
       1,
       {{2, 3, 2}, {1, 2, 1}, {2, 1, 1}, {1, 1, 0}},
       {0, 1, 1}},
      {{1, 1, 2, 2, 2, 2, 2, 2},
       {1, 1, 1, 2, 1, 2, 1, 1},
       1,
       {{1, 2, 1, 2, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 1, 0, 0}},
       {0, 0, 0, 0, 0, 0}},
      {{0, 3, 4, 4}, {2, 3, 3, 3}, 1, {{3, 3}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}},
  };
  return kCases;
}

template <class T>
void expect_conv(const ConvCase& c, bool last, int threads) {
  std::mt19937 engine(3);
  const Dims y_dims = joined({c.x[0], c.w[0]}, c.window.output(spatial_of(c.x), c.after));
  const auto x = random_values<T>(count_of(c.x), engine, -1, 1);
  const auto w = random_values<T>(count_of(c.w), engine, -1, 1);
  const auto bias = random_values<T>(c.w[0], engine, -1, 1);
  const auto residual = random_values<T>(count_of(y_dims), engine, -1, 1);
  Numbers expected = naive_conv(c.x, numbers_of(x), c.w, numbers_of(w), numbers_of(bias), c.group,
                                c.window, y_dims);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += as_double<T>(residual[i]);
  ConvAttributes attributes;
  attributes.window = c.window.attributes(c.after);
  attributes.group = c.group;
  attributes.channels_last = last ? 1 : 0;
  Node node;
  if (last) {
    node.input<T>(channels_last(c.x), channels_last(c.x, x)).template input<T>(c.w, w);
    node.input<T>({c.w[0]}, bias);
    node.input<T>(channels_last(y_dims), channels_last(y_dims, residual));
    node.output<T>(channels_last(y_dims));
    expected = channels_last(y_dims, expected);
  } else {
    node.input<T>(c.x, x).template input<T>(c.w, w).template input<T>({c.w[0]}, bias);
    node.input<T>(y_dims, residual).template output<T>(y_dims);
  }
  node.attributes(attributes).threads(threads).in_place(3);
  ASSERT_TRUE(node.run(kernel_name("Conv", {data_type_of<T>})).ok()) << node.diagnostic().what;
  expect_near<T>(node.result<T>(), expected, tolerance<T>(), 16 * tolerance<T>());
}

TEST(Conv, EqualsNaiveLoops) {
  for (size_t i = 0; i < conv_cases().size(); ++i) {
    for (bool last : {false, true}) {
      SCOPED_TRACE("case " + std::to_string(i) + (last ? ", channels last" : ""));
      expect_conv<float>(conv_cases()[i], last, 1);
      expect_conv<float>(conv_cases()[i], last, 3);
      expect_conv<double>(conv_cases()[i], last, 2);
      expect_conv<Float16>(conv_cases()[i], last, 1);
      expect_conv<BFloat16>(conv_cases()[i], last, 1);
    }
  }
}

/// A float Conv of x {1, 1, width} with ones as weights.
std::vector<float> convolve_row(const std::vector<float>& x, int32_t kernel, ConvAttributes a,
                                int32_t out) {
  Node node;
  node.input<float>({1, 1, static_cast<int32_t>(x.size())}, x);
  node.input<float>({1, 1, kernel}, std::vector<float>(static_cast<size_t>(kernel), 1.0f));
  node.output<float>({1, 1, out}).attributes(a);
  const Status status = node.run("Conv<float>");
  EXPECT_TRUE(status.ok()) << node.diagnostic().what << " " << node.diagnostic().found;
  return node.result<float>();
}

TEST(Conv, AutomaticPaddingPutsTheOddElementWhereTheModeSays) {
  ConvAttributes a;
  a.window.auto_pad = static_cast<int32_t>(AutoPad::kSameUpper);
  EXPECT_EQ(convolve_row({1, 2, 3}, 2, a, 3), (std::vector<float>{3, 5, 3}));
  a.window.auto_pad = static_cast<int32_t>(AutoPad::kSameLower);
  EXPECT_EQ(convolve_row({1, 2, 3}, 2, a, 3), (std::vector<float>{1, 3, 5}));
  a.window.auto_pad = static_cast<int32_t>(AutoPad::kValid);
  EXPECT_EQ(convolve_row({1, 2, 3}, 2, a, 2), (std::vector<float>{3, 5}));
  a.window.auto_pad = static_cast<int32_t>(AutoPad::kSameUpper);
  a.window.strides.push(4);  // the stride is larger than the kernel: no padding, not a negative one
  EXPECT_EQ(convolve_row({1, 2, 3, 4, 5}, 1, a, 2), (std::vector<float>{1, 5}));
}

TEST(Conv, ActivationFollowsBiasAndResidual) {
  ConvAttributes a;
  a.activation = static_cast<int32_t>(Activation::kClip);
  a.activation_alpha = -1;
  a.activation_beta = 5;
  Node node;
  node.input<float>({1, 1, 3}, {-4, 1, 6}).input<float>({1, 1, 1}, {1.0f});
  node.input<float>({1}, {1.0f}).input<float>({1, 1, 3}, {1, 2, -1}).output<float>({1, 1, 3});
  ASSERT_TRUE(node.attributes(a).run("Conv<float>").ok());
  EXPECT_EQ(node.result<float>(), (std::vector<float>{-1, 4, 5}));
}

/// Weights whose kernel is empty along one axis have no elements to read.
template <class A>
void expect_empty_kernel_refused(std::string_view kernel) {
  Node node;
  node.input<float>({1, 2, 4, 4}, std::vector<float>(32, 1.0f));
  node.input<float>({2, 2, 0, 3}, {}).input<float>({2}, {5, 7});
  const bool transposed = std::is_same_v<A, ConvTransposeAttributes>;
  node.output<float>(transposed ? Dims{1, 2, 3, 6} : Dims{1, 2, 5, 2}).attributes(A());
  EXPECT_EQ(node.check(kernel).code(), Code::kWrongExtent);
}

TEST(Conv, AnEmptyKernelIsRefused) {
  expect_empty_kernel_refused<ConvAttributes>("Conv<float>");
}

Status check_conv(const Dims& x, const Dims& w, const Dims& y, const ConvAttributes& a) {
  Node node;
  node.input<float>(x, std::vector<float>(static_cast<size_t>(count_of(x))));
  node.input<float>(w, std::vector<float>(static_cast<size_t>(count_of(w))));
  return node.output<float>(y).attributes(a).check("Conv<float>");
}

TEST(Conv, RefusesContradictions) {
  const ConvAttributes plain;
  EXPECT_TRUE(check_conv({1, 2, 5}, {3, 2, 3}, {1, 3, 3}, plain).ok());
  EXPECT_EQ(check_conv({1, 3, 5}, {3, 2, 3}, {1, 3, 3}, plain).code(), Code::kWrongExtent);
  EXPECT_EQ(check_conv({1, 2, 5}, {3, 2, 3}, {1, 3, 4}, plain).code(), Code::kWrongExtent);
  EXPECT_EQ(check_conv({1, 2, 5}, {3, 2, 3, 1}, {1, 3, 3}, plain).code(), Code::kWrongRank);
  EXPECT_EQ(check_conv({2, 5}, {3, 2}, {2, 3}, plain).code(), Code::kWrongRank);
  EXPECT_EQ(check_conv({1, 2, 2}, {3, 2, 3}, {1, 3, 0}, plain).code(), Code::kWrongExtent);
  ConvAttributes a = plain;
  a.group = 2;
  EXPECT_EQ(check_conv({1, 2, 5}, {3, 1, 3}, {1, 3, 3}, a).code(), Code::kWrongExtent);
  a.group = 0;
  EXPECT_EQ(check_conv({1, 2, 5}, {3, 2, 3}, {1, 3, 3}, a).code(), Code::kInvalidValue);
  a = plain;
  a.activation = 99;
  EXPECT_EQ(check_conv({1, 2, 5}, {3, 2, 3}, {1, 3, 3}, a).code(), Code::kInvalidValue);
}

TEST(Conv, RefusesHostileAttributes) {
  const auto refuses = [](void (*spoil)(WindowAttributes&)) {
    ConvAttributes a;
    spoil(a.window);
    return !check_conv({1, 2, 5, 5}, {3, 2, 3, 3}, {1, 3, 3, 3}, a).ok();
  };
  using W = WindowAttributes;
  EXPECT_FALSE(refuses([](W&) {}));
  EXPECT_TRUE(refuses([](W& w) { w.auto_pad = 4; }));
  EXPECT_TRUE(refuses([](W& w) { w.strides = {2, {0, 1}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.strides = {2, {-1, 1}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.strides = {1, {1}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.strides.count = kHuge; }));
  EXPECT_TRUE(refuses([](W& w) { w.strides.count = -2; }));
  EXPECT_TRUE(refuses([](W& w) { w.dilations = {2, {1, -1}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.dilations = {2, {kHuge, kHuge}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.pads = {4, {0, 0, 0, -1}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.pads = {4, {kHuge, kHuge, kHuge, kHuge}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.pads.count = 3; }));
  EXPECT_TRUE(refuses([](W& w) { w.kernel_shape = {2, {3, 4}}; }));
  EXPECT_TRUE(refuses([](W& w) { w.kernel_shape = {2, {kHuge, kHuge}}; }));

  Node node;
  node.input<float>({1, 1, 1}, {1}).input<float>({1, 1, 1}, {1}).output<float>({1, 1, 1});
  node.attributes(ConvAttributes{}).attribute_bytes(8);
  EXPECT_EQ(node.check("Conv<float>").code(), Code::kCorruptPlan);
  Node typed;
  typed.input<float>({1, 1, 1}, {1}).input<double>({1, 1, 1}, {1}).output<float>({1, 1, 1});
  EXPECT_EQ(typed.attributes(ConvAttributes{}).check("Conv<float>").code(), Code::kWrongType);
  Node missing;
  missing.input<float>({1, 1, 1}, {1}).output<float>({1, 1, 1});
  EXPECT_EQ(missing.attributes(ConvAttributes{}).check("Conv<float>").code(), Code::kCorruptPlan);
}

/// Scatters x through the window, then cuts the padding off.
template <class T>
void expect_conv_transpose(bool last) {
  const Dims x_dims = {2, 4, 3, 5}, w_dims = {4, 3, 3, 2};
  const NaiveWindow window{{3, 2}, {2, 3}, {1, 2}, {1, 0}};
  const int32_t group = 2;
  const Dims y_dims = {2, 6, 2 * 2 + 1 + 3 - 1,
                       3 * 4 + 3};  // output_padding {1, 0}, pads {1,0,0,0}
  std::mt19937 engine(5);
  const auto x = random_values<T>(count_of(x_dims), engine, -1, 1);
  const auto w = random_values<T>(count_of(w_dims), engine, -1, 1);
  const auto bias = random_values<T>(6, engine, -1, 1);
  Numbers expected(static_cast<size_t>(count_of(y_dims)));
  for_each_index(y_dims, [&](const Dims& i) {
    expected[static_cast<size_t>(place(y_dims, i))] = as_double<T>(bias[static_cast<size_t>(i[1])]);
  });
  for_each_index(x_dims, [&](const Dims& i) {
    window.taps(
        {i[2], i[3]}, {y_dims[2], y_dims[3]}, [&](const Dims& tap, const Dims& at, bool inside) {
          for (int32_t m = 0; inside && m < w_dims[1]; ++m) {
            const Dims to = {i[0], i[1] / (x_dims[1] / group) * w_dims[1] + m, at[0], at[1]};
            expected[static_cast<size_t>(place(y_dims, to))] +=
                as_double<T>(x[static_cast<size_t>(place(x_dims, i))]) *
                as_double<T>(w[static_cast<size_t>(place(w_dims, {i[1], m, tap[0], tap[1]}))]);
          }
        });
  });
  ConvTransposeAttributes a;
  a.window = window.attributes({0, 0});
  a.output_padding = {2, {1, 0}};
  a.group = group;
  a.channels_last = last ? 1 : 0;
  Node node;
  node.input<T>(last ? channels_last(x_dims) : x_dims, last ? channels_last(x_dims, x) : x);
  node.input<T>(w_dims, w).template input<T>({6}, bias);
  node.output<T>(last ? channels_last(y_dims) : y_dims).attributes(a).threads(last ? 3 : 1);
  ASSERT_TRUE(node.run(kernel_name("ConvTranspose", {data_type_of<T>})).ok())
      << node.diagnostic().what;
  if (last) expected = channels_last(y_dims, expected);
  expect_near<T>(node.result<T>(), expected, tolerance<T>(), 8 * tolerance<T>());
}

TEST(ConvTranspose, EqualsScatteredWindows) {
  for (bool last : {false, true}) {
    expect_conv_transpose<float>(last);
    expect_conv_transpose<double>(last);
    expect_conv_transpose<Float16>(last);
  }
}

TEST(ConvTranspose, AnEmptyKernelIsRefused) {
  expect_empty_kernel_refused<ConvTransposeAttributes>("ConvTranspose<float>");
}

TEST(ConvTranspose, DerivesPaddingFromTheOutputShape) {
  ConvTransposeAttributes a;
  a.window.strides.push(2);
  a.output_shape.push(4);  // of 5: one element is cut off, in front
  const auto run = [&a] {
    Node node;
    node.input<float>({1, 1, 2}, {1, 10}).input<float>({1, 1, 3}, {1, 2, 3});
    node.output<float>({1, 1, 4}).attributes(a);
    EXPECT_TRUE(node.run("ConvTranspose<float>").ok());
    return node.result<float>();
  };
  EXPECT_EQ(run(), (std::vector<float>{2, 13, 20, 30}));
  a.window.auto_pad = static_cast<int32_t>(AutoPad::kSameUpper);
  EXPECT_EQ(run(), (std::vector<float>{1, 2, 13, 20}));
  a.output_shape = {};  // SAME: input extent times stride
  EXPECT_EQ(run(), (std::vector<float>{1, 2, 13, 20}));
  a.output_padding.push(-1);
  Node node;
  node.input<float>({1, 1, 2}, {1, 10}).input<float>({1, 1, 3}, {1, 2, 3});
  node.output<float>({1, 1, 4}).attributes(a);
  EXPECT_EQ(node.check("ConvTranspose<float>").code(), Code::kInvalidValue);
}

}  // namespace
}  // namespace intarsia::test
