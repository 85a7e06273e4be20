// SPDX-License-Identifier: Apache-2.0
//
// PyOp as the converter sees it: one definition per domain, any domain, since the node itself names
// its types, its class and what the constructor is given.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <string>

#include "core/definitions/definition.h"
#include "pyop_optional/plugin/shape_inference.h"

namespace intarsia::pyop {

/// What definitions of all Python operators have in common: kernel, shape functions, no folding.
definitions::OperatorDefinition python_definition(const ShapeInference& shapes);

class PyOpDefinitions {
 public:
  explicit PyOpDefinitions(const ShapeInference& shapes) : shapes_(shapes) {}

  /// The definition of PyOp in `domain`; null for other operators.
  const definitions::OperatorDefinition* find(std::string_view domain, std::string_view name);

 private:
  const ShapeInference& shapes_;
  std::mutex mutex_;
  std::map<std::string, definitions::OperatorDefinition, std::less<>> by_domain_;
};

/// Reads the attributes of a PyOp node. Returns "" or what is wrong with them.
std::string read_pyop_attributes(const definitions::AttributeMap& attributes,
                                 std::vector<std::byte>& blob);

}  // namespace intarsia::pyop
