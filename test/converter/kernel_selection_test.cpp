// SPDX-License-Identifier: Apache-2.0
//
// Which kernel the converter takes of those that a list has for one node: device, target, layout
// and cost of their descriptors decide, in one place.
#include "converter/graph/kernel_selection.h"

#include <gtest/gtest.h>

#include "converter/graph/infer.h"
#include "converter/onnx/version_conversion.h"
#include "converter/plugin/extension.h"
#include "core/operators/nn/conv.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::test {
namespace {

using converter::KernelChoice;
using converter::OnnxBuilder;
using converter::Preference;

KernelDescriptor kernel(std::string_view variant, int cost) {
  KernelDescriptor descriptor;
  descriptor.id = {"Conv", variant, {DataType::kFloat}};
  descriptor.cost = cost;
  return descriptor;
}

/// The variant that is chosen for a convolution of floats.
std::string chosen(const definitions::KernelRows& rows, const KernelChoice& choice = {},
                   bool channels_last = false) {
  OnnxBuilder builder;
  builder.input("x", {1, 1, 3, 3});
  builder.input("w", {1, 1, 1, 1});
  builder.node("Conv", {"x", "w"}, {"y"});
  builder.output("y");
  converter::Model model = builder.import();
  converter::convert_versions(model);
  converter::resolve(model);
  converter::Inference(model, converter::builtin_library().rows(), {}).run();
  converter::Node& node = *model.graph->nodes().front();
  auto& attributes = *reinterpret_cast<ConvAttributes*>(node.attribute_bytes.data());
  attributes.channels_last = channels_last ? 1 : 0;
  converter::OperandViews views;
  converter::show_planned(node, views);
  const KernelDescriptor* row = converter::select_kernel(node, views.context(), rows, choice);
  return row != nullptr ? std::string(row->id.variant) : "none";
}

TEST(KernelSelection, TheLeastCostIsTakenAndTheGreatestIsTheYardstick) {
  const definitions::KernelRows rows = {kernel("slow", 50), kernel("fast", 5), kernel("", 100),
                                        kernel("as fast", 5)};
  EXPECT_EQ(chosen(rows), "fast");
  EXPECT_EQ(chosen(rows, {.preference = Preference::kReference}), "");
  EXPECT_EQ(chosen({}), "none");
}

TEST(KernelSelection, AReplacementComesBeforeTheCheapestAndIsNoYardstick) {
  definitions::KernelRows rows = {kernel("fast", 1), kernel("mine", 10), kernel("quick", 5)};
  EXPECT_EQ(chosen(rows), "fast") << "the negative control";
  rows[1].replaces = true;
  EXPECT_EQ(chosen(rows), "mine");
  EXPECT_EQ(chosen(rows, {.preference = Preference::kReference}), "quick");
}

TEST(KernelSelection, AKernelServesItsDeviceAlone) {
  definitions::KernelRows rows = {kernel("host", 10), kernel("device", 1)};
  rows[1].device = KernelDevice::kCuda;
  EXPECT_EQ(chosen(rows), "host");
  EXPECT_EQ(chosen(rows, {.device = KernelDevice::kCuda}), "device");
}

TEST(KernelSelection, AKernelServesItsTargets) {
  definitions::KernelRows rows = {kernel("any", 10), kernel("small", 1)};
  rows[1].targets = {KernelTarget::kCortexM, KernelTarget::kAarch64};
  EXPECT_EQ(chosen(rows), "any");
  EXPECT_EQ(chosen(rows, {.target = KernelTarget::kX86V4}), "any");
  EXPECT_EQ(chosen(rows, {.target = KernelTarget::kCortexM}), "small");
  EXPECT_EQ(chosen(rows, {.target = KernelTarget::kAarch64}), "small");
}

TEST(KernelSelection, AKernelServesItsLayout) {
  definitions::KernelRows rows = {kernel("last", 1), kernel("first", 1), kernel("any", 10)};
  rows[0].layout = KernelLayout::kChannelsLast;
  rows[1].layout = KernelLayout::kChannelsFirst;
  EXPECT_EQ(chosen(rows, {}, false), "first");
  EXPECT_EQ(chosen(rows, {}, true), "last");
  rows.erase(rows.begin(), rows.begin() + 2);
  EXPECT_EQ(chosen(rows, {}, true), "any");
}

}  // namespace
}  // namespace intarsia::test
