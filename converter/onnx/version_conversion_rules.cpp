// SPDX-License-Identifier: Apache-2.0
//
// One function per change of ONNX's operators, and the table that says which nodes it concerns.
// Source: onnx/docs/Changelog.md. Changes that only allow more (types, broadcasting, attributes
// whose default keeps the old meaning) need no row.
#include <algorithm>
#include <cctype>

#include "converter/onnx/version_conversion.h"
#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter {
namespace {

using namespace version_steps;

void axes_to_input(Node& node) {
  ints_to_input(node, "axes", 1);
}

void unsqueeze(Node& node) {
  ints_to_input(node, "axes", 1);
  require_input(node, 1, "axes");
}

// Integers were allowed: the result is cut to a whole number.
void real_function(Node& node) {
  constexpr auto kIntegers = definitions::types(
      {DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64, DataType::kUint8,
       DataType::kUint16, DataType::kUint32, DataType::kUint64});
  const DataType type = node.inputs[0]->type;
  if (!definitions::contains(kIntegers, type)) return;
  node.set_input(
      0, emit(node, "Cast", {node.inputs[0]}, {{"to", static_cast<int64_t>(DataType::kDouble)}}));
  append(node, 0, "Cast")->attributes["to"] = static_cast<int64_t>(type);
}

void clip(Node& node) {
  real_to_input(node, "min", 1);
  real_to_input(node, "max", 2);
}

void pad_1(Node& node) {
  if (const auto* paddings = node.attribute("paddings")) {
    node.attributes["pads"] = *paddings;
    node.attributes.erase("paddings");
  }
}

void pad_2(Node& node) {
  ints_to_input(node, "pads", 1);
  require_input(node, 1, "pads");
  real_to_input(node, "value", 2);
}

void slice(Node& node) {
  ints_to_input(node, "starts", 1);
  ints_to_input(node, "ends", 2);
  ints_to_input(node, "axes", 3);
  require_input(node, 1, "starts");
  require_input(node, 2, "ends");
}

void split_sizes(Node& node) {
  ints_to_input(node, "split", 1);
}

// Equal parts were implied by the number of outputs.
void split_count(Node& node) {
  if (node.input(1) == nullptr) {
    node.attributes["num_outputs"] = static_cast<int64_t>(node.outputs.size());
  }
}

void reshape(Node& node) {
  ints_to_input(node, "shape", 1);
  require_input(node, 1, "shape");
}

void top_k(Node& node) {
  if (node.attribute("k") != nullptr) {
    node.set_input(1, constant(node, "k", Constant::ints({node.integer("k", 0)})));
    node.attributes.erase("k");
  }
  require_input(node, 1, "k");
}

void dft(Node& node) {
  node.set_input(2, constant(node, "axis", Constant::scalar<int64_t>(node.integer("axis", 1))));
  node.attributes.erase("axis");
}

Value* as_int64(Node& node, Value* value) {
  return emit(node, "Cast", {value}, {{"to", static_cast<int64_t>(DataType::kInt64)}});
}

// One axis was repeated; a number for each is now given.
void tile_1(Node& node) {
  require_input(node, 1, "tiles");
  require_input(node, 2, "axis");
  Value* rank = emit(node, "Size", {emit(node, "Shape", {node.inputs[0]})});
  Value* zero = constant(node, "zero", Constant::scalar<int64_t>(0));
  Value* one = constant(node, "one", Constant::scalar<int64_t>(1));
  Value* axes = emit(node, "Range", {zero, rank, one});
  Value* axis = emit(node, "Mod", {as_int64(node, node.inputs[2]), rank});
  Value* repeated = emit(node, "Equal", {axes, axis});
  Value* repeats = emit(node, "Where", {repeated, as_int64(node, node.inputs[1]), one});
  node.truncate_inputs(1);
  node.set_input(1, repeats);
}

void concat_1(Node& node) {
  node.attributes.try_emplace("axis", int64_t{1});
}

// The lengths, as an input, had the type of the data.
void split_1(Node& node) {
  if (node.input(1) != nullptr) node.set_input(1, as_int64(node, node.input(1)));
}

void cast_1(Node& node) {
  std::string name = node.text("to", "");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (int type = 1; type <= kLastDataType; ++type) {
    if (data_type_name(static_cast<DataType>(type)) == name) {
      node.attributes["to"] = static_cast<int64_t>(type);
      return;
    }
  }
  refuse(node, "attribute 'to' is '" + name + "', which is no element type");
}

void drop_broadcast(Node& node) {
  node.attributes.erase("broadcast");
}

void drop_output_sequence(Node& node) {
  node.attributes.erase("output_sequence");
}

// "To the end" is written as any large number.
void shape(Node& node) {
  for (const char* name : {"start", "end"}) {
    if (node.attribute(name) == nullptr) continue;
    node.attributes[name] = std::clamp<int64_t>(node.integer(name, 0), INT32_MIN, INT32_MAX);
  }
}

// `b` with axes of extent 1 behind its own, so that its first axis meets axis `axis` of `a`.
Value* align_to_axis(Node& node, Value* a, Value* b, int64_t axis) {
  Value* b_extents = emit(node, "Shape", {b});
  Value* taken =
      emit(node, "Add",
           {emit(node, "Shape", {b_extents}), constant(node, "axis", Constant::ints({axis}))});
  Value* left = emit(node, "Sub", {emit(node, "Shape", {emit(node, "Shape", {a})}), taken});
  Value* ones = emit(node, "ConstantOfShape", {left});
  ones->producer->tensors["value"] = Constant::ints({1});
  Value* extents = emit(node, "Concat", {b_extents, ones}, {{"axis", int64_t{0}}});
  return emit(node, "Reshape", {b, extents});
}

void legacy_broadcast(Node& node) {
  const int64_t axis = node.integer("axis", -1);
  const bool broadcast = node.integer("broadcast", 0) != 0;
  node.attributes.erase("axis");
  node.attributes.erase("broadcast");
  if (!broadcast || axis < 0) return;
  require_input(node, 1, "B");
  node.set_input(1, align_to_axis(node, node.input(0), node.input(1), axis));
}

// The slope had one element or one per channel.
void prelu(Node& node) {
  require_input(node, 1, "slope");
  const Value* slope = node.input(1);
  if (slope->constant && (slope->constant->count() == 1 || slope->constant->rank() != 1)) return;
  node.set_input(1, align_to_axis(node, node.input(0), node.input(1), 1));
}

void selu(Node& node) {
  node.attributes.try_emplace("alpha", 1.6732F);
  node.attributes.try_emplace("gamma", 1.0507F);
}

// The exponent was a float.
void lp_order(Node& node) {
  if (node.attribute("p") == nullptr) return;
  if (const float* p = std::get_if<float>(&node.attributes["p"])) {
    const auto whole = static_cast<int64_t>(*p);
    if (static_cast<float>(whole) != *p) refuse(node, "attribute 'p' is no whole number");
    node.attributes["p"] = whole;
  }
}

void upsample_1(Node& node) {
  const std::vector<float> scales = {1, 1, node.real("height_scale", 1),
                                     node.real("width_scale", 1)};
  node.attributes.erase("height_scale");
  node.attributes.erase("width_scale");
  if (node.text("mode", "nearest") == "bilinear") node.attributes["mode"] = "linear";
  node.attributes["scales"] = scales;
}

void upsample_7(Node& node) {
  const std::vector<float> scales = node.reals("scales");
  node.attributes.erase("scales");
  node.set_input(1, constant(node, "scales",
                             Constant::of<float>({static_cast<int64_t>(scales.size())}, scales)));
}

// Resize had no input for a region, and one way to compute coordinates.
void scales_alone(Node& node) {
  Value* scales = node.input(1);
  node.set_input(2, scales);
  node.set_input(1, nullptr);
  node.attributes["coordinate_transformation_mode"] = "asymmetric";
  node.attributes["nearest_mode"] = "floor";
}

void upsample_9(Node& node) {
  node.type = "Resize";
  node.version = 11;
  scales_alone(node);
}

// The nearest element was the next one above along axes that shrink: these go first.
void resize_10(Node& node) {
  scales_alone(node);
  Value* scales = node.input(2);
  if (node.text("mode", "nearest") != "nearest" || scales == nullptr) return;
  if (scales->constant && scales->constant->type == DataType::kFloat) {
    const std::span<const float> factors = scales->constant->as<float>();
    if (std::all_of(factors.begin(), factors.end(), [](float x) { return x >= 1; })) return;
  }
  Value* one = constant(node, "one", Constant::scalar<float>(1));
  definitions::AttributeMap attributes = node.attributes;
  attributes["nearest_mode"] = "ceil";
  Value* least = emit(node, "Min", {scales, one});
  node.set_input(0, emit(node, "Resize", {node.input(0), nullptr, least}, attributes));
  node.set_input(2, emit(node, "Max", {scales, one}));
}

// Exporters leave optional inputs out by giving them no elements.
void resize(Node& node) {
  for (int index : {1, 2, 3}) {
    const Value* value = node.input(index);
    if (value != nullptr && value->constant && value->constant->count() == 0) {
      node.set_input(index, nullptr);
    }
  }
  node.trim();
}

void scatter(Node& node) {
  node.type = "ScatterElements";
}

void roi_align(Node& node) {
  node.attributes["coordinate_transformation_mode"] = "output_half_pixel";
}

void grid_sample(Node& node) {
  const std::string mode = node.text("mode", "bilinear");
  if (mode == "bilinear") node.attributes["mode"] = "linear";
  if (mode == "bicubic") node.attributes["mode"] = "cubic";
}

constexpr VersionRule kRules[] = {
    {"ai.onnx.ml:ArrayFeatureExtractor", kAnyVersion, array_feature_extractor},
    {"ai.onnx.ml:Binarizer", kAnyVersion, binarizer},
    {"ai.onnx.ml:CastMap", kAnyVersion, cast_map},
    {"ai.onnx.ml:CategoryMapper", kAnyVersion, category_mapper},
    {"ai.onnx.ml:DictVectorizer", kAnyVersion, dict_vectorizer},
    {"ai.onnx.ml:FeatureVectorizer", kAnyVersion, feature_vectorizer},
    {"ai.onnx.ml:Imputer", kAnyVersion, imputer},
    {"ai.onnx.ml:LabelEncoder", kAnyVersion, label_encoder},
    {"ai.onnx.ml:LinearClassifier", kAnyVersion, linear_classifier},
    {"ai.onnx.ml:LinearRegressor", kAnyVersion, linear_regressor},
    {"ai.onnx.ml:Normalizer", kAnyVersion, normalizer},
    {"ai.onnx.ml:OneHotEncoder", kAnyVersion, one_hot_encoder},
    {"ai.onnx.ml:SVMClassifier", kAnyVersion, svm_classifier},
    {"ai.onnx.ml:SVMRegressor", kAnyVersion, svm_regressor},
    {"ai.onnx.ml:Scaler", kAnyVersion, scaler},
    {"ai.onnx.ml:TreeEnsemble", kAnyVersion, tree_ensemble},
    {"ai.onnx.ml:TreeEnsembleClassifier", kAnyVersion, tree_ensemble_classifier},
    {"ai.onnx.ml:TreeEnsembleRegressor", kAnyVersion, tree_ensemble_regressor},
    {"ai.onnx.ml:ZipMap", kAnyVersion, zip_map},
    {"ai.onnx.preview.training:Adagrad", kAnyVersion, adagrad},
    {"ai.onnx.preview.training:Adam", kAnyVersion, adam},
    {"ai.onnx.preview.training:Momentum", kAnyVersion, momentum},
    {"com.microsoft:Tokenizer", kAnyVersion, tokenizer},
    {"Add", 7, legacy_broadcast},
    {"And", 7, legacy_broadcast},
    {"BatchNormalization", 14, batch_normalization},
    {"BlackmanWindow", kAnyVersion, blackman_window},
    {"Cast", 6, cast_1},
    {"CenterCropPad", kAnyVersion, center_crop_pad},
    {"Clip", 11, clip},
    {"Concat", 4, concat_1},
    {"DFT", 20, dft},
    {"Div", 7, legacy_broadcast},
    {"Dropout", 7, dropout_6},
    {"Dropout", 10, dropout_mask},
    {"Dropout", 12, dropout},
    {"DynamicQuantizeLinear", kAnyVersion, dynamic_quantize_linear},
    {"Einsum", kAnyVersion, einsum},
    {"Equal", 7, legacy_broadcast},
    {"Erf", 13, real_function},
    {"GRU", 7, drop_output_sequence},
    {"Gemm", 7, drop_broadcast},
    {"GlobalLpPool", 2, lp_order},
    {"Greater", 7, legacy_broadcast},
    {"GridSample", 20, grid_sample},
    {"GroupNormalization", 21, group_normalization},
    {"HammingWindow", kAnyVersion, hamming_window},
    {"HannWindow", kAnyVersion, hann_window},
    {"Hardmax", 13, softmax},
    {"LSTM", 7, drop_output_sequence},
    {"Less", 7, legacy_broadcast},
    {"LogSoftmax", 13, softmax},
    {"LpPool", 2, lp_order},
    {"Mul", 7, legacy_broadcast},
    {"NegativeLogLikelihoodLoss", kAnyVersion, negative_log_likelihood},
    {"Or", 7, legacy_broadcast},
    {"PRelu", 7, prelu},
    {"Pad", 2, pad_1},
    {"Pad", 11, pad_2},
    {"Pow", 7, legacy_broadcast},
    {"RNN", 7, drop_output_sequence},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSum", 28, real_function},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceLogSumExp", 28, real_function},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"RegexFullMatch", kAnyVersion, regex_full_match},
    {"Reshape", 5, reshape},
    {"Resize", 11, resize_10},
    {"Resize", kAnyVersion, resize},
    {"RoiAlign", 16, roi_align},
    {"Scan", 9, scan_8},
    {"Scatter", kAnyVersion, scatter},
    {"Selu", 6, selu},
    {"Shape", kAnyVersion, shape},
    {"Slice", 10, slice},
    {"Softmax", 13, softmax},
    {"SoftmaxCrossEntropyLoss", kAnyVersion, softmax_cross_entropy},
    {"Split", 2, split_1},
    {"Split", 13, split_sizes},
    {"Split", 18, split_count},
    {"Squeeze", 13, axes_to_input},
    {"Sub", 7, legacy_broadcast},
    {"SwiGLU", kAnyVersion, swi_glu},
    {"TfIdfVectorizer", kAnyVersion, tf_idf_vectorizer},
    {"Tile", 6, tile_1},
    {"TopK", 10, top_k},
    {"Unsqueeze", 13, unsqueeze},
    {"Upsample", 7, upsample_1},
    {"Upsample", 9, upsample_7},
    {"Upsample", 10, upsample_9},
    {"Xor", 7, legacy_broadcast},
};

}  // namespace

std::span<const VersionRule> version_rules() {
  return kRules;
}

}  // namespace intarsia::converter
