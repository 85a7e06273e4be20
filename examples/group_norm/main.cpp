// SPDX-License-Identifier: Apache-2.0
//
// Runs the models that PyTorch exported with the operator in group_norm.h, and prints the results
// beside PyTorch's own:
//   group_norm FOLDER      the folder that export.py has written
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "group_norm_model_0.h"
#include "group_norm_model_1e5.h"

namespace {

// The tutorial's data: three samples, two channels in two groups.
constexpr float kX[12] = {1.5410f, -0.2934f, -2.1788f, 0.5684f,  -1.0845f, -1.3986f,
                          0.4033f, 0.8380f,  -0.7193f, -0.4033f, -0.5966f, 0.1820f};
constexpr float kGroups[1] = {2}, kScale[2] = {2, 1}, kBias[2] = {1, 0};

std::vector<float> numbers(const std::string& path) {
  std::ifstream file(path);
  std::vector<float> result;
  for (float value = 0; file >> value;) result.push_back(value);
  return result;
}

/// Largest difference between our result and PyTorch's; printed side by side.
float compare(const char* title, std::span<const float> ours, const std::vector<float>& theirs) {
  if (ours.empty() || ours.size() != theirs.size()) return INFINITY;
  std::printf("\n%s\n%12s %12s\n", title, "Intarsia", "PyTorch");
  float worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    std::printf("%12.6f %12.6f\n", static_cast<double>(ours[i]), static_cast<double>(theirs[i]));
    worst = std::max(worst, std::fabs(ours[i] - theirs[i]));
  }
  std::printf("largest difference %.2g\n", static_cast<double>(worst));
  return worst;
}

template <class X, class Groups, class Scale, class Bias>
void fill(const intarsia::Session& session) {
  std::copy(std::begin(kX), std::end(kX), X::of(session).begin());
  std::copy(std::begin(kGroups), std::end(kGroups), Groups::of(session).begin());
  std::copy(std::begin(kScale), std::end(kScale), Scale::of(session).begin());
  std::copy(std::begin(kBias), std::end(kBias), Bias::of(session).begin());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: group_norm FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  namespace zero = group_norm_0;
  namespace small = group_norm_1e5;
  alignas(zero::arena_alignment) static std::byte zero_arena[zero::arena_bytes];
  alignas(small::arena_alignment) static std::byte small_arena[small::arena_bytes];
  auto first = zero::open(zero_arena);
  auto second = small::open(small_arena);
  if (!first.ok() || !second.ok()) return 1;
  fill<zero::inputs::X, zero::inputs::num_groups, zero::inputs::scale, zero::inputs::bias>(*first);
  fill<small::inputs::X, small::inputs::num_groups, small::inputs::scale, small::inputs::bias>(
      *second);
  if (!first->run() || !second->run()) return 1;
  const float worst = std::max(
      compare("epsilon 0", zero::outputs::Y::of(*first), numbers(folder + "/epsilon_0.txt")),
      compare("epsilon 1e-5", small::outputs::Y::of(*second),
              numbers(folder + "/epsilon_1e-5.txt")));
  return worst < 1e-4f ? 0 : 1;
}
