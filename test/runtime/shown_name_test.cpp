// SPDX-License-Identifier: Apache-2.0
//
// Names of a plan in reports and messages: as long as the plan allows, and of any bytes.
#include "converter/tool/plan_text.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// x[2] / y[2] -> z, whose node and operands have such names.
OnnxBuilder divided(const std::string& name) {
  OnnxBuilder model;
  model.input("x", {2}, DataType::kInt32);
  model.input("y", {2}, DataType::kInt32);
  model.node("Div", {"x", "y"}, {"z"}).set_name(name);
  model.output("z");
  return model;
}

std::string shown(const std::string& name) {
  flatbuffers::FlatBufferBuilder builder;
  const auto offset = builder.CreateString(name);
  return tool::shown_name(flatbuffers::GetTemporaryPointer(builder, offset));
}

TEST(ShownName, CutsAndCleans) {
  EXPECT_EQ(shown("conv/1"), "conv/1");
  EXPECT_EQ(tool::shown_name(nullptr), "");
  EXPECT_EQ(shown(std::string(tool::kLongestName, 'a')), std::string(tool::kLongestName, 'a'));
  EXPECT_EQ(shown(std::string(1000, 'a')), std::string(tool::kLongestName, 'a') + "...");
  EXPECT_EQ(shown("a\nb\x1b[1m\x7f"), "a?b?[1m?");
  EXPECT_EQ(shown("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(shown("\xff\xc3-\xed\xa0\x80\xf8"), "\?\?-\?\?\?\?");
  const std::string umlauts = [] {
    std::string text = "x";
    while (text.size() < 600) text += "\xc3\xa4";
    return text;
  }();
  EXPECT_EQ(shown(umlauts), umlauts.substr(0, tool::kLongestName - 1) + "...")
      << "no character is cut in two";
}

TEST(ShownName, ReportsOfAPlan) {
  SmallPlan plan(divided(std::string(1 << 20, 'n')));
  const tool::PlanText text(plan.plan());
  EXPECT_EQ(text.node_name(0), std::string(tool::kLongestName, 'n') + "...");
}

TEST(ShownName, MessagesSayWhatIsWrongBehindALongName) {
  SmallPlan plan(divided(std::string(1 << 20, 'n')));
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  for (int i = 0; i < 2; ++i) session->input<int32_t>(i).value()[0] = 0;
  ASSERT_FALSE(session->run().ok());
  char buffer[300];
  EXPECT_LT(describe(session->diagnostic(), plan.plan(), buffer, sizeof(buffer)), sizeof(buffer));
  const std::string message = buffer;
  EXPECT_NE(message.find("node 0 '" + std::string(96, 'n') + "...' (Div): "), std::string::npos)
      << message;
  EXPECT_NE(message.find("divi"), std::string::npos) << message;
}

}  // namespace
}  // namespace intarsia::test
