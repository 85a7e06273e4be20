// SPDX-License-Identifier: Apache-2.0
//
// Every operator that the converter knows, in every version that it rewrites, with operands and
// attributes that it does not have: each model is converted or refused with a message. The lists
// come from the definitions and the version rules, so that what is added there is tested here.
#include <set>

#include "converter/convert.h"
#include "converter/onnx/version_conversion.h"
#include "test/converter/onnx_builder.h"
#include "test/slow_build.h"

namespace intarsia::converter {
namespace {

using onnx::AttributeProto;

/// Versions at which a form of `type` begins or ends.
std::set<int> versions_of(std::string_view type) {
  std::set<int> versions{7, kNewestOpset};
  for (const VersionRule& rule : version_rules()) {
    if (rule.type != type || rule.below > kNewestOpset) continue;
    versions.insert(rule.below);
    if (rule.below > 1) versions.insert(rule.below - 1);
  }
  return versions;
}

bool has_rules(std::string_view type) {
  return std::any_of(version_rules().begin(), version_rules().end(),
                     [type](const VersionRule& rule) { return rule.type == type; });
}

std::set<std::string> attribute_names(const definitions::OperatorDefinition& op) {
  std::set<std::string> names;
  for (std::string_view name : op.graphs) names.emplace(name);
  std::vector<std::byte> blob;
  if (!op.attributes.read || op.attributes.print == nullptr) return names;
  static_cast<void>(op.attributes.read({}, blob));
  if (blob.size() < op.attributes.bytes) return names;
  for (const auto& [name, text] : op.attributes.print(blob)) names.insert(name);
  return names;
}

struct Operator {
  std::string domain, name;
  std::set<std::string> attributes;  // its own
  std::set<std::string> others;      // what version rules may look at
};

std::vector<Operator> operators() {
  std::vector<Operator> list;
  std::set<std::string> known;
  // Attributes became inputs of the same name.
  std::set<std::string> everywhere{"no_such_attribute"};
  for (const auto* op : definitions::OperatorRegistry::builtin().all()) {
    if (op->domain == definitions::kInternalDomain) continue;
    list.push_back({std::string(op->domain), std::string(op->name), attribute_names(*op), {}});
    known.insert(std::string(op->name));
    everywhere.insert(list.back().attributes.begin(), list.back().attributes.end());
    for (const auto& input : op->inputs) everywhere.emplace(input.name);
  }
  for (const VersionRule& rule : version_rules()) {
    if (known.insert(std::string(rule.type)).second)
      list.push_back({"", std::string(rule.type), {}, {}});
  }
  for (Operator& op : list) {
    if (op.domain.empty() && has_rules(op.name)) op.others = everywhere;
  }
  return list;
}

OnnxBuilder model_of(const Operator& op, int version, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
  OnnxBuilder builder(version);
  if (!op.domain.empty()) builder.import_opset(op.domain, 1);
  builder.input("x", {2, 3, 4});
  builder.input("flag", {}, DataType::kBool);
  const int64_t one = 1;
  builder.initializer("n", DataType::kInt64, {1}, &one, sizeof(one));
  builder.floats("w", {2, 2}, {1, 2, 3, 4});
  builder.node(op.name, inputs, outputs).set_domain(op.domain);
  builder.node("Relu", {"x"}, {"result"});
  builder.output("result");
  for (const std::string& name : outputs) {
    if (!name.empty()) builder.output(name);
  }
  return builder;
}

/// One case in so many is tried, another one for each operator.
constexpr size_t kEvery = test::kSlowBuild ? 23 : 1;

/// Converts; a failure must be one of the model's, with text.
void expect_an_answer(const OnnxBuilder& builder, const std::string& what) {
  const std::string bytes = builder.bytes();
  const ConversionResult result = convert_bytes(std::as_bytes(std::span(bytes)), {});
  const auto* failure = std::get_if<ConversionFailure>(&result);
  if (failure == nullptr) return;
  EXPECT_NE(failure->text(), "") << what;
  EXPECT_FALSE(contains(failure->text(), "internal error")) << what << ": " << failure->text();
}

TEST(BentNodes, OperandsOfAnyNumber) {
  const std::vector<std::vector<std::string>> inputs = {{},
                                                        {""},
                                                        {"x"},
                                                        {"n"},
                                                        {"w"},
                                                        {"flag"},
                                                        {"", "x"},
                                                        {"x", "x"},
                                                        {"x", "n"},
                                                        {"n", "n"},
                                                        {"w", "w"},
                                                        {"x", "", "n"},
                                                        {"w", "n"},
                                                        {"w", "x"},
                                                        {"x", "n", "n"},
                                                        {"x", "w", "w"},
                                                        {"w", "n", "n", "n", "n", "n"}};
  const std::vector<std::vector<std::string>> outputs = {{},        {""},       {"a"},
                                                         {"", "b"}, {"a", "b"}, {"a", "", "c"}};
  size_t next = 0;
  for (const Operator& op : operators()) {
    for (int version : versions_of(op.name)) {
      for (const auto& in : inputs) {
        for (const auto& out : outputs) {
          if (next++ % kEvery != 0) continue;
          expect_an_answer(model_of(op, version, in, out),
                           op.name + "-" + std::to_string(version) + " with " +
                               std::to_string(in.size()) + " inputs, " +
                               std::to_string(out.size()) + " outputs");
        }
      }
    }
  }
}

/// Attributes of every kind, with values at the limits.
std::vector<void (*)(AttributeProto&)> kinds() {
  return {
      [](AttributeProto& a) { a.set_type(AttributeProto::INT), a.set_i(INT64_MAX); },
      [](AttributeProto& a) { a.set_type(AttributeProto::INT), a.set_i(INT64_MIN); },
      [](AttributeProto& a) { a.set_type(AttributeProto::INT), a.set_i(0); },
      [](AttributeProto& a) { a.set_type(AttributeProto::FLOAT), a.set_f(1e30F); },
      [](AttributeProto& a) { a.set_type(AttributeProto::STRING), a.set_s("word"); },
      [](AttributeProto& a) { a.set_type(AttributeProto::INTS); },
      [](AttributeProto& a) {
        a.set_type(AttributeProto::INTS);
        for (int64_t value : {INT64_MAX, INT64_MIN, int64_t{0}, int64_t{-1}}) a.add_ints(value);
      },
      [](AttributeProto& a) { a.set_type(AttributeProto::FLOATS), a.add_floats(-1e30F); },
      [](AttributeProto& a) { a.set_type(AttributeProto::STRINGS), a.add_strings(""); },
      [](AttributeProto& a) {
        a.set_type(AttributeProto::TENSOR);
        OnnxBuilder::fill(*a.mutable_t(), "", DataType::kComplex128, {0});
      },
      [](AttributeProto& a) {
        a.set_type(AttributeProto::GRAPH);
        a.mutable_g()->add_output()->set_name("x");
      },
      [](AttributeProto& a) { a.set_type(AttributeProto::TENSOR); },
      [](AttributeProto&) {},
  };
}

TEST(BentNodes, AttributesOfAnyKind) {
  const auto bend = [](const Operator& op, int version, const std::string& name, const auto& set) {
    OnnxBuilder builder = model_of(op, version, {"x", "n"}, {"a"});
    auto* attribute = builder.graph().mutable_node(0)->add_attribute();
    attribute->set_name(name);
    set(*attribute);
    expect_an_answer(builder, op.name + "-" + std::to_string(version) + " with " + name);
  };
  const auto all = kinds();
  size_t next = 0;
  for (const Operator& op : operators()) {
    for (int version : versions_of(op.name)) {
      for (const std::string& name : op.attributes) {
        for (const auto& set : all) {
          if (next++ % kEvery == 0) bend(op, version, name, set);
        }
      }
      // One kind each, in turn, is enough for names that most operators do not have.
      for (const std::string& name : op.others) {
        const auto& set = all[next % all.size()];
        if (next++ % kEvery == 0) bend(op, version, name, set);
      }
    }
  }
}

}  // namespace
}  // namespace intarsia::converter
