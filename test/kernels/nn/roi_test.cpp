// SPDX-License-Identifier: Apache-2.0
//
// RoiAlign and MaxRoiPool: against the specification's formulas in double, one point at a time, and
// regions that are no regions.
#include "core/operators/nn/roi.h"

#include <limits>

#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Image {
  Dims dims;
  Numbers x;
  double at(int64_t image, int64_t channel, int64_t row, int64_t column) const {
    return x[static_cast<size_t>(((image * dims[1] + channel) * dims[2] + row) * dims[3] + column)];
  }
};

/// The four weighted elements around a point; nothing outside of the image.
std::vector<double> around(const Image& image, int64_t number, int64_t channel, double y,
                           double x) {
  const int64_t height = image.dims[2], width = image.dims[3];
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) {
    return {0};
  }
  const auto split = [](double place, int64_t extent, int64_t& low, int64_t& high) {
    place = std::max(place, 0.0);
    low = std::min(static_cast<int64_t>(place), extent - 1);
    high = std::min(low + 1, extent - 1);
    return low == extent - 1 ? 0.0 : place - static_cast<double>(low);
  };
  int64_t top, bottom, left, right;
  const double v = split(y, height, top, bottom), u = split(x, width, left, right);
  return {(1 - v) * (1 - u) * image.at(number, channel, top, left),
          (1 - v) * u * image.at(number, channel, top, right),
          v * (1 - u) * image.at(number, channel, bottom, left),
          v * u * image.at(number, channel, bottom, right)};
}

Numbers naive_align(const Image& image, const Numbers& regions, const std::vector<int64_t>& images,
                    const RoiAlignAttributes& a) {
  Numbers result;
  const double scale = static_cast<double>(a.spatial_scale);
  const bool half = a.coordinates == RoiAlignAttributes::kHalfPixel;
  for (size_t region = 0; region < images.size(); ++region) {
    double corner[4];
    for (size_t i = 0; i < 4; ++i) corner[i] = regions[4 * region + i] * scale - (half ? 0.5 : 0);
    double width = corner[2] - corner[0], height = corner[3] - corner[1];
    if (!half) width = std::max(width, 1.0), height = std::max(height, 1.0);
    const double bin_y = height / a.output_height, bin_x = width / a.output_width;
    const double points_y = a.sampling_ratio > 0 ? a.sampling_ratio : std::ceil(bin_y);
    const double points_x = a.sampling_ratio > 0 ? a.sampling_ratio : std::ceil(bin_x);
    for (int32_t channel = 0; channel < image.dims[1]; ++channel) {
      for (int32_t row = 0; row < a.output_height; ++row) {
        for (int32_t column = 0; column < a.output_width; ++column) {
          double sum = 0, largest = -HUGE_VAL;
          for (int i = 0; i < points_y; ++i) {
            for (int j = 0; j < points_x; ++j) {
              const double y = corner[1] + row * bin_y + (i + 0.5) * bin_y / points_y;
              const double x = corner[0] + column * bin_x + (j + 0.5) * bin_x / points_x;
              for (double part : around(image, images[region], channel, y, x)) {
                sum += part;
                largest = std::max(largest, part);
              }
            }
          }
          const bool none = points_y <= 0 || points_x <= 0;
          if (a.mode == RoiAlignAttributes::kMax) {
            result.push_back(none ? 0 : largest);
          } else {
            result.push_back(none ? 0 : sum / (points_y * points_x));
          }
        }
      }
    }
  }
  return result;
}

template <class T>
void expect_aligned(const RoiAlignAttributes& a, int32_t count, int threads) {
  std::mt19937 engine(static_cast<uint32_t>(count) + 5);
  const Dims dims = {2, 35, 9, 13};
  const auto x = random_values<T>(count_of(dims), engine, -1, 1);
  std::vector<T> regions;
  std::vector<int64_t> images;
  for (int32_t i = 0; i < count; ++i) {
    images.push_back(static_cast<int64_t>(engine() % 2));
    // Mostly regions; with corners that have changed places, and far outside.
    for (int corner = 0; corner < 4; ++corner) {
      const int low = corner < 2 ? -9 : 5;
      regions.push_back(T(static_cast<float>(static_cast<int>(engine() % 101) + 2 * low) / 4));
    }
  }
  Node node;
  node.input<T>(dims, x).template input<T>({count, 4}, regions);
  node.template input<int64_t>({count}, images);
  node.template output<T>({count, dims[1], a.output_height, a.output_width});
  node.attributes(a).threads(threads);
  ASSERT_TRUE(node.run(kernel_name("RoiAlign", {data_type_of<T>})).ok()) << node.diagnostic().what;
  const double bound = std::max(8 * epsilon_of<T>(), 0x1p-40);
  expect_near<T>(node.result<T>(),
                 naive_align({dims, numbers_of(x)}, numbers_of(regions), images, a), bound, bound);
}

TEST(RoiAlign, EqualsItsFormula) {
  for (const int32_t mode : {RoiAlignAttributes::kAverage, RoiAlignAttributes::kMax}) {
    for (const int32_t coordinates : {0, 1}) {
      for (const int32_t ratio : {0, 1, 2, 4}) {
        RoiAlignAttributes a;
        a.mode = mode;
        a.coordinates = coordinates;
        a.sampling_ratio = ratio;
        a.output_height = 4;
        a.output_width = 2;
        a.spatial_scale = 0.5f;
        SCOPED_TRACE(testing::Message() << mode << " " << coordinates << " " << ratio);
        expect_aligned<float>(a, 31, 1);
        expect_aligned<double>(a, 17, 3);
        expect_aligned<Float16>(a, 9, 1);
        expect_aligned<BFloat16>(a, 9, 2);
        a.output_height = 1;
        a.output_width = 16;
        expect_aligned<float>(a, 31, 3);
      }
    }
  }
}

std::vector<float> align_one(const std::vector<float>& region, const RoiAlignAttributes& a) {
  Node node;
  node.input<float>({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}).input<float>({1, 4}, region);
  node.input<int64_t>({1}, {0}).output<float>({1, 1, a.output_height, a.output_width});
  EXPECT_TRUE(node.attributes(a).run("RoiAlign<float>").ok());
  return node.result<float>();
}

TEST(RoiAlign, RegionsThatAreNoneAreZeroAndEnd) {
  for (const int32_t mode : {RoiAlignAttributes::kAverage, RoiAlignAttributes::kMax}) {
    for (const int32_t ratio : {0, 2}) {
      RoiAlignAttributes a;
      a.mode = mode;
      a.sampling_ratio = ratio;
      a.output_width = 2;
      const std::vector<float> zeros = {0, 0};
      EXPECT_EQ(align_one({kNaN, 0, 1, 1}, a), zeros);
      EXPECT_EQ(align_one({0, 0, kInfinity, 1}, a), zeros);
      EXPECT_EQ(align_one({-kInfinity, 0, kInfinity, 1}, a), zeros);
      EXPECT_EQ(align_one({0, 1e30f, 1, 2e30f}, a), zeros);
    }
  }
  // A bin of 2^30 points each way, of which six lie in the image.
  RoiAlignAttributes a;
  a.mode = RoiAlignAttributes::kMax;
  EXPECT_EQ(align_one({-0x1p29f, -0x1p29f, 0x1p29f, 0x1p29f}, a).size(), 1U);
  a.mode = RoiAlignAttributes::kAverage;
  EXPECT_NEAR(align_one({-0x1p29f, -0x1p29f, 0x1p29f, 0x1p29f}, a)[0], 0, 1e-12);
}

TEST(RoiAlign, RefusesWhatItCannotRead) {
  for (const int64_t image : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    Node node;
    node.input<float>({2, 1, 2, 2}, std::vector<float>(8, 1)).input<float>({1, 4}, {0, 0, 1, 1});
    node.input<int64_t>({1}, {image}).output<float>({1, 1, 1, 1});
    EXPECT_EQ(node.attributes(RoiAlignAttributes()).run("RoiAlign<float>").code(),
              Code::kIndexOutOfRange);
  }
  const auto code = [](const Dims& x, const Dims& regions, const Dims& images, const Dims& y,
                       const RoiAlignAttributes& a) {
    const auto zeros = [](const Dims& dims) {
      return std::vector<float>(static_cast<size_t>(count_of(dims)));
    };
    Node node;
    node.input<float>(x, zeros(x)).input<float>(regions, zeros(regions));
    node.input<int64_t>(images, std::vector<int64_t>(static_cast<size_t>(count_of(images))));
    return node.output<float>(y).attributes(a).check("RoiAlign<float>").code();
  };
  const RoiAlignAttributes a;
  EXPECT_EQ(code({1, 2, 3}, {5, 4}, {5}, {5, 2, 1, 1}, a), Code::kWrongRank);
  EXPECT_EQ(code({1, 2, 3, 3}, {5}, {5}, {5, 2, 1, 1}, a), Code::kWrongRank);
  EXPECT_EQ(code({1, 2, 3, 3}, {5, 4}, {5, 1}, {5, 2, 1, 1}, a), Code::kWrongRank);
  EXPECT_EQ(code({1, 2, 3, 3}, {5, 5}, {5}, {5, 2, 1, 1}, a), Code::kWrongExtent);
  EXPECT_EQ(code({1, 2, 3, 3}, {5, 4}, {4}, {5, 2, 1, 1}, a), Code::kWrongExtent);
  EXPECT_EQ(code({1, 2, 3, 3}, {5, 4}, {5}, {5, 2, 1, 2}, a), Code::kWrongExtent);
  RoiAlignAttributes many;
  many.sampling_ratio = 1 << 30;
  EXPECT_EQ(code({1, 2, 3, 3}, {5, 4}, {5}, {5, 2, 1, 1}, many), Code::kInvalidValue);
  many = a;
  many.output_height = 0;
  EXPECT_EQ(code({1, 2, 3, 3}, {5, 4}, {5}, {5, 2, 0, 1}, many), Code::kInvalidValue);
}

template <class T>
void expect_pooled() {
  std::mt19937 engine(3);
  const Dims dims = {2, 3, 9, 11};
  const int32_t count = 40;
  MaxRoiPoolAttributes a;
  a.pooled_shape = {2, {3, 2}};
  a.spatial_scale = 0.5f;
  const auto x = random_values<T>(count_of(dims), engine, -1, 1);
  std::vector<T> regions;
  Numbers expected;
  for (int32_t i = 0; i < count; ++i) {
    int region[] = {static_cast<int>(engine() % 2), 0, 0, 0, 0};
    for (int corner = 1; corner < 5; ++corner) {
      region[corner] = static_cast<int>(engine() % 30) - (corner < 3 ? 8 : 2);
    }
    for (int number : region) regions.push_back(T(static_cast<float>(number)));
    const auto whole = [&](int corner) {
      return static_cast<int>(std::round(region[corner] * 0.5));
    };
    const auto part = [](int first, int last, int bin, int bins, int extent) {
      const double size = static_cast<double>(std::max(last - first + 1, 1)) / bins;
      const int begin = first + static_cast<int>(std::floor(bin * size));
      const int end = first + static_cast<int>(std::ceil((bin + 1) * size));
      return std::pair(std::clamp(begin, 0, extent), std::clamp(end, 0, extent));
    };
    for (int32_t channel = 0; channel < dims[1]; ++channel) {
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 2; ++column) {
          const auto [top, bottom] = part(whole(2), whole(4), row, 3, dims[2]);
          const auto [left, right] = part(whole(1), whole(3), column, 2, dims[3]);
          double largest = -HUGE_VAL;
          for (int y = top; y < bottom; ++y) {
            for (int at = left; at < right; ++at) {
              const int64_t from = place(dims, {region[0], channel, y, at});
              largest = std::max(largest, as_double<T>(x[static_cast<size_t>(from)]));
            }
          }
          expected.push_back(top < bottom && left < right ? largest : 0);
        }
      }
    }
  }
  Node node;
  node.input<T>(dims, x).template input<T>({count, 5}, regions);
  node.template output<T>({count, dims[1], 3, 2}).attributes(a).threads(3);
  ASSERT_TRUE(node.run(kernel_name("MaxRoiPool", {data_type_of<T>})).ok());
  expect_near<T>(node.result<T>(), expected, 0, 0);
}

TEST(MaxRoiPool, EqualsItsFormula) {
  expect_pooled<float>();
  expect_pooled<double>();
  expect_pooled<Float16>();
  expect_pooled<BFloat16>();
}

TEST(MaxRoiPool, RefusesImagesThatAreNotThereAndEnds) {
  const auto pool = [](const std::vector<float>& region, std::vector<float>& y) {
    MaxRoiPoolAttributes a;
    a.pooled_shape = {2, {1, 1}};
    Node node;
    node.input<float>({1, 1, 2, 2}, {1, 2, 3, 4}).input<float>({1, 5}, region);
    const Status status = node.output<float>({1, 1, 1, 1}).attributes(a).run("MaxRoiPool<float>");
    y = node.result<float>();
    return status.code();
  };
  std::vector<float> y;
  for (const float image : {-1.0f, 1.0f, kNaN, kInfinity, 1e30f}) {
    EXPECT_EQ(pool({image, 0, 0, 1, 1}, y), Code::kIndexOutOfRange);
  }
  EXPECT_EQ(pool({0.5f, -1e30f, -kInfinity, 1e30f, kInfinity}, y), Code::kOk);
  EXPECT_EQ(y, std::vector<float>{4});
  EXPECT_EQ(pool({0, 1e30f, 0, kInfinity, 1}, y), Code::kOk);
  EXPECT_EQ(y, std::vector<float>{0});
  EXPECT_EQ(pool({0, kNaN, 0, 1, 1}, y), Code::kOk);
}

}  // namespace
}  // namespace intarsia::test
