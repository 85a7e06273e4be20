// SPDX-License-Identifier: Apache-2.0
//
// Models of the CUDA tests, with seeded weights, and how a session is run on seeded inputs.
#pragma once

#include <random>

#include "test/runtime/small_plan.h"

namespace intarsia::test {

using converter::ConvertOptions;
using converter::OnnxBuilder;

inline ConvertOptions for_cuda(ConvertOptions options = {}) {
  options.device = ConvertOptions::Device::kCuda;
  return options;
}

/// A builder of models whose weights are seeded.
class RandomModel : public OnnxBuilder {
 public:
  explicit RandomModel(unsigned seed) : random_(seed) {}

  /// Weights of a magnitude that keeps activations near 1.
  void weight(const std::string& name, const std::vector<int64_t>& extents, int64_t fan_in) {
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    std::normal_distribution<float> normal(0, std::sqrt(2.0f / static_cast<float>(fan_in)));
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = normal(random_);
    floats(name, extents, values);
  }

 private:
  std::mt19937 random_;
};

inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// Runs a session on random inputs; the outputs one after another.
template <class S>
std::vector<float> outputs_of(S& session, unsigned seed) {
  for (int i = 0; i < session.input_count(); ++i) {
    const auto x = session.template input<float>(i).value();
    const std::vector<float> values = random_floats(x.size(), seed + static_cast<unsigned>(i));
    std::copy(values.begin(), values.end(), x.begin());
  }
  const Status status = session.run();
  EXPECT_TRUE(status.ok()) << session.diagnostic().what;
  std::vector<float> results;
  for (int i = 0; i < session.output_count(); ++i) {
    const auto y = session.template output<float>(i).value();
    results.insert(results.end(), y.begin(), y.end());
  }
  return results;
}

inline RandomModel two_layers() {
  RandomModel model(3);
  model.input("x", {3, 37});
  model.output("y");
  model.weight("w1", {37, 50}, 37);
  model.weight("b1", {50}, 10);
  model.weight("w2", {9, 50}, 50);
  model.weight("b2", {9}, 10);
  model.node("Gemm", {"x", "w1", "b1"}, {"h"});
  model.node("Relu", {"h"}, {"r"});
  OnnxBuilder::set(model.node("Gemm", {"r", "w2", "b2"}, {"z"}), "transB", int64_t{1});
  model.node("Softmax", {"z"}, {"y"});
  return model;
}

inline void convolution(RandomModel& model, const char* x, const char* y, int64_t in, int64_t out,
                        int64_t kernel, int64_t stride) {
  const std::string weight = std::string(y) + "_w", bias = std::string(y) + "_b";
  model.weight(weight, {out, in, kernel, kernel}, in * kernel * kernel);
  model.weight(bias, {out}, 20);
  auto& node = model.node("Conv", {x, weight.c_str(), bias.c_str()}, {y});
  const int64_t pad = kernel / 2;
  OnnxBuilder::set(node, "pads", std::vector<int64_t>{pad, pad, pad, pad});
  OnnxBuilder::set(node, "strides", std::vector<int64_t>{stride, stride});
}

/// The parts of a residual network: stem, pooling, a block as it is, one with a projection, head.
inline RandomModel small_resnet() {
  RandomModel model(4);
  model.input("x", {2, 3, 33, 29});
  model.output("y");
  convolution(model, "x", "stem", 3, 12, 7, 2);
  model.node("Relu", {"stem"}, {"stem_r"});
  auto& pool = model.node("MaxPool", {"stem_r"}, {"pooled"});
  OnnxBuilder::set(pool, "kernel_shape", std::vector<int64_t>{3, 3});
  OnnxBuilder::set(pool, "strides", std::vector<int64_t>{2, 2});
  OnnxBuilder::set(pool, "pads", std::vector<int64_t>{1, 1, 1, 1});
  convolution(model, "pooled", "a1", 12, 12, 3, 1);
  model.node("Relu", {"a1"}, {"a1_r"});
  convolution(model, "a1_r", "a2", 12, 12, 3, 1);
  model.node("Add", {"a2", "pooled"}, {"a_sum"});
  model.node("Relu", {"a_sum"}, {"a"});
  convolution(model, "a", "b1", 12, 20, 3, 2);
  model.node("Relu", {"b1"}, {"b1_r"});
  convolution(model, "b1_r", "b2", 20, 20, 3, 1);
  convolution(model, "a", "projected", 12, 20, 1, 2);
  model.node("Add", {"b2", "projected"}, {"b_sum"});
  model.node("Relu", {"b_sum"}, {"b"});
  model.node("GlobalAveragePool", {"b"}, {"means"});
  model.node("Flatten", {"means"}, {"features"});
  model.weight("head", {20, 11}, 20);
  model.node("MatMul", {"features", "head"}, {"y"});
  return model;
}

/// LpNormalization has no CUDA kernel; its input and result are used on both sides.
inline RandomModel with_a_host_node() {
  RandomModel model(5);
  model.input("x", {5, 40});
  model.output("y");
  model.output("s");
  model.weight("w", {40, 40}, 40);
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("LpNormalization", {"h"}, {"s"});
  model.node("Add", {"s", "h"}, {"t"});
  model.node("Tanh", {"t"}, {"y"});
  return model;
}

}  // namespace intarsia::test
