// SPDX-License-Identifier: Apache-2.0
//
// The command line's option values: each line is an option and its value, for instance
// "--dim n=1..4". They are parsed, then applied to a model that has something for each of them.
#include <string>
#include <string_view>

#include "converter/graph/error.h"
#include "converter/onnx/onnx.pb.h"
#include "converter/tool/options.h"
#include "test/fuzz/target.h"

namespace {

using namespace intarsia;

/// x [n,3], z [2] and state s [2]: y = x + x, t = s + z; r has an extent that depends on values.
std::string model() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(21);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("main");
  const auto input = [&](const char* name, std::initializer_list<int> extents) {
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<int32_t>(DataType::kFloat));
    tensor.mutable_shape();
    for (int extent : extents) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (extent == 0) {
        dim.set_dim_param("n");
      } else {
        dim.set_dim_value(extent);
      }
    }
  };
  const auto node = [&](const char* type, std::initializer_list<const char*> inputs,
                        const char* output) {
    onnx::NodeProto& proto = *graph.add_node();
    proto.set_op_type(type);
    proto.set_name(type);
    for (const char* name : inputs) proto.add_input(name);
    proto.add_output(output);
    graph.add_output()->set_name(output);
  };
  input("x", {0, 3});
  input("z", {2});
  input("s", {2});
  input("image", {1, 3, 2, 2});
  node("Add", {"x", "x"}, "y");
  node("Add", {"s", "z"}, "t");
  node("NonZero", {"z"}, "r");
  node("Relu", {"image"}, "picture");
  return model.SerializeAsString();
}

void add(tool::ConversionArguments& arguments, std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view option = line.substr(0, space);
  const std::string value(line.substr(space + 1));
  if (option == "--dim") arguments.dims.push_back(value);
  if (option == "--shape") arguments.shapes.push_back(value);
  // A value that names a file would make the result depend on the machine.
  if (option == "--fix" && value.find('.') == std::string::npos) arguments.fixed.push_back(value);
  if (option == "--value" && value.find('.') == std::string::npos)
    arguments.values.push_back(value);
  if (option == "--bound") arguments.bounds.push_back(value);
  if (option == "--max-trips") arguments.max_trips.push_back(value);
  if (option == "--state") arguments.states.push_back(value);
  if (option == "--layout") arguments.layouts.push_back(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string kModel = model();
  tool::ConversionArguments arguments;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    add(arguments, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  converter::ConvertOptions options;
  try {
    options = arguments.parse();
  } catch (const converter::Error&) {
    return 0;
  }
  const auto result = converter::convert_bytes(std::as_bytes(std::span(kModel)), options);
  if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
    const std::string message = failure->text();
    fuzz::require(!message.starts_with("internal error"), message.c_str());
  }
  return 0;
}
