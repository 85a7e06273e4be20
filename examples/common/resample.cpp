// SPDX-License-Identifier: Apache-2.0
#include "common/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace examples {

std::vector<float> resample(std::span<const double> signal, uint32_t rate_in, uint32_t rate_out) {
  if (rate_in == rate_out) return {signal.begin(), signal.end()};
  const double cutoff = std::min(1.0, static_cast<double>(rate_out) / rate_in);
  const double half = 16.0 / cutoff;
  const auto length = static_cast<int64_t>(signal.size());
  const int64_t count = (length * rate_out + rate_in - 1) / rate_in;
  std::vector<float> result(static_cast<size_t>(count));

  // Outputs that lie `phases` apart are a whole number of input samples apart, so they share the
  // values of h.
  const uint32_t divisor = std::gcd(rate_in, rate_out);
  const int64_t phases = rate_out / divisor, step = rate_in / divisor;
  std::vector<double> taps;
  for (int64_t phase = 0; phase < std::min(phases, count); ++phase) {
    const double time = static_cast<double>(phase) * rate_in / rate_out;
    const auto first = static_cast<int64_t>(std::floor(time - half)) + 1;
    const auto last = static_cast<int64_t>(std::ceil(time + half)) - 1;
    taps.clear();
    for (int64_t n = first; n <= last; ++n) {
      const double distance = time - static_cast<double>(n);
      const double angle = std::numbers::pi * cutoff * distance;
      const double sinc = angle == 0 ? 1.0 : std::sin(angle) / angle;
      const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * distance / half);
      taps.push_back(cutoff * sinc * window);
    }
    int64_t begin = first;
    for (int64_t m = phase; m < count; m += phases, begin += step) {
      const int64_t end = std::min(begin + static_cast<int64_t>(taps.size()), length);
      double sum = 0;
      for (int64_t n = std::max<int64_t>(begin, 0); n < end; ++n) {
        sum += signal[static_cast<size_t>(n)] * taps[static_cast<size_t>(n - begin)];
      }
      result[static_cast<size_t>(m)] = static_cast<float>(sum);
    }
  }
  return result;
}

}  // namespace examples
