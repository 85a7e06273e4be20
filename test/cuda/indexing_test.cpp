// SPDX-License-Identifier: Apache-2.0
//
// Operators that read and write at indices: the CUDA kernels' own sources in the emulator, beside
// the CPU's reference kernels; what device code reports of indices out of range.
#include "core/operators/indexing/gather.h"
#include "core/operators/indexing/one_hot.h"
#include "core/operators/indexing/scatter.h"
#include "test/cuda/counted.h"

namespace intarsia::test {
namespace {

constexpr DataType kInt32 = DataType::kInt32, kInt64 = DataType::kInt64;

/// Indices of either sign.
std::vector<double> indices_below(int32_t extent, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  return random_numbers(kInt64, count, random, -extent, extent - 1);
}

/// "Gather.cuda<32 bits, int64>", or without the index.
std::string text_of(std::string_view op, DataType type, DataType index = DataType::kUndefined) {
  std::string text = width_kernel_name(op, type);
  if (index == DataType::kUndefined) return text;
  text.back() = ',';
  return text + " " + std::string(data_type_name(index)) + ">";
}
KernelUnderTest device_kernel(const std::string& op, DataType type,
                              DataType index = DataType::kUndefined) {
  return on_device(text_of(op + ".cuda", type, index));
}
void same(const std::string& op, DataType type, DataType index, const MakeNode& make) {
  agree(device_kernel(op, type, index), cpu_kernel(text_of(op, type, index)), make, 0);
}
void same_and_checked(const std::string& op, DataType type, DataType index, const MakeNode& make) {
  expect_mistakes_found(device_kernel(op, type, index), cpu_kernel(text_of(op, type, index)), make,
                        0);
}

Node gather_node(DataType type, DataType index, const Dims& dims, int32_t axis, const Dims& at,
                 unsigned seed = 1) {
  const auto place = static_cast<size_t>(axis < 0 ? axis + static_cast<int>(dims.size()) : axis);
  Dims result(dims.begin(), dims.begin() + static_cast<int64_t>(place));
  result.insert(result.end(), at.begin(), at.end());
  result.insert(result.end(), dims.begin() + static_cast<int64_t>(place) + 1, dims.end());
  Node node;
  add_input(node, type, dims).input(index, at, indices_below(dims[place], count_of(at), seed));
  node.output(type, result).attributes(AxisAttributes{axis});
  return node;
}

TEST(CudaIndexing, GatherOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    for (const DataType index : {kInt32, kInt64}) {
      const auto gather = [&](const Dims& dims, int32_t axis, const Dims& at) {
        same("Gather", type, index, [&] { return gather_node(type, index, dims, axis, at); });
      };
      gather({9, 16}, 0, {5, 3});  // rows of packs
      gather({9, 7}, 0, {5, 3});
      gather({3, 9, 5}, 1, {});
      gather({3, 4, 9}, -1, {11});
      gather({9}, 0, {37});
      gather({3, 9, 0}, 1, {2});
      gather({3, 9, 4}, 1, {0, 2});
    }
  }
  same_and_checked("Gather", kFloat, kInt64, [] {
    return gather_node(kFloat, kInt64, {3, 9, 5}, 1, {2, 7});
  });
}

TEST(CudaIndexing, GatherElementsOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    for (const DataType index : {kInt32, kInt64}) {
      for (const int32_t axis : {0, 1, -1}) {
        for (const Dims& at : {Dims{5, 7, 9}, Dims{2, 3, 4}, Dims{3, 0, 4}}) {
          const Dims dims{5, 7, 9};
          same("GatherElements", type, index, [&] {
            Node node;
            const int32_t extent = dims[static_cast<size_t>(axis < 0 ? 2 : axis)];
            add_input(node, type, dims).input(index, at, indices_below(extent, count_of(at), 2));
            node.output(type, at).attributes(AxisAttributes{axis});
            return node;
          });
        }
      }
    }
  }
}

std::vector<double> tuples_within(const Dims& extents, int64_t tuples, unsigned seed) {
  std::vector<double> result;
  std::mt19937 random(seed);
  for (int64_t i = 0; i < tuples; ++i) {
    for (const int32_t extent : extents) {
      result.push_back(random_numbers(kInt64, 1, random, -extent, extent - 1)[0]);
    }
  }
  return result;
}

TEST(CudaIndexing, GatherNDOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    const auto gather = [&](const Dims& dims, int32_t batch, const Dims& at, const Dims& result) {
      same("GatherND", type, DataType::kUndefined, [&] {
        const Dims named(dims.begin() + batch, dims.begin() + batch + at.back());
        int64_t tuples = 1;
        for (size_t i = 0; i + 1 < at.size(); ++i) tuples *= at[i];
        Node node;
        add_input(node, type, dims).input(kInt64, at, tuples_within(named, tuples, 3));
        node.output(type, result).attributes(GatherNDAttributes{batch});
        return node;
      });
    };
    gather({5, 7, 16}, 0, {3, 4, 2}, {3, 4, 16});
    gather({5, 7, 9}, 0, {6, 1}, {6, 7, 9});
    gather({5, 7, 9}, 0, {6, 3}, {6});
    gather({3, 5, 7, 9}, 1, {3, 11, 2}, {3, 11, 9});
    gather({3, 5, 7, 9}, 2, {3, 5, 1}, {3, 5, 9});
    gather({5, 7}, 0, {2, 0}, {2, 5, 7});
  }
}

Node scatter_elements_node(DataType type, DataType index, const Dims& dims, const Dims& at,
                           int32_t axis) {
  Node node;
  const int32_t extent = dims[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
  add_input(node, type, dims).input(index, at, indices_below(extent, count_of(at), 4));
  std::vector<double> updates = counted(type, count_of(at));
  for (double& update : updates) update = type == DataType::kUint8 ? 255 - update : -update;
  node.input(type, at, updates).output(type, dims);
  node.attributes(ScatterElementsAttributes{0, axis});
  return node;
}

TEST(CudaIndexing, OfUpdatesThatMeetTheLastOneCounts) {
  for (const DataType type : kEveryWidth) {
    for (const DataType index : {kInt32, kInt64}) {
      for (const int32_t axis : {0, 1, -1}) {
        for (const Dims& at : {Dims{5, 7, 9}, Dims{5, 2, 3}, Dims{1, 1, 1}, Dims{0, 2, 2}}) {
          const auto make = [&] { return scatter_elements_node(type, index, {5, 7, 9}, at, axis); };
          same("ScatterElements", type, index, make);
          same("ScatterElements", type, index, [&] {
            Node node = make();
            node.in_place(0);
            return node;
          });
        }
      }
    }
  }
}

Node scatter_nd_node(DataType type, const Dims& dims, const Dims& at, const Dims& updates) {
  const Dims named(dims.begin(), dims.begin() + at.back());
  int64_t tuples = 1;
  for (size_t i = 0; i + 1 < at.size(); ++i) tuples *= at[i];
  Node node;
  add_input(node, type, dims).input(kInt64, at, tuples_within(named, tuples, 5));
  std::vector<double> values = counted(type, count_of(updates));
  for (double& value : values) value = type == DataType::kUint8 ? 255 - value : -value;
  node.input(type, updates, values).output(type, dims).attributes(ScatterNDAttributes{0});
  return node;
}

TEST(CudaIndexing, ScatterNDOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    const auto scatter = [&](const Dims& dims, const Dims& at, const Dims& updates) {
      same("ScatterND", type, DataType::kUndefined,
           [&] { return scatter_nd_node(type, dims, at, updates); });
    };
    scatter({5, 7, 16}, {3, 2}, {3, 16});
    scatter({3, 7}, {40, 2}, {40});  // many meet
    scatter({5, 7, 9}, {2, 2, 1}, {2, 2, 7, 9});
    scatter({5, 7}, {0, 1}, {0, 7});
    scatter({5, 7}, {1, 0}, {1, 5, 7});
  }
}

TEST(CudaIndexing, ScatterOfMoreUpdatesThanAreComparedIsRefused) {
  Node many = scatter_nd_node(kFloat, {5, 7}, {1025, 1}, {1025, 7});
  EXPECT_EQ(many.check(device_kernel("ScatterND", kFloat)).code(), Code::kUnsupported);
  Node few = scatter_nd_node(kFloat, {5, 7}, {1024, 1}, {1024, 7});
  EXPECT_TRUE(few.check(device_kernel("ScatterND", kFloat)).ok());
  Node sum = scatter_nd_node(kFloat, {5, 7}, {2, 1}, {2, 7});
  sum.attributes(ScatterNDAttributes{1});
  EXPECT_EQ(sum.check(device_kernel("ScatterND", kFloat)).code(), Code::kUnsupported);
  Node elements = scatter_elements_node(kFloat, kInt64, {5, 7, 9}, {5, 7, 9}, 1);
  elements.attributes(ScatterElementsAttributes{2, 1});
  EXPECT_EQ(elements.check(device_kernel("ScatterElements", kFloat, kInt64)).code(),
            Code::kUnsupported);
}

TEST(CudaIndexing, ScatterMistakesAreFound) {
  same_and_checked("ScatterElements", kFloat, kInt64, [] {
    return scatter_elements_node(kFloat, kInt64, {5, 7, 9}, {5, 6, 9}, 1);
  });
}

TEST(CudaIndexing, OneHotOfEveryWidth) {
  for (const DataType type : kEveryWidth) {
    for (const DataType index : {kInt32, kInt64, kFloat}) {
      for (const int32_t axis : {0, 1, -1}) {
        same("OneHot", type, DataType::kUndefined, [&] {
          Dims result{4, 5};
          result.insert(axis < 0 ? result.end() : result.begin() + axis, 7);
          std::mt19937 random(6);
          std::vector<double> at = random_numbers(index, 20, random, -9, 9);
          if (index == kFloat) at[3] = 1e30;
          Node node;
          node.input(index, {4, 5}, at).input(kInt64, {1}, {7}).input(type, {2}, {3, 8});
          node.output(type, result).attributes(OneHotAttributes{axis});
          return node;
        });
      }
    }
  }
  Node bytes;
  bytes.input<uint8_t>({2}, {1, 2}).input<int64_t>({1}, {3}).input<float>({2}, {0, 1});
  bytes.output<float>({2, 3}).attributes(OneHotAttributes{-1});
  EXPECT_EQ(bytes.check(device_kernel("OneHot", kFloat)).code(), Code::kUnsupported);
  Node other;
  other.input<int64_t>({2}, {1, 2}).input<int64_t>({1}, {3}).input<float>({2}, {0, 1});
  other.output<float>({3, 3}).attributes(OneHotAttributes{-1});
  EXPECT_EQ(other.check(device_kernel("OneHot", kFloat)).code(), Code::kWrongExtent);
}

/// What both devices say of indices that do not all lie in range.
void expect_reported(const std::string& op, DataType index, const MakeNode& make) {
  Node expected = make();
  ASSERT_EQ(expected.run(cpu_kernel(text_of(op, kFloat, index))).code(), Code::kIndexOutOfRange);
  for (int order = 0; order < TestDevice::kOrders; ++order) {
    TestDevice::get().reset(order);
    Node node = make();
    ASSERT_TRUE(node.run(device_kernel(op, kFloat, index)).ok());
    EXPECT_EQ(TestDevice::get().violations(), "");
    const cuda::Report report = TestDevice::get().report;
    ASSERT_NE(report, cuda::kNoFailure);
    EXPECT_FALSE(cuda::is_singular_matrix(report));
    EXPECT_EQ(cuda::index_of(report), expected.diagnostic().found);
    EXPECT_EQ(cuda::axis_of(report), expected.diagnostic().axis);
  }
}

TEST(CudaIndexing, AnIndexOutOfRangeIsReportedAsOnTheCpu) {
  for (const auto& at :
       {std::vector<double>{0, 9, 2, 11, -10}, std::vector<double>{0, -10, 8, -77, 1},
        std::vector<double>{-9, 8, 0, 0, 9}}) {
    expect_reported("Gather", kInt64, [&] {
      Node node;
      add_input(node, kFloat, {3, 9, 4}).input(kInt64, {5}, at).output(kFloat, {3, 5, 4});
      node.attributes(AxisAttributes{1});
      return node;
    });
    expect_reported("GatherElements", kInt32, [&] {
      Node node;
      add_input(node, kFloat, {1, 9}).input(kInt32, {1, 5}, at).output(kFloat, {1, 5});
      node.attributes(AxisAttributes{1});
      return node;
    });
    expect_reported("ScatterElements", kInt32, [&] {
      Node node;
      add_input(node, kFloat, {1, 9}).input(kInt32, {1, 5}, at);
      add_input(node, kFloat, {1, 5}).output(kFloat, {1, 9});
      node.attributes(ScatterElementsAttributes{0, 1});
      return node;
    });
  }
  // Of several axes the first is named.
  const std::vector<double> tuples{1, 9, 5, 0, -6, 99};
  expect_reported("GatherND", DataType::kUndefined, [&] {
    Node node;
    add_input(node, kFloat, {5, 7, 4}).input(kInt64, {3, 2}, tuples).output(kFloat, {3, 4});
    node.attributes(GatherNDAttributes{0});
    return node;
  });
  expect_reported("ScatterND", DataType::kUndefined, [&] {
    Node node;
    add_input(node, kFloat, {5, 7, 4}).input(kInt64, {3, 2}, tuples);
    add_input(node, kFloat, {3, 4}).output(kFloat, {5, 7, 4}).attributes(ScatterNDAttributes{0});
    return node;
  });
}

TEST(CudaIndexing, ReportsAreReadAsTheyWereWritten) {
  int64_t least = -1;
  for (const int64_t index : {int64_t{INT32_MAX} + 5, int64_t{INT32_MAX}, int64_t{77}, int64_t{0},
                              int64_t{INT32_MIN}, int64_t{INT32_MIN} - 5, int64_t{-1}}) {
    const cuda::Report report =
        (cuda::Report{123456} << 36) | (cuda::Report{7} << 32) | cuda::index_item(index);
    EXPECT_EQ(cuda::index_of(report),
              std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, index)));
    EXPECT_EQ(cuda::node_of(report), 123456);
    EXPECT_EQ(cuda::axis_of(report), 7);
    // The order in which one is named before another.
    EXPECT_GE(int64_t{cuda::index_item(index)}, least);
    least = cuda::index_item(index);
  }
}

}  // namespace
}  // namespace intarsia::test
