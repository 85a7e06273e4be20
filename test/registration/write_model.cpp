// SPDX-License-Identifier: Apache-2.0
//
// Writes a small ONNX model for the programs of test/registration and test/budget.
//
//   write_model several FILE    nodes of several operators: packed, fused, pointwise, moving
//   write_model single FILE     one node, y = -x with one element
//   write_model custom FILE     two operators of test/operators/sample_operators.h
//   write_model bands FILE      the operator of docs/custom_operators.md, gain 2, two outputs
//   write_model relu FILE       one node of ONNX
//   write_model user_relu FILE  the operator of docs/python.md, five elements
#include <cstdio>
#include <fstream>
#include <map>

#include "test/converter/onnx_builder.h"

namespace {

using intarsia::converter::OnnxBuilder;

OnnxBuilder several() {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.output("y");
  model.output("z");
  model.floats("w", {3, 4}, {1, 0, 0, -1, 0, 1, 0, -1, 0, 0, 1, -1});
  model.floats("b", {4}, {0.5f, -0.5f, 0, 1});
  model.node("Gemm", {"x", "w", "b"}, {"h"});
  model.node("Relu", {"h"}, {"r"});
  model.node("Softmax", {"r"}, {"s"});
  OnnxBuilder::set(model.node("Transpose", {"s"}, {"t"}), "perm", std::vector<int64_t>{1, 0});
  model.node("Abs", {"t"}, {"y"});
  model.node("Add", {"s", "b"}, {"z"});
  return model;
}

OnnxBuilder single() {
  OnnxBuilder model;
  model.input("x", {1, 1});
  model.output("y");
  model.node("Neg", {"x"}, {"y"});
  return model;
}

OnnxBuilder custom() {
  OnnxBuilder model;
  model.import_opset("sample", 1);
  model.input("x", {3});
  model.output("y");
  model.node("Affine", {"x"}, {"a"}).set_domain("sample");
  model.node("Reverse", {"a"}, {"y"}).set_domain("sample");
  model.output("count");
  model.node("Counter", {"x"}, {"count"}).set_domain("sample");
  return model;
}

OnnxBuilder bands() {
  OnnxBuilder model;
  model.input("x", {2, 4});
  model.output("low");
  model.output("high");
  auto& node = model.node("Bands", {"x"}, {"low", "high"});
  node.set_domain("mydomain");
  OnnxBuilder::set(node, "gain", 2.0f);
  return model;
}

OnnxBuilder relu() {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  return model;
}

OnnxBuilder user_relu() {
  OnnxBuilder model;
  model.input("x", {5});
  model.output("y");
  model.node("user_relu", {"x"}, {"y"}).set_domain("user");
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 3 ? argv[1] : "";
  const std::map<std::string, OnnxBuilder (*)()> models{
      {"several", &several}, {"single", &single}, {"custom", &custom},
      {"bands", &bands},     {"relu", &relu},     {"user_relu", &user_relu}};
  const auto model = models.find(name);
  if (model == models.end()) {
    std::fputs("usage: write_model several|single|custom|bands|relu|user_relu FILE\n", stderr);
    return 2;
  }
  const std::string bytes = model->second().bytes();
  std::ofstream file(argv[2], std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()) {
    std::fprintf(stderr, "write_model: cannot write %s\n", argv[2]);
    return 1;
  }
  return 0;
}
