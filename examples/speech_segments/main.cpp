// SPDX-License-Identifier: Apache-2.0
//
// Finds the speech in a WAV file with Silero VAD. The model, its kernels and its memory are part of
// this program: nothing is loaded, and nothing is allocated between opening and closing the
// session.
//
//     speech_segments [--probabilities OUT.f32] SOUND.wav
//
// The model takes 512 new samples at 16 kHz behind the 64 samples before them, and carries a state
// from one call to the next. It gives the probability that the frame is speech.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <vector>

#include "common/heap_calls.h"
#include "common/resample.h"
#include "common/wav.h"
#include "intarsia/describe.h"
#include "speech_model.h"

namespace {

constexpr size_t kRate = 16000, kFrame = 512, kContext = 64;
static_assert(speech::inputs::input::count == kContext + kFrame);

alignas(speech::arena_alignment) std::byte arena[speech::arena_bytes];

/// Fills `probabilities`, one per frame; false if the session fails. Uses no heap.
/// REQUIRES: signal has kContext + probabilities.size() * kFrame samples, the first kContext zero.
bool classify(const std::vector<float>& signal, std::vector<float>& probabilities,
              intarsia::Diagnostic& diagnostic) {
  auto session = speech::open(arena, {}, &diagnostic);
  if (!session.ok()) return false;
  for (size_t frame = 0; frame < probabilities.size(); ++frame) {
    const auto begin = signal.begin() + static_cast<std::ptrdiff_t>(frame * kFrame);
    std::copy_n(begin, kContext + kFrame, speech::inputs::input::of(*session).begin());
    speech::inputs::sr::of(*session)[0] = kRate;
    if (!session->run()) {
      diagnostic = session->diagnostic();
      return false;
    }
    probabilities[frame] = speech::outputs::output::of(*session)[0];
  }
  return true;
}

struct Segment {
  size_t begin, end;  // samples
};

/// Speech starts where the probability reaches 0.5, and ends where it falls below 0.35 and does not
/// come back to 0.5 within 100 ms. What is not longer than 250 ms does not count.
std::vector<Segment> find_segments(const std::vector<float>& probabilities, size_t length) {
  constexpr size_t kSilence = kRate / 10, kShortest = kRate / 4, kNone = SIZE_MAX;
  std::vector<Segment> segments;
  size_t start = kNone, end = kNone;
  for (size_t frame = 0; frame < probabilities.size(); ++frame) {
    const size_t position = frame * kFrame;
    if (probabilities[frame] >= 0.5f) {
      if (start == kNone) start = position;
      end = kNone;
    } else if (probabilities[frame] < 0.35f && start != kNone) {
      if (end == kNone) end = position;
      if (position - end < kSilence) continue;
      segments.push_back({start, end});
      start = end = kNone;
    }
  }
  if (start != kNone) segments.push_back({start, length});
  std::erase_if(segments, [](const Segment& s) { return s.end - s.begin <= kShortest; });
  return segments;
}

void print_segments(const std::vector<float>& probabilities, size_t length) {
  const std::vector<Segment> segments = find_segments(probabilities, length);
  for (const Segment& segment : segments) {
    const size_t last = std::min((segment.end + kFrame - 1) / kFrame, probabilities.size());
    float sum = 0, highest = 0;
    for (size_t frame = segment.begin / kFrame; frame < last; ++frame) {
      sum += probabilities[frame];
      highest = std::max(highest, probabilities[frame]);
    }
    std::printf("speech %.3f s to %.3f s, probability %.4f on average, %.4f at most\n",
                static_cast<double>(segment.begin) / kRate,
                static_cast<double>(segment.end) / kRate,
                static_cast<double>(sum / static_cast<float>(last - segment.begin / kFrame)),
                static_cast<double>(highest));
  }
  if (segments.empty()) {
    const float highest = probabilities.empty() ? 0 : *std::ranges::max_element(probabilities);
    std::printf("no speech, probability %.4f at most\n", static_cast<double>(highest));
  }
}

int run(const char* path, const char* probabilities_path) {
  const examples::Sound sound = examples::read_wav(path);
  std::vector<float> signal = examples::resample(sound.samples, sound.rate, kRate);
  const size_t length = signal.size();
  std::vector<float> probabilities((length + kFrame - 1) / kFrame);
  signal.insert(signal.begin(), kContext, 0.0f);
  signal.resize(kContext + probabilities.size() * kFrame);

  intarsia::Diagnostic diagnostic;
  const long heap_before = examples::heap_calls();
  const auto start = std::chrono::steady_clock::now();
  const bool ok = classify(signal, probabilities, diagnostic);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  const long heap_calls = examples::heap_calls() - heap_before;
  if (!ok) {
    char text[512];
    intarsia::describe(diagnostic, speech::plan(), text, sizeof(text));
    std::fprintf(stderr, "speech_segments: %s\n", text);
    return 1;
  }

  std::printf("%s: %.3f s at %u Hz, %zu frames of 32 ms\n", path,
              static_cast<double>(length) / kRate, sound.rate, probabilities.size());
  print_segments(probabilities, length);
  std::printf("%.3f ms per frame; plan %zu bytes, arena %zu bytes, heap calls %ld\n",
              elapsed.count() / static_cast<double>(std::max<size_t>(probabilities.size(), 1)),
              speech::plan_bytes, speech::arena_bytes, heap_calls);
  if (probabilities_path != nullptr) {
    std::ofstream file(probabilities_path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(probabilities.data()),
               static_cast<std::streamsize>(probabilities.size() * sizeof(float)));
    if (!file.flush()) throw std::runtime_error(std::string(probabilities_path) + ": cannot write");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2 && argv[1][0] != '-') return run(argv[1], nullptr);
  if (argc == 4 && std::strcmp(argv[1], "--probabilities") == 0) return run(argv[3], argv[2]);
  std::fputs("usage: speech_segments [--probabilities OUT.f32] SOUND.wav\n", stderr);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "speech_segments: %s\n", error.what());
  return 1;
}
