// SPDX-License-Identifier: Apache-2.0
//
// CUDA kernels that work along an axis, Rotate and pooling, beside the CPU's reference kernels, of
// float and float16.
#include "core/operators/nn/attention.h"
#include "core/operators/nn/pool.h"
#include "core/operators/nn/softmax.h"
#include "test/cuda/typed_cases.h"

namespace intarsia::test {
namespace {

Node softmax_node(DataType type, const Dims& dims, int32_t axis) {
  Node node;
  node.input(type, dims, numbers_of(type, dims, 11, -6, 6)).output(type, dims);
  node.attributes(SoftmaxAttributes{axis});
  return node;
}

TEST(CudaRows, SoftmaxAlongAnyAxis) {
  for (const DataType type : kReals) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      const auto device = cuda_kernel_of(op, {type}), reference = cpu_kernel_of(op, {type});
      for (const Dims& dims : {Dims{}, Dims{1}, Dims{5, 301}, Dims{3, 37, 4}, Dims{2, 1, 33},
                               Dims{0, 4}, Dims{2, 9, 70}, Dims{7, 384}, Dims{2, 5200}}) {
        for (int axis = 0; axis < std::max<int>(1, static_cast<int>(dims.size())); ++axis) {
          const auto make = [&] { return softmax_node(type, dims, axis); };
          agree(device, reference, make, tolerance_of(type));
        }
      }
      const auto make = [&] { return std::move(softmax_node(type, {3, 256}, 1).in_place(0)); };
      agree(device, reference, make, tolerance_of(type));
      agree(unaligned(device), reference, make, tolerance_of(type));
    }
  }
}

/// The result depends on the largest element only where exponentials overflow: it is found by every
/// warp, and in several places of a thread, in one of the lines.
Node overflowing_node(const Dims& dims, int32_t axis, int64_t step) {
  std::vector<double> values = numbers_of(kFloat, dims, 11, -6, 6);
  const auto inner = static_cast<size_t>(axis == 0 ? dims[1] : 1);
  const auto length = static_cast<size_t>(dims[static_cast<size_t>(axis)]);
  const size_t lines = values.size() / length;
  for (size_t line = 0; line < lines; ++line) {
    const size_t first = axis == 0 ? line : line * length;
    values[first + line * static_cast<size_t>(step) % length * inner] = 200;
  }
  Node node;
  node.input(kFloat, dims, values).output(kFloat, dims).attributes(SoftmaxAttributes{axis});
  return node;
}

TEST(CudaRows, SoftmaxMistakesAreFound) {
  const auto device = on_device("LogSoftmax.cuda<float>");
  const auto reference = cpu_kernel("LogSoftmax<float>");
  // A warp to a row, by packs and by elements; a block to a row; a warp's lane to a line.
  expect_mistakes_found(
      device, reference,
      [] {
        return overflowing_node({96, 384}, 1, 4);
      },
      1e-6);
  expect_mistakes_found(
      unaligned(device), reference,
      [] {
        return overflowing_node({64, 192}, 1, 3);
      },
      1e-6);
  expect_mistakes_found(
      device, reference,
      [] {
        return overflowing_node({70, 2048}, 1, 32);
      },
      1e-6);
  expect_mistakes_found(
      device, reference,
      [] {
        return overflowing_node({24, 64}, 0, 1);
      },
      1e-6);
}

Node rotate_node(DataType type, const Dims& dims, const Dims& angles, int32_t interleaved) {
  Node node;
  node.input(type, dims, numbers_of(type, dims, 12));
  node.input(type, angles, numbers_of(type, angles, 13));
  node.input(type, angles, numbers_of(type, angles, 14)).output(type, dims);
  node.attributes(RotateAttributes{interleaved});
  return node;
}

TEST(CudaRows, RotateEqualsTheCpu) {
  for (const DataType type : kReals) {
    for (const Dims& angles : {Dims{2, 1, 5, 3}, Dims{2, 3, 1, 4}, Dims{1, 1, 1, 0}}) {
      for (int32_t interleaved : {0, 1}) {
        agree(
            cuda_kernel_of("intarsia:Rotate", {type}), cpu_kernel_of("intarsia:Rotate", {type}),
            [&] {
              return rotate_node(type, {2, 3, 5, 8}, angles, interleaved);
            },
            tolerance_of(type));
      }
    }
  }
}

/// A window of 3 by 2, in steps of 2 and 1, behind a padding.
template <class Attributes>
Node pool_node(DataType type, bool last, Attributes attributes) {
  attributes.pool.channels_last = last ? 1 : 0;
  for (const int32_t extent : {3, 2}) attributes.pool.window.kernel_shape.push(extent);
  for (const int32_t stride : {2, 1}) attributes.pool.window.strides.push(stride);
  for (const int32_t pad : {1, 0, 1, 0}) attributes.pool.window.pads.push(pad);
  const Dims x = last ? Dims{2, 9, 7, 5} : Dims{2, 5, 9, 7};
  Node node;
  node.input(type, x, numbers_of(type, x, 15));
  node.output(type, last ? Dims{2, 5, 6, 5} : Dims{2, 5, 5, 6}).attributes(attributes);
  return node;
}

TEST(CudaRows, PoolingOfFloat16) {
  for (const bool last : {false, true}) {
    agree(
        on_device("MaxPool.cuda<float16>"), cpu_kernel("MaxPool<float16>"),
        [&] { return pool_node(kHalf, last, MaxPoolAttributes()); }, 0);
    agree(
        on_device("AveragePool.cuda<float16>"), cpu_kernel("AveragePool<float16>"),
        [&] { return pool_node(kHalf, last, AveragePoolAttributes()); }, tolerance_of(kHalf));
    const Dims x = last ? Dims{2, 9, 7, 37} : Dims{2, 37, 9, 7};
    const auto global = [&] {
      Node node;
      node.input(kHalf, x, numbers_of(kHalf, x, 16));
      node.output(kHalf, last ? Dims{2, 1, 1, 37} : Dims{2, 37, 1, 1});
      node.attributes(GlobalPoolAttributes{last ? 1 : 0});
      return node;
    };
    agree(on_device("GlobalMaxPool.cuda<float16>"), cpu_kernel("GlobalMaxPool<float16>"), global,
          0);
    // Of the largest of many means, which are near zero.
    agree(on_device("GlobalAveragePool.cuda<float16>"), cpu_kernel("GlobalAveragePool<float16>"),
          global, tolerance_of(kHalf));
  }
}

}  // namespace
}  // namespace intarsia::test
