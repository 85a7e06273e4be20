// SPDX-License-Identifier: Apache-2.0
//
// Converts random models and executes their plans, run after run in one session.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "converter/graph/aligned_bytes.h"
#include "intarsia/session.h"
#include "test/random/random_model.h"

namespace intarsia::test {

/// A plan that was converted from a model, or why there is none.
struct ConvertedPlan {
  converter::AlignedBytes bytes;
  converter::PlanSummary summary;
  std::string error;
};

/// `onnx` is the model's ONNX form.
ConvertedPlan convert(const RandomModel& model, const std::string& onnx,
                      converter::ConvertOptions options);

/// Copies a value to an input of the entry point; false if its strings do not fit.
bool give_elements(Session& session, const Constant& value, const TensorView& input, int entry = 0);
/// A tensor of the session as a constant of its own.
Constant constant_of(const Session& session, const TensorView& tensor);

/// The outputs of one run, or what failed.
struct PlanRun {
  std::vector<Constant> outputs;
  std::string error;
};

/// One session for all runs, so that nothing may remain of a run in the next. The plan and the
/// model must outlive it. `threads` are taken one after the other.
class PlanRunner {
 public:
  PlanRunner(const RandomModel& model, ConvertedPlan& plan, KernelSet kernels,
             std::span<const Service> services, Isa isa, int threads = 1);
  PlanRunner(const PlanRunner&) = delete;
  PlanRunner& operator=(const PlanRunner&) = delete;

  bool opened() const { return error_.empty(); }
  PlanRun run(size_t number);

 private:
  PlanRun failure(const char* call);

  const RandomModel& model_;
  ConvertedPlan& plan_;
  converter::AlignedBytes arena_;
  Parallel parallel_;
  Session session_;
  std::string error_;
};

}  // namespace intarsia::test
