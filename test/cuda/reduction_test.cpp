// SPDX-License-Identifier: Apache-2.0
//
// Reductions on CUDA beside the CPU's reference kernels, which sum in double.
#include "kernels_cuda/reduction/reduce.h"

#include "test/cuda/typed_cases.h"

namespace intarsia::test {
namespace {

struct ReduceCase {
  Dims x;
  std::vector<int64_t> axes;
};
const ReduceCase kCases[] = {
    {{5, 7}, {1}},       {{5, 7}, {0}},          {{3, 5, 7}, {1}},          {{3, 5, 7}, {0, 2}},
    {{4, 16, 24}, {2}},  {{9, 384}, {-1}},       {{3, 2052}, {1}},          {{2, 2051}, {1}},
    {{2, 300, 70}, {1}}, {{2, 3, 4, 8}, {1, 3}}, {{2, 3, 5, 8}, {0, 2, 3}}, {{6, 5, 1}, {1, 2}},
    {{3, 0, 4}, {1}},    {{0, 4}, {1}},          {{3, 4}, {0, 1}},          {{1, 1}, {0}},
};

Dims reduced_dims(const ReduceCase& c, bool keeps) {
  Dims y;
  for (size_t i = 0; i < c.x.size(); ++i) {
    const bool reduced = std::any_of(c.axes.begin(), c.axes.end(), [&](int64_t axis) {
      return axis == static_cast<int64_t>(i) ||
             axis + static_cast<int64_t>(c.x.size()) == static_cast<int64_t>(i);
    });
    if (!reduced) y.push_back(c.x[i]);
    if (reduced && keeps) y.push_back(1);
  }
  return y;
}

Node reduce_node(DataType type, const ReduceCase& c, bool keeps, double low, double high) {
  Node node;
  node.input(type, c.x, numbers_of(type, c.x, 1, low, high));
  node.input<int64_t>({static_cast<int32_t>(c.axes.size())}, c.axes);
  node.output(type, reduced_dims(c, keeps)).attributes(ReduceAttributes{keeps ? 1 : 0, 0});
  return node;
}

void reduces(std::string_view op, DataType type) {
  const bool product = op == "ReduceProd", positive = op == "ReduceLogSum";
  const bool sum = op == "ReduceSum" || op == "ReduceSumSquare" || op == "ReduceL1";
  for (const ReduceCase& c : kCases) {
    // Means of nothing are NaN, sums of thousands of float16 must have a number that holds them.
    const double most = product ? 1.05 : type == kHalf && sum ? 1 : 3;
    const double least = product ? 0.95 : positive ? 0.5 : -most;
    // With the axes, without them; by packs, by elements.
    const bool keeps = c.axes.size() % 2 != 0, packs = op.size() % 2 != 0;
    const KernelUnderTest device = cuda_kernel_of(op, {type});
    const auto make = [&](bool kept) { return reduce_node(type, c, kept, least, most); };
    agree(
        packs ? device : unaligned(device), cpu_kernel_of(op, {type}), [&] { return make(keeps); },
        tolerance_of(type));
    if (op != "ReduceSum") continue;
    agree(
        unaligned(device), cpu_kernel_of(op, {type}), [&] { return make(!keeps); },
        tolerance_of(type));
    agree(
        device, cpu_kernel_of(op, {type}), [&] { return make(!keeps); }, tolerance_of(type));
  }
}
template <class... Ops>
void each_reduces(Types<Ops...>) {
  (reduces(Ops::name, kFloat), ...);
  (reduces(Ops::name, kHalf), ...);
}

TEST(CudaReduction, AnyAxes) {
  each_reduces(cuda::ReduceOperators());
  for (const DataType type : {DataType::kInt32, DataType::kInt64}) {
    for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin"}) reduces(op, type);
  }
}

TEST(CudaReduction, NaNAndInfinitiesAreThoseOfTheCpu) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = NAN;
  std::vector<double> x = numbers_of(kFloat, {4, 40}, 2);
  x[7] = kNaN;
  x[40 + 35] = kInf;
  x[80 + 1] = -kInf;
  for (int i = 0; i < 40; ++i) x[static_cast<size_t>(120 + i)] = -kInf;
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceLogSumExp", "ReduceSum"}) {
    for (const bool rows : {true, false}) {
      agree(cuda_kernel_of(op, {kFloat}), cpu_kernel_of(op, {kFloat}), [&] {
        Node node;
        node.input(kFloat, {4, 40}, x).input<int64_t>({1}, {rows ? 1 : 0});
        node.output(kFloat, rows ? Dims{4} : Dims{40}).attributes(ReduceAttributes{0, 0});
        return node;
      });
    }
  }
}

TEST(CudaReduction, WithoutAxesAllOrNoneAreReduced) {
  for (const int32_t none : {0, 1}) {
    agree(on_device("ReduceL1.cuda<float>"), cpu_kernel("ReduceL1<float>"), [&] {
      Node node;
      node.input(kFloat, {5, 6}, numbers_of(kFloat, {5, 6}, 3)).absent();
      node.output(kFloat, none != 0 ? Dims{5, 6} : Dims{1, 1});
      node.attributes(ReduceAttributes{1, none});
      return node;
    });
  }
}

/// Which axes follow from the extents, as digits; "?" if they do not.
std::string axes_of(const Dims& x, const Dims& y, bool keeps) {
  const auto view = [](const Dims& dims) {
    return TensorView{nullptr, dims.data(), kFloat, static_cast<uint8_t>(dims.size())};
  };
  const cuda::ReducedAxes axes(view(x), view(y), keeps);
  if (!axes.known) return "?";
  std::string text;
  for (size_t i = 0; i < x.size(); ++i) {
    if (axes.reduced[i]) text += std::to_string(i);
  }
  return text;
}

TEST(CudaReduction, AxesFollowFromExtentsOrTheNodeIsRefused) {
  EXPECT_EQ(axes_of({2, 3, 4}, {2, 1, 4}, true), "1");
  EXPECT_EQ(axes_of({2, 3, 4}, {2, 4}, false), "1");
  EXPECT_EQ(axes_of({2, 3, 4}, {}, false), "012");
  EXPECT_EQ(axes_of({4, 4}, {4, 1}, true), "1");
  EXPECT_EQ(axes_of({4, 4}, {4}, false), "?");  // either
  EXPECT_EQ(axes_of({2, 1, 4, 1}, {1, 4}, false), "0");
  EXPECT_EQ(axes_of({2, 3}, {3, 2}, false), "?");
  EXPECT_EQ(axes_of({2, 3}, {2, 2}, true), "?");
  EXPECT_EQ(axes_of({2}, {2, 1}, false), "?");
  EXPECT_EQ(axes_of({2, 3}, {2}, true), "?");
  Node either = reduce_node(kFloat, {{4, 4}, {1}}, false, -1, 1);
  EXPECT_EQ(either.check(on_device("ReduceSum.cuda<float>")).code(), Code::kUnsupported);
}

Node arg_node(DataType type, const Dims& dims, int32_t axis, bool last) {
  Dims y = dims;
  y[static_cast<size_t>(axis)] = 1;
  // Few values, so that many are equal; NaN in one line.
  std::vector<double> x = numbers_of(type, dims, 4, -3, 3);
  for (double& value : x) value = std::round(value);
  if (x.size() > 20) x[11] = x[12] = NAN;
  Node node;
  node.input(type, dims, x).output(DataType::kInt64, y);
  node.attributes(ArgReduceAttributes{axis, 1, last ? 1 : 0});
  return node;
}

TEST(CudaReduction, PlacesOfExtremes) {
  for (const DataType type : {kFloat, kHalf}) {
    for (const char* op : {"ArgMax", "ArgMin"}) {
      for (const Dims& dims : {Dims{5, 37, 6}, Dims{2, 3, 2052}, Dims{1, 9}, Dims{0, 4}}) {
        for (int32_t axis = dims[0] == 0 ? 1 : 0; axis < static_cast<int32_t>(dims.size());
             ++axis) {
          for (const bool last : {false, true}) {
            agree(
                cuda_kernel_of(op, {type}), cpu_kernel_of(op, {type}),
                [&] { return arg_node(type, dims, axis, last); }, 0);
          }
        }
      }
    }
  }
  Node empty;
  empty.input(kFloat, {3, 0}, {}).output(DataType::kInt64, {3, 1});
  empty.attributes(ArgReduceAttributes{1, 1, 0});
  EXPECT_EQ(empty.check(on_device("ArgMax.cuda<float>")).code(), Code::kWrongExtent);
}

TEST(CudaReduction, MistakesAreFound) {
  const auto find = [](const KernelUnderTest& device, const ReduceCase& c) {
    expect_mistakes_found(
        device, cpu_kernel("ReduceSumSquare<float>"),
        [&] { return reduce_node(kFloat, c, true, -2, 2); }, 1e-6);
  };
  const KernelUnderTest device = on_device("ReduceSumSquare.cuda<float>");
  find(device, {{3, 512}, {1}});             // a warp to a result, by packs
  find(unaligned(device), {{3, 256}, {1}});  // by elements
  find(device, {{2, 2048}, {1}});            // a block
  find(device, {{2, 64, 64}, {1}});          // side by side
  find(device, {{2, 3, 4, 8}, {1, 3}});      // two axes
}

}  // namespace
}  // namespace intarsia::test
