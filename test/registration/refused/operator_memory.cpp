// SPDX-License-Identifier: Apache-2.0
//
// CUS-14: operator types whose state, device or versions contradict their `run`, and what the
// compiler says of each.
// BROKEN=1 only: StateMemory comes from `static int64_t state_bytes
// BROKEN=2 only: cuda::Stream is for operators with `static constexpr bool on_cuda = true`
// BROKEN=3 only: on_cuda: `run` is static, and no extents of its outputs vary
// BROKEN=4 only: on_cuda: `run` is static, and no extents of its outputs vary
// BROKEN=5 only: only an operator with state has such memory; `run` is static
// BROKEN=6 only: since_version lies between 1 and 255
// BROKEN=7 only: since_version lies between 1 and 255
// BROKEN=8 only: a kernel that replaces others has no gradient, axis or element_wise
// BROKEN=9 only: an operator with `state_bytes` needs `Status create
// BROKEN=10 only: a state is aligned to 64 bytes at most
// BROKEN=11 only: an operand without a type variable is of any type
#include "intarsia/operator.h"

using namespace intarsia;  // NOLINT

#ifndef BROKEN
#define BROKEN 0
#endif

struct OnCuda {
#if BROKEN == 4
  static constexpr OperatorInfo info{
      .domain = "d", .name = "OnCuda", .inputs = {"x"}, .outputs = {"y"}, .extents_vary = true};
#else
  static constexpr OperatorInfo info{
      .domain = "d", .name = "OnCuda", .inputs = {"x"}, .outputs = {"y"}};
#endif
#if BROKEN != 2
  static constexpr bool on_cuda = true;
#endif
#if BROKEN == 3
  Status run(cuda::Stream, Input<float>, Output<float>);
#else
  static Status run(cuda::Stream, Input<float>, Output<float>);
#endif
};

struct alignas(BROKEN == 10 ? 128 : 8) Keeps {
#if BROKEN == 6
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Keeps", .since_version = 0, .inputs = {"x"}, .outputs = {"y"}};
#elif BROKEN == 7
  static constexpr OperatorInfo info{.domain = "d",
                                     .name = "Keeps",
                                     .since_version = 3,
                                     .until_version = 2,
                                     .inputs = {"x"},
                                     .outputs = {"y"}};
#elif BROKEN == 8
  static constexpr OperatorInfo info{.name = "Neg",
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .gradient = "dx = Neg(dy)",
                                     .replaces = "r"};
#elif BROKEN == 11
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Keeps", .inputs = {{"x", ""}}, .outputs = {"y"}};
#else
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Keeps", .inputs = {"x"}, .outputs = {"y"}};
#endif
#if BROKEN != 1
  static int64_t state_bytes(const KernelContext&);
#endif
#if BROKEN != 9
  Status create(const KernelContext&, StateMemory);
#endif
#if BROKEN == 5
  static void run(Input<float>, Output<float>);
#else
  void run(Input<float>, StateMemory, Output<float>);
#endif
};

constexpr KernelId kIds[] = {OperatorKernel<OnCuda>::id, OperatorKernel<Keeps>::id};
constexpr Status (*kChecks[])(const KernelContext&) = {&OperatorKernel<OnCuda>::check,
                                                       &OperatorKernel<Keeps>::check};
#if BROKEN != 5
constexpr Status (*kCreate)(const KernelContext&) = &OperatorKernel<Keeps>::create;
static_assert(kCreate != nullptr);
#endif
static_assert(kIds[0].op == "d:OnCuda" && kChecks[0] != kChecks[1]);
