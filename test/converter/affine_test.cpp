// SPDX-License-Identifier: Apache-2.0
//
// Scales and shifts of channels behind products with constant weights: chains of them, in every
// form that they have, vanish in weights and bias, and the model computes what it computed.
#include <cmath>
#include <limits>

#include "test/converter/fused_model.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

class Chain : public DrawnModel {
 public:
  explicit Chain(unsigned seed) : DrawnModel(seed) {}

  /// `kept`: an output for each node, so that nothing can be folded.
  OnnxBuilder build(const std::string& op, bool kept) {
    kept_ = kept;
    if (op == "Gemm") gemm();
    if (op == "MatMul") matmul();
    if (op == "Conv" || op == "ConvTranspose") convolution(op);
    const int links = pick(1, 3);
    for (int i = 0; i < links; ++i) link();
    if (!kept) model_.output(last_);
    return std::move(model_);
  }

  std::vector<int64_t> x;

 private:
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs) {
    last_ = "t" + std::to_string(++nodes_);
    auto& made = model_.node(op, inputs, {last_});
    if (kept_) model_.output(last_);
    return made;
  }
  void input(std::vector<int64_t> extents) {
    x = std::move(extents);
    model_.input("x", x);
  }

  void gemm() {
    const int64_t m = pick(2, 4), k = pick(1, 5);
    channels_ = pick(5, 7);
    rank_ = 2, axis_ = 1;
    input({m, k});
    const bool transposed = pick(0, 1) != 0;
    const std::string b =
        constant(transposed ? std::vector{channels_, k} : std::vector{k, channels_});
    std::vector<std::string> inputs{"x", b};
    const std::vector<int64_t> forms[] = {{}, {1}, {channels_}, {1, channels_}};
    if (pick(0, 2) != 0) inputs.push_back(constant(forms[pick(0, 3)]));
    auto& made = node("Gemm", inputs);
    OnnxBuilder::set(made, "transB", int64_t{transposed});
    OnnxBuilder::set(made, "alpha", 0.5f);
    if (pick(0, 1) != 0) OnnxBuilder::set(made, "beta", -2.0f);
  }
  void matmul() {
    const int64_t k = pick(1, 5);
    channels_ = pick(5, 7);
    rank_ = pick(1, 4), axis_ = rank_ - 1;
    std::vector<int64_t> extents(static_cast<size_t>(rank_), 3);
    extents.back() = k;
    input(extents);
    node("MatMul", {"x", constant({k, channels_})});
  }
  void convolution(const std::string& op) {
    const int64_t groups = pick(1, 3), in = groups * pick(1, 2), out = groups * pick(2, 3);
    channels_ = out;
    rank_ = pick(3, 4), axis_ = 1;
    std::vector<int64_t> extents{2, in}, w{out, in / groups};
    if (op == "ConvTranspose") w = {in, out / groups};
    for (int i = 2; i < rank_; ++i) extents.push_back(pick(3, 4)), w.push_back(pick(1, 3));
    input(extents);
    std::vector<std::string> inputs{"x", constant(w)};
    if (pick(0, 1) != 0) inputs.push_back(constant({out}));
    auto& made = node(op, inputs);
    OnnxBuilder::set(made, "group", groups);
    if (op == "ConvTranspose") {
      OnnxBuilder::set(made, "strides", std::vector<int64_t>(static_cast<size_t>(rank_) - 2, 2));
    }
  }
  /// One more scale or shift.
  void link() {
    const int form = pick(axis_ == 1 && rank_ > 1 ? 0 : 1, 6);
    const std::string from = last_;
    if (form == 0) {
      const std::vector<int64_t> each{channels_};
      const std::string scale = constant(each), shift = constant(each), mean = constant(each);
      node("BatchNormalization", {from, scale, shift, mean, constant(each, true)});
      return;
    }
    std::vector<int64_t> extents;
    if (pick(0, 3) != 0) {
      extents.assign(static_cast<size_t>(rank_ - axis_), 1);
      extents[0] = channels_;
    }
    const std::string number = constant(extents);
    const char* const ops[] = {"Mul", "Add", "Sub", "Mul", "Add", "Sub"};
    if (form == 6) {
      node("Div", {from, number});
    } else {
      node(ops[form], form % 2 != 0 ? std::vector{from, number} : std::vector{number, from});
    }
  }

  bool kept_ = false;
  std::string last_;
  int nodes_ = 0, rank_ = 0, axis_ = 0;
  int64_t channels_ = 0;
};

TEST(AffineFolding, ChainsVanishInWeightsAndBias) {
  for (const std::string op : {"Gemm", "MatMul", "Conv", "ConvTranspose"}) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(op + " seed " + std::to_string(seed));
      const std::string left = fused(Chain(seed).build(op, false));
      EXPECT_TRUE(left == op || (op == "MatMul" && left == "intarsia:MatMul")) << left;
      Chain chain(seed);
      const OnnxBuilder model = chain.build(op, true);
      int64_t count = 1;
      for (int64_t extent : chain.x) count *= extent;
      const std::vector<float> expected = run(model, ramp(count));
      const std::vector<float> found = run(Chain(seed).build(op, false), ramp(count));
      ASSERT_EQ(found.size(), expected.size());
      // Scales up to 2 each make what is rounded larger.
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-5 * (8 + std::fabs(expected[i]))) << i;
      }
      if (HasFailure()) return;
    }
  }
}

OnnxBuilder product(const std::vector<int64_t>& addend, const char* op, bool shared) {
  OnnxBuilder model(28);
  model.input("x", {4, 4});
  model.output("y");
  int64_t count = 1;
  for (int64_t extent : addend) count *= extent;
  model.floats("w", {4, 4}, ramp(16));
  model.floats("c", addend, std::vector<float>(static_cast<size_t>(count), 1.5f));
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node(op, {"p", "c"}, {shared ? "q" : "y"});
  if (shared) model.node("MatMul", {"q", "w"}, {"y"});
  return model;
}

TEST(AffineFolding, OthersStay) {
  EXPECT_EQ(fused(product({4}, "Mul", false)), "MatMul");
  EXPECT_EQ(fused(product({4, 1}, "Mul", false)), "MatMul Mul");     // rows
  EXPECT_EQ(fused(product({4, 4}, "Add", false)), "MatMul Add");     // elements
  EXPECT_EQ(fused(product({1, 1, 4}, "Mul", false)), "MatMul Mul");  // another axis
  EXPECT_EQ(fused(product({4}, "Pow", false)), "MatMul Pow");
  // Weights that others need would be there twice; a shift needs none.
  EXPECT_EQ(fused(product({4}, "Mul", true)), "MatMul Mul MatMul");
  EXPECT_EQ(fused(product({4}, "Add", true)), "intarsia:MatMul MatMul");
}

// Nothing as large as extents say, which cost a hostile model no bytes.
TEST(AffineFolding, TakesNoMoreThanTheModelHas) {
  OnnxBuilder model(28);
  model.input("x", {2, 1});
  model.input("v", {1, std::numeric_limits<int32_t>::max()});
  model.output("y");
  model.floats("c", {}, {1.5f});
  model.node("MatMul", {"x", "v"}, {"p"});
  model.node("Add", {"p", "c"}, {"y"});
  EXPECT_EQ(fused(model), "MatMul Add");
}

}  // namespace
}  // namespace intarsia::test
