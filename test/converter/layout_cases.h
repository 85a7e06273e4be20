// SPDX-License-Identifier: Apache-2.0
//
// Models convolution -> operator -> convolution: one for each class of operators that the layout
// pass may rewrite, and for what it must leave alone.
#pragma once

#include <random>

#include "test/runtime/small_plan.h"

namespace intarsia::test::layout {

using converter::OnnxBuilder;
using Ints = std::vector<int64_t>;

/// The first output of a model, the first input of which is given eighths from -2 to 2.
template <class T>
std::vector<double> run(const OnnxBuilder& model) {
  SmallPlan plan(model);
  auto opened = plan.open();
  if (!opened.ok()) {
    ADD_FAILURE() << plan.text(plan.diagnostic);
    return {};
  }
  Session session = std::move(opened).value();
  std::mt19937 random(3);
  for (T& element : session.input<T>(0).value()) {
    element = static_cast<T>((static_cast<int>(random() % 33) - 16) / 8.0);
  }
  EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  const auto output = session.output<T>(0).value();
  return {output.begin(), output.end()};
}

/// A model under construction, in float or double. "h" is the first convolution's result,
/// [1,6,5,7]; what is called "z" goes into the second one.
struct Draft {
  OnnxBuilder model{28};
  DataType type;
  std::mt19937 random{7};

  std::vector<double> numbers(int64_t count) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back((static_cast<int>(random() % 33) - 16) / 8.0);
    return values;
  }
  void reals(const std::string& name, const Ints& extents, const std::vector<double>& values) {
    if (type == DataType::kDouble) {
      model.initializer(name, type, extents, values.data(), values.size() * sizeof(double));
    } else {
      model.floats(name, extents, {values.begin(), values.end()});
    }
  }
  void weights(const std::string& name, const Ints& extents) {
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    reals(name, extents, numbers(count));
  }
  void ints(const std::string& name, const Ints& values) {
    model.initializer(name, DataType::kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                      values.size() * sizeof(int64_t));
  }
  onnx::NodeProto& node(const char* op, const std::vector<std::string>& inputs,
                        const std::string& output = "z") {
    return model.node(op, inputs, {output});
  }
  void set(onnx::NodeProto& node, const char* name, int64_t value) { model.set(node, name, value); }
  void set(onnx::NodeProto& node, const char* name, const Ints& values) {
    model.set(node, name, values);
  }
};

struct Case {
  const char* name;
  /// Operators left after the pass, in order; "T" stands for Transpose.
  const char* left;
  void (*build)(Draft& draft);
  /// Channels of "z" if a second convolution follows, else 0: "z" is the output.
  int64_t channels = 6;
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

inline OnnxBuilder model_of(const Case& c, DataType type) {
  Draft draft;
  draft.type = type;
  draft.model.input("x", {1, 4, 7, 5}, type);
  draft.weights("w0", {6, 4, 3, 3});
  auto& conv = draft.node("Conv", {"x", "w0"}, "h");
  draft.set(conv, "pads", Ints{1, 1, 1, 1});
  c.build(draft);
  if (c.channels != 0) {
    draft.weights("w1", {3, c.channels, 1, 1});
    draft.node("Conv", {"z", "w1"}, "y");
  }
  draft.model.output(c.channels != 0 ? "y" : "z");
  return std::move(draft.model);
}

inline const Case kCases[] = {
    {"cumsum", "T Conv CumSum Conv T",
     [](Draft& d) {
       const int64_t axis = 1;
       d.model.initializer("axis", DataType::kInt64, {}, &axis, sizeof(axis));
       d.node("CumSum", {"h", "axis"});
     }},
    {"softmax", "T Conv Softmax Conv T",
     [](Draft& d) { d.set(d.node("Softmax", {"h"}), "axis", 1); }},
    {"softmax_of_columns", "T Conv Softmax Conv T",
     [](Draft& d) { d.set(d.node("Softmax", {"h"}), "axis", -1); }},
    {"reduce", "T Conv ReduceSum Sub Conv T",
     [](Draft& d) {
       d.ints("axes", {1});
       d.node("ReduceSum", {"h", "axes"}, "s");
       d.node("Sub", {"h", "s"});
     }},
    {"reduce_two", "T Conv ReduceMax Mul Conv T",
     [](Draft& d) {
       d.ints("axes", {-1, 2});
       d.node("ReduceMax", {"h", "axes"}, "s");
       d.node("Mul", {"h", "s"});
     }},
    {"reduce_all", "T Conv ReduceMean Add Conv T",
     [](Draft& d) {
       d.set(d.node("ReduceMean", {"h"}, "s"), "keepdims", 0);
       d.node("Add", {"h", "s"});
     }},
    {"reduce_away", "T Conv ReduceMean",
     [](Draft& d) {
       d.ints("axes", {2, 3});
       d.set(d.node("ReduceMean", {"h", "axes"}), "keepdims", 0);
     },
     0},
    {"reduce_away_rows", "T Conv T ReduceMean",
     [](Draft& d) {
       d.ints("axes", {2});
       d.set(d.node("ReduceMean", {"h", "axes"}), "keepdims", 0);
     },
     0},
    {"arg_max", "T Conv ArgMax Cast",
     [](Draft& d) {
       auto& node = d.node("ArgMax", {"h"}, "i");
       d.set(node, "axis", 1);
       d.set(node, "keepdims", 0);
       d.set(d.node("Cast", {"i"}), "to", static_cast<int64_t>(d.type));
     },
     0},
    {"pad", "T Conv Pad Conv T",
     [](Draft& d) {
       d.ints("pads", {0, 1, 2, 0, 0, 0, 1, 3});
       d.node("Pad", {"h", "pads"});
     },
     7},
    {"pad_named", "T Conv Pad Conv T",
     [](Draft& d) {
       d.ints("pads", {2, 1, 0, 3});
       d.ints("axes", {-1, 1});
       d.reals("value", {}, {0.5});
       d.node("Pad", {"h", "pads", "value", "axes"});
     },
     10},
    {"resize", "T Conv Resize Conv T",
     [](Draft& d) {
       d.model.floats("scales", {4}, {1, 1, 2, 3});
       d.node("Resize", {"h", "", "scales"});
     }},
    {"resize_linear", "T Conv Resize Conv T",
     [](Draft& d) {
       d.ints("sizes", {9, 4});
       auto& node = d.node("Resize", {"h", "", "", "sizes"});
       d.model.set(node, "mode", "linear");
       d.set(node, "axes", Ints{3, 2});
     }},
    {"slice", "T Conv Slice Conv T",
     [](Draft& d) {
       d.ints("starts", {0, -1});
       d.ints("ends", {1, -5});
       d.ints("axes", {0, 1});
       d.ints("steps", {1, -1});
       d.node("Slice", {"h", "starts", "ends", "axes", "steps"});
     },
     4},
    {"slice_leading", "T Conv Slice Conv T",
     [](Draft& d) {
       d.ints("starts", {0, 1, 1});
       d.ints("ends", {1, 5, 4});
       d.node("Slice", {"h", "starts", "ends"});
     },
     4},
    {"split", "T Conv Split Sub Conv T",
     [](Draft& d) {
       auto& node = d.model.node("Split", {"h"}, {"a", "b"});
       d.set(node, "axis", 1);
       d.set(node, "num_outputs", 2);
       d.node("Sub", {"a", "b"});
     },
     3},
    {"concat", "T Conv Neg Concat Conv T",
     [](Draft& d) {
       d.node("Neg", {"h"}, "n");
       d.set(d.node("Concat", {"h", "n"}), "axis", 1);
     },
     12},
    {"gather", "T Conv Gather Conv T",
     [](Draft& d) {
       d.ints("indices", {5, 0, -2});
       d.set(d.node("Gather", {"h", "indices"}), "axis", 1);
     },
     3},
    {"gather_row", "T Conv T Gather",
     [](Draft& d) {
       const int64_t row = 3;
       d.model.initializer("row", DataType::kInt64, {}, &row, sizeof(row));
       d.set(d.node("Gather", {"h", "row"}), "axis", 2);
     },
     0},
    {"tile", "T Conv Tile Conv T",
     [](Draft& d) {
       d.ints("repeats", {1, 2, 1, 3});
       d.node("Tile", {"h", "repeats"});
     },
     12},
    {"expand", "T Conv ReduceMax Expand Conv T",
     [](Draft& d) {
       d.ints("axes", {2, 3});
       d.ints("shape", {1, 2, 5});
       d.node("ReduceMax", {"h", "axes"}, "m");
       d.node("Expand", {"m", "shape"});
     }},
    {"normalize", "T Conv LpNormalization Conv T",
     [](Draft& d) { d.set(d.node("LpNormalization", {"h"}), "axis", 1); }},
    {"mean_variance", "T Conv MeanVarianceNormalization Conv T",
     [](Draft& d) { d.node("MeanVarianceNormalization", {"h"}); }},
    {"layer_norm_of_images", "T Conv LayerNormalization Add Conv T",
     [](Draft& d) {
       d.weights("scale", {6, 7, 5});
       d.weights("shift", {6, 1, 1});
       d.set(d.node("LayerNormalization", {"h", "scale"}, "l"), "axis", 1);
       d.node("Add", {"l", "shift"});
     }},
    {"layer_norm_of_rows", "T Conv T LayerNormalization Conv",
     [](Draft& d) {
       d.weights("scale", {5});
       d.node("LayerNormalization", {"h", "scale"});
     }},
    {"local_response", "T Conv LRN Conv T",
     [](Draft& d) { d.set(d.node("LRN", {"h"}), "size", 3); }},
    {"pools", "T Conv MaxPool LpPool Conv T",
     [](Draft& d) {
       d.set(d.node("MaxPool", {"h"}, "m"), "kernel_shape", Ints{2, 2});
       d.set(d.node("LpPool", {"m"}), "kernel_shape", Ints{2, 3});
     }},
    {"conv_transpose", "T Conv ConvTranspose Conv T",
     [](Draft& d) {
       d.weights("wt", {6, 2, 2, 2});
       d.set(d.node("ConvTranspose", {"h", "wt"}), "strides", Ints{2, 2});
     },
     2},
    {"top_k", "T Conv TopK Cast Add Conv T",
     [](Draft& d) {
       d.ints("k", {4});
       d.set(d.model.node("TopK", {"h", "k"}, {"v", "i"}), "axis", 1);
       d.set(d.node("Cast", {"i"}, "c"), "to", static_cast<int64_t>(d.type));
       d.node("Add", {"v", "c"});
     },
     4},
    {"transpose_and_back", "T Conv LayerNormalization Conv T",
     [](Draft& d) {
       d.weights("scale", {6});
       d.set(d.node("Transpose", {"h"}, "t"), "perm", Ints{0, 2, 3, 1});
       d.node("LayerNormalization", {"t", "scale"}, "l");
       d.set(d.node("Transpose", {"l"}), "perm", Ints{0, 3, 1, 2});
     }},
    {"transpose", "T Conv T",
     [](Draft& d) {
       d.set(d.node("Transpose", {"h"}), "perm", Ints{3, 1, 0, 2});
     },
     0},
    {"transposed_for_a_convolution", "T Conv T Softmax Conv T",
     [](Draft& d) {
       d.set(d.node("Transpose", {"h"}, "t"), "perm", Ints{0, 3, 1, 2});
       d.set(d.node("Softmax", {"t"}), "axis", 1);
     },
     5},
    {"transposed_twice", "T Conv T",
     [](Draft& d) {
       d.set(d.node("Transpose", {"h"}, "t"), "perm", Ints{1, 0, 2, 3});
       d.set(d.node("Transpose", {"t"}, "u"), "perm", Ints{3, 2, 1, 0});
       d.node("Transpose", {"u"});
     },
     0},
    {"per_channel", "T Conv PRelu Where Conv T",
     [](Draft& d) {
       d.weights("slope", {6, 1, 1});
       d.model.initializer("mask", DataType::kBool, {6, 1, 5});
       auto* mask = d.model.graph().mutable_initializer(d.model.graph().initializer_size() - 1);
       std::string bytes;
       for (int i = 0; i < 30; ++i) bytes += static_cast<char>(i % 3 == 0);
       mask->set_raw_data(bytes);
       d.node("PRelu", {"h", "slope"}, "p");
       d.node("Where", {"mask", "p", "h"});
     }},
    {"indices_count_in_onnx_order", "T Conv T MaxPool Cast",
     [](Draft& d) {
       auto& node = d.model.node("MaxPool", {"h"}, {"m", "i"});
       d.set(node, "kernel_shape", Ints{2, 2});
       d.set(d.node("Cast", {"i"}), "to", static_cast<int64_t>(d.type));
     },
     0},
    {"reshape_sees_onnx_order", "T Conv T Reshape",
     [](Draft& d) {
       d.ints("shape", {6, 35});
       d.node("Reshape", {"h", "shape"});
     },
     0},
    {"enlarged_last", "T Conv T Resize",
     [](Draft& d) {
       d.model.floats("scales", {4}, {1, 1, 2, 3});
       d.node("Resize", {"h", "", "scales"});
     },
     0},
};

}  // namespace intarsia::test::layout
