// SPDX-License-Identifier: Apache-2.0
//
// What `intarsia convert --device cuda --header --source` emits, compiled and run over the
// emulator: the program gives what the same model's program for the CPU gives.
#include <cmath>
#include <cstdio>
#include <span>

#include "emitted.h"
#include "registration_model.h"
#include "test/cuda/device_bytes.h"
#include "test/cuda/emulation/emulation.h"

namespace {

alignas(emitted::arena_alignment) std::byte arena[emitted::arena_bytes];
alignas(registration_model::arena_alignment) std::byte cpu_arena[registration_model::arena_bytes];

void fill(std::span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25f * static_cast<float>(i) - 0.5f;
}

bool same(std::span<const float> found, std::span<const float> expected) {
  bool equal = !expected.empty() && found.size() == expected.size();
  for (size_t i = 0; equal && i < found.size(); ++i) {
    equal = std::fabs(found[i] - expected[i]) < 1e-5f;
  }
  return equal;
}

}  // namespace

int main() {
  intarsia::test::DeviceBytes device_arena(emitted::device_arena_bytes);
  intarsia::test::DeviceBytes device_weights(emitted::device_weights_bytes);
  intarsia::cuda::emulation::Stream stream;
  intarsia::cuda::Options options;
  options.stream = &stream;
  intarsia::Diagnostic diagnostic;
  auto session =
      emitted::open({arena, device_arena.span(), device_weights.span()}, options, &diagnostic);
  auto expected = registration_model::open(cpu_arena);
  if (!session.ok() || !expected.ok()) {
    std::printf("open failed: %s\n", diagnostic.what);
    return 1;
  }
  fill(emitted::inputs::x::of(*session));
  fill(registration_model::inputs::x::of(*expected));
  if (!session->run().ok() || !expected->run().ok() || session->graph_count() == 0) return 2;
  using namespace registration_model;
  const bool agree = same(emitted::outputs::y::of(*session), outputs::y::of(*expected)) &&
                     same(emitted::outputs::z::of(*session), outputs::z::of(*expected));
  return agree ? 0 : 3;
}
