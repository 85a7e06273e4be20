// SPDX-License-Identifier: Apache-2.0
//
// Fine-tunes a network where it runs: PP-OCR's text-direction classifier learns to tell fonts
// apart. The plan has two entry points over one arena. `forward` computes the loss, `backward` its
// gradients by the weights of the last layers, which are states; the step is this program's own.
//
//     fine_tune FOLDER
//
// FOLDER has train.u8 and test.u8 (render.py), and pytorch.txt, if PyTorch has done the same
// (train_in_pytorch.py). Prints our losses beside PyTorch's; fails if they differ.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/heap_calls.h"
#include "fine_tune_model.h"
#include "intarsia/describe.h"

namespace {

constexpr int kSteps = 100, kBatch = 24;
constexpr float kRate = 0.02f, kMomentum = 0.9f;
constexpr size_t kPixels = 3 * 48 * 192;

alignas(fonts::arena_alignment) std::byte arena[fonts::arena_bytes];

/// Pictures, each behind the number of its font.
struct Lines {
  std::vector<uint8_t> bytes;
  size_t count() const { return bytes.size() / (1 + kPixels); }

  static Lines read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    Lines lines{{std::istreambuf_iterator<char>(file), {}}};
    if (lines.count() == 0)
      std::fprintf(stderr, "fine_tune: there are no pictures in %s\n", path.c_str());
    return lines;
  }

  /// Makes `rows` pictures from the given one on, around the end, the inputs of the next run.
  bool give(intarsia::Session& session, size_t first, size_t rows) const {
    namespace inputs = fonts::forward::inputs;
    const auto n = static_cast<int32_t>(rows);
    if (!inputs::x::resize(session, {n, 3, 48, 192}) || !inputs::labels::resize(session, {n}))
      return false;
    const auto x = inputs::x::of(session);
    const auto labels = inputs::labels::of(session);
    for (size_t row = 0; row < rows; ++row) {
      const uint8_t* line = bytes.data() + (first + row) % count() * (1 + kPixels);
      labels[row] = line[0];
      std::transform(line + 1, line + 1 + kPixels,
                     x.begin() + static_cast<std::ptrdiff_t>(row * kPixels),
                     [](uint8_t pixel) { return static_cast<float>(pixel) / 127.5f - 1; });
    }
    return true;
  }
};

/// A weight, its gradient and what gradient descent remembers of it.
struct Weight {
  std::span<float> values;
  std::span<const float> gradient;
  std::vector<float> velocity;

  void step() {
    for (size_t i = 0; i < values.size(); ++i) {
      velocity[i] = kMomentum * velocity[i] + gradient[i];
      values[i] -= kRate * velocity[i];
    }
  }
};

/// The session's states are the weights; each has its gradient among the outputs of `backward`.
std::vector<Weight> weights_of(intarsia::Session& session) {
  std::vector<Weight> weights;
  for (int i = 0; i < session.state_count(); ++i) {
    const intarsia::Port state = session.state(i).value();
    const std::string name = std::string(state.name) + "_grad";
    const int output = session.find_output(name, fonts::backward::entry).value();
    const auto count = static_cast<size_t>(state.tensor.count());
    weights.push_back({{state.tensor.as<float>(), count},
                       session.output<float>(output, fonts::backward::entry).value(),
                       std::vector<float>(count, 0)});
  }
  return weights;
}

int fail(const intarsia::Session& session) {
  char text[512];
  intarsia::describe(session.diagnostic(), session.plan(), text, sizeof(text));
  std::fprintf(stderr, "fine_tune: %s\n", text);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fine_tune FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const Lines train = Lines::read(folder + "/train.u8"), test = Lines::read(folder + "/test.u8");
  if (train.count() == 0 || test.count() == 0) return 1;
  auto opened = fonts::open(arena);
  if (!opened.ok()) return 1;
  intarsia::Session& session = *opened;
  std::vector<Weight> weights = weights_of(session);
  std::vector<float> losses;
  losses.reserve(kSteps);

  const long heap = examples::heap_calls();
  for (size_t step = 0; step < kSteps; ++step) {
    if (!train.give(session, step * kBatch, kBatch)) return fail(session);
    if (!session.run(fonts::forward::entry)) return fail(session);
    losses.push_back(fonts::forward::outputs::loss::of(session)[0]);
    if (!session.run(fonts::backward::entry)) return fail(session);
    for (Weight& weight : weights) weight.step();
  }
  const long heap_calls = examples::heap_calls() - heap;

  size_t right = 0;
  for (size_t first = 0; first < test.count(); first += kBatch) {
    const size_t rows = std::min<size_t>(kBatch, test.count() - first);
    if (!test.give(session, first, rows) || !session.run(fonts::forward::entry))
      return fail(session);
    const auto labels = fonts::forward::inputs::labels::of(session);
    const auto scores = fonts::forward::outputs::linear_1_tmp_1::of(session);
    for (size_t row = 0; row < rows; ++row) {
      const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(3 * row);
      right +=
          std::max_element(begin, begin + 3) - begin == test.bytes[(first + row) * (1 + kPixels)];
    }
  }
  std::printf(
      "%d steps of %d pictures, %zu weights: loss %.4f to %.4f, %zu of %zu test pictures right; "
      "arena %zu bytes, heap calls %ld\n",
      kSteps, kBatch, weights.size(), static_cast<double>(losses.front()),
      static_cast<double>(losses.back()), right, test.count(), sizeof(arena), heap_calls);

  const std::vector<float> theirs = read_numbers(folder + "/pytorch.txt");
  if (theirs.empty()) return 0;
  if (theirs.size() != losses.size()) {
    std::fputs("fine_tune: pytorch.txt is of another number of steps\n", stderr);
    return 1;
  }
  // Sums in another order differ in the last digits, and each step builds on those before.
  return compare("loss before each step", losses, theirs, 0.01f, 0) ? 0 : 1;
}
