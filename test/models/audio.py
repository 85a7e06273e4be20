# SPDX-License-Identifier: Apache-2.0
"""Reads WAV files and resamples them, in a way that a C++ program can repeat exactly.

A sample is the mean of its channels, 16-bit integers divided by 32768, in double precision.
Resampling is interpolation with a sinc under a Hann window of 16 zero crossings:

    c    = min(1, out / in)                 cutoff, as a share of the input's Nyquist frequency
    H    = 16 / c                           half the width of the window, in input samples
    h(d) = c * sinc(c * d) * (0.5 + 0.5 * cos(pi * d / H))   for |d| < H, else 0
    t    = (m * in) / out                   position of output sample m, in input samples
    y[m] = sum of x[n] * h(t - n)           for n ascending from max(0, floor(t - H) + 1)
                                            to min(N - 1, ceil(t + H) - 1)

with sinc(u) = sin(pi * u) / (pi * u) and sinc(0) = 1, and m from 0 to ceil(N * out / in) - 1. All
in double precision, rounded to float at the end. The input counts as zero outside its N samples,
and equal rates copy.
"""

import wave

import numpy as np

ZERO_CROSSINGS = 16


def read_wav(path):
    """Returns the mean of all channels as float64 in [-1, 1), and the rate."""
    with wave.open(str(path), "rb") as file:
        if file.getsampwidth() != 2:
            raise SystemExit(f"{path}: {8 * file.getsampwidth()} bits per sample, expected 16")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.reshape(-1, file.getnchannels()).mean(axis=1) / 32768.0, file.getframerate()


def resample(signal, rate_in, rate_out):
    """Returns the signal at another rate, as float32; the formula is at the top of this file."""
    signal = np.asarray(signal, np.float64)
    if rate_in == rate_out:
        return signal.astype(np.float32)
    cutoff = min(1.0, rate_out / rate_in)
    half = ZERO_CROSSINGS / cutoff
    count = -(-len(signal) * rate_out // rate_in)
    time = np.arange(count) * rate_in / rate_out
    result = np.zeros(count)
    first = np.floor(time - half).astype(np.int64) + 1
    for step in range(int(2 * half) + 2):  # adds the terms of every output in ascending order of n
        n = first + step
        distance = time - n
        valid = (n >= 0) & (n < len(signal)) & (np.abs(distance) < half)
        window = 0.5 + 0.5 * np.cos(np.pi * distance / half)
        term = cutoff * np.sinc(cutoff * distance) * window
        result += np.where(valid, signal[np.clip(n, 0, len(signal) - 1)] * term, 0.0)
    return result.astype(np.float32)


def frames(signal, size, context):
    """Frames of `size` samples, the last one filled with zeros, each behind `context` samples."""
    count = -(-len(signal) // size)
    padded = np.zeros(context + count * size, np.float32)
    padded[context:context + len(signal)] = signal
    return [padded[None, k * size:k * size + context + size] for k in range(count)]
