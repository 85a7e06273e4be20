// SPDX-License-Identifier: Apache-2.0
//
// INTARSIA_UNROLLED stands before a loop of a few known rounds inside of one that is to become
// vector code: compilers see the outer loop only where the inner one is written out.
#pragma once

#if defined(__clang__)
#define INTARSIA_UNROLLED _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define INTARSIA_UNROLLED _Pragma("GCC unroll 16")
#else
#define INTARSIA_UNROLLED
#endif
