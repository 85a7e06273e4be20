# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs; numpy only, because Debian's Python (export_torch.py) uses it too."""

import numpy as np


def generator(*words):
    """A random generator that depends on the given words and numbers alone."""
    return np.random.default_rng(list("/".join(map(str, words)).encode()))


def images(rng, count, size=224, scale=1.0, channels=3):
    """Smooth random images, NCHW: white noise filtered to 1/f, plus one offset per channel.

    White noise itself would be a poor input: averaging layers reduce any two noise images to
    nearly the same numbers.
    """
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :])
    noise = rng.standard_normal((count, channels, size, size))
    smooth = np.fft.irfft2(np.fft.rfft2(noise) / (1.0 + 60.0 * frequency), s=(size, size))
    smooth /= smooth.std(axis=(2, 3), keepdims=True)
    offsets = rng.standard_normal((count, channels, 1, 1))
    return (scale * (smooth + 0.5 * offsets)).astype(np.float32)
