// SPDX-License-Identifier: Apache-2.0
//
// Extents as definitions write them: those of every operator are well-formed, and operands are
// fitted to them and made after them.
#include "test/random/extent_forms.h"

#include <gtest/gtest.h>

#include <set>

#include "core/definitions/registry.h"

namespace intarsia::test {
namespace {

using definitions::AttributeField;
using definitions::AttributeMap;
using definitions::Parameter;

Shape<Dim> shape_of(std::initializer_list<int64_t> extents) {
  Shape<Dim> shape;
  for (int64_t extent : extents) shape.push(extent);
  return shape;
}

/// An operator of these inputs, with the attribute `heads`.
OperatorDefinition with_inputs(std::vector<Parameter> inputs) {
  OperatorDefinition op;
  op.name = "Made";
  op.inputs = std::move(inputs);
  op.attributes.list = [] { return std::vector<AttributeField>{{.name = "heads"}}; };
  return op;
}

TEST(ExtentForms, ThoseOfEveryOperatorAreWellFormed) {
  int found = 0;
  for (const OperatorDefinition* op : definitions::OperatorRegistry::builtin().all()) {
    EXPECT_EQ(mistake_in_forms(*op), "");
    for (const Parameter& input : op->inputs) found += input.extents.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 100);
}

TEST(ExtentForms, MistakesAreNamed) {
  const auto mistake = [](std::vector<Parameter> inputs) {
    return mistake_in_forms(with_inputs(std::move(inputs)));
  };
  EXPECT_EQ(mistake({Parameter{"a", "T"}.with("... N*(2+M) | ()"), Parameter{"b", "T"}.with("N")}),
            "");
  EXPECT_EQ(mistake({Parameter{"a", "T"}.with("N 2*")}), "Made, a: '2*' is no expression");
  EXPECT_EQ(mistake({Parameter{"a", "T"}.with("(N+1")}), "Made, a: '(N+1' is no expression");
  EXPECT_EQ(mistake({Parameter{"a", "T"}.with("N-1")}), "Made, a: 'N-1' is no expression");
  EXPECT_EQ(mistake({Parameter{"a", "T"}.with("N | M"), Parameter{"b", "T"}.with("N | M | K")}),
            "Made, b: 3 forms, others have 2");
  EXPECT_EQ(mistake({Parameter{"a", "T"}.with("N | absent")}), "Made, a: is required");
}

TEST(ExtentForms, NamesStandForOneNumber) {
  const OperatorDefinition op =
      with_inputs({Parameter{"a", "T"}.with("... S heads*D"), Parameter{"b", "T"}.with("D+2 S/2")});
  const RandomModel model;
  Random random(1);
  ExtentForms forms(op, {{"heads", int64_t{3}}}, model, random);
  EXPECT_FALSE(forms.fits(0, shape_of({6})));
  EXPECT_FALSE(forms.fits(0, shape_of({5, 7})));  // no multiple of 3
  ASSERT_TRUE(forms.take(0, shape_of({4, 5, 12})));
  EXPECT_TRUE(forms.fits(1, shape_of({6, 3})));
  EXPECT_FALSE(forms.fits(1, shape_of({6, 2})));
  EXPECT_FALSE(forms.fits(1, shape_of({5, 3})));
  EXPECT_FALSE(forms.fits(0, shape_of({3, 5, 12})));  // "..." is one list
  const Shape<Dim> drawn = forms.draw(1);
  ASSERT_EQ(drawn.rank, 2);
  EXPECT_EQ(drawn[0], Dim(6));
  EXPECT_EQ(drawn[1], Dim(3));
}

TEST(ExtentForms, OperandsTellAttributes) {
  const OperatorDefinition op =
      with_inputs({Parameter{"a", "T"}.with("heads"), Parameter{"b", "T"}.with("heads*2")});
  const RandomModel model;
  Random random(1);
  ExtentForms forms(op, {}, model, random);
  ASSERT_TRUE(forms.take(1, shape_of({10})));
  AttributeMap attributes;
  forms.complete(attributes);
  EXPECT_EQ(std::get<int64_t>(attributes.at("heads")), 5);
  EXPECT_EQ(forms.draw(0)[0], Dim(5));
}

TEST(ExtentForms, OperandsThatAFormLeavesOutBelongToTheOthers) {
  const OperatorDefinition op = with_inputs(
      {Parameter{"a", "T"}.with("()"), Parameter{"b", "T", Parameter::kOptional}.with("absent | N"),
       Parameter{"c", "T", Parameter::kOptional}.with("N | ()"), Parameter{"d", "T"}});
  const RandomModel model;
  std::set<bool> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ExtentForms forms(op, {}, model, random);
    seen.insert(forms.absent(1));
    EXPECT_NE(forms.absent(1), forms.belongs(1));
    EXPECT_EQ(forms.fits(2, shape_of({})), forms.belongs(1));
    EXPECT_FALSE(forms.belongs(2));
    EXPECT_TRUE(forms.fits(0, shape_of({})));
    EXPECT_FALSE(forms.fits(0, shape_of({1})));
    EXPECT_FALSE(forms.has(3));
  }
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace intarsia::test
