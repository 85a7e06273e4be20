// SPDX-License-Identifier: Apache-2.0
//
// How far a result may be off: nothing where every kernel gives the same bits, and behind rounding
// what rounding can do to it.
//
// A node computes without rounding if its definition says that it is exact and double precision
// gives the same numbers. Errors of inputs are carried on by trial: the node is executed on inputs
// that are changed by them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "test/random/execute.h"
#include "test/random/random.h"

namespace intarsia::test {

struct Results {
  std::vector<Constant> values;  ///< absent outputs are empty
  std::vector<double> errors;
};

/// The results of a node, with the errors that they may have. Nothing if the node fails, or if the
/// results would show little: most of them not finite, very large, or all lost in errors.
std::optional<Results> execute_with_errors(const Candidate& candidate,
                                           std::span<const Constant* const> inputs,
                                           std::span<const double> input_errors,
                                           const converter::OperatorLibrary& library,
                                           Random& random);

/// The same of a node that stands with others for one, whatever its results show.
std::optional<Results> execute_within(const Candidate& candidate,
                                      std::span<const Constant* const> inputs,
                                      std::span<const double> input_errors,
                                      const converter::OperatorLibrary& library, Random& random);

}  // namespace intarsia::test
