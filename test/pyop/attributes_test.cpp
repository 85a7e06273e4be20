// SPDX-License-Identifier: Apache-2.0
//
// Tensors as attributes, names with dots, nodes of many operands, and which output a message means.
#include "pyop_optional/host/python.h"  // first, as Python wants it

#include "intarsia/python_kernel.h"
#include "test/operators/own_library.h"
#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

onnx::TensorProto& tensor_attribute(OnnxBuilder& model, const char* name) {
  return *OnnxBuilder::attribute(*model.graph().mutable_node(0), name, onnx::AttributeProto::TENSOR)
              .mutable_t();
}

TEST_F(Pyop, PYOP_4_TensorsOfStringsArrive) {
  module(R"(
import numpy as np
class Texts:
    def __init__(self, words, scalar, empty, blank):
        for each in (words, scalar, empty, blank):
            assert type(each) is np.ndarray and each.dtype == object and each.flags.writeable, each
        assert words.tolist() == [['a', '', 'gr\u00fc\u00df'], ['b\0c', '\udcff', 'a']], words
        assert all(type(each) is str for each in words.ravel())
        assert scalar.shape == () and scalar[()] == 'one', scalar
        assert empty.shape == (0, 2) and blank.tolist() == ['', ''], (empty, blank)
        self.words = words
    def compute(self, x):
        return x + len(self.words[0, 2])
)");
  OnnxBuilder model = unary("Texts", {1});
  const auto fill = [&model](const char* name, const std::vector<int64_t>& extents,
                             const std::vector<std::string>& texts) {
    onnx::TensorProto& tensor = tensor_attribute(model, name);
    tensor.set_data_type(static_cast<int32_t>(DataType::kString));
    for (int64_t extent : extents) tensor.add_dims(extent);
    for (const std::string& text : texts) tensor.add_string_data(text);
  };
  fill("words", {2, 3}, {"a", "", "gr\xc3\xbc\xc3\x9f", std::string("b\0c", 3), "\xff", "a"});
  fill("scalar", {}, {"one"});
  fill("empty", {0, 2}, {});
  fill("blank", {2}, {"", ""});
  auto loaded = load(model);
  loaded->set<float>(0, {1});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), (Floats{5}));
}

TEST_F(Pyop, PYOP_4_TensorsThatPythonHasNoElementsForStopTheConversion) {
  module(
      "class A:\n    def __init__(self, table):\n        pass\n    def compute(self, x):\n"
      "        return x\n");
  const std::byte zeros[16] = {};
  for (uint8_t number = 1; number <= kLastDataType; ++number) {
    const auto type = static_cast<DataType>(number);
    if (element_bits(type) == 0 || type == DataType::kString) continue;
    OnnxBuilder model = unary("A", {1});
    OnnxBuilder::fill(tensor_attribute(model, "table"), "", type, {1}, zeros,
                      static_cast<size_t>(byte_size(type, 1)));
    const std::string error = conversion_error(model, allowed());
    const bool has_elements = number <= 15 && type != DataType::kBfloat16;
    EXPECT_EQ(error.empty(), has_elements) << data_type_name(type) << error;
    if (has_elements) {
      load(model);
      continue;
    }
    EXPECT_CONTAINS(error, "node 'PyOp1' (pyop:PyOp)");
    EXPECT_CONTAINS(error,
                    std::string("attribute \"table\" is a tensor of ") + data_type_name(type) +
                        ", for which Python has no elements; it has "
                        "them for float32, uint8, int8, uint16, int16, int32, int64, string, "
                        "bool, float16, float64, uint32, uint64, complex64, complex128");
  }
}

/// y = sum of the inputs, then each input once more.
constexpr const char* kMany = R"(
class Many:
    def compute(self, *inputs):
        assert inputs[1] is None
        return (sum(each for each in inputs if each is not None), *inputs[2:])
)";

TEST_F(Pyop, ANodeMayHaveAnyNumberOfOperands) {
  module(kMany);
  constexpr int kCount = 300;
  OnnxBuilder model;
  model.input("x", {1});
  model.input("z", {1});
  std::vector<std::string> inputs(kCount, "x"), outputs = {"y"};
  inputs[1] = "";
  inputs.back() = "z";
  for (int i = 2; i < kCount; ++i) outputs.push_back("y" + std::to_string(i));
  outputs[5] = "";
  pyop(model, "Many", inputs, outputs);
  declare_output(model, "y", {1}, DataType::kFloat);
  declare_output(model, outputs.back().c_str(), {1}, DataType::kFloat);
  auto loaded = load(model);
  loaded->set<float>(0, {1});
  loaded->set<float>(1, {1000});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(0), (Floats{kCount - 2 + 1000}));
  EXPECT_EQ(loaded->get<float>(1), (Floats{1000}));
}

TEST_F(Pyop, PYOP_12_MessagesNameTheOutputThatIsWrong) {
  module(R"(
import numpy as np
class Three:
    calls = 0
    def compute(self, x):
        self.calls += 1
        wrong = {1: np.ones(2, 'f8'), 2: np.ones(3, 'f'), 3: np.ones((2, 1), 'f'), 4: 1.5j,
                 5: 'text', 6: np.ones((1,) * 9, 'f'), 7: np.array([1, 2], object)}
        bad = wrong.get(self.calls % 10, x)
        return (x, bad, x) if self.calls < 10 else (x, x, bad)
)");
  OnnxBuilder model;
  model.input("x", {2});
  pyop(model, "Three", {"x"}, {"a", "b", "c"});
  for (const char* name : {"a", "b", "c"}) declare_output(model, name, {2}, DataType::kFloat);
  auto loaded = load(model);
  const std::pair<Code, const char*> kExpected[] = {
      {Code::kWrongType, "expected float32, got float64"},
      {Code::kWrongExtent, "expected [2], got [3]"},
      {Code::kWrongRank, "expected [2], got [2,1]"},
      {Code::kWrongType, "expected float32, got the number 1.5j, which that type does not hold"},
      {Code::kWrongType, "expected an array of float32, got an object of type str"},
      {Code::kWrongRank, "expected at most 8 axes, got 9"},
      {Code::kWrongType, "expected float32, got elements of format 'O', which no tensor has"}};
  for (const char* output : {"output 1: ", "output 2: "}) {
    for (const auto& [code, text] : kExpected) {
      EXPECT_EQ(loaded->run().code(), code) << loaded->text();
      EXPECT_CONTAINS(loaded->text(), std::string(output) + text);
    }
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(loaded->run()) << loaded->text();
  }
  // Strings have messages of their own.
  module_ += "_strings";
  module(R"(
import numpy as np
class Texts:
    calls = 0
    def compute(self, x):
        self.calls += 1
        return x, {1: 4, 2: np.full((1,) * 9, 'a')}.get(self.calls, x)
)");
  OnnxBuilder strings;
  strings.input("x", {1}, DataType::kString);
  pyop(strings, "Texts", {"x"}, {"a", "b"}, DataType::kString);
  for (const char* name : {"a", "b"}) declare_output(strings, name, {1}, DataType::kString);
  auto texts = load(strings);
  EXPECT_EQ(texts->run().code(), Code::kWrongType);
  EXPECT_CONTAINS(texts->text(), "output 1: expected strings, got an object of type int");
  EXPECT_EQ(texts->run().code(), Code::kWrongRank);
  EXPECT_CONTAINS(texts->text(), "output 1: expected at most 8 axes, got 9");
  EXPECT_TRUE(texts->run()) << texts->text();
}

TEST_F(Pyop, PYOP_14_ShapeFunctionsNameTheOutputThatIsWrong) {
  module(R"(
class Shapes:
    def __init__(self, second):
        self.second = tuple(second)
    def infer_shape(self, x):
        return [x, self.second]
    def compute(self, x):
        return x, x
)");
  const std::pair<std::vector<int64_t>, const char*> kWrong[] = {
      {{2, -1}, "output 1: extent -1 of axis 1 is impossible"},
      {{int64_t{1} << 31}, "output 1: extent 2147483648 of axis 0 is impossible"},
      {std::vector<int64_t>(9, 1), "output 1: expected at most 8 axes, got 9"}};
  for (const auto& [extents, text] : kWrong) {
    OnnxBuilder model;
    model.input("x", {2});
    OnnxBuilder::set(pyop(model, "Shapes", {"x"}, {"a", "b"}), "second", extents);
    model.output("a");
    model.output("b");
    EXPECT_CONTAINS(conversion_error(model, allowed()), text);
  }
}

TEST_F(Pyop, PYOP_16_TheTracebackOfAnImportIsPartOfTheError) {
  write(module_ + "_inner.py",
        "# a line\ndef helper():\n    raise ValueError('early')\n\nhelper()\n");
  module("import os\nimport " + module_ + "_inner\n");
  Loaded loaded(convert(unary("A", {1})));
  EXPECT_EQ(loaded.open(services()).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded.text(), "node 0 'PyOp1' (pyop:PyOp)");
  EXPECT_CONTAINS(loaded.text(), "importing module '" + module_ + "' raised an exception");
  EXPECT_CONTAINS(loaded.text(), "Traceback (most recent call last):");
  EXPECT_CONTAINS(loaded.text(), folder_.string() + "/" + module_ + ".py\", line 2, in <module>");
  EXPECT_CONTAINS(loaded.text(), "/" + module_ + "_inner.py\", line 5, in <module>");
  EXPECT_CONTAINS(loaded.text(), "/" + module_ + "_inner.py\", line 3, in helper");
  EXPECT_CONTAINS(loaded.text(), "raise ValueError('early')");
  EXPECT_CONTAINS(loaded.text(), "ValueError: early");
  // A text that is no Python is told with its place.
  module_ += "_broken";
  module("x = 1\nclass A(:\n");
  Loaded broken(convert(unary("A", {1})));
  EXPECT_EQ(broken.open(services()).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(broken.text(), module_ + ".py\", line 2\n");
  EXPECT_CONTAINS(broken.text(), "SyntaxError: ");
}

/// Operators that are declared in C++, computed in a module of a package.
template <const auto& kFunction>
struct InPackage {
  static void run(Input<float> x, Output<float> y);
  using Kernel = PythonKernel<InPackage>;
  static constexpr std::string_view python = kFunction;
  static constexpr OperatorInfo info{
      .domain = "package", .name = kFunction, .inputs = {"x"}, .outputs = {"y"}};
};
constexpr std::string_view kFunction = "m_package.inner.kernels:triple";
constexpr std::string_view kMethod = "m_package.inner.kernels:Times.forward";
constexpr std::string_view kNested = "m_package.inner.kernels:Times.Ten.forward";
constexpr std::string_view kNowhere = "m_package.inner.nowhere:triple";
constexpr std::string_view kNoClass = "m_package.inner.kernels:Times.Eleven.forward";
using InPackages = OperatorList<InPackage<kFunction>, InPackage<kMethod>, InPackage<kNested>,
                                InPackage<kNowhere>, InPackage<kNoClass>>;

class Dotted : public Pyop {
 protected:
  void SetUp() override {
    Pyop::SetUp();
    // Python keeps modules by name, and the C++ code has one.
    std::filesystem::create_directories(folder_ / "m_package" / "inner");
    write("m_package/__init__.py", "");
    write("m_package/inner/__init__.py", "");
    write("m_package/inner/kernels.py", R"(
import numpy as np
def triple(args):
    return args[0] * 3
class Times:
    factor = np.float32(5)
    def __init__(self, add=0):
        self.add = np.float32(add)
    def forward(self, args):
        return args[0] * self.factor
    def compute(self, x):
        return x * self.factor + self.add
    class Ten:
        factor = np.float32(10)
        def forward(self, args):
            return args[0] * self.factor
        def compute(self, x):
            return x * self.factor
)");
  }
  void TearDown() override {
    {
      const pyop::Gil gil;
      const char* names[] = {"m_package", "m_package.inner", "m_package.inner.kernels"};
      for (const char* name : names) {
        PyDict_DelItemString(PyImport_GetModuleDict(), name);
        PyErr_Clear();
      }
    }
    Pyop::TearDown();
  }
};

TEST_F(Dotted, PYOP_5_ModulesOfPackagesAndClassesInClasses) {
  module_ = "m_package.inner.kernels";
  for (const auto& [type, factor] : {std::pair("Times", 5.0f), {"Times.Ten", 10.0f}}) {
    auto loaded = load(unary(type, {1}));
    loaded->set<float>(0, {2});
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(), (Floats{2 * factor}));
  }
  for (const char* type : {"Times.Eleven", "Eleven", "Times.", ".Times", "Times.factor"}) {
    Loaded loaded(convert(unary(type, {1})));
    EXPECT_EQ(loaded.open(services()).code(), Code::kOperatorFailed);
    EXPECT_CONTAINS(loaded.text(), "module 'm_package.inner.kernels': there is no class '" +
                                       std::string(type) + "'");
  }
  OnnxBuilder method = unary("Times.Ten", {1});
  OnnxBuilder::set(*method.graph().mutable_node(0), "compute", "missing");
  Loaded loaded(convert(method));
  EXPECT_FALSE(loaded.open(services()).ok());
  EXPECT_CONTAINS(loaded.text(), "class 'Times.Ten': there is no method 'missing'");
  // What a host allows is written the same way.
  const std::string folder = folder_.string();
  const char* paths[] = {folder.c_str()};
  const char* names[] = {"m_package.inner.kernels:Times.Ten.compute"};
  auto host = PyHost::start({.module_paths = paths, .operators = names});
  ASSERT_TRUE(host.ok());
  const Service service = host->service();
  Loaded ten(convert(unary("Times.Ten", {1}))), five(convert(unary("Times", {1})));
  EXPECT_TRUE(ten.open({&service, 1})) << ten.text();
  EXPECT_EQ(five.open({&service, 1}).code(), Code::kUnsupported);
  ten.session.close();
}

TEST_F(Dotted, OFK_1_FunctionsAndMethodsOfAModuleInAPackage) {
  const converter::ConvertOptions options = options_with<InPackages>();
  const auto plan_of = [&](std::string_view name) {
    OnnxBuilder model;
    model.input("x", {1});
    model.node(std::string(name).c_str(), {"x"}, {"y"}).set_domain("package");
    model.output("y");
    return convert(model, options);
  };
  for (const auto& [name, factor] :
       {std::pair(kFunction, 3.0f), {kMethod, 5.0f}, {kNested, 10.0f}}) {
    Loaded loaded(plan_of(name));
    ASSERT_TRUE(loaded.open(services(), options.library->kernels())) << loaded.text();
    loaded.set<float>(0, {2});
    ASSERT_TRUE(loaded.run()) << loaded.text();
    EXPECT_EQ(loaded.get<float>(), (Floats{2 * factor}));
    loaded.session.close();
  }
  for (const auto& [name, text] :
       {std::pair(kNowhere, "No module named 'm_package.inner.nowhere'"),
        {kNoClass, "module 'm_package.inner.kernels': there is no class 'Times.Eleven'"}}) {
    Loaded loaded(plan_of(name));
    EXPECT_EQ(loaded.open(services(), options.library->kernels()).code(), Code::kOperatorFailed);
    EXPECT_CONTAINS(loaded.text(), text);
  }
}

}  // namespace
}  // namespace intarsia::test
