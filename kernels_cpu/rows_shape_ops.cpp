// SPDX-License-Identifier: Apache-2.0
//
// Kernels of operators that change, read or make extents.
#include "kernels_cpu/rows.h"
#include "kernels_cpu/shape_ops_expand.h"
#include "kernels_cpu/shape_ops_extents.h"
#include "kernels_cpu/shape_ops_fill.h"
#include "kernels_cpu/shape_ops_view.h"

namespace intarsia::cpu {
namespace {

constexpr std::string_view kView = "kernels_cpu/shape_ops_view.h";
constexpr std::string_view kExtents = "kernels_cpu/shape_ops_extents.h";
constexpr std::string_view kFill = "kernels_cpu/shape_ops_fill.h";
constexpr std::string_view kExpand = "kernels_cpu/shape_ops_expand.h";

}  // namespace

void add_shape_ops_rows(KernelRows& rows) {
  using definitions::describe;
  rows.push_back(describe<Identity>("intarsia::cpu::Identity", kView));
  rows.push_back(describe<Reshape>("intarsia::cpu::Reshape", kView));
  rows.push_back(describe<Squeeze>("intarsia::cpu::Squeeze", kView));
  rows.push_back(describe<Unsqueeze>("intarsia::cpu::Unsqueeze", kView));
  rows.push_back(describe<Flatten>("intarsia::cpu::Flatten", kView));
  rows.push_back(describe<Dropout>("intarsia::cpu::Dropout", kView));
  rows.push_back(describe<ShapeOf>("intarsia::cpu::ShapeOf", kExtents));
  rows.push_back(describe<Size>("intarsia::cpu::Size", kExtents));
  add<ConstantOfShape, Width<8>, Width<16>, Width<32>, Width<64>>(rows, "ConstantOfShape", kFill);
  add<Range, float, double, Float16, BFloat16, int16_t, int32_t, int64_t>(rows, "Range", kFill);
  add<EyeLike, float, double, Float16, BFloat16, bool, int8_t, uint8_t, int16_t, uint16_t, int32_t,
      uint32_t, int64_t, uint64_t>(rows, "EyeLike", kFill);
  add<Expand, Width<8>, Width<16>, Width<32>, Width<64>, Width<128>>(rows, "Expand", kExpand);
  add<TileTensor, Width<8>, Width<16>, Width<32>, Width<64>, Width<128>>(rows, "TileTensor",
                                                                         kExpand);
}

}  // namespace intarsia::cpu
