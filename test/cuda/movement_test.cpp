// SPDX-License-Identifier: Apache-2.0
//
// Operators that move elements, and how device code finds its place in their operands: the CUDA
// kernels' own sources in the emulator, beside the CPU's reference kernels.
#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/depth_to_space.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/movement/trilu.h"
#include "kernels_cuda/common/strided.h"
#include "test/cuda/counted.h"

namespace intarsia::test {
namespace {

KernelUnderTest device_copy(std::string_view op, DataType type) {
  return on_device(width_kernel_name(std::string(op) + ".cuda", type));
}
KernelUnderTest host_copy(std::string_view op, DataType type) {
  return cpu_kernel(width_kernel_name(op, type));
}
void same(std::string_view op, DataType type, const MakeNode& make) {
  agree(device_copy(op, type), host_copy(op, type), make, 0);
}
void same_and_checked(std::string_view op, DataType type, const MakeNode& make) {
  expect_mistakes_found(device_copy(op, type), host_copy(op, type), make, 0);
}

TEST(CudaMovement, DivisionByAMultiplicationIsExact) {
  constexpr int64_t kLast = cuda::kFastBound - 1;
  std::vector<int64_t> edges{0, 1, 2, 3, 5, 7, 10, 100, 641, 1000003, kLast - 1, kLast};
  for (int bit = 2; bit <= 31; ++bit) {
    const int64_t power = int64_t{1} << bit;
    for (const int64_t value : {power - 2, power - 1, power, power + 1}) {
      if (value <= kLast) edges.push_back(value);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) edges.push_back(random() & kLast);
  for (const int64_t divisor : edges) {
    if (divisor == 0) continue;
    const cuda::FastDivisor by(divisor);
    std::vector<int64_t> dividends = edges;
    for (const int64_t factor : {int64_t{1}, int64_t{2}, kLast / divisor}) {
      for (const int64_t near : {factor * divisor - 1, factor * divisor, factor * divisor + 1}) {
        if (near >= 0 && near <= kLast) dividends.push_back(near);
      }
    }
    for (const int64_t dividend : dividends) {
      ASSERT_EQ(by.quotient(static_cast<uint32_t>(dividend)), dividend / divisor)
          << dividend << " / " << divisor;
    }
  }
}

TEST(CudaMovement, DivisionOfLargeNumbersIsExact) {
  for (const int64_t divisor : {int64_t{7}, cuda::kFastBound + 3}) {
    for (const int64_t bound : {cuda::kFastBound, int64_t{1} << 40}) {
      const cuda::Divisor by(divisor, bound);
      for (const int64_t dividend : {int64_t{0}, int64_t{6}, int64_t{7}, bound / 2, bound - 1}) {
        int64_t quotient, remainder;
        by.divide(dividend, quotient, remainder);
        EXPECT_EQ(quotient, dividend / divisor);
        EXPECT_EQ(remainder, dividend % divisor);
      }
    }
  }
}

TEST(CudaMovement, AxesMergeWhereNeighboursFormOneRunInEveryOperand) {
  cuda::StridedAxes<2> dense;
  for (const int64_t extent : {3, 1, 5, 7}) {
    const int64_t step = extent == 3 ? 35 : extent == 5 ? 7 : 1;
    dense.add(extent, {step, step});
  }
  EXPECT_EQ(dense.rank, 1);
  EXPECT_EQ(dense.extents[0], 105);
  for (const int broadcast : {0, 1}) {
    cuda::StridedAxes<2> axes;
    axes.add(3, {broadcast == 0 ? 0 : 7, broadcast == 1 ? 0 : 7});
    axes.add(7, {1, 1});
    EXPECT_EQ(axes.rank, 2);
    int64_t at[2];
    axes.locate(8, at);
    EXPECT_EQ(at[broadcast], 1);
    EXPECT_EQ(at[1 - broadcast], 8);
  }
}

TEST(CudaMovement, PlacesBeyond32BitsAreFound) {
  // Of the output, of an operand in front of its first element, and of neither.
  for (const int64_t rows : {int64_t{3} << 30, int64_t{5}}) {
    for (const int64_t step : {int64_t{-1} * (int64_t{1} << 30), int64_t{2}}) {
      cuda::StridedAxes<1> axes;
      axes.add(rows, {step});
      axes.add(11, {13});
      EXPECT_EQ(axes.fast, rows == 5 && step == 2);
      for (const int64_t row : {int64_t{0}, int64_t{1}, rows - 1}) {
        for (const int64_t column : {0, 10}) {
          int64_t at[1];
          axes.locate(row * 11 + column, at);
          EXPECT_EQ(at[0], row * step + column * 13);
        }
      }
    }
  }
}

Node transpose_node(DataType type, const Dims& dims, const std::vector<int32_t>& perm) {
  TransposeAttributes attributes;
  Dims result;
  for (int32_t axis : perm) {
    attributes.perm.push(axis);
    result.push_back(dims[static_cast<size_t>(axis)]);
  }
  Node node;
  add_input(node, type, dims).output(type, result).attributes(attributes);
  return node;
}

TEST(CudaMovement, TransposeOfEveryWidth) {
  struct Case {
    Dims dims;
    std::vector<int32_t> perm;
  };
  const Case cases[] = {
      {{3, 5, 6, 7}, {2, 0, 3, 1}},  // no axis fills a tile
      {{3, 5, 0, 7}, {2, 0, 3, 1}},
      {{3, 5, 0, 7}, {3, 2, 1, 0}},  // empty
      {{}, {}},
      {{1, 9, 1}, {2, 0, 1}},  // one run
      {{2, 3, 5, 16}, {0, 2, 1, 3}},
      {{2, 3, 5, 6}, {0, 2, 1, 3}},
      {{3, 5, 7}, {1, 0, 2}},  // runs
      {{37, 41}, {1, 0}},
      {{3, 33, 35}, {0, 2, 1}},  // tiles
      {{2, 9, 3, 11}, {0, 3, 2, 1}},
      {{9, 2, 3, 11}, {3, 1, 2, 0}},
      {{9, 40, 2}, {1, 2, 0}},
  };
  for (const DataType type : kEveryWidth) {
    for (const Case& c : cases) {
      same("Transpose", type, [&] { return transpose_node(type, c.dims, c.perm); });
    }
  }
}

TEST(CudaMovement, TransposeMistakesAreFound) {
  same_and_checked("Transpose", kFloat, [] {
    return transpose_node(kFloat, {3, 5, 6, 7}, {2, 0, 3, 1});
  });
  // Blocks take two tiles each, so that one may overwrite what the other has not written out.
  same_and_checked("Transpose", kFloat, [] { return transpose_node(kFloat, {64, 64}, {1, 0}); });
  same_and_checked("Transpose", DataType::kInt16, [] {
    return transpose_node(DataType::kInt16, {5, 3, 16}, {1, 0, 2});
  });
}

TEST(CudaMovement, ViewsCopyWhatTheyCannotShare) {
  KernelUnderTest copy;
  copy.name = "copy";
  copy.run = [](const KernelContext& context) {
    std::memcpy(context.output(0).data, context.input(0).data,
                static_cast<size_t>(context.input(0).bytes()));
    return Status();
  };
  for (const DataType type : {kFloat, DataType::kInt64, DataType::kUint8}) {
    for (const Dims& dims : {Dims{3, 4, 7}, Dims{3, 0, 7}, Dims{1, 1, 1}}) {
      agree(
          on_device("Flatten.cuda"), copy,
          [&] {
            std::mt19937 random(21);
            Node node;
            node.input(type, dims, random_numbers(type, count_of(dims), random, 0, 100));
            node.output(type, {dims[0], dims[1] * dims[2]});
            return node;
          },
          0);
    }
  }
}

Node slice_node(DataType type, const Dims& dims, const std::vector<int64_t>& starts,
                const std::vector<int64_t>& ends, const std::vector<int64_t>& axes,
                const std::vector<int64_t>& steps, const Dims& result) {
  const Dims list{static_cast<int32_t>(starts.size())};
  Node node;
  add_input(node, type, dims).input(list, starts).input(list, ends);
  node.input(list, axes).input(list, steps).output(type, result);
  return node;
}

TEST(CudaMovement, SliceOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    const auto slice = [&](const Dims& dims, const std::vector<int64_t>& starts,
                           const std::vector<int64_t>& ends, const std::vector<int64_t>& axes,
                           const std::vector<int64_t>& steps, const Dims& result) {
      same("Slice", type,
           [&] { return slice_node(type, dims, starts, ends, axes, steps, result); });
    };
    slice({5, 7, 9}, {1, 2}, {4, 9}, {0, 2}, {1, 1}, {3, 7, 7});
    slice({5, 7, 9}, {-1, 8}, {-100, 0}, {1, -1}, {-2, -3}, {5, 4, 3});
    slice({4, 32, 3}, {8}, {24}, {1}, {1}, {4, 16, 3});  // runs of packs
    slice({4, 48}, {16}, {32}, {1}, {1}, {4, 16});
    slice({4, 48}, {1}, {33}, {1}, {1}, {4, 32});  // that are not aligned
    slice({4, 48}, {3}, {2}, {1}, {1}, {4, 0});
    slice({4, 48}, {2}, {3}, {0}, {INT64_MAX}, {1, 48});
    slice({12, 9}, {11, 8}, {-13, -10}, {0, 1}, {-1, -1}, {12, 9});
  }
  same_and_checked("Slice", kFloat, [] {
    return slice_node(kFloat, {5, 7, 9}, {1, 8}, {4, -100}, {0, 2}, {1, -2}, {3, 7, 5});
  });
}

TEST(CudaMovement, SliceTakesListsOfEitherTypeAndLeavesOutTheLast) {
  same("Slice", kFloat, [] {
    Node node;
    add_input(node, kFloat, {5, 7}).input<int32_t>({1}, {1}).input<int32_t>({1}, {3});
    node.output(kFloat, {2, 7});
    return node;
  });
  Node wrong;
  add_input(wrong, kFloat, {5, 7}).input<int64_t>({1}, {1}).input<int64_t>({1}, {3});
  wrong.output(kFloat, {3, 7});
  EXPECT_EQ(wrong.run(device_copy("Slice", kFloat)).code(), Code::kWrongExtent);
}

Node repeat_node(DataType type, const Dims& dims, const std::vector<int64_t>& list,
                 const Dims& result) {
  Node node;
  add_input(node, type, dims).input({static_cast<int32_t>(list.size())}, list);
  node.output(type, result);
  return node;
}

TEST(CudaMovement, ExpandAndTileOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    const auto expand = [&](const Dims& dims, const std::vector<int64_t>& list,
                            const Dims& result) {
      same("Expand", type, [&] { return repeat_node(type, dims, list, result); });
    };
    const auto tile = [&](const Dims& dims, const std::vector<int64_t>& list, const Dims& result) {
      same("Tile", type, [&] { return repeat_node(type, dims, list, result); });
    };
    expand({3, 1}, {2, 1, 37}, {2, 3, 37});
    expand({16, 1, 16}, {16, 9, 16}, {16, 9, 16});
    expand({}, {3, 3}, {3, 3});
    expand({1, 3}, {0, 3}, {0, 3});
    tile({3, 5, 7}, {2, 3, 1}, {6, 15, 7});
    tile({3, 5}, {1, 4}, {3, 20});
    tile({2, 16}, {3, 5}, {6, 80});
    tile({1, 2, 1, 2, 1, 2, 1, 2}, {2, 1, 2, 2, 1, 2, 2, 1}, {2, 2, 2, 4, 1, 4, 2, 2});
    tile({3, 0}, {2, 4}, {6, 0});
  }
  Node wrong = repeat_node(kFloat, {3, 2}, {3, 4}, {3, 4});
  EXPECT_EQ(wrong.check(device_copy("Expand", kFloat)).code(), Code::kWrongExtent);
  EXPECT_TRUE(wrong.check(device_copy("Tile", kFloat)).ok());
  Node part = repeat_node(kFloat, {3, 2}, {1, 1}, {3, 3});
  EXPECT_EQ(part.check(device_copy("Tile", kFloat)).code(), Code::kWrongExtent);
  same_and_checked("Tile", kFloat, [] {
    return repeat_node(kFloat, {3, 5, 7}, {2, 1, 2}, {6, 5, 14});
  });
}

TEST(CudaMovement, BlocksOfDepthBecomeSpaceAndBack) {
  for (const DataType type : kEveryWidth) {
    for (const int32_t mode : {BlockAttributes::kDcr, BlockAttributes::kCrd}) {
      for (const int32_t b : {1, 2, 3}) {
        const Dims deep{2, 5 * b * b, 3, 7}, wide{2, 5, 3 * b, 7 * b};
        same("DepthToSpace", type, [&] {
          Node node;
          add_input(node, type, deep).output(type, wide).attributes(BlockAttributes{b, mode});
          return node;
        });
        same("SpaceToDepth", type, [&] {
          Node node;
          add_input(node, type, wide).output(type, deep).attributes(BlockAttributes{b, mode});
          return node;
        });
      }
    }
  }
}

/// Parts of these extents along an axis, as Concat's inputs or as Split's outputs.
Node join_node(DataType type, Dims dims, int32_t axis, const std::vector<int32_t>& extents,
               bool joins, bool listed = true) {
  Node node;
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int32_t>(dims.size()) : axis);
  int32_t whole = 0;
  for (const int32_t extent : extents) whole += extent;
  dims[at] = whole;
  if (!joins) add_input(node, type, dims);
  if (!joins && listed) {
    node.input<int64_t>({static_cast<int32_t>(extents.size())}, {extents.begin(), extents.end()});
  }
  if (joins) node.output(type, dims).attributes(AxisAttributes{axis});
  std::vector<double> values = counted(type, count_of(dims));
  size_t next = 0;
  for (const int32_t extent : extents) {
    dims[at] = extent;
    const auto count = static_cast<size_t>(count_of(dims));
    if (joins) {
      node.input(type, dims, {values.begin() + next, values.begin() + next + count});
    } else {
      node.output(type, dims).attributes(SplitAttributes{axis, 0});
    }
    next += count;
  }
  return node;
}

TEST(CudaMovement, ConcatAndSplitOfEveryWidth) {
  std::vector<int32_t> many;
  for (int32_t i = 0; i < 35; ++i) many.push_back(i % 4);
  for (const DataType type : kEveryWidth) {
    for (const int32_t axis : {0, 1, -1}) {
      for (const auto& extents : {std::vector<int32_t>{3}, std::vector<int32_t>{0, 9, 2},
                                  std::vector<int32_t>{4, 0, 8, 4}, many}) {
        for (const Dims& dims : {Dims{3, 5, 7}, Dims{3, 2, 16}, Dims{1, 0, 2}}) {
          const auto join = [&] { return join_node(type, dims, axis, extents, true); };
          const auto split = [&] { return join_node(type, dims, axis, extents, false); };
          same("Concat", type, join);
          same("Split", type, split);
        }
      }
    }
  }
  const auto join = [] { return join_node(kFloat, {9, 8, 10}, 1, {8, 0, 2}, true); };
  const auto split = [] { return join_node(kFloat, {9, 8, 10}, 1, {8, 0, 3}, false); };
  same_and_checked("Concat", kFloat, join);
  same_and_checked("Split", kFloat, split);
}

TEST(CudaMovement, SplitWithoutAList) {
  same("Split", kFloat, [] { return join_node(kFloat, {3, 1, 5}, 1, {4, 4, 4}, false, false); });
  same("Split", kFloat, [] { return join_node(kFloat, {3, 1, 5}, 1, {4, 4, 3}, false, false); });
  Node sum = join_node(kFloat, {3, 1, 5}, 1, {4, 4, 4}, false);
  sum.output(kFloat, {3, 1, 5});
  EXPECT_EQ(sum.check(device_copy("Split", kFloat)).code(), Code::kWrongExtent);
  Node other = join_node(kFloat, {3, 1, 5}, 1, {4, 4}, false);
  other.output(kFloat, {2, 0, 5});
  EXPECT_EQ(other.check(device_copy("Split", kFloat)).code(), Code::kWrongExtent);
}

Node pad_node(DataType type, const Dims& dims, const std::vector<int64_t>& pads, int32_t mode,
              bool value = true) {
  Node node;
  Dims result = dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    result[i] += static_cast<int32_t>(pads[i] + pads[i + dims.size()]);
  }
  add_input(node, type, dims).input({static_cast<int32_t>(pads.size())}, pads);
  if (value) node.input(type, {}, {99});
  node.output(type, result).attributes(PadAttributes{mode});
  return node;
}

TEST(CudaMovement, PadOfEveryWidthAndMode) {
  for (const DataType type : kEveryWidth) {
    for (int32_t mode = 0; mode <= 3; ++mode) {
      const auto pad = [&](const Dims& dims, const std::vector<int64_t>& pads, bool value = true) {
        same("Pad", type, [&] { return pad_node(type, dims, pads, mode, value); });
      };
      pad({2, 5, 7}, {0, 1, 2, 0, 3, 1});
      pad({2, 5, 7}, {0, 1, 2, 0, 3, 1}, false);
      pad({3, 4, 2, 5}, {1, 0, 0, 0, 2, 0, 0, 0});
      pad({3, 4, 2, 5}, {0, 0, 0, 0, 0, 0, 0, 0});
      pad({5, 7}, {-1, -2, -3, 4});
      pad({3, 1}, {7, 9, 11, 4});  // wider than the input, more than once
      pad({5, 7}, {-2, 0, -3, 0});
      pad({5, 7, 2}, {-2, 4, 0, 3, -5, 0});  // what is cut does not come back
    }
    same("Pad", type, [&] { return pad_node(type, {0, 3}, {2, 1, 1, 0}, 0); });
  }
  same_and_checked("Pad", kFloat, [] {
    return pad_node(kFloat, {3, 7, 11}, {0, 1, 2, 0, 3, 1}, 1);
  });
}

TEST(CudaMovement, PadNamesAxesAndRefusesToContinueAnEmptyOne) {
  same("Pad", kFloat, [] {
    Node node;
    add_input(node, kFloat, {3, 5, 7}).input<int64_t>({4}, {2, 0, 1, 3}).absent();
    node.input<int32_t>({2}, {-1, 0}).output(kFloat, {6, 5, 10}).attributes(PadAttributes{});
    return node;
  });
  Node empty = pad_node(kFloat, {0, 3}, {2, 0, 0, 0}, PadAttributes::kEdge);
  EXPECT_EQ(empty.run(device_copy("Pad", kFloat)).code(), Code::kInvalidValue);
  Node values = pad_node(kFloat, {2, 3}, {2, 0, 0, 0}, 0, false);
  values.input<float>({2}, {1, 2});
  EXPECT_EQ(values.check(device_copy("Pad", kFloat)).code(), Code::kWrongExtent);
}

TEST(CudaMovement, TriluOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    for (const Dims& dims : {Dims{5, 7}, Dims{3, 7, 4}, Dims{2, 0, 4}}) {
      for (const int32_t upper : {0, 1}) {
        for (const int64_t k :
             {int64_t{0}, int64_t{1}, int64_t{-2}, int64_t{50}, INT64_MIN, INT64_MAX}) {
          same("Trilu", type, [&] {
            Node node;
            add_input(node, type, dims);
            if (k != 0) node.input<int64_t>({}, {k});
            node.output(type, dims).attributes(TriluAttributes{upper});
            return node;
          });
        }
      }
    }
  }
  same("Trilu", kFloat, [] {
    Node node;
    add_input(node, kFloat, {9, 9}).output(kFloat, {9, 9}).attributes(TriluAttributes{0});
    node.in_place(0);
    return node;
  });
}

}  // namespace
}  // namespace intarsia::test
