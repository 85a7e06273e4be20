// SPDX-License-Identifier: Apache-2.0
//
// Changes the sample rate by interpolation with a sinc under a Hann window of 16 zero crossings:
//
//     c    = min(1, out / in)                 cutoff, as a share of the input's Nyquist frequency
//     H    = 16 / c                           half the width of the window, in input samples
//     h(d) = c * sinc(c * d) * (0.5 + 0.5 * cos(pi * d / H))   for |d| < H, else 0
//     y[m] = sum of x[n] * h(m * in / out - n)
//
// in double precision, rounded to float at the end. The input counts as zero outside its samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace examples {

/// ceil(signal.size() * rate_out / rate_in) samples. REQUIRES: both rates are positive.
std::vector<float> resample(std::span<const double> signal, uint32_t rate_in, uint32_t rate_out);

}  // namespace examples
