// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/seed_models.h"

namespace intarsia::fuzz {
namespace {

using converter::OnnxBuilder;
using Ints = std::vector<int64_t>;

void vary(onnx::ValueInfoProto& input, int axis, const char* symbol) {
  input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis)->set_dim_param(
      symbol);
}

void weight(OnnxBuilder& model, const char* name, const Ints& extents) {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 7) / 4 - 0.5f);
  model.floats(name, extents, values);
}

void indices(OnnxBuilder& model, const char* name, const Ints& values) {
  model.initializer(name, DataType::kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(int64_t));
}

onnx::GraphProto& branch(onnx::NodeProto& node, const char* attribute) {
  auto& graph = *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
  graph.set_name(attribute);
  return graph;
}

/// Convolutions with everything that is fused into them, pooling, a residual, a head.
OnnxBuilder network(const char* input, const Ints& extents) {
  OnnxBuilder model;
  model.input(input, extents);
  model.output("y");
  weight(model, "w1", {4, 3, 3, 3});
  weight(model, "w2", {4, 1, 3, 3});
  weight(model, "w3", {4, 4, 1, 1});
  for (const char* name : {"scale", "mean", "offset"}) weight(model, name, {4});
  model.floats("variance", {4}, {1, 2, 3, 4});
  weight(model, "head", {4, 5});
  OnnxBuilder::set(model.node("Conv", {input, "w1"}, {"c1"}), "pads", Ints{1, 1, 1, 1});
  model.node("BatchNormalization", {"c1", "scale", "offset", "mean", "variance"}, {"b1"});
  model.node("Relu", {"b1"}, {"r1"});
  auto& depthwise = model.node("Conv", {"r1", "w2", "offset"}, {"c2"});
  OnnxBuilder::set(depthwise, "group", int64_t{4});
  OnnxBuilder::set(depthwise, "pads", Ints{1, 1, 1, 1});
  model.node("HardSwish", {"c2"}, {"h2"});
  model.node("Conv", {"h2", "w3"}, {"c3"});
  model.node("Add", {"c3", "r1"}, {"s"});
  auto& pool = model.node("MaxPool", {"s"}, {"p"});
  OnnxBuilder::set(pool, "kernel_shape", Ints{2, 2});
  OnnxBuilder::set(pool, "strides", Ints{2, 2});
  OnnxBuilder::set(model.node("Concat", {"p", "p"}, {"cc"}), "axis", int64_t{1});
  auto& split = model.node("Split", {"cc"}, {"l", "r"});
  OnnxBuilder::set(split, "num_outputs", int64_t{2});
  OnnxBuilder::set(split, "axis", int64_t{1});
  model.node("Mul", {"l", "r"}, {"m"});
  model.node("GlobalAveragePool", {"m"}, {"g"});
  model.node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "head"}, {"z"});
  model.node("Softmax", {"z"}, {"y"});
  return model;
}

/// Shapes that are computed: [n, 3, k] -> [n, 3 k], slices up to n, broadcasts, ranges.
OnnxBuilder shapes() {
  OnnxBuilder model;
  auto& x = model.input("x", {0, 3, 0});
  vary(x, 0, "n");
  vary(x, 2, "k");
  for (const char* name : {"y", "z", "e", "q"}) model.output(name);
  indices(model, "zero", {0});
  indices(model, "one", {1});
  indices(model, "minus", {-1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"n"});
  OnnxBuilder::set(model.node("Concat", {"n", "minus"}, {"target"}), "axis", int64_t{0});
  model.node("Reshape", {"x", "target"}, {"y"});
  model.node("Sub", {"n", "one"}, {"last"});
  model.node("Slice", {"x", "zero", "last", "zero"}, {"z"});
  OnnxBuilder::set(model.node("ReduceSum", {"x", "one"}, {"sum"}), "keepdims", int64_t{1});
  model.node("Add", {"x", "sum"}, {"e"});
  model.node("Squeeze", {"n", "zero"}, {"scalar"});
  model.node("NonZero", {"x"}, {"places"});
  model.node("Transpose", {"places"}, {"q"});
  return model;
}

/// Branches, one inside the other, on a condition that is computed and one that is decided.
OnnxBuilder branches() {
  OnnxBuilder model;
  vary(model.input("x", {0, 4}), 0, "n");
  model.input("condition", {}, DataType::kBool);
  model.output("y");
  weight(model, "w", {4, 4});
  model.node("MatMul", {"x", "w"}, {"h"});
  auto& outer = model.node("If", {"condition"}, {"z"});
  onnx::GraphProto& yes = branch(outer, "then_branch");
  OnnxBuilder::add_node(*yes.mutable_node(), "Tanh", {"h"}, {"t"});
  yes.add_output()->set_name("t");
  onnx::GraphProto& no = branch(outer, "else_branch");
  auto& inner = OnnxBuilder::add_node(*no.mutable_node(), "If", {"condition"}, {"i"});
  for (const char* attribute : {"then_branch", "else_branch"}) {
    onnx::GraphProto& graph = branch(inner, attribute);
    OnnxBuilder::add_node(*graph.mutable_node(), "Add", {"h", "w"}, {attribute});
    graph.add_output()->set_name(attribute);
  }
  no.add_output()->set_name("i");
  model.node("Relu", {"z"}, {"y"});
  return model;
}

/// Loops in a loop, with a value that grows, one that is handed on, and one that is collected.
OnnxBuilder loops() {
  OnnxBuilder model;
  vary(model.input("x", {0, 4}), 0, "n");
  model.input("trips", {}, DataType::kInt64);
  model.input("go", {}, DataType::kBool);
  for (const char* name : {"longer", "last", "all"}) model.output(name);
  weight(model, "w", {4, 4});
  const auto body = [](onnx::NodeProto& node, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
    onnx::GraphProto& graph = branch(node, "body");
    for (const std::string& name : inputs) graph.add_input()->set_name(name);
    for (const std::string& name : outputs) graph.add_output()->set_name(name);
    return graph.mutable_node();
  };
  auto& outer = model.node("Loop", {"trips", "go", "x", "x"}, {"longer", "last", "all"});
  auto* nodes = body(outer, {"i", "again", "a", "b"}, {"again", "c", "d", "e"});
  OnnxBuilder::set(OnnxBuilder::add_node(*nodes, "Concat", {"a", "x"}, {"c"}), "axis", int64_t{0});
  OnnxBuilder::add_node(*nodes, "MatMul", {"b", "w"}, {"m"});
  auto& inner = OnnxBuilder::add_node(*nodes, "Loop", {"i", "", "m"}, {"d"});
  auto* deep = body(inner, {"j", "on", "p"}, {"on", "q"});
  OnnxBuilder::add_node(*deep, "Add", {"p", "b"}, {"q"});
  OnnxBuilder::add_node(*nodes, "Relu", {"d"}, {"e"});
  return model;
}

/// A sequence of the caller's, an element taken out and put back in, and the elements joined.
OnnxBuilder sequences() {
  OnnxBuilder model;
  auto* input = model.graph().add_input();
  input->set_name("sequence");
  input->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(static_cast<int32_t>(DataType::kFloat));
  model.input("position", {}, DataType::kInt64);
  for (const char* name : {"longer", "joined", "length"}) model.output(name);
  model.node("SequenceAt", {"sequence", "position"}, {"element"});
  model.node("Relu", {"element"}, {"positive"});
  model.node("SequenceInsert", {"sequence", "positive", "position"}, {"longer"});
  model.node("SequenceErase", {"longer", "position"}, {"shorter"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"shorter"}, {"joined"}), "axis", int64_t{0});
  model.node("SequenceLength", {"shorter"}, {"length"});
  return model;
}

OnnxBuilder scan() {
  OnnxBuilder model;
  vary(model.input("x", {0, 3}), 0, "n");
  model.input("start", {3});
  for (const char* name : {"last", "all"}) model.output(name);
  auto& node = model.node("Scan", {"start", "x"}, {"last", "all"});
  OnnxBuilder::set(node, "num_scan_inputs", int64_t{1});
  OnnxBuilder::set(node, "scan_input_directions", Ints{1});
  OnnxBuilder::set(node, "scan_output_axes", Ints{1});
  onnx::GraphProto& graph = branch(node, "body");
  for (const char* name : {"s", "slice"}) graph.add_input()->set_name(name);
  for (const char* name : {"t", "u"}) graph.add_output()->set_name(name);
  OnnxBuilder::add_node(*graph.mutable_node(), "Add", {"s", "slice"}, {"t"});
  OnnxBuilder::add_node(*graph.mutable_node(), "Tanh", {"t"}, {"u"});
  return model;
}

/// next = LSTM-like update of a state, which is kept.
OnnxBuilder state() {
  OnnxBuilder model;
  model.input("x", {2, 4});
  model.input("state", {2, 4});
  model.output("next");
  model.output("y");
  weight(model, "w", {4, 4});
  model.node("MatMul", {"state", "w"}, {"h"});
  model.node("Add", {"x", "h"}, {"s"});
  model.node("Tanh", {"s"}, {"next"});
  model.node("Neg", {"next"}, {"y"});
  return model;
}

OnnxBuilder recurrent() {
  OnnxBuilder model;
  model.input("x", {3, 2, 4});
  for (const char* name : {"y", "h"}) model.output(name);
  weight(model, "w", {2, 12, 4});
  weight(model, "r", {2, 12, 3});
  auto& node = model.node("LSTM", {"x", "w", "r"}, {"y", "h"});
  OnnxBuilder::set(node, "hidden_size", int64_t{3});
  OnnxBuilder::set(node, "direction", "bidirectional");
  return model;
}

/// A function of the model, called twice, with an attribute that the call gives.
OnnxBuilder function() {
  OnnxBuilder model;
  model.import_opset("local", 1);
  model.input("x", {2, 3});
  model.output("y");
  onnx::FunctionProto& made = *model.model.add_functions();
  made.set_name("Leak");
  made.set_domain("local");
  made.add_input("a");
  made.add_output("b");
  made.add_attribute("slope");
  auto* import = made.add_opset_import();
  import->set_version(21);
  auto& body = OnnxBuilder::add_node(*made.mutable_node(), "LeakyRelu", {"a"}, {"b"});
  OnnxBuilder::attribute(body, "alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("slope");
  for (const auto& [from, to] : {std::pair("x", "h"), std::pair("h", "y")}) {
    auto& call = model.node("Leak", {from}, {to});
    call.set_domain("local");
    OnnxBuilder::set(call, "slope", 0.5f);
  }
  return model;
}

/// Constants that fold, in several types; values beyond what folding may make.
OnnxBuilder constants() {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  const int8_t small[] = {1, -2, 3, -4};
  model.initializer("int8", DataType::kInt8, {4}, small, sizeof(small));
  const uint16_t halves[] = {0x3c00, 0x4000, 0x4200, 0x4400};
  model.initializer("half", DataType::kFloat16, {4}, halves, sizeof(halves));
  onnx::TensorProto& typed = model.initializer("typed", DataType::kFloat, {4});
  for (int i = 0; i < 4; ++i) typed.add_float_data(static_cast<float>(i));
  for (const char* name : {"int8", "half"}) {
    OnnxBuilder::set(model.node("Cast", {name}, {std::string(name) + "_f"}), "to", int64_t{1});
  }
  auto& constant = model.node("Constant", {}, {"c"});
  OnnxBuilder::set(constant, "value_floats", std::vector<float>{1, 2, 3, 4});
  model.node("Sum", {"int8_f", "half_f", "typed", "c", "x"}, {"s"});
  model.node("Sqrt", {"c"}, {"root"});
  model.node("Div", {"s", "root"}, {"y"});
  return model;
}

/// Every operator of one's own that keeps a state, in and outside of a branch, and workspace.
OnnxBuilder operators() {
  OnnxBuilder model;
  model.import_opset("sample", 5);
  model.input("x", {6});
  model.input("condition", {}, DataType::kBool);
  for (const char* name : {"count", "other", "y", "f"}) model.output(name);
  model.floats("limit", {}, {1});
  const auto sample = [&](onnx::NodeProto& node) -> onnx::NodeProto& {
    node.set_domain("sample");
    return node;
  };
  sample(model.node("Reverse", {"x"}, {"r"}));
  sample(model.node("Counter", {"x"}, {"count"}));
  auto& reads = sample(model.node("ReadsAttributes", {"r"}, {"f"}));
  OnnxBuilder::set(reads, "integer", int64_t{3});
  OnnxBuilder::set(reads, "integers", Ints{1, -2});
  auto& node = model.node("If", {"condition"}, {"other"});
  for (const char* attribute : {"then_branch", "else_branch"}) {
    onnx::GraphProto& graph = branch(node, attribute);
    sample(OnnxBuilder::add_node(*graph.mutable_node(), "Counter", {"r"}, {attribute}));
    graph.add_output()->set_name(attribute);
  }
  OnnxBuilder::set(sample(model.node("Affine", {"r", "limit"}, {"a"})), "factor", 0.5f);
  model.node("Neg", {"a"}, {"y"});
  return model;
}

/// Strings: constants, made, cut, compared, cast, in a sequence, and made in a loop.
OnnxBuilder strings() {
  OnnxBuilder model;
  model.input("x", {3}, DataType::kString);
  model.input("trips", {}, DataType::kInt64);
  model.import_opset("com.microsoft", 1);
  for (const char* name : {"z", "parts", "counts", "kept", "number", "longer", "taken", "tokens"}) {
    model.output(name);
  }
  onnx::TensorProto& words = model.initializer("words", DataType::kString, {3});
  for (const char* word : {"a b", "", "12"}) words.add_string_data(word);
  model.node("StringConcat", {"x", "words"}, {"joined"});
  model.node("Equal", {"x", "words"}, {"z"});
  OnnxBuilder::set(model.node("StringSplit", {"joined"}, {"parts", "counts"}), "maxsplit",
                   int64_t{1});
  auto& tokenizer = model.node("Tokenizer", {"joined"}, {"tokens"});
  tokenizer.set_domain("com.microsoft");
  OnnxBuilder::set(tokenizer, "tokenexp", "[a-z]+|[0-9]");
  OnnxBuilder::set(tokenizer, "pad_value", "#");
  OnnxBuilder::set(tokenizer, "mincharnum", int64_t{1});
  OnnxBuilder::set(tokenizer, "mark", int64_t{1});
  auto& normalizer = model.node("StringNormalizer", {"words"}, {"kept"});
  OnnxBuilder::set(normalizer, "case_change_action", "UPPER");
  OnnxBuilder::attribute(normalizer, "stopwords", onnx::AttributeProto::STRINGS).add_strings("A B");
  OnnxBuilder::set(model.node("Cast", {"x"}, {"number"}), "to", int64_t{1});
  OnnxBuilder::set(model.node("Cast", {"counts"}, {"text"}), "to", int64_t{8});
  model.node("SequenceConstruct", {"joined", "text"}, {"all"});
  const int64_t one = 1;
  model.initializer("one", DataType::kInt64, {}, &one, sizeof(one));
  model.node("SequenceAt", {"all", "one"}, {"taken"});
  auto& loop = model.node("Loop", {"trips", "", "text"}, {"longer"});
  loop.set_name("Loop1");
  onnx::GraphProto& body = branch(loop, "body");
  for (const char* name : {"i", "go", "t"}) body.add_input()->set_name(name);
  for (const char* name : {"go", "next"}) body.add_output()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "StringConcat", {"t", "x"}, {"next"});
  return model;
}

/// Maps: made of rows, looked up, ordered.
OnnxBuilder maps() {
  OnnxBuilder model;
  model.import_opset("ai.onnx.ml", 3);
  model.input("x", {2, 3});
  for (const char* name : {"m", "n"}) {
    auto* input = model.graph().add_input();
    input->set_name(name);
    auto* type = input->mutable_type()->mutable_map_type();
    const DataType key = *name == 'm' ? DataType::kString : DataType::kInt64;
    type->set_key_type(static_cast<int32_t>(key));
    type->mutable_value_type()->mutable_tensor_type()->set_elem_type(
        static_cast<int32_t>(DataType::kFloat));
  }
  const auto node = [&model](const char* type, const char* from, const char* to) -> auto& {
    auto& made = model.node(type, {from}, {to});
    made.set_domain("ai.onnx.ml");
    model.output(to);
    return made;
  };
  const auto list = [](onnx::NodeProto& to, const char* name) {
    auto& words = OnnxBuilder::attribute(to, name, onnx::AttributeProto::STRINGS);
    for (const char* word : {"b", "", "a b"}) words.add_strings(word);
  };
  list(node("ZipMap", "x", "rows"), "classlabels_strings");
  OnnxBuilder::set(node("ZipMap", "x", "numbered"), "classlabels_int64s", Ints{2, 0, 1});
  list(node("DictVectorizer", "m", "found"), "string_vocabulary");
  OnnxBuilder::set(node("CastMap", "n", "texts"), "cast_to", "TO_STRING");
  return model;
}

/// Text: patterns, n-grams, labels.
OnnxBuilder text() {
  OnnxBuilder model;
  model.import_opset("ai.onnx.ml", 2);
  model.input("x", {4}, DataType::kString);
  const auto node = [&model](const char* type, const char* to) -> auto& {
    model.output(to);
    return model.node(type, {"x"}, {to});
  };
  const auto list = [](onnx::NodeProto& to, const char* name) {
    auto& words = OnnxBuilder::attribute(to, name, onnx::AttributeProto::STRINGS);
    for (const char* word : {"a", "b", "a", "a"}) words.add_strings(word);
  };
  OnnxBuilder::set(node("RegexFullMatch", "table"), "pattern", "(?i)[^\\pL-]{1,2}|\\ba.*\\x{e9}$");
  OnnxBuilder::set(node("RegexFullMatch", "sets"), "pattern", ".*a.{20}");
  auto& counts = node("TfIdfVectorizer", "counts");
  list(counts, "pool_strings");
  OnnxBuilder::set(counts, "mode", "TFIDF");
  OnnxBuilder::set(counts, "min_gram_length", int64_t{1});
  OnnxBuilder::set(counts, "max_gram_length", int64_t{2});
  OnnxBuilder::set(counts, "max_skip_count", int64_t{1});
  OnnxBuilder::set(counts, "ngram_counts", Ints{0, 2});
  OnnxBuilder::set(counts, "ngram_indexes", Ints{0, 2, 1});
  auto& labels = node("LabelEncoder", "labels");
  labels.set_domain("ai.onnx.ml");
  list(labels, "keys_strings");
  OnnxBuilder::set(labels, "values_int64s", Ints{5, 6, 7, 8});
  return model;
}

OnnxBuilder on_device(OnnxBuilder model) {
  model.model.set_producer_name("cuda");
  return model;
}

}  // namespace

std::map<std::string, std::string> seed_models() {
  return {{"branches", branches().bytes()},
          {"constants", constants().bytes()},
          {"function", function().bytes()},
          {"loops", loops().bytes()},
          {"maps", maps().bytes()},
          {"network", network("x", {1, 3, 6, 6}).bytes()},
          {"network_cuda", on_device(network("image", {1, 3, 4, 4})).bytes()},
          {"network_nhwc", network("nhwc", {1, 3, 6, 6}).bytes()},
          {"operators", operators().bytes()},
          {"recurrent", recurrent().bytes()},
          {"scan", scan().bytes()},
          {"sequences", sequences().bytes()},
          {"shapes", shapes().bytes()},
          {"state", state().bytes()},
          {"strings", strings().bytes()},
          {"text", text().bytes()},
          {"state_cuda", on_device(state()).bytes()}};
}

}  // namespace intarsia::fuzz
