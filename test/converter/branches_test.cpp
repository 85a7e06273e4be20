// SPDX-License-Identifier: Apache-2.0
//
// Branches that are linear in one tensor and are summed: random ones become one convolution, which
// computes what they computed together; what only looks like them stays.
#include <cmath>

#include "test/converter/fused_model.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using Ints = std::vector<int64_t>;

class Branches : public DrawnModel {
 public:
  explicit Branches(unsigned seed) : DrawnModel(seed) {}

  /// `kept`: an output for each branch, so that nothing can be merged; the sum is the last one.
  OnnxBuilder build(bool kept) {
    kept_ = kept;
    spatial_ = pick(1, 3);
    const bool depthwise = pick(0, 1) != 0;
    const int64_t group = pick(2, 3), depth = depthwise ? 1 : pick(2, 3);
    groups_ = group, in_ = group * depth;
    strided_ = pick(0, 3) == 0;
    filters_ = strided_ || pick(0, 3) == 0 ? groups_ * pick(1, 3) : in_;
    x = {2, in_};
    for (int axis = 0; axis < spatial_; ++axis) {
      x.push_back(pick(5, 7));
      kernel_.push_back(2 * pick(0, 1) + 3);
      step_.push_back(pick(1, 2));
      stride_.push_back(strided_ ? pick(1, 2) : 1);
    }
    model_.input("x", x);
    const int branches = pick(2, 4);
    std::vector<std::string> made{convolution(true)};
    for (int i = 1; i < branches; ++i) {
      const bool affine = !strided_ && filters_ == in_ && pick(0, 1) != 0;
      made.push_back(affine ? scaled(depthwise) : convolution(pick(0, 1) != 0));
    }
    // Each sum has the widest window on one side.
    std::string sum = made[0];
    for (size_t i = 1; i < made.size(); ++i) {
      const bool first = pick(0, 1) != 0;
      sum = node(pick(0, 1) != 0 ? "Add" : "Sum",
                 first ? std::vector{made[i], sum} : std::vector{sum, made[i]});
    }
    model_.output(sum);
    return std::move(model_);
  }

  Ints x;

 private:
  std::string node(const std::string& op, const std::vector<std::string>& inputs) {
    const std::string name = "t" + std::to_string(++nodes_);
    last_ = &model_.node(op, inputs, {name});
    return name;
  }
  std::string branch(const std::string& name) {
    if (kept_ && name != "x") model_.output(name);
    return name;
  }

  /// By all taps of the window, or by every second, or one, around its middle.
  std::string convolution(bool all) {
    Ints w{filters_, in_ / groups_}, dilations, pads(static_cast<size_t>(spatial_) * 2);
    for (size_t axis = 0; axis < static_cast<size_t>(spatial_); ++axis) {
      const int64_t reach = (kernel_[axis] - 1) * step_[axis];
      const bool second = kernel_[axis] == 5 && pick(0, 1) != 0;
      w.push_back(all ? kernel_[axis] : second ? 3 : 1);
      dilations.push_back(step_[axis] * (!all && second ? 2 : 1));
      // Half of the reach on both sides: of what has taps at all its ends, and of one tap.
      const int64_t own = (w.back() - 1) * dilations.back();
      pads[axis] = pads[static_cast<size_t>(spatial_) + axis] = reach / 2 - (reach - own) / 2;
    }
    std::vector<std::string> inputs{"x", constant(w)};
    if (pick(0, 1) != 0) inputs.push_back(constant({filters_}));
    const std::string name = node("Conv", inputs);
    OnnxBuilder::set(*last_, "group", groups_);
    OnnxBuilder::set(*last_, "strides", stride_);
    OnnxBuilder::set(*last_, "dilations", dilations);
    OnnxBuilder::set(*last_, "pads", pads);
    if (pick(0, 1) != 0) return branch(normalized(name, filters_));
    return branch(name);
  }
  std::string normalized(const std::string& from, int64_t channels) {
    const Ints each{channels};
    const std::string scale = constant(each), shift = constant(each), mean = constant(each);
    return node("BatchNormalization", {from, scale, shift, mean, constant(each, true)});
  }
  std::string scaled(bool depthwise) {
    std::string name = "x";
    for (int links = pick(depthwise ? 0 : 1, 2); links > 0; --links) {
      Ints extents(static_cast<size_t>(spatial_) + 1, 1);
      extents[0] = in_;
      const int form = pick(0, 2);
      name = form == 0   ? normalized(name, in_)
             : form == 1 ? node("Mul", {constant(extents), name})
                         : node("Sub", {constant(extents), name});
    }
    return branch(name);
  }

  onnx::NodeProto* last_ = nullptr;
  bool kept_ = false, strided_ = false;
  int nodes_ = 0, spatial_ = 0;
  int64_t groups_ = 1, in_ = 0, filters_ = 0;
  Ints kernel_, step_, stride_;
};

TEST(MergedBranches, AreOneConvolution) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_EQ(fused(Branches(seed).build(false)), "Conv");
    Branches branches(seed);
    const OnnxBuilder kept = branches.build(true);
    int64_t count = 1;
    for (int64_t extent : branches.x) count *= extent;
    const std::vector<float> expected = run(kept, ramp(count));
    const std::vector<float> found = run(Branches(seed).build(false), ramp(count));
    ASSERT_EQ(found.size(), expected.size());
    // Sums of up to some hundred terms of up to 2^5.
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-5 * (64 + std::fabs(expected[i]))) << i;
    }
  }
}

struct Window {
  Ints kernel{3, 3}, pads{1, 1, 1, 1}, dilations{1, 1}, strides{1, 1};
  int64_t group = 1;
  const char* auto_pad = "NOTSET";
};

/// The sum of convolutions of 4 channels by these windows, of the same tensor or of others.
OnnxBuilder sum_of(const Window& first, const Window& second, const char* other = "x") {
  OnnxBuilder model(28);
  model.input("x", {1, 4, 6, 6});
  if (std::string_view(other) != "x") model.input(other, {1, 4, 6, 6});
  model.output("y");
  int made = 0;
  for (const Window& w : {first, second}) {
    const std::string name = std::to_string(++made);
    const Ints extents{4, 4 / w.group, w.kernel[0], w.kernel[1]};
    model.floats(("w" + name).c_str(), extents,
                 ramp(extents[0] * extents[1] * extents[2] * extents[3]));
    auto& conv = model.node("Conv", {made == 1 ? "x" : other, "w" + name}, {"c" + name});
    OnnxBuilder::set(conv, "group", w.group);
    OnnxBuilder::set(conv, "dilations", w.dilations);
    OnnxBuilder::set(conv, "strides", w.strides);
    if (std::string_view(w.auto_pad) == "NOTSET") {
      OnnxBuilder::set(conv, "pads", w.pads);
    } else {
      OnnxBuilder::set(conv, "auto_pad", w.auto_pad);
    }
  }
  model.node("Add", {"c1", "c2"}, {"y"});
  return model;
}

TEST(MergedBranches, OthersStay) {
  const std::string two = "Conv intarsia:Conv";
  EXPECT_EQ(fused(sum_of({}, {})), "Conv");
  EXPECT_EQ(fused(sum_of({}, {}, "z")), two);
  EXPECT_EQ(fused(sum_of({}, {.group = 2})), two);
  // One tap, at any place of the window or beside all of its taps.
  const Window tap{.kernel = {1, 1}, .pads = {0, 0, 0, 0}};
  EXPECT_EQ(fused(sum_of(tap, {})), "Conv");
  EXPECT_EQ(fused(sum_of({.pads = {0, 1, 2, 1}}, tap)), "Conv");
  EXPECT_EQ(fused(sum_of({.pads = {2, 1, 0, 1}}, tap)), "Conv");
  EXPECT_EQ(fused(sum_of({.pads = {2, 2, 2, 2}, .dilations = {2, 2}}, tap)), "Conv");
  EXPECT_EQ(fused(sum_of({.kernel = {2, 2}, .dilations = {2, 2}}, tap)), two);
  EXPECT_EQ(fused(sum_of({}, {.kernel = {1, 1}, .pads = {3, 3, 2, 2}, .strides = {2, 2}})), two);
  // Windows that have taps where the other has none.
  const Window row{.kernel = {1, 3}, .pads = {0, 1, 0, 1}};
  const Window column{.kernel = {3, 1}, .pads = {1, 0, 1, 0}};
  EXPECT_EQ(fused(sum_of(row, column)), two);
  EXPECT_EQ(fused(sum_of({}, row)), "Conv");
  EXPECT_EQ(fused(sum_of({}, {.pads = {2, 2, 2, 2}, .dilations = {2, 2}})), two);
  EXPECT_EQ(fused(sum_of({}, {.auto_pad = "SAME_UPPER"})), two);
}

/// y = conv(x) + x, of so many groups.
OnnxBuilder identity_beside(int64_t group, const char* op) {
  OnnxBuilder model(28);
  model.input("x", {1, 4, 6, 6});
  model.output("y");
  model.floats("w", {4, 4 / group, 1, 1}, ramp(16 / group));
  OnnxBuilder::set(model.node("Conv", {"x", "w"}, {"c"}), "group", group);
  model.node(op, {"c", "x"}, {"y"});
  return model;
}

TEST(MergedBranches, TheTensorItselfJoinsSingleChannels) {
  EXPECT_EQ(fused(identity_beside(4, "Add")), "Conv");
  EXPECT_EQ(fused(identity_beside(2, "Add")), "intarsia:Conv");
  EXPECT_EQ(fused(identity_beside(4, "Sub")), "Conv Sub");
}

/// The parts of a sum are needed elsewhere, too.
TEST(MergedBranches, WithOtherReadersStay) {
  OnnxBuilder model = sum_of({}, {});
  model.output("c1");
  EXPECT_EQ(fused(model), "Conv intarsia:Conv");
}

}  // namespace
}  // namespace intarsia::test
