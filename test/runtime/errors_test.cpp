// SPDX-License-Identifier: Apache-2.0
//
// Failures that users meet, each with its exact message.
#include <filesystem>
#include <fstream>

#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::DimRange;
using converter::OnnxBuilder;

std::string file_error(const std::filesystem::path& path) {
  const auto result = converter::convert_file(path, {});
  const auto* failure = std::get_if<converter::ConversionFailure>(&result);
  return failure != nullptr ? failure->text() : "";
}

std::filesystem::path scratch(const char* name) {
  return std::filesystem::temp_directory_path() / (std::string("intarsia_errors_") + name);
}

TEST(ConversionErrors, MissingFile) {
  const std::string text = file_error("no/such/model.onnx");
  EXPECT_NE(text.find("no/such/model.onnx"), std::string::npos) << text;
  EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;
}

TEST(ConversionErrors, NotAModel) {
  const auto path = scratch("text.onnx");
  std::ofstream(path) << "this is no model";
  const std::string text = file_error(path);
  EXPECT_NE(text.find("not an ONNX model"), std::string::npos) << text;
  std::filesystem::remove(path);
}

TEST(ConversionErrors, AllUnsupportedOperatorsAtOnce) {
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  model.node("Sigmoyd", {"x"}, {"h"});
  model.node("Frobnicate", {"h"}, {"y"});
  const std::string text = conversion_error(model);
  EXPECT_NE(text.find("node 'Sigmoyd1' (Sigmoyd)"), std::string::npos) << text;
  EXPECT_NE(text.find("Sigmoid"), std::string::npos) << text;
  EXPECT_NE(text.find("node 'Frobnicate2' (Frobnicate)"), std::string::npos) << text;
}

/// What only the kernel's check knows is found at conversion, not when the plan is opened.
TEST(ConversionErrors, WhatTheKernelRefuses) {
  OnnxBuilder shift;
  shift.input("x", {2}, DataType::kUint8);
  shift.input("by", {2}, DataType::kUint8);
  shift.output("y");
  shift.node("BitShift", {"x", "by"}, {"y"});
  EXPECT_EQ(
      conversion_error(shift),
      "node 'BitShift1' (BitShift): attribute \"direction\" is required, but the node has none");
  OnnxBuilder sum;
  sum.input("x", {3, 3});
  sum.input("axis", {3}, DataType::kInt64);
  sum.output("y");
  sum.node("CumSum", {"x", "axis"}, {"y"});
  EXPECT_EQ(
      conversion_error(sum),
      "node 'CumSum1' (CumSum): elements of a scalar operand, operand 1: expected 1, found 3");
}

TEST(ConversionErrors, AnArenaThatNoPlanMayHave) {
  OnnxBuilder model;
  model.input("x", {3, INT32_MAX});
  model.output("y");
  model.node("Neg", {"x"}, {"y"});
  EXPECT_EQ(conversion_error(model).find("the plan needs an arena of "), 0U);
  ConvertOptions options;
  options.device = ConvertOptions::Device::kCuda;
  EXPECT_EQ(conversion_error(model, options).find("the plan needs a"), 0U);
}

TEST(ConversionErrors, SymbolWithoutMaximum) {
  OnnxBuilder model;
  symbol(model.input("x", {0, 3}), 0, "batch");
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(conversion_error(model),
            "'x': axis 0 is the symbolic dimension 'batch', which has no maximum; add --dim "
            "batch=MAX, or --shape x=EXTENTS");
}

TEST(ConversionErrors, UnknownNamesInOptions) {
  ConvertOptions options;
  options.shapes["z"] = {1, 3};
  EXPECT_EQ(conversion_error(mlp(), options),
            "--shape: the model has no input 'z'; its inputs are x");
  options = {};
  options.states["y"] = "q";
  EXPECT_EQ(conversion_error(mlp(), options),
            "--state y=q: the model has no input 'q'; its inputs are x");
  options = {};
  options.dims["n"] = DimRange{1, 4};
  EXPECT_EQ(conversion_error(mlp(), options),
            "--dim: the model has no symbolic dimension 'n'; it has none at all");
  options = {};
  options.shapes["x"] = {2, 3};
  EXPECT_EQ(conversion_error(mlp(), options), "--shape x=2x3: axis 0 is 1 in the model");
}

TEST(ConversionErrors, ExtentsThatContradict) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.input("z", {2, 4});
  model.output("y");
  model.node("Add", {"x", "z"}, {"y"});
  const std::string text = conversion_error(model);
  EXPECT_NE(text.find("node 'Add1' (Add): extent does not broadcast"), std::string::npos) << text;
}

class RuntimeErrors : public ::testing::Test {
 protected:
  RuntimeErrors() : plan_(mlp()), session_(plan_.open().value()) {}
  std::string text() { return plan_.text(session_.diagnostic()); }
  SmallPlan plan_;
  Session session_;
};

TEST_F(RuntimeErrors, WrongTypeShapeAndName) {
  EXPECT_EQ(session_.input<int32_t>(0).status().code(), Code::kWrongType);
  EXPECT_EQ(text(), "element type: expected float, found int32; use the element type of the model");
  EXPECT_EQ(session_.resize_input(0, std::array<int32_t, 2>{1, 4}).code(), Code::kWrongExtent);
  EXPECT_EQ(text(), "input extent, operand 0, axis 1: expected 3, found 4");
  EXPECT_EQ(session_.resize_input(0, std::array<int32_t, 1>{3}).code(), Code::kWrongRank);
  EXPECT_EQ(text(), "input rank, operand 0: expected 2, found 1");
  EXPECT_EQ(session_.find_input("data").status().code(), Code::kUnknownName);
  EXPECT_EQ(text(), "input 'data' is not known");
  EXPECT_EQ(session_.input_port(1).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(text(), "input index (at most): expected 0, found 1");
  float y[3];
  EXPECT_EQ(session_.bind_output(0, y, sizeof(y)).code(), Code::kInvalidArgument);
  EXPECT_EQ(text(), "bytes of the bound buffer, operand 0: expected 16, found 12");
}

TEST_F(RuntimeErrors, ArenaTooSmallOrMisaligned) {
  const size_t bytes = plan_.arena().size();
  Diagnostic diagnostic;
  for (size_t size = 0; size < bytes; size += 8) {
    const auto session = Session::open(plan_.plan(), plan_.arena().first(size), tool::all_kernels(),
                                       {}, &diagnostic);
    ASSERT_EQ(session.status().code(), Code::kArenaTooSmall) << size;
    ASSERT_EQ(diagnostic.expected, static_cast<int64_t>(bytes));
  }
  EXPECT_EQ(plan_.text(diagnostic), "arena bytes: expected " + std::to_string(bytes) + ", found " +
                                        std::to_string(bytes - 8) +
                                        "; give the arena at least PlanInfo::arena_bytes");
  tool::AlignedBytes larger(bytes + 64);
  const auto session =
      Session::open(plan_.plan(), larger.span().subspan(16), tool::all_kernels(), {}, &diagnostic);
  EXPECT_EQ(session.status().code(), Code::kArenaMisaligned);
  EXPECT_EQ(plan_.text(diagnostic),
            "alignment of the arena: expected 64, found 16; align the arena to kArenaAlignment");
}

TEST_F(RuntimeErrors, NewerVersionAndForeignBytes) {
  Diagnostic diagnostic;
  plan_.plan()[8] = std::byte{99};
  auto session = Session::open(plan_.plan(), plan_.arena(), tool::all_kernels(), {}, &diagnostic);
  EXPECT_EQ(session.status().code(), Code::kUnsupportedVersion);
  EXPECT_EQ(plan_.text(diagnostic),
            "plan format version: expected 1, found 99; convert the model with the converter of "
            "this library's version, or update the library");
  plan_.plan()[0] = std::byte{'X'};
  session = Session::open(plan_.plan(), plan_.arena(), tool::all_kernels(), {}, &diagnostic);
  EXPECT_EQ(session.status().code(), Code::kNotAPlan);
  EXPECT_EQ(plan_.text(diagnostic),
            "magic number; these bytes are not a plan; make one with `intarsia convert MODEL.onnx "
            "-o OUT.plan`");
}

TEST_F(RuntimeErrors, KernelMissingFromAHandWrittenSet) {
  Diagnostic diagnostic;
  const auto session = Session::open(plan_.plan(), plan_.arena(), KernelSet{}, {}, &diagnostic);
  EXPECT_EQ(session.status().code(), Code::kMissingKernel);
  EXPECT_EQ(plan_.text(diagnostic),
            "node 0 'Gemm1' (intarsia:Gemm): kernel Gemm.bounded<float> not in this build; add it "
            "to the program's kernel_set, or use the set that the converter emitted");
}

TEST(VaryingErrors, ExtentsOutsideTheirRangeOrAtOdds) {
  OnnxBuilder model;
  symbol(model.input("a", {0}), 0, "n");
  symbol(model.input("b", {0}), 0, "n");
  model.output("y");
  model.node("Add", {"a", "b"}, {"y"});
  ConvertOptions options;
  options.dims["n"] = DimRange{2, 4};
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->resize_input(0, std::array<int32_t, 1>{5}).code(), Code::kWrongExtent);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "input extent above its maximum, operand 0, axis 0: expected 4, found 5");
  EXPECT_EQ(session->resize_input(0, std::array<int32_t, 1>{1}).code(), Code::kWrongExtent);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "input extent below its minimum, operand 0, axis 0: expected 2, found 1");
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 1>{3}).ok());
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  EXPECT_EQ(
      plan.text(session->diagnostic()),
      "input extents of one symbolic dimension differ, operand 1, axis 0: expected 3, found 4");
}

/// The sum has three elements whatever n is, so no shape function runs; the check must all the
/// same.
TEST(VaryingErrors, AnInputThatVariesUnderAFixedOutput) {
  OnnxBuilder model;
  symbol(model.input("x", {0}), 0, "n");
  model.input("z", {3});
  model.output("y");
  model.node("Add", {"x", "z"}, {"y"});
  ConvertOptions options;
  options.dims["n"] = DimRange{1, 3};
  SmallPlan plan(model, options);
  EXPECT_TRUE(plan.conversion.varying);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (int32_t n : {3, 1}) {
    ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 1>{n}).ok());
    write(*session, 0, std::vector<float>(static_cast<size_t>(n), 1));
    write(*session, 1, {1, 2, 3});
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    EXPECT_EQ(read(*session, 0), (std::vector<float>{2, 3, 4}));
  }
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 1>{2}).ok());
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
}

TEST(RuntimeValues, AnIndexOutOfRangeNamesTheNode) {
  OnnxBuilder model;
  model.input("i", {1}, DataType::kInt64);
  model.output("y");
  model.floats("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  model.node("Gather", {"table", "i"}, {"y"});
  SmallPlan plan(model);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  session->input<int64_t>(0).value()[0] = 3;
  EXPECT_EQ(session->run().code(), Code::kIndexOutOfRange);
  const std::string text = plan.text(session->diagnostic());
  EXPECT_EQ(text.rfind("node 0 'Gather1' (Gather): ", 0), 0u) << text;
  session->input<int64_t>(0).value()[0] = -1;
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(read(*session, 0), (std::vector<float>{5, 6}));
}

}  // namespace
}  // namespace intarsia::test
