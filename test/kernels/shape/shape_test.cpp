// SPDX-License-Identifier: Apache-2.0
//
// Kernels of kernels_cpu/shape: random ranks and extents, rank 0 and empty tensors included,
// against what each element should be by its index; and nodes that `check` must refuse.
#include <limits>

#include "core/operators/shape/extents.h"
#include "core/operators/shape/fill.h"
#include "core/operators/shape/range.h"
#include "core/operators/shape/reshape.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/movement/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using Longs = std::vector<int64_t>;

Longs longs(const Dims& dims) {
  return {dims.begin(), dims.end()};
}
Dims list_dims(size_t count) {
  return {static_cast<int32_t>(count)};
}

template <class T>
class ShapeOps : public ::testing::Test {};
TYPED_TEST_SUITE(ShapeOps, AllWidths);

// ---- Expand and Tile ----

TYPED_TEST(ShapeOps, ExpandRepeatsAxesOfExtentOne) {
  Random random(11);
  for (int i = 0; i < part_of(150); ++i) {
    const int64_t rank = random.number(0, 6);
    const Dims y_dims = random.dims(rank, rank <= 2 ? 90 : rank <= 3 ? 9 : 4);
    Dims x_dims(y_dims.begin() + random.number(0, rank), y_dims.end());
    for (int32_t& extent : x_dims) {
      if (random.chance(2)) extent = 1;
    }
    const size_t lead = y_dims.size() - x_dims.size();
    const auto x = random.tensor<TypeParam>(x_dims);
    Node node;
    node.input<TypeParam>(x_dims, x.values)
        .template input<int64_t>(list_dims(y_dims.size()), longs(y_dims))
        .template output<TypeParam>(y_dims)
        .threads(1 + i % 3);
    ASSERT_TRUE(node.run(width_kernel_name("Expand", data_type_of<TypeParam>)).ok());
    EXPECT_EQ(node.result<TypeParam>(), generate<TypeParam>(y_dims, [&](const Index& index) {
                Index source(index.begin() + static_cast<int64_t>(lead), index.end());
                for (size_t axis = 0; axis < source.size(); ++axis) {
                  if (x_dims[axis] == 1) source[axis] = 0;
                }
                return x.at(source);
              }));
  }
}

TYPED_TEST(ShapeOps, TileRepeatsTheWholeTensor) {
  Random random(12);
  for (int i = 0; i < part_of(150); ++i) {
    const int64_t rank = random.number(0, 5);
    const Dims x_dims = random.dims(rank, rank <= 2 ? 50 : rank <= 3 ? 5 : 3);
    const auto x = random.tensor<TypeParam>(x_dims);
    Longs repeats;
    Dims y_dims;
    for (int32_t extent : x_dims) {
      const bool many = rank <= 3 && random.chance(5);
      repeats.push_back(random.chance(12) ? 0 : random.number(1, many ? 30 : 4));
      y_dims.push_back(extent * static_cast<int32_t>(repeats.back()));
    }
    Node node;
    node.input<TypeParam>(x_dims, x.values)
        .template input<int64_t>(list_dims(repeats.size()), repeats)
        .template output<TypeParam>(y_dims)
        .threads(1 + i % 3);
    ASSERT_TRUE(node.run(width_kernel_name("Tile", data_type_of<TypeParam>)).ok());
    EXPECT_EQ(node.result<TypeParam>(), generate<TypeParam>(y_dims, [&](const Index& index) {
                Index source = index;
                for (size_t axis = 0; axis < source.size(); ++axis) source[axis] %= x_dims[axis];
                return x.at(source);
              }));
  }
}

/// `check` of an Expand or Tile of a float tensor.
Code repeat_check(std::string_view op, const Dims& x_dims, const Dims& y_dims,
                  DataType y_type = DataType::kFloat) {
  Node node;
  node.input(DataType::kFloat, x_dims, std::vector<double>(static_cast<size_t>(count_of(x_dims))))
      .input<int64_t>(list_dims(y_dims.size()), longs(y_dims))
      .output(y_type, y_dims);
  return node.check(width_kernel_name(op, DataType::kFloat)).code();
}

TEST(ShapeOpsRefused, ExpandAndTile) {
  EXPECT_EQ(repeat_check("Expand", {1, 3}, {2, 3}), Code::kOk);
  EXPECT_EQ(repeat_check("Expand", {2, 3}, {4, 3}), Code::kWrongExtent);
  EXPECT_EQ(repeat_check("Expand", {3}, {3, 1}), Code::kWrongExtent);
  EXPECT_EQ(repeat_check("Expand", {2, 3}, {3}), Code::kWrongRank);
  EXPECT_EQ(repeat_check("Expand", {3}, {3}, DataType::kInt64), Code::kWrongType);
  EXPECT_EQ(repeat_check("Tile", {2, 3}, {4, 9}), Code::kOk);
  EXPECT_EQ(repeat_check("Tile", {2, 3}, {4, 8}), Code::kWrongExtent);
  EXPECT_EQ(repeat_check("Tile", {0}, {3}), Code::kWrongExtent);
  EXPECT_EQ(repeat_check("Tile", {3}, {2, 3}), Code::kWrongRank);
}

// ---- Shape and Size ----

TEST(ShapeOps, ShapeReadsARangeOfAxes) {
  Random random(13);
  for (int i = 0; i < part_of(200); ++i) {
    const int rank = static_cast<int>(random.number(0, 8));
    const Dims x_dims = random.dims(rank, 3);
    ShapeAttributes attributes;
    if (!random.chance(4)) attributes.start = static_cast<int32_t>(random.number(-10, 10));
    if (!random.chance(4)) attributes.end = static_cast<int32_t>(random.number(-10, 10));
    // The specification's words: negative axes count from the end, then both are clamped.
    const auto axis = [rank](int64_t given) {
      return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
    };
    Longs expected;
    for (int64_t a = axis(attributes.start); a < axis(attributes.end); ++a) {
      expected.push_back(x_dims[static_cast<size_t>(a)]);
    }
    Node node;
    node.input<uint16_t>(x_dims, std::vector<uint16_t>(static_cast<size_t>(count_of(x_dims))))
        .output<int64_t>(list_dims(expected.size()))
        .attributes(attributes);
    ASSERT_TRUE(node.run("Shape").ok()) << attributes.start << ":" << attributes.end;
    EXPECT_EQ(node.result<int64_t>(), expected) << attributes.start << ":" << attributes.end;
    // One extent more or less does not fit.
    Node larger;
    larger.input<uint16_t>(x_dims, std::vector<uint16_t>(static_cast<size_t>(count_of(x_dims))))
        .output<int64_t>(list_dims(expected.size() + 1))
        .attributes(attributes);
    EXPECT_EQ(larger.check("Shape").code(), Code::kWrongExtent);
  }
}

TEST(ShapeOps, SizeCountsElements) {
  Random random(14);
  for (int i = 0; i < 50; ++i) {
    const Dims x_dims = random.dims(random.number(0, 6), 4);
    Node node;
    node.input<int8_t>(x_dims, std::vector<int8_t>(static_cast<size_t>(count_of(x_dims))))
        .output<int64_t>({});
    ASSERT_TRUE(node.run("Size").ok());
    EXPECT_EQ(node.result<int64_t>(), (Longs{count_of(x_dims)}));
  }
}

TEST(ShapeOpsRefused, ShapeAndSize) {
  Node shape;
  shape.input<float>({2}, {1, 2}).output<int32_t>({1}).attributes(ShapeAttributes{});
  EXPECT_EQ(shape.check("Shape").code(), Code::kWrongType);
  shape.attribute_bytes(4);
  EXPECT_EQ(shape.check("Shape").code(), Code::kCorruptPlan);
  Node size;
  size.input<float>({2}, {1, 2}).output<int64_t>({2});
  EXPECT_EQ(size.check("Size").code(), Code::kWrongRank);
}

// ---- ConstantOfShape, Range, EyeLike ----

template <class T>
void expect_filled(Random& random, T value) {
  ConstantOfShapeAttributes attributes;
  std::memcpy(&attributes.value_bits, &value, sizeof(T));
  attributes.value_type = static_cast<int32_t>(data_type_of<T>);
  for (int i = 0; i < 20; ++i) {
    const Dims y_dims = random.dims(random.number(0, 5), 5);
    Node node;
    node.input<int64_t>(list_dims(y_dims.size()), longs(y_dims)).output<T>(y_dims);
    node.attributes(attributes);
    ASSERT_TRUE(node.run(width_kernel_name("ConstantOfShape", data_type_of<T>)).ok());
    EXPECT_EQ(node.result<T>(), std::vector<T>(static_cast<size_t>(count_of(y_dims)), value));
  }
}

TEST(ShapeOps, ConstantOfShapeFillsWithItsValue) {
  Random random(15);
  expect_filled<float>(random, -1.5f);
  expect_filled<double>(random, 1e300);
  expect_filled<int64_t>(random, std::numeric_limits<int64_t>::min());
  expect_filled<uint64_t>(random, std::numeric_limits<uint64_t>::max());
  expect_filled<int32_t>(random, -7);
  expect_filled<uint16_t>(random, 65535);
  expect_filled<int8_t>(random, -128);
  expect_filled<bool>(random, true);
}

/// One step after another until the limit is reached: Range as the specification's loop says it.
template <class T>
std::vector<T> counted(int64_t start, int64_t limit, int64_t delta) {
  std::vector<T> values;
  for (int64_t value = start; delta > 0 ? value < limit : value > limit; value += delta) {
    values.push_back(static_cast<T>(value));
  }
  return values;
}

template <class T>
void expect_range(T start, T limit, T delta, const std::vector<T>& expected) {
  Node node;
  node.input<T>({}, {start}).template input<T>({1}, {limit}).template input<T>({}, {delta});
  node.template output<T>({static_cast<int32_t>(expected.size()) + 3});
  node.attributes(RangeAttributes{});
  for (const Isa isa : cpu::available_isas()) {
    ASSERT_TRUE(node.isa(isa).run(kernel_name("Range", {data_type_of<T>})).ok());
    EXPECT_EQ(node.result<T>(), expected) << start << " " << limit << " " << delta;
  }
}

template <class T>
void expect_integer_ranges(Random& random) {
  for (int i = 0; i < part_of(200); ++i) {
    const int64_t start = random.number(-50, 50), limit = random.number(-50, 50);
    const int64_t delta = random.chance(2) ? random.number(1, 9) : random.number(-9, -1);
    expect_range<T>(static_cast<T>(start), static_cast<T>(limit), static_cast<T>(delta),
                    counted<T>(start, limit, delta));
  }
  using Limits = std::numeric_limits<T>;
  expect_range<T>(Limits::max() - 2, Limits::max(), 1, {Limits::max() - 2, Limits::max() - 1});
  expect_range<T>(Limits::min(), Limits::max(), Limits::max(),
                  {Limits::min(), static_cast<T>(-1), static_cast<T>(Limits::max() - 1)});
  expect_range<T>(Limits::max(), Limits::min(), Limits::min(), {Limits::max(), -1});
}

TEST(ShapeOps, RangeOfIntegers) {
  Random random(16);
  expect_integer_ranges<int16_t>(random);
  expect_integer_ranges<int32_t>(random);
  expect_integer_ranges<int64_t>(random);
}

template <class T>
void expect_real_ranges(Random& random) {
  for (int i = 0; i < part_of(200); ++i) {
    // Quarters are exact in every one of the types, so the number of elements is certain.
    const int64_t start = random.number(-40, 40), limit = random.number(-40, 40);
    const int64_t delta = random.chance(2) ? random.number(1, 9) : random.number(-9, -1);
    const auto quarters = [](int64_t n) { return static_cast<double>(n) / 4; };
    std::vector<double> expected;
    for (int64_t value : counted<int64_t>(start, limit, delta)) expected.push_back(quarters(value));
    Node node;
    const DataType type = data_type_of<T>;
    node.input(type, {}, {quarters(start)}).input(type, {}, {quarters(limit)});
    node.input(type, {}, {quarters(delta)}).output(type, list_dims(expected.size()));
    node.attributes(RangeAttributes{});
    ASSERT_TRUE(node.run(kernel_name("Range", {data_type_of<T>})).ok());
    EXPECT_EQ(node.numbers(), expected) << start << " " << limit << " " << delta;
  }
}

TEST(ShapeOps, RangeOfReals) {
  Random random(17);
  expect_real_ranges<float>(random);
  expect_real_ranges<double>(random);
  expect_real_ranges<Float16>(random);
  expect_real_ranges<BFloat16>(random);
}

template <class T>
Code range_code(T start, T limit, T delta, int32_t planned = 4) {
  Node node;
  node.input<T>({}, {start}).template input<T>({}, {limit}).template input<T>({}, {delta});
  node.template output<T>({planned}).attributes(RangeAttributes{});
  return node.run(kernel_name("Range", {data_type_of<T>})).code();
}

TEST(ShapeOpsRefused, RangeWithoutANumberOfElements) {
  EXPECT_EQ(range_code<int32_t>(0, 5, 0), Code::kInvalidValue);
  EXPECT_EQ(range_code<float>(0, 5, 0), Code::kInvalidValue);
  EXPECT_EQ(range_code<float>(0, NAN, 1), Code::kInvalidValue);
  EXPECT_EQ(range_code<float>(0, INFINITY, 1), Code::kInvalidValue);
  EXPECT_EQ(range_code<double>(0, 1e300, 1e-300), Code::kInvalidValue);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(range_code<int64_t>(-kMost, kMost, 1), Code::kInvalidValue);
  EXPECT_EQ(range_code<int32_t>(0, 5, 1), Code::kWrongExtent);  // beyond the plan
  EXPECT_EQ(range_code<int32_t>(0, 4, 1), Code::kOk);
}

template <class T>
void expect_eye(Random& random) {
  for (int i = 0; i < part_of(60); ++i) {
    const Dims dims = random.dims(2, 7);
    EyeLikeAttributes attributes;
    attributes.k = static_cast<int32_t>(random.number(-9, 9));
    Node node;
    node.input<float>(dims, std::vector<float>(static_cast<size_t>(count_of(dims))));
    node.output<T>(dims).attributes(attributes);
    ASSERT_TRUE(node.run(kernel_name("EyeLike", {data_type_of<T>})).ok());
    EXPECT_EQ(node.numbers(), generate<double>(dims, [&](const Index& index) {
                return index[1] - index[0] == attributes.k ? 1.0 : 0.0;
              }));
  }
}

TEST(ShapeOps, EyeLikeHasOnesOnOneDiagonal) {
  Random random(18);
  expect_eye<float>(random);
  expect_eye<Float16>(random);
  expect_eye<bool>(random);
  expect_eye<uint8_t>(random);
  expect_eye<int64_t>(random);
  Node extreme;
  EyeLikeAttributes attributes;
  attributes.k = std::numeric_limits<int32_t>::min();
  extreme.input<float>({1, 1}, {7}).output<float>({1, 1}).attributes(attributes);
  ASSERT_TRUE(extreme.run("EyeLike<float>").ok());
  EXPECT_EQ(extreme.numbers(), std::vector<double>{0});
}

TEST(ShapeOpsRefused, FillsOfAnotherTypeOrRank) {
  Node fill;
  fill.input<int64_t>({1}, {2}).output<float>({2}).attributes(ConstantOfShapeAttributes{});
  EXPECT_EQ(fill.check("ConstantOfShape<64 bits>").code(), Code::kWrongType);
  EXPECT_EQ(fill.attribute_bytes(8).check("ConstantOfShape<32 bits>").code(), Code::kCorruptPlan);
  Node eye;
  eye.input<float>({2}, {1, 2}).output<float>({2}).attributes(EyeLikeAttributes{});
  EXPECT_EQ(eye.check("EyeLike<float>").code(), Code::kWrongRank);
}

// ---- Operators that keep the elements ----

/// `listed`: the operator has a second input, which gives extents or axes.
template <class T>
void expect_copied(std::string_view kernel, Random& random, bool in_place, bool listed = false) {
  for (int i = 0; i < 20; ++i) {
    const Dims x_dims = random.dims(random.number(0, 5), 4);
    Dims y_dims = x_dims;
    std::shuffle(y_dims.begin(), y_dims.end(), random.engine);
    y_dims.insert(y_dims.begin() + random.number(0, static_cast<int64_t>(y_dims.size())), 1);
    const auto x = random.tensor<T>(x_dims);
    Node node;
    node.input<T>(x_dims, x.values);
    if (listed) node.input<int64_t>({1}, {0});
    node.template output<T>(y_dims);
    if (in_place) node.in_place(0);
    ASSERT_TRUE(node.run(kernel).ok());
    EXPECT_EQ(node.result<T>(), x.values);
  }
}

TYPED_TEST(ShapeOps, ViewsKeepTheElements) {
  Random random(19);
  for (bool in_place : {false, true}) {
    expect_copied<TypeParam>("Identity", random, in_place);
    expect_copied<TypeParam>("Reshape", random, in_place, true);
    expect_copied<TypeParam>("Squeeze", random, in_place);
    expect_copied<TypeParam>("Unsqueeze", random, in_place, true);
    expect_copied<TypeParam>("Flatten", random, in_place);
  }
}

TEST(Reinterpret, NarrowerElements) {
  Node bytes;
  bytes.input<int16_t>({1, 2}, {0x0201, 0x0403}).output<uint8_t>({1, 4});
  bytes.attributes(BitCastAttributes{static_cast<int32_t>(DataType::kUint8)});
  ASSERT_TRUE(bytes.run("intarsia:Reinterpret").ok());
  EXPECT_EQ(bytes.result<uint8_t>(), (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(Reinterpret, Refused) {
  Node wider;  // than bytes: the input need not lie aligned
  wider.input<uint8_t>({2, 4}, {1, 0, 0, 0, 0, 1, 0, 0}).output<int32_t>({2, 1});
  wider.attributes(BitCastAttributes{static_cast<int32_t>(DataType::kInt32)});
  EXPECT_EQ(wider.check("intarsia:Reinterpret").code(), Code::kInvalidValue);
  Node scalar;
  scalar.input<uint8_t>({}, {1}).output<uint8_t>({});
  scalar.attributes(BitCastAttributes{static_cast<int32_t>(DataType::kUint8)});
  EXPECT_EQ(scalar.check("intarsia:Reinterpret").code(), Code::kWrongRank);
  Node type;
  type.input<uint8_t>({2}, {1, 2}).output<uint8_t>({2});
  type.attributes(BitCastAttributes{0});
  EXPECT_EQ(type.check("intarsia:Reinterpret").code(), Code::kInvalidValue);
  Node other;  // as many elements as the named type has, of another type
  other.input<uint16_t>({2}, {1, 2}).output<int8_t>({4});
  other.attributes(BitCastAttributes{static_cast<int32_t>(DataType::kUint8)});
  EXPECT_EQ(other.check("intarsia:Reinterpret").code(), Code::kWrongType);
}

TEST(ShapeOpsRefused, ViewsOfAnotherTypeOrSize) {
  Node size;
  size.input<float>({2, 3}, {1, 2, 3, 4, 5, 6}).input<int64_t>({1}, {7}).output<float>({7});
  EXPECT_EQ(size.check("Reshape").code(), Code::kWrongExtent);
  Node type;
  type.input<float>({1}, {1}).output<int32_t>({1});
  EXPECT_EQ(type.check("Identity").code(), Code::kWrongType);
  Node none;
  none.absent().output<float>({1});
  EXPECT_EQ(none.check("Identity").code(), Code::kCorruptPlan);
}

}  // namespace
}  // namespace intarsia::test
