// SPDX-License-Identifier: Apache-2.0
//
// The FlatBuffers code of core/plan.fbs. The only place that includes it: FlatBuffers' assertions
// would link abort, and what they state about a plan is verified as data (core/runtime/verifier.h).
#pragma once

#ifndef FLATBUFFERS_ASSERT
#define FLATBUFFERS_ASSERT(condition) static_cast<void>(condition)
#endif

#include "core/plan_generated.h"
