// SPDX-License-Identifier: Apache-2.0
//
// Makes up a Loop or a Scan for a random model: what it carries, what it scans, and what becomes of
// the nodes that somebody else puts into its body.
#pragma once

#include <optional>

#include "test/random/loops.h"
#include "test/random/proposal.h"
#include "test/random/random.h"

namespace intarsia::test {

class LoopMaker {
 public:
  LoopMaker(const OperatorDefinition& op, RandomModel& model,
            const converter::OperatorLibrary& library, Random& random)
      : model_(model), library_(library), random_(random) {
    node_.op = &op;
    node_.branches.resize(1);
  }

  /// Chooses carried and scanned values among `outer`. Returns what the body's nodes may read.
  Pool begin(const Pool& outer);
  RandomBranch& body() { return node_.branches[0]; }
  /// Chooses the body's results among what its nodes compute; adds the loop's outputs to the model.
  /// Nothing if the nodes do not make a loop, or do not accept what they are given in a trip.
  std::optional<RandomNode> finish();

 private:
  bool is_scan() const { return node_.op->control == definitions::Control::kScan; }
  int add_tensor(RandomTensor tensor);
  int add_given(DataType type, const Shape<Dim>& shape, std::vector<Constant> values,
                const std::vector<double>& errors);
  void add_carried(int initial);
  void add_scanned(int tensor);
  int result_for(int carried);
  void add_elements();
  bool count_trips();
  Dim collected_extent() const;
  bool compute();

  RandomModel& model_;
  const converter::OperatorLibrary& library_;
  Random& random_;
  RandomNode node_;
  std::vector<int> carried_;    // as the body sees them
  std::vector<int> elements_;   // of which those of all trips are kept
  std::vector<int64_t> trips_;  // per run
};

}  // namespace intarsia::test
