// SPDX-License-Identifier: Apache-2.0
//
// Both kernels of DeformConv: against the specification's formula in double, offsets that are no
// numbers, and rejected nodes.
#include "core/operators/nn/deform_conv.h"

#include <limits>

#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

struct DeformCase {
  Dims x, w;
  int32_t group, offset_group;
  NaiveWindow window;
  Dims after;
  bool bias, mask;

  Dims y() const { return joined({x[0], w[0]}, window.output(spatial_of(x), after)); }
  Dims planes(int32_t each) const {
    Dims dims = y();
    dims[1] = each * offset_group * w[2] * w[3];
    return dims;
  }
  DeformConvAttributes attributes() const {
    DeformConvAttributes a;
    a.window = window.attributes(after);
    a.group = group;
    a.offset_group = offset_group;
    return a;
  }
};

const std::vector<DeformCase>& cases() {
  static const std::vector<DeformCase> kCases = {
      {{1, 1, 3, 3}, {1, 1, 2, 2}, 1, 1, {{2, 2}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}, false, false},
      {{2, 4, 7, 6}, {6, 2, 3, 2}, 2, 1, {{3, 2}, {2, 1}, {1, 2}, {1, 0}}, {0, 2}, true, false},
      {{1, 6, 5, 70}, {4, 6, 3, 3}, 1, 3, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}, true, true},
      // Groups of offsets that are larger, smaller and across those of the convolution.
      {{2, 12, 5, 8}, {4, 3, 1, 2}, 4, 2, {{1, 2}, {1, 2}, {1, 1}, {0, 1}}, {0, 1}, false, true},
      {{1, 12, 5, 8}, {6, 6, 3, 3}, 2, 3, {{3, 3}, {1, 1}, {2, 1}, {2, 1}}, {2, 1}, true, true},
      {{1, 20, 6, 6}, {33, 20, 3, 3}, 1, 4, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}, true, true},
      {{0, 2, 4, 4}, {2, 2, 3, 3}, 1, 1, {{3, 3}, {1, 1}, {1, 1}, {0, 0}}, {0, 0}, true, true},
      {{1, 0, 4, 4}, {2, 0, 3, 3}, 1, 1, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, {1, 1}, true, true},
  };
  return kCases;
}

double bilinear(const Numbers& x, const Dims& dims, int32_t image, int32_t channel, double row,
                double column) {
  double sum = 0;
  const double top = std::floor(row), left = std::floor(column);
  for (int k = 0; k < 4; ++k) {
    const double at_y = top + k / 2, at_x = left + k % 2;
    if (at_y < 0 || at_y >= dims[2] || at_x < 0 || at_x >= dims[3]) continue;
    const double weight = (1 - std::fabs(row - at_y)) * (1 - std::fabs(column - at_x));
    sum += weight * x[static_cast<size_t>(place(
                        dims, {image, channel, static_cast<int>(at_y), static_cast<int>(at_x)}))];
  }
  return sum;
}

/// Elements [image][channel][tap][row][column], each sampled at its place.
Numbers naive_samples(const DeformCase& c, const Dims& dims, const Numbers& x,
                      const Numbers& offset, const Numbers& mask) {
  Numbers samples;
  for_each_index(dims, [&](const Dims& at) {
    const int32_t part = at[1] / (c.x[1] / c.offset_group), plane = part * c.w[2] * c.w[3] + at[2];
    const int32_t tap[] = {at[2] / c.w[3], at[2] % c.w[3]};
    double position[2];
    for (size_t i = 0; i < 2; ++i) {
      const Dims from = {at[0], 2 * plane + static_cast<int32_t>(i), at[3], at[4]};
      position[i] = at[3 + i] * c.window.stride[i] - c.window.before[i] +
                    tap[i] * c.window.dilation[i] +
                    offset[static_cast<size_t>(place(c.planes(2), from))];
    }
    double value = bilinear(x, c.x, at[0], at[1], position[0], position[1]);
    if (!mask.empty()) {
      value *= mask[static_cast<size_t>(place(c.planes(1), {at[0], plane, at[3], at[4]}))];
    }
    samples.push_back(value);
  });
  return samples;
}

Numbers naive_deform(const DeformCase& c, const Numbers& x, const Numbers& w, const Numbers& offset,
                     const Numbers& bias, const Numbers& mask) {
  const Dims y_dims = c.y();
  const int32_t taps = c.w[2] * c.w[3];
  const Dims dims = {c.x[0], c.x[1], taps, y_dims[2], y_dims[3]};
  const Numbers samples = naive_samples(c, dims, x, offset, mask);
  Numbers y;
  for_each_index(y_dims, [&](const Dims& index) {
    double sum = bias.empty() ? 0 : bias[static_cast<size_t>(index[1])];
    for (int32_t term = 0; term < c.w[1] * taps; ++term) {
      const int32_t channel = index[1] / (c.w[0] / c.group) * c.w[1] + term / taps;
      const Dims from = {index[0], channel, term % taps, index[2], index[3]};
      sum += samples[static_cast<size_t>(place(dims, from))] *
             w[static_cast<size_t>(index[1] * c.w[1] * taps + term)];
    }
    y.push_back(sum);
  });
  return y;
}

template <class T>
void expect_deformed(const DeformCase& c, std::string_view variant, int threads, Isa isa) {
  std::mt19937 engine(7);
  const Dims y_dims = c.y();
  const auto x = random_values<T>(count_of(c.x), engine, -1, 1);
  const auto w = random_values<T>(count_of(c.w), engine, -1, 1);
  const auto offset = random_values<T>(count_of(c.planes(2)), engine, -3, 3);
  const auto bias = random_values<T>(c.bias ? c.w[0] : 0, engine, -1, 1);
  const auto mask = random_values<T>(c.mask ? count_of(c.planes(1)) : 0, engine, 0, 1);
  Node node;
  node.input<T>(c.x, x).template input<T>(c.w, w).template input<T>(c.planes(2), offset);
  if (c.bias) {
    node.input<T>({c.w[0]}, bias);
  } else {
    node.absent();
  }
  if (c.mask) node.input<T>(c.planes(1), mask);
  node.output<T>(y_dims).attributes(c.attributes()).threads(threads).isa(isa);
  if (variant == ".packed") node.constant(1);
  ASSERT_TRUE(node.run(kernel_name("DeformConv" + std::string(variant), {data_type_of<T>})).ok())
      << node.diagnostic().what << " " << node.diagnostic().expected << " "
      << node.diagnostic().found;
  const double terms = static_cast<double>(c.w[1] * c.w[2] * c.w[3]);
  // Places are rounded, too: of 16-bit offsets they are not.
  const double bound = terms * std::max(8 * epsilon_of<T>(), 0x1p-40);
  expect_near<T>(node.result<T>(),
                 naive_deform(c, numbers_of(x), numbers_of(w), numbers_of(offset), numbers_of(bias),
                              numbers_of(mask)),
                 tolerance<T>(), bound);
}

TEST(DeformConv, EqualsItsFormula) {
  for (size_t i = 0; i < cases().size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    expect_deformed<float>(cases()[i], "", 1, Isa::kPortable);
    expect_deformed<double>(cases()[i], "", 3, Isa::kPortable);
    expect_deformed<Float16>(cases()[i], "", 1, Isa::kPortable);
    expect_deformed<BFloat16>(cases()[i], "", 2, Isa::kPortable);
    expect_deformed<float>(cases()[i], ".packed", 1, Isa::kPortable);
    expect_deformed<float>(cases()[i], ".packed", 3, detect_isa());
    expect_deformed<float>(cases()[i], ".computed", 3, detect_isa());
    expect_deformed<double>(cases()[i], ".packed", 1, Isa::kPortable);
    expect_deformed<double>(cases()[i], ".packed", 3, detect_isa());
    expect_deformed<double>(cases()[i], ".computed", 2, detect_isa());
  }
}

TEST(DeformConv, PlacesThatAreNoneAreZero) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float offset : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 3e38f,
                             -3e38f, 1e10f, 2.0f, -2.0f}) {
    for (const bool packed : {false, true}) {
      Node node;
      // What lies beside the image does not count, even where it is infinite within.
      node.input<float>({1, 1, 2, 2}, std::vector<float>(4, kInfinity));
      node.input<float>({1, 1, 1, 1}, {2.0f}).input<float>({1, 2, 2, 2}, std::vector(8, offset));
      node.input<float>({1}, {5.0f}).output<float>({1, 1, 2, 2});
      node.attributes(DeformConvAttributes());
      if (packed) node.constant(1);
      ASSERT_TRUE(node.run(packed ? "DeformConv.packed<float>" : "DeformConv<float>").ok());
      EXPECT_EQ(node.result<float>(), std::vector<float>(4, 5.0f)) << offset;
    }
  }
}

TEST(DeformConv, RefusesContradictions) {
  const auto code = [](const Dims& x, const Dims& w, const Dims& offset, const Dims& mask,
                       const DeformConvAttributes& a) {
    Node node;
    for (const Dims& dims : {x, w, offset}) {
      node.input<float>(dims, std::vector<float>(static_cast<size_t>(count_of(dims))));
    }
    node.absent().input<float>(mask, std::vector<float>(static_cast<size_t>(count_of(mask))));
    return node.output<float>({1, 4, 2, 2}).attributes(a).run("DeformConv<float>").code();
  };
  const DeformConvAttributes a;
  const Dims x = {1, 2, 3, 3}, w = {4, 2, 2, 2}, offset = {1, 8, 2, 2}, mask = {1, 4, 2, 2};
  EXPECT_EQ(code(x, w, offset, mask, a), Code::kOk);
  EXPECT_EQ(code({1, 2, 9}, w, offset, mask, a), Code::kWrongRank);
  EXPECT_EQ(code(x, {4, 3, 2, 2}, offset, mask, a), Code::kWrongExtent);
  EXPECT_EQ(code(x, w, {1, 4, 2, 2}, mask, a), Code::kWrongExtent);
  EXPECT_EQ(code(x, w, {1, 8, 2, 3}, mask, a), Code::kWrongExtent);
  EXPECT_EQ(code(x, w, offset, {1, 8, 2, 2}, a), Code::kWrongExtent);
  EXPECT_EQ(code(x, w, offset, {1, 4, 2}, a), Code::kWrongRank);
  DeformConvAttributes bad = a;
  bad.offset_group = 3;
  EXPECT_EQ(code(x, w, {1, 24, 2, 2}, {1, 12, 2, 2}, bad), Code::kWrongExtent);
  bad.offset_group = 0;
  EXPECT_EQ(code(x, w, offset, mask, bad), Code::kInvalidValue);
  bad = a;
  bad.group = 3;
  EXPECT_EQ(code(x, w, offset, mask, bad), Code::kWrongExtent);
  bad = a;
  bad.window.dilations = {2, {INT32_MAX, INT32_MAX}};
  EXPECT_NE(code(x, w, offset, mask, bad), Code::kOk);
}

}  // namespace
}  // namespace intarsia::test
