// SPDX-License-Identifier: Apache-2.0
//
// Comparison of whole plans of one model: by their outputs, and pass by pass.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "converter/passes/passes.h"
#include "converter/tool/compare.h"

namespace intarsia::tool {

using Outputs = std::vector<std::pair<std::string, converter::Constant>>;

struct OutputDifference {
  std::string name;
  Difference difference;
  /// What differs apart from elements: type, extents, or bytes that are no numbers. "" if nothing.
  std::string mismatch;
};

/// One row for each expected output.
std::vector<OutputDifference> compare_outputs(const Outputs& found, const Outputs& expected);

/// True if no row has a mismatch or an error above `limit` of the output's scale.
bool agree(const std::vector<OutputDifference>& rows, double limit);

/// What a list of passes does to the outputs of a model.
struct PassCheck {
  /// The whole list against no pass at all.
  std::vector<OutputDifference> rows;
  bool agrees = true;
  /// Where they disagree, the pass after which they do so first; null if every prefix agrees.
  const converter::Pass* first = nullptr;
};

/// `run` converts and runs the model with the given passes. Outputs may differ by `limit` of their
/// scale.
PassCheck check_passes(std::span<const converter::Pass> passes,
                       const std::function<Outputs(std::span<const converter::Pass>)>& run,
                       double limit);

}  // namespace intarsia::tool
