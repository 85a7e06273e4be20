// SPDX-License-Identifier: Apache-2.0
//
// C[m][n] = act(A[m][k] * B + bias + residual), f32, B packed by pack.h.
//
// Rows of A, C and the residual may lie any pitch apart. The residual may be C itself; otherwise no
// operand may overlap C. Work is cut into units by the shape alone; any split of the units over
// calls and threads gives the same bits. No workspace.
#pragma once

#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

struct GemmShape {
  int64_t m;
  int64_t n;
  int64_t k;
};

/// Pitches count floats.
struct GemmArgs {
  GemmShape shape;
  const float* a;
  int64_t a_pitch;
  const float* b;  ///< packed_floats(1, k, n) floats.
  float* c;
  int64_t c_pitch;
  const float* bias = nullptr;      ///< [n], or null.
  const float* residual = nullptr;  ///< [m][n], or null.
  int64_t residual_pitch = 0;
  Epilogue epilogue = {};
  Isa isa = Isa::kPortable;
  /// B is made in this run, and what lies behind it may be written by another thread: it is not
  /// fetched. Behind weights lie those of what comes next.
  bool own_b = false;
};

/// Number of units; 0 if C is empty.
int64_t gemm_units(const GemmShape& shape);

/// Computes units [begin, end).
void gemm_run(const GemmArgs& args, int64_t begin, int64_t end);

}  // namespace intarsia::cpu
