// SPDX-License-Identifier: Apache-2.0
//
// Values of inputs that have to be known before the run, because it follows from them which nodes
// there are, or the ranks of their results.
#pragma once

#include <string>
#include <vector>

#include "converter/graph/infer.h"

namespace intarsia::converter {

/// The form of a node depends on values that are not known. `inputs` are those of the model that
/// the values are computed from, as far as models decide by such inputs: integers and truth values.
class UndecidedError : public Error {
 public:
  UndecidedError(std::vector<Problem> problems, std::vector<std::string> inputs)
      : Error(std::move(problems)), inputs_(std::move(inputs)) {}

  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  std::vector<std::string> inputs_;
};

/// The error for `node`, where `deciding` has to be known; it says how to give the inputs' values.
UndecidedError undecided(const Node& node, std::string message, const Value* deciding);

}  // namespace intarsia::converter
