// SPDX-License-Identifier: Apache-2.0
//
// The steps that rules of version conversion are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter::version_steps {

/// Throws: the old form has no counterpart.
[[noreturn]] void refuse(const Node& node, std::string message);

/// A constant of the node's graph, named after the node.
Value* constant(Node& node, std::string_view suffix, Constant value);

/// A node of the newest operator set in front of `node`; returns its output.
Value* emit(Node& node, std::string_view type, std::vector<Value*> inputs,
            definitions::AttributeMap attributes = {});

/// A node behind `node` that turns what `node` computes as output `index` into what the model calls
/// so. `more` are its inputs but the first.
Node* append(Node& node, int index, std::string_view type, std::vector<Value*> more = {});

/// Turns the attribute `name`, a list of integers, into input `index`; absent stays absent.
void ints_to_input(Node& node, const char* name, int index);
/// The same for a float attribute that becomes a scalar of the type of input 0.
void real_to_input(Node& node, const char* name, int index);

void require_input(const Node& node, int index, const char* name);
/// The element type of an input that has to be there; throws where it is not known yet.
DataType known_type(const Node& node, int input, const char* name);

/// Lets what the node has computed be `results`, which nodes in front of it compute.
void become_results(Node& node, const std::vector<Value*>& results);

// Old forms that take more than some lines (version_conversion_layers.cpp,
// version_conversion_scan.cpp).
void softmax(Node& node);
void batch_normalization(Node& node);
void dropout_6(Node& node);
void dropout(Node& node);
void dropout_mask(Node& node);
void group_normalization(Node& node);
void scan_8(Node& node);

// Functions: operators that become others (functions*.cpp).
void hann_window(Node& node);
void hamming_window(Node& node);
void blackman_window(Node& node);
void swi_glu(Node& node);
void dynamic_quantize_linear(Node& node);
void center_crop_pad(Node& node);
void binarizer(Node& node);
void einsum(Node& node);
void adagrad(Node& node);
void adam(Node& node);
void momentum(Node& node);
void negative_log_likelihood(Node& node);
void softmax_cross_entropy(Node& node);
void zip_map(Node& node);
void dict_vectorizer(Node& node);
void cast_map(Node& node);
void array_feature_extractor(Node& node);
void feature_vectorizer(Node& node);
void imputer(Node& node);
void linear_classifier(Node& node);
void linear_regressor(Node& node);
void normalizer(Node& node);
void scaler(Node& node);
void svm_classifier(Node& node);
void svm_regressor(Node& node);
void tree_ensemble(Node& node);
void tree_ensemble_classifier(Node& node);
void tree_ensemble_regressor(Node& node);
void category_mapper(Node& node);
void label_encoder(Node& node);
void one_hot_encoder(Node& node);
void regex_full_match(Node& node);
void tokenizer(Node& node);
void tf_idf_vectorizer(Node& node);

}  // namespace intarsia::converter::version_steps
