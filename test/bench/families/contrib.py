# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime's domain, at the sizes of a base-size transformer."""

from sweep_cases import IMAGE, MATRIX, TOKENS, case, constant, exactly, integers, normal, uniform, weight

HIDDEN = TOKENS[2]
VECTOR = constant(normal(HIDDEN))


def own(name, variant, inputs, **options):
    return case(f"com.microsoft:{name}", variant, inputs, **options)


def dynamic_lstm(batch, directions=1):
    """As recurrent.py has LSTM, with weights of codes. A state in the middle between two codes may become either."""
    steps, features, cells = 64, 64, 128
    def codes(size):
        return constant(integers(-127, 127, directions, size, 4 * cells, type="int8"))
    def parameters():
        return [constant(uniform(0.0005, 0.001, directions)), constant(exactly([0] * directions, "int8"))]
    variant = f"batch {batch}" + (" bidirectional" if directions == 2 else "")
    return own("DynamicQuantizeLSTM", variant, [
        normal(steps, batch, features), codes(features), codes(cells),
        constant(normal(directions, 8 * cells, scale=0.1)), None, None, None, None, *parameters(), *parameters()],
        hidden_size=cells, direction="bidirectional" if directions == 2 else "forward", tolerance=0.01)


def product_of_blocks(rows, bits=4, block=32, terms=1024, columns=1024):
    blocks = -(-terms // block)
    return own("MatMulNBits", f"{rows} rows of {bits} bits", [
        normal(rows, terms), constant(integers(0, 255, columns, blocks, block * bits // 8, type="uint8")),
        constant(uniform(0.001, 0.002, columns, blocks))], K=terms, N=columns, bits=bits, block_size=block)


def codes(*shape, type="uint8"):
    return integers(0, 255, *shape, type=type) if type == "uint8" else integers(-128, 127, *shape, type=type)


def linear(scale, zero, type="uint8"):
    """A scale and a zero point."""
    return [constant(exactly(scale, "float32")), constant(exactly(zero, type))]


def quantized(name, variant, *inputs, **attributes):
    flat = [part for given in inputs for part in (given if isinstance(given, list) else [given])]
    return own(f"QLinear{name}", variant, flat, **attributes)


CASES = [
    own("Gelu", "", [normal(*TOKENS)]),
    own("MurmurHash3", "", [integers(-1000000, 1000000, 200, 1000, type="int32")], positive=0, seed=0),
    own("FastGelu", "bias", [normal(*TOKENS), VECTOR]),
    own("QuickGelu", "", [normal(*TOKENS)]),
    own("BiasGelu", "", [normal(*TOKENS), VECTOR]),
    own("FusedConv", "Relu", [normal(*IMAGE), weight(64, 64, 3, 3), constant(normal(64))],
        activation="Relu", pads=[1, 1, 1, 1]),
    own("FusedConv", "residual", [normal(*IMAGE), weight(64, 64, 3, 3), constant(normal(64)), normal(*IMAGE)],
        activation="Relu", pads=[1, 1, 1, 1]),
    own("FusedGemm", "Relu", [normal(128, 1024), weight(*MATRIX), constant(normal(1024))],
        activation="Relu", transB=1),
    own("FusedMatMul", "transB", [normal(12, 128, 64), normal(12, 128, 64)], transB=1, alpha=0.125),
    own("SkipLayerNormalization", "", [normal(*TOKENS), normal(*TOKENS), VECTOR, VECTOR, VECTOR]),
    own("SkipSimplifiedLayerNormalization", "", [normal(*TOKENS), normal(*TOKENS), VECTOR]),
    own("Attention", "", [normal(*TOKENS), weight(HIDDEN, 3 * HIDDEN), constant(normal(3 * HIDDEN))],
        num_heads=12),
    own("MultiHeadAttention", "", [normal(*TOKENS), normal(*TOKENS), normal(*TOKENS)], num_heads=12),
    own("RotaryEmbedding", "", [normal(1, 12, 128, 64), constant(integers(0, 127, 1, 128)),
                                constant(uniform(-1, 1, 128, 32)), constant(uniform(-1, 1, 128, 32))]),
    own("GroupQueryAttention", "", [normal(*TOKENS), normal(1, 128, 256), normal(1, 128, 256), None, None,
                                    constant(exactly([127], "int32")), constant(exactly([128], "int32"))],
        num_heads=12, kv_num_heads=4),
    own("GridSample", "", [normal(1, 16, 64, 64), uniform(-1, 1, 1, 64, 64, 2)]),
    own("Trilu", "", [normal(12, 128, 128)]),
    *(dynamic_lstm(batch) for batch in (1, 8)),
    dynamic_lstm(1, directions=2),
    *(product_of_blocks(rows) for rows in (1, 8, 64, 256)),
    *(product_of_blocks(rows, bits=8) for rows in (1, 64)),
    product_of_blocks(64, bits=2),
    quantized("Add", "", codes(*IMAGE), linear(0.02, 120), codes(*IMAGE), linear(0.03, 130), linear(0.04, 125)),
    quantized("Add", "i8", codes(*IMAGE, type="int8"), linear(0.02, 3, "int8"), codes(*IMAGE, type="int8"),
              linear(0.03, -4, "int8"), linear(0.04, 0, "int8")),
    quantized("Add", "channels", codes(*IMAGE), linear(0.02, 120), codes(64, 1, 1), linear(0.03, 130),
              linear(0.04, 125)),
    quantized("Add", "tokens", codes(*TOKENS), linear(0.02, 120), codes(HIDDEN), linear(0.03, 130),
              linear(0.04, 125)),
    quantized("Mul", "", codes(*IMAGE), linear(0.02, 120), codes(*IMAGE), linear(0.03, 130), linear(0.04, 125)),
    quantized("Mul", "channels", codes(*IMAGE), linear(0.02, 120), codes(64, 1, 1), linear(0.03, 130),
              linear(0.04, 125)),
    quantized("Sigmoid", "", codes(*IMAGE), linear(0.03, 120), linear(0.004, 0)),
    quantized("LeakyRelu", "", codes(*IMAGE), linear(0.03, 120), linear(0.025, 60), alpha=0.1),
    quantized("Softmax", "", codes(12, 128, 128), linear(0.05, 120), linear(1 / 256, 0), axis=-1,
              bodies=lambda: {"opset": 13}, tolerance=0.001),
    quantized("AveragePool", "2x2", codes(*IMAGE), linear(0.03, 120), linear(0.03, 120), kernel_shape=[2, 2],
              strides=[2, 2], tolerance=0.01),
    quantized("AveragePool", "3x3", codes(*IMAGE), linear(0.03, 120), linear(0.03, 120), kernel_shape=[3, 3],
              pads=[1, 1, 1, 1], tolerance=0.01),
    quantized("GlobalAveragePool", "", codes(*IMAGE), linear(0.03, 120), linear(0.03, 120)),
    quantized("Concat", "", linear(0.03, 120), codes(*IMAGE), linear(0.02, 110), codes(*IMAGE), linear(0.03, 120),
              axis=1),
    quantized("Where", "", constant(integers(0, 1, *IMAGE, type="bool")), codes(*IMAGE), linear(0.03, 120), codes(*IMAGE),
              linear(0.02, 110), linear(0.04, 125)),
]
