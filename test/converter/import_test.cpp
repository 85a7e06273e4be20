// SPDX-License-Identifier: Apache-2.0
//
// Import of ONNX models: what well-formed models become, and which error a malformed one gives.
#include "converter/onnx/import.h"

#include <gtest/gtest.h>

#include "test/converter/onnx_builder.h"

namespace intarsia::converter {
namespace {

// x -> Relu -> y.
OnnxBuilder relu() {
  OnnxBuilder builder;
  builder.input("x", {2, 3});
  builder.node("Relu", {"x"}, {"y"});
  builder.output("y");
  return builder;
}

TEST(Import, SmallModel) {
  const Model model = relu().import();
  EXPECT_EQ(model.graph->check(), "");
  EXPECT_EQ(types_of(*model.graph), "Relu");
  ASSERT_EQ(model.graph->inputs().size(), 1U);
  const Value& x = *model.graph->inputs()[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, DataType::kFloat);
  ASSERT_TRUE(x.shape.has_value());
  EXPECT_EQ(x.shape->rank, 2);
  EXPECT_TRUE((*x.shape)[1] == definitions::Dim(3));
  EXPECT_EQ(model.graph->outputs()[0]->name, "y");
  EXPECT_EQ(model.graph->nodes().front()->name, "Relu1");
  EXPECT_EQ(model.graph->nodes().front()->version, 21);
}

TEST(Import, SymbolsOfInputs) {
  OnnxBuilder builder;
  auto& x = builder.input("x", {0, 0, 5, 0});
  auto* shape = x.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch");
  shape->mutable_dim(3)->set_dim_value(0);  // as some exporters write "unknown"
  auto& y = builder.input("y", {0, -1});
  y.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("batch");
  builder.node("Add", {"x", "y"}, {"z"});
  builder.output("z");
  const Model model = builder.import();
  const auto& a = *model.graph->inputs()[0]->shape;
  const auto& b = *model.graph->inputs()[1]->shape;
  EXPECT_EQ(a[0].to_string(), "batch");
  EXPECT_EQ(a[1].to_string(), "x@1");
  EXPECT_EQ(a[2].to_string(), "5");
  EXPECT_EQ(a[3].to_string(), "x@3");
  EXPECT_TRUE(a[0] == b[0]) << "one name, one symbol";
  EXPECT_EQ(b[1].to_string(), "y@1");
  EXPECT_EQ(model.symbols->size(), 4);
}

TEST(Import, InitialisersAreConstants) {
  OnnxBuilder builder = relu();
  builder.input("w", {2});  // listed as an input, as before IR version 4
  builder.floats("w", {2}, {1.5F, -2});
  builder.node("Add", {"y", "w"}, {"z"});
  builder.output("z");
  const Model model = builder.import();
  EXPECT_EQ(model.graph->inputs().size(), 1U);
  const Value* w = find_node(model, "Add")->inputs[1];
  ASSERT_TRUE(w->is_constant());
  EXPECT_EQ(w->constant->reals(), (std::vector<double>{1.5, -2}));
}

TEST(Import, ConstantNodes) {
  OnnxBuilder builder;
  OnnxBuilder::set(builder.node("Constant", {}, {"a"}), "value_float", 2.5F);
  OnnxBuilder::set(builder.node("Constant", {}, {"b"}), "value_int", int64_t{-7});
  OnnxBuilder::set(builder.node("Constant", {}, {"c"}), "value_ints", std::vector<int64_t>{1, 2});
  OnnxBuilder::set(builder.node("Constant", {}, {"d"}), "value_floats", std::vector<float>{3});
  OnnxBuilder::set(builder.node("Constant", {}, {"e"}), "value_string", "word");
  auto& tensor = builder.node("Constant", {}, {"f"});
  const int16_t raw[2] = {5, -6};
  OnnxBuilder::fill(
      *OnnxBuilder::attribute(tensor, "value", onnx::AttributeProto::TENSOR).mutable_t(), "",
      DataType::kInt16, {2, 1}, raw, sizeof(raw));
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) builder.output(name);
  const Model model = builder.import();
  EXPECT_EQ(model.graph->nodes().size(), 0U);
  const auto constant = [&](size_t index) -> const Constant& {
    return *model.graph->outputs()[index]->constant;
  };
  EXPECT_EQ(constant(0).real(0), 2.5);
  EXPECT_EQ(constant(0).rank(), 0);
  EXPECT_EQ(constant(1).type, DataType::kInt64);
  EXPECT_EQ(constant(1).integer(0), -7);
  EXPECT_EQ(constant(2).integers(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(constant(3).extents, (std::vector<int64_t>{1}));
  EXPECT_EQ(constant(4).string(0), "word");
  EXPECT_EQ(constant(5).type, DataType::kInt16);
  EXPECT_EQ(constant(5).extents, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(constant(5).integers(), (std::vector<int64_t>{5, -6}));
}

TEST(Import, NodesOutOfOrderAreSorted) {
  OnnxBuilder builder;
  builder.input("x", {2});
  builder.node("Tanh", {"b"}, {"c"});
  builder.node("Relu", {"x"}, {"a"});
  builder.node("Exp", {"a"}, {"b"});
  builder.output("c");
  const Model model = builder.import();
  EXPECT_EQ(types_of(*model.graph), "Relu Exp Tanh");
  EXPECT_EQ(model.graph->check(), "");
}

TEST(Import, AbsentOptionalOperands) {
  OnnxBuilder builder;
  builder.input("x", {2});
  builder.floats("high", {}, {6});
  builder.node("Clip", {"x", "", "high"}, {"y"});
  builder.node("Dropout", {"y", "", ""}, {"z", ""});
  builder.output("z");
  const Model model = builder.import();
  const Node& clip = *find_node(model, "Clip");
  EXPECT_EQ(clip.input(1), nullptr);
  EXPECT_EQ(clip.input(2)->name, "high");
  EXPECT_EQ(find_node(model, "Dropout")->inputs.size(), 1U);
  EXPECT_EQ(find_node(model, "Dropout")->outputs.size(), 1U);
}

// If, whose branches capture values; "inner" exists in both, which is allowed.
OnnxBuilder branches() {
  OnnxBuilder builder;
  builder.input("c", {}, DataType::kBool);
  builder.input("x", {2});
  auto& node = builder.node("If", {"c"}, {"y"});
  auto* then_branch =
      OnnxBuilder::attribute(node, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  OnnxBuilder::add_node(*then_branch->mutable_node(), "Neg", {"late"}, {"inner"});
  then_branch->add_output()->set_name("inner");
  auto* else_branch =
      OnnxBuilder::attribute(node, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  OnnxBuilder::add_node(*else_branch->mutable_node(), "Exp", {"x"}, {"inner"});
  else_branch->add_output()->set_name("inner");
  // Stands behind the If that captures its output.
  builder.node("Relu", {"x"}, {"late"});
  builder.output("y");
  return builder;
}

TEST(Import, SubGraphsCaptureValues) {
  const Model model = branches().import();
  EXPECT_EQ(model.graph->check(), "");
  EXPECT_EQ(types_of(*model.graph), "Relu If");
  const Node& branch = *find_node(model, "If");
  ASSERT_EQ(branch.graphs.size(), 2U);
  EXPECT_EQ(branch.graphs[0].attribute, "then_branch");
  const Node& negate = *branch.graphs[0].graph->nodes().front();
  EXPECT_EQ(negate.inputs[0], find_node(model, "Relu")->outputs[0]);
  EXPECT_EQ(branch.graphs[0].graph->parent(), model.graph.get());
}

TEST(Graph, SpliceOfABranch) {
  Model model = branches().import();
  Graph& graph = *model.graph;
  Node* branch = find_node(model, "If");
  std::unique_ptr<Graph> taken = std::move(branch->graphs[0].graph);
  branch->graphs.erase(branch->graphs.begin());
  const auto results = graph.splice(std::move(taken), {}, branch);
  ASSERT_EQ(results.size(), 1U);
  Graph::replace_uses(branch->outputs[0], results[0]);
  graph.remove(branch);
  EXPECT_EQ(types_of(graph), "Relu Neg");
  EXPECT_EQ(graph.outputs()[0]->name, "inner");
  EXPECT_EQ(graph.check(), "");
}

TEST(Graph, CloneIsIndependent) {
  Model model = branches().import();
  std::unordered_map<const Value*, Value*> map;
  const auto copy = model.graph->clone(nullptr, map);
  model.graph.reset();
  EXPECT_EQ(copy->check(), "");
  EXPECT_EQ(types_of(*copy), "Relu If");
  EXPECT_EQ(copy->inputs()[1]->uses.size(), 2U);
}

TEST(Graph, RemovedNodesReleaseWhatTheyCapture) {
  Model model = branches().import();
  Graph& graph = *model.graph;
  Value* late = find_node(model, "Relu")->outputs[0];
  EXPECT_EQ(late->uses.size(), 1U);
  graph.remove(find_node(model, "If"));
  EXPECT_EQ(late->uses.size(), 0U);
}

TEST(Graph, UniqueNames) {
  Graph graph;
  graph.add_value("a");
  EXPECT_EQ(graph.unique_name("a"), "a_1");
  EXPECT_EQ(graph.unique_name("a"), "a_2");
  EXPECT_EQ(graph.unique_name("b"), "b");
}

// y = LeakyRelu(X * W, alpha of the caller) by a function that calls another.
OnnxBuilder functions() {
  OnnxBuilder builder;
  builder.import_opset("local", 1);
  builder.input("x", {2, 2});
  builder.floats("w", {2, 2}, {1, 2, 3, 4});
  auto& call = builder.node("Outer", {"x", "w"}, {"y", "same"});
  call.set_domain("local");
  OnnxBuilder::set(call, "slope", 0.25F);
  builder.output("y");
  builder.output("same");

  auto* outer = builder.model.add_functions();
  outer->set_name("Outer");
  outer->set_domain("local");
  for (const char* name : {"X", "W", "unused"}) outer->add_input(name);
  outer->add_output("Y");
  outer->add_output("X");  // an input that is an output too
  outer->add_attribute("slope");
  auto* import = outer->add_opset_import();
  import->set_version(13);
  OnnxBuilder::add_node(*outer->mutable_node(), "MatMul", {"X", "W"}, {"t"});
  auto& inner_call = OnnxBuilder::add_node(*outer->mutable_node(), "Inner", {"t"}, {"Y"});
  inner_call.set_domain("local");
  OnnxBuilder::attribute(inner_call, "a", onnx::AttributeProto::FLOAT).set_ref_attr_name("slope");

  auto* inner = builder.model.add_functions();
  inner->set_name("Inner");
  inner->set_domain("local");
  inner->add_input("t");
  inner->add_output("u");
  auto* fallback = inner->add_attribute_proto();
  fallback->set_name("a");
  fallback->set_type(onnx::AttributeProto::FLOAT);
  fallback->set_f(0.5F);
  auto& leaky = OnnxBuilder::add_node(*inner->mutable_node(), "LeakyRelu", {"t"}, {"u"});
  OnnxBuilder::attribute(leaky, "alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("a");
  inner->add_opset_import()->set_version(16);
  return builder;
}

TEST(Import, FunctionsAreInlined) {
  const Model model = functions().import();
  EXPECT_EQ(model.graph->check(), "");
  EXPECT_EQ(types_of(*model.graph), "MatMul LeakyRelu Identity");
  const Node& leaky = *find_node(model, "LeakyRelu");
  EXPECT_EQ(leaky.real("alpha", 0), 0.25F);
  EXPECT_EQ(leaky.version, 16) << "the operator set of the function";
  EXPECT_EQ(leaky.name, "Outer1/Inner2/LeakyRelu1");
  EXPECT_EQ(leaky.outputs[0], model.graph->outputs()[0]);
  EXPECT_EQ(find_node(model, "MatMul")->version, 13);
  EXPECT_EQ(find_node(model, "Identity")->inputs[0], model.graph->inputs()[0]);
}

TEST(Import, FunctionAttributeDefault) {
  OnnxBuilder builder = functions();
  builder.graph().mutable_node(0)->clear_attribute();
  const Model model = builder.import();
  EXPECT_EQ(find_node(model, "LeakyRelu")->real("alpha", 0), 0.5F);
}

TEST(Import, RecursiveFunctionIsAnError) {
  OnnxBuilder builder = functions();
  auto& node = *builder.model.mutable_functions(1)->mutable_node(0);
  node.set_op_type("Inner");
  node.set_domain("local");
  EXPECT_CONTAINS(builder.error(), "functions call each other");
}

TEST(Import, FunctionsThatMultiplyAreBounded) {
  OnnxBuilder builder;
  builder.import_opset("local", 1);
  builder.input("x", {2});
  builder.node("F20", {"x"}, {"y"}).set_domain("local");
  builder.output("y");
  for (int level = 0; level <= 20; ++level) {
    auto* function = builder.model.add_functions();
    function->set_name("F" + std::to_string(level));
    function->set_domain("local");
    function->add_input("x");
    function->add_output("c");
    const std::string type = level == 0 ? "Relu" : "F" + std::to_string(level - 1);
    const char* const names[] = {"x", "a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
      auto& node =
          OnnxBuilder::add_node(*function->mutable_node(), type, {names[i]}, {names[i + 1]});
      if (level > 0) node.set_domain("local");
    }
  }
  EXPECT_CONTAINS(builder.error(), "more than 250000 nodes");
}

// --- Malformed models ----------------------------------------------------------------------------

TEST(Malformed, NotAModel) {
  const auto error = [](const std::string& text) {
    try {
      import_bytes(std::as_bytes(std::span(text)));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_CONTAINS(error(""), "is not an ONNX model: it is empty");
  EXPECT_CONTAINS(error("#!/bin/sh\necho hello\n"), "is not an ONNX model");
  EXPECT_CONTAINS(error(std::string(1000, '\xff')), "is not an ONNX model");
  EXPECT_CONTAINS(error(onnx::ModelProto().SerializeAsString()), "is not an ONNX model");
}

TEST(Malformed, MissingFile) {
  try {
    import_file("/nonexistent/model.onnx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot read /nonexistent/model.onnx: No such file or directory");
  }
}

// Whatever is cut off or changed, the import succeeds or throws an Error.
TEST(Malformed, DamagedBytes) {
  OnnxBuilder builder = branches();
  builder.floats("w", {2}, {1, 2});
  for (const OnnxBuilder& original : {builder, functions()}) {
    const std::string bytes = original.bytes();
    const auto try_import = [](const std::string& text) {
      try {
        const Model model = import_bytes(std::as_bytes(std::span(text)));
        EXPECT_EQ(model.graph->check(), "");
      } catch (const Error&) {
      }
    };
    for (size_t length = 0; length < bytes.size(); ++length) try_import(bytes.substr(0, length));
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (int change : {0x01, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        try_import(damaged);
      }
    }
  }
}

TEST(Malformed, Names) {
  OnnxBuilder twice = relu();
  twice.node("Exp", {"x"}, {"y"});
  EXPECT_CONTAINS(twice.error(), "the name 'y' is given to two values");

  OnnxBuilder shadow = relu();
  shadow.node("Exp", {"y"}, {"x"});
  EXPECT_CONTAINS(shadow.error(), "the name 'x' is given to two values");

  OnnxBuilder unknown = relu();
  unknown.node("Exp", {"nowhere"}, {"z"});
  EXPECT_CONTAINS(unknown.error(), "node 'Exp2' (Exp): input 'nowhere' is produced by no node");

  OnnxBuilder output = relu();
  output.output("nowhere");
  EXPECT_CONTAINS(output.error(), "graph output 'nowhere' is produced by no node");

  OnnxBuilder same = relu();
  same.output("y");
  EXPECT_CONTAINS(same.error(), "graph output 'y' is listed twice");
}

TEST(Malformed, Cycles) {
  OnnxBuilder builder;
  builder.input("x", {2});
  builder.node("Add", {"x", "b"}, {"a"});
  builder.node("Relu", {"a"}, {"b"});
  builder.output("b");
  EXPECT_CONTAINS(builder.error(), "the graph has a cycle");

  OnnxBuilder own = branches();
  own.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0,
                                                                                             "y");
  EXPECT_CONTAINS(own.error(), "the graph has a cycle");
}

TEST(Malformed, Nesting) {
  OnnxBuilder builder;
  builder.input("c", {}, DataType::kBool);
  onnx::GraphProto* graph = &builder.graph();
  for (int depth = 0; depth < 31; ++depth) {
    auto& node = OnnxBuilder::add_node(*graph->mutable_node(), "If", {"c"},
                                       {("y" + std::to_string(depth)).c_str()});
    graph->add_output()->set_name("y" + std::to_string(depth));
    graph = OnnxBuilder::attribute(node, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  }
  graph->add_output()->set_name("c");
  EXPECT_EQ(builder.error(), "");
  for (int depth = 0; depth < 5; ++depth) {
    graph->clear_output();
    auto& node = OnnxBuilder::add_node(*graph->mutable_node(), "If", {"c"}, {"z"});
    graph->add_output()->set_name("z");
    graph = OnnxBuilder::attribute(node, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
    graph->add_output()->set_name("c");
  }
  EXPECT_NE(builder.error(), "");
}

TEST(Malformed, Inputs) {
  OnnxBuilder sequence = relu();
  auto* input = sequence.graph().add_input();
  input->set_name("s");
  input->mutable_type()->mutable_sequence_type();
  EXPECT_CONTAINS(sequence.error(),
                  "'input s': is a sequence of which the element type is not known");
  input->mutable_type()->mutable_map_type();
  EXPECT_CONTAINS(sequence.error(), "'input s': is a map");

  OnnxBuilder negative = relu();
  negative.input("n", {-5});
  EXPECT_CONTAINS(negative.error(), "has extent -5 on axis 0");

  OnnxBuilder deep = relu();
  deep.input("d", {1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_CONTAINS(deep.error(), "has 9 axes");

  OnnxBuilder type = relu();
  type.input("t", {1}, static_cast<DataType>(77));
  EXPECT_CONTAINS(type.error(), "element type 77");
}

TEST(Malformed, OperatorSets) {
  OnnxBuilder none = relu();
  none.model.clear_opset_import();
  EXPECT_CONTAINS(none.error(), "opset_import is empty");

  OnnxBuilder ancient = relu();
  ancient.model.clear_opset_import();
  ancient.model.set_ir_version(2);
  const Model model = ancient.import();
  EXPECT_EQ(model.opsets.at(""), 1);
  EXPECT_EQ(model.warnings.size(), 1U);

  OnnxBuilder negative = relu();
  negative.import_opset("x", -1);
  EXPECT_CONTAINS(negative.error(), "operator set -1");

  OnnxBuilder future(kNewestOpset + 1);
  future.input("x", {1});
  future.node("Relu", {"x"}, {"y"});
  future.output("y");
  const Model newer = future.import();
  ASSERT_EQ(newer.warnings.size(), 1U);
  EXPECT_CONTAINS(newer.warnings[0], "newer than");
}

TEST(Malformed, Attributes) {
  OnnxBuilder twice = relu();
  OnnxBuilder::set(*twice.graph().mutable_node(0), "a", int64_t{1});
  OnnxBuilder::set(*twice.graph().mutable_node(0), "a", int64_t{2});
  EXPECT_CONTAINS(twice.error(), "attribute 'a' occurs twice");

  OnnxBuilder reference = relu();
  OnnxBuilder::attribute(*reference.graph().mutable_node(0), "a", onnx::AttributeProto::INT)
      .set_ref_attr_name("b");
  EXPECT_CONTAINS(reference.error(), "outside of one");

  OnnxBuilder sparse = relu();
  OnnxBuilder::attribute(sparse.node("Constant", {}, {"k"}), "sparse_value",
                         onnx::AttributeProto::SPARSE_TENSOR);
  EXPECT_CONTAINS(sparse.error(), "sparse Constant");

  OnnxBuilder initializer = relu();
  initializer.graph().add_sparse_initializer();
  EXPECT_CONTAINS(initializer.error(), "sparse initialisers");
}

}  // namespace
}  // namespace intarsia::converter
