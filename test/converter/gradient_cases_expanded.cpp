// SPDX-License-Identifier: Apache-2.0
//
// Models of one node for the gradients of operators that become others: attention, fused forms,
// windows and transforms, losses.
#include <map>

#include "test/converter/gradient_cases.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using Extents = std::vector<int64_t>;

/// With a mask, or causal, or neither; of 4 axes, or of 3 with the heads side by side.
void attention(GradientSample& s) {
  const int64_t heads = 2, shared = s.choices.chance(50) ? 1 : 2, steps = 2, keys = 3, width = 2;
  const bool packed = s.choices.chance(50), masked = s.choices.chance(50);
  const auto operand = [&](int64_t count, int64_t rows) {
    return s.variable(packed ? Extents{1, rows, count * width} : Extents{1, count, rows, width}, -1,
                      1);
  };
  Names inputs{operand(heads, steps), operand(shared, keys), operand(shared, keys)};
  if (masked) inputs.push_back(s.variable({steps, keys}, -1, 1));
  auto& node = s.node(inputs);
  OnnxBuilder::set(node, "is_causal", s.choices.flag());
  if (packed) {
    OnnxBuilder::set(node, "q_num_heads", heads);
    OnnxBuilder::set(node, "kv_num_heads", shared);
  }
  if (s.choices.chance(50)) OnnxBuilder::set(node, "scale", 0.6F);
  if (s.choices.chance(50)) OnnxBuilder::set(node, "softcap", 1.5F);
}

/// Its kernels are of single precision.
void multi_head_attention(GradientSample& s) {
  const auto operand = [&](const Extents& extents) { return s.single(s.variable(extents, -1, 1)); };
  Names inputs{operand({1, 2, 4}), operand({1, 2, 4}), operand({1, 2, 4})};
  if (s.choices.chance(50)) inputs.push_back(operand({12}));
  OnnxBuilder::set(s.node(inputs), "num_heads", int64_t{2});
  s.widen_results();
}

/// In single precision, too. The angles have no gradient.
void rotary_embedding(GradientSample& s) {
  const bool packed = s.choices.chance(50);
  Names inputs{s.single(s.variable(packed ? Extents{1, 2, 8} : Extents{1, 2, 2, 4}))};
  s.model.floats("cosines", {1, 2, 2}, {0.5F, -0.3F, 0.8F, 0.1F});
  s.model.floats("sines", {1, 2, 2}, {0.9F, 0.7F, -0.4F, 0.6F});
  inputs.insert(inputs.end(), {"cosines", "sines"});
  auto& node = s.node(inputs);
  if (packed) OnnxBuilder::set(node, "num_heads", int64_t{2});
  OnnxBuilder::set(node, "interleaved", s.choices.flag());
  s.widen_results();
}

void bias_gelu(GradientSample& s) {
  const std::string x = s.variable({2, 3});
  s.node({x, s.variable({3})});
}

void skip_normalization(GradientSample& s) {
  const bool centred = s.definition.name == "SkipLayerNormalization";
  Names inputs{s.variable({1, 2, 3}), s.variable({1, 2, 3}), s.variable({3})};
  if (centred) inputs.push_back(s.choices.chance(50) ? s.variable({3}) : "");
  if (s.choices.chance(50)) inputs.push_back(s.variable({3}));
  OnnxBuilder::set(s.node(inputs), "epsilon", 0.01F);
}

void fused_matmul(GradientSample& s) {
  const bool ta = s.choices.chance(50), tb = s.choices.chance(50);
  const std::string a = s.variable(ta ? Extents{2, 3, 2} : Extents{2, 2, 3});
  auto& node = s.node({a, s.variable(tb ? Extents{2, 2, 3} : Extents{2, 3, 2})});
  OnnxBuilder::set(node, "transA", int64_t{ta});
  OnnxBuilder::set(node, "transB", int64_t{tb});
  OnnxBuilder::set(node, "alpha", 0.7F);
}

void fused_conv(GradientSample& s) {
  const std::string x = s.variable({1, 2, 3, 3}), w = s.variable({2, 2, 2, 2});
  Names inputs{x, w, s.choices.chance(50) ? s.variable({2}) : ""};
  if (s.choices.chance(50)) inputs.push_back(s.variable({1, 2, 2, 2}));
  OnnxBuilder::set(s.node(inputs), "activation",
                   s.choices.pick<const char*>({"Tanh", "Sigmoid", "Relu"}));
}

void einsum(GradientSample& s) {
  const char* equation = s.choices.pick<const char*>({"bij,bjk->bik", "bij,bji", "bii,bij->j"});
  const std::string a = s.variable({2, 3, 3});
  OnnxBuilder::set(s.node({a, s.variable({2, 3, 3})}), "equation", equation);
}

void max_unpool(GradientSample& s) {
  auto& node = s.node({s.variable({1, 1, 2, 2}), s.indices({1, 1, 2, 2}, {5, 7, 8, 2})});
  OnnxBuilder::set(node, "kernel_shape", Extents{2, 2});
  OnnxBuilder::set(node, "strides", Extents{2, 2});
}

void tensor_scatter(GradientSample& s) {
  const bool around = s.choices.chance(50), given = s.choices.chance(50);
  Names inputs{s.variable({2, 4, 2}), s.variable({2, 2, 2})};
  if (given) inputs.push_back(s.integers(around ? Extents{3, 1} : Extents{2, 1}));
  OnnxBuilder::set(s.node(inputs), "mode", around ? "circular" : "linear");
}

void fourier(GradientSample& s) {
  const bool inverse = s.choices.chance(50), half = !inverse && s.choices.chance(50);
  auto& node = s.node({s.variable({1, 4, inverse || !half ? 2 : 1}), "", s.indices({}, {1})});
  OnnxBuilder::set(node, "inverse", int64_t{inverse});
  OnnxBuilder::set(node, "onesided", int64_t{half});
}

void short_time_fourier(GradientSample& s) {
  const std::string x = s.variable({1, 6, 1});
  const std::string window = s.choices.chance(50) ? s.variable({4}) : "";
  auto& node = s.node({x, s.indices({}, {2}), window, s.indices({}, {4})});
  OnnxBuilder::set(node, "onesided", s.choices.flag());
}

void column_to_image(GradientSample& s) {
  auto& node = s.node({s.variable({1, 4, 4}), s.integers({3, 3}), s.integers({2, 2})});
  if (s.choices.chance(50)) {
    OnnxBuilder::set(node, "pads", Extents{0, 0, 0, 0});
    OnnxBuilder::set(node, "dilations", Extents{1, 1});
  }
}

void likelihood_loss(GradientSample& s) {
  const char* reduction = s.choices.pick<const char*>({"mean", "sum", "none"});
  Names inputs{s.variable({2, 3, 2}), s.indices({2, 2}, {0, 2, 1, 1})};
  if (s.choices.chance(50)) inputs.push_back(s.variable({3}, 0.5, 2));
  auto& node = s.node(inputs);
  OnnxBuilder::set(node, "reduction", reduction);
  if (s.choices.chance(50)) OnnxBuilder::set(node, "ignore_index", int64_t{1});
}

}  // namespace

std::vector<ExpandedCase> expanded_gradient_cases() {
  return {
      {"Attention", "", attention},
      {"BiasGelu", "com.microsoft", bias_gelu},
      {"Col2Im", "", column_to_image},
      {"DFT", "", fourier},
      {"Einsum", "", einsum},
      {"FusedConv", "com.microsoft", fused_conv},
      {"FusedMatMul", "com.microsoft", fused_matmul},
      {"MaxUnpool", "", max_unpool},
      {"MultiHeadAttention", "com.microsoft", multi_head_attention},
      {"NegativeLogLikelihoodLoss", "", likelihood_loss},
      {"RotaryEmbedding", "", rotary_embedding},
      {"STFT", "", short_time_fourier},
      {"SkipLayerNormalization", "com.microsoft", skip_normalization},
      {"SkipSimplifiedLayerNormalization", "com.microsoft", skip_normalization},
      {"SoftmaxCrossEntropyLoss", "", likelihood_loss},
      {"TensorScatter", "", tensor_scatter},
  };
}

}  // namespace intarsia::test
