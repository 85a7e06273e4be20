// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/version_conversion.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "converter/plugin/plugin.h"

namespace intarsia::converter {
namespace {

using definitions::OperatorDefinition;
using definitions::Parameter;

/// Operators that a runtime writes for itself into models that it saves: no kernel is to be looked
/// for, the model is to be had in another form.
struct RuntimeForm {
  std::string_view domain;
  std::string_view type;  ///< Empty: all of the domain.
  const char* advice;
};
constexpr const char* kSavedLayout =
    "ONNX Runtime has rewritten the model to a layout of its own, as it does at optimisation level "
    "all; save it at level extended (ORT_ENABLE_EXTENDED), or convert the original model";
constexpr RuntimeForm kRuntimeForms[] = {
    {"com.microsoft.nchwc", "", kSavedLayout},
    {"com.ms.internal.nhwc", "", kSavedLayout},
    {"com.microsoft", "NhwcFusedConv", kSavedLayout},
    {"com.microsoft", "NhwcMaxPool", kSavedLayout},
    {"com.microsoft", "QLinearConv", kSavedLayout},
    {"com.microsoft", "EPContext",
     "the node holds what an execution provider of ONNX Runtime has compiled; convert the original "
     "model"},
};

/// What helps where the operator of a node is not there.
std::string advice(const Node& node, const definitions::OperatorRegistry& operators) {
  for (const RuntimeForm& form : kRuntimeForms) {
    if (form.domain == node.domain && (form.type.empty() || form.type == node.type)) {
      return form.advice;
    }
  }
  if (node.type == "PyOp") return kWherePythonOperatorsComeFrom;
  std::string hint = operators.hint(node.domain, node.type);
  const bool is_standard = node.domain.empty();
  const bool is_other_version = operators.find(node.domain, node.type) != nullptr;
  if (is_standard || is_other_version) return hint;
  return hint + (hint.empty() ? "" : "; ") + kWhereOperatorsComeFrom;
}

class Resolver {
 public:
  explicit Resolver(const Model& model) : model_(model) {}

  void resolve(Node& node) {
    const OperatorDefinition* op = model_.operators->find(node.domain, node.type, node.version);
    // Operators of the converter's own have operands and attributes that models do not: whoever
    // makes such a node says which it is.
    const bool forbidden =
        node.domain == definitions::kInternalDomain && node.op == nullptr && !model_.own_operators;
    if (op == nullptr || forbidden) {
      report_unknown(node);
      return;
    }
    std::string message = node.resolve_as(*op);
    if (!message.empty()) report(node, std::move(message));
    check_inputs(node);
    complete_outputs(node);
    order_graphs(node);
  }

  void finish() {
    if (!problems_.empty()) throw Error(std::move(problems_));
  }

 private:
  void report(const Node& node, std::string message, std::string hint = {}) {
    problems_.push_back(node.problem(std::move(message), std::move(hint)));
  }

  /// Nodes of one operator that is not there are one problem.
  void report_unknown(const Node& node) {
    const auto [group, is_first] =
        unknown_.try_emplace({node.domain, node.type, node.version}, problems_.size());
    if (!is_first) {
      problems_[group->second].others.push_back(node.name);
      return;
    }
    const auto opset = model_.opsets.find(node.domain);
    const std::string version =
        opset == model_.opsets.end() ? "" : "(" + std::to_string(opset->second) + ")";
    report(node,
           "the operator " + node.domain + (node.domain.empty() ? "" : ":") + node.type + version +
               " is not supported",
           advice(node, *model_.operators));
  }

  void check_count(const Node& node, const std::vector<Parameter>& formal, size_t count,
                   const std::string& what) {
    const size_t turns = definitions::variadic_count(formal), fixed = formal.size() - turns;
    if (turns == 0 && count > formal.size()) {
      report(node, "has " + std::to_string(count) + " " + what + "s, but the operator has " +
                       std::to_string(formal.size()));
    }
    if (turns > 1 && count > fixed && (count - fixed) % turns != 0) {
      std::string names;
      for (size_t i = fixed; i < formal.size(); ++i) {
        names += (i == fixed ? "'" : ", '") + std::string(formal[i].name) + "'";
      }
      report(node, "has " + std::to_string(count) + " " + what + "s, but behind the first " +
                       std::to_string(fixed) + " come " + names + " of each part");
    }
    if (turns == 0 || formal.back().minimum <= 0) return;
    const size_t least = fixed + turns * static_cast<size_t>(formal.back().minimum);
    if (count < least) {
      report(node, "has " + std::to_string(count) + " " + what + "s, but '" +
                       std::string(formal.back().name) + "' takes at least " +
                       std::to_string(formal.back().minimum) + ": at least " +
                       std::to_string(least) + " in all");
    }
  }

  void check_inputs(const Node& node) {
    const auto& formal = node.op->inputs;
    check_count(node, formal, node.inputs.size(), "input");
    for (size_t i = 0; i < std::max(formal.size(), node.inputs.size()); ++i) {
      const Parameter* parameter = definitions::formal(formal, i);
      if (parameter == nullptr || parameter->kind == Parameter::kOptional) continue;
      const bool variadic = parameter->kind == Parameter::kVariadic;
      if (variadic && (parameter->may_lack || i >= node.inputs.size())) continue;
      if (node.input(static_cast<int>(i)) == nullptr) {
        report(node,
               "lacks input " + std::to_string(i) + " ('" + std::string(parameter->name) + "')");
      }
    }
  }

  // Kernels write every required output; one that the model leaves out gets a value that nobody
  // uses.
  void complete_outputs(Node& node) {
    const auto& formal = node.op->outputs;
    check_count(node, formal, node.outputs.size(), "output");
    for (size_t i = 0; i < formal.size() && formal[i].kind == Parameter::kRequired; ++i) {
      node.complete_output(static_cast<int>(i));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Parameter* parameter = definitions::formal(formal, i);
      const bool written = parameter != nullptr && parameter->kind != Parameter::kOptional &&
                           !(parameter->kind == Parameter::kVariadic && parameter->may_lack);
      if (written) node.complete_output(static_cast<int>(i));
    }
  }

  void order_graphs(Node& node) {
    std::vector<SubGraph> ordered;
    for (std::string_view name : node.op->graphs) {
      const auto found = std::find_if(node.graphs.begin(), node.graphs.end(),
                                      [&](const SubGraph& sub) { return sub.attribute == name; });
      if (found == node.graphs.end()) {
        if (node.op->control == definitions::Control::kInlined) continue;
        report(node, "lacks the graph attribute \"" + std::string(name) + "\"");
        return;
      }
      ordered.push_back(std::move(*found));
      node.graphs.erase(found);
    }
    for (const SubGraph& sub : node.graphs) {
      report(node, "graph attribute \"" + sub.attribute + "\" is unknown");
    }
    node.graphs = std::move(ordered);
  }

  const Model& model_;
  std::vector<Problem> problems_;
  /// The problem of each operator that is not there, by domain, name and version.
  std::map<std::tuple<std::string, std::string, int>, size_t> unknown_;
};

}  // namespace

void resolve(Model& model) {
  Resolver resolver(model);
  model.graph->walk([&resolver](Node& node) { resolver.resolve(node); });
  resolver.finish();
}

}  // namespace intarsia::converter
