// SPDX-License-Identifier: Apache-2.0
//
// Kernel descriptors: what the converter knows of a kernel without running it.
//
// `describe<K>` derives a descriptor from a kernel type. Besides `id`, `check` and `run`
// (intarsia/kernel.h) a kernel type may have, for the converter:
//   static bool supports(const KernelContext&)       true if it serves these extents and attributes
//   static int64_t workspace(const KernelContext&)   bytes of scratch memory that `run` needs, for
//                                                    context.threads() threads
//   static constexpr int64_t state_bytes             bytes of per-node state
//   static int64_t packed_bytes(const KernelContext&, int input)       > 0 if the kernel wants this
//                                                    constant input in a packed form of its own
//   static void pack(const KernelContext&, int input, void* packed)    writes that form
// The context then holds planned (maximal) extents and attributes; data pointers are null except
// those of constants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/kernel.h"
#include "intarsia/shape.h"

namespace intarsia::definitions {

struct KernelDescriptor {
  KernelId id;
  uint64_t key = 0;
  std::string cpp_name;  // "intarsia::cpu::Relu<float>"
  std::string header;    // "kernels_cpu/unary.h"
  /// The kernel itself where this process can execute it; `run` is null for other devices.
  Kernel kernel;
  bool (*supports)(const KernelContext&) = nullptr;
  int64_t (*workspace)(const KernelContext&) = nullptr;
  int64_t (*packed_bytes)(const KernelContext&, int input) = nullptr;
  void (*pack)(const KernelContext&, int input, void* packed) = nullptr;
  int64_t state_bytes = 0;
};

/// A kernel that this process cannot execute: its `run` is not named, so it need not be linked.
template <class K>
KernelDescriptor describe_apart(std::string cpp_name, std::string_view header) {
  KernelDescriptor descriptor;
  descriptor.id = K::id;
  descriptor.key = kernel_key(K::id);
  descriptor.cpp_name = std::move(cpp_name);
  descriptor.header = header;
  descriptor.kernel.key = descriptor.key;
  if constexpr (requires { &K::check; }) descriptor.kernel.check = &K::check;
  if constexpr (requires { K::in_place; }) descriptor.kernel.in_place = K::in_place;
  if constexpr (requires { &K::supports; }) descriptor.supports = &K::supports;
  if constexpr (requires { &K::workspace; }) descriptor.workspace = &K::workspace;
  if constexpr (requires { &K::pack; }) {
    descriptor.packed_bytes = &K::packed_bytes;
    descriptor.pack = &K::pack;
  }
  if constexpr (requires { K::state_bytes; }) descriptor.state_bytes = K::state_bytes;
  return descriptor;
}

template <class K>
KernelDescriptor describe(std::string cpp_name, std::string_view header) {
  KernelDescriptor descriptor = describe_apart<K>(std::move(cpp_name), header);
  descriptor.kernel = intarsia::internal::make_kernel<K>(true);
  return descriptor;
}

/// Rows of one group of kernels. The order of rows is the order of preference: the converter takes
/// the first that matches operator and types and `supports` the node.
using KernelRows = std::vector<KernelDescriptor>;

}  // namespace intarsia::definitions
