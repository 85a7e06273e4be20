// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/plugin/shape_inference.h"

#include <algorithm>

#include "pyop_optional/host/buffer.h"

namespace intarsia::pyop {
namespace {

using definitions::Dim;
using definitions::SymbolicShapeContext;
using Descriptions = std::vector<TensorDescription>;

bool has_bounds(const SymbolicShapeContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    for (int axis = 0; axis < context.rank(i); ++axis) {
      if (context.dim(i, axis).upper() > INT32_MAX) return false;
    }
  }
  return true;
}

bool varies(const SymbolicShapeContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    for (int axis = 0; axis < context.rank(i); ++axis) {
      if (!is_constant(context.dim(i, axis))) return true;
    }
  }
  return false;
}

/// The inputs with their largest or smallest extents.
Descriptions describe_inputs(const SymbolicShapeContext& context, size_t count, bool largest) {
  Descriptions inputs;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    TensorDescription& input = inputs.emplace_back();
    if (i >= context.input_count() || !context.has_input(i)) continue;
    input.type = context.type(i);
    for (int axis = 0; axis < context.rank(i); ++axis) {
      const Dim extent = context.dim(i, axis);
      input.extents.push_back(std::max<int64_t>(0, largest ? extent.upper() : extent.lower()));
    }
  }
  return inputs;
}

/// Sets the outputs; `smallest`, if given, tells which axes vary. Throws Failure.
void set_outputs(SymbolicShapeContext& context, const NodeAttributes& attributes,
                 const Descriptions& largest, const Descriptions* smallest) {
  for (int i = 0; i < context.output_count(); ++i) {
    const auto place = static_cast<size_t>(i);
    const TensorDescription& output = largest[place];
    const DataType declared = attributes.outputs[place];
    const DataType type = declared != DataType::kUndefined ? declared : output.type;
    if (output.type != DataType::kUndefined && output.type != type) {
      throw Failure(Code::kWrongType, kOperator,
                    "output " + std::to_string(i) + ": expected " + dtype_name(type) +
                        ", its shape function says " + dtype_name(output.type));
    }
    if (output.extents.size() > kMaxRank) {
      throw Failure(Code::kWrongRank, kOperator,
                    "output " + std::to_string(i) + ": expected at most " +
                        std::to_string(kMaxRank) + " axes, got " +
                        std::to_string(output.extents.size()));
    }
    const bool comparable =
        smallest == nullptr || (*smallest)[place].extents.size() == output.extents.size();
    Shape<Dim> shape;
    for (size_t axis = 0; axis < output.extents.size(); ++axis) {
      const int64_t extent = output.extents[axis];
      if (extent < 0 || extent > INT32_MAX) {
        throw Failure(Code::kWrongExtent, kOperator,
                      "output " + std::to_string(i) + ": extent " + std::to_string(extent) +
                          " of axis " + std::to_string(axis) + " is impossible");
      }
      const int64_t other =
          smallest != nullptr && comparable ? (*smallest)[place].extents[axis] : extent;
      const bool fixed = comparable && other == extent;
      shape.push(fixed ? Dim(extent) : Dim::unknown(0, std::max(extent, other)));
    }
    if (Status status = context.set_output(i, type, shape); !status) {
      throw Failure(status.code(), kOperator, context.text());
    }
  }
}

/// Asks the operator's own shape function; false if it has none.
bool ask(SymbolicShapeContext& context, const Instance& instance) {
  const NodeAttributes& attributes = instance.attributes();
  const size_t count = attributes.inputs.size();
  const auto largest = instance.infer(describe_inputs(context, count, true));
  if (!largest) return false;
  if (varies(context)) {
    const auto smallest = instance.infer(describe_inputs(context, count, false));
    set_outputs(context, attributes, *largest, &*smallest);
  } else {
    set_outputs(context, attributes, *largest, nullptr);
  }
  return true;
}

constexpr const char* kInterrupted = "the conversion was interrupted";

Status check_operands(const SymbolicShapeContext& context, const NodeAttributes& attributes) {
  // The definition of an operator defined in Python has had its say; PyOp is defined by its node.
  const bool exact = attributes.convention == Convention::kCompute;
  const auto count = [&](size_t declared, int found, const char* what) {
    if (!exact || static_cast<size_t>(found) == declared) return Status();
    return context.fail(Code::kInvalidValue, kOperator,
                        "expected " + std::to_string(declared) + " " + what + ", the node has " +
                            std::to_string(found));
  };
  if (Status status = count(attributes.inputs.size(), context.input_count(), "inputs"); !status) {
    return status;
  }
  if (Status status = count(attributes.outputs.size(), context.output_count(), "outputs");
      !status) {
    return status;
  }
  for (int i = 0; i < context.output_count(); ++i) {
    const DataType expected = attributes.outputs[static_cast<size_t>(i)];
    const DataType found = context.outputs()[static_cast<size_t>(i)].type;
    if (expected != DataType::kUndefined && found != DataType::kUndefined && found != expected) {
      return context.fail(Code::kWrongType, kOperator,
                          "output " + std::to_string(i) + ": expected " + dtype_name(expected) +
                              ", the model has " + dtype_name(found));
    }
  }
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    const DataType expected = attributes.inputs[static_cast<size_t>(i)];
    const DataType found = context.type(i);
    if (expected != DataType::kUndefined && found != expected) {
      return context.fail(Code::kWrongType, kOperator,
                          "input " + std::to_string(i) + ": expected " + dtype_name(expected) +
                              ", the model has " + dtype_name(found));
    }
    if (!is_for_python(found)) {
      return context.fail(Code::kUnsupported, kOperator,
                          "input " + std::to_string(i) + " has type " + dtype_name(found) +
                              ", for which Python has no elements");
    }
  }
  return {};
}

}  // namespace

Status ShapeInference::infer(SymbolicShapeContext& context) const {
  const auto attributes = NodeAttributes::decode(context.attribute_blob());
  if (!attributes) return context.fail(Code::kInvalidValue, "attributes of a Python operator");
  if (Status status = check_operands(context, *attributes); !status) return status;
  for (int i = 0; i < context.output_count(); ++i) {
    if (Status status = context.set_output_type(i, attributes->outputs[static_cast<size_t>(i)]);
        !status) {
      return status;
    }
  }
  if (attributes->convention == Convention::kFunction &&
      static_cast<size_t>(context.output_count()) == attributes->outputs.size()) {
    const int last = context.output_count() - 1;
    if (Status status = context.set_output(last, DataType::kInt64, {}); !status) return status;
  }
  if (!has_bounds(context)) return {};
  const Gil gil;
  if (host_.is_interrupted()) return context.fail(Code::kOperatorFailed, kOperator, kInterrupted);
  try {
    ask(context, Instance(host_.tools, *attributes));
  } catch (const Failure& failure) {
    // The model may declare the extents; where it does not, `try_on_zeros` tells what is wrong.
    if (failure.is_error) return {};
    host_.keep(failure);
    return context.fail(failure.code, failure.what_failed, failure.text);
  }
  return {};
}

Status ShapeInference::try_on_zeros(SymbolicShapeContext& context) const {
  const auto attributes = NodeAttributes::decode(context.attribute_blob());
  if (!attributes) return context.fail(Code::kInvalidValue, "attributes of a Python operator");
  if (!has_bounds(context)) {
    return context.fail(Code::kInvalidValue, kOperator,
                        "an extent of an input has no bound, so there is nothing to run it on");
  }
  const Gil gil;
  if (host_.is_interrupted()) return context.fail(Code::kOperatorFailed, kOperator, kInterrupted);
  try {
    Instance instance(host_.tools, *attributes);
    if (ask(context, instance)) return {};
    const Descriptions inputs = describe_inputs(context, attributes->inputs.size(), true);
    std::vector<std::vector<std::byte>> zeros(inputs.size());
    std::vector<std::vector<int32_t>> extents(inputs.size());
    std::vector<TensorView> views(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      extents[i].assign(inputs[i].extents.begin(), inputs[i].extents.end());
      views[i] = {nullptr, extents[i].data(), inputs[i].type,
                  static_cast<uint8_t>(extents[i].size())};
      zeros[i].resize(static_cast<size_t>(views[i].bytes()) + 1);
      views[i].data = zeros[i].data();
    }
    Descriptions outputs(attributes->outputs.size());
    const auto empty = [](StringRef) { return std::string_view(); };
    instance.call(views, empty, attributes->outputs,
                  [&outputs](int output, const ResultTensor& result) {
                    TensorDescription& described = outputs[static_cast<size_t>(output)];
                    described.type = result.type();
                    described.extents.assign(result.extents().begin(), result.extents().end());
                  });
    // One run does not tell which axes vary; if the inputs do, every axis may.
    Descriptions nothing(outputs.size());
    set_outputs(context, *attributes, outputs, varies(context) ? &nothing : nullptr);
    return {};
  } catch (const Failure& failure) {
    host_.keep(failure);
    return context.fail(failure.code, failure.what_failed, failure.text);
  } catch (const std::exception& error) {
    return context.fail(Code::kOperatorFailed, kOperator, error.what());
  }
}

}  // namespace intarsia::pyop
