// SPDX-License-Identifier: Apache-2.0
#include "custom_model.h"
#include "words.h"

namespace {

bool words_are_right() {
  alignas(words::arena_alignment) static std::byte arena[words::arena_bytes];
  auto session = words::open(arena);
  if (!session.ok()) return false;
  const std::span<intarsia::StringRef> x = words::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = session->add_string(i == 0 ? "few" : "words").value();
  }
  if (!session->run()) return false;
  const auto y = words::outputs::y::of(*session);
  return y.size() == 2 && session->string(y[0]) == "FEW" && session->string(y[1]) == "WORDS";
}

}  // namespace

int main() {
  alignas(custom_model::arena_alignment) static std::byte arena[custom_model::arena_bytes];
  auto session = custom_model::open(arena);
  if (!session.ok()) return 1;
  const auto x = custom_model::inputs::x::of(*session);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  if (!session->run()) return 1;
  const auto y = custom_model::outputs::y::of(*session);
  return y.size() == 3 && y[1] == 2.0f && y[2] == 4.0f && words_are_right() ? 0 : 1;
}
