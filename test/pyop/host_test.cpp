// SPDX-License-Identifier: Apache-2.0
//
// The interpreter and the host program: search path, threads, the life of a PyHost, and that work
// without Python goes on meanwhile.
#include "pyop_optional/host/python.h"  // first, as Python wants it

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pyop_optional/host/node_attributes.h"
#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

TEST_F(Pyop, PYOP_19_GivenDirectoriesComeFirstTheWorkingDirectoryLast) {
  // The same module in two given directories and in the working one; and one that is only there.
  const auto first = folder_ / "first", second = folder_ / "second", here = folder_ / "here";
  for (const auto& folder : {first, second, here}) std::filesystem::create_directories(folder);
  const auto source = [](int number) {
    return "class A:\n    def compute(self, x):\n        return x * 0 + " + std::to_string(number) +
           "\n";
  };
  write("first/" + module_ + ".py", source(1));
  write("second/" + module_ + ".py", source(2));
  write("here/" + module_ + ".py", source(3));
  write("here/" + module_ + "_here.py", source(4));
  write("here/json.py", "raise RuntimeError('shadows the library')\n");
  module(
      "class Path:\n    def compute(self, x):\n        import json, sys\n"
      "        path = sys.path\n"
      "        assert path[-1] == '', path\n        return x\n");
  std::filesystem::rename(folder_ / (module_ + ".py"), folder_ / (module_ + "_path.py"));
  const auto named = [this](const std::string& module, const char* type = "A") {
    OnnxBuilder model = unary(type, {1});
    for (auto& attribute : *model.graph().mutable_node(0)->mutable_attribute()) {
      if (attribute.name() == "module") attribute.set_s(module);
    }
    return model;
  };
  // The models declare their shapes, so that the conversion need not find the modules.
  converter::ConvertOptions options;
  options.library = converter::load_operators({}, {{"allow-pyop", ""}});
  const auto a = convert(named(module_), options), b = convert(named(module_ + "_here"), options),
             c = convert(named(module_ + "_path", "Path"), options);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(here);
  paths_ = {"../first", second.string(), folder_.string()};
  services();
  // A given directory is what it was when the host was started.
  const auto elsewhere = folder_ / "some" / "where" / "else";
  std::filesystem::create_directories(elsewhere);
  for (const auto& [plan, expected] : {std::pair(a, 1.0f), {b, 4.0f}, {c, 0.0f}}) {
    std::filesystem::current_path(expected == 1 ? elsewhere : here);
    Loaded loaded(plan);
    ASSERT_TRUE(loaded.open(services())) << loaded.text();
    loaded.set<float>(0, {0});
    ASSERT_TRUE(loaded.run()) << loaded.text();
    EXPECT_EQ(loaded.get<float>()[0], expected);
  }
  std::filesystem::current_path(before);
  host_.close();
  Diagnostic diagnostic;
  const char* missing[] = {"/no/such/directory"};
  EXPECT_EQ(PyHost::start({.module_paths = missing}, &diagnostic).status().code(),
            Code::kInvalidArgument);
  EXPECT_CONTAINS(tool::describe_text(diagnostic, {}), "'/no/such/directory' is not a directory");
}

TEST_F(Pyop, PYOP_19_GivenDirectoriesComeBeforeTheStandardLibrary) {
  // A module of the standard library that nothing here has loaded.
  module_ = "colorsys";
  module("class A:\n    def compute(self, x):\n        return x + 7\n");
  // The model declares its shapes: the conversion does not load the module.
  converter::ConvertOptions options;
  options.library = converter::load_operators({}, {{"allow-pyop", ""}});
  const auto plan = convert(unary("A", {1}), options);
  const auto forget = [] {
    const pyop::Gil gil;
    const bool loaded = PyDict_DelItemString(PyImport_GetModuleDict(), "colorsys") == 0;
    PyErr_Clear();
    return loaded;
  };
  forget();
  Loaded loaded(plan);
  EXPECT_TRUE(loaded.open(services())) << loaded.text();
  EXPECT_TRUE(loaded.run()) << loaded.text();
  loaded.session.close();
  host_.close();
  EXPECT_TRUE(forget());
  // Without the directory it is the library's.
  const auto bare = PyHost::start({});
  ASSERT_TRUE(bare.ok());
  const Service service = bare->service();
  EXPECT_EQ(loaded.open({&service, 1}).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded.text(), "module 'colorsys': there is no class 'A'");
  EXPECT_TRUE(forget());
}

TEST_F(Pyop, PYOP_19_TheWorkingDirectoryIsSearchedUnlessTheProgramDoesNotWantThat) {
  services();
  host_.close();
  using Entries = std::vector<std::string>;
  const auto entries = [] {
    const pyop::Gil gil;
    PyObject* path = PySys_GetObject("path");
    Entries found;
    for (Py_ssize_t i = 0; i < PyList_Size(path); ++i) {
      found.push_back(pyop::utf8(PyList_GetItem(path, i)));
    }
    return found;
  };
  const Entries before = entries();
  EXPECT_EQ(std::count(before.begin(), before.end(), ""), 0) << "a host has left it behind";
  Entries with = before;
  with.emplace_back();
  {
    const auto without = PyHost::start({.working_directory = false});
    ASSERT_TRUE(without.ok());
    EXPECT_EQ(entries(), before);
    auto first = PyHost::start({}), second = PyHost::start({});
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(entries(), with) << "once for all hosts";
    first->close();
    EXPECT_EQ(entries(), with) << "the other one needs it still";
    first = PyHost::start({});
    second->close();
    EXPECT_EQ(entries(), with);
  }
  EXPECT_EQ(entries(), before) << "it goes with the last one";
  // A program's own entry stays.
  const auto change = [](const char* code) {
    const pyop::Gil gil;
    const auto compiled = pyop::checked(Py_CompileString(code, "test", Py_file_input), "code");
    const auto names = pyop::checked(PyDict_New(), "names");
    pyop::checked(PyEval_EvalCode(compiled.get(), names.get(), names.get()), code);
  };
  change("import sys; sys.path.insert(0, '')");
  const Entries own = entries();
  {
    const auto host = PyHost::start({});
    EXPECT_EQ(entries().size(), own.size() + 1);
    change("import sys; sys.path.remove('')");
    EXPECT_EQ(entries(), with) << "who has removed it has no use for the host's";
    change("import sys; sys.path.insert(0, '')");
  }
  EXPECT_EQ(entries(), own);
  change("import sys; del sys.path[0]");
  // One that comes later is not taken for the host's.
  {
    const auto host = PyHost::start({});
    change("import sys; sys.path.insert(0, '')");
  }
  EXPECT_EQ(entries(), own);
  change("import sys; del sys.path[0]");
  EXPECT_EQ(entries(), before);
}

TEST_F(Pyop, PYOP_19_SessionsMayOutliveTheirHost) {
  module("class A:\n    def compute(self, x):\n        import os\n        return x + 1\n");
  auto loaded = load(unary("A", {1}));
  host_.close();
  for (int i = 0; i < 2; ++i) {
    loaded->set<float>(0, {1});
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(), (Floats{2}));
  }
  loaded.reset();
  service_ = {};
  // The interpreter is still there for the next one.
  auto again = load(unary("A", {1}));
  EXPECT_TRUE(again->run()) << again->text();
}

TEST_F(Pyop, PYOP_19_GivenDirectoriesAreTakenOutOfTheSearchPath) {
  module(R"(
import sys
class Count:
    def __init__(self, folder):
        self.folder = folder
    def compute(self, x):
        return x * 0 + sum(each == self.folder for each in sys.path)
)");
  OnnxBuilder model = unary("Count", {1});
  const std::string folder = folder_.string();
  OnnxBuilder::set(*model.graph().mutable_node(0), "folder", folder.c_str());
  const auto plan = convert(model);
  const auto count = [&](std::span<const Service> permission) {
    Loaded loaded(plan);
    EXPECT_TRUE(loaded.open(permission)) << loaded.text();
    EXPECT_TRUE(loaded.run()) << loaded.text();
    return loaded.get<float>()[0];
  };
  // The module is loaded by now; a host without directories sees what the others leave behind. The
  // conversion's plug-in is a host as well.
  auto plain = PyHost::start({});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(count(services()), 1);
  const Service bare[] = {plain.value().service()};
  EXPECT_EQ(count(bare), 1) << "the path is the process's";
  auto open = std::make_unique<Loaded>(plan);
  ASSERT_TRUE(open->open(services()));
  host_.close();
  EXPECT_EQ(count(bare), 1) << "a session needs its directories still";
  open.reset();
  EXPECT_EQ(count(bare), 0);
  service_ = {};
}

TEST_F(Pyop, PYOP_17_ResetStatesMakesNewInstances) {
  module(R"(
import weakref
instances = []
class Counter:
    def __init__(self):
        instances.append(weakref.ref(self))
        self.calls = 0
    def compute(self, x):
        self.calls += 1
        return x * 0 + self.calls + 10 * sum(each() is not None for each in instances)
)");
  auto loaded = load(unary("Counter", {1}));
  for (const float expected : {11, 12}) {
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>()[0], expected);
  }
  ASSERT_TRUE(loaded->session.reset_states());
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>()[0], 11);
  // Without the permission no instance is made any more.
  host_.close();
  ASSERT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->session.reset_states().code(), Code::kUnsupported);
  EXPECT_FALSE(loaded->run());
  EXPECT_EQ(loaded->session.reset_states().code(), Code::kUnsupported);
  Loaded late(convert(unary("Counter", {1})));
  EXPECT_EQ(late.open(services()).code(), Code::kUnsupported) << "a host that is closed stays so";
  service_ = {};
}

TEST_F(Pyop, PYOP_18_ForksWhileAnotherThreadIsInPython) {
  module(R"(
import time
class Holds:
    def compute(self, x):
        end = time.time() + 1
        while time.time() < end:
            pass
        return x
class Twice:
    def compute(self, x):
        import threading
        assert threading.current_thread() is threading.main_thread()
        return x * 2
)");
  const auto holds = convert(unary("Holds", {1})), twice = convert(unary("Twice", {1}));
  const auto permission = services();
  Loaded holder(holds), before(twice);
  ASSERT_TRUE(holder.open(permission));
  ASSERT_TRUE(before.open(permission));
  std::thread thread([&] { ASSERT_TRUE(holder.run()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs is ended
    const auto doubles = [](Loaded& loaded) {
      loaded.set<float>(0, {3});
      return loaded.run().ok() && loaded.get<float>()[0] == 6;
    };
    Loaded after(twice);
    _exit(doubles(before) && after.open(permission).ok() && doubles(after) ? 0 : 1);
  }
  thread.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  // The parent goes on.
  before.set<float>(0, {4});
  ASSERT_TRUE(before.run()) << before.text();
  EXPECT_EQ(before.get<float>()[0], 8);
}

TEST_F(Pyop, PYOP_18_OperatorsMayFork) {
  module(R"python(
import os, subprocess, sys
forks = []
os.register_at_fork(after_in_child=lambda: forks.append("child"))
class Forks:
    def compute(self, x):
        child = os.fork()
        if child == 0:
            os._exit(3 if forks == ["child"] else 4)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = subprocess.run([sys.executable, "-c", "print(7)"], capture_output=True,
                              preexec_fn=lambda: None).stdout
        return x * 0 + 10 * code + int(text)
)python");
  auto forks = load(unary("Forks", {1}));
  ASSERT_TRUE(forks->run()) << forks->text();
  EXPECT_EQ(forks->get<float>()[0], 37);
}

TEST_F(Pyop, PYOP_18_ThreadsThatPythonDoesNotKnow) {
  module("class A:\n    def compute(self, x):\n        return x * 2\n");
  const std::vector<std::byte> plan = convert(unary("A", {1}));
  const auto permission = services();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      Loaded loaded(plan);
      ASSERT_TRUE(loaded.open(permission)) << loaded.text();
      for (int run = 0; run < 100; ++run) {
        loaded.set<float>(0, {static_cast<float>(thread + run)});
        ASSERT_TRUE(loaded.run()) << loaded.text();
        ASSERT_EQ(loaded.get<float>()[0], 2.0f * static_cast<float>(thread + run));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Pyop, OFK_14_OtherThreadsGoOnWhileAnOperatorSleeps) {
  module(R"(
import time
class Sleeps:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        time.sleep(0.5)
        return args[0]
class Quick:
    inputs, outputs = ["x"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def forward(self, args):
        return args[0] + 1
)");
  converter::ConvertOptions options;
  options.library = converter::load_operators({(folder_ / (module_ + ".py")).string()}, {});
  const auto plan_of = [&](const char* type) {
    OnnxBuilder model;
    model.input("x", {1});
    model.node(type, {"x"}, {"h"});
    model.node("Neg", {"h"}, {"y"});
    model.output("y");
    return convert(model, options);
  };
  const auto sleeps = plan_of("Sleeps"), quick = plan_of("Quick");
  const auto permission = services();
  std::atomic<bool> sleeping{false}, done{false};
  std::thread sleeper([&] {
    Loaded loaded(sleeps);
    ASSERT_TRUE(loaded.open(permission));
    sleeping = true;
    ASSERT_TRUE(loaded.run()) << loaded.text();
    done = true;
  });
  while (!sleeping) std::this_thread::yield();
  // Eight threads of quick operators finish while the slow one is in its call.
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      Loaded loaded(quick);
      ASSERT_TRUE(loaded.open(permission));
      loaded.set<float>(0, {4});
      ASSERT_TRUE(loaded.run()) << loaded.text();
      EXPECT_EQ(loaded.get<float>()[0], -5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(done) << "the quick operators waited for the slow one";
  sleeper.join();
  EXPECT_TRUE(done);
}

TEST_F(Pyop, WithoutNumpyInputsAreMemoryviews) {
  module(R"(
import array, sys
numpy = sys.modules.get("numpy")
class Hide:
    def compute(self, x):
        sys.modules["numpy"] = None  # import of numpy fails from now on
        return x
class Show:
    def compute(self, x):
        sys.modules["numpy"] = numpy
        return x
class Twice:
    def compute(self, x):
        assert type(x) is memoryview and x.readonly, type(x)
        assert x.shape == (2,) and x.format == "f", (x.shape, x.format)
        return array.array("f", [2 * v for v in x])
kept = []
class Keeps:
    def compute(self, x):
        kept.extend([x, x[1:]])
        return array.array("f", x)
class Released:
    def compute(self, x):
        for each in kept:
            try:
                each[0]
            except ValueError:
                continue
            raise AssertionError("it can be read")
        return array.array("f", [len(kept)] * 2)
)");
  ASSERT_TRUE(load(unary("Hide", {2}))->run());
  host_.close();
  service_ = {};
  auto twice = load(unary("Twice", {2}));
  twice->set<float>(0, {1, 4});
  EXPECT_TRUE(twice->run()) << twice->text();
  EXPECT_EQ(twice->get<float>(), (Floats{2, 8}));
  EXPECT_EQ(load(unary("Keeps", {2}))->run().code(), Code::kOperatorFailed);
  auto released = load(unary("Released", {2}));
  EXPECT_TRUE(released->run()) << released->text();
  EXPECT_EQ(released->get<float>(), (Floats{2, 2}));
  ASSERT_TRUE(load(unary("Show", {2}))->run());
}

TEST_F(Pyop, OFK_14_NativeNodesRunWithoutTheLock) {
  // A node that is no Python operator is observed while another thread holds the GIL in a loop.
  module(R"(
import time
class Holds:
    def compute(self, x):
        end = time.time() + 0.3
        while time.time() < end:
            pass
        return x
)");
  const auto holds = convert(unary("Holds", {1}));
  OnnxBuilder native;
  native.input("x", {1});
  native.node("Neg", {"x"}, {"y"});
  native.output("y");
  const auto negates = convert(native);
  const auto permission = services();
  Loaded holder(holds), runner(negates);
  ASSERT_TRUE(holder.open(permission));
  ASSERT_TRUE(runner.open(permission));
  std::atomic<bool> done{false};
  std::thread thread([&] {
    ASSERT_TRUE(holder.run());
    done = true;
  });
  int runs = 0;
  while (!done) {
    ASSERT_TRUE(runner.run());
    ++runs;
  }
  thread.join();
  EXPECT_GT(runs, 100);
}

/// What a plan holds of a node is read as it was written, or not at all.
TEST(NodeAttributes, PYOP_4_DamagedOnesAreRefused) {
  pyop::NodeAttributes node;
  node.module = "m";
  node.method = "compute";
  node.inputs = node.outputs = {DataType::kFloat};
  const float elements[] = {1, 2, 3};
  node.values["table"] = definitions::TensorValue{
      DataType::kFloat,
      {3},
      std::shared_ptr<const std::byte>(std::shared_ptr<void>(),
                                       reinterpret_cast<const std::byte*>(elements)),
      sizeof(elements)};
  std::vector<std::byte> bytes = node.encode();
  ASSERT_TRUE(pyop::NodeAttributes::decode(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(pyop::NodeAttributes::decode(std::span(bytes).first(size))) << size;
  }
  bytes.push_back({});
  EXPECT_FALSE(pyop::NodeAttributes::decode(bytes)) << "more than there is";
  bytes.pop_back();
  // The tensor's extent stands in front of its size, of eight bytes, and its elements.
  std::byte& extent = bytes[bytes.size() - sizeof(elements) - 16];
  ASSERT_EQ(extent, std::byte{3});
  extent = std::byte{2};
  EXPECT_FALSE(pyop::NodeAttributes::decode(bytes)) << "extents that are not those of the elements";
}

TEST(NodeAttributes, PYOP_4_StringsAreReadWithinTheirCharacters) {
  using definitions::TensorValue;
  const StringRef refs[] = {{1, 2}, {0, 0}, {2, 1}, {3, 1}, {2, 2}, {UINT32_MAX, 2}, {4, 0}};
  const auto all = std::make_shared<const std::string>("abc");
  const auto encoded = [&refs](std::shared_ptr<const std::string> characters) {
    pyop::NodeAttributes node;
    node.module = "m";
    node.method = "compute";
    node.inputs = node.outputs = {DataType::kString};
    node.values["words"] =
        TensorValue{DataType::kString,
                    {7},
                    std::shared_ptr<const std::byte>(std::shared_ptr<void>(),
                                                     reinterpret_cast<const std::byte*>(refs)),
                    sizeof(refs),
                    std::move(characters)};
    return node.encode();
  };
  // Behind any number of bytes: the strings have an address of their own that suits them.
  std::vector<std::byte> bytes = encoded(all);
  for (int shift = 0; shift < 8; ++shift) {
    std::vector<std::byte> moved(static_cast<size_t>(shift));
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    const auto decoded =
        pyop::NodeAttributes::decode(std::span(moved).subspan(moved.size() - bytes.size()));
    ASSERT_TRUE(decoded);
    const auto& words = std::get<TensorValue>(decoded->values.at("words"));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(words.data.get()) % alignof(StringRef), 0u);
    std::vector<std::string_view> texts;
    for (size_t i = 0; i < std::size(refs); ++i) {
      texts.push_back(words.text(reinterpret_cast<const StringRef*>(words.data.get())[i]));
    }
    EXPECT_EQ(texts, (std::vector<std::string_view>{"bc", "", "c", "", "", "", ""}));
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(pyop::NodeAttributes::decode(std::span(bytes).first(size))) << size;
  }
  bytes = encoded(nullptr);
  const auto decoded = pyop::NodeAttributes::decode(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<TensorValue>(decoded->values.at("words")).text({0, 1}), "");
}

}  // namespace
}  // namespace intarsia::test
