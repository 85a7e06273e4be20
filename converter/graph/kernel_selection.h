// SPDX-License-Identifier: Apache-2.0
//
// Chooses the kernel of a node, and shows a node to kernels as they see it.
//
// `OperandViews` holds the extents and views behind a KernelContext built from the converter's own
// data, so that `supports`, `workspace`, `check` and `run` of a kernel can be called offline.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "converter/graph/graph.h"
#include "core/definitions/dim.h"
#include "core/definitions/kernel_descriptor.h"
#include "intarsia/session.h"

namespace intarsia::converter {

/// Operands of one node as a KernelContext. Neither copyable nor movable: the context points
/// inside.
class OperandViews {
 public:
  OperandViews() = default;
  OperandViews(const OperandViews&) = delete;
  OperandViews& operator=(const OperandViews&) = delete;

  /// Appends an operand; inputs first, then outputs. `data` may be null.
  void add_absent(bool is_output);
  void add(bool is_output, DataType type, const std::vector<int64_t>& extents, const void* data);
  void set_attributes(std::span<const std::byte> bytes);
  /// Threads that `context.threads()` reports.
  void set_threads(int threads);
  /// What `context.service` finds; must outlive the views.
  void set_services(std::span<const Service> services) { services_ = services; }
  /// Where strings lie; must outlive the views.
  void set_strings(StringPool* pool) { host_.strings = pool; }

  KernelContext& context();
  const Diagnostic& diagnostic() const { return diagnostic_; }
  /// Actual extents of operand `index`, after a kernel may have resized it.
  std::vector<int64_t> extents(int index) const;
  TensorView& view(int index) { return views_[static_cast<size_t>(index)]; }

 private:
  static Status resize(const KernelContext& context, int output, std::span<const int32_t> extents);
  static void* service(const KernelContext& context, uint64_t key);

  std::deque<std::vector<int32_t>> extents_;
  std::vector<TensorView> views_;
  std::vector<uint64_t> attributes_;
  int inputs_ = 0;
  int outputs_ = 0;
  Parallel parallel_;
  std::span<const Service> services_;
  KernelHost host_;
  Diagnostic diagnostic_;
  KernelContext context_;
};

/// The element types that select a kernel for `node`, in the order of its definition.
std::vector<DataType> kernel_types(const Node& node);

enum class Preference : uint8_t { kFast, kReference };

/// What decides between the kernels that can serve a node.
struct KernelChoice {
  Preference preference = Preference::kFast;
  /// The most that a weight's packed form may take, as a multiple of the weight's own bytes.
  double plan_growth = std::numeric_limits<double>::infinity();
  KernelDevice device = KernelDevice::kHost;
  KernelTarget target = KernelTarget::kGeneric;
};

/// What the kernel says to these operands without their elements, as at `open`.
Status checked(OperandViews& views, const definitions::KernelRow& kernel, int64_t workspace_bytes);

/// The kernel of the least cost (of the greatest, for Preference::kReference) among those for the
/// node that accept its types, `support` its extents and fit the choice; or null.
const definitions::KernelRow* select_kernel(const Node& node, const KernelContext& context,
                                            const definitions::KernelRows& rows,
                                            const KernelChoice& choice);

/// Whether the device has a kernel of the node's operator, for whatever types.
bool has_kernel(const Node& node, const definitions::KernelRows& rows, KernelDevice device);

/// "no kernel for T = int8; there are kernels for T = float; T = double", each with its device if
/// another one has kernels too: "no kernel for T = int8 on the CPU; ... for T = float on CUDA".
Problem no_kernel(const Node& node, const definitions::KernelRows& rows,
                  KernelDevice device = KernelDevice::kHost);

/// An extent that depends on values and has no bound.
class UnboundedError : public Error {
 public:
  using Error::Error;
};

/// Planned extents of a value. Throws UnboundedError, naming the dimension, if one has no bound.
std::vector<int64_t> planned_extents(const Value& value);

/// Fills `views` with the node's operands at planned extents; data only for constants.
void show_planned(const Node& node, OperandViews& views);
/// The same at the smallest extents.
void show_smallest(const Node& node, OperandViews& views);
/// The same where all that extents vary with has these values; an extent is at most as `planned`.
using Assignment = std::map<definitions::DimVariable, int64_t>;
void show_assigned(const Node& node, const Assignment& assignment, OperandViews& planned,
                   OperandViews& views);

}  // namespace intarsia::converter
