// SPDX-License-Identifier: Apache-2.0
//
// Services that Intarsia's own kernels ask for, as options of one session.
//
//     SingularMatrix choice = SingularMatrix::kFillNan;
//     const Service services[] = {{kSingularMatrixService, &choice}};
//     SessionOptions options;
//     options.services = services;      // services and choice outlive the session
//
// Where nothing else is said a kernel reads the service at each run, so that the choice may change
// between runs. An operator
// of one's own may have services too: `service_key("mydomain.table")` and
// `KernelContext::service`.
#pragma once

#include <cstdint>
#include <string_view>

namespace intarsia {

/// The key of a service by its name: 64-bit FNV-1a.
constexpr uint64_t service_key(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

/// What com.microsoft::Inverse does with a matrix that has no inverse, on every device. A matrix is
/// singular if elimination with partial pivoting meets a pivot of exactly 0, in the precision that
/// the kernel computes with (float for float16 and float, double for double). ONNX Runtime differs
/// from device to device; here the default is an error that names the matrix.
enum class SingularMatrix : uint8_t {
  kFail,     ///< The run fails with kInvalidValue, "matrix i is singular", for the first one.
  kFillNan,  ///< That matrix's result is NaN everywhere; the others are not touched by it.
};
inline constexpr uint64_t kSingularMatrixService = service_key("intarsia.singular_matrix");

/// A seed for all nodes that draw random numbers, a uint64_t: another one lets the session draw
/// other numbers, also where the model gives seeds; nodes stay independent of one another. Read at
/// open and by `Session::reset_states`, not at each run. Without it every session of a plan draws
/// the same numbers: those of the seeds in the model, and of `--seed` where it has none.
///
///     uint64_t seed = std::random_device{}();
///     const Service services[] = {{kRandomSeedService, &seed}};
inline constexpr uint64_t kRandomSeedService = service_key("intarsia.random_seed");

}  // namespace intarsia
