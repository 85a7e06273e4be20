// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "intarsia/describe.h"
#include "speech_model.h"  // the plan, its kernels and its signature, made from silero_vad.onnx

alignas(speech::arena_alignment) static std::byte arena[speech::arena_bytes];

int main() {
  intarsia::Diagnostic diagnostic;
  auto session = speech::open(arena, {}, &diagnostic);
  if (!session.ok()) {
    char text[512];
    intarsia::describe(diagnostic, speech::plan(), text, sizeof(text));
    std::fprintf(stderr, "%s\n", text);
    return 1;
  }
  for (float& sample : speech::inputs::input::of(*session)) sample = 0;  // 36 ms of silence
  speech::inputs::sr::of(*session)[0] = 16000;
  if (!session->run()) return 1;
  std::printf("probability of speech: %.4f\n",
              static_cast<double>(speech::outputs::output::of(*session)[0]));
}
