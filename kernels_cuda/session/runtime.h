// SPDX-License-Identifier: Apache-2.0
//
// The calls of the CUDA runtime that sessions and kernels make, without its headers: so that what
// uses them compiles everywhere. runtime.cu implements them over the CUDA runtime, the tests over
// their emulator.
//
// Every function returns a cudaError_t as a number, 0 for success. A stream is a cudaStream_t, a
// graph a cudaGraphExec_t.
#pragma once

#include <cstddef>
#include <string_view>

#include "intarsia/status.h"

namespace intarsia::cuda::runtime {

enum class Copy { kToDevice, kToHost, kWithinDevice };

int copy(void* to, const void* from, size_t bytes, Copy kind, void* stream);
int fill(void* device, int byte, size_t bytes, void* stream);
int synchronize(void* stream);

/// From `begin_capture` on the stream's work is recorded instead of done; `end_capture` makes it a
/// graph that can be launched any number of times.
int begin_capture(void* stream);
int end_capture(void* stream, void** graph);
int launch(void* graph, void* stream);
void destroy(void* graph);

/// Locks pages of the host's memory, so that copies need no staging.
int pin(void* memory, size_t bytes);
void unpin(void* memory);

/// What CUDA calls the error; static storage.
const char* error_text(int error);

/// A cudaError_t as a Status: "CUDA error 700: an illegal memory access was encountered".
/// `diagnostic` may be null; `node` is -1 where none is known.
inline Status status_of(int error, Diagnostic* diagnostic, int32_t node) {
  if (error == 0) return {};
  const std::string_view text = error_text(error);
  if (diagnostic != nullptr) {
    *diagnostic = Diagnostic{Code::kOperatorFailed,
                             "CUDA error {}",
                             node,
                             -1,
                             -1,
                             0,
                             error,
                             text.data(),
                             static_cast<uint32_t>(text.size())};
  }
  return Code::kOperatorFailed;
}

}  // namespace intarsia::cuda::runtime
