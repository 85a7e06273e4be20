// SPDX-License-Identifier: Apache-2.0
//
// What operators say: warnings and failures go to the program's logger, what they print is written
// when the host closes.
#include "pyop_optional/host/python.h"  // first, as Python wants it

#include "pyop_optional/host/warnings.h"
#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

/// A logger that keeps what it is told.
struct Log {
  std::vector<std::pair<int, std::string>> warnings;

  PyLogger logger() {
    return {[](void* self, const PyWarning& warning) {
              // With Python's lock, so that this may be asked.
              EXPECT_EQ(PyErr_Occurred(), nullptr);
              static_cast<Log*>(self)->warnings.emplace_back(warning.node, warning.text);
            },
            this};
  }
};

/// Executes Python in a namespace of its own.
void execute(const std::string& code) {
  const pyop::Gil gil;
  const pyop::Ref compiled =
      pyop::checked(Py_CompileString(code.c_str(), "logger_test", Py_file_input), "code");
  const pyop::Ref names = pyop::checked(PyDict_New(), "names");
  pyop::checked(PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins()), "names");
  pyop::checked(PyEval_EvalCode(compiled.get(), names.get(), names.get()), "code");
}

TEST_F(Pyop, PYOP_23_WarningsGoToTheLogger) {
  module(R"(
import warnings
class Warns:
    def __init__(self, refuses=0):
        warnings.warn('in the constructor')
        if refuses:
            raise LookupError('not today')
    def compute(self, x):
        print('printed')
        if x[0] == 1:
            warnings.warn('careful', RuntimeWarning)
        if x[0] == 2:
            raise ValueError('two')
        if x[0] == 3:
            raise KeyboardInterrupt
        return x if x[0] < 4 else x.astype('float64')
)");
  OnnxBuilder model;
  model.input("x", {1});
  pyop(model, "Warns", {"x"}, {"h"});
  pyop(model, "Warns", {"h"}, {"y"});
  declare_output(model, "y", {1}, DataType::kFloat);
  auto* hidden = model.graph().add_value_info();
  *hidden = model.graph().output(0);
  hidden->set_name("h");
  const auto plan = convert(model);
  const char* paths[] = {folder_.c_str()};
  Log log, other;
  auto host = PyHost::start({.module_paths = paths, .logger = log.logger()});
  auto another = PyHost::start({.logger = other.logger()});
  auto silent = PyHost::start({});
  ASSERT_TRUE(host.ok() && another.ok() && silent.ok());
  const Service services[] = {host->service()}, quiet[] = {silent->service()};
  const auto take = [&log] { return std::exchange(log.warnings, {}); };
  // Each of them, not only the first from a line.
  execute("import warnings; warnings.simplefilter('always')");
  Loaded loaded(plan), unlogged(plan);
  ASSERT_TRUE(loaded.open(services)) << loaded.text();
  const auto opened = take();
  ASSERT_EQ(opened.size(), 2U);
  EXPECT_EQ(opened[0].first + opened[1].first, 1) << "either node's";
  EXPECT_CONTAINS(opened[0].second, "UserWarning: in the constructor");
  loaded.set<float>(0, {0});
  testing::internal::CaptureStderr();
  ASSERT_TRUE(loaded.run()) << loaded.text();
  EXPECT_TRUE(take().empty()) << "what is printed is no warning";
  loaded.set<float>(0, {1});
  ASSERT_TRUE(loaded.run()) << loaded.text();
  const auto warned = take();
  ASSERT_EQ(warned.size(), 2U);
  EXPECT_EQ(warned[0].first, 0);
  EXPECT_EQ(warned[1].first, 1);
  EXPECT_CONTAINS(warned[1].second, module_ + ".py:11: RuntimeWarning: careful");
  EXPECT_NE(warned[1].second.back(), '\n');
  execute("import sys; sys.stderr.flush()");
  EXPECT_CONTAINS(testing::internal::GetCapturedStderr(), "RuntimeWarning: careful")
      << "Python goes on as without a logger";
  loaded.set<float>(0, {2});
  EXPECT_EQ(loaded.run().code(), Code::kOperatorFailed);
  const auto failed = take();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].first, 0);
  EXPECT_CONTAINS(failed[0].second, module_ + ":Warns.compute raised an exception\nTraceback");
  EXPECT_CONTAINS(loaded.text(), failed[0].second);
  loaded.set<float>(0, {3});
  EXPECT_EQ(loaded.run().code(), Code::kOperatorFailed);
  EXPECT_TRUE(take().empty()) << "who stops a program knows";
  loaded.set<float>(0, {5});
  EXPECT_EQ(loaded.run().code(), Code::kWrongType);
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_CONTAINS(take()[0].second, "output 0: expected float32, got float64");
  // A session of another host, and the program itself.
  ASSERT_TRUE(unlogged.open(quiet)) << unlogged.text();
  execute("import warnings; warnings.warn('the program')");
  EXPECT_TRUE(take().empty());
  EXPECT_TRUE(other.warnings.empty());
  // Where opening fails.
  OnnxBuilder refusing = unary("Warns", {1});
  OnnxBuilder::set(*refusing.graph().mutable_node(0), "refuses", int64_t{1});
  Loaded refused(convert(refusing));
  EXPECT_EQ(refused.open(services).code(), Code::kOperatorFailed);
  const auto refusal = take();
  ASSERT_EQ(refusal.size(), 2U);
  EXPECT_CONTAINS(refusal[1].second, "LookupError: not today");
  execute("import warnings; warnings.resetwarnings()");
}

/// An operator may run a session: behind it, warnings are its own again.
TEST_F(Pyop, PYOP_23_OperatorsMayBeNested) {
  services();
  const pyop::Gil gil;
  pyop::watch_warnings();
  Log outer_log, inner_log;
  const PyLogger outer_logger = outer_log.logger(), inner_logger = inner_log.logger();
  const auto warn = [](const std::string& text) {
    execute("import warnings\nwarnings.simplefilter('always')\nwarnings.warn('" + text + "')");
  };
  testing::internal::CaptureStderr();
  {
    const pyop::Called outer(outer_logger, 3);
    {
      const pyop::Called inner(inner_logger, 4);
      warn("inside");
    }
    warn("outside");
  }
  warn("nowhere");
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(inner_log.warnings.size(), 1U);
  EXPECT_EQ(inner_log.warnings[0].first, 4);
  ASSERT_EQ(outer_log.warnings.size(), 1U);
  EXPECT_EQ(outer_log.warnings[0].first, 3);
  EXPECT_CONTAINS(outer_log.warnings[0].second, "outside");
  execute("import warnings; warnings.resetwarnings()");
}

/// A program may end without finalising Python: what operators printed is not lost.
TEST_F(Pyop, WhatOperatorsPrintedIsWrittenWhenTheHostCloses) {
  module(
      "import io, sys\n"
      "class Prints:\n    def compute(self, x):\n"
      "        for name in ('stdout', 'stderr'):\n"
      "            print(name, end='', file=getattr(sys, name))\n        return x\n");
  services();
  const auto stream = [this](const char* name) {
    execute("import io, sys\nsys." + std::string(name) +
            " = io.TextIOWrapper(io.BufferedWriter(io.FileIO('" + (folder_ / name).string() +
            "', 'w')))");
  };
  const auto written = [this](const char* name) {
    std::ifstream file(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  stream("stdout");
  stream("stderr");
  {
    const auto loaded = load(unary("Prints", {1}));
    loaded->set<float>(0, {0});
    ASSERT_TRUE(loaded->run()) << loaded->text();
  }
  EXPECT_EQ(written("stdout"), "");  // buffered
  host_.close();
  EXPECT_EQ(written("stdout"), "stdout");
  EXPECT_EQ(written("stderr"), "stderr");
  execute("import sys\nsys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__");
}

}  // namespace
}  // namespace intarsia::test
