// SPDX-License-Identifier: Apache-2.0
//
// Results whose extents vary from run to run: what the model declares, and what the operator's
// shape function says, holds at every run.
#include "pyop_optional/host/python.h"  // first, as Python wants it

#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Shape = std::vector<int32_t>;

/// x [n, 2] and a text, which is an expression of the result's shape.
class PyopExtents : public Pyop {
 protected:
  OnnxBuilder model(const std::string& type, const std::vector<std::string>& declared) {
    OnnxBuilder model;
    auto& x = model.input("x", {0, 2});
    x.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("n");
    model.input("wanted", {2}, DataType::kInt64);
    auto& node = pyop(model, type, {"x", "wanted"}, {"y"});
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.name() == "input_types") attribute.set_ints(1, 7);
    }
    model.output("z");
    model.node("Neg", {"y"}, {"z"});
    if (!declared.empty()) declare(model, declared);
    return model;
  }
  static void declare(OnnxBuilder& model, const std::vector<std::string>& extents) {
    auto* info = model.graph().add_value_info();
    info->set_name("y");
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(1);
    for (const std::string& extent : extents) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (std::isdigit(extent[0]) != 0) dim->set_dim_value(std::stoi(extent));
      if (std::isdigit(extent[0]) == 0) dim->set_dim_param(extent);
    }
  }
  std::unique_ptr<Loaded> load_up_to_4(const OnnxBuilder& model) {
    converter::ConvertOptions options = allowed();
    options.dims["n"] = converter::DimRange{1, 4};
    auto loaded = std::make_unique<Loaded>(convert(model, options));
    EXPECT_TRUE(loaded->open(services())) << loaded->text();
    return loaded;
  }
  /// The text of a run that gives y of these extents; "" if it succeeds.
  static std::string run(Loaded& loaded, int32_t n, const Shape& wanted) {
    EXPECT_TRUE(loaded.session.resize_input(0, std::array{n, 2}).ok());
    loaded.set<int64_t>(1, {wanted[0], wanted[1]});
    if (!loaded.run()) return loaded.text();
    const auto found = loaded.session.output_port(0).value().tensor.dims();
    EXPECT_EQ(Shape(found.begin(), found.end()), wanted);
    return "";
  }
};

constexpr const char* kOnes = R"(
import numpy as np
class Ones:
    def compute(self, x, wanted):
        return np.ones(wanted, 'f')
class Told(Ones):
    asked = []
    def infer_shape(self, x, wanted):
        self.asked.append(x)
        if x[0] == 3:
            raise ValueError('three')
        return (x[0] // 2 + 1, 3)
    def compute(self, x, wanted):
        if wanted[0] == 9:
            return np.full((1, len(self.asked)), 1, 'f')
        return np.ones(wanted, 'f')
)";

TEST_F(PyopExtents, PYOP_14_WhatTheModelDeclaresHoldsAtEveryRun) {
  module(kOnes);
  auto loaded = load_up_to_4(model("Ones", {"n", "3"}));
  for (int32_t n : {4, 1, 2}) {
    EXPECT_EQ(run(*loaded, n, {n, 3}), "");
    EXPECT_CONTAINS(run(*loaded, n, {n, 2}),
                    "output 0: expected at most [4,3], got [" + std::to_string(n) + ",2]");
    EXPECT_EQ(run(*loaded, n, {n, 3}), "") << "it runs again";
  }
  EXPECT_CONTAINS(run(*loaded, 2, {3, 3}),
                  "output 0: expected at most [4,3], and 2 of axis 0, got [3,3]");
  EXPECT_CONTAINS(run(*loaded, 2, {1, 3}),
                  "output 0: expected at most [4,3], and 2 of axis 0, got [1,3]");
}

TEST_F(PyopExtents, PYOP_14_WhatTheShapeFunctionSaysHoldsAtEveryRun) {
  module(kOnes);
  auto loaded = load_up_to_4(model("Told", {}));
  for (int32_t n : {1, 2, 4}) {
    const int32_t rows = n / 2 + 1;
    EXPECT_EQ(run(*loaded, n, {rows, 3}), "");
    EXPECT_CONTAINS(run(*loaded, n, {1, 1}), "output 0: expected [" + std::to_string(rows) +
                                                 ",3] for these inputs, got [1,1]");
  }
  // It is asked where extents are others than before, and what it raises is told.
  EXPECT_CONTAINS(run(*loaded, 3, {1, 3}), "its infer_shape raised an exception");
  EXPECT_CONTAINS(loaded->text(), "ValueError: three");
  EXPECT_EQ(run(*loaded, 2, {2, 3}), "");
  // At conversion for the largest and the smallest; then for 1, 2, 4, 3 and 2.
  EXPECT_CONTAINS(run(*loaded, 2, {9, 9}), "expected [2,3] for these inputs, got [1,7]");
}

}  // namespace
}  // namespace intarsia::test
