// SPDX-License-Identifier: Apache-2.0
#include "common/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

std::vector<float> read_numbers(const std::string& path) {
  std::ifstream file(path);
  std::vector<float> result;
  for (float value = 0; file >> value;) result.push_back(value);
  return result;
}

bool compare(const char* title, std::span<const float> ours, const std::vector<float>& theirs,
             float relative, float absolute, const char* reference) {
  std::printf("\n%s\n%12s %12s\n", title, "Intarsia", reference);
  bool close = !ours.empty() && ours.size() == theirs.size();
  float worst = 0;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    std::printf("%12.6f %12.6f\n", static_cast<double>(ours[i]), static_cast<double>(theirs[i]));
    const float difference = std::fabs(ours[i] - theirs[i]);
    worst = std::max(worst, difference);
    // Written so that NaN is not close.
    close = close && difference <= absolute + relative * std::fabs(theirs[i]);
  }
  std::printf("largest difference %.2g: %s\n", static_cast<double>(worst),
              close ? "agrees" : "differs");
  return close;
}
