// SPDX-License-Identifier: Apache-2.0
//
// Writes the plans of the stress test, which is built without the converter:
//   make_plans FOLDER_OF_STRESS_OPERATORS OUTPUT_FOLDER
#include <cstdio>
#include <filesystem>

#include "converter/convert.h"
#include "converter/onnx/file.h"
#include "converter/plugin/plugin.h"
#include "test/converter/onnx_builder.h"

namespace {

using intarsia::DataType;
using intarsia::converter::OnnxBuilder;

/// A model that puts the operators one after another; `attribute` goes to each.
OnnxBuilder chain(const std::vector<std::string>& operators,
                  const std::pair<const char*, const char*>& attribute = {"", ""}) {
  OnnxBuilder model;
  model.input("x0", {2, 2});
  for (size_t i = 0; i < operators.size(); ++i) {
    const std::string from = "x" + std::to_string(i), to = "x" + std::to_string(i + 1);
    auto& node = model.node("PyOp", {from.c_str()}, {to.c_str()});
    node.set_domain("stress_" + std::to_string(i));
    OnnxBuilder::set(node, "module", "stress_operators");
    OnnxBuilder::set(node, "class_name", operators[i].c_str());
    const std::vector<int64_t> type = {static_cast<int64_t>(DataType::kFloat)};
    OnnxBuilder::set(node, "input_types", type);
    OnnxBuilder::set(node, "output_types", type);
    if (operators[i] == "Scale") OnnxBuilder::set(node, "factor", static_cast<int64_t>(i + 2));
    if (*attribute.first != '\0') OnnxBuilder::set(node, attribute.first, attribute.second);
    // The converter must not execute these: they need the program that embeds them.
    auto* info = model.graph().add_value_info();
    info->set_name(to);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(static_cast<int32_t>(DataType::kFloat));
    for (int axis = 0; axis < 2; ++axis) tensor->mutable_shape()->add_dim()->set_dim_value(2);
  }
  model.output("x" + std::to_string(operators.size()));
  return model;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const std::filesystem::path folder = argv[2];
  std::filesystem::create_directories(folder);
  intarsia::converter::ConvertOptions options;
  options.library =
      intarsia::converter::load_operators({}, {{"allow-pyop", ""}, {"pyop-path", argv[1]}});
  const auto write = [&](const std::string& name, const OnnxBuilder& model) {
    const std::string bytes = model.bytes();
    const auto result =
        intarsia::converter::convert_bytes(std::as_bytes(std::span(bytes)), options);
    if (const auto* failure = std::get_if<intarsia::converter::ConversionFailure>(&result)) {
      throw std::runtime_error(name + ": " + failure->text());
    }
    intarsia::converter::write_file(folder / (name + ".plan"),
                                    std::get<intarsia::converter::Conversion>(result).plan.bytes);
  };
  write("two", chain({"Scale", "Scale"}));  // x * 6
  write("slow", chain({"Slow", "Scale"}));  // x * 3
  write("nested", chain({"Nested"}));       // run_nested(x)
  write("holding", chain({"NestedHolding"}));
  write("raises", chain({"Raises"}));
  for (const char* what : {"wrong_double", "wrong_wide", "wrong_half", "wrong_shape", "wrong_rank",
                           "wrong_count", "wrong_object", "wrong_none", "right_transposed",
                           "right_reversed", "right_swapped", "right_broadcast", "right_input"}) {
    write(what, chain({"Returns"}, {"what", what}));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_plans: %s\n", error.what());
  return 1;
}
