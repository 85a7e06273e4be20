// SPDX-License-Identifier: Apache-2.0
//
// Every code of status.h: the exact sentence of `describe`, after a call that really fails with it.
// Calls with a mistake in their arguments have more cases in errors_test.cpp.
#include <set>

#include "intarsia/describe.h"

#include "test/kernels/common/kernel_rows.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::DimRange;
using converter::OnnxBuilder;

/// A failure: its code, and the sentence about the diagnostic that it left.
struct Failure {
  Code code = Code::kOk;
  std::string text;
  bool operator==(const Failure&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Failure& failure) {
  return stream << code_name(failure.code) << " \"" << failure.text << "\"";
}

/// Fills the inputs and runs; a plan that does not open fails with what `open` said.
template <class Fill>
Failure run_failure(SmallPlan& plan, const Fill& fill, const SessionOptions& options = {}) {
  auto session = plan.open(options);
  if (!session.ok()) return {session.status().code(), plan.text(plan.diagnostic)};
  fill(*session);
  const Status status = session->run();
  return {status.code(), plan.text(session->diagnostic())};
}

Failure open_failure(SmallPlan& plan, std::span<const std::byte> bytes, std::span<std::byte> arena,
                     const KernelSet& kernels = tool::all_kernels()) {
  Diagnostic diagnostic;
  const Status status = Session::open(bytes, arena, kernels, {}, &diagnostic).status();
  return {status.code(), plan.text(diagnostic)};
}

template <class T>
void set(Session& session, int input, const std::vector<T>& values) {
  const auto span = session.input<T>(input).value();
  ASSERT_EQ(span.size(), values.size());
  std::copy(values.begin(), values.end(), span.begin());
}

TEST(Codes, OkAfterASuccessfulRun) {
  SmallPlan plan(mlp());
  EXPECT_EQ(run_failure(plan,
                        [](Session& s) {
                          write(s, 0, {1, 2, 3});
                        }),
            (Failure{Code::kOk, "no error"}));
}

TEST(Codes, OkAfterAFailureThatWasMended) {
  OnnxBuilder model;
  model.input("a", {1}, DataType::kInt32);
  model.input("b", {1}, DataType::kInt32);
  model.output("y");
  model.node("Div", {"a", "b"}, {"y"});
  SmallPlan plan(model);
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  set<int32_t>(*session, 0, {6});
  set<int32_t>(*session, 1, {0});
  EXPECT_EQ(session->run().code(), Code::kDivisionByZero);
  set<int32_t>(*session, 1, {2});
  EXPECT_TRUE(session->run().ok());
  EXPECT_EQ(plan.text(session->diagnostic()), "no error");
}

TEST(Codes, InvalidArgument) {
  SmallPlan plan(mlp());
  EXPECT_EQ(run_failure(
                plan, [](Session&) {},
                [] {
                  static const Parallel kThree{nullptr, 3, nullptr};
                  SessionOptions options;
                  options.parallel = &kThree;
                  return options;
                }()),
            (Failure{Code::kInvalidArgument, "threads: expected 1, found 3"}));
  auto session = plan.open();
  EXPECT_EQ(session->run(1).code(), Code::kInvalidArgument);
  EXPECT_EQ(plan.text(session->diagnostic()), "entry point (at most): expected 0, found 1");
  session->close();
  EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
  EXPECT_EQ(plan.text(session->diagnostic()), "session is not open");
  // Half a vector register behind the alignment of a plan.
  tool::AlignedBytes shifted(plan.plan().size() + 16);
  std::memcpy(shifted.span().data() + 16, plan.plan().data(), plan.plan().size());
  EXPECT_EQ(
      open_failure(plan, shifted.span().subspan(16), plan.arena()),
      (Failure{Code::kInvalidArgument, "alignment of the plan's bytes: expected 64, found 16"}));
}

TEST(Codes, NotAPlan) {
  SmallPlan plan(mlp());
  const auto fails = [&](std::span<const std::byte> bytes) {
    EXPECT_EQ(open_failure(plan, bytes, plan.arena()),
              (Failure{Code::kNotAPlan,
                       "magic number; these bytes are not a plan; make one with `intarsia convert "
                       "MODEL.onnx -o OUT.plan`"}));
  };
  fails({});
  fails(plan.plan().first(7));
  plan.plan()[3] = std::byte{'X'};
  fails(plan.plan());
}

TEST(Codes, UnsupportedVersion) {
  SmallPlan plan(mlp());
  plan.plan()[8] = std::byte{2};
  EXPECT_EQ(open_failure(plan, plan.plan(), plan.arena()),
            (Failure{Code::kUnsupportedVersion,
                     "plan format version: expected 1, found 2; convert the model with the "
                     "converter of this library's version, or update the library"}));
}

TEST(Codes, TruncatedPlan) {
  SmallPlan plan(mlp());
  const size_t whole = plan.plan().size();
  EXPECT_EQ(open_failure(plan, plan.plan().first(40), plan.arena()),
            (Failure{Code::kTruncatedPlan,
                     "plan header bytes: expected 64, found 40; the file is incomplete; copy or "
                     "convert it again"}));
  EXPECT_EQ(open_failure(plan, plan.plan().first(whole - 1), plan.arena()),
            (Failure{Code::kTruncatedPlan, "plan bytes: expected " + std::to_string(whole) +
                                               ", found " + std::to_string(whole - 1) +
                                               "; the file is incomplete; copy or convert it "
                                               "again"}));
}

TEST(Codes, CorruptPlan) {
  SmallPlan plan(mlp());
  plan.plan()[100] ^= std::byte{1};
  EXPECT_EQ(open_failure(plan, plan.plan(), plan.arena()),
            (Failure{Code::kCorruptPlan,
                     "checksum of the plan; the plan is damaged; convert the model again"}));
}

TEST(Codes, MissingKernelAndShapeFunction) {
  OnnxBuilder model;
  symbol(model.input("x", {0}), 0, "n");
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  ConvertOptions options;
  options.dims["n"] = DimRange{1, 4};
  SmallPlan plan(model, options);
  EXPECT_EQ(open_failure(plan, plan.plan(), plan.arena(), {}),
            (Failure{Code::kMissingKernel,
                     "node 0 'Relu1' (Relu): kernel Relu<float> not in this build; "
                     "add it to the program's kernel_set, "
                     "or use the set that the converter emitted"}));
  KernelSet kernels = tool::all_kernels();
  kernels.shapes = {};
  const Failure failure = open_failure(plan, plan.plan(), plan.arena(), kernels);
  EXPECT_EQ(failure.code, Code::kMissingKernel);
  // Shape functions are known by their keys only.
  const std::string start = "node 0 'Relu1' (Relu): shape function 0x";
  EXPECT_EQ(failure.text.rfind(start, 0), 0u) << failure.text;
  EXPECT_EQ(
      failure.text.substr(start.size() + strlen("0123456789abcdef")),
      " not in this build; add it to the program's kernel_set, or use the set that the converter "
      "emitted");
}

TEST(Codes, ArenaTooSmallAndMisaligned) {
  SmallPlan plan(mlp());
  const std::string bytes = std::to_string(plan.arena().size());
  EXPECT_EQ(open_failure(plan, plan.plan(), plan.arena().first(64)),
            (Failure{Code::kArenaTooSmall, "arena bytes: expected " + bytes +
                                               ", found 64; give the arena at least "
                                               "PlanInfo::arena_bytes"}));
  EXPECT_EQ(open_failure(plan, plan.plan(), plan.arena().subspan(4)),
            (Failure{Code::kArenaMisaligned,
                     "alignment of the arena: expected 64, found 4; align the arena to "
                     "kArenaAlignment"}));
}

TEST(Codes, UnknownName) {
  SmallPlan plan(mlp());
  auto session = plan.open();
  EXPECT_EQ(session->find_output("z").status().code(), Code::kUnknownName);
  EXPECT_EQ(plan.text(session->diagnostic()), "output 'z' is not known");
  EXPECT_EQ(session->find_entry("train").status().code(), Code::kUnknownName);
  EXPECT_EQ(plan.text(session->diagnostic()), "entry point 'train' is not known");
}

TEST(Codes, WrongTypeRankAndExtent) {
  SmallPlan plan(mlp());
  auto session = plan.open();
  EXPECT_EQ(session->output<Float16>(0).status().code(), Code::kWrongType);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "element type: expected float, found float16; use the element type of the model");
  EXPECT_EQ(session->resize_input(0, std::array<int32_t, 3>{1, 1, 3}).code(), Code::kWrongRank);
  EXPECT_EQ(plan.text(session->diagnostic()), "input rank, operand 0: expected 2, found 3");
  EXPECT_EQ(session->resize_input(0, std::array<int32_t, 2>{2, 3}).code(), Code::kWrongExtent);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "input extent, operand 0, axis 0: expected 1, found 2");
}

TEST(Codes, IndexOutOfRange) {
  OnnxBuilder model;
  model.input("i", {2}, DataType::kInt64);
  model.output("y");
  model.floats("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  model.node("Gather", {"table", "i"}, {"y"});
  SmallPlan plan(model);
  EXPECT_EQ(run_failure(plan,
                        [](Session& s) {
                          set<int64_t>(s, 0, {1, -4});
                        }),
            (Failure{Code::kIndexOutOfRange,
                     "node 0 'Gather1' (Gather): index out of range, operand 1, axis 0: expected "
                     "3, found -4"}));
}

TEST(Codes, DivisionByZero) {
  OnnxBuilder model;
  model.input("a", {2}, DataType::kInt32);
  model.input("b", {2}, DataType::kInt32);
  model.output("y");
  model.node("Div", {"a", "b"}, {"y"});
  SmallPlan plan(model);
  EXPECT_EQ(run_failure(plan,
                        [](Session& s) {
                          set<int32_t>(s, 0, {1, 2});
                          set<int32_t>(s, 1, {1, 0});
                        }),
            (Failure{Code::kDivisionByZero, "node 0 'Div1' (Div): integer divisor, operand 1"}));
}

TEST(Codes, InvalidValue) {
  OnnxBuilder model;
  for (const char* name : {"start", "limit", "delta"}) model.input(name, {}, DataType::kInt64);
  model.output("y");
  model.node("Range", {"start", "limit", "delta"}, {"y"});
  ConvertOptions options;
  options.bounds["y"] = {8};
  SmallPlan plan(model, options);
  EXPECT_EQ(run_failure(plan,
                        [](Session& s) {
                          set<int64_t>(s, 0, {1});
                          set<int64_t>(s, 1, {5});
                          set<int64_t>(s, 2, {0});
                        }),
            (Failure{Code::kInvalidValue, "node 0 'Range1' (Range): delta 0, operand 2"}));
  // The bound is a promise that the data may break.
  EXPECT_EQ(run_failure(plan,
                        [](Session& s) {
                          set<int64_t>(s, 0, {0});
                          set<int64_t>(s, 1, {9});
                          set<int64_t>(s, 2, {1});
                        })
                .code,
            Code::kWrongExtent);
}

TEST(Codes, Contradiction) {
  OnnxBuilder model;
  model.input("condition", {}, DataType::kBool);
  model.input("x", {2, 3});
  model.output("y");
  model.floats("four", {4}, {1, 2, 3, 4});
  auto& node = model.node("If", {"condition"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(node, branch, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(branch);
    const char* other = branch[0] == 't' ? "x" : "four";
    OnnxBuilder::add_node(*graph.mutable_node(), "Add", {"x", other}, {branch});
    graph.add_output()->set_name(branch);
  }
  SmallPlan plan(model);
  const auto with = [&](bool condition) {
    return run_failure(plan, [&](Session& s) {
      s.input<bool>(0).value()[0] = condition;
      set<float>(s, 1, {1, 2, 3, 4, 5, 6});
    });
  };
  EXPECT_EQ(with(true), (Failure{Code::kOk, "no error"}));
  EXPECT_EQ(
      with(false),
      (Failure{
          Code::kContradiction,
          "node 2 'If1_else_branch_1' (intarsia:Contradiction): branch contradicts itself at the "
          "planned extents: node 'Add1_1' (Add): extent does not broadcast of input 1, axis 0: "
          "expected 3, "
          "found 4; give values that choose another branch, or convert the model for other "
          "extents"}));
}

TEST(Codes, InvalidRatioInTraining) {
  OnnxBuilder model;
  model.input("x", {3});
  model.input("training", {}, DataType::kBool);
  model.output("y");
  model.floats("ratio", {}, {1.5f});
  model.node("Dropout", {"x", "ratio", "training"}, {"y"});
  SmallPlan plan(model);
  EXPECT_EQ(run_failure(plan,
                        [](Session& s) {
                          write(s, 0, {1, 2, 3});
                          s.input<bool>(1).value()[0] = true;
                        }),
            (Failure{Code::kInvalidValue,
                     "node 0 'Dropout1' (Dropout): ratio, which has to lie in [0, 1), operand 1: "
                     "expected 0, found 1"}));
}

TEST(Codes, Unsupported) {
  OnnxBuilder model;
  model.input("x", {3}, DataType::kString);
  model.output("y");
  model.node("StringConcat", {"x", "x"}, {"y"});
  SmallPlan plan(model);
  const KernelSet kernels{tool::all_kernels().kernels, tool::all_kernels().shapes};
  Diagnostic diagnostic;
  const Status status =
      Session::open_trusted(plan.plan(), plan.arena(), kernels, {}, &diagnostic).status();
  EXPECT_EQ((Failure{status.code(), plan.text(diagnostic)}),
            (Failure{Code::kUnsupported, "a plan with strings needs KernelSet::with_strings()"}));
}

TEST(Codes, BusyComesWithoutADiagnosticOfItsOwn) {
  SmallPlan plan(mlp());
  struct Inner {
    Session* session = nullptr;
    Status status;
  } inner;
  // A run inside a run stands for one in another thread: the session is busy for both.
  const Observer observer{&inner,
                          [](void* self, const KernelContext&) {
                            auto& state = *static_cast<Inner*>(self);
                            state.status = state.session->run();
                          },
                          nullptr};
  SessionOptions options;
  options.observer = &observer;
  const Failure outer = run_failure(
      plan, [&](Session& session) { inner.session = &session; }, options);
  EXPECT_EQ(outer, (Failure{Code::kOk, "no error"}));
  ASSERT_EQ(inner.status.code(), Code::kBusy);
  Diagnostic diagnostic;
  diagnostic.code = inner.status.code();
  EXPECT_EQ(plan.text(diagnostic),
            "the session is running in another thread; open one session per thread");
}

TEST(Codes, OperatorFailed) {
  SmallPlan plan(mlp());
  const KernelSet all = tool::all_kernels();
  RowSet<Kernel> kernels(copies(all.kernels));
  for (Kernel& kernel : kernels.rows()) {
    kernel.run = [](const KernelContext&) { return Status(Code::kOperatorFailed); };
  }
  auto session = Session::open(plan.plan(), plan.arena(), {kernels.span(), all.shapes});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->run().code(), Code::kOperatorFailed);
  EXPECT_EQ(plan.text(session->diagnostic()), "node 0 'Gemm1' (intarsia:Gemm): operator failed");
}

TEST(Codes, EachHasAName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(Code::kTooManyCharacters); ++code) {
    names.insert(code_name(static_cast<Code>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Code::kTooManyCharacters) + 1);
  EXPECT_EQ(names.count("unknown code"), 0u);
  EXPECT_STREQ(code_name(static_cast<Code>(200)), "unknown code");
}

/// The buffer's size never matters to anything but where the sentence is cut.
TEST(Codes, ASentenceIsCutAtTheCapacity) {
  SmallPlan plan(mlp());
  const Failure failure = open_failure(plan, {}, plan.arena());
  Diagnostic diagnostic;
  (void)Session::open({}, plan.arena(), tool::all_kernels(), {}, &diagnostic);
  for (size_t capacity : {size_t{1}, size_t{2}, size_t{20}, failure.text.size() + 1}) {
    std::vector<char> buffer(capacity, '?');
    EXPECT_EQ(describe(diagnostic, {}, buffer.data(), capacity), failure.text.size());
    EXPECT_EQ(buffer.data(), failure.text.substr(0, capacity - 1));
  }
  EXPECT_EQ(describe(diagnostic, {}, nullptr, 0), failure.text.size());
}

}  // namespace
}  // namespace intarsia::test
