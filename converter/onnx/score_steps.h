// SPDX-License-Identifier: Apache-2.0
//
// Steps that the classical models of ai.onnx.ml share: the type that is computed in, nodes of the
// converter's own operators, labels, and what is made of scores (`post_transform`).
// Source: onnx/docs/Operators-ml.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {

/// A node of one of the converter's own operators in front of `node`; returns its output.
Value* emit_own(Node& node, std::string_view type, std::vector<Value*> inputs,
                definitions::AttributeMap attributes);

Value* as_type(Node& node, Value* value, DataType type);
/// A constant of floats.
Value* floats(Node& node, std::string_view name, const std::vector<float>& values,
              std::vector<int64_t> extents);
/// The numbers as constants of float or double.
Value* reals(Node& node, std::string_view name, DataType type, const std::vector<double>& values,
             std::vector<int64_t> extents);
/// Two tensors side by side.
Value* beside(Node& node, Value* first, Value* second);

/// The class labels: integers, or strings where there are none of those. Throws if there are none.
Constant class_labels(const Node& node, const char* strings, const char* integers);
/// The labels of models that have one: 0 and 1, as integers or strings.
Constant yes_and_no(DataType type);
/// The label at each of the positions.
Value* labels_at(Node& node, Constant labels, Value* positions);
/// The column of the largest score of each row; of equal ones the first.
Value* best_column(Node& node, Value* scores);
/// Whether what stands in the one column is above a limit, as 1 or 0, for each row.
Value* above(Node& node, Value* column, DataType type, double limit);

/// `scores` [rows, columns] of float, double or float16 after a transform: "NONE", "SOFTMAX",
/// "LOGISTIC", "SOFTMAX_ZERO" or "PROBIT". Of one column, as in ONNX Runtime, only PROBIT makes
/// anything else; the specification does not say so, but a softmax of one number is always 1.
Value* transformed(Node& node, Value* scores, DataType type, int64_t columns,
                   const std::string& transform);
/// The attribute.
std::string post_transform(const Node& node);

}  // namespace intarsia::converter::version_steps
