// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/rows.h"

#include "core/control.h"

namespace intarsia::cpu {

void add_pointwise_rows(KernelRows& rows);
void add_reduction_rows(KernelRows& rows);
void add_movement_rows(KernelRows& rows);
void add_nn_rows(KernelRows& rows);
void add_shape_ops_rows(KernelRows& rows);
void add_contrib_rows(KernelRows& rows);

const KernelRows& kernel_rows() {
  static const KernelRows kRows = [] {
    KernelRows rows;
    rows.push_back(definitions::describe<If>("intarsia::If", "core/control.h"));
    rows.push_back(
        definitions::describe<Contradiction>("intarsia::Contradiction", "core/control.h"));
    add_pointwise_rows(rows);
    add_reduction_rows(rows);
    add_movement_rows(rows);
    add_nn_rows(rows);
    add_shape_ops_rows(rows);
    add_contrib_rows(rows);
    return rows;
  }();
  return kRows;
}

}  // namespace intarsia::cpu
