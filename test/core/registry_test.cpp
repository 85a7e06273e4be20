// SPDX-License-Identifier: Apache-2.0
//
// The list of operator definitions is sound: names, type variables, attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

TEST(Registry, FindsByDomainAndName) {
  const OperatorDefinition* reshape = find_operator("", "Reshape");
  ASSERT_NE(reshape, nullptr);
  EXPECT_EQ(reshape->name, "Reshape");
  EXPECT_TRUE(reshape->view);
  EXPECT_EQ(find_operator("ai.onnx", "Reshape"), reshape);
  EXPECT_EQ(find_operator("com.example", "Reshape"), nullptr);
  EXPECT_EQ(find_operator("", "reshape"), nullptr);
}

TEST(Registry, NamesWhatResembles) {
  const std::vector<std::string> near = nearest_operators("", "Reshap");
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0], "Reshape");
  EXPECT_LE(near.size(), 3u);
  EXPECT_EQ(nearest_operators("", "UNSQUEEZE").at(0), "Unsqueeze");
  EXPECT_EQ(nearest_operators("com.example", "Flatten").at(0), "Flatten");
  EXPECT_TRUE(nearest_operators("", "Xq").empty());
}

TEST(Registry, IsSortedWithoutDuplicates) {
  const auto& all = all_operators();
  ASSERT_GT(all.size(), 10u);
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(std::tie(all[i - 1]->domain, all[i - 1]->name),
              std::tie(all[i]->domain, all[i]->name));
  }
}

TEST(Registry, TypeVariablesAreDeclaredAndUsed) {
  for (const OperatorDefinition* definition : all_operators()) {
    SCOPED_TRACE(definition->qualified_name());
    std::set<std::string_view> declared;
    for (const TypeConstraint& constraint : definition->types) {
      EXPECT_TRUE(declared.insert(constraint.variable).second) << constraint.variable;
      EXPECT_NE(constraint.allowed, 0u);
    }
    std::set<std::string_view> used;
    for (const auto* list : {&definition->inputs, &definition->outputs}) {
      for (const Parameter& parameter : *list) {
        if (!parameter.type.empty()) used.insert(parameter.type);
      }
    }
    EXPECT_EQ(declared, used);
    for (std::string_view variable : definition->kernel_types) {
      EXPECT_TRUE(declared.count(variable)) << variable;
    }
  }
}

TEST(Registry, EveryOperatorHasACodec) {
  for (const OperatorDefinition* definition : all_operators()) {
    SCOPED_TRACE(definition->qualified_name());
    ASSERT_NE(definition->attributes.read, nullptr);
    ASSERT_NE(definition->attributes.print, nullptr);
    std::vector<std::byte> bytes(definition->attributes.bytes + 1);
    EXPECT_NE(definition->attributes.read({{"no_such_attribute", int64_t{1}}}, bytes.data()), "");
    // Shape functions come with their run-time key and their spelling, or not at all.
    EXPECT_EQ(definition->infer != nullptr, definition->shape.key != 0);
    EXPECT_EQ(definition->infer != nullptr, !definition->shape_cpp.empty());
    EXPECT_EQ(definition->infer != nullptr, !definition->shape_header.empty());
  }
}

TEST(Registry, AKeyNamesOneShapeFunction) {
  std::map<uint64_t, std::string_view> spelling;
  for (const OperatorDefinition* definition : all_operators()) {
    if (definition->infer == nullptr) continue;
    const auto [place, fresh] = spelling.emplace(definition->shape.key, definition->shape_cpp);
    EXPECT_EQ(place->second, definition->shape_cpp) << definition->qualified_name();
  }
}

}  // namespace
}  // namespace intarsia::definitions
