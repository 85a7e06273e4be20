// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/import_constant.h"

namespace intarsia::converter {

std::string domain_of(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Problem problem_at(const onnx::NodeProto& node, std::string message, std::string hint) {
  const std::string domain = domain_of(node.domain());
  return {node.name(), domain.empty() ? node.op_type() : domain + ":" + node.op_type(),
          std::move(message), std::move(hint)};
}

const Constant& ImportedConstants::tensor(onnx::TensorProto& proto) {
  const auto [known, fresh] = tensors_.try_emplace(&proto);
  if (fresh) known->second = read_tensor(proto, files_);
  return known->second;
}

const Constant& ImportedConstants::attribute(const onnx::NodeProto& node, const std::string& name,
                                             onnx::AttributeProto& attribute) {
  if (name == "value" && attribute.has_t()) return tensor(*attribute.mutable_t());
  const auto [known, fresh] = constants_.try_emplace({&attribute, name});
  Constant& constant = known->second;
  if (!fresh) return constant;
  if (name == "value_float") {
    constant = Constant::scalar<float>(attribute.f());
  } else if (name == "value_int") {
    constant = Constant::scalar<int64_t>(attribute.i());
  } else if (name == "value_floats") {
    const std::vector<float> values(attribute.floats().begin(), attribute.floats().end());
    constant = Constant::of<float>({attribute.floats_size()}, values);
  } else if (name == "value_ints") {
    constant = Constant::ints({attribute.ints().begin(), attribute.ints().end()});
  } else if (name == "value_string") {
    constant = Constant::strings({}, {attribute.s()});
  } else if (name == "value_strings") {
    constant = Constant::strings({attribute.strings_size()},
                                 {attribute.strings().begin(), attribute.strings().end()});
  } else if (name == "sparse_value") {
    throw Error(
        problem_at(node, "a sparse Constant is not supported", "store it as a dense tensor"));
  } else {
    throw Error(problem_at(node, "attribute '" + name + "' is none that a Constant has",
                           "the model is invalid; export it again"));
  }
  return constant;
}

}  // namespace intarsia::converter
