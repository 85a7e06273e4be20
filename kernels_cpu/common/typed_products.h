// SPDX-License-Identifier: Apache-2.0
//
// Products of gemm/typed.h on the threads of a node.
#pragma once

#include "intarsia/checked_int.h"
#include "intarsia/kernel.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/gemm/typed.h"

namespace intarsia::cpu {

/// Bytes of workspace for products of this shape, or of any smaller one, on all threads.
template <class S>
int64_t products_workspace(const KernelContext& context, const GemmShape& shape) {
  return (CheckedInt(typed_workspace<S>(shape)) * context.threads()).value();
}

/// The same of bytes, on any processor: `shape_of(S())` is the shape whose K counts groups S.
template <class ShapeOf>
int64_t byte_products_workspace(const KernelContext& context, const ShapeOf& shape_of) {
  const int64_t pairs = products_workspace<Int16Pair>(context, shape_of(Int16Pair()));
  const int64_t quads = products_workspace<ByteQuad>(context, shape_of(ByteQuad()));
  return pairs < quads ? quads : pairs;
}

/// Computes `count` products of one shape: their units stand in one row, which the threads share.
/// `args_of(index)` gives the arguments of one of them.
template <class S, class ArgsOf>
void run_products(const KernelContext& context, const GemmShape& shape, int64_t count,
                  const ArgsOf& args_of) {
  if (count == 0) return;
  const int64_t threads = context.threads(), each = 4 * threads;
  const int64_t enough = threads > 1 ? each / count + (each % count != 0 ? 1 : 0) : 1;
  const int64_t units = typed_units<S>(shape, enough), bytes = typed_workspace<S>(shape);
  const PerThread<std::byte> workspace(context.workspace(), context.threads(), bytes);
  context.parallel_for(count * units, [&](int64_t begin, int64_t end, int thread) {
    while (begin < end) {
      const int64_t first = begin % units;
      const int64_t last = units - first < end - begin ? units : first + end - begin;
      TypedArgs<S> args = args_of(begin / units);
      args.enough_units = enough;
      typed_run(args, first, last, workspace[thread]);
      begin += last - first;
    }
  });
}

}  // namespace intarsia::cpu
