// SPDX-License-Identifier: Apache-2.0
//
// Read access to the structure of a verified plan, for the tool's reports.
#pragma once

#include <span>
#include <string>

#include "core/plan_file.h"
#include "core/plan_structure.h"

namespace intarsia::tool {

/// A name for a report: without characters that a terminal or JSON would stumble over, and cut
/// where it is longer than kLongestName, since nodes may share one name that is as long as the
/// plan.
std::string shown_name(const flatbuffers::String* name);
inline constexpr size_t kLongestName = 256;

class PlanText {
 public:
  /// REQUIRES: `plan` passes plan_info.
  explicit PlanText(std::span<const std::byte> plan);

  const plan::Plan& root() const { return *root_; }
  const PlanHeader& header() const { return header_; }
  uint32_t node_count() const;
  const plan::Node& node(uint32_t index) const { return *root_->nodes()->Get(index); }
  /// Tensor of operand `operand` (inputs first) of node `index`; null if absent.
  const plan::Tensor* operand(uint32_t index, uint32_t operand) const;
  /// Bytes of a tensor at its planned extents.
  int64_t bytes(const plan::Tensor& tensor) const;
  /// "float [1,3,224,224]"; extents that vary are followed by '*'.
  std::string tensor_text(const plan::Tensor& tensor) const;

  // Names as `shown_name` gives them; empty where the plan is stripped.
  std::string node_name(uint32_t index) const;
  std::string operator_name(uint32_t index) const;
  std::string kernel_name(uint32_t index) const;
  /// True if the node's operator draws random numbers; false where the plan is stripped.
  bool draws(uint32_t index) const;
  /// Whether it runs sub-graphs.
  bool is_control_flow(uint32_t index) const;

 private:
  PlanHeader header_;
  const plan::Plan* root_;
  std::vector<uint32_t> operands_;  // where those of each node begin
};

}  // namespace intarsia::tool
