// SPDX-License-Identifier: Apache-2.0
//
// Kernels of operators that rearrange, cut, join, select and resize tensors.
#include "kernels_cpu/compress.h"
#include "kernels_cpu/concat.h"
#include "kernels_cpu/depth_to_space.h"
#include "kernels_cpu/gather.h"
#include "kernels_cpu/non_max_suppression.h"
#include "kernels_cpu/non_zero.h"
#include "kernels_cpu/one_hot.h"
#include "kernels_cpu/pad.h"
#include "kernels_cpu/resize.h"
#include "kernels_cpu/reverse_sequence.h"
#include "kernels_cpu/rows.h"
#include "kernels_cpu/scatter.h"
#include "kernels_cpu/slice.h"
#include "kernels_cpu/split.h"
#include "kernels_cpu/topk.h"
#include "kernels_cpu/transpose.h"
#include "kernels_cpu/trilu.h"
#include "kernels_cpu/unique.h"

namespace intarsia::cpu {
namespace {

/// Kernels that move elements.
template <template <class> class K>
void add_widths(KernelRows& rows, const std::string& name, std::string_view header) {
  add<K, Width<8>, Width<16>, Width<32>, Width<64>, Width<128>>(rows, name, header);
}

/// The same with indices of either type.
template <template <class, class> class K>
void add_indexed(KernelRows& rows, const std::string& name, std::string_view header) {
  add_pairs<K, Width<8>, int32_t, int64_t>(rows, name, header);
  add_pairs<K, Width<16>, int32_t, int64_t>(rows, name, header);
  add_pairs<K, Width<32>, int32_t, int64_t>(rows, name, header);
  add_pairs<K, Width<64>, int32_t, int64_t>(rows, name, header);
  add_pairs<K, Width<128>, int32_t, int64_t>(rows, name, header);
}

/// Kernels that compute with numbers.
template <template <class> class K>
void add_numbers(KernelRows& rows, const std::string& name, std::string_view header) {
  add<K, float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
      uint32_t, uint64_t>(rows, name, header);
}

template <class... Ts>
void add_scatter_elements_reduce(KernelRows& rows) {
  (add_pairs<ScatterElementsReduce, Ts, int32_t, int64_t>(rows, "ScatterElementsReduce",
                                                          "kernels_cpu/scatter.h"),
   ...);
}

}  // namespace

void add_movement_rows(KernelRows& rows) {
  add_widths<Concat>(rows, "Concat", "kernels_cpu/concat.h");
  add_widths<Split>(rows, "Split", "kernels_cpu/split.h");
  add_widths<Slice>(rows, "Slice", "kernels_cpu/slice.h");
  add_widths<Transpose>(rows, "Transpose", "kernels_cpu/transpose.h");
  add_widths<Pad>(rows, "Pad", "kernels_cpu/pad.h");
  add_widths<DepthToSpace>(rows, "DepthToSpace", "kernels_cpu/depth_to_space.h");
  add_widths<SpaceToDepth>(rows, "SpaceToDepth", "kernels_cpu/depth_to_space.h");
  add_widths<Trilu>(rows, "Trilu", "kernels_cpu/trilu.h");
  add_widths<OneHot>(rows, "OneHot", "kernels_cpu/one_hot.h");
  add_widths<Compress>(rows, "Compress", "kernels_cpu/compress.h");
  add_widths<ReverseSequence>(rows, "ReverseSequence", "kernels_cpu/reverse_sequence.h");

  add_indexed<Gather>(rows, "Gather", "kernels_cpu/gather.h");
  add_indexed<GatherElements>(rows, "GatherElements", "kernels_cpu/gather.h");
  add_widths<GatherND>(rows, "GatherND", "kernels_cpu/gather.h");
  add_indexed<ScatterElements>(rows, "ScatterElements", "kernels_cpu/scatter.h");
  add_scatter_elements_reduce<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t,
                              uint8_t, uint16_t, uint32_t, uint64_t>(rows);
  add_widths<ScatterND>(rows, "ScatterND", "kernels_cpu/scatter.h");
  add_numbers<ScatterNDReduce>(rows, "ScatterNDReduce", "kernels_cpu/scatter.h");

  add_numbers<TopK>(rows, "TopK", "kernels_cpu/topk.h");
  add_numbers<NonZero>(rows, "NonZero", "kernels_cpu/non_zero.h");
  add<NonZero, bool>(rows, "NonZero", "kernels_cpu/non_zero.h");
  add_numbers<Unique>(rows, "Unique", "kernels_cpu/unique.h");
  add<Unique, bool>(rows, "Unique", "kernels_cpu/unique.h");
  rows.push_back(definitions::describe<NonMaxSuppression>("intarsia::cpu::NonMaxSuppression",
                                                          "kernels_cpu/non_max_suppression.h"));

  add_widths<ResizeNearest>(rows, "ResizeNearest", "kernels_cpu/resize.h");
  add_numbers<Resize>(rows, "Resize", "kernels_cpu/resize.h");
}

}  // namespace intarsia::cpu
