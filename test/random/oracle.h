// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every model: with all passes it computes what it computes with none, on every
// instruction set, in every run, and both compute what the reference kernels gave node by node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/session.h"
#include "test/random/random_model.h"

namespace intarsia::test {

struct OracleOptions {
  /// Passes, operators and limits; the symbols' ranges are those of the model.
  converter::ConvertOptions conversion;
  /// Kernels of the plan with all passes; empty: those of the library.
  KernelSet kernels;
  /// Instruction sets to run it on.
  std::vector<Isa> isas;
};

/// The instruction sets that this machine has, weakest first.
std::vector<Isa> available_isas();

/// All passes, on all instruction sets of this machine.
OracleOptions all_passes(const converter::OperatorLibrary& library);

struct Failure {
  /// What differs, where, and by how much.
  std::string text;
  size_t run = 0;
  /// The output that differs, by its number among the model's; -1: the model as a whole.
  int output = -1;
  bool found_in_conversion = false;
};

/// Arena (without metadata) over its lower bound, at the end of a successful check.
struct OracleFigures {
  uint64_t tensor_bytes = 0;
  uint64_t lower_bound_bytes = 0;
};

/// Nothing if everything holds.
std::optional<Failure> check_model(const RandomModel& model, const OracleOptions& options,
                                   OracleFigures* figures = nullptr);

/// The name of the pass after which the model fails first, or "".
std::string guilty_pass(const RandomModel& model, const OracleOptions& options);

}  // namespace intarsia::test
