// SPDX-License-Identifier: Apache-2.0
//
// How passes put one operator in the place of others.
#pragma once

#include <span>
#include <string_view>

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// A new node in front of `last`, of an operator of the converter's opset, with one output.
Node& insert_before(Node& last, std::string_view domain, std::string_view type,
                    std::span<Value* const> inputs, definitions::AttributeMap attributes,
                    Inference& inference);

/// Replaces `last`, which has one output, by such a node. Leaves it behind without readers.
void replace_by(Node& last, std::string_view domain, std::string_view type,
                std::span<Value* const> inputs, definitions::AttributeMap attributes,
                Inference& inference);

}  // namespace intarsia::converter
