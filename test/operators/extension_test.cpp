// SPDX-License-Identifier: Apache-2.0
//
// Extensions written by hand: definitions that a function supplies, services, and where the extents
// of an operator come from that only its kernel can tell.
#include <gtest/gtest.h>

#include <filesystem>

#include "converter/plugin/plugin.h"
#include "core/definitions/rows.h"
#include "intarsia/services.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

constexpr uint64_t kAddend = service_key("test.addend");

/// y = x + the service's number; y has as many elements as were planned.
struct Opaque {
  static constexpr KernelId id{"Opaque", "", {DataType::kFloat}};
  static Status run(const KernelContext& context) {
    const auto* addend = static_cast<const float*>(context.service(kAddend));
    if (addend == nullptr) return context.fail(Code::kUnsupported, "no addend");
    const TensorView& y = context.output(0);
    for (int64_t i = 0; i < y.count(); ++i) {
      y.as<float>()[i] =
          *addend + (i < context.input(0).count() ? context.input(0).as<float>()[i] : 0);
    }
    return {};
  }
};

/// The operator Opaque in every domain, with a trial execution if `extents` is not empty.
struct OpaqueExtension {
  explicit OpaqueExtension(std::vector<int64_t> extents = {}, bool fails = false) {
    definition.name = "Opaque";
    definition.inputs = {{"x", "T"}};
    definition.outputs = {{"y", "T"}};
    definition.types = {{"T", definitions::types({DataType::kFloat})}};
    definition.attributes = definitions::codec_of<NoAttributes>();
    definition.infer = [](definitions::SymbolicShapeContext& context) {
      return context.set_output_type(0, context.type(0));
    };
    definition.extents_vary = true;
    definition.impure = true;
    definition.extents_hint = "allow a trial";
    if (!extents.empty() || fails) {
      definition.trial = [this, extents, fails](definitions::SymbolicShapeContext& context) {
        ++trials;
        if (fails) return context.fail(Code::kOperatorFailed, "trial", "Traceback: line 1");
        Shape<definitions::Dim> shape;
        for (int64_t extent : extents) shape.push(extent);
        return context.set_output(0, context.type(0), shape);
      };
    }
    extension = std::make_shared<converter::Extension>();
    extension->name = "opaque";
    extension->find = [this](std::string_view, std::string_view name, int) {
      return name == "Opaque" ? &definition : nullptr;
    };
    extension->kernels.push_back(describe<Opaque>());
    extension->services = {{kAddend, &addend}};
    options.library =
        std::make_shared<const converter::OperatorLibrary>(converter::Extensions{extension});
  }

  definitions::OperatorDefinition definition;
  std::shared_ptr<converter::Extension> extension;
  converter::ConvertOptions options;
  float addend = 10;
  int trials = 0;
};

/// x [2] -> Opaque -> h -> Neg -> y. `declared` extents of h; none if empty.
OnnxBuilder model(const std::vector<int64_t>& declared, const char* domain = "any.domain") {
  OnnxBuilder result;
  result.input("x", {2});
  result.output("y");
  result.node("Opaque", {"x"}, {"h"}).set_domain(domain);
  result.node("Neg", {"h"}, {"y"});
  if (!declared.empty()) {
    auto& info = *result.graph().add_value_info();
    info.set_name("h");
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(1);
    for (int64_t extent : declared) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return result;
}

std::vector<int64_t> planned(const OnnxBuilder& onnx, const converter::ConvertOptions& options) {
  return SmallPlan(onnx, options).conversion.entries.at(0).outputs.at(0).extents;
}

TEST(Extension, ADefinitionAndAServiceOfAPluginServeAnyDomain) {
  OpaqueExtension opaque;
  for (const char* domain : {"any.domain", "", "com.microsoft"}) {
    SmallPlan plan(model({3}, domain), opaque.options);
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    write(*session, 0, {1, 2});
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    EXPECT_EQ(read(*session, 0), (std::vector<float>{-11, -12, -10}));
  }
}

TEST(Extension, WhatTheModelDeclaresComesFirst) {
  OpaqueExtension opaque({7});
  EXPECT_EQ(planned(model({3}), opaque.options), std::vector<int64_t>{3});
  EXPECT_EQ(opaque.trials, 0) << "nothing is executed that the model tells";
}

TEST(Extension, ATrialTellsWhatNothingElseDoes) {
  OpaqueExtension opaque({7, 2});
  EXPECT_EQ(planned(model({}), opaque.options), (std::vector<int64_t>{7, 2}));
  EXPECT_EQ(opaque.trials, 1);
}

TEST(Extension, ABoundMakesATrialNeedless) {
  OpaqueExtension opaque({7});
  opaque.options.bounds["h"] = {5};
  EXPECT_EQ(planned(model({}), opaque.options), std::vector<int64_t>{5});
  EXPECT_EQ(opaque.trials, 0);
}

TEST(Extension, AFailingTrialIsReportedWithItsText) {
  OpaqueExtension opaque({}, true);
  const std::string text = conversion_error(model({}), opaque.options);
  EXPECT_CONTAINS(text,
                  "node 'Opaque1' (any.domain:Opaque): its trial execution on zeros failed: "
                  "trial: Traceback: line 1");
  EXPECT_CONTAINS(text, "--bound h=EXTENTS");
}

TEST(Extension, WithoutAnySourceTheErrorSaysWhatToDo) {
  const OpaqueExtension opaque;
  EXPECT_EQ(conversion_error(model({}), opaque.options),
            "node 'Opaque1' (any.domain:Opaque): the extents of output 0 ('h') are not known: the "
            "model does not declare them and the operator's shape function cannot tell; declare "
            "them with --bound h=EXTENTS, or allow a trial");
}

TEST(Extension, WhatIsDeclaredWithoutABoundIsNamed) {
  const OpaqueExtension opaque;
  OnnxBuilder declared = model({3});
  auto& type = *declared.graph().mutable_value_info(0)->mutable_type()->mutable_tensor_type();
  type.mutable_shape()->add_dim()->set_dim_param("k");
  type.mutable_shape()->add_dim();
  EXPECT_EQ(conversion_error(declared, opaque.options),
            "node 'Opaque1' (any.domain:Opaque): the extents of output 0 ('h') are not known: the "
            "model declares [3,k,?], without a bound, and the operator's shape function cannot "
            "tell; declare them with --bound h=EXTENTS or --dim k=MAX, or allow a trial");
}

TEST(Plugin, AnAbsentPythonPluginIsNamedWithItsOption) {
  try {
    converter::find_plugin("intarsia_none_plugin", "--allow-pyop");
    FAIL() << "found a plug-in that does not exist";
  } catch (const converter::Error& error) {
    EXPECT_CONTAINS(
        std::string(error.what()),
        "--allow-pyop needs the plug-in libintarsia_none_plugin.so, which is neither in");
  }
}

}  // namespace
}  // namespace intarsia::test
