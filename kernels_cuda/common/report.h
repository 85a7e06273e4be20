// SPDX-License-Identifier: Apache-2.0
//
// How device code reports that data do not suit an operator: one word at the start of the device
// arena, which the session clears before a run and reads with the outputs. No kernel waits for it,
// so that a run stays one graph. The least word is kept: of the first node that fails, its first
// item; but behind all others what the program may permit, a singular matrix.
//
//     bit 63     a singular matrix; else an index out of range
//     36 .. 62   the node
//     32 .. 35   the axis
//      0 .. 31   the item: the matrix' number, or the index
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

/// A failure that the program may permit. `item` is what the operator counts: a matrix.
INTARSIA_DEVICE void report_failure(const Global<Report>& report, int node, unsigned item) {
  atomic_min(&report[0], (Report{1} << 63) | (static_cast<Report>(node) << 36) | item);
}

/// Indices out of range in an order: the largest above the axis, then the least below it, as the
/// kernels of the CPU name one. Those beyond 32 bits are named by the last that fits.
INTARSIA_HOST_DEVICE constexpr uint32_t index_item(int64_t index) {
  const int64_t last = INT32_MAX, first = INT32_MIN;
  const int64_t near = index > last ? last : index < first ? first : index;
  return static_cast<uint32_t>(near >= 0 ? last - near : (last + 1) + (near - first));
}
INTARSIA_DEVICE void report_index(const Global<Report>& report, int node, int axis, int64_t index) {
  atomic_min(&report[0], (static_cast<Report>(node) << 36) | (static_cast<Report>(axis) << 32) |
                             index_item(index));
}

constexpr bool is_singular_matrix(Report report) {
  return report >> 63 != 0;
}
constexpr int32_t node_of(Report report) {
  return static_cast<int32_t>(report >> 36 & 0x7ffffffu);
}
constexpr int axis_of(Report report) {
  return static_cast<int>(report >> 32 & 0xfu);
}
constexpr int64_t item_of(Report report) {
  return static_cast<int64_t>(report & 0xffffffffu);
}
constexpr int64_t index_of(Report report) {
  const int64_t item = item_of(report), last = INT32_MAX, first = INT32_MIN;
  return item <= last ? last - item : first + (item - (last + 1));
}

}  // namespace intarsia::cuda
