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

// Rules for operators on maps (version_conversion_maps.cpp).
void zip_map(Node& node);
void dict_vectorizer(Node& node);
void cast_map(Node& node);

}  // namespace intarsia::converter::version_steps
