// SPDX-License-Identifier: Apache-2.0
//
// What operators return, what they raise, and how long they live.
#include "pyop_optional/host/python.h"  // first, as Python wants it

#include <chrono>
#include <future>
#include <thread>

#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

/// A class whose `compute(self, x)` ends in `return EXPRESSION`.
std::string returning(const std::string& name, const std::string& expression) {
  return "import numpy as np\nclass " + name + ":\n    def compute(self, *inputs):\n" +
         "        x = inputs[0] if inputs else None\n        return " + expression + "\n";
}

TEST_F(Pyop, PYOP_11_ContainersAndNumbersAreAccepted) {
  const std::pair<const char*, const char*> kGood[] = {
      {"Array", "np.array([7, 7], 'f')"},
      {"Tuple", "(np.array([7, 7], 'f'),)"},
      {"List", "[np.array([7, 7], 'f')]"},
      {"View", "memoryview(np.array([7, 7], 'f'))"}};
  const std::pair<const char*, const char*> kScalars[] = {{"NumpyScalar", "np.float32(7)"},
                                                          {"WiderScalar", "np.float64(7)"},
                                                          {"IntegerScalar", "np.int64(7)"},
                                                          {"Float", "7.0"},
                                                          {"Integer", "7"},
                                                          {"Rank0", "np.array(7, 'f')"},
                                                          {"ListOfOne", "[7]"}};
  const std::pair<const char*, const char*> kBad[] = {{"Generator", "(v for v in x)"},
                                                      {"Dict", "{'y': x}"},
                                                      {"None_", "None"},
                                                      {"Two", "(x, x)"},
                                                      {"Empty", "()"},
                                                      {"Text", "'abc'"},
                                                      {"Set", "{1}"}};
  std::string text;
  for (const auto& [name, expression] : kGood) text += returning(name, expression);
  for (const auto& [name, expression] : kScalars) text += returning(name, expression);
  for (const auto& [name, expression] : kBad) text += returning(name, expression);
  module(text);
  for (const auto& [name, expression] : kGood) {
    auto loaded = load(unary(name, {2}));
    loaded->set<float>(0, {1, 2});
    ASSERT_TRUE(loaded->run()) << name << loaded->text();
    EXPECT_EQ(loaded->get<float>(), (Floats{7, 7})) << name;
  }
  for (const auto& [name, expression] : kScalars) {
    auto loaded = load(unary(name, {}));
    loaded->set<float>(0, {1});
    ASSERT_TRUE(loaded->run()) << name << loaded->text();
    EXPECT_EQ(loaded->get<float>(), (Floats{7})) << name;
  }
  const std::map<std::string, std::string> kGot = {{"Generator", "an object of type generator"},
                                                   {"Dict", "an object of type dict"},
                                                   {"None_", "None"},
                                                   {"Two", "2"},
                                                   {"Empty", "0"},
                                                   {"Text", "an object of type str"},
                                                   {"Set", "an object of type set"}};
  for (const auto& [name, expression] : kBad) {
    auto loaded = load(unary(name, {2}));
    loaded->set<float>(0, {1, 2});
    EXPECT_EQ(loaded->run().code(), Code::kInvalidValue) << name;
    EXPECT_CONTAINS(loaded->text(), "expected 1 outputs, got " + kGot.at(name));
    EXPECT_CONTAINS(loaded->text(), "node 0 'PyOp1'");
  }
}

TEST_F(Pyop, PYOP_12_WrongTypesAreRefusedBeforeAnyWrite) {
  struct Case {
    const char* name;
    const char* expression;
    DataType type;
    const char* message;
  };
  const Case kCases[] = {
      {"Double", "x.astype('float64')", DataType::kFloat, "expected float32, got float64"},
      {"IntegerArray0", "np.array(1, 'int64')", DataType::kFloat, "expected float32, got int64"},
      {"RealScalar", "np.float64(1.5)", DataType::kInt32, "expected int32, got the number 1.5"},
      {"Half", "x.astype('float16')", DataType::kFloat, "expected float32, got float16"},
      {"FloatForInt", "x.astype('float32')", DataType::kInt32, "expected int32, got float32"},
      {"UnsignedForInt", "x.astype('uint32')", DataType::kInt32, "expected int32, got uint32"},
      {"BytesForBool", "x.view('uint8')", DataType::kBool, "expected bool, got uint8"},
      {"LongDouble", "x.astype('longdouble')", DataType::kDouble, "elements of format 'g'"},
      {"Objects", "x.astype(object)", DataType::kFloat, "elements of format 'O'"},
      {"Record", "np.zeros(2, 'i4,f4')", DataType::kFloat, "elements of format 'T{"},
      {"Number", "1.5", DataType::kInt32, "expected int32, got the number 1.5"},
      {"Large", "300", DataType::kUint8, "expected uint8, got the number 300"},
      {"Negative", "-1", DataType::kUint64, "expected uint64, got the number -1"},
      {"OneForBool", "1", DataType::kBool, "expected bool, got the number 1"},
      {"Nested", "[[1.0, 2.0]]", DataType::kFloat, "expected an array of float32, got an object"}};
  std::string text;
  for (const Case& each : kCases) text += returning(each.name, each.expression);
  module(text);
  for (const Case& each : kCases) {
    auto loaded = load(unary(each.name, {2}, each.type));
    // The caller's buffer has not a byte to spare, which AddressSanitizer watches.
    const auto bytes = static_cast<size_t>(loaded->session.output_port(0).value().tensor.bytes());
    const std::unique_ptr<std::byte[]> exact(new std::byte[bytes]);
    std::memset(exact.get(), 0x5a, bytes);
    ASSERT_TRUE(loaded->session.bind_output(0, exact.get(), bytes));
    EXPECT_EQ(loaded->run().code(), Code::kWrongType) << each.name;
    EXPECT_CONTAINS(loaded->text(), "output 0: ");
    EXPECT_CONTAINS(loaded->text(), each.message);
    for (size_t i = 0; i < bytes; ++i) EXPECT_EQ(exact[i], std::byte{0x5a}) << each.name;
  }
}

TEST_F(Pyop, PYOP_13_StridesAndByteOrderAreFollowed) {
  struct Case {
    const char* name;
    const char* expression;
    std::vector<int64_t> extents;
    Floats expected;
  };
  const Case kCases[] = {
      {"Transposed", "x.T", {2, 2}, {1, 3, 2, 4}},
      {"Reversed", "x[::-1]", {2, 2}, {3, 4, 1, 2}},
      {"ReversedTwice", "x[::-1, ::-1]", {2, 2}, {4, 3, 2, 1}},
      {"ReadOnly", "np.broadcast_to(np.float32(9), (2, 2))", {2, 2}, {9, 9, 9, 9}},
      {"Swapped", "x.astype('>f4')", {2, 2}, {1, 2, 3, 4}},
      {"SwappedTransposed", "x.astype('>f4').T", {2, 2}, {1, 3, 2, 4}},
      {"EverySecond", "np.repeat(x, 2, 1)[:, ::2]", {2, 2}, {1, 2, 3, 4}},
      {"Fortran", "np.asfortranarray(x)", {2, 2}, {1, 2, 3, 4}},
      {"NewAxis", "np.repeat(x, 2, 0)[::2]", {2, 2}, {1, 2, 3, 4}}};
  std::string text;
  for (const Case& each : kCases) text += returning(each.name, each.expression);
  text +=
      returning("Deep", "np.moveaxis(np.arange(24, dtype='i2').reshape(2, 3, 4), 0, 1)[:, ::-1]");
  text += returning("SwappedDeep", "np.arange(6, dtype='>i8').reshape(2, 3)[:, ::-1]");
  text += returning("SwappedComplex", "np.array([1+2j, 3-4j], '>c8')");
  text += returning("Truths", "np.array([[0, 2], [255, 1]], 'u1').view(bool).T");
  module(text);
  for (const Case& each : kCases) {
    auto loaded = load(unary(each.name, each.extents));
    loaded->set<float>(0, {1, 2, 3, 4});
    ASSERT_TRUE(loaded->run()) << each.name << loaded->text();
    EXPECT_EQ(loaded->get<float>(), each.expected) << each.name;
  }
  auto deep = load(unary("Deep", {3, 2, 4}, DataType::kInt16));
  ASSERT_TRUE(deep->run()) << deep->text();
  EXPECT_EQ(deep->get<int16_t>(),
            (std::vector<int16_t>{12, 13, 14, 15, 0,  1,  2,  3,  16, 17, 18, 19,
                                  4,  5,  6,  7,  20, 21, 22, 23, 8,  9,  10, 11}));
  auto swapped = load(unary("SwappedDeep", {2, 3}, DataType::kInt64));
  ASSERT_TRUE(swapped->run()) << swapped->text();
  EXPECT_EQ(swapped->get<int64_t>(), (std::vector<int64_t>{2, 1, 0, 5, 4, 3}));
  auto complex = load(unary("SwappedComplex", {2}, DataType::kComplex64));
  ASSERT_TRUE(complex->run()) << complex->text();
  const auto* parts = complex->session.output_port(0).value().tensor.as<float>();
  EXPECT_EQ(Floats(parts, parts + 4), (Floats{1, 2, 3, -4}));
  // Whatever byte numpy takes for True, the session's is 1.
  auto truths = load(unary("Truths", {2, 2}, DataType::kBool));
  ASSERT_TRUE(truths->run()) << truths->text();
  const auto* bytes = truths->session.output_port(0).value().tensor.as<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + 4), (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST_F(Pyop, PYOP_14_AnotherShapeThanPlannedIsRefused) {
  module(R"(
import numpy as np
class Wrong:
    calls = 0
    def compute(self, x):
        self.calls += 1
        shapes = {1: (3, 2), 2: (6,), 3: (2, 3, 1), 4: (2, 4), 5: (0, 3)}
        return np.ones(shapes.get(self.calls, (2, 3)), 'f')
)");
  auto loaded = load(unary("Wrong", {2, 3}));
  for (const char* found : {"[3,2]", "[6]", "[2,3,1]", "[2,4]", "[0,3]"}) {
    const Status status = loaded->run();
    EXPECT_TRUE(status == Code::kWrongExtent || status == Code::kWrongRank);
    EXPECT_CONTAINS(loaded->text(), std::string("expected [2,3], got ") + found);
  }
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), Floats(6, 1));
}

/// A view may have more elements than there is memory.
TEST_F(Pyop, PYOP_14_AnExtentOfMoreThan32BitsIsNoSmallOne) {
  module(R"(
import numpy as np
class Wide:
    def compute(self, x):
        return np.broadcast_to(x[:1], (2**32 + 2,)) if x[0] else x
)");
  auto loaded = load(unary("Wide", {2}));
  loaded->set<float>(0, {1, 2});
  EXPECT_EQ(loaded->run().code(), Code::kWrongExtent);
  EXPECT_CONTAINS(loaded->text(), "expected [2], got [4294967298]");
  loaded->set<float>(0, {0, 2});
  ASSERT_TRUE(loaded->run()) << loaded->text();
}

TEST_F(Pyop, PYOP_14_MoreAxesThanATensorHas) {
  module(R"(
import numpy as np
class Deep:
    def compute(self, x):
        return np.full((1,) * 9, 'a', object) if x.dtype == object else np.ones((1,) * 9, 'f')
)");
  for (const DataType type : {DataType::kString, DataType::kFloat}) {
    auto loaded = load(unary("Deep", {1}, type));
    EXPECT_EQ(loaded->run().code(), Code::kWrongRank);
    EXPECT_CONTAINS(loaded->text(), "output 0: expected at most 8 axes, got 9");
  }
}

TEST_F(Pyop, PYOP_14_ExtentsThatVaryStayWithinTheirBound) {
  module("class Filter:\n    def compute(self, x):\n        return x[x > 0]\n");
  OnnxBuilder model;
  model.input("x", {4});
  pyop(model, "Filter", {"x"}, {"y"});
  model.output("y");
  converter::ConvertOptions options = allowed();
  options.bounds["y"] = {3};
  Loaded loaded(convert(model, options));
  ASSERT_TRUE(loaded.open(services())) << loaded.text();
  for (const Floats& expected : {Floats{1, 2}, Floats{}, Floats{5, 6, 7}}) {
    Floats x = expected;
    x.resize(4, -1);
    loaded.set<float>(0, x);
    ASSERT_TRUE(loaded.run()) << loaded.text();
    EXPECT_EQ(loaded.get<float>(), expected);
  }
  loaded.set<float>(0, {1, 2, 3, 4});
  EXPECT_EQ(loaded.run().code(), Code::kWrongExtent);
  EXPECT_CONTAINS(loaded.text(), "expected at most [3], got [4]");
}

constexpr const char* kRaising = R"(
import numpy as np
class Raises:
    def __init__(self):
        self.calls = 0
    def compute(self, x):
        self.calls += 1
        if self.calls == 1:
            return helper(x)
        return x
def helper(x):
    raise ValueError('bad')
class Chained:
    def compute(self, x):
        try:
            {}['key']
        except KeyError as error:
            raise RuntimeError('second') from error
class Rude:
    def compute(self, x):
        raise SystemExit(3)
class Unprintable(Exception):
    def __str__(self):
        raise TypeError('no text')
class Unprintably:
    def compute(self, x):
        raise Unprintable()
)";

TEST_F(Pyop, PYOP_15_TheTracebackIsPartOfTheError) {
  module(kRaising);
  auto loaded = load(unary("Raises", {1}));
  EXPECT_EQ(loaded->run().code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded->text(), "node 0 'PyOp1' (pyop:PyOp)");
  EXPECT_CONTAINS(loaded->text(), "Traceback (most recent call last):");
  EXPECT_CONTAINS(loaded->text(), module_ + ".py\", line 9, in compute");
  EXPECT_CONTAINS(loaded->text(), module_ + ".py\", line 12, in helper");
  EXPECT_CONTAINS(loaded->text(), "raise ValueError('bad')");
  EXPECT_CONTAINS(loaded->text(), "ValueError: bad");
  // Nothing is left behind: not for this thread, nor for another one.
  loaded->set<float>(0, {4});
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(), (Floats{4}));
  auto second = load(unary("Raises", {1}));
  EXPECT_FALSE(second->run().ok());
  std::thread([&] { EXPECT_TRUE(second->run()) << second->text(); }).join();

  auto chained = load(unary("Chained", {1}));
  EXPECT_FALSE(chained->run().ok());
  EXPECT_CONTAINS(chained->text(), "KeyError: 'key'");
  EXPECT_CONTAINS(chained->text(), "RuntimeError: second");
  auto rude = load(unary("Rude", {1}));
  EXPECT_FALSE(rude->run().ok());
  EXPECT_CONTAINS(rude->text(), "SystemExit: 3");
  auto unprintable = load(unary("Unprintably", {1}));
  EXPECT_FALSE(unprintable->run().ok());
  EXPECT_CONTAINS(unprintable->text(), "Unprintable");
}

TEST_F(Pyop, PYOP_15_NoExceptionAndNoLockAreLeftBehind) {
  module(kRaising);
  // This thread has a state of its own in Python, as the one that started it has; what an operator
  // left pending there would stay.
  services();
  const PyGILState_STATE outer = PyGILState_Ensure();
  PyThreadState* state = PyEval_SaveThread();
  auto loaded = load(unary("Raises", {1}));
  EXPECT_EQ(loaded->run().code(), Code::kOperatorFailed);
  // Another thread gets the lock: this one does not keep it.
  std::promise<void> got;
  std::thread second([&got] {
    const pyop::Gil gil;
    got.set_value();
  });
  const bool free =
      got.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  EXPECT_TRUE(free) << "the lock is still held after a failing run";
  if (!free) PyEval_SaveThread();
  second.join();
  PyEval_RestoreThread(state);
  EXPECT_EQ(PyErr_Occurred(), nullptr);
  // And one that the program itself has pending is as it was.
  PyErr_SetString(PyExc_KeyError, "the program's own");
  auto again = load(unary("Raises", {1}));
  EXPECT_FALSE(again->run().ok());
  EXPECT_EQ(PyErr_ExceptionMatches(PyExc_KeyError), 1);
  EXPECT_TRUE(again->run()) << again->text();
  EXPECT_EQ(PyErr_ExceptionMatches(PyExc_KeyError), 1);
  PyErr_Clear();
  PyGILState_Release(outer);
}

TEST_F(Pyop, PYOP_16_FailingConstructorsAndImportsStopTheOpening) {
  module(R"(
import gc, sys, weakref
alive = []
class Fails:
    def __init__(self, table):
        alive.append(weakref.ref(self))
        tables.append(weakref.ref(table))
        raise ValueError('not today')
    def compute(self, x):
        return x
tables = []
class References:
    def compute(self, x):
        gc.collect()
        assert not any(each() is not None for each in tables), 'an attribute is still alive'
        return x * 0 + sys.getrefcount(Fails) + sys.getrefcount(sys.modules[__name__])
class Counts:
    def compute(self, x):
        gc.collect()
        x = x.copy()
        x[0] = sum(each() is not None for each in alive) + 100 * len(alive)
        return x
)");
  OnnxBuilder fails = unary("Fails", {1});
  const float element = 1;
  OnnxBuilder::fill(
      *OnnxBuilder::attribute(*fails.graph().mutable_node(0), "table", onnx::AttributeProto::TENSOR)
           .mutable_t(),
      "", DataType::kFloat, {1}, &element, sizeof(element));
  Loaded loaded(convert(fails));
  auto counter = load(unary("Counts", {1})), references = load(unary("References", {1}));
  ASSERT_TRUE(counter->run());
  const float before = counter->get<float>()[0];  // the conversion may have tried, too
  ASSERT_TRUE(references->run()) << references->text();
  const float counted = references->get<float>()[0];
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(loaded.open(services()).code(), Code::kOperatorFailed);
    EXPECT_CONTAINS(loaded.text(), "node 0 'PyOp1' (pyop:PyOp)");
    EXPECT_CONTAINS(loaded.text(), "Traceback (most recent call last):");
    EXPECT_CONTAINS(loaded.text(), module_ + ".py\", line 8, in __init__");
    EXPECT_CONTAINS(loaded.text(), "ValueError: not today");
  }
  ASSERT_TRUE(references->run()) << references->text();
  EXPECT_EQ(references->get<float>()[0], counted) << "references to class or module were leaked";
  ASSERT_TRUE(counter->run()) << counter->text();
  EXPECT_EQ(counter->get<float>()[0], before + 300) << "an instance was leaked";

  write(module_ + "_broken.py", "import this_module_does_not_exist\n");
  OnnxBuilder broken = unary("A", {1});
  for (auto& attribute : *broken.graph().mutable_node(0)->mutable_attribute()) {
    if (attribute.name() == "module") attribute.set_s(module_ + "_broken");
  }
  Loaded imports(convert(broken));
  EXPECT_EQ(imports.open(services()).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(imports.text(), "importing module '" + module_ + "_broken'");
  EXPECT_CONTAINS(imports.text(),
                  "ModuleNotFoundError: No module named 'this_module_does_not_exist'");
  Loaded absent(convert(unary("NoSuchClass", {1})));
  EXPECT_EQ(absent.open(services()).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(absent.text(), "there is no class 'NoSuchClass'");
}

TEST_F(Pyop, PYOP_16_AMethodThatFailsToBeFoundSaysWhy) {
  module(R"(
class Lazy:
    @property
    def compute(self):
        raise ValueError('not yet')
)");
  Loaded loaded(convert(unary("Lazy", {1}), allowed()));
  EXPECT_EQ(loaded.open(services()).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded.text(), "ValueError: not yet");
}

TEST_F(Pyop, PYOP_16_NodesThatWereOpenedBeforeTheFailingOneAreReleased) {
  module(R"(
alive = 0
class Good:
    def __init__(self):
        global alive
        alive += 1
    def __del__(self):
        global alive
        alive -= 1
    def compute(self, x):
        return x
class Bad:
    def __init__(self):
        raise ValueError('no')
    def compute(self, x):
        return x
class Counts:
    def compute(self, x):
        return x * 0 + alive
)");
  OnnxBuilder model;
  model.input("x", {1});
  pyop(model, "Good", {"x"}, {"h"});
  pyop(model, "Bad", {"h"}, {"y"});
  declare_output(model, "h", {1}, DataType::kFloat);
  declare_output(model, "y", {1}, DataType::kFloat);
  Loaded loaded(convert(model));
  EXPECT_FALSE(loaded.open(services()).ok());
  auto counter = load(unary("Counts", {1}));
  ASSERT_TRUE(counter->run());
  EXPECT_EQ(counter->get<float>()[0], 0);
}

TEST_F(Pyop, PYOP_17_OneInstancePerNodeAndSession) {
  module(R"(
import gc, weakref
made, instances = 0, []
class Counter:
    def __init__(self):
        global made
        made += 1
        instances.append(weakref.ref(self))
        self.calls = 0
    def compute(self, x):
        self.calls += 1
        return x * 0 + self.calls
class Made:
    def compute(self, x):
        return x * 0 + made
class Alive:
    def compute(self, x):
        return x * 0 + sum(each() is not None for each in instances)
)");
  const auto ask = [this](const char* question) {
    auto loaded = load(unary(question, {1}));
    EXPECT_TRUE(loaded->run()) << loaded->text();
    return loaded->get<float>()[0];
  };
  OnnxBuilder model;
  model.input("x", {1});
  pyop(model, "Counter", {"x"}, {"a"});
  pyop(model, "Counter", {"x"}, {"b"});  // the same node twice is two instances
  declare_output(model, "a", {1}, DataType::kFloat);
  declare_output(model, "b", {1}, DataType::kFloat);
  const std::vector<std::byte> plan = convert(model);
  const float made = ask("Made");
  EXPECT_EQ(ask("Alive"), 0) << "the conversion keeps no instance";
  {
    Loaded first(plan), second(plan);
    ASSERT_TRUE(first.open(services()));
    EXPECT_EQ(ask("Made"), made + 2);
    ASSERT_TRUE(second.open(services()));
    EXPECT_EQ(ask("Made"), made + 4);
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(first.run());
      EXPECT_EQ(first.get<float>(0)[0], i);
      EXPECT_EQ(first.get<float>(1)[0], i);
    }
    ASSERT_TRUE(second.run());
    EXPECT_EQ(second.get<float>(0)[0], 1) << "sessions share no state";
    EXPECT_EQ(ask("Alive"), 4);
    second.session.close();
    EXPECT_EQ(ask("Alive"), 2);
    ASSERT_TRUE(first.run());
    EXPECT_EQ(first.get<float>(0)[0], 4);
  }
  EXPECT_EQ(ask("Alive"), 0) << "closing a session releases its instances";
}

TEST_F(Pyop, AbsentOperandsAreNone) {
  module(R"(
class Sum:
    def compute(self, a, b, c):
        assert b is None
        return (a if c is None else a + c), a * 2
)");
  for (const bool last : {true, false}) {
    OnnxBuilder model;
    model.input("a", {1});
    model.input("c", {1});
    pyop(model, "Sum", {"a", "", last ? "c" : ""}, {"y", ""});
    OnnxBuilder::set(model.node("Identity", {"c"}, {"z"}), "unused", int64_t{0});
    model.graph().mutable_node(1)->clear_attribute();
    declare_output(model, "y", {1}, DataType::kFloat);
    model.output("z");
    auto loaded = load(model);
    loaded->set<float>(0, {2});
    loaded->set<float>(1, {3});
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>()[0], last ? 5 : 2);
  }
}

TEST_F(Pyop, ShapesComeFromTheOperatorsOwnFunction) {
  module(R"(
import numpy as np
class Stack:
    def __init__(self, times):
        self.times = times
    def infer_shape(self, a, b):
        assert type(a) is tuple and type(a[0]) is int
        return [(self.times, *a), b]
    def compute(self, a, b):
        return np.stack([a] * self.times), b
class Wrong:
    def infer_shape(self, a):
        raise ValueError('no idea')
    def compute(self, a):
        return a
)");
  OnnxBuilder model;
  auto& a = model.input("a", {0, 2});
  a.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("n");
  model.input("b", {3});
  OnnxBuilder::set(pyop(model, "Stack", {"a", "b"}, {"y", "z"}), "times", int64_t{4});
  model.node("ReduceSum", {"y"}, {"s"});
  model.output("y");
  model.output("z");
  model.output("s");
  converter::ConvertOptions options = allowed();
  options.dims["n"] = converter::DimRange{1, 5};
  Loaded loaded(convert(model, options));
  ASSERT_TRUE(loaded.open(services())) << loaded.text();
  const auto planned = loaded.session.output_port(0).value().tensor.dims();
  EXPECT_EQ(std::vector<int32_t>(planned.begin(), planned.end()), (std::vector<int32_t>{4, 5, 2}));
  for (const int32_t n : {2, 5, 1}) {
    ASSERT_TRUE(loaded.session.resize_input(0, std::vector<int32_t>{n, 2}));
    loaded.set<float>(0, Floats(static_cast<size_t>(2 * n), 1));
    loaded.set<float>(1, {1, 2, 3});
    ASSERT_TRUE(loaded.run()) << loaded.text();
    EXPECT_EQ(loaded.get<float>(0).size(), static_cast<size_t>(8 * n));
    EXPECT_EQ(loaded.get<float>(2)[0], static_cast<float>(8 * n));
  }
  OnnxBuilder wrong;
  wrong.input("x", {1});
  pyop(wrong, "Wrong", {"x"}, {"y"});
  wrong.output("y");
  const std::string error = conversion_error(wrong, allowed());
  EXPECT_CONTAINS(error, "ValueError: no idea");
  EXPECT_CONTAINS(error, "--bound y=EXTENTS");
}

}  // namespace
}  // namespace intarsia::test
