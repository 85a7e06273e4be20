// SPDX-License-Identifier: Apache-2.0
//
// What a user's program does with the model of make_model.py; exits with 0 if the numbers are
// right.
#include <cstdio>

#include "intarsia/describe.h"
#include "joined.h"
#include "nameless.h"
#include "packed_less.h"
#include "tiny_model.h"

static_assert(app::tiny::inputs::x_0::extents == std::array<std::int32_t, 2>{2, 3});
static_assert(std::is_same_v<app::tiny::outputs::class_::type, float>);
static_assert(app::tiny::inputs::x_0::name == "x:0");
static_assert(app::tiny::outputs::class_::name == "class");
static_assert(app::tiny::states::total::count == 4);
static_assert(app::tiny::arena_bytes > 0 && app::tiny::arena_alignment == 64);
// Two columns of W are padded to sixteen, unless PLAN_GROWTH forbids it.
static_assert(packed_less::plan_bytes + 100 < app::tiny::plan_bytes);
static_assert(nameless::plan_bytes < app::tiny::plan_bytes);
static_assert(joined::main::entry == 0 && joined::again::entry == 1);
// What comes on top is the ports of one entry point, and what the session notes.
static_assert(joined::arena_bytes < 2 * app::tiny::arena_bytes);

namespace {

alignas(app::tiny::arena_alignment) std::byte arena[app::tiny::arena_bytes];

bool equal(const char* what, std::span<const float> found, std::span<const float> expected) {
  bool same = found.size() == expected.size();
  for (size_t i = 0; same && i < found.size(); ++i) same = found[i] == expected[i];
  if (!same) std::printf("%s is wrong\n", what);
  return same;
}

}  // namespace

int main() {
  intarsia::Diagnostic diagnostic;
  auto session = app::tiny::open(arena, {}, &diagnostic);
  if (!session.ok()) {
    char text[512];
    intarsia::describe(diagnostic, app::tiny::plan(), text, sizeof(text));
    std::printf("%s\n", text);
    return 1;
  }
  constexpr float kInput[] = {1, 2, 3, -1, 0, 1};
  // [1 2 3] W + b = [22 - 22, 28 + 0.5], [-1 0 1] W + b = [4 - 22, 4 + 0.5]
  constexpr float kOutput[] = {0, 28.5f, 0, 4.5f};
  constexpr float kTotal[] = {0, 57, 0, 9};
  for (int run = 0; run < 2; ++run) {
    const std::span<float> x = app::tiny::inputs::x_0::of(*session);
    for (size_t i = 0; i < x.size(); ++i) x[i] = kInput[i];
    if (!session->run()) return 1;
    if (!equal("y", app::tiny::outputs::class_::of(*session), kOutput)) return 1;
  }
  if (!equal("total", app::tiny::states::total::of(*session), kTotal)) return 1;
  alignas(joined::arena_alignment) static std::byte memory[joined::arena_bytes];
  auto both = joined::open(memory, {}, &diagnostic);
  if (!both.ok()) return 1;
  const std::span<float> first = joined::main::inputs::x_0::of(*both);
  const std::span<float> second = joined::again::inputs::x_0::of(*both);
  for (size_t i = 0; i < first.size(); ++i) first[i] = second[i] = kInput[i];
  if (!both->run(joined::main::entry) || !both->run(joined::again::entry)) return 1;
  if (!equal("again", joined::again::outputs::class_::of(*both), kOutput)) return 1;
  if (!equal("main", joined::main::outputs::class_::of(*both), kOutput)) return 1;
  if (!equal("joined total", joined::states::total::of(*both), kTotal)) return 1;
  std::puts("consumer: the model's output is right");
  return 0;
}
