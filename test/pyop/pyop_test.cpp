// SPDX-License-Identifier: Apache-2.0
//
// PyOp: models of the documentation, attributes, types, and the ways in which a node can be wrong.

#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

constexpr const char* kMyModule = R"(
class MyKernel:
    def __init__(self, A, B, C):
        assert (A, B, C) in (('123', '456', '789'), ('1', '2', '3')), (A, B, C)
    def compute(self, x):
        return x * 2

class MyKernel_2:
    def __init__(self, A, B):
        self.a, self.b = A, B
    def compute(self, x):
        return x * 4

class MyKernel_3:
    def __init__(self, A, B):
        self.a, self.b = A, B
    def compute(self, *kwargs):
        return kwargs[0] * 5
)";

TEST_F(Pyop, PYOP_1_TheThreeModelsOfTheOriginal) {
  module(kMyModule);
  OnnxBuilder one;
  one.input("X", {2, 2});
  auto& only = pyop(one, "MyKernel", {"X"}, {"Y"}, DataType::kFloat, "pyopfloat");
  for (const auto& [name, value] : {std::pair("A", "123"), {"B", "456"}, {"C", "789"}}) {
    OnnxBuilder::set(only, name, value);
  }
  OnnxBuilder::set(only, "compute", "compute");
  declare_output(one, "Y", {2, 2}, DataType::kFloat);
  auto loaded = load(one);
  loaded->set<float>(0, {1, 2, 3, 4});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), (Floats{2, 4, 6, 8}));

  // Nothing tells the shape of Y but the operator itself, executed once on zeros.
  const auto chain = [this](const char* first, const char* second, const char* domain) {
    OnnxBuilder model;
    model.input("X", {2, 2});
    auto& a =
        pyop(model, first, {"X"}, {"Y"}, DataType::kFloat, (std::string(domain) + "_1").c_str());
    auto& b =
        pyop(model, second, {"Y"}, {"Z"}, DataType::kFloat, (std::string(domain) + "_2").c_str());
    for (auto* node : {&a, &b}) {
      OnnxBuilder::set(*node, "A", "1");
      OnnxBuilder::set(*node, "B", "2");
    }
    if (std::string(first) == "MyKernel") OnnxBuilder::set(a, "C", "3");
    declare_output(model, "Z", {2, 2}, DataType::kFloat);
    return model;
  };
  auto two = load(chain("MyKernel", "MyKernel_2", "pyop_multi"));
  two->set<float>(0, {1, 2, 3, 4});
  ASSERT_TRUE(two->run()) << two->text();
  EXPECT_EQ(two->get<float>(), (Floats{8, 16, 24, 32}));
  auto three = load(chain("MyKernel_3", "MyKernel_3", "pyop_kwarg"));
  three->set<float>(0, {1, 2, 3, 4});
  ASSERT_TRUE(three->run()) << three->text();
  EXPECT_EQ(three->get<float>(), (Floats{25, 50, 75, 100}));
}

TEST_F(Pyop, PYOP_2_TheSixNodesOfTheDocument) {
  module(R"(
class Multi_1:
    def __init__(self, W1, W2, W3):
        self.W1, self.W2, self.W3 = int(W1), int(W2), int(W3)
    def compute(self, S, P):
        ret = S + P
        return ret + self.W1, ret + self.W2, ret + self.W3
class Multi_2:
    def compute(self, H, N, E):
        r1, r2 = H + N, N + E
        return r1, r2
)");
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{1}, {2, 3}, {}}) {
    OnnxBuilder model;
    for (const char* name : {"A", "B", "C", "D", "E"}) model.input(name, extents);
    model.node("Add", {"A", "B"}, {"S"});
    model.node("Mul", {"C", "D"}, {"P"});
    auto& first = pyop(model, "Multi_1", {"S", "P"}, {"L", "M", "N"}, DataType::kFloat, "multi_1");
    OnnxBuilder::set(first, "W1", "5");
    OnnxBuilder::set(first, "W2", "7");
    OnnxBuilder::set(first, "W3", "9");
    model.node("Add", {"L", "M"}, {"H"});
    pyop(model, "Multi_2", {"H", "N", "E"}, {"O", "W"}, DataType::kFloat, "multi_2");
    model.node("Sub", {"O", "W"}, {"F"});
    model.output("F");
    auto loaded = load(model);
    size_t count = 1;
    for (int64_t extent : extents) count *= static_cast<size_t>(extent);
    for (int i = 0; i < 5; ++i) loaded->set<float>(i, Floats(count, static_cast<float>(i + 1)));
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(), Floats(count, 37));
  }
}

TEST_F(Pyop, PYOP_3_StringAttributesAreKeywordsOfTheConstructor) {
  module(R"(
class Keywords:
    def __init__(self, **kwargs):
        expected = {'W1': '5', 'name': 'a b', 'empty': '', 'Raw': 'a\udcff\0b', 'utf8': '\u00e4'}
        assert kwargs == expected, kwargs
        assert all(type(value) is str for value in kwargs.values())
    def compute(self, x):
        return x
class Plain:
    def compute(self, x):
        return x + 1
)");
  OnnxBuilder model = unary("Keywords", {1});
  auto& node = *model.graph().mutable_node(0);
  OnnxBuilder::set(node, "W1", "5");
  OnnxBuilder::set(node, "name", "a b");
  OnnxBuilder::set(node, "empty", "");
  // Bytes that are no text arrive as surrogates, which str.encode takes back to bytes.
  OnnxBuilder::attribute(node, "Raw", onnx::AttributeProto::STRING)
      .set_s(std::string("a\xff\0b", 4));
  OnnxBuilder::set(node, "utf8", "\xc3\xa4");
  load(model);
  auto plain = load(unary("Plain", {1}));
  plain->set<float>(0, {1});
  ASSERT_TRUE(plain->run());
  EXPECT_EQ(plain->get<float>(), (Floats{2}));
}

TEST_F(Pyop, PYOP_4_EveryAttributeTypeArrivesAsItself) {
  module(R"(
import numpy as np
class Typed:
    def __init__(self, i, f, s, ints, floats, strings, tensor, scalar, empty):
        assert type(i) is int and i == -(1 << 40), i
        assert type(f) is float and f == 0.5, f
        assert type(s) is str and s == 'text', s
        assert ints == [1, -2] and all(type(v) is int for v in ints), ints
        assert floats == [0.25, 4.0] and all(type(v) is float for v in floats), floats
        assert strings == ['a', ''] and all(type(v) is str for v in strings), strings
        assert type(tensor) is np.ndarray and tensor.dtype == np.int16, tensor
        assert tensor.tolist() == [[1, 2, 3], [4, 5, 6]], tensor
        assert scalar.shape == () and scalar.dtype == np.float64 and scalar == 0.125, scalar
        assert empty.shape == (0, 4) and empty.dtype == np.bool_, empty
    def compute(self, x):
        return x
)");
  OnnxBuilder model = unary("Typed", {1});
  auto& node = *model.graph().mutable_node(0);
  OnnxBuilder::set(node, "i", -(int64_t{1} << 40));
  OnnxBuilder::set(node, "f", 0.5f);
  OnnxBuilder::set(node, "s", "text");
  OnnxBuilder::set(node, "ints", std::vector<int64_t>{1, -2});
  OnnxBuilder::set(node, "floats", Floats{0.25f, 4.0f});
  auto& strings = OnnxBuilder::attribute(node, "strings", onnx::AttributeProto::STRINGS);
  strings.add_strings("a");
  strings.add_strings("");
  const int16_t elements[6] = {1, 2, 3, 4, 5, 6};
  const double eighth = 0.125;
  const auto tensor = [&node](const char* name) -> onnx::TensorProto& {
    return *OnnxBuilder::attribute(node, name, onnx::AttributeProto::TENSOR).mutable_t();
  };
  OnnxBuilder::fill(tensor("tensor"), "", DataType::kInt16, {2, 3}, elements, sizeof(elements));
  OnnxBuilder::fill(tensor("scalar"), "", DataType::kDouble, {}, &eighth, sizeof(eighth));
  OnnxBuilder::fill(tensor("empty"), "", DataType::kBool, {0, 4}, "", 0);
  load(model);
}

TEST_F(Pyop, PYOP_5_TheMethodIsComputeOrTheOneThatIsNamed) {
  module(R"(
class Two:
    not_callable = 3
    def compute(self, x):
        return x
    def fwd(self, x):
        return x * 10
)");
  auto usual = load(unary("Two", {1}));
  usual->set<float>(0, {1});
  ASSERT_TRUE(usual->run());
  EXPECT_EQ(usual->get<float>(), (Floats{1}));
  OnnxBuilder model = unary("Two", {1});
  OnnxBuilder::set(*model.graph().mutable_node(0), "compute", "fwd");
  auto named = load(model);
  named->set<float>(0, {1});
  ASSERT_TRUE(named->run());
  EXPECT_EQ(named->get<float>(), (Floats{10}));
  for (const char* method : {"missing", "not_callable"}) {
    OnnxBuilder wrong = unary("Two", {1});
    OnnxBuilder::set(*wrong.graph().mutable_node(0), "compute", method);
    Loaded loaded(convert(wrong));
    EXPECT_EQ(loaded.open(services()).code(), Code::kOperatorFailed);
    EXPECT_CONTAINS(loaded.text(), "node 0 'PyOp1' (pyop:PyOp)");
    EXPECT_CONTAINS(loaded.text(), "module '" + module_ + "', class 'Two'");
    EXPECT_CONTAINS(loaded.text(), std::string("there is no method '") + method + "'");
  }
}

TEST_F(Pyop, PYOP_6_MissingAttributesAreNamedAtConversion) {
  module(
      "class A:\n    def compute(self):\n        import numpy\n        return numpy.ones(2, "
      "'f')\n");
  const std::pair<const char*, const char*> kTexts[] = {
      {"module", "PyOp module not specified"},
      {"class_name", "PyOp class name not specified"},
      {"input_types", "PyOp node inputs not specified"},
      {"output_types", "PyOp node outputs not specified"}};
  for (const auto& [name, text] : kTexts) {
    OnnxBuilder model = unary("A", {1});
    auto& attributes = *model.graph().mutable_node(0)->mutable_attribute();
    for (int i = 0; i < attributes.size(); ++i) {
      if (attributes[i].name() == name) attributes.DeleteSubrange(i--, 1);
    }
    const std::string error = conversion_error(model, allowed());
    EXPECT_CONTAINS(error, text);
    EXPECT_CONTAINS(error, "node 'PyOp1' (pyop:PyOp)");
  }
  // Empty is missing, too; a method that is named "" is the default one.
  for (const auto& [name, text] : {kTexts[0], kTexts[1]}) {
    OnnxBuilder model = unary("A", {1});
    for (auto& attribute : *model.graph().mutable_node(0)->mutable_attribute()) {
      if (attribute.name() == name) attribute.set_s("");
    }
    EXPECT_CONTAINS(conversion_error(model, allowed()), text);
  }
  // All of them are told at once.
  OnnxBuilder bare = unary("A", {1});
  bare.graph().mutable_node(0)->clear_attribute();
  const std::string all = conversion_error(bare, allowed());
  for (const auto& [name, text] : kTexts) EXPECT_CONTAINS(all, text);
  // An attribute of another kind is not one that is missing.
  OnnxBuilder kinds = unary("A", {1});
  auto& wrong = *kinds.graph().mutable_node(0);
  wrong.clear_attribute();
  for (const char* name : {"module", "class_name", "compute"}) {
    OnnxBuilder::set(wrong, name, int64_t{1});
  }
  for (const char* name : {"input_types", "output_types"}) OnnxBuilder::set(wrong, name, "float");
  const std::string error = conversion_error(kinds, allowed());
  for (const char* name : {"module", "class_name", "compute"}) {
    EXPECT_CONTAINS(error, std::string("attribute \"") + name + "\" must be a string");
  }
  for (const char* name : {"input_types", "output_types"}) {
    EXPECT_CONTAINS(error, std::string("attribute \"") + name + "\" must be a list of");
  }
  EXPECT_EQ(error.find("not specified"), std::string::npos) << error;
  // Numbers that are no type, or one that Python has no elements for.
  for (const int64_t number : {0, -1, 99, 16, 17}) {
    for (const char* name : {"input_types", "output_types"}) {
      OnnxBuilder model = unary("A", {1});
      auto& attributes = *model.graph().mutable_node(0)->mutable_attribute();
      for (auto& attribute : attributes) {
        if (attribute.name() == name) attribute.set_ints(0, number);
      }
      EXPECT_CONTAINS(
          conversion_error(model, allowed()),
          std::string("attribute \"") + name + "\" has element type " + std::to_string(number));
    }
  }
  // A node without outputs computes nothing.
  OnnxBuilder nothing = unary("A", {1});
  for (auto& attribute : *nothing.graph().mutable_node(0)->mutable_attribute()) {
    if (attribute.name() == "output_types") attribute.clear_ints();
  }
  EXPECT_CONTAINS(conversion_error(nothing, allowed()), "PyOp node outputs not specified");
  // A generator: no inputs, which the original could not express.
  OnnxBuilder generator;
  OnnxBuilder::set(pyop(generator, "A", {}, {"y"}), "compute", "");
  generator.output("y");
  auto loaded = load(generator);
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), (Floats{1, 1}));
}

TEST_F(Pyop, PYOP_7_OperandsThatDisagreeStopTheConversionBeforePythonRuns) {
  module(
      "open(__file__ + '.imported', 'w').close()\nclass A:\n    def compute(self, x):\n"
      "        return x\n");
  OnnxBuilder type = unary("A", {2});
  type.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      static_cast<int32_t>(DataType::kDouble));
  std::string error = conversion_error(type, allowed());
  EXPECT_CONTAINS(error, "node 'PyOp1' (pyop:PyOp)");
  EXPECT_CONTAINS(error, "input 0: expected float32, the model has float64");
  OnnxBuilder arity = unary("A", {2});
  arity.graph().mutable_node(0)->add_input("x");
  error = conversion_error(arity, allowed());
  EXPECT_CONTAINS(error, "expected 1 inputs, the node has 2");
  OnnxBuilder outputs = unary("A", {2});
  outputs.graph().mutable_node(0)->add_output("z");
  error = conversion_error(outputs, allowed());
  EXPECT_CONTAINS(error, "expected 1 outputs, the node has 2");
  OnnxBuilder result = unary("A", {2});
  result.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      static_cast<int32_t>(DataType::kDouble));
  error = conversion_error(result, allowed());
  EXPECT_CONTAINS(error, "node 'PyOp1' (pyop:PyOp)");
  EXPECT_CONTAINS(error, "output 0: expected float32, the model has float64");
  // Whichever operand it is, and too few of them as well.
  const auto two = [this](DataType second_input, DataType second_output) {
    OnnxBuilder model;
    model.input("x", {2});
    model.input("z", {2}, second_input);
    pyop(model, "A", {"x", "z"}, {"y", "w"});
    declare_output(model, "y", {2}, DataType::kFloat);
    declare_output(model, "w", {2}, second_output);
    return model;
  };
  EXPECT_CONTAINS(conversion_error(two(DataType::kInt32, DataType::kFloat), allowed()),
                  "input 1: expected float32, the model has int32");
  EXPECT_CONTAINS(conversion_error(two(DataType::kFloat, DataType::kInt32), allowed()),
                  "output 1: expected float32, the model has int32");
  OnnxBuilder fewer = two(DataType::kFloat, DataType::kFloat);
  fewer.graph().mutable_node(0)->mutable_input()->RemoveLast();
  EXPECT_CONTAINS(conversion_error(fewer, allowed()), "expected 2 inputs, the node has 1");
  fewer = two(DataType::kFloat, DataType::kFloat);
  fewer.graph().mutable_node(0)->mutable_output()->RemoveLast();
  fewer.graph().mutable_output()->RemoveLast();
  EXPECT_CONTAINS(conversion_error(fewer, allowed()), "expected 2 outputs, the node has 1");
  EXPECT_FALSE(std::filesystem::exists(folder_ / (module_ + ".py.imported")));
}

TEST_F(Pyop, PYOP_8_NodesMayShareADomainOrHaveNone) {
  module(
      "class A:\n    def __init__(self, k):\n        self.k = k\n    def compute(self, x):\n"
      "        return x * self.k\n");
  for (const char* domain : {"same", ""}) {
    OnnxBuilder model;
    model.input("x", {2});
    int64_t factor = 3;
    for (const auto& [from, to] : {std::pair("x", "h"), std::pair("h", "y")}) {
      auto& node = pyop(model, "A", {from}, {to}, DataType::kFloat, domain);
      OnnxBuilder::set(node, "k", factor++);
    }
    model.output("y");
    auto loaded = load(model);
    loaded->set<float>(0, {1, 2});
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(), (Floats{12, 24})) << "domain '" << domain << "'";
  }
}

TEST_F(Pyop, PYOP_9_InsideABranchOfIf) {
  module("class A:\n    def compute(self, x):\n        return x * 3\n");
  OnnxBuilder model;
  model.input("c", {}, DataType::kBool);
  model.input("x", {2});
  auto& node = model.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(name);
    graph.add_output()->set_name(std::string("r_") + name);
    const std::string result = std::string("r_") + name;
    if (std::string(name) == "then_branch") {
      OnnxBuilder inner;
      pyop(inner, "A", {"x"}, {result.c_str()});
      *graph.add_node() = inner.graph().node(0);
    } else {
      OnnxBuilder::add_node(*graph.mutable_node(), "Neg", {"x"}, {result.c_str()});
    }
  }
  model.output("y");
  auto loaded = load(model);
  for (const bool taken : {true, false}) {
    *loaded->session.input<bool>(0).value().data() = taken;
    loaded->set<float>(1, {1, 2});
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(), taken ? (Floats{3, 6}) : (Floats{-1, -2}));
  }
}

TEST_F(Pyop, PYOP_10_EveryTypeAndShapeRoundTripsBitByBit) {
  module(R"(
import numpy as np
class Identity:
    def __init__(self, dtype, shape):
        self.dtype, self.shape = np.dtype(dtype), tuple(int(e) for e in shape.split('x') if e)
    def compute(self, x):
        assert type(x) is np.ndarray and x.dtype == self.dtype, (x.dtype, self.dtype)
        assert x.shape == self.shape and x.flags.c_contiguous, x.shape
        try:
            x[...] = x
        except ValueError:
            return x
        raise AssertionError('an input can be written')
)");
  const std::pair<DataType, const char*> kTypes[] = {
      {DataType::kBool, "bool"},           {DataType::kInt8, "int8"},
      {DataType::kUint8, "uint8"},         {DataType::kInt16, "int16"},
      {DataType::kUint16, "uint16"},       {DataType::kInt32, "int32"},
      {DataType::kUint32, "uint32"},       {DataType::kInt64, "int64"},
      {DataType::kUint64, "uint64"},       {DataType::kFloat, "float32"},
      {DataType::kDouble, "float64"},      {DataType::kFloat16, "float16"},
      {DataType::kComplex64, "complex64"}, {DataType::kComplex128, "complex128"}};
  for (const auto& [type, name] : kTypes) {
    for (const std::vector<int64_t>& extents : {std::vector<int64_t>{2, 3}, {}, {2, 0, 3}}) {
      OnnxBuilder model = unary("Identity", {}, type);
      // The builder takes 0 for "not declared"; this test means 0.
      auto* shape = model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
      std::string text;
      converter::ConvertOptions options = allowed();
      for (int64_t extent : extents) {
        text += std::to_string(extent) + "x";
        shape->mutable_shape()->add_dim();
      }
      options.shapes["x"] = extents;
      model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
      auto& node = *model.graph().mutable_node(0);
      OnnxBuilder::set(node, "dtype", name);
      OnnxBuilder::set(node, "shape", text.c_str());
      Loaded loaded(convert(model, options));
      ASSERT_TRUE(loaded.open(services())) << loaded.text();
      const TensorView x = loaded.session.input_port(0).value().tensor;
      ASSERT_EQ(x.rank, extents.size());
      const auto bytes = static_cast<size_t>(x.bytes());
      std::vector<uint8_t> pattern(bytes);
      for (size_t i = 0; i < bytes; ++i) {
        // NaNs with payloads, negative zeros and the like included.
        pattern[i] = type == DataType::kBool ? i % 2 : static_cast<uint8_t>(0xff - 37 * i);
      }
      if (bytes != 0) std::memcpy(x.data, pattern.data(), bytes);
      ASSERT_TRUE(loaded.run()) << name << ": " << loaded.text();
      const TensorView y = loaded.session.output_port(0).value().tensor;
      EXPECT_EQ(y.type, type);
      ASSERT_EQ(y.rank, extents.size());
      for (size_t axis = 0; axis < extents.size(); ++axis)
        EXPECT_EQ(y.extents[axis], extents[axis]);
      if (bytes != 0) {
        EXPECT_EQ(std::memcmp(y.data, pattern.data(), bytes), 0) << name << " " << text;
      }
    }
  }
}

TEST_F(Pyop, PYOP_20_AProgramWithoutTheKernelNamesTheNode) {
  module("class A:\n    def compute(self, x):\n        return x\n");
  Loaded loaded(convert(unary("A", {1})));
  EXPECT_EQ(loaded.open(services(), tool::all_kernels()).code(), Code::kMissingKernel);
  EXPECT_CONTAINS(loaded.text(), "node 0 'PyOp1' (pyop:PyOp)");
  EXPECT_CONTAINS(loaded.text(), "PyOp not in this build");
}

/// A class that leaves a file beside its module when that is imported, and when it is constructed.
constexpr const char* kLeavesTraces = R"(
open(__file__ + '.executed', 'w').close()
class A:
    def __init__(self):
        open(__file__ + '.executed', 'w').close()
    def compute(self, x):
        return x
)";

TEST_F(Pyop, PYOP_21_NothingIsExecutedWithoutPermission) {
  module(kLeavesTraces);
  const auto executed = folder_ / (module_ + ".py.executed");
  const OnnxBuilder model = unary("A", {1});
  const std::string error = conversion_error(model, {});
  EXPECT_CONTAINS(error, "node 'PyOp1' (pyop:PyOp)");
  EXPECT_CONTAINS(error, "--allow-pyop");
  // A search path alone is no permission.
  converter::ConvertOptions options;
  options.library = converter::load_operators({}, {{"pyop-path", folder_.string()}});
  EXPECT_CONTAINS(conversion_error(model, options), "--allow-pyop");
  EXPECT_FALSE(std::filesystem::exists(executed));

  const std::vector<std::byte> plan = convert(model);
  std::filesystem::remove(executed);
  Loaded loaded(plan);
  EXPECT_EQ(loaded.open({}).code(), Code::kUnsupported);
  EXPECT_CONTAINS(loaded.text(),
                  "node 0 'PyOp1' (pyop:PyOp): Python operators are not allowed here");
  EXPECT_EQ(loaded.open(options.library->services(), options.library->kernels()).code(),
            Code::kUnsupported);
  EXPECT_CONTAINS(loaded.text(), "--allow-pyop");
  EXPECT_FALSE(std::filesystem::exists(executed));
  EXPECT_TRUE(loaded.open(services())) << loaded.text();
  EXPECT_TRUE(std::filesystem::exists(executed));
}

TEST_F(Pyop, PYOP_21_AFileIsThePermissionForItsOwnOperatorsOnly) {
  write(module_ + "_foreign.py", kLeavesTraces);
  module(R"(
class Own:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        return args[0] + 1
class A:
    def __init__(self):
        open(__file__ + '.executed', 'w').close()
    def compute(self, x):
        return x
)");
  const auto executed = folder_ / (module_ + ".py.executed");
  const auto foreign = folder_ / (module_ + "_foreign.py.executed");
  // Converted where the modules cannot be found: this process has not imported them.
  converter::ConvertOptions options;
  options.library = converter::load_operators({}, {{"allow-pyop", ""}});
  OnnxBuilder model = unary("A", {1});
  const std::vector<std::byte> same_file = convert(model, options);
  for (auto& attribute : *model.graph().mutable_node(0)->mutable_attribute()) {
    if (attribute.name() == "module") attribute.set_s(module_ + "_foreign");
  }
  const std::vector<std::byte> other_file = convert(model, options);

  options.library = converter::load_operators({(folder_ / (module_ + ".py")).string()}, {});
  const auto open = [&options](Loaded& loaded) {
    return loaded.open(options.library->services(), options.library->kernels());
  };
  for (const auto& [plan, function] : {std::pair(other_file, module_ + "_foreign:A.compute"),
                                       {same_file, module_ + ":A.compute"}}) {
    Loaded loaded(plan);
    EXPECT_EQ(open(loaded).code(), Code::kUnsupported);
    EXPECT_CONTAINS(loaded.text(), "node 0 'PyOp1' (pyop:PyOp)");
    EXPECT_CONTAINS(loaded.text(), "'" + function + "' is not allowed here");
    EXPECT_CONTAINS(loaded.text(), "--allow-pyop");
    EXPECT_FALSE(std::filesystem::exists(executed));
    EXPECT_FALSE(std::filesystem::exists(foreign));
  }
  OnnxBuilder own;
  own.input("x", {1});
  own.node("Own", {"x"}, {"y"});
  own.output("y");
  Loaded loaded(convert(own, options));
  ASSERT_TRUE(open(loaded)) << loaded.text();
  loaded.set<float>(0, {2});
  ASSERT_TRUE(loaded.run()) << loaded.text();
  EXPECT_EQ(loaded.get<float>(), (Floats{3}));
  loaded.session.close();  // its kernels are those of the library

  // With the permission the same plan executes the other module.
  options.library =
      converter::load_operators({}, {{"allow-pyop", ""}, {"pyop-path", folder_.string()}});
  Loaded allowed(other_file);
  EXPECT_TRUE(open(allowed)) << allowed.text();
  EXPECT_TRUE(std::filesystem::exists(foreign));
}

TEST_F(Pyop, PYOP_21_AProgramMayNameTheOperatorsThatItAllows) {
  module(kLeavesTraces);
  const auto executed = folder_ / (module_ + ".py.executed");
  converter::ConvertOptions options;
  options.library = converter::load_operators({}, {{"allow-pyop", ""}});
  Loaded loaded(convert(unary("A", {1}), options));
  const std::string folder = folder_.string(), function = module_ + ":A.compute";
  const char* paths[] = {folder.c_str()};
  const char* other[] = {"json:loads"};
  const char* this_one[] = {"json:loads", function.c_str()};
  {
    auto host = PyHost::start({.module_paths = paths, .operators = other});
    ASSERT_TRUE(host.ok());
    const Service service = host->service();
    EXPECT_EQ(loaded.open({&service, 1}).code(), Code::kUnsupported);
    EXPECT_CONTAINS(loaded.text(), "PyHostOptions::operators");
    EXPECT_FALSE(std::filesystem::exists(executed));
  }
  auto host = PyHost::start({.module_paths = paths, .operators = this_one});
  ASSERT_TRUE(host.ok());
  const Service service = host->service();
  EXPECT_TRUE(loaded.open({&service, 1})) << loaded.text();
  loaded.session.close();
}

}  // namespace
}  // namespace intarsia::test
