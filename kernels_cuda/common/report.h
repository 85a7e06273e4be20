// SPDX-License-Identifier: Apache-2.0
//
// How device code reports that data do not suit an operator: one word at the start of the device
// arena, which the session clears before a run and reads with the outputs. No kernel waits for it,
// so that a run stays one graph. The first node that fails is kept, and its first item.
#pragma once

#include "core/plan_file.h"
#include "core/runtime/device.h"
#include "kernels_cuda/common/device.h"

namespace intarsia::cuda {

using Report = unsigned long long;
inline constexpr Report kNoFailure = ~Report{0};

inline Global<Report> report_of(const KernelContext& context) {
  const auto* device = static_cast<const Device*>(context.service(kDeviceService));
  return {reinterpret_cast<Report*>(device->arena), 1};
}

/// Counters by which blocks of a launch tell how many of them have ended, beside the report. Zero
/// between launches: who finds that it is the last sets them back.
inline constexpr int kCounters = 256;
inline constexpr int64_t kCountersPlace = 1024;
static_assert(kCountersPlace + kCounters * sizeof(unsigned) <= kDevicePrefix);

inline Global<unsigned> counters_of(const KernelContext& context) {
  const auto* device = static_cast<const Device*>(context.service(kDeviceService));
  return {reinterpret_cast<unsigned*>(device->arena + kCountersPlace), kCounters};
}

/// `item` is what the operator counts: a matrix, a row.
INTARSIA_DEVICE void report_failure(const Global<Report>& report, int node, unsigned item) {
  atomic_min(&report[0], (static_cast<Report>(node) << 32) | item);
}
constexpr int32_t node_of(Report report) {
  return static_cast<int32_t>(report >> 32);
}
constexpr int64_t item_of(Report report) {
  return static_cast<int64_t>(report & 0xffffffffu);
}

}  // namespace intarsia::cuda
