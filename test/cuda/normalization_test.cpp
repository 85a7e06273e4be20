// SPDX-License-Identifier: Apache-2.0
//
// Normalisations on CUDA beside the CPU's reference kernels, which compute statistics in double.
#include "core/operators/nn/normalization.h"
#include "test/cuda/typed_cases.h"

namespace intarsia::test {
namespace {

/// Far from zero beside its deviation, so that a variance in one pass would cancel.
std::vector<double> off_center(DataType type, const Dims& dims, unsigned seed) {
  return numbers_of(type, dims, seed, 3, 5);
}

Dims from_axis(const Dims& dims, int axis) {
  return {dims.begin() + axis, dims.end()};
}

Node layer_norm_node(DataType type, const Dims& dims, int axis, bool shift, int statistics) {
  const Dims tail = from_axis(dims, axis);
  Node node;
  node.input(type, dims, off_center(type, dims, 1)).input(type, tail, numbers_of(type, tail, 2));
  if (shift) {
    node.input(type, tail, numbers_of(type, tail, 3));
  } else {
    node.absent();
  }
  node.output(type, dims);
  Dims rows = dims;
  for (size_t i = static_cast<size_t>(axis); i < rows.size(); ++i) rows[i] = 1;
  for (int i = 0; i < statistics; ++i) node.output(kFloat, rows);
  node.attributes(LayerNormalizationAttributes{axis, 1e-5f, 1});
  return node;
}

TEST(CudaNormalization, LayersOfAnyLength) {
  for (const DataType type : kReals) {
    const auto device = cuda_kernel_of("LayerNormalization", {type});
    const auto reference = cpu_kernel_of("LayerNormalization", {type});
    for (const Dims& dims : {Dims{5, 7}, Dims{3, 1}, Dims{0, 5}, Dims{9, 384}, Dims{3, 768},
                             Dims{2, 2050}, Dims{2, 4608}, Dims{2, 333}}) {
      for (const bool shift : {false, true}) {
        const auto make = [&] { return layer_norm_node(type, dims, 1, shift, 0); };
        agree(device, reference, make, tolerance_of(type));
      }
      const auto make = [&] {
        return std::move(layer_norm_node(type, dims, 1, true, 0).in_place(0));
      };
      agree(unaligned(device), reference, make, tolerance_of(type));
    }
    for (const int axis : {0, 1, 2}) {
      const auto make = [&] { return layer_norm_node(type, {3, 5, 24}, axis, true, 0); };
      agree(device, reference, make, tolerance_of(type));
    }
  }
}

TEST(CudaNormalization, LayersGiveTheirStatistics) {
  for (const Dims& dims : {Dims{6, 50}, Dims{6, 2048}, Dims{2, 0}}) {
    const auto make = [&] { return layer_norm_node(kFloat, dims, 1, true, 2); };
    Node expected = make(), found = make();
    ASSERT_TRUE(expected.run("LayerNormalization<float>").ok());
    ASSERT_TRUE(found.run(on_device("LayerNormalization.cuda<float>")).ok());
    for (const int output : {0, 1, 2}) {
      EXPECT_TRUE(near(found.numbers(output), expected.numbers(output), 1e-5)) << output;
    }
  }
}

TEST(CudaNormalization, RowsByTheirMeanSquare) {
  for (const auto& [x, v] : {std::pair{kFloat, kFloat}, {kHalf, kHalf}, {kHalf, kFloat}}) {
    for (const Dims& dims : {Dims{5, 7}, Dims{9, 384}, Dims{2, 2048}, Dims{2, 333}}) {
      const Dims tail = from_axis(dims, 1);
      agree(
          cuda_kernel_of("RMSNormalization", {x, v}), cpu_kernel_of("RMSNormalization", {x, v}),
          [&, x = x, v = v] {
            Node node;
            node.input(x, dims, numbers_of(x, dims, 4)).input(v, tail, numbers_of(v, tail, 5));
            node.output(v, dims).attributes(LayerNormalizationAttributes{});
            return node;
          },
          tolerance_of(v));
    }
  }
}

TEST(CudaNormalization, LayerMistakesAreFound) {
  const auto reference = cpu_kernel("LayerNormalization<float>");
  const auto device = on_device("LayerNormalization.cuda<float>");
  // A warp to a row, by packs and by elements; a block to a row, beyond its registers too.
  expect_mistakes_found(device, reference, [] {
    return layer_norm_node(kFloat, {4, 512}, 1, true, 0);
  });
  expect_mistakes_found(unaligned(device), reference, [] {
    return layer_norm_node(kFloat, {4, 256}, 1, true, 0);
  });
  expect_mistakes_found(device, reference, [] {
    return layer_norm_node(kFloat, {2, 2560}, 1, true, 0);
  });
}

/// The channels are axis 1, or the last one.
Node batch_norm_node(DataType type, DataType parameters, const Dims& dims, bool last) {
  const Dims channels{dims.size() == 1 ? 1 : last ? dims.back() : dims[1]};
  Node node;
  node.input(type, dims, off_center(type, dims, 6));
  for (unsigned seed = 7; seed < 10; ++seed) {
    node.input(parameters, channels, numbers_of(parameters, channels, seed));
  }
  node.input(parameters, channels, numbers_of(parameters, channels, 10, 0.5, 2));
  BatchNormalizationAttributes attributes;
  attributes.channels_last = last ? 1 : 0;
  node.output(type, dims).attributes(attributes);
  return node;
}

TEST(CudaNormalization, BatchesInBothLayouts) {
  for (const auto& [x, p] : {std::pair{kFloat, kFloat}, {kHalf, kHalf}, {kHalf, kFloat}}) {
    const auto device = cuda_kernel_of("BatchNormalization", {x, p, p});
    const auto reference = cpu_kernel_of("BatchNormalization", {x, p, p});
    for (const Dims& dims : {Dims{3, 5, 7, 3}, Dims{2, 3, 8, 8}, Dims{5, 24}, Dims{9},
                             Dims{2, 5, 3, 16}, Dims{0, 3, 4}}) {
      for (const bool last : {false, true}) {
        if (last && dims.size() < 3) continue;
        const auto make = [&, x = x, p = p] { return batch_norm_node(x, p, dims, last); };
        agree(device, reference, make, tolerance_of(x));
        agree(unaligned(device), reference, make, tolerance_of(x));
      }
    }
  }
  Node training = batch_norm_node(kFloat, kFloat, {2, 3, 4}, false);
  BatchNormalizationAttributes attributes;
  attributes.training_mode = 1;
  training.attributes(attributes);
  EXPECT_EQ(training.check(on_device("BatchNormalization.cuda<float, float, float>")).code(),
            Code::kUnsupported);
}

Node group_norm_node(DataType type, const Dims& dims, int groups) {
  const Dims channels{dims[1]};
  Node node;
  node.input(type, dims, off_center(type, dims, 11));
  node.input(type, channels, numbers_of(type, channels, 12));
  node.input(type, channels, numbers_of(type, channels, 13)).output(type, dims);
  if (groups > 0) {
    node.attributes(GroupNormalizationAttributes{1e-5f, groups, 1});
  } else {
    node.attributes(InstanceNormalizationAttributes{});
  }
  return node;
}

TEST(CudaNormalization, GroupsAndInstances) {
  for (const DataType type : kReals) {
    for (const Dims& dims :
         {Dims{2, 6, 5, 7}, Dims{1, 4, 16, 20}, Dims{2, 6}, Dims{3, 6, 1111}, Dims{0, 4, 3}}) {
      for (const int groups : {0, 1, 2}) {
        const char* op = groups > 0 ? "GroupNormalization" : "InstanceNormalization";
        const auto make = [&] { return group_norm_node(type, dims, groups); };
        const auto device = cuda_kernel_of(op, {type}), reference = cpu_kernel_of(op, {type});
        // An instance of few elements magnifies what they are off.
        const double tolerance = type == kFloat ? 1e-4 : tolerance_of(type);
        agree(groups == 1 ? unaligned(device) : device, reference, make, tolerance);
      }
    }
  }
}

TEST(CudaNormalization, GroupMistakesAreFound) {
  const auto device = on_device("GroupNormalization.cuda<float>");
  const auto reference = cpu_kernel("GroupNormalization<float>");
  expect_mistakes_found(device, reference, [] { return group_norm_node(kFloat, {1, 4, 2048}, 2); });
  expect_mistakes_found(unaligned(device), reference, [] {
    return group_norm_node(kFloat, {1, 4, 1024}, 2);
  });
}

}  // namespace
}  // namespace intarsia::test
