# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling, regions, normalisation, attention, Fourier transforms."""

import numpy
from sweep_cases import (IMAGE, TOKENS, Input, case, constant, exactly, integers, normal, uniform,
                         weight)


def conv(variant, channels, filters, kernel, size=56, groups=1, dilation=1, **attributes):
    """Padded so that without strides the output is as large as the input."""
    pads = [dilation * (extent // 2) for extent in kernel]
    return case("Conv", variant, [
        normal(1, channels, *[size] * len(kernel)), weight(filters, channels // groups, *kernel),
        constant(normal(filters))], kernel_shape=kernel, pads=pads + pads,
        dilations=[dilation] * len(kernel), group=groups, **attributes)


def transposed(variant, channels, filters, kernel, size, groups=1, **attributes):
    return case("ConvTranspose", variant, [
        normal(1, channels, *[size] * len(kernel)), weight(channels, filters // groups, *kernel),
        constant(normal(filters))], kernel_shape=kernel, group=groups, **attributes)


CONVOLUTIONS = [
    conv("3x3", 64, 64, [3, 3]),
    conv("3x3 stride 2", 64, 128, [3, 3], strides=[2, 2]),
    conv("3x3 512 channels", 512, 512, [3, 3], size=7),
    conv("3x3 dilated", 64, 64, [3, 3], dilation=2),
    conv("3x3 in 8 groups", 64, 64, [3, 3], groups=8),
    conv("1x1", 64, 256, [1, 1]),
    conv("1x1 of many channels", 256, 256, [1, 1], size=75),
    conv("1x1 512 channels", 512, 512, [1, 1], size=19),
    conv("1x1 stride 2", 256, 512, [1, 1], strides=[2, 2]),
    conv("5x5", 64, 64, [5, 5], size=28),
    conv("7x7 of 3 channels", 3, 64, [7, 7], size=224, strides=[2, 2]),
    conv("1x7", 64, 64, [1, 7], size=17),
    conv("depthwise 3x3", 64, 64, [3, 3], groups=64),
    conv("depthwise 5x5 stride 2", 64, 64, [5, 5], groups=64, strides=[2, 2]),
    conv("depthwise 7x7", 96, 96, [7, 7], groups=96),
    conv("depthwise, multiplier 2", 64, 128, [3, 3], groups=64),
    conv("1-D", 64, 64, [5], size=1000),
    conv("3-D", 16, 16, [3, 3, 3], size=24),
    conv("3-D of 3 channels", 3, 32, [3, 7, 7], size=28, strides=[1, 2, 2]),
    case("Conv", "computed weight", [normal(1, 64, 28, 28), normal(64, 64, 3, 3, scale=0.05)],
         pads=[1, 1, 1, 1]),
    transposed("2x2 stride 2", 64, 32, [2, 2], 28, strides=[2, 2]),
    transposed("4x4 stride 2", 64, 32, [4, 4], 28, strides=[2, 2], pads=[1, 1, 1, 1]),
    transposed("3x3", 64, 64, [3, 3], 28, pads=[1, 1, 1, 1]),
    transposed("2x2 stride 2 to 1 channel", 24, 1, [2, 2], 120, strides=[2, 2]),
    transposed("4x4 stride 2 to 3 channels", 64, 3, [4, 4], 32, strides=[2, 2], pads=[1, 1, 1, 1]),
    transposed("4x4 stride 2 to 8 channels", 64, 8, [4, 4], 32, strides=[2, 2], pads=[1, 1, 1, 1]),
    case("ConvTranspose", "many small images", [normal(200, 64, 3, 3), weight(64, 8, 2, 2)],
         strides=[2, 2]),
    transposed("3-D", 16, 16, [2, 2, 2], 12, strides=[2, 2, 2]),
    transposed("1-D", 64, 64, [8], 500, strides=[4], pads=[2, 2]),
    case("Col2Im", "", [normal(1, 64 * 9, 28 * 28), constant([28, 28]), constant([3, 3])], pads=[1, 1, 1, 1]),
    transposed("depthwise", 64, 64, [4, 4], 28, groups=64, strides=[2, 2], pads=[1, 1, 1, 1]),
]

POOLS = [
    case("MaxPool", "2x2", [normal(*IMAGE)], kernel_shape=[2, 2], strides=[2, 2]),
    case("MaxPool", "3x3 stride 2", [normal(1, 64, 112, 112)], kernel_shape=[3, 3],
         strides=[2, 2], pads=[1, 1, 1, 1]),
    case("MaxPool", "3x3", [normal(*IMAGE)], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    case("MaxPool", "3x3 of small images", [normal(1, 256, 7, 7)], kernel_shape=[3, 3],
         pads=[1, 1, 1, 1]),
    case("AveragePool", "3x3 stride 2 of small images", [normal(1, 256, 7, 7)],
         kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    case("AveragePool", "3x3 of narrow images", [normal(8, 64, 32, 7)], kernel_shape=[3, 3]),
    case("MaxPool", "with indices", [normal(*IMAGE)], outputs=2, kernel_shape=[2, 2],
         strides=[2, 2]),
    case("MaxPool", "with indices, short rows", [normal(28, 20, 45, 3)], outputs=2, kernel_shape=[2, 1]),
    case("MaxPool", "1-D of short rows", [normal(163, 100, 3)], kernel_shape=[2]),
    case("AveragePool", "1-D stride 8", [normal(8, 3, 20000)], kernel_shape=[8], strides=[8]),
    case("MaxPool", "1-D", [normal(1, 64, 1000)], kernel_shape=[3], strides=[2]),
    case("MaxPool", "3-D", [normal(1, 16, 24, 24, 24)], kernel_shape=[2, 2, 2],
         strides=[2, 2, 2]),
    case("AveragePool", "2x2", [normal(*IMAGE)], kernel_shape=[2, 2], strides=[2, 2]),
    case("AveragePool", "7x7 padded", [normal(1, 64, 28, 28)], kernel_shape=[7, 7], pads=[3] * 4),
    case("AveragePool", "3x3 padded", [normal(*IMAGE)], kernel_shape=[3, 3],
         pads=[1, 1, 1, 1]),
    case("AveragePool", "3x3 padding counts", [normal(*IMAGE)], kernel_shape=[3, 3],
         pads=[1, 1, 1, 1], count_include_pad=1),
    case("LpPool", "2x2", [normal(*IMAGE)], kernel_shape=[2, 2], strides=[2, 2], p=2),
    *(case(f"Global{name}Pool", "", [normal(*IMAGE)]) for name in ("Average", "Max", "Lp")),
]

def boxes(count, size, image=False):
    """Corners of regions within an image of `size`, behind the number of an image if so told."""
    def draw(rng):
        first = rng.uniform(0, 0.6, (count, 2)) * size
        corners = numpy.concatenate([first, first + rng.uniform(0.1, 0.4, (count, 2)) * size], 1)
        return numpy.pad(corners, ((0, 0), (1 if image else 0, 0))).astype("float32")
    return Input(draw)


def aligned(variant, **attributes):
    """100 regions of a feature map, as detectors of objects have them."""
    return case("RoiAlign", variant, [normal(1, 256, 50, 68), boxes(100, 800), integers(0, 0, 100)],
                output_height=7, output_width=7, spatial_scale=1 / 16, **attributes)


def deformed(variant, channels, filters, size, mask=True, groups=1, type="float32"):
    inputs = [normal(1, channels, size, size, type=type), weight(filters, channels, 3, 3, type=type),
              normal(1, 18 * groups, size, size, type=type), constant(normal(filters, type=type))]
    if mask:
        inputs.append(uniform(0, 1, 1, 9 * groups, size, size, type=type))
    return case("DeformConv", variant, inputs, kernel_shape=[3, 3], pads=[1] * 4, offset_group=groups)


REGIONS = [
    aligned("sampled twice", sampling_ratio=2),
    aligned("sampled as is"),
    aligned("maximum", sampling_ratio=2, mode="max"),
    case("MaxRoiPool", "", [uniform(0, 1, 1, 256, 50, 68), boxes(100, 800, image=True)],
         pooled_shape=[7, 7], spatial_scale=1 / 16),
    deformed("64 channels", 64, 64, 56),
    deformed("256 channels, no mask", 256, 256, 28, mask=False),
    deformed("4 groups of offsets", 64, 64, 28, groups=4),
    deformed("1 channel", 1, 8, 28, mask=False),
    deformed("float64", 64, 64, 28, type="float64"),
]

NORMALISATIONS = [
    case("BatchNormalization", "", [
        normal(*IMAGE), constant(normal(64)), constant(normal(64)), constant(normal(64)),
        constant(uniform(0.5, 2, 64))]),
    case("InstanceNormalization", "", [normal(*IMAGE), constant(normal(64)),
                                       constant(normal(64))]),
    case("InstanceNormalization", "small planes", [normal(4, 255, 8, 16), constant(normal(255)),
                                                   constant(normal(255))]),
    case("GroupNormalization", "", [normal(*IMAGE), constant(normal(64)), constant(normal(64))],
         num_groups=8),
    case("LayerNormalization", "", [normal(*TOKENS), constant(normal(768)),
                                    constant(normal(768))], axis=-1),
    case("RMSNormalization", "", [normal(*TOKENS), constant(normal(768))], opset=23, axis=-1),
    case("LpNormalization", "", [normal(*TOKENS)], axis=-1, p=2),
    case("MeanVarianceNormalization", "", [normal(*IMAGE)], axes=[0, 2, 3]),
    case("LRN", "", [normal(1, 96, 27, 27)], size=5),
    case("InstanceNormalization", "float16, short rows", [
        normal(112, 50, 32, type="float16"), constant(normal(50, type="float16")),
        constant(normal(50, type="float16"))]),
    case("LayerNormalization", "float16, short rows", [
        normal(5000, 12, type="float16"), constant(normal(12, type="float16")),
        constant(normal(12, type="float16"))], axis=-1),
    case("LayerNormalization", "float64", [
        normal(*TOKENS, type="float64"), constant(normal(768, type="float64")),
        constant(normal(768, type="float64"))], axis=-1),
]

HEADS = (1, 12, 128, 64)
ATTENTION = [
    case("Attention", "12 heads", [normal(*HEADS), normal(*HEADS), normal(*HEADS)], opset=23),
    case("Attention", "causal, packed heads", [normal(*TOKENS)] * 3, opset=23, is_causal=1,
         q_num_heads=12, kv_num_heads=12),
    case("Attention", "grouped heads, one token",
         [normal(1, 32, 1, 64), normal(1, 8, 1024, 64), normal(1, 8, 1024, 64)], opset=23),
    case("Attention", "one query of 1000 keys",
         [normal(1, 16, 1, 128), normal(1, 16, 1000, 128), normal(1, 16, 1000, 128)], opset=23),
    case("RotaryEmbedding", "", [normal(*HEADS), uniform(-1, 1, 1, 128, 32), uniform(-1, 1, 1, 128, 32)],
         opset=23),
]

FOURIER = [
    case("DFT", "512", [normal(128, 512, 1)], opset=17, axis=1, onesided=1),
    case("DFT", "4096, complex", [normal(16, 4096, 2)], opset=17, axis=1),
    # The peer's own error is a thousand times larger than ours.
    case("DFT", "1031, a prime", [normal(16, 1031, 1)], opset=17, axis=1,
         tolerance=1e-3),
    case("MelWeightMatrix", "", [exactly(80), exactly(512), exactly(16000), exactly(0, "float32"),
                                 exactly(8000, "float32")], opset=17),
    case("STFT", "400 by 160", [normal(1, 16000, 1), constant(160), constant(uniform(0, 1, 400)),
                                constant(400)], opset=17, onesided=1),
]

CASES = CONVOLUTIONS + POOLS + REGIONS + NORMALISATIONS + ATTENTION + FOURIER
