// SPDX-License-Identifier: Apache-2.0
//
// The interpreter and the host program: search path, threads, the life of a PyHost, and that work
// without Python goes on meanwhile.

#include <atomic>
#include <chrono>
#include <thread>

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
  std::filesystem::current_path(here);
  for (const auto& [plan, expected] : {std::pair(a, 1.0f), {b, 4.0f}, {c, 0.0f}}) {
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
)");
  ASSERT_TRUE(load(unary("Hide", {2}))->run());
  host_.close();
  service_ = {};
  auto twice = load(unary("Twice", {2}));
  twice->set<float>(0, {1, 4});
  EXPECT_TRUE(twice->run()) << twice->text();
  EXPECT_EQ(twice->get<float>(), (Floats{2, 8}));
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

}  // namespace
}  // namespace intarsia::test
