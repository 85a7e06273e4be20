// SPDX-License-Identifier: Apache-2.0
//
// The converter's own operators, which nodes of a model become: models may not name them, tests
// may.
#include <gtest/gtest.h>

#include <vector>

#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// The bytes of -x.
OnnxBuilder bytes_of_opposite() {
  OnnxBuilder model(21);
  model.import_opset(std::string(definitions::kInternalDomain), 21);
  model.input("x", {3}, DataType::kInt16);
  model.output("y");
  model.node("Neg", {"x"}, {"n"});
  auto& node = model.node("Reinterpret", {"n"}, {"y"});
  node.set_domain(std::string(definitions::kInternalDomain));
  OnnxBuilder::set(node, "to", static_cast<int64_t>(DataType::kUint8));
  return model;
}

TEST(OwnOperators, ModelsMayNotNameThem) {
  EXPECT_TRUE(converter::contains(conversion_error(bytes_of_opposite()),
                                  "the operator intarsia:Reinterpret(21) is not supported"));
}

/// Pairs of elements of 4 bits as bytes, the first in the lower half.
OnnxBuilder pairs(int64_t codes) {
  OnnxBuilder model(21);
  model.import_opset(std::string(definitions::kInternalDomain), 21);
  model.input("x", {2, codes}, DataType::kUint8);
  model.output("y");
  OnnxBuilder::set(model.node("Cast", {"x"}, {"n"}), "to", static_cast<int64_t>(DataType::kUint4));
  auto& node = model.node("Reinterpret", {"n"}, {"y"});
  node.set_domain(std::string(definitions::kInternalDomain));
  OnnxBuilder::set(node, "to", static_cast<int64_t>(DataType::kUint8));
  return model;
}

TEST(OwnOperators, CodesThatFillBytesBecomeBytes) {
  converter::ConvertOptions options;
  options.own_operators = true;
  SmallPlan plan(pairs(4), options);
  Session session = plan.open().value();
  const auto x = session.input<uint8_t>(0).value();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i + 1);
  ASSERT_TRUE(session.run().ok());
  const auto y = session.output<uint8_t>(0).value();
  EXPECT_EQ((std::vector<int>{y.begin(), y.end()}), (std::vector<int>{0x21, 0x43, 0x65, 0x87}));
  EXPECT_TRUE(converter::contains(conversion_error(pairs(3), options),
                                  "elements that fill bytes along the last axis"));
}

/// A caller's buffer of bytes is not aligned for wider elements.
TEST(OwnOperators, WiderElementsAreNotInTheBufferOfAnOutput) {
  converter::ConvertOptions options;
  options.own_operators = true;
  SmallPlan plan(bytes_of_opposite(), options);
  Session session = plan.open().value();
  const auto x = session.input<int16_t>(0).value();
  for (int i = 0; i < 3; ++i) x[static_cast<size_t>(i)] = static_cast<int16_t>(-0x201 * (i + 1));
  ASSERT_TRUE(session.run().ok());
  const auto y = session.output<uint8_t>(0).value();
  EXPECT_EQ((std::vector<int>{y.begin(), y.end()}), (std::vector<int>{1, 2, 2, 4, 3, 6}));
}

}  // namespace
}  // namespace intarsia::test
