// SPDX-License-Identifier: Apache-2.0
//
// Concat, Split, Slice, Transpose, Pad, DepthToSpace and SpaceToDepth, Trilu, ReverseSequence:
// random shapes against what each element should be by its index, and rejected nodes.
#include <algorithm>
#include <limits>

#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/depth_to_space.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/reverse_sequence.h"
#include "core/operators/movement/slice.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/movement/trilu.h"
#include "kernels_cpu/common/strided_copy.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/movement/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using Longs = std::vector<int64_t>;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Dims long_dims(const Longs& list) {
  return {static_cast<int32_t>(list.size())};
}

template <class T>
class Movement : public ::testing::Test {};
TYPED_TEST_SUITE(Movement, AllWidths);

TEST(CopyRun, CopiesSoManyBytesAndNoMore) {
  std::vector<uint8_t> from(300);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
  for (size_t bytes = 0; bytes <= from.size(); ++bytes) {
    std::vector<uint8_t> to(from.size() + 1, 0), expected(from.begin(), from.end());
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>(bytes), expected.end(), uint8_t{0});
    expected.push_back(0);
    cpu::copy_run(to.data(), from.data(), static_cast<int64_t>(bytes));
    ASSERT_EQ(to, expected) << bytes;
  }
}

TEST(CopyRuns, CopiesEachRunAndNothingBetween) {
  for (size_t bytes = 0; bytes <= 150; ++bytes) {
    const size_t in_step = bytes + bytes % 3, out_step = bytes + bytes % 5, count = bytes % 4;
    std::vector<uint8_t> from(in_step * count + 1);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
    std::vector<uint8_t> to(out_step * count + 1), expected = to;
    for (size_t i = 0; i < count * bytes; ++i) {
      expected[i / bytes * out_step + i % bytes] = from[i / bytes * in_step + i % bytes];
    }
    cpu::copy_runs(to.data(), static_cast<int64_t>(out_step), from.data(),
                   static_cast<int64_t>(in_step), static_cast<int64_t>(count),
                   static_cast<int64_t>(bytes));
    ASSERT_EQ(to, expected) << bytes;
  }
}

// ---- Transpose ----

template <class T>
void expect_transposed(Random& random, const Dims& dims, const std::vector<int32_t>& perm,
                       int threads) {
  const Dense<T> x = random.tensor<T>(dims);
  const auto isas = cpu::available_isas();
  const Isa isa = isas[static_cast<size_t>(random.number(0, 99)) % isas.size()];
  TransposeAttributes attributes;
  Dims y_dims;
  for (int32_t axis : perm) {
    attributes.perm.push(axis);
    y_dims.push_back(dims[static_cast<size_t>(axis)]);
  }
  Node node;
  node.input<T>(dims, x.values).template output<T>(y_dims).attributes(attributes).threads(threads);
  ASSERT_TRUE(node.isa(isa).run(width_kernel_name("Transpose", data_type_of<T>)).ok());
  EXPECT_EQ(node.result<T>(), generate<T>(y_dims, [&](const Index& index) {
              Index source(perm.size());
              for (size_t axis = 0; axis < perm.size(); ++axis) {
                source[static_cast<size_t>(perm[axis])] = index[axis];
              }
              return x.at(source);
            }));
}

TYPED_TEST(Movement, TransposeOfRandomAxes) {
  Random random(1);
  for (int i = 0; i < part_of(60); ++i) {
    const int64_t rank = random.number(0, 6);
    expect_transposed<TypeParam>(random, random.dims(rank, rank <= 3 ? 12 : 4),
                                 random.permutation(rank), 1);
  }
}

TYPED_TEST(Movement, TransposeOfImages) {
  Random random(2);
  for (const int32_t channels : {1, 2, 3, 4, 5, 6, 7, 8, 12, 17, 33}) {
    expect_transposed<TypeParam>(random, {2, channels, 9, 11}, {0, 2, 3, 1}, 1);
    expect_transposed<TypeParam>(random, {2, 9, 11, channels}, {0, 3, 1, 2}, 2);
  }
  for (int i = 0; i < 4; ++i) expect_transposed<TypeParam>(random, {75, 67}, {1, 0}, 3);
  expect_transposed<TypeParam>(random, {2, 40, 3, 35}, {0, 3, 2, 1}, 2);
  for (const int threads : {1, 3}) {  // pieces of a few elements
    expect_transposed<TypeParam>(random, {300, 5, 2, 3, 2}, {0, 4, 2, 1, 3}, threads);
    expect_transposed<TypeParam>(random, {31, 4, 17, 2, 2}, {1, 3, 0, 2, 4}, threads);
  }
}

TYPED_TEST(Movement, TransposeWithoutPermReversesTheAxes) {
  Random random(3);
  const auto x = random.tensor<TypeParam>({2, 3, 4});
  Node node;
  node.input<TypeParam>(x.dims, x.values).template output<TypeParam>({4, 3, 2});
  node.attributes(TransposeAttributes{});
  ASSERT_TRUE(node.run(width_kernel_name("Transpose", data_type_of<TypeParam>)).ok());
  EXPECT_EQ(node.result<TypeParam>(), generate<TypeParam>({4, 3, 2}, [&](const Index& i) {
              return x.at({i[2], i[1], i[0]});
            }));
}

// ---- Concat, Split ----

TYPED_TEST(Movement, ConcatJoinsAndSplitUndoesIt) {
  using T = TypeParam;
  Random random(4);
  for (int round = 0; round < part_of(40); ++round) {
    const int64_t rank = random.number(1, 5), count = random.number(1, 4);
    const auto axis = static_cast<size_t>(random.number(0, rank - 1));
    const int64_t most = rank <= 2 ? 70 : 6;  // rows of up to some hundred bytes
    Dims whole = random.dims(rank, most);
    whole[axis] = 0;
    std::vector<Dense<T>> parts;
    Longs sizes;
    Node concat;
    for (int64_t i = 0; i < count; ++i) {
      Dims dims = whole;
      dims[axis] = random.extent(most);
      parts.push_back(random.tensor<T>(dims));
      sizes.push_back(dims[axis]);
      concat.input<T>(dims, parts.back().values);
    }
    for (int64_t size : sizes) whole[axis] += static_cast<int32_t>(size);
    const std::vector<T> joined = generate<T>(whole, [&](Index index) {
      size_t part = 0;
      while (index[axis] >= sizes[part]) index[axis] -= sizes[part++];
      return parts[part].at(index);
    });
    const auto signed_axis = static_cast<int32_t>(random.chance(2) ? axis : axis - whole.size());
    concat.output<T>(whole).attributes(ConcatAttributes{signed_axis}).threads(1 + round % 2);
    ASSERT_TRUE(concat.run(width_kernel_name("Concat", data_type_of<T>)).ok());
    EXPECT_EQ(concat.result<T>(), joined);

    Node split;
    split.input<T>(whole, joined).template input<int64_t>(long_dims(sizes), sizes);
    for (const Dense<T>& part : parts) split.output<T>(part.dims);
    split.attributes(SplitAttributes{signed_axis, 0}).threads(1 + round % 2);
    ASSERT_TRUE(split.run(width_kernel_name("Split", data_type_of<T>)).ok());
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(split.result<T>(static_cast<int>(i)), parts[i].values);
    }
  }
}

TEST(Split, EvenPartsWithASmallerLastOne) {
  Node node;
  node.input<float>({7}, {1, 2, 3, 4, 5, 6, 7}).output<float>({3}).output<float>({3});
  node.output<float>({1}).attributes(SplitAttributes{0, 3});
  ASSERT_TRUE(node.run("Split<32 bits>").ok());
  EXPECT_EQ(node.result<float>(1), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(node.result<float>(2), (std::vector<float>{7}));
}

TEST(Split, PartsThatContradictTheInputAreRejected) {
  for (const Longs& sizes : {Longs{3, 5}, Longs{-1, 8}, Longs{4, 3}, Longs{kMost, kMost}}) {
    Node node;
    node.input<float>({7}, std::vector<float>(7)).input<int64_t>({2}, sizes);
    node.output<float>({3}).output<float>({4}).attributes(SplitAttributes{0, 0});
    EXPECT_FALSE(node.run("Split<32 bits>").ok());
  }
}

TEST(Concat, ExtentsThatDifferAreRejected) {
  Node node;
  node.input<float>({2, 3}, std::vector<float>(6)).input<float>({3, 3}, std::vector<float>(9));
  node.output<float>({2, 6}).attributes(ConcatAttributes{1});
  EXPECT_EQ(node.run("Concat<32 bits>").code(), Code::kWrongExtent);
}

// ---- Slice ----

/// The indices that a slice takes along one axis, by the specification's clamping.
Longs slice_indices(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const auto clamp = [&](int64_t bound, int64_t low, int64_t high) {
    const int64_t index = bound < 0 ? bound + extent : bound;
    return index < low ? low : index > high ? high : index;
  };
  const bool up = step > 0;
  const int64_t stop = clamp(end, up ? 0 : -1, up ? extent : extent - 1);
  const int64_t stride = up ? std::min<int64_t>(step, 1000) : std::max<int64_t>(step, -1000);
  Longs indices;
  for (int64_t i = clamp(start, 0, up ? extent : extent - 1); up ? i < stop : i > stop;
       i += stride) {
    if (extent > 0) indices.push_back(i);
  }
  return indices;
}

TYPED_TEST(Movement, SliceOfRandomRanges) {
  using T = TypeParam;
  Random random(5);
  const auto bound = [&]() -> int64_t {
    const Longs extremes = {kMost, kLeast, -kMost, 1 << 30};
    return random.chance(4) ? extremes[static_cast<size_t>(random.number(0, 3))]
                            : random.number(-9, 9);
  };
  for (int round = 0; round < part_of(80); ++round) {
    const int64_t rank = random.number(0, 4);
    const Dense<T> x = random.tensor<T>(random.dims(rank, 7));
    const auto listed = static_cast<size_t>(random.number(0, rank));
    const std::vector<int32_t> order = random.permutation(rank);
    Longs starts, ends, axes, steps;
    std::vector<Longs> taken;
    Dims dims = x.dims;
    for (int32_t extent : x.dims) taken.push_back(slice_indices(0, extent, 1, extent));
    for (size_t i = 0; i < listed; ++i) {
      const auto axis = static_cast<size_t>(order[i]);
      starts.push_back(bound());
      ends.push_back(bound());
      steps.push_back(random.chance(8) ? bound() | 1
                                       : (random.chance(2) ? 1 : -1) * random.number(1, 3));
      axes.push_back(random.chance(2) ? order[i] : order[i] - rank);
      taken[axis] = slice_indices(starts[i], ends[i], steps[i], x.dims[axis]);
      dims[axis] = static_cast<int32_t>(taken[axis].size());
    }
    Node node;
    node.input<T>(x.dims, x.values).template input<int64_t>(long_dims(starts), starts);
    node.input<int64_t>(long_dims(ends), ends).input<int64_t>(long_dims(axes), axes);
    node.input<int64_t>(long_dims(steps), steps).template output<T>(dims).threads(1 + round % 3);
    ASSERT_TRUE(node.run(width_kernel_name("Slice", data_type_of<T>)).ok())
        << node.diagnostic().what;
    EXPECT_EQ(node.result<T>(), generate<T>(dims, [&](Index index) {
                for (size_t axis = 0; axis < index.size(); ++axis) {
                  index[axis] = taken[axis][static_cast<size_t>(index[axis])];
                }
                return x.at(index);
              }));
  }
}

TEST(Slice, ReversesTheWholeAxis) {
  Node node;
  node.input<float>({4}, {1, 2, 3, 4}).input<int64_t>({1}, {-1}).input<int64_t>({1}, {-kMost});
  node.input<int64_t>({1}, {0}).input<int64_t>({1}, {-1}).output<float>({4});
  ASSERT_TRUE(node.run("Slice<32 bits>").ok());
  EXPECT_EQ(node.result<float>(), (std::vector<float>{4, 3, 2, 1}));
}

TEST(Slice, RejectsWhatItsOutputWasNotPlannedFor) {
  struct Case {
    int64_t start, end, axis, step;
  };
  // An extent of 3 where 2 are planned, axes out of range, a step of 0.
  for (const Case& c : {Case{0, 3, 0, 1}, {0, 2, 1, 1}, {0, 2, -2, 1}, {0, 2, 0, 0}}) {
    Node node;
    node.input<float>({4}, {1, 2, 3, 4}).input<int64_t>({1}, {c.start});
    node.input<int64_t>({1}, {c.end}).input<int64_t>({1}, {c.axis}).input<int64_t>({1}, {c.step});
    node.output<float>({2});
    EXPECT_FALSE(node.run("Slice<32 bits>").ok());
  }
}

// ---- Pad ----

/// The input index that position `i` stands for, or -1 for the constant. What is continued are the
/// elements that pads have not cut.
int64_t pad_source(int64_t i, int64_t extent, int64_t before, int64_t behind, int32_t mode) {
  if (mode != PadAttributes::kConstant && (before < 0 || behind < 0)) {
    const int64_t cut = std::max<int64_t>(-before, 0);
    const int64_t rest = extent - cut - std::max<int64_t>(-behind, 0);
    return cut + pad_source(i - cut, rest, 0, 0, mode);
  }
  const bool inside = i >= 0 && i < extent;
  switch (mode) {
    case PadAttributes::kEdge:
      return i < 0 ? 0 : std::min(i, extent - 1);
    case PadAttributes::kWrap:
      return ((i % extent) + extent) % extent;
    case PadAttributes::kReflect:
      if (extent == 1) return 0;
      while (i < 0 || i >= extent) i = i < 0 ? -i : 2 * (extent - 1) - i;
      return i;
    default:
      return inside ? i : -1;
  }
}

TYPED_TEST(Movement, PadOfRandomWidths) {
  using T = TypeParam;
  Random random(6);
  for (int round = 0; round < part_of(80); ++round) {
    const int64_t rank = random.number(0, 4);
    Dims x_dims;
    for (int64_t i = 0; i < rank; ++i) x_dims.push_back(static_cast<int32_t>(random.number(1, 5)));
    const Dense<T> x = random.tensor<T>(x_dims);
    const int32_t mode = round % 4;
    Longs pads(static_cast<size_t>(2 * rank));
    Dims y_dims = x_dims;
    for (size_t axis = 0; axis < x_dims.size(); ++axis) {
      for (size_t side : {axis, axis + x_dims.size()}) {
        // What is continued is not cut as a whole.
        const int32_t most =
            mode == PadAttributes::kConstant ? y_dims[axis] / 2 : (x_dims[axis] - 1) / 2;
        if (random.chance(2)) pads[side] = random.number(-most, 7);
        y_dims[axis] += static_cast<int32_t>(pads[side]);
      }
    }
    const T constant = random.tensor<T>({}).values[0];
    Node node;
    node.input<T>(x_dims, x.values).template input<int64_t>(long_dims(pads), pads);
    node.input<T>({}, {constant}).template output<T>(y_dims);
    node.attributes(PadAttributes{mode}).threads(1 + round % 3);
    ASSERT_TRUE(node.run(width_kernel_name("Pad", data_type_of<T>)).ok()) << node.diagnostic().what;
    EXPECT_EQ(node.result<T>(), generate<T>(y_dims, [&](Index index) {
                for (size_t axis = 0; axis < index.size(); ++axis) {
                  const int64_t before = pads[axis];
                  index[axis] = pad_source(index[axis] - before, x_dims[axis], before,
                                           pads[axis + x_dims.size()], mode);
                  if (index[axis] < 0) return constant;
                }
                return x.at(index);
              }));
  }
}

TEST(Pad, ListedAxesAndTheDefaultConstant) {
  Node node;
  node.input<int32_t>({2, 1}, {5, 6}).input<int64_t>({2}, {1, 2}).absent();
  node.input<int32_t>({1}, {-1}).output<int32_t>({2, 4}).attributes(PadAttributes{});
  ASSERT_TRUE(node.run("Pad<32 bits>").ok());
  EXPECT_EQ(node.result<int32_t>(), (std::vector<int32_t>{0, 5, 0, 0, 0, 6, 0, 0}));
}

TEST(Pad, AnEmptyAxisCannotBeContinued) {
  Node node;
  node.input<int32_t>({0}, {}).input<int64_t>({2}, {1, 1}).output<int32_t>({2});
  node.attributes(PadAttributes{PadAttributes::kEdge});
  EXPECT_EQ(node.run("Pad<32 bits>").code(), Code::kInvalidValue);
}

TEST(Pad, WhatIsCutDoesNotComeBack) {
  const auto padded = [](std::vector<int64_t> pads, int32_t mode, int32_t extent) {
    Node node;
    node.input<int32_t>({4}, {0, 1, 2, 3}).input<int64_t>({2}, pads).output<int32_t>({extent});
    node.attributes(PadAttributes{mode});
    const Code code = node.run("Pad<32 bits>").code();
    return code == Code::kOk ? node.result<int32_t>() : std::vector<int32_t>{};
  };
  using Ints = std::vector<int32_t>;
  EXPECT_EQ(padded({-1, 4}, PadAttributes::kWrap, 7), (Ints{1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(padded({4, -1}, PadAttributes::kReflect, 7), (Ints{0, 1, 2, 1, 0, 1, 2}));
  EXPECT_EQ(padded({2, -1}, PadAttributes::kEdge, 5), (Ints{0, 0, 0, 1, 2}));
  EXPECT_EQ(padded({-2, -1}, PadAttributes::kWrap, 1), (Ints{2}));
  EXPECT_EQ(padded({-4, 2}, PadAttributes::kWrap, 2), Ints{});  // nothing is left
}

// ---- DepthToSpace, SpaceToDepth ----

TYPED_TEST(Movement, BlocksGoToSpaceAndBack) {
  using T = TypeParam;
  Random random(7);
  for (int round = 0; round < part_of(48); ++round) {
    const auto b = static_cast<int32_t>(random.number(1, 4));
    const auto c = static_cast<int32_t>(random.number(1, 4));
    const int32_t h = random.extent(5), w = random.extent(5);
    BlockAttributes attributes;
    attributes.blocksize = b;
    attributes.mode = round % 2;
    attributes.channels_last = round / 2 % 2;
    const bool last = attributes.channels_last != 0;
    // Of N, C, H, W or N, H, W, C.
    const auto ordered = [last](int64_t n, int64_t channel, int64_t y, int64_t x) {
      return last ? Index{n, y, x, channel} : Index{n, channel, y, x};
    };
    const auto dims = [&](int32_t channels, int32_t height, int32_t width) {
      return last ? Dims{2, height, width, channels} : Dims{2, channels, height, width};
    };
    const Dims deep = dims(c * b * b, h, w), wide = dims(c, h * b, w * b);
    const Dense<T> x = random.tensor<T>(deep);
    Node node;
    node.input<T>(deep, x.values).template output<T>(wide).attributes(attributes);
    ASSERT_TRUE(node.run(width_kernel_name("DepthToSpace", data_type_of<T>)).ok());
    const std::vector<T> y = node.result<T>();
    EXPECT_EQ(y, generate<T>(wide, [&](const Index& i) {
                const int64_t row = i[last ? 1 : 2], column = i[last ? 2 : 3];
                const int64_t depth = i[last ? 3 : 1], block = row % b * b + column % b;
                const int64_t channel = attributes.mode == BlockAttributes::kDcr
                                            ? block * c + depth
                                            : depth * b * b + block;
                return x.at(ordered(i[0], channel, row / b, column / b));
              }));
    Node back;
    back.input<T>(wide, y).template output<T>(deep).attributes(attributes);
    ASSERT_TRUE(back.run(width_kernel_name("SpaceToDepth", data_type_of<T>)).ok());
    EXPECT_EQ(back.result<T>(), x.values);
  }
}

TEST(DepthToSpace, ChannelsThatTheBlockDoesNotDivideAreRejected) {
  BlockAttributes attributes;
  attributes.blocksize = 2;
  Node node;
  node.input<float>({1, 6, 1, 1}, std::vector<float>(6)).output<float>({1, 1, 2, 2});
  node.attributes(attributes);
  EXPECT_EQ(node.check("DepthToSpace<32 bits>").code(), Code::kWrongExtent);
}

// ---- Trilu, ReverseSequence ----

TYPED_TEST(Movement, TriluWithAnyDiagonal) {
  using T = TypeParam;
  Random random(6);
  for (const int64_t k : {int64_t{0}, int64_t{1}, int64_t{-2}, int64_t{9}, kLeast, kMost}) {
    for (const int32_t upper : {0, 1}) {
      const Dense<T> x = random.tensor<T>({2, 4, 5});
      Node node;
      node.input<T>(x.dims, x.values).template input<int64_t>({}, {k});
      node.output<T>(x.dims).attributes(TriluAttributes{upper});
      if (k == 1) node.in_place(0);
      ASSERT_TRUE(node.run(width_kernel_name("Trilu", data_type_of<T>)).ok());
      EXPECT_EQ(node.result<T>(), generate<T>(x.dims, [&](const Index& i) {
                  const int64_t distance = i[2] - i[1];
                  return (upper != 0 ? distance >= k : distance <= k) ? x.at(i) : T{};
                }));
    }
  }
}

TEST(ReverseSequence, BothOrdersOfAxes) {
  const std::vector<int32_t> x = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  Node node;
  node.input<int32_t>({4, 4}, x).input<int64_t>({4}, {4, 3, 2, 1}).output<int32_t>({4, 4});
  node.attributes(ReverseSequenceAttributes{});
  ASSERT_TRUE(node.run("ReverseSequence<32 bits>").ok());
  EXPECT_EQ(node.result<int32_t>(),
            (std::vector<int32_t>{3, 6, 9, 12, 2, 5, 8, 13, 1, 4, 10, 14, 0, 7, 11, 15}));

  Node batch_first;
  batch_first.input<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}).input<int64_t>({2}, {0, 2});
  batch_first.output<int32_t>({2, 3}).attributes(ReverseSequenceAttributes{0, 1});
  ASSERT_TRUE(batch_first.run("ReverseSequence<32 bits>").ok());
  EXPECT_EQ(batch_first.result<int32_t>(), (std::vector<int32_t>{1, 2, 3, 5, 4, 6}));

  Node too_long;
  too_long.input<int32_t>({1, 3}, {1, 2, 3}).input<int64_t>({1}, {4}).output<int32_t>({1, 3});
  too_long.attributes(ReverseSequenceAttributes{0, 1});
  EXPECT_EQ(too_long.run("ReverseSequence<32 bits>").code(), Code::kIndexOutOfRange);
}

TEST(MovementCheck, TypesAndAttributesAreChecked) {
  Node short_attributes;
  short_attributes.input<float>({2, 3}, std::vector<float>(6)).output<float>({3, 2});
  short_attributes.attributes(TransposeAttributes{}).attribute_bytes(4);
  EXPECT_EQ(short_attributes.check("Transpose<32 bits>").code(), Code::kCorruptPlan);

  Node other_width;
  other_width.input<double>({2, 3}, std::vector<double>(6)).output<float>({3, 2});
  other_width.attributes(TransposeAttributes{});
  EXPECT_EQ(other_width.check("Transpose<32 bits>").code(), Code::kWrongType);

  TransposeAttributes twice;
  twice.perm.push(1);
  twice.perm.push(1);
  Node no_permutation;
  no_permutation.input<float>({2, 2}, std::vector<float>(4)).output<float>({2, 2});
  no_permutation.attributes(twice);
  EXPECT_FALSE(no_permutation.check("Transpose<32 bits>").ok());
}

}  // namespace
}  // namespace intarsia::test
