// SPDX-License-Identifier: Apache-2.0
//
// Runs the models that PyTorch exported with the operator in group_norm.h, and prints the results
// beside PyTorch's own:
//   group_norm FOLDER      the folder that export.py has written
#include <algorithm>
#include <cstdio>
#include <string>

#include "common/compare.h"
#include "group_norm_model_0.h"
#include "group_norm_model_1e5.h"

namespace {

// The tutorial's data: three samples, two channels in two groups.
constexpr float kX[12] = {1.5410f, -0.2934f, -2.1788f, 0.5684f,  -1.0845f, -1.3986f,
                          0.4033f, 0.8380f,  -0.7193f, -0.4033f, -0.5966f, 0.1820f};
constexpr float kGroups[1] = {2}, kScale[2] = {2, 1}, kBias[2] = {1, 0};

void copy(std::span<const float> from, std::span<float> to) {
  std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: group_norm FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  bool right = true;
  {
    namespace model = group_norm_0;
    alignas(model::arena_alignment) static std::byte arena[model::arena_bytes];
    auto session = model::open(arena);
    if (!session.ok()) return 1;
    copy(kX, model::inputs::X::of(*session));
    copy(kGroups, model::inputs::num_groups::of(*session));
    copy(kScale, model::inputs::scale::of(*session));
    copy(kBias, model::inputs::bias::of(*session));
    if (!session->run()) return 1;
    right &= compare("epsilon 0", model::outputs::Y::of(*session),
                     read_numbers(folder + "/epsilon_0.txt"), 0, 1e-4f);
  }
  {
    namespace model = group_norm_1e5;
    alignas(model::arena_alignment) static std::byte arena[model::arena_bytes];
    auto session = model::open(arena);
    if (!session.ok()) return 1;
    copy(kX, model::inputs::X::of(*session));
    copy(kGroups, model::inputs::num_groups::of(*session));
    copy(kScale, model::inputs::scale::of(*session));
    copy(kBias, model::inputs::bias::of(*session));
    if (!session->run()) return 1;
    right &= compare("epsilon 1e-5", model::outputs::Y::of(*session),
                     read_numbers(folder + "/epsilon_1e-5.txt"), 0, 1e-4f);
  }
  return right ? 0 : 1;
}
