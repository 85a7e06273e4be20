// SPDX-License-Identifier: Apache-2.0
//
// A layer of a transformer as exporters write it, with a mask and a masked mean behind it: nothing
// of it stays on the CPU.
#include "test/cuda/cuda_plan.h"

namespace intarsia::test {
namespace {

constexpr int64_t kBatch = 2, kTokens = 6, kHeads = 4, kSize = 8, kWidth = kHeads * kSize;

void integers(RandomModel& model, const char* name, const std::vector<int64_t>& values) {
  model.initializer(name, DataType::kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(int64_t));
}

/// y = x w + b, of `in` features to `out`.
void linear(RandomModel& model, const char* x, const char* y, int64_t in, int64_t out) {
  const std::string weight = std::string(y) + "_w", bias = std::string(y) + "_b";
  const std::string product = std::string(y) + "_p";
  model.weight(weight, {in, out}, in);
  model.weight(bias, {out}, 20);
  model.node("MatMul", {x, weight.c_str()}, {product.c_str()});
  model.node("Add", {product.c_str(), bias.c_str()}, {y});
}

void normalized(RandomModel& model, const char* x, const char* y) {
  const std::string scale = std::string(y) + "_s", shift = std::string(y) + "_b";
  model.weight(scale, {kWidth}, 2);
  model.weight(shift, {kWidth}, 20);
  model.node("LayerNormalization", {x, scale.c_str(), shift.c_str()}, {y});
}

/// x as heads, its axes in this order.
void heads(RandomModel& model, const char* x, const char* y, const std::vector<int64_t>& order) {
  const std::string split = std::string(y) + "_r";
  model.node("Reshape", {x, "by_heads"}, {split.c_str()});
  OnnxBuilder::set(model.node("Transpose", {split.c_str()}, {y}), "perm", order);
}

RandomModel encoder() {
  RandomModel model(6);
  model.input("x", {kBatch, kTokens, kWidth});
  model.input("m", {kBatch, 1, 1, kTokens});
  model.output("y");
  integers(model, "by_heads", {kBatch, kTokens, kHeads, kSize});
  integers(model, "joined", {kBatch, kTokens, kWidth});
  integers(model, "by_tokens", {kBatch, kTokens, 1});
  integers(model, "tokens", {1});
  integers(model, "features", {-1});
  model.floats("zero", {}, {0});
  model.floats("masked", {}, {-1e4f});
  model.floats("root", {}, {std::sqrt(static_cast<float>(kSize))});
  model.floats("least", {}, {1e-9f});
  model.node("Greater", {"m", "zero"}, {"is_token"});
  model.node("Where", {"is_token", "zero", "masked"}, {"mask"});
  for (const char* part : {"q", "k", "v"}) linear(model, "x", part, kWidth, kWidth);
  heads(model, "q", "q_h", {0, 2, 1, 3});
  heads(model, "k", "k_h", {0, 2, 3, 1});
  heads(model, "v", "v_h", {0, 2, 1, 3});
  model.node("MatMul", {"q_h", "k_h"}, {"products"});
  model.node("Div", {"products", "root"}, {"scaled"});
  model.node("Add", {"scaled", "mask"}, {"scores"});
  model.node("Softmax", {"scores"}, {"shares"});
  model.node("MatMul", {"shares", "v_h"}, {"context"});
  OnnxBuilder::set(model.node("Transpose", {"context"}, {"turned"}), "perm",
                   std::vector<int64_t>{0, 2, 1, 3});
  model.node("Reshape", {"turned", "joined"}, {"attended"});
  linear(model, "attended", "out", kWidth, kWidth);
  model.node("Add", {"out", "x"}, {"first_sum"});
  normalized(model, "first_sum", "first");
  linear(model, "first", "wide", kWidth, 2 * kWidth);
  model.node("Gelu", {"wide"}, {"bent"});
  linear(model, "bent", "narrow", 2 * kWidth, kWidth);
  model.node("Add", {"narrow", "first"}, {"second_sum"});
  normalized(model, "second_sum", "second");
  // The mean over tokens, of length 1.
  OnnxBuilder::set(model.node("Cast", {"is_token"}, {"numbers"}), "to", int64_t{1});
  model.node("Reshape", {"numbers", "by_tokens"}, {"weights"});
  model.node("Mul", {"second", "weights"}, {"kept"});
  OnnxBuilder::set(model.node("ReduceSum", {"kept", "tokens"}, {"sum"}), "keepdims", int64_t{0});
  OnnxBuilder::set(model.node("ReduceSum", {"weights", "tokens"}, {"tokens_of"}), "keepdims",
                   int64_t{0});
  model.node("Clip", {"tokens_of", "least"}, {"count"});
  model.node("Div", {"sum", "count"}, {"mean"});
  model.node("ReduceL2", {"mean", "features"}, {"norm"});
  model.node("Clip", {"norm", "least"}, {"length"});
  model.node("Div", {"mean", "length"}, {"y"});
  return model;
}

TEST(CudaEncoder, ALayerOfATransformerIsOneGraph) {
  expect_same_as_cpu(encoder(), 1);
}

}  // namespace
}  // namespace intarsia::test
