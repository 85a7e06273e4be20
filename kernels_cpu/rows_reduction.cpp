// SPDX-License-Identifier: Apache-2.0
//
// Kernels of operators that reduce or run along axes.
#include "kernels_cpu/arg_reduce.h"
#include "kernels_cpu/cumsum.h"
#include "kernels_cpu/reduce.h"
#include "kernels_cpu/rows.h"
#include "kernels_cpu/softmax.h"

namespace intarsia::cpu {
namespace {

template <template <class> class K>
void add_floats(KernelRows& rows, const std::string& name, std::string_view header) {
  add<K, float, double, Float16, BFloat16>(rows, name, header);
}
/// What sums are defined for.
template <template <class> class K>
void add_wide(KernelRows& rows, const std::string& name, std::string_view header) {
  add_floats<K>(rows, name, header);
  add<K, int32_t, int64_t, uint32_t, uint64_t>(rows, name, header);
}

}  // namespace

void add_reduction_rows(KernelRows& rows) {
  constexpr std::string_view kReduce = "kernels_cpu/reduce.h";
  add_wide<ReduceL1>(rows, "ReduceL1", kReduce);
  add_wide<ReduceL2>(rows, "ReduceL2", kReduce);
  add_floats<ReduceLogSum>(rows, "ReduceLogSum", kReduce);
  add_floats<ReduceLogSumExp>(rows, "ReduceLogSumExp", kReduce);
  add_wide<ReduceMax>(rows, "ReduceMax", kReduce);
  add<ReduceMax, int8_t, uint8_t, bool>(rows, "ReduceMax", kReduce);
  add_wide<ReduceMean>(rows, "ReduceMean", kReduce);
  add_wide<ReduceMin>(rows, "ReduceMin", kReduce);
  add<ReduceMin, int8_t, uint8_t, bool>(rows, "ReduceMin", kReduce);
  add_wide<ReduceProd>(rows, "ReduceProd", kReduce);
  add_wide<ReduceSum>(rows, "ReduceSum", kReduce);
  add_wide<ReduceSumSquare>(rows, "ReduceSumSquare", kReduce);

  constexpr std::string_view kArgReduce = "kernels_cpu/arg_reduce.h";
  add_wide<ArgMax>(rows, "ArgMax", kArgReduce);
  add<ArgMax, int8_t, uint8_t, int16_t, uint16_t>(rows, "ArgMax", kArgReduce);
  add_wide<ArgMin>(rows, "ArgMin", kArgReduce);
  add<ArgMin, int8_t, uint8_t, int16_t, uint16_t>(rows, "ArgMin", kArgReduce);

  constexpr std::string_view kSoftmax = "kernels_cpu/softmax.h";
  add<FastSoftmax, float>(rows, "FastSoftmax", kSoftmax);
  add<FastLogSoftmax, float>(rows, "FastLogSoftmax", kSoftmax);
  add_floats<Softmax>(rows, "Softmax", kSoftmax);
  add_floats<LogSoftmax>(rows, "LogSoftmax", kSoftmax);
  add_floats<Hardmax>(rows, "Hardmax", kSoftmax);

  add_wide<CumSum>(rows, "CumSum", "kernels_cpu/cumsum.h");
  add_wide<CumProd>(rows, "CumProd", "kernels_cpu/cumsum.h");
}

}  // namespace intarsia::cpu
