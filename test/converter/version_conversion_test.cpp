// SPDX-License-Identifier: Apache-2.0
//
// Old forms of operators become the newest ones; unsupported nodes are listed at once.
#include "converter/onnx/version_conversion.h"

#include <gtest/gtest.h>

#include "core/operators/shape/fill.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::converter {
namespace {

using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

Model converted(const OnnxBuilder& builder) {
  Model model = builder.import();
  convert_versions(model);
  EXPECT_EQ(model.graph->check(), "");
  return model;
}

// One node of that type on inputs x (float, 2x3x4) and others that are made float vectors.
struct OneNode : OnnxBuilder {
  OneNode(int opset, const std::string& type, const std::vector<std::string>& inputs = {"x"},
          const std::vector<std::string>& outputs = {"y"})
      : OnnxBuilder(opset) {
    for (const std::string& name : inputs) input(name, {2, 3, 4});
    for (const std::string& name : outputs) output(name);
    proto = &node(type, inputs, outputs);
  }
  template <class T>
  OneNode& with(const std::string& name, T value) {
    set(*proto, name, value);
    return *this;
  }
  onnx::NodeProto* proto;
};

Ints ints_at(const Node& node, int index) {
  return node.input(index)->constant->integers();
}

TEST(VersionConversion, AxesBecomeAnInput) {
  for (const char* type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                           "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    const Model model = converted(OneNode(13, type).with("axes", Ints{0, -1}));
    const Node& node = *model.graph->nodes().front();
    EXPECT_EQ(ints_at(node, 1), (Ints{0, -1})) << type;
    EXPECT_EQ(node.attribute("axes"), nullptr) << type;
    EXPECT_EQ(node.version, kNewestOpset);
  }
  for (const char* type : {"ReduceSum", "Squeeze", "Unsqueeze"}) {
    const Model model = converted(OneNode(11, type).with("axes", Ints{1}));
    EXPECT_EQ(ints_at(*model.graph->nodes().front(), 1), (Ints{1})) << type;
  }
  const Model all = converted(OneNode(11, "ReduceMean"));
  EXPECT_EQ(all.graph->nodes().front()->inputs.size(), 1U);
}

TEST(VersionConversion, NewFormsStay) {
  OneNode builder(18, "ReduceMax", {"x", "a"});
  builder.with("keepdims", int64_t{0});
  const Model model = converted(builder);
  EXPECT_EQ(types_of(*model.graph), "ReduceMax");
  EXPECT_EQ(model.graph->nodes().front()->inputs[1], model.graph->inputs()[1]);
}

TEST(VersionConversion, UnsqueezeWithoutAxesIsAnError) {
  Model model = OneNode(11, "Unsqueeze").import();
  EXPECT_THROW(convert_versions(model), Error);
}

TEST(VersionConversion, Clip) {
  const Model model = converted(OneNode(7, "Clip").with("max", 6.0F));
  const Node& node = *model.graph->nodes().front();
  EXPECT_EQ(node.input(1), nullptr);
  EXPECT_EQ(node.input(2)->constant->reals(), (Reals{6}));
  EXPECT_EQ(node.input(2)->constant->rank(), 0);
}

// The bound takes the type of the data, which follows from the graph's inputs.
TEST(VersionConversion, ClipOfHalfPrecision) {
  OnnxBuilder builder(10);
  builder.input("x", {2}, DataType::kFloat16);
  builder.node("Relu", {"x"}, {"a"});
  OnnxBuilder::set(builder.node("Clip", {"a"}, {"y"}), "min", -0.5F);
  builder.output("y");
  const Model model = converted(builder);
  EXPECT_EQ(find_node(model, "Clip")->input(1)->type, DataType::kFloat16);
  EXPECT_EQ(find_node(model, "Clip")->input(1)->constant->reals(), (Reals{-0.5}));
}

TEST(VersionConversion, Pad) {
  const Model model =
      converted(OneNode(2, "Pad").with("pads", Ints{0, 1, 0, 1}).with("value", 2.0F));
  const Node& node = *model.graph->nodes().front();
  EXPECT_EQ(ints_at(node, 1), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(node.input(2)->constant->real(0), 2);
  const Model first = converted(OneNode(1, "Pad").with("paddings", Ints{1, 1}));
  EXPECT_EQ(ints_at(*first.graph->nodes().front(), 1), (Ints{1, 1}));
}

TEST(VersionConversion, Slice) {
  const Model model = converted(OneNode(9, "Slice")
                                    .with("starts", Ints{1})
                                    .with("ends", Ints{INT64_MAX})
                                    .with("axes", Ints{2}));
  const Node& node = *model.graph->nodes().front();
  EXPECT_EQ(ints_at(node, 1), (Ints{1}));
  EXPECT_EQ(ints_at(node, 2), (Ints{INT64_MAX}));
  EXPECT_EQ(ints_at(node, 3), (Ints{2}));
}

TEST(VersionConversion, Split) {
  const Model sizes = converted(OneNode(11, "Split", {"x"}, {"a", "b"}).with("split", Ints{1, 2}));
  EXPECT_EQ(ints_at(*sizes.graph->nodes().front(), 1), (Ints{1, 2}));
  const Model equal = converted(OneNode(13, "Split", {"x"}, {"a", "b"}));
  EXPECT_EQ(equal.graph->nodes().front()->integer("num_outputs", 0), 2);
  const Model newest = converted(OneNode(18, "Split", {"x"}, {"a", "b"}));
  EXPECT_EQ(newest.graph->nodes().front()->attribute("num_outputs"), nullptr);
}

TEST(VersionConversion, TopKAndReshapeAndDft) {
  const Model top = converted(OneNode(9, "TopK", {"x"}, {"v", "i"}).with("k", int64_t{3}));
  EXPECT_EQ(ints_at(*top.graph->nodes().front(), 1), (Ints{3}));
  const Model shape = converted(OneNode(4, "Reshape").with("shape", Ints{6, -1}));
  EXPECT_EQ(ints_at(*shape.graph->nodes().front(), 1), (Ints{6, -1}));
  const Model dft = converted(OneNode(17, "DFT"));
  EXPECT_EQ(ints_at(*dft.graph->nodes().front(), 2), (Ints{1}));
}

TEST(VersionConversion, SoftmaxOverSeveralAxes) {
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    const Model model = converted(OneNode(11, type).with("axis", int64_t{1}));
    EXPECT_EQ(types_of(*model.graph), "Shape Flatten " + std::string(type) + " Reshape");
    const Node& node = *find_node(model, type);
    EXPECT_EQ(node.integer("axis", 0), -1);
    const Node& flatten = *find_node(model, "Flatten");
    EXPECT_EQ(flatten.integer("axis", 0), 1);
    EXPECT_EQ(node.inputs[0], flatten.outputs[0]);
    const Node& reshape = *find_node(model, "Reshape");
    EXPECT_EQ(reshape.inputs[0], node.outputs[0]);
    EXPECT_EQ(reshape.outputs[0], model.graph->outputs()[0]);
    EXPECT_EQ(reshape.outputs[0]->name, "y");
  }
  EXPECT_EQ(types_of(*converted(OneNode(11, "Softmax").with("axis", int64_t{-1})).graph),
            "Softmax");
  EXPECT_EQ(types_of(*converted(OneNode(13, "Softmax").with("axis", int64_t{1})).graph), "Softmax");
  // The default was 1.
  EXPECT_EQ(types_of(*converted(OneNode(11, "Softmax")).graph), "Shape Flatten Softmax Reshape");
}

TEST(VersionConversion, BatchNormalization) {
  OneNode builder(7, "BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"});
  builder.with("spatial", int64_t{1});
  for (const char* extra : {"m2", "v2", "sm", "sv"}) builder.proto->add_output(extra);
  const Model model = converted(builder);
  const Node& node = *model.graph->nodes().front();
  EXPECT_EQ(node.outputs.size(), 1U);
  EXPECT_EQ(node.attribute("spatial"), nullptr);

  // Outputs that are used say that the node is in training.
  const std::vector<std::string> inputs = {"x", "s", "b", "m", "v"};
  const Model training = converted(OneNode(9, "BatchNormalization", inputs, {"y", "mean"}));
  EXPECT_EQ(types_of(*training.graph), "BatchNormalization");
  EXPECT_EQ(training.graph->nodes().front()->integer("training_mode", 0), 1);
  const Model saved =
      converted(OneNode(9, "BatchNormalization", inputs, {"y", "mean", "var", "m2", "v2"}));
  EXPECT_EQ(types_of(*saved.graph), "BatchNormalization Identity Identity BatchNormalization");
  EXPECT_EQ(saved.graph->nodes().front()->real("momentum", 1), 0);
  Model tested =
      OneNode(6, "BatchNormalization", inputs, {"y", "mean"}).with("is_test", int64_t{1}).import();
  EXPECT_THROW(convert_versions(tested), Error);

  const Model spatial = converted(
      OneNode(7, "BatchNormalization", {"x", "s", "b", "m", "v"}).with("spatial", int64_t{0}));
  EXPECT_EQ(types_of(*spatial.graph), "Add Sqrt Sub Div Mul Add Identity");
}

TEST(VersionConversion, Dropout) {
  const Model model = converted(OneNode(7, "Dropout").with("ratio", 0.5F));
  const Node& node = *model.graph->nodes().front();
  EXPECT_EQ(node.attribute("ratio"), nullptr);
  EXPECT_EQ(node.inputs.size(), 1U);
  // Older forms are in training unless they say that they are not.
  const Model training = converted(OneNode(6, "Dropout").with("ratio", 0.25F));
  const Node& old = *training.graph->nodes().front();
  EXPECT_EQ(old.attribute("ratio"), nullptr);
  EXPECT_EQ(old.inputs[1]->constant->real(0), 0.25);
  EXPECT_EQ(old.inputs[2]->constant->integer(0), 1);
  const Model idle = converted(OneNode(6, "Dropout").with("is_test", int64_t{1}));
  EXPECT_EQ(idle.graph->nodes().front()->inputs.size(), 1U);
  const Model mask = converted(OneNode(7, "Dropout", {"x"}, {"y", "m"}));
  EXPECT_EQ(types_of(*mask.graph), "Dropout Cast");
  EXPECT_EQ(find_node(mask, "Cast")->outputs[0], mask.graph->outputs()[1]);
  EXPECT_EQ(find_node(mask, "Cast")->integer("to", 0), static_cast<int>(DataType::kFloat));
}

TEST(VersionConversion, Casts) {
  const Model text = converted(OneNode(5, "Cast").with("to", "INT32"));
  EXPECT_EQ(text.graph->nodes().front()->integer("to", 0), static_cast<int>(DataType::kInt32));
}

TEST(VersionConversion, UpsampleAndResize) {
  const Model seven = converted(OneNode(7, "Upsample").with("scales", std::vector<float>{1, 2, 2}));
  const Node& resize = *seven.graph->nodes().front();
  EXPECT_EQ(resize.type, "Resize");
  EXPECT_EQ(resize.input(1), nullptr);
  EXPECT_EQ(resize.input(2)->constant->reals(), (Reals{1, 2, 2}));
  EXPECT_EQ(resize.text("coordinate_transformation_mode", ""), "asymmetric");
  EXPECT_EQ(resize.text("nearest_mode", ""), "floor");
  const Model nine = converted(OneNode(9, "Upsample", {"x", "s"}));
  EXPECT_EQ(nine.graph->nodes().front()->input(2), nine.graph->inputs()[1]);
  // Axes that shrink take the next element above, those that grow the one below.
  const Model ten = converted(OneNode(10, "Resize", {"x", "s"}));
  EXPECT_EQ(types_of(*ten.graph), "Min Resize Max Resize");
  const Model linear = converted(OneNode(10, "Resize", {"x", "s"}).with("mode", "linear"));
  EXPECT_EQ(types_of(*linear.graph), "Resize");
  const Model one =
      converted(OneNode(6, "Upsample").with("height_scale", 2.0F).with("width_scale", 3.0F));
  EXPECT_EQ(one.graph->nodes().front()->input(2)->constant->reals(), (Reals{1, 1, 2, 3}));

  OneNode empty(11, "Resize", {"x"});
  empty.floats("none", {0}, {});
  empty.initializer("sizes", DataType::kInt64, {1}, "\x02\0\0\0\0\0\0\0", 8);
  for (const char* name : {"none", "none", "sizes"}) empty.proto->add_input(name);
  const Model sized = converted(empty);
  EXPECT_EQ(sized.graph->nodes().front()->input(1), nullptr);
  EXPECT_EQ(sized.graph->nodes().front()->input(2), nullptr);
  EXPECT_EQ(ints_at(*sized.graph->nodes().front(), 3), (Ints{2}));
  EXPECT_EQ(sized.graph->nodes().front()->text("coordinate_transformation_mode", ""), "");
}

TEST(VersionConversion, GroupNormalization) {
  const Model model =
      converted(OneNode(18, "GroupNormalization", {"x", "s", "b"}).with("num_groups", int64_t{3}));
  EXPECT_EQ(types_of(*model.graph), "Shape Reshape InstanceNormalization Reshape");
  EXPECT_EQ(ints_at(*find_node(model, "Reshape"), 1), (Ints{0, 3, -1}));
  EXPECT_EQ(types_of(*converted(OneNode(21, "GroupNormalization", {"x", "s", "b"})
                                    .with("num_groups", int64_t{3}))
                          .graph),
            "GroupNormalization");
}

TEST(VersionConversion, LegacyBroadcast) {
  for (const char* type :
       {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"}) {
    const Model axis = converted(
        OneNode(6, type, {"x", "b"}).with("axis", int64_t{1}).with("broadcast", int64_t{1}));
    const Node& node = *axis.graph->nodes().back();
    EXPECT_EQ(node.type, type);
    EXPECT_EQ(node.inputs[1]->producer->type, "Reshape");
    EXPECT_EQ(node.attributes.size(), 0U);
    const Model last = converted(OneNode(6, type, {"x", "b"}).with("broadcast", int64_t{1}));
    EXPECT_EQ(types_of(*last.graph), type);
  }
  EXPECT_EQ(
      converted(OneNode(6, "PRelu", {"x", "s"})).graph->nodes().back()->inputs[1]->producer->type,
      "Reshape");
}

TEST(VersionConversion, RenamedAndDroppedAttributes) {
  EXPECT_EQ(types_of(*converted(OneNode(9, "Scatter", {"x", "i", "u"})).graph), "ScatterElements");
  const Model roi = converted(OneNode(10, "RoiAlign", {"x", "r", "b"}));
  EXPECT_EQ(roi.graph->nodes().front()->text("coordinate_transformation_mode", ""),
            "output_half_pixel");
  const Model grid = converted(OneNode(16, "GridSample", {"x", "g"}).with("mode", "bicubic"));
  EXPECT_EQ(grid.graph->nodes().front()->text("mode", ""), "cubic");
  const Model bilinear = converted(OneNode(16, "GridSample", {"x", "g"}));
  EXPECT_EQ(bilinear.graph->nodes().front()->text("mode", ""), "linear");
  const Model selu = converted(OneNode(5, "Selu"));
  EXPECT_EQ(selu.graph->nodes().front()->real("alpha", 0), 1.6732F);
  const Model gemm = converted(OneNode(6, "Gemm", {"x", "b", "c"}).with("broadcast", int64_t{1}));
  EXPECT_EQ(gemm.graph->nodes().front()->attributes.size(), 0U);
  const Model relu = converted(OneNode(5, "Relu").with("consumed_inputs", Ints{0}));
  EXPECT_EQ(relu.graph->nodes().front()->attributes.size(), 0U);
  const Model pool = converted(OneNode(1, "LpPool").with("p", 2.0F));
  EXPECT_EQ(pool.graph->nodes().front()->integer("p", 0), 2);
  const Model lstm =
      converted(OneNode(6, "LSTM", {"x", "w", "r"}).with("output_sequence", int64_t{1}));
  EXPECT_EQ(lstm.graph->nodes().front()->attributes.size(), 0U);
  const Model shape = converted(OneNode(15, "Shape").with("end", INT64_MAX));
  EXPECT_EQ(shape.graph->nodes().front()->integer("end", 0), INT32_MAX);
}

TEST(VersionConversion, FormsOfTheFirstOperatorSets) {
  const Model tile = converted(OneNode(5, "Tile", {"x", "t", "a"}));
  EXPECT_EQ(tile.graph->nodes().back()->type, "Tile");
  EXPECT_EQ(tile.graph->nodes().back()->inputs.size(), 2U);
  const Model join = converted(OneNode(1, "Concat", {"x", "z"}));
  EXPECT_EQ(join.graph->nodes().front()->integer("axis", 0), 1);
  const Model split = converted(OneNode(1, "Split", {"x", "l"}));
  EXPECT_EQ(types_of(*split.graph), "Cast Split");
}

TEST(VersionConversion, OldFormsWithoutCounterpart) {
  Model scan = OneNode(8, "Scan").import();
  EXPECT_THROW(convert_versions(scan), Error);
}

TEST(VersionConversion, ConstantOfShape) {
  OneNode builder(9, "ConstantOfShape");
  const int32_t seven = 7;
  OnnxBuilder::fill(
      *OnnxBuilder::attribute(*builder.proto, "value", onnx::AttributeProto::TENSOR).mutable_t(),
      "", DataType::kInt32, {1}, &seven, sizeof(seven));
  Model model = converted(builder);
  resolve(model);
  const auto& stored = model.graph->nodes().front()->typed<ConstantOfShapeAttributes>();
  EXPECT_EQ(stored.value_bits, 7);
  EXPECT_EQ(stored.value_type, static_cast<int>(DataType::kInt32));
}

TEST(VersionConversion, ConstantOfShapeOfACleanBool) {
  OneNode builder(9, "ConstantOfShape");
  const uint8_t byte = 0x7e;
  OnnxBuilder::fill(
      *OnnxBuilder::attribute(*builder.proto, "value", onnx::AttributeProto::TENSOR).mutable_t(),
      "", DataType::kBool, {1}, &byte, sizeof(byte));
  Model model = converted(builder);
  resolve(model);
  EXPECT_EQ(model.graph->nodes().front()->typed<ConstantOfShapeAttributes>().value_bits, 1);
}

/// What is wrong with the attributes of a node, or "".
std::string attribute_error(const OneNode& builder) {
  try {
    Model model = converted(builder);
    resolve(model);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(VersionConversion, NumbersThatTheSpecificationForbidsAreRefused) {
  EXPECT_CONTAINS(attribute_error(OneNode(18, "ReduceMax").with("keepdims", int64_t{2})),
                  "(ReduceMax): attribute \"keepdims\" must lie in [0, 1], but is 2");
  EXPECT_CONTAINS(attribute_error(OneNode(13, "Cast").with("to", int64_t{99})),
                  "(Cast): attribute \"to\" must lie in [1, 28], but is 99");
  EXPECT_CONTAINS(attribute_error(OneNode(11, "Conv", {"x", "w"}).with("group", int64_t{-1})),
                  "(Conv): attribute \"group\" must lie in [1, 2147483647], but is -1");
}

// The bits went into the plan as they stood in the file: 126 for a bool.
TEST(VersionConversion, OnlyTheConverterGivesWhatIsInternal) {
  EXPECT_CONTAINS(attribute_error(OneNode(9, "ConstantOfShape")
                                      .with("value_bits", int64_t{126})
                                      .with("value_type", int64_t{9})),
                  "attribute \"value_bits\" is unknown; the operator has \"value\"");
  EXPECT_CONTAINS(
      attribute_error(OneNode(11, "Conv", {"x", "w"}).with("channels_last", int64_t{1})),
      "attribute \"channels_last\" is unknown; the converter alone gives one of that name");
}

TEST(VersionConversion, NestedGraphs) {
  OnnxBuilder builder(11);
  builder.input("c", {}, DataType::kBool);
  builder.input("x", {2, 3});
  auto& node = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* branch = OnnxBuilder::attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
    auto& sum = OnnxBuilder::add_node(*branch->mutable_node(), "ReduceSum", {"x"}, {name});
    OnnxBuilder::set(sum, "axes", Ints{1});
    branch->add_output()->set_name(name);
  }
  builder.output("y");
  const Model model = converted(builder);
  const Node& sum = *model.graph->nodes().front()->graphs[0].graph->nodes().front();
  EXPECT_EQ(ints_at(sum, 1), (Ints{1}));
  EXPECT_EQ(model.graph->outputs()[0]->type, DataType::kFloat) << "from the branch's output";
}

// --- Resolve -------------------------------------------------------------------------------------

std::string resolve_error(const OnnxBuilder& builder) {
  Model model = builder.import();
  convert_versions(model);
  try {
    resolve(model);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Resolve, FindsDefinitionsAndAttributes) {
  Model model = converted(OneNode(21, "Flatten").with("axis", int64_t{2}));
  resolve(model);
  const Node& node = *model.graph->nodes().front();
  ASSERT_NE(node.op, nullptr);
  EXPECT_EQ(node.op->name, "Flatten");
  ASSERT_EQ(node.attribute_bytes.size(), sizeof(int32_t));
  EXPECT_EQ(node.typed<int32_t>(), 2);
}

TEST(Resolve, ListsEveryUnsupportedNode) {
  OnnxBuilder builder(17);
  builder.import_opset("com.example", 3);
  builder.input("x", {2});
  builder.node("Tahn", {"x"}, {"a"});
  builder.node("Blend", {"a"}, {"b"}).set_domain("com.example");
  builder.node("Relu", {"b", "x"}, {"y"});
  builder.output("y");
  const std::string text = resolve_error(builder);
  EXPECT_NE(text.find("node 'Tahn1' (Tahn): the operator Tahn(17) is not supported; "
                      "names like it: Tan"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("node 'Blend2' (com.example:Blend): the operator com.example:Blend(3) is not "
                      "supported"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("node 'Relu3' (Relu): has 2 inputs, but the operator has 1"),
            std::string::npos)
      << text;
}

TEST(Resolve, GroupsUnsupportedNodesByOperator) {
  OnnxBuilder builder(17);
  builder.import_opset("com.example", 3);
  builder.input("x", {2});
  std::string last = "x";
  for (const char* type : {"Blend", "Tahn", "Blend", "Mix", "Blend", "Tahn", "Blend", "Blend"}) {
    const std::string next = last + "'";
    auto& node = builder.node(type, {last.c_str()}, {next.c_str()});
    if (node.op_type() != "Tahn") node.set_domain("com.example");
    last = next;
  }
  builder.output(last.c_str());
  const std::string where = "; operators of one's own come with --operators LIB.so or FILE.py";
  EXPECT_EQ(
      resolve_error(builder),
      "nodes 'Blend1', 'Blend3', 'Blend5' and 2 more (com.example:Blend): the operator "
      "com.example:Blend(3) is not supported" +
          where +
          "\nnodes 'Tahn2', 'Tahn6' (Tahn): the operator Tahn(17) is not supported; names like it: "
          "Tan"
          "\nnode 'Mix4' (com.example:Mix): the operator com.example:Mix(3) is not supported" +
          where);
}

TEST(Resolve, AdviceSuitsTheOperator) {
  const auto error = [](const char* domain, const char* type) {
    OnnxBuilder builder(17);
    builder.import_opset(domain, 1);
    builder.input("x", {2});
    builder.node(type, {"x"}, {"y"}).set_domain(domain);
    builder.output("y");
    const std::string text = resolve_error(builder);
    return text.substr(text.find("is not supported"));
  };
  const std::string layout =
      "is not supported; ONNX Runtime has rewritten the model to a layout of its own, as it does "
      "at "
      "optimisation level all; save it at level extended (ORT_ENABLE_EXTENDED), or convert the "
      "original model";
  EXPECT_EQ(error("com.microsoft.nchwc", "Conv"), layout);
  EXPECT_EQ(error("com.microsoft.nchwc", "ReorderInput"), layout);
  EXPECT_EQ(error("com.ms.internal.nhwc", "MaxPool"), layout);
  EXPECT_EQ(error("com.microsoft", "NhwcFusedConv"), layout);
  EXPECT_EQ(error("com.microsoft", "EPContext"),
            "is not supported; the node holds what an execution provider of ONNX Runtime has "
            "compiled; convert the original model");
  EXPECT_EQ(error("com.example", "PyOp"),
            "is not supported; Python operators (PyOp) come with --allow-pyop");
  const std::string own = "; operators of one's own come with --operators LIB.so or FILE.py";
  EXPECT_EQ(error("com.example", "Conv"), "is not supported; names like it: Conv" + own);
  EXPECT_EQ(error("com.example", "Frobnicate"), "is not supported" + own);
}

TEST(Resolve, Operands) {
  OneNode missing(21, "Add", {"x", ""});
  missing.graph().mutable_input()->RemoveLast();
  EXPECT_EQ(resolve_error(missing), "node 'Add1' (Add): lacks input 1 ('B')");
  EXPECT_NE(resolve_error(OneNode(21, "Concat", {}).with("axis", int64_t{0}))
                .find("has 0 inputs, but 'inputs' takes at least 1"),
            std::string::npos);
  EXPECT_NE(resolve_error(OneNode(21, "Relu", {"x"}, {"y", "z"})).find("has 2 outputs"),
            std::string::npos);
}

TEST(Resolve, Attributes) {
  EXPECT_NE(resolve_error(OneNode(21, "Flatten").with("axes", int64_t{1})).find("\"axes\""),
            std::string::npos);
  EXPECT_NE(resolve_error(OneNode(21, "Flatten").with("axis", 1.0F)).find("must be an integer"),
            std::string::npos);
}

TEST(Resolve, Graphs) {
  OneNode builder(21, "If", {"x"});
  EXPECT_NE(resolve_error(builder).find("lacks the graph attribute \"then_branch\""),
            std::string::npos);
}

}  // namespace
}  // namespace intarsia::converter
