// SPDX-License-Identifier: Apache-2.0
//
// Operators that ONNX defines by others, and that need no kernel of their own: windows of signal
// processing, gated activations, dynamic quantisation, small ones of ai.onnx.ml.
// Source: onnx/docs/Operators.md and Operators-ml.md.
#include <numbers>

#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {
namespace {

Value* cast(Node& node, Value* value, DataType to) {
  return emit(node, "Cast", {value}, {{"to", static_cast<int64_t>(to)}});
}

/// a - b cos(2 pi i / N) + c cos(4 pi i / N) for i in 0 to size - 1. N is the size, or one less,
/// so that the last element is like the first.
void window(Node& node, double a, double b, double c) {
  require_input(node, 0, "size");
  const auto number = [&node](double value) {
    return constant(node, "number", Constant::scalar<double>(value));
  };
  const int64_t to = node.integer("output_datatype", int64_t{1});
  Value* size = cast(node, node.input(0), DataType::kDouble);
  Value* period = node.integer("periodic", 1) != 0 ? size : emit(node, "Sub", {size, number(1)});
  Value* positions = emit(node, "Range", {number(0), size, number(1)});
  Value* turns = emit(node, "Div", {positions, period});
  const auto cosine = [&](double scale, double cycles) {
    Value* angle = emit(node, "Mul", {turns, number(2 * std::numbers::pi * cycles)});
    return emit(node, "Mul", {emit(node, "Cos", {angle}), number(scale)});
  };
  Value* sum = emit(node, "Sub", {number(a), cosine(b, 1)});
  if (c != 0) sum = emit(node, "Add", {sum, cosine(c, 2)});
  become_results(node, {emit(node, "Cast", {sum}, {{"to", to}})});
}

}  // namespace

void hann_window(Node& node) {
  window(node, 0.5, 0.5, 0);
}
void hamming_window(Node& node) {
  window(node, 25.0 / 46, 21.0 / 46, 0);
}
void blackman_window(Node& node) {
  window(node, 0.42, 0.5, 0.08);
}

void swi_glu(Node& node) {
  require_input(node, 0, "A");
  require_input(node, 1, "B");
  Value* gate = emit(node, "Swish", {node.input(0)}, {{"alpha", node.real("alpha", 1)}});
  become_results(node, {emit(node, "Mul", {gate, node.input(1)})});
}

/// A range without extent has the scale 1, so that nothing is divided by 0.
void dynamic_quantize_linear(Node& node) {
  require_input(node, 0, "x");
  const auto number = [&node](float value) {
    return constant(node, "number", Constant::scalar<float>(value));
  };
  const auto extreme = [&](const char* reduction, const char* op) {
    Value* found = emit(node, reduction, {node.input(0)}, {{"keepdims", int64_t{0}}});
    return emit(node, op, {found, number(0)});
  };
  Value* low = extreme("ReduceMin", "Min");
  Value* range = emit(node, "Sub", {extreme("ReduceMax", "Max"), low});
  Value* empty = emit(node, "Equal", {range, number(0)});
  Value* scale = emit(node, "Where", {empty, number(1), emit(node, "Div", {range, number(255)})});
  Value* zero = emit(node, "QuantizeLinear", {emit(node, "Neg", {low}), scale});
  Value* y = emit(node, "QuantizeLinear", {node.input(0), scale, zero});
  become_results(node, {y, scale, zero});
}

/// What is too long is cut at both ends, what is too short gets zeros; an odd one more at the end.
void center_crop_pad(Node& node) {
  require_input(node, 0, "input_data");
  require_input(node, 1, "shape");
  const auto ints = [&node](const std::vector<int64_t>& values) {
    return constant(node, "list", Constant::ints(values));
  };
  Value* x = node.input(0);
  Value* axes = node.attribute("axes") != nullptr ? ints(node.integers("axes")) : nullptr;
  Value* found = emit(node, "Shape", {x});
  if (axes != nullptr) found = emit(node, "Gather", {found, axes});
  Value* wanted = cast(node, node.input(1), DataType::kInt64);
  Value* kept = emit(node, "Min", {found, wanted});
  const auto half = [&](Value* value) { return emit(node, "Div", {value, ints({2})}); };
  Value* begin = half(emit(node, "Sub", {found, kept}));
  Value* end = emit(node, "Add", {begin, kept});
  Value* window = axes != nullptr ? emit(node, "Slice", {x, begin, end, axes})
                                  : emit(node, "Slice", {x, begin, end});
  Value* missing = emit(node, "Sub", {wanted, kept});
  Value* before = half(missing);
  Value* after = emit(node, "Sub", {missing, before});
  Value* pads = emit(node, "Concat", {before, after}, {{"axis", int64_t{0}}});
  become_results(node, {axes != nullptr ? emit(node, "Pad", {window, pads, nullptr, axes})
                                        : emit(node, "Pad", {window, pads})});
}

void binarizer(Node& node) {
  const DataType type = known_type(node, 0, "X");
  Value* threshold = constant(
      node, "threshold", Constant::scalar_of(type, static_cast<double>(node.real("threshold", 0))));
  become_results(node, {cast(node, emit(node, "Greater", {node.input(0), threshold}), type)});
}

}  // namespace intarsia::converter::version_steps
