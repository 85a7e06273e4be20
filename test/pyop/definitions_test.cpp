// SPDX-License-Identifier: Apache-2.0
//
// Operators that are defined in a Python file: no C++, definition and kernel in one place.
#include <cmath>

#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

class Ofk : public Pyop {
 protected:
  /// Options with the operators of the test's module.
  converter::ConvertOptions defined() const {
    converter::ConvertOptions options;
    options.library = converter::load_operators({(folder_ / (module_ + ".py")).string()}, {});
    return options;
  }
  std::string definition_error() const {
    try {
      defined();
    } catch (const converter::Error& error) {
      return error.what();
    }
    return "";
  }
  /// y = Type(x...), everything float.
  OnnxBuilder model_of(const char* domain, const char* type, const std::vector<std::string>& inputs,
                       std::vector<int64_t> extents) {
    OnnxBuilder model;
    for (const std::string& input : inputs) model.input(input, extents);
    model.node(type, inputs, {"y"}).set_domain(domain);
    model.output("y");
    return model;
  }
  std::unique_ptr<Loaded> load_defined(const OnnxBuilder& model) {
    auto loaded = std::make_unique<Loaded>(convert(model, defined()));
    const Status status = loaded->open(services());
    EXPECT_TRUE(status.ok()) << loaded->text();
    return loaded;
  }
};

constexpr const char* kActivations = R"(
import numpy as np

class user_relu:
    domain = "user"
    inputs = ["x: float32|float64"]
    outputs = ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        (x,) = args
        return (x > 0) * x

class UserSigmoid:
    name = "user::user_sigmoid"
    inputs = ["x: T"]
    outputs = ["y: T"]
    @staticmethod
    def infer(inputs):
        (x,) = inputs
        return [(x.dtype, x.shape)]
    @staticmethod
    def forward(args):
        (x,) = args
        return 1 / (1 + np.exp(-x))
)";

TEST_F(Ofk, OFK_1_ReluAndSigmoidWithoutAnyCpp) {
  module(kActivations);
  auto relu = load_defined(model_of("user", "user_relu", {"x"}, {5}));
  relu->set<float>(0, {-2, -1, 0, 1, 2});
  ASSERT_TRUE(relu->run()) << relu->text();
  EXPECT_EQ(relu->get<float>(), (Floats{0, 0, 0, 1, 2}));
  auto sigmoid = load_defined(model_of("user", "user_sigmoid", {"x"}, {1, 10}));
  sigmoid->set<float>(0, Floats(10, 1));
  ASSERT_TRUE(sigmoid->run()) << sigmoid->text();
  for (float y : sigmoid->get<float>()) EXPECT_NEAR(y, 1 / (1 + std::exp(-1.0f)), 1e-6f);
  // The definition is a definition: types that it does not allow stop the conversion.
  OnnxBuilder integers;
  integers.input("x", {5}, DataType::kInt32);
  integers.node("user_relu", {"x"}, {"y"}).set_domain("user");
  integers.output("y");
  EXPECT_CONTAINS(conversion_error(integers, defined()),
                  "int32, which the operator does not allow");
}

TEST_F(Ofk, OFK_2_FunctionsOfAModuleTakeOneSequence) {
  module(R"(
inputs = ["a", "b"]
outputs = ["y", "z"]
def infer(args):
    return [args[0], args[1]]
def forward(args):
    a, b = args
    assert len(args) == 2 and type(args) is tuple
    return a - b, b
)");
  OnnxBuilder model;
  model.input("a", {2});
  model.input("b", {2});
  model.node(module_, {"a", "b"}, {"y", "z"});  // by default the operator has the file's name
  model.output("y");
  model.output("z");
  auto loaded = load_defined(model);
  loaded->set<float>(0, {5, 7});
  loaded->set<float>(1, {1, 2});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(0), (Floats{4, 5}));
  EXPECT_EQ(loaded->get<float>(1), (Floats{1, 2}));
}

TEST_F(Ofk, OFK_3_TheInferredShapeAndTypeBindTheKernel) {
  module(R"(
import numpy as np
class Widen:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        n, = inputs[0].shape
        return "int64", (n, 2)
    def forward(self, args):
        self.calls = getattr(self, "calls", 0) + 1
        x, = args
        if self.calls == 1: return np.zeros((len(x) * 2,), "int64")   # as many elements
        if self.calls == 2: return np.zeros((len(x), 2), "float32")
        return np.stack([x, x + 1], 1).astype("int64")
)");
  auto loaded = load_defined(model_of("", "Widen", {"x"}, {2}));
  loaded->set<float>(0, {1, 5});
  EXPECT_EQ(loaded->run().code(), Code::kWrongRank);
  EXPECT_CONTAINS(loaded->text(), "expected [2,2], got [4]");
  EXPECT_EQ(loaded->run().code(), Code::kWrongType);
  EXPECT_CONTAINS(loaded->text(), "expected int64, got float32");
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<int64_t>(), (std::vector<int64_t>{1, 2, 5, 6}));
}

TEST_F(Ofk, OFK_3_AShapeFunctionDescribesEachOutputOnce) {
  module(R"(
class Three:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return "float32", (2,), "more"
    def forward(self, args):
        return args[0]
class Nothing(Three):
    def infer(self, inputs):
        return []
)");
  for (const auto& [name, count] : {std::pair("Three", "3"), {"Nothing", "0"}}) {
    EXPECT_CONTAINS(conversion_error(model_of("", name, {"x"}, {2}), defined()),
                    std::string("its infer must describe 1 outputs, but describes ") + count);
  }
}

TEST_F(Ofk, OFK_4_InputsAreReadOnlyViewsAndAbsentOnesNone) {
  module(R"(
import numpy as np
class Bias:
    inputs, outputs = ["x", "bias?"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        x, bias = args
        assert type(x) is np.ndarray
        try:
            x[...] = 0
        except ValueError:
            pass
        else:
            raise AssertionError("an input can be written")
        assert not x.flags.writeable and not x.flags.owndata
        return x + 1 if bias is None else x + bias
)");
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{}, {1}}) {
    auto without = load_defined(model_of("", "Bias", {"x"}, extents));
    without->set<float>(0, {4});
    ASSERT_TRUE(without->run()) << without->text();
    EXPECT_EQ(without->get<float>()[0], 5);
    auto with = load_defined(model_of("", "Bias", {"x", "bias"}, extents));
    with->set<float>(0, {4});
    with->set<float>(1, {6});
    ASSERT_TRUE(with->run()) << with->text();
    EXPECT_EQ(with->get<float>()[0], 10);
  }
}

TEST_F(Ofk, OFK_4_InputsAreTheSessionsOwnMemory) {
  module(R"(
import numpy as np
class Address:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return "int64", ()
    def forward(self, args):
        return np.int64(args[0].__array_interface__["data"][0])
)");
  auto loaded = load_defined(model_of("", "Address", {"x"}, {3}));
  ASSERT_TRUE(loaded->run()) << loaded->text();
  const void* x = loaded->session.input_port(0).value().tensor.data;
  EXPECT_EQ(loaded->get<int64_t>()[0], static_cast<int64_t>(reinterpret_cast<intptr_t>(x)));
}

TEST_F(Ofk, OFK_5_AttributesReachInferAndForward) {
  module(R"(
class Repeat:
    inputs, outputs = ["x"], ["y"]
    attributes = {"times": int, "gain": 2.0, "mode": "up", "taps": [1.0, 2.0], "axes": []}
    def infer(self, inputs, attributes):
        return inputs[0].dtype, (inputs[0].shape[0] * attributes["times"],)
    def forward(self, args, attributes):
        assert attributes["mode"] == "up" and attributes["axes"] == [], attributes
        assert attributes["taps"] in ([1.0, 2.0], [3.0]), attributes
        return (args[0] * attributes["gain"]).repeat(attributes["times"]).astype("float32")
)");
  OnnxBuilder model = model_of("", "Repeat", {"x"}, {2});
  EXPECT_CONTAINS(conversion_error(model, defined()), "attribute \"times\" is required");
  OnnxBuilder::set(*model.graph().mutable_node(0), "times", int64_t{2});
  OnnxBuilder::set(*model.graph().mutable_node(0), "taps", Floats{3});
  auto loaded = load_defined(model);
  loaded->set<float>(0, {1, 3});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), (Floats{2, 2, 6, 6}));
  OnnxBuilder::set(*model.graph().mutable_node(0), "gain", "loud");
  EXPECT_CONTAINS(conversion_error(model, defined()),
                  "attribute \"gain\" must be a float, but is a string");
  model.graph().mutable_node(0)->mutable_attribute()->RemoveLast();
  OnnxBuilder::set(*model.graph().mutable_node(0), "gane", 1.0f);
  EXPECT_CONTAINS(conversion_error(model, defined()), "attribute \"gane\" is unknown");
}

TEST_F(Ofk, OFK_6_ContainersAreFreeCountAndTypeAreNot) {
  module(R"(
import numpy as np
class Many:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        self.calls = getattr(self, "calls", 0) + 1
        x, = args
        return {1: (x, x), 2: None, 3: x.astype("float64"), 4: [x], 5: (x,)}.get(self.calls, x)
)");
  auto loaded = load_defined(model_of("", "Many", {"x"}, {2}));
  EXPECT_EQ(loaded->run().code(), Code::kInvalidValue);
  EXPECT_CONTAINS(loaded->text(), "expected 1 outputs, got 2");
  EXPECT_EQ(loaded->run().code(), Code::kInvalidValue);
  EXPECT_CONTAINS(loaded->text(), "expected 1 outputs, got None");
  EXPECT_EQ(loaded->run().code(), Code::kWrongType);
  for (int i = 0; i < 3; ++i) {
    loaded->set<float>(0, {1, 2});
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(), (Floats{1, 2}));
  }
}

TEST_F(Ofk, OFK_7_ExceptionsHaveTheirTraceback) {
  module(R"(
class Raises:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 1:
            raise ValueError('bad')
        return args[0]
)");
  auto loaded = load_defined(model_of("", "Raises", {"x"}, {1}));
  EXPECT_EQ(loaded->run().code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded->text(), "(Raises)");
  EXPECT_CONTAINS(loaded->text(), module_ + ".py\", line 9, in forward");
  EXPECT_CONTAINS(loaded->text(), "ValueError: bad");
  EXPECT_TRUE(loaded->run()) << loaded->text();
}

TEST_F(Ofk, ShapesWithoutInferComeFromTheModelOrATrial) {
  module(R"(
import numpy as np
class Pairs:
    inputs, outputs = ["x"], ["y: float32"]
    def forward(self, args):
        return np.stack([args[0], args[0]])
)");
  auto loaded = load_defined(model_of("", "Pairs", {"x"}, {3}));
  loaded->set<float>(0, {1, 2, 3});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), (Floats{1, 2, 3, 1, 2, 3}));
}

TEST_F(Ofk, FilesWhoseNameIsTakenAreRefused) {
  const std::string text = R"(
inputs, outputs = ["x"], ["y"]
def forward(args):
    return args[0]
)";
  const auto refusal = [](const std::vector<std::string>& files) -> std::string {
    try {
      converter::load_operators(files, {});
      return "";
    } catch (const converter::Error& error) {
      return error.what();
    }
  };
  const auto file = [&](const std::string& folder, const std::string& name) {
    std::filesystem::create_directories(folder_ / folder);
    write(folder + "/" + name + ".py", text);
    return (folder_ / folder / (name + ".py")).string();
  };
  const std::string one = file("one", module_), two = file("two", module_);
  EXPECT_EQ(refusal({one}), "");
  EXPECT_EQ(refusal({one}), "") << "the same file again";
  // Two files of one name, in one conversion or one after the other.
  for (const auto& files : {std::vector{one, two}, std::vector{two}}) {
    EXPECT_CONTAINS(refusal(files),
                    two + ": Python has loaded another module '" + module_ + "' from " + one);
  }
  // One that is loaded already, one that is not, and one without a file.
  for (const std::string name : {"json", "telnetlib", "sys"}) {
    EXPECT_CONTAINS(refusal({file("standard", name)}),
                    "Python's standard library has a module '" + name + "'");
  }
  EXPECT_CONTAINS(refusal({file("other", "numpy")}),
                  "Python has loaded another module 'numpy' from ");
  EXPECT_CONTAINS(refusal({file("dots", "my.operators")}),
                  "Python takes 'my.operators' for a module inside a package");
  EXPECT_EQ(refusal({file("dashes", "my-" + module_)}), "");
}

TEST_F(Ofk, FilesThatDefineNothingUsefulAreRefused) {
  module("x = 1\n");
  EXPECT_CONTAINS(definition_error(), "defines no operator");
  const auto of = [this](const std::string& name, const std::string& text) {
    write(name + ".py", text);
    try {
      converter::load_operators({(folder_ / (name + ".py")).string()}, {});
    } catch (const converter::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_CONTAINS(of(module_ + "_a", "inputs, outputs = 3, ['y']\ndef forward(a): pass\n"),
                  "inputs must be a list of strings");
  EXPECT_CONTAINS(of(module_ + "_b",
                     "inputs, outputs = ['x: float31|int8'], ['y']\n"
                     "def forward(a): pass\n"),
                  "has a type that does not exist");
  EXPECT_CONTAINS(of(module_ + "_c", "raise ValueError('early')\n"), "ValueError: early");
  EXPECT_CONTAINS(of(module_ + "_d",
                     "inputs, outputs, attributes = ['x'], ['y'], {'a': object()}\n"
                     "def forward(a): pass\n"),
                  "attribute 'a' is an object of type object");
  try {
    converter::load_operators({"/nowhere/at_all.py"}, {});
    FAIL();
  } catch (const converter::Error& error) {
    EXPECT_CONTAINS(error.what(), "/nowhere/at_all.py: there is no such file");
  }
}

}  // namespace
}  // namespace intarsia::test
