// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own on the target: the build machine's plug-in has laid out attributes, state
// and scratch memory, the target's kernels use them. The model is that of make_operators_model.py.
// Exit status 0, or the number of the first check that fails; a board has nowhere to print to.
#include <algorithm>

#include "cross_operators.h"

namespace {

alignas(operators::arena_alignment) std::byte arena[operators::arena_bytes];

constexpr float kReversed[] = {-1, -1, 8, 7, 6, 5, 0, 1, 0.25f, -2, 1, 6, 1.5f, 3};
constexpr float kHalf[] = {4, 3.5f, 3, 2.5f, 3};

int run(intarsia::Session& session, int64_t count) {
  namespace outputs = operators::outputs;
  for (float& value : operators::inputs::x::of(session)) value = 0;
  if (!session.run()) return 2;
  if (!std::ranges::equal(outputs::reversed::of(session), kReversed)) return 3;
  if (!std::ranges::equal(outputs::half::of(session), kHalf)) return 4;
  if (outputs::count_::of(session)[0] != count) return 5;
  return 0;
}

}  // namespace

int main() {
  auto session = operators::open(arena);
  if (!session.ok()) return 1;
  if (const int failed = run(*session, 42)) return failed;
  return run(*session, 43);  // The state of the operators outlives a run.
}
