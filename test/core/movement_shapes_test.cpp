// SPDX-License-Identifier: Apache-2.0
//
// Shape rules of movement and indexing operators over symbolic extents: exact where starts, sizes
// and scales are known, within the input's extents where they are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/definitions/symbolic_shape.h"
#include "core/operators/indexing/gather.h"
#include "core/operators/indexing/selection.h"
#include "core/operators/movement/concat_split.h"
#include "core/operators/movement/pad.h"
#include "core/operators/movement/resize.h"
#include "core/operators/movement/slice.h"

namespace intarsia::test {
namespace {

using definitions::Dim;
using definitions::SymbolicInput;
using definitions::SymbolicShapeContext;
using definitions::SymbolTable;

SymbolicInput tensor(const std::vector<Dim>& extents) {
  SymbolicInput input;
  input.present = true;
  input.type = DataType::kFloat;
  for (const Dim& extent : extents) input.shape.push(extent);
  return input;
}

SymbolicInput list(const std::vector<Dim>& values) {
  SymbolicInput input = tensor({static_cast<int64_t>(values.size())});
  input.type = DataType::kInt64;
  input.values = values;
  return input;
}

/// The extents of the outputs, or "error".
template <class Rule, class A = NoAttributes>
std::string infer(const std::vector<SymbolicInput>& inputs, const A& attributes = {},
                  int outputs = 1) {
  SymbolicShapeContext context(inputs, outputs, std::as_bytes(std::span(&attributes, 1)));
  if (!Rule::infer(context)) return "error";
  std::string text;
  for (const auto& output : context.outputs()) {
    text += "[";
    for (int axis = 0; axis < output.shape.rank; ++axis) {
      text += (axis > 0 ? ", " : "") + output.shape[axis].to_string();
    }
    text += "]";
  }
  return text;
}

/// Largest extent of axis `axis` of output 0.
template <class Rule, class A = NoAttributes>
int64_t largest(const std::vector<SymbolicInput>& inputs, int axis, const A& attributes = {}) {
  SymbolicShapeContext context(inputs, 1, std::as_bytes(std::span(&attributes, 1)));
  EXPECT_TRUE(Rule::infer(context).ok()) << context.text();
  return context.outputs()[0].shape[axis].upper();
}

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

TEST(SliceShape, KnownBoundsOfASymbolicAxisAreExact) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 1000);
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return infer<ops::Slice>({tensor({n}), list({start}), list({end}), list({0}), list({step})});
  };
  EXPECT_EQ(slice(0, kEnd, 1), "[N]");
  EXPECT_EQ(slice(-1, -kEnd, -1), "[N]");
  EXPECT_EQ(slice(-1, kEnd, 1), "[1]");
  EXPECT_EQ(slice(0, -1, 1), "[N - 1]");
  EXPECT_EQ(slice(1, kEnd, 1), "[N - 1]");
  EXPECT_EQ(slice(0, 0, 1), "[0]");
  EXPECT_EQ(slice(0, 1, 1), "[1]");
  EXPECT_EQ(slice(0, 4, 0), "error");
}

/// For every start, end and extent the expressions give what the numbers give.
TEST(SliceShape, ExpressionsAgreeWithNumbers) {
  const std::vector<int64_t> bounds = {-kEnd, -7, -3, -1, 0, 2, 9, kEnd};
  for (int64_t step : {-3, -1, 1, 2}) {
    SymbolTable symbols;
    const Dim n = symbols.add("N", 0, 50);
    const Dim start = symbols.add("S", -60, 60), end = symbols.add("E", -60, 60);
    const Dim computed = ops::Slice::range<Dim>(start, end, step, n).extent;
    for (int64_t s : bounds) {
      for (int64_t e : bounds) {
        const Dim known = ops::Slice::range<Dim>(s, e, step, n).extent;
        for (const int64_t extent : {0, 1, 3, 8}) {
          const int64_t expected = ops::Slice::range<CheckedInt>(s, e, step, extent).extent.value();
          const std::vector<int64_t> values = {extent, std::clamp<int64_t>(s, -60, 60),
                                               std::clamp<int64_t>(e, -60, 60)};
          ASSERT_EQ(known.evaluate(values), expected) << s << ":" << e << ":" << step;
          ASSERT_EQ(computed.evaluate(values), expected) << s << ":" << e << ":" << step;
        }
      }
    }
  }
}

TEST(SliceShape, UnknownBoundsStayWithinTheAxis) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  const Dim unknown = Dim::unknown();
  EXPECT_EQ(largest<ops::Slice>({tensor({n}), list({Dim::unknown()}), list({unknown})}, 0), 100);
  EXPECT_EQ(largest<ops::Slice>({tensor({n}), list({0}), list({9}), list({unknown})}, 0), 100);
  EXPECT_EQ(largest<ops::Slice>({tensor({n}), list({0}), list({unknown}), list({0}), list({2})}, 0),
            50);
}

TEST(ConcatShape, ExtentsAddUp) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  EXPECT_EQ(
      infer<ops::Concat>({tensor({n, 4}), tensor({2, 4}), tensor({n, 4})}, ConcatAttributes{0}),
      "[N*2 + 2, 4]");
  EXPECT_EQ(infer<ops::Concat>({tensor({n, 4}), tensor({n, 5})}, ConcatAttributes{0}), "error");
}

TEST(SplitShape, EvenAndListedParts) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  EXPECT_EQ(infer<ops::Split>({tensor({n, 7})}, SplitAttributes{1, 3}, 3), "[N, 3][N, 3][N, 1]");
  EXPECT_EQ(infer<ops::Split>({tensor({7}), list({2, 5})}, SplitAttributes{}, 2), "[2][5]");
  EXPECT_EQ(infer<ops::Split>({tensor({7}), list({2, 4})}, SplitAttributes{}, 2), "error");
}

TEST(PadShape, PadsAreAdded) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  EXPECT_EQ(infer<ops::Pad>({tensor({n, 4}), list({1, 0, 2, -1})}, PadAttributes{}), "[N + 3, 3]");
  EXPECT_EQ(infer<ops::Pad>({tensor({n, 4}), list({0, -3, 0, -3})}, PadAttributes{}), "error");
}

TEST(GatherShape, IndicesReplaceTheAxis) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  EXPECT_EQ(infer<ops::Gather>({tensor({5, n}), tensor({2, 3})}, AxisAttributes{0}), "[2, 3, N]");
  EXPECT_EQ(infer<ops::GatherND>({tensor({n, 4, 5}), tensor({n, 2})}, GatherNDAttributes{0}),
            "[N, 5]");
}

TEST(SelectionShape, IsBoundedByTheInput) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  EXPECT_EQ(largest<ops::NonZero>({tensor({n, 3})}, 1), 300);
  EXPECT_EQ(largest<ops::Compress>({tensor({n, 3}), tensor({7})}, 0, CompressAttributes{0}), 7);
  EXPECT_EQ(largest<ops::TopK>({tensor({n}), list({Dim::unknown()})}, 0, TopKAttributes{}), 100);
  EXPECT_EQ(infer<ops::TopK>({tensor({5}), list({3})}, TopKAttributes{}, 2), "[3][3]");
  EXPECT_EQ(infer<ops::TopK>({tensor({5}), list({6})}, TopKAttributes{}, 2), "error");
}

TEST(ResizeShape, ScalesAndSizes) {
  SymbolTable symbols;
  const Dim n = symbols.add("N", 1, 100);
  SymbolicInput scales = tensor({2});
  scales.reals = std::vector<double>{1.0, 2.5};
  const SymbolicInput absent;
  EXPECT_EQ(infer<ops::Resize>({tensor({n, 3}), absent, scales}, ResizeAttributes{}), "[N, 7]");
  EXPECT_EQ(infer<ops::Resize>({tensor({3, n}), absent, scales}, ResizeAttributes{}),
            "[3, N*2 + floor(N/2)]");
  EXPECT_EQ(
      infer<ops::Resize>({tensor({3, n}), absent, absent, list({6, n * 2})}, ResizeAttributes{}),
      "[6, N*2]");
  EXPECT_EQ(infer<ops::Resize>({tensor({3, n}), absent, scales, list({6, 4})}, ResizeAttributes{}),
            "error");
}

}  // namespace
}  // namespace intarsia::test
