// SPDX-License-Identifier: Apache-2.0
//
// Models with Python operators for tests: Python modules in a folder of the test's own, models
// built message by message, converted with the plug-in, run with this program's own kernel.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/plugin/plugin.h"
#include "converter/tool/program.h"
#include "intarsia/pyop.h"
#include "test/converter/onnx_builder.h"
#include "test/kernels/common/kernel_rows.h"

namespace intarsia::test {

using converter::contains;
using converter::OnnxBuilder;

/// Intarsia's kernels and that of Python operators.
inline KernelSet kernels_with_pyop() {
  static const RowSet<Kernel> kAll([] {
    std::vector<Kernel> all = copies(converter::builtin_library().kernels().kernels);
    all.push_back(*kernel_set<PyOp>().kernels[0]);
    return all;
  }());
  return {kAll.span(), converter::builtin_library().kernels().shapes};
}

/// A plan with its arena and session.
class Loaded {
 public:
  explicit Loaded(const std::vector<std::byte>& plan)
      : plan_(copy_of(plan)), arena_(plan_info(plan_->span()).value().arena_bytes) {
    // No zeros, and no numbers that make 0 * x anything but 0.
    std::memset(arena_.span().data(), 0x11, arena_.span().size());
  }
  Status open(std::span<const Service> services, KernelSet kernels = kernels_with_pyop()) {
    Diagnostic diagnostic;
    auto result =
        Session::open(plan_->span(), arena_.span(), kernels, {.services = services}, &diagnostic);
    text_ = tool::describe_text(diagnostic, plan_->span());
    if (result.ok()) session = std::move(result.value());
    return result.status();
  }
  Status run() {
    const Status status = session.run();
    text_ = tool::describe_text(session.diagnostic(), plan_->span());
    return status;
  }
  /// What was wrong with the last call.
  const std::string& text() const { return text_; }

  template <class T>
  void set(int input, const std::vector<T>& values) {
    const auto span = session.input<T>(input).value();
    ASSERT_EQ(span.size(), values.size());
    if (!values.empty()) std::memcpy(span.data(), values.data(), span.size_bytes());
  }
  template <class T>
  std::vector<T> get(int output = 0) {
    const auto span = session.output<T>(output).value();
    return {span.begin(), span.end()};
  }

 private:
  static std::unique_ptr<tool::AlignedBytes> copy_of(const std::vector<std::byte>& plan) {
    auto aligned = std::make_unique<tool::AlignedBytes>(plan.size());
    std::memcpy(aligned->span().data(), plan.data(), plan.size());
    return aligned;
  }

  std::unique_ptr<tool::AlignedBytes> plan_;
  tool::AlignedBytes arena_;
  std::string text_;

 public:
  Session session;  // closed before its arena goes
};

class Pyop : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("intarsia_" + std::to_string(getpid()) + "_" + info->name());
    std::filesystem::create_directories(folder_);
    // Python keeps modules by name for the whole process.
    std::string name = info->name();
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return std::tolower(c); });
    module_ = "m_" + name;
    paths_ = {folder_.string()};
  }
  void TearDown() override {
    host_.close();
    std::filesystem::remove_all(folder_);
  }

  /// Writes the test's Python module.
  void module(const std::string& text) { write(module_ + ".py", text); }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(folder_ / file) << text;
  }

  /// Adds a PyOp node of the test's module.
  onnx::NodeProto& pyop(OnnxBuilder& model, const std::string& type,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        DataType element = DataType::kFloat, const char* domain = "pyop") {
    onnx::NodeProto& node = model.node("PyOp", inputs, outputs);
    node.set_domain(domain);
    OnnxBuilder::set(node, "module", module_.c_str());
    OnnxBuilder::set(node, "class_name", type.c_str());
    const auto number = static_cast<int64_t>(element);
    OnnxBuilder::set(node, "input_types", std::vector<int64_t>(inputs.size(), number));
    OnnxBuilder::set(node, "output_types", std::vector<int64_t>(outputs.size(), number));
    return node;
  }

  /// y = Class(x): a model of one node, with the shape of y declared.
  OnnxBuilder unary(const std::string& type, std::vector<int64_t> extents,
                    DataType element = DataType::kFloat) {
    OnnxBuilder model;
    model.input("x", extents, element);
    pyop(model, type, {"x"}, {"y"}, element);
    declare_output(model, "y", extents, element);
    return model;
  }

  static void declare_output(OnnxBuilder& model, const char* name,
                             const std::vector<int64_t>& extents, DataType element) {
    auto* info = model.graph().add_output();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(static_cast<int32_t>(element));
    tensor->mutable_shape();
    for (int64_t extent : extents) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  }

  converter::ConvertOptions allowed() const {
    converter::ConvertOptions options;
    options.library =
        converter::load_operators({}, {{"allow-pyop", ""}, {"pyop-path", folder_.string()}});
    return options;
  }

  static std::string conversion_error(const OnnxBuilder& model,
                                      const converter::ConvertOptions& options) {
    const std::string bytes = model.bytes();
    const auto result = converter::convert_bytes(std::as_bytes(std::span(bytes)), options);
    const auto* failure = std::get_if<converter::ConversionFailure>(&result);
    return failure != nullptr ? failure->text() : "";
  }

  std::vector<std::byte> convert(const OnnxBuilder& model,
                                 const converter::ConvertOptions& options) {
    const std::string bytes = model.bytes();
    const auto result = converter::convert_bytes(std::as_bytes(std::span(bytes)), options);
    if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
      ADD_FAILURE() << failure->text();
      throw std::runtime_error("no plan");
    }
    return std::get<converter::Conversion>(result).plan.bytes;
  }
  std::vector<std::byte> convert(const OnnxBuilder& model) { return convert(model, allowed()); }

  /// The permission, for sessions of this test.
  std::span<const Service> services() {
    if (service_.pointer == nullptr) {
      std::vector<const char*> paths;
      for (const std::string& path : paths_) paths.push_back(path.c_str());
      Diagnostic diagnostic;
      auto started = PyHost::start({.module_paths = paths}, &diagnostic);
      EXPECT_TRUE(started.ok()) << tool::describe_text(diagnostic, {});
      host_ = std::move(started.value());
      service_ = host_.service();
    }
    return {&service_, 1};
  }

  /// A converted, opened model.
  std::unique_ptr<Loaded> load(const OnnxBuilder& model) {
    auto loaded = std::make_unique<Loaded>(convert(model));
    const Status status = loaded->open(services());
    EXPECT_TRUE(status.ok()) << loaded->text();
    return loaded;
  }

  std::filesystem::path folder_;
  std::string module_;
  std::vector<std::string> paths_;
  PyHost host_;
  Service service_;
};

}  // namespace intarsia::test
