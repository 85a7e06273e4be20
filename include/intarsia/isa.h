// SPDX-License-Identifier: Apache-2.0
//
// Instruction sets that kernels distinguish at run time.
//
// A session asks the processor once, when it is opened, and hands the answer to its kernels; there
// is no global state. `SessionOptions::isa` lowers the choice, for tests and for comparing results.
// A kernel falls back to what its build contains (INTARSIA_ISA in CMake), never to a failure: plans
// with float weights are the same for every instruction set. Results of different instruction sets
// agree within rounding, those of one are the same bits in every run.
#pragma once

#include <cstdint>

namespace intarsia {

/// Instruction sets, weakest first within one architecture.
enum class Isa : uint8_t {
  kPortable = 0,    ///< Whatever the compiler was allowed to use for the whole build.
  kAvx2 = 1,        ///< x86-64-v3: AVX2, FMA, F16C.
  kAvx512 = 2,      ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
  kNeon = 3,        ///< AArch64 Advanced SIMD.
  kAvx512Vnni = 4,  ///< kAvx512 and its dot products of bytes (AVX512_VNNI).
  kAmx = 5,         ///< kAvx512Vnni, tiles and tables of bytes (AMX-INT8, AVX512_VBMI).
};

/// The best instruction set that this processor and operating system support. A few instructions
/// (cpuid, xgetbv), no cached state. Where the processor has AMX, one system call on Linux
/// (arch_prctl, ARCH_REQ_XCOMP_PERM) asks for its registers on behalf of the process.
Isa detect_isa();

}  // namespace intarsia
