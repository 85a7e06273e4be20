// SPDX-License-Identifier: Apache-2.0
//
// How many threads a node is worth. Kernels need not think of it, and cut their loops by extents
// alone.
#include "intarsia/kernel.h"

namespace intarsia {
namespace {

int64_t operand_bytes(const KernelContext& context) {
  int64_t bytes = 0;
  for (int i = 0; i < context.input_count(); ++i) bytes += context.input(i).bytes();
  for (int i = 0; i < context.output_count(); ++i) bytes += context.output(i).bytes();
  return bytes;
}

/// A loop of many units as one of few pieces.
struct Pieces {
  int64_t units;
  int64_t pieces;
  Parallel::Body body;
  void* argument;

  int64_t first(int64_t piece) const {
    const int64_t more = units % pieces;
    return units / pieces * piece + (piece < more ? piece : more);
  }
};

}  // namespace

void Parallel::share_units(const Parallel& parallel, const KernelContext& context, Share how,
                           int64_t count, Body body, void* argument) {
  int64_t worth = parallel.threads;
  if (worth > 1 && how == Share::kIfWorth && parallel.grain_bytes > 0) {
    const int64_t most = operand_bytes(context) / parallel.grain_bytes;
    worth = most < worth ? most : worth;
  }
  if (worth <= 1) {
    body(argument, 0, count, 0);
  } else if (worth == parallel.threads || worth >= count) {
    parallel.run(parallel.self, count, body, argument);
  } else {
    Pieces pieces{count, worth, body, argument};
    parallel.run(
        parallel.self, worth,
        [](void* self, int64_t begin, int64_t end, int thread) {
          const Pieces& p = *static_cast<const Pieces*>(self);
          p.body(p.argument, p.first(begin), p.first(end), thread);
        },
        &pieces);
  }
}

}  // namespace intarsia
