// SPDX-License-Identifier: Apache-2.0
//
// The list of operator definitions is sound: names, type variables, attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/definitions/gradient.h"
#include "core/definitions/registry.h"
#include "core/definitions/rows.h"

namespace intarsia::ops {
extern const std::span<const ShapeFunction* const> shape_functions;
}

namespace intarsia::definitions {
namespace {

const OperatorRegistry& builtin() {
  return OperatorRegistry::builtin();
}

TEST(Registry, FindsByDomainAndName) {
  const OperatorDefinition* reshape = builtin().find("", "Reshape");
  ASSERT_NE(reshape, nullptr);
  EXPECT_EQ(reshape->name, "Reshape");
  EXPECT_TRUE(reshape->view);
  EXPECT_EQ(builtin().find("ai.onnx", "Reshape"), reshape);
  EXPECT_EQ(builtin().find("com.example", "Reshape"), nullptr);
  EXPECT_EQ(builtin().find("", "reshape"), nullptr);
}

TEST(Registry, NamesWhatResembles) {
  const std::vector<std::string> near = builtin().nearest("", "Reshap");
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(near[0], "Reshape");
  EXPECT_LE(near.size(), 3u);
  EXPECT_EQ(builtin().nearest("", "UNSQUEEZE").at(0), "Unsqueeze");
  EXPECT_EQ(builtin().nearest("com.example", "Flatten"), std::vector<std::string>{"Flatten"});
  EXPECT_TRUE(builtin().nearest("com.example", "Reshap").empty()) << "another domain's operator";
  EXPECT_EQ(builtin().nearest("", "LayerNorm").at(0), "LayerNormalization");
}

TEST(Registry, NamesNothingThatDoesNotResemble) {
  for (const char* name : {"Xq", "Frobnicate", "testgroupnorm", "A", ""}) {
    EXPECT_TRUE(builtin().nearest("", name).empty()) << builtin().nearest("", name).at(0);
  }
}

TEST(Registry, CUS_12_FindsTheVersionThatHoldsANode) {
  const DefinitionRows rows{{.domain = "my", .name = "Op", .since_version = 2, .until_version = 3},
                            {.domain = "my", .name = "Op", .since_version = 5}};
  OperatorRegistry registry = builtin();
  EXPECT_TRUE(registry.add(rows).empty());
  EXPECT_EQ(registry.find("my", "Op", 1), nullptr);
  EXPECT_EQ(registry.find("my", "Op", 2), &rows[0]);
  EXPECT_EQ(registry.find("my", "Op", 3), &rows[0]);
  EXPECT_EQ(registry.find("my", "Op", 4), nullptr);
  EXPECT_EQ(registry.find("my", "Op", 5), &rows[1]);
  EXPECT_EQ(registry.find("my", "Op", 99), &rows[1]);
  EXPECT_EQ(registry.find("my", "Op"), &rows[1]);
  EXPECT_EQ(registry.hint("my", "Op"), "it is registered for versions 2 to 3, 5 and later");
  EXPECT_EQ(builtin().find("my", "Op"), nullptr);
}

TEST(Registry, TheNewestRowServesAnUnknownVersion) {
  const DefinitionRows rows{{.domain = "my", .name = "Op", .since_version = 1, .until_version = 3}};
  OperatorRegistry registry;
  EXPECT_TRUE(registry.add(rows).empty());
  EXPECT_EQ(registry.find("my", "Op", kLatestVersion), &rows[0]);
}

TEST(Registry, RefusesOverlappingVersions) {
  const DefinitionRows rows{{.domain = "my", .name = "Op", .until_version = 3}};
  const DefinitionRows more{{.domain = "my", .name = "Op", .since_version = 3}};
  OperatorRegistry registry;
  EXPECT_TRUE(registry.add(rows).empty());
  EXPECT_EQ(registry.add(more), std::vector<std::string>{"my:Op"});
  EXPECT_EQ(registry.find("my", "Op", 4), nullptr);
}

TEST(Registry, AsksFindersLast) {
  static const OperatorDefinition kAny{.name = "PyOp"};
  OperatorRegistry registry = builtin();
  registry.add([](std::string_view, std::string_view name, int) {
    return name == "PyOp" || name == "Reshape" ? &kAny : nullptr;
  });
  EXPECT_EQ(registry.find("any.domain", "PyOp", 7), &kAny);
  EXPECT_EQ(registry.find("", "PyOp"), &kAny);
  EXPECT_NE(registry.find("", "Reshape"), &kAny);
  EXPECT_EQ(registry.find("", "Other"), nullptr);
}

TEST(Registry, IsSortedWithoutDuplicates) {
  const auto& all = builtin().all();
  ASSERT_GT(all.size(), 10u);
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(std::tie(all[i - 1]->domain, all[i - 1]->name),
              std::tie(all[i]->domain, all[i]->name));
  }
}

TEST(Registry, TypeVariablesAreDeclaredAndUsed) {
  for (const OperatorDefinition* definition : builtin().all()) {
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
  for (const OperatorDefinition* definition : builtin().all()) {
    SCOPED_TRACE(definition->qualified_name());
    ASSERT_NE(definition->attributes.read, nullptr);
    ASSERT_NE(definition->attributes.print, nullptr);
    std::vector<std::byte> bytes;
    EXPECT_NE(definition->attributes.read({{"no_such_attribute", int64_t{1}}}, bytes), "");
    // Shape functions come with their run-time key and their name, or not at all; of sequences and
    // maps only kernels can tell how long they are.
    const bool told_by_kernel =
        std::any_of(definition->types.begin(), definition->types.end(),
                    [](const TypeConstraint& row) {
                      return (row.allowed & (kSequenceTypes | kMapType)) != 0;
                    }) &&
        definition->name != "Identity";
    // Gradient is gone before there is a plan.
    if (definition->domain == kTrainingDomain) continue;
    EXPECT_EQ(definition->infer != nullptr && !told_by_kernel, definition->shape.key != 0);
    EXPECT_EQ(definition->infer != nullptr && !told_by_kernel, !definition->shape_name.empty());
  }
}

TEST(Registry, AKeyNamesOneShapeFunction) {
  std::map<uint64_t, std::string_view> spelling;
  for (const OperatorDefinition* definition : builtin().all()) {
    if (definition->infer == nullptr) continue;
    const auto [place, fresh] = spelling.emplace(definition->shape.key, definition->shape_name);
    EXPECT_EQ(place->second, definition->shape_name) << definition->qualified_name();
  }
}

/// Programs link shape functions by key, so each must stand in the list of shape_functions.cpp.
TEST(Registry, EveryShapeFunctionIsListed) {
  std::set<uint64_t> listed;
  for (const ShapeFunction* each : ops::shape_functions) listed.insert(each->key);
  for (const OperatorDefinition* definition : builtin().all()) {
    if (definition->shape.key == 0) continue;
    EXPECT_TRUE(listed.contains(definition->shape.key)) << definition->shape_name;
  }
}

// -- Facts
// ---------------------------------------------------------------------------

template <class Visit>
void each_parameter(const OperatorDefinition& op, const Visit& visit) {
  for (const Parameter& input : op.inputs) visit(input);
  for (const Parameter& output : op.outputs) visit(output);
}

TEST(Facts, EveryOperandSaysHowItsAxesRelateToTheOthers) {
  for (const OperatorDefinition* op : builtin().all()) {
    SCOPED_TRACE(op->qualified_name());
    if (op->facts.expand != nullptr) continue;  // gone before a pass could ask
    each_parameter(*op, [](const Parameter& operand) {
      EXPECT_NE(operand.axes, AxisRole::kUnknown) << operand.name;
    });
  }
}

TEST(Facts, ElementWiseOperatorsNameNoAxis) {
  int count = 0;
  for (const OperatorDefinition* op : builtin().all()) {
    if (!op->facts.element_wise) continue;
    SCOPED_TRACE(op->qualified_name());
    ++count;
    EXPECT_EQ(op->facts.axes.form, AxisForm::kNone);
    each_parameter(*op, [](const Parameter& operand) {
      const bool aligned = operand.axes == AxisRole::kSame ||
                           operand.axes == AxisRole::kBroadcast || operand.axes == AxisRole::kApart;
      EXPECT_TRUE(aligned) << operand.name;
    });
  }
  EXPECT_GT(count, 60);
  // They share the shape rule of element-wise operators, and look along an axis.
  EXPECT_FALSE(builtin().find("", "CumSum")->facts.element_wise);
  EXPECT_FALSE(builtin().find("", "CumProd")->facts.element_wise);
}

TEST(Facts, AxesAreNamedByAnAttributeOrAnInput) {
  for (const OperatorDefinition* op : builtin().all()) {
    SCOPED_TRACE(op->qualified_name());
    const AxisNaming& axes = op->facts.axes;
    const bool named = axes.form != AxisForm::kNone && axes.form != AxisForm::kImage &&
                       axes.form != AxisForm::kPosition;
    EXPECT_LT(axes.input, static_cast<int>(op->inputs.size()));
    if (named) {
      EXPECT_NE(bool(axes.attribute), axes.input >= 0);
    }
    if (axes.input >= 0) {
      EXPECT_EQ(op->inputs[static_cast<size_t>(axes.input)].axes, AxisRole::kApart);
      const bool optional =
          op->inputs[static_cast<size_t>(axes.input)].kind == Parameter::kOptional;
      EXPECT_EQ(optional, axes.absent != NoAxes::kImpossible);
    }
    std::set<std::string> names;
    for (const AttributeField& field : op->attributes.list()) names.insert(field.name);
    for (const IntegerAttribute& attribute : {axes.attribute, axes.keep, axes.none_if_absent}) {
      if (!attribute) continue;
      EXPECT_TRUE(names.count(std::string(attribute.name()))) << attribute.name();
    }
    if (axes.channels_last) {
      EXPECT_EQ(axes.channels_last.name(), "channels_last");
    }
    for (const AttributeField& field : op->attributes.list()) {
      EXPECT_LE(field.limits.lowest, field.limits.highest) << field.name;
      EXPECT_TRUE(field.limits.allow(field.limits.lowest)) << field.name;
    }
  }
}

TEST(Facts, AnAttributeIsReadAndWrittenByItsMember) {
  const OperatorDefinition& resize = *builtin().find("", "Resize");
  std::vector<std::byte> bytes;
  ASSERT_EQ(resize.attributes.read({{"axes", std::vector<int64_t>{2, 3}}}, bytes), "");
  const IntegerAttribute& axes = resize.facts.axes.attribute;
  EXPECT_EQ(axes.get(bytes.data()), (std::vector<int64_t>{2, 3}));
  axes.set(bytes.data(), std::vector<int64_t>{1, 2, 3});
  EXPECT_EQ(axes.get(bytes.data()), (std::vector<int64_t>{1, 2, 3}));

  const OperatorDefinition& unique = *builtin().find("", "Unique");
  ASSERT_EQ(unique.attributes.read({}, bytes), "");
  EXPECT_TRUE(unique.facts.axes.attribute.get(bytes.data()).empty());

  // A member of a member.
  const OperatorDefinition& pool = *builtin().find("", "MaxPool");
  ASSERT_EQ(pool.attributes.read({{"kernel_shape", std::vector<int64_t>{1}}}, bytes), "");
  EXPECT_FALSE(pool.facts.axes.channels_last.flag(bytes.data()));
  pool.facts.axes.channels_last.set(bytes.data(), std::vector<int64_t>{1});
  EXPECT_TRUE(pool.facts.axes.channels_last.flag(bytes.data()));
}

TEST(Facts, AttributesAreListedWithKindsAndChoices) {
  std::map<std::string, AttributeField> fields;
  for (const AttributeField& field : builtin().find("", "Conv")->attributes.list()) {
    fields[field.name] = field;
  }
  EXPECT_EQ(fields.count("activation"), 0u) << "the converter's own";
  EXPECT_EQ(fields["group"].kind, AttributeField::kInteger);
  EXPECT_EQ(fields["group"].limits.lowest, 1);
  EXPECT_EQ(fields["strides"].kind, AttributeField::kIntegers);
  EXPECT_EQ(fields["auto_pad"].choices.size(), 4u);
  EXPECT_FALSE(fields["auto_pad"].required);
  const auto shift = builtin().find("", "BitShift")->attributes.list();
  EXPECT_TRUE(shift[0].required);
}

}  // namespace
}  // namespace intarsia::definitions
