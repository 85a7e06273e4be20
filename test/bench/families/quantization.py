# SPDX-License-Identifier: Apache-2.0
from sweep_cases import IMAGE, MATRIX, TOKENS, case, constant, exactly, integers, normal, uniform

SCALE = constant(exactly(0.02, "float32"))
BYTE_ZERO, SIGNED_ZERO = constant(exactly(128, "uint8")), constant(exactly(0, "int8"))


def channels(count):
    return constant(uniform(0.01, 0.1, count))


def zeros(count, type="int8"):
    return constant(integers(0, 0, count, type=type))


def quantised_conv(variant, channels_in, filters, kernel, size, group=1, **attributes):
    """Peers may round a code next to a middle between two to the other one."""
    weights = integers(-127, 127, filters, channels_in // group, kernel, kernel, type="int8")
    return case("QLinearConv", variant,
                [integers(0, 255, 1, channels_in, size, size, type="uint8"), SCALE, BYTE_ZERO,
                 constant(weights), constant(uniform(0.005, 0.01, filters)), zeros(filters),
                 constant(exactly(0.2, "float32")), BYTE_ZERO,
                 constant(integers(-1000, 1000, filters, type="int32"))],
                opset=10, tolerance=1e-3, group=group, pads=[kernel // 2] * 4, **attributes)


CASES = [
    case("QuantizeLinear", "u8", [normal(*IMAGE), SCALE, BYTE_ZERO]),
    case("QuantizeLinear", "i8 tokens", [normal(*TOKENS), SCALE, SIGNED_ZERO]),
    case("QuantizeLinear", "i8 by channel", [normal(*IMAGE), channels(64), zeros(64)], axis=1),
    case("QuantizeLinear", "i8 by last axis", [normal(*MATRIX), channels(1024), zeros(1024)], axis=-1),
    case("QuantizeLinear", "i8 in blocks",
         [normal(*MATRIX), constant(uniform(0.01, 0.1, 1024, 8)),
          constant(integers(0, 0, 1024, 8, type="int8"))], axis=1, block_size=128),
    case("DequantizeLinear", "u8", [integers(0, 255, *IMAGE, type="uint8"), SCALE, BYTE_ZERO]),
    case("DequantizeLinear", "i8 by channel",
         [integers(-128, 127, *IMAGE, type="int8"), channels(64), zeros(64)], axis=1),
    case("DequantizeLinear", "i8 by last axis",
         [integers(-128, 127, *MATRIX, type="int8"), channels(1024), zeros(1024)], axis=-1),
    case("DequantizeLinear", "i32", [integers(-10**6, 10**6, *TOKENS, type="int32"), SCALE]),
    case("DequantizeLinear", "i8 in blocks",
         [integers(-128, 127, *MATRIX, type="int8"), constant(uniform(0.01, 0.1, 1024, 32)),
          constant(integers(0, 0, 1024, 32, type="int8"))], axis=1, block_size=32),
    case("MatMulInteger", "", [integers(0, 255, 128, 768, type="uint8"),
                               constant(integers(-128, 127, 768, 768, type="int8")),
                               constant(exactly(120, "uint8"))], opset=10),
    case("ConvInteger", "3x3", [integers(0, 255, 1, 64, 56, 56, type="uint8"),
                                constant(integers(0, 255, 64, 64, 3, 3, type="uint8")),
                                constant(exactly(120, "uint8"))], opset=10, pads=[1, 1, 1, 1]),
    case("ConvInteger", "3x3 of 3 channels", [
        integers(0, 255, 1, 3, 112, 112, type="uint8"),
        constant(integers(0, 255, 16, 3, 3, 3, type="uint8")),
        constant(exactly(120, "uint8")), constant(exactly(130, "uint8"))],
        opset=10, pads=[1, 1, 1, 1]),
    case("ConvInteger", "1x1 of 4 filters", [
        integers(0, 255, 4, 16, 64, 64, type="uint8"),
        constant(integers(0, 255, 4, 16, 1, 1, type="uint8")),
        constant(exactly(120, "uint8"))], opset=10),
    case("ConvInteger", "7x7 in steps of 2", [
        integers(0, 255, 1, 3, 112, 112, type="uint8"),
        constant(integers(0, 255, 32, 3, 7, 7, type="uint8")),
        constant(exactly(120, "uint8"))], opset=10, pads=[3, 3, 3, 3], strides=[2, 2]),
    case("ConvInteger", "3x3, computed weights", [
        integers(0, 255, 1, 64, 14, 14, type="uint8"), integers(0, 255, 64, 64, 3, 3, type="uint8"),
        exactly(120, "uint8"), exactly(130, "uint8")], opset=10, pads=[1, 1, 1, 1]),
    case("ConvInteger", "3x3 in 32 groups",
         [integers(0, 255, 1, 128, 28, 28, type="uint8"),
          constant(integers(-128, 127, 128, 4, 3, 3, type="int8")),
          constant(exactly(120, "uint8"))],
         opset=10, pads=[1, 1, 1, 1], group=32),
    case("ConvInteger", "depthwise 3x3", [integers(0, 255, 1, 64, 56, 56, type="uint8"),
                                          constant(integers(-128, 127, 64, 1, 3, 3, type="int8")),
                                          constant(exactly(120, "uint8"))],
         opset=10, pads=[1, 1, 1, 1], group=64),
    quantised_conv("3x3", 64, 64, 3, 56),
    quantised_conv("1x1", 16, 96, 1, 112),
    quantised_conv("of colours", 3, 32, 3, 224, strides=[2, 2]),
    quantised_conv("depthwise 3x3", 96, 96, 3, 56, group=96),
    quantised_conv("depthwise 5x5", 96, 96, 5, 28, group=96),
]
