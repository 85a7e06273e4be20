// SPDX-License-Identifier: Apache-2.0
//
// Models that contradict themselves: declarations against what is computed, numbers of operands
// against the definitions of all operators, names.
#include "converter/convert.h"
#include "converter/onnx/version_conversion.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::converter {
namespace {

std::string conversion_error(const OnnxBuilder& builder, const ConvertOptions& options = {}) {
  const std::string bytes = builder.bytes();
  const ConversionResult result = convert_bytes(std::as_bytes(std::span(bytes)), options);
  const auto* failure = std::get_if<ConversionFailure>(&result);
  return failure != nullptr ? failure->text() : "";
}

/// What the conversion says beside the plan; "" if it fails.
std::string warnings(const OnnxBuilder& builder) {
  const std::string bytes = builder.bytes();
  const ConversionResult result = convert_bytes(std::as_bytes(std::span(bytes)), {});
  const auto* conversion = std::get_if<Conversion>(&result);
  std::string text;
  if (conversion == nullptr) return text;
  for (const std::string& warning : conversion->warnings) text += warning + "\n";
  return text;
}

/// An extent of 0 declares a symbol.
void declare(onnx::ValueInfoProto& info, DataType type, const std::vector<int64_t>& extents) {
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type));
  tensor->mutable_shape();
  for (int64_t extent : extents) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (extent != 0) dim->set_dim_value(extent);
    if (extent == 0) dim->set_dim_param("n");
  }
}

/// x [2, 3] -> Relu -> h -> Neg -> y, with the output declared so.
OnnxBuilder declared(DataType type, const std::vector<int64_t>& extents) {
  OnnxBuilder builder;
  builder.input("x", {2, 3});
  builder.node("Relu", {"x"}, {"h"});
  builder.node("Neg", {"h"}, {"y"});
  builder.output("y");
  declare(*builder.graph().mutable_output(0), type, extents);
  return builder;
}

TEST(Declaration, OutputsThatAgree) {
  EXPECT_EQ(conversion_error(declared(DataType::kFloat, {2, 3})), "");
  EXPECT_EQ(conversion_error(declared(DataType::kFloat, {0, 3})), "");
  EXPECT_EQ(conversion_error(declared(DataType::kUndefined, {2, 3})), "");
  EXPECT_EQ(warnings(declared(DataType::kFloat, {0, 3})), "");
}

TEST(Declaration, OutputsThatContradict) {
  EXPECT_EQ(conversion_error(declared(DataType::kInt64, {2, 3})),
            "node 'Neg2' (Neg): 'y' is declared as int64, but is computed as float; the model is "
            "invalid; export it again, or correct the declaration");
  EXPECT_EQ(warnings(declared(DataType::kFloat, {2, 4})),
            "output 'y' is declared as [2,4], but is computed as [2,3], which the plan has\n");
  EXPECT_CONTAINS(warnings(declared(DataType::kFloat, {0, 4})),
                  "'y' is declared as [?,4], but is computed as [2,3]");
  EXPECT_CONTAINS(warnings(declared(DataType::kFloat, {6})),
                  "'y' is declared as [6], but is computed as [2,3]");
}

TEST(Declaration, InsideOnlyTheTypeCounts) {
  OnnxBuilder builder = declared(DataType::kFloat, {2, 3});
  auto& inside = *builder.graph().add_value_info();
  inside.set_name("h");
  declare(inside, DataType::kFloat, {7, 7, 7});
  EXPECT_EQ(conversion_error(builder) + warnings(builder), "")
      << "models in circulation have wrong extents there";
  inside.mutable_type()->mutable_tensor_type()->set_elem_type(
      static_cast<int32_t>(DataType::kDouble));
  EXPECT_CONTAINS(conversion_error(builder),
                  "node 'Relu1' (Relu): 'h' is declared as double, but is computed as float");
}

TEST(Declaration, ConstantsAndInputsAsOutputs) {
  OnnxBuilder builder = declared(DataType::kFloat, {2, 3});
  builder.floats("w", {2}, {1, 2});
  for (const char* name : {"w", "x"}) {
    builder.output(name);
    auto& output = *builder.graph().mutable_output(1);
    declare(output, DataType::kFloat, {5});
    EXPECT_CONTAINS(warnings(builder),
                    "'" + std::string(name) + "' is declared as [5], but is computed as");
    builder.graph().mutable_output()->RemoveLast();
  }
}

TEST(Declaration, FoldedAndDecidedOutputs) {
  OnnxBuilder folded;
  folded.input("x", {2});
  folded.floats("w", {2}, {1, 2});
  folded.node("Neg", {"w"}, {"y"});
  folded.output("y");
  declare(*folded.graph().mutable_output(0), DataType::kFloat, {3});
  EXPECT_CONTAINS(warnings(folded), "'y' is declared as [3], but is computed as [2]");

  for (const bool decided : {false, true}) {
    OnnxBuilder choice;
    choice.input("x", {2});
    const uint8_t yes = 1;
    if (decided) {
      choice.initializer("c", DataType::kBool, {}, &yes, 1);
    } else {
      choice.input("c", {}, DataType::kBool);
    }
    auto& node = choice.node("If", {"c"}, {"y"});
    for (const char* name : {"then_branch", "else_branch"}) {
      auto* branch = OnnxBuilder::attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
      OnnxBuilder::add_node(*branch->mutable_node(), "Neg", {"x"}, {"inner"});
      branch->add_output()->set_name("inner");
    }
    choice.output("y");
    declare(*choice.graph().mutable_output(0), DataType::kFloat, {3});
    EXPECT_CONTAINS(warnings(choice), "is declared as [3], but is computed as [2]");
    choice.graph().mutable_output(0)->clear_type();
    EXPECT_EQ(conversion_error(choice) + warnings(choice), "");
  }
}

// --- Operands of all operators -------------------------------------------------------------------

std::vector<std::string> names(const std::string& prefix, size_t count) {
  std::vector<std::string> list;
  for (size_t i = 0; i < count; ++i) list.push_back(prefix + std::to_string(i));
  return list;
}

bool variadic(const std::vector<definitions::Parameter>& formal) {
  return !formal.empty() && formal.back().kind == definitions::Parameter::kVariadic;
}

/// A node of the newest form with these operands, each input a graph input.
OnnxBuilder node_with(const definitions::OperatorDefinition& op, size_t inputs, size_t outputs) {
  OnnxBuilder builder(kNewestOpset);
  if (!op.domain.empty()) builder.import_opset(std::string(op.domain), 1);
  for (const std::string& name : names("x", inputs)) builder.input(name, {2, 3, 4});
  auto& node = builder.node(std::string(op.name), names("x", inputs), names("y", outputs));
  node.set_domain(std::string(op.domain));
  builder.input("z", {1});
  builder.node("Relu", {"z"}, {"result"});
  builder.output("result");
  return builder;
}

template <class Visit>
void for_each_model_operator(const Visit& visit) {
  for (const auto* op : definitions::OperatorRegistry::builtin().all()) {
    if (op->domain == definitions::kInternalDomain) continue;
    visit(*op);
  }
}

TEST(Operands, TooManyAreRefused) {
  for_each_model_operator([](const definitions::OperatorDefinition& op) {
    const size_t inputs = op.inputs.size(), outputs = std::max<size_t>(op.outputs.size(), 1);
    if (!variadic(op.inputs)) {
      EXPECT_CONTAINS(conversion_error(node_with(op, inputs + 1, outputs)),
                      "has " + std::to_string(inputs + 1) + " inputs, but the operator has");
    }
    if (!variadic(op.outputs)) {
      EXPECT_CONTAINS(conversion_error(node_with(op, inputs, outputs + 1)),
                      "has " + std::to_string(outputs + 1) + " outputs, but the operator has");
    }
  });
}

TEST(Operands, TooFewAreRefused) {
  for_each_model_operator([](const definitions::OperatorDefinition& op) {
    size_t required = 0;
    while (required < op.inputs.size() &&
           op.inputs[required].kind == definitions::Parameter::kRequired) {
      ++required;
    }
    if (required == 0) return;
    EXPECT_CONTAINS(conversion_error(node_with(op, required - 1, 1)), "lacks ") << op.name;
    if (op.domain.empty()) {
      EXPECT_CONTAINS(conversion_error(node_with(op, required, 0)), "has no outputs") << op.name;
    }
  });
}

TEST(Operands, AbsentOnesInAListOfAnyLength) {
  OnnxBuilder concat;
  concat.input("x", {2});
  OnnxBuilder::set(concat.node("Concat", {"x", ""}, {"y"}), "axis", int64_t{0});
  concat.output("y");
  EXPECT_CONTAINS(conversion_error(concat), "lacks input 1");

  OnnxBuilder split(13);  // three equal parts, of which the last is not wanted
  split.input("x", {6});
  split.node("Split", {"x"}, {"a", "b", ""});
  split.output("a");
  declare(*split.graph().mutable_output(0), DataType::kFloat, {2});
  EXPECT_EQ(conversion_error(split), "");
}

TEST(Names, GivenTwiceOrNever) {
  const auto error = [](const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    OnnxBuilder builder;
    builder.input("x", {2});
    builder.node("Relu", {"x"}, {"h"});
    builder.node("Dropout", inputs, outputs);
    builder.output("y");
    return conversion_error(builder);
  };
  EXPECT_EQ(error({"h"}, {"y", "mask"}), "");
  EXPECT_CONTAINS(error({"h"}, {"y", "y"}), "the name 'y' is given to two values");
  EXPECT_CONTAINS(error({"h"}, {"y", "h"}), "the name 'h' is given to two values");
  EXPECT_CONTAINS(error({"h"}, {"y", "x"}), "the name 'x' is given to two values");
  EXPECT_CONTAINS(error({"y"}, {"y", "mask"}), "depends on its own output");
  EXPECT_CONTAINS(error({"nowhere"}, {"y"}), "input 'nowhere' is produced by no node");
  EXPECT_CONTAINS(error({"h"}, {"z"}), "graph output 'y' is produced by no node");
}

}  // namespace
}  // namespace intarsia::converter
