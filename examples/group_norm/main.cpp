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

constexpr std::size_t kArenaBytes =
    std::max(group_norm_0::arena_bytes, group_norm_1e5::arena_bytes);
alignas(group_norm_0::arena_alignment) std::byte arena[kArenaBytes];

using Open = intarsia::Result<intarsia::Session> (*)(std::span<std::byte>,
                                                     const intarsia::SessionOptions&,
                                                     intarsia::Diagnostic*);

bool check(const char* title, Open open, const std::string& expected) {
  intarsia::Result<intarsia::Session> session = open(std::span<std::byte>(arena), {}, nullptr);
  if (!session.ok()) return false;
  const std::span<const float> inputs[] = {kX, kGroups, kScale, kBias};
  for (int i = 0; i < session->input_count(); ++i) {
    std::copy(inputs[i].begin(), inputs[i].end(), session->input<float>(i).value().begin());
  }
  return session->run() &&
         compare(title, session->output<float>(0).value(), read_numbers(expected), 0, 1e-4f);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: group_norm FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  const bool zero = check("epsilon 0", &group_norm_0::open, folder + "/epsilon_0.txt");
  const bool small = check("epsilon 1e-5", &group_norm_1e5::open, folder + "/epsilon_1e-5.txt");
  return zero && small ? 0 : 1;
}
