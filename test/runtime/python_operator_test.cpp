// SPDX-License-Identifier: Apache-2.0
//
// What a build without Python operators (INTARSIA_PYOP=OFF) says of models and plans that have one.
// This program is part of such builds, so it makes the plan with a stand-in for the operator: the
// plan asks for the kernel by the same key.
#include "converter/plugin/plugin.h"
#include "core/definitions/rows.h"
#include "intarsia/pyop.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// The key of the kernel of Python operators, and nothing else of it.
struct PythonStandIn {
  static constexpr KernelId id = PyOp::id;
  static Status run(const KernelContext&) { return {}; }
};

OnnxBuilder model_with_pyop() {
  OnnxBuilder model;
  model.input("x", {2});
  model.node("Neg", {"x"}, {"h"});
  model.node("PyOp", {"h"}, {"y"}).set_domain("mine");
  model.output("y");
  return model;
}

TEST(PythonOperators, PYOP_20_AModelIsNotConvertedWithoutThem) {
  EXPECT_EQ(conversion_error(model_with_pyop()),
            "node 'PyOp2' (mine:PyOp): the operator mine:PyOp is not supported; Python operators "
            "(PyOp) come with --allow-pyop");
}

TEST(PythonOperators, PYOP_20_APlanDoesNotOpenWithoutThem) {
  definitions::OperatorDefinition definition;
  definition.name = "PyOp";
  definition.kernel_operator = PyOp::id.op;
  definition.kernel_types = {};
  definition.inputs = {{"x", "T"}};
  definition.outputs = {{"y", "T"}};
  definition.types = {{"T", definitions::types({DataType::kFloat})}};
  definition.attributes = definitions::codec_of<NoAttributes>();
  definition.infer = [](definitions::SymbolicShapeContext& context) {
    return context.set_output(0, context.type(0), context.shape(0));
  };
  definition.impure = true;
  auto extension = std::make_shared<converter::Extension>();
  extension->find = [&definition](std::string_view, std::string_view name, int) {
    return name == "PyOp" ? &definition : nullptr;
  };
  extension->kernels.push_back(describe<PythonStandIn>());
  converter::ConvertOptions options;
  options.library =
      std::make_shared<const converter::OperatorLibrary>(converter::Extensions{extension});
  SmallPlan plan(model_with_pyop(), options);
  EXPECT_TRUE(plan.open().ok());  // with the stand-in

  Diagnostic diagnostic;
  const auto session =
      Session::open(plan.plan(), plan.arena(), tool::all_kernels(), {}, &diagnostic);
  EXPECT_EQ(session.status().code(), Code::kMissingKernel);
  EXPECT_EQ(diagnostic.node, 1);
  EXPECT_EQ(plan.text(diagnostic),
            "node 1 'PyOp2' (mine:PyOp): kernel intarsia:PyOp not in this build; add it to the "
            "program's kernel_set, or use the set that the converter emitted");
}

}  // namespace
}  // namespace intarsia::test
