# SPDX-License-Identifier: Apache-2.0
"""Models as exporters write them, for the tools that rewrite models: weights drawn so that every
part of a model shows in its outputs."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Builder:
    """Nodes and initialisers by and by; each node's output is named like the node."""

    def __init__(self, seed, opset=14):
        self.values = np.random.default_rng(seed)
        self.opset, self.nodes, self.weights, self.counts = opset, [], [], {}

    def name(self, stem):
        self.counts[stem] = self.counts.get(stem, -1) + 1
        return f"{stem}_{self.counts[stem]}"

    def constant(self, value, dtype=None):
        name = self.name("constant")
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def draw(self, *shape, scale=None, mean=0.0):
        """Normally distributed; by default so that products keep the size of what they multiply."""
        scale = 1 / np.sqrt(np.prod(shape[:-1])) if scale is None else scale
        return self.constant((mean + scale * self.values.standard_normal(shape)), np.float32)

    def add(self, operator, *inputs, outputs=1, **attributes):
        name = self.name(operator.lower())
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name, **attributes))
        return name if outputs == 1 else names

    def model(self, inputs, outputs):
        """`inputs` and `outputs`: (name, type, extents)."""
        for (name, _, _), node in zip(outputs, self.nodes[-len(outputs):], strict=True):
            node.output[0] = name
        graph = helper.make_graph(
            self.nodes, "test", [helper.make_tensor_value_info(*each) for each in inputs],
            [helper.make_tensor_value_info(*each) for each in outputs], self.weights)
        return helper.make_model(graph, ir_version=8, producer_name="pytorch",
                                 opset_imports=[helper.make_opsetid("", self.opset)])

    # ---- What PyTorch's exporter writes ----

    def linear(self, x, rows, columns):
        return self.add("Add", self.draw(columns, scale=0.3),
                        self.add("MatMul", x, self.draw(rows, columns)))

    def normalization(self, x, width):
        deviation = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        square = self.add("Pow", deviation, self.constant(2, np.float32))
        variance = self.add("ReduceMean", square, axes=[-1])
        root = self.add("Sqrt", self.add("Add", variance, self.constant(1e-5, np.float32)))
        scaled = self.add("Mul", self.add("Div", deviation, root), self.draw(width, scale=0.3, mean=1))
        return self.add("Add", scaled, self.draw(width, scale=0.3))

    def gelu(self, x):
        erf = self.add("Erf", self.add("Div", x, self.constant(np.sqrt(2), np.float32)))
        product = self.add("Mul", x, self.add("Add", erf, self.constant(1, np.float32)))
        return self.add("Mul", product, self.constant(0.5, np.float32))

    def heads(self, x, heads, size, order):
        split = self.add("Reshape", x, self.constant([0, 0, heads, size], np.int64))
        return self.add("Transpose", split, perm=order)

    def attention(self, x, mask, heads, width):
        size = width // heads
        q, k, v = (self.linear(x, width, width) for _ in range(3))
        scores = self.add("MatMul", self.heads(q, heads, size, [0, 2, 1, 3]),
                          self.heads(k, heads, size, [0, 2, 3, 1]))
        scores = self.add("Div", scores, self.constant(np.sqrt(size), np.float32))
        scores = self.add("Softmax", self.add("Add", scores, mask), axis=3)
        result = self.add("MatMul", scores, self.heads(v, heads, size, [0, 2, 1, 3]))
        result = self.add("Transpose", result, perm=[0, 2, 1, 3])
        return self.add("Reshape", result, self.constant([0, 0, width], np.int64))


def bert(width=64, heads=4, layers=2, words=120, longest=32, seed=3, extents=("batch", "length")):
    """An encoder over `extents` words of which a mask leaves out some."""
    b = Builder(seed)
    mask = "attention_mask"
    for axis in (1, 2):
        mask = b.add("Unsqueeze", mask, b.constant([axis], np.int64))
    open_keys = b.add("Cast", mask, to=FLOAT)
    mask = b.add("Mul", b.add("Sub", b.constant(1, np.float32), open_keys),
                 b.constant(-10000, np.float32))
    length = b.add("Gather", b.add("Shape", "input_ids"), b.constant(1, np.int64), axis=0)
    places = b.add("Slice", b.constant(np.arange(longest)[None], np.int64), b.constant([0], np.int64),
                   b.add("Unsqueeze", length, b.constant([0], np.int64)), b.constant([1], np.int64))
    x = b.add("Add", b.add("Gather", b.draw(words, width, scale=1), "input_ids"),
              b.add("Gather", b.draw(2, width, scale=1), "token_type_ids"))
    x = b.normalization(b.add("Add", x, b.add("Gather", b.draw(longest, width, scale=1), places)), width)
    for _ in range(layers):
        attended = b.linear(b.attention(x, mask, heads, width), width, width)
        x = b.normalization(b.add("Add", attended, x), width)
        inner = b.gelu(b.linear(x, width, 4 * width))
        x = b.normalization(b.add("Add", b.linear(inner, 4 * width, width), x), width)
    return b.model([(name, INT64, extents) for name in ("input_ids", "token_type_ids", "attention_mask")],
                   [("last_hidden_state", FLOAT, [*extents, width])])


def gpt(width=64, heads=4, layers=2, words=120, longest=32, seed=4, extents=(2, 9)):
    """A decoder of which each word sees those before it."""
    b = Builder(seed)
    size = width // heads

    def dense(x, rows, columns):
        flat = b.add("Reshape", x, b.constant([-1, rows], np.int64))
        product = b.add("Gemm", flat, b.draw(rows, columns), b.draw(columns, scale=0.3))
        return b.add("Reshape", product, b.constant([*extents, columns], np.int64))

    def gelu(x):
        cube = b.add("Mul", b.add("Pow", x, b.constant(3, np.float32)), b.constant(0.044715, np.float32))
        inner = b.add("Mul", b.add("Add", x, cube), b.constant(np.sqrt(2 / np.pi), np.float32))
        gate = b.add("Add", b.add("Tanh", inner), b.constant(1, np.float32))
        return b.add("Mul", b.add("Mul", x, b.constant(0.5, np.float32)), gate)

    def extent(x, axis):
        part = b.add("Slice", b.add("Shape", x), b.constant([axis], np.int64),
                     b.constant([axis + 1], np.int64), b.constant([0], np.int64))
        return b.add("Squeeze", part, b.constant([0], np.int64))

    def vector(x):
        return b.add("Unsqueeze", x, b.constant([0], np.int64))
    order = b.constant(np.tril(np.ones((1, 1, longest, longest), bool)))
    x = b.add("Add", b.add("Gather", b.draw(words, width, scale=1), "input_ids"),
              b.add("Gather", b.draw(longest, width, scale=1), b.constant(np.arange(extents[1])[None], np.int64)))
    for _ in range(layers):
        qkv = b.add("Split", dense(b.normalization(x, width), width, 3 * width),
                    b.constant([width] * 3, np.int64), outputs=3, axis=2)
        q, k, v = (b.heads(each, heads, size, perm)
                   for each, perm in zip(qkv, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True))
        scores = b.add("Div", b.add("MatMul", q, k), b.constant(np.sqrt(size), np.float32))
        keys = extent(scores, 3)
        before = b.add("Sub", keys, extent(scores, 2))
        rows = b.add("Slice", order, vector(before), vector(keys), b.constant([2], np.int64))
        seen = b.add("Slice", rows, b.constant([0], np.int64), vector(keys), b.constant([3], np.int64))
        scores = b.add("Softmax", b.add("Where", seen, scores, b.constant(-10000, np.float32)), axis=3)
        result = b.add("Transpose", b.add("MatMul", scores, v), perm=[0, 2, 1, 3])
        x = b.add("Add", x, dense(b.add("Reshape", result, b.constant([0, 0, width], np.int64)), width, width))
        inner = gelu(dense(b.normalization(x, width), width, 4 * width))
        x = b.add("Add", x, dense(inner, 4 * width, width))
    b.normalization(x, width)
    return b.model([("input_ids", INT64, extents)], [("last_hidden_state", FLOAT, [*extents, width])])


def t5(width=64, heads=4, layers=2, words=120, buckets=32, distance=128, seed=6, extents=("batch", "length")):
    """An encoder whose scores have a bias by the distance of two words, the same in each layer."""
    b = Builder(seed)
    size, last = width // heads, np.iinfo(np.int64).max

    def rms(x):
        mean = b.add("ReduceMean", b.add("Pow", x, b.constant(2, np.float32)), axes=[-1], keepdims=1)
        root = b.add("Sqrt", b.add("Add", mean, b.constant(1e-6, np.float32)))
        x = b.add("Mul", x, b.add("Div", b.constant(1, np.float32), root))
        return b.add("Mul", b.draw(width, scale=0.3, mean=1), x)

    def until(x, axis):
        return b.add("Slice", x, b.constant([0], np.int64), b.constant([last], np.int64), b.constant([axis], np.int64))

    def bucket_of(places, half=buckets // 2):
        def row(axis):
            return b.add("Unsqueeze", places, b.constant([axis], np.int64))
        distances = b.add("Sub", row(0), row(1))
        ahead = b.add("Mul", b.add("Cast", b.add("Greater", distances, b.constant(0, np.int64)), to=INT64),
                      b.constant(half, np.int64))
        distances, exact = b.add("Abs", distances), half // 2
        growth = b.add("Log", b.add("Div", b.add("Cast", distances, to=FLOAT), b.constant(exact, np.float32)))
        growth = b.add("Div", growth, b.constant(np.log(distance / exact), np.float32))
        growth = b.add("Mul", growth, b.constant(half - exact, np.float32))
        far = b.add("Add", b.add("Cast", growth, to=INT64), b.constant(exact, np.int64))
        most = b.add("ConstantOfShape", b.add("Shape", far),
                     value=numpy_helper.from_array(np.array([half - 1], np.int64)))
        near = b.add("Less", distances, b.constant(exact, np.int64))
        return b.add("Add", ahead, b.add("Where", near, distances, b.add("Min", far, most)))
    x = b.add("Gather", b.draw(words, width, scale=1), "input_ids")
    length = b.add("Gather", b.add("Shape", "input_ids"), b.constant(1, np.int64), axis=0)
    places = b.add("Range", b.constant(0, np.int64), length, b.constant(1, np.int64))
    bias = b.add("Transpose", b.add("Gather", b.draw(buckets, heads, scale=1), bucket_of(places)), perm=[2, 0, 1])
    bias = until(b.add("Unsqueeze", bias, b.constant([0], np.int64)), 2)
    mask = "attention_mask"
    for axis in (1, 2):
        mask = b.add("Unsqueeze", mask, b.constant([axis], np.int64))
    mask = b.add("Sub", b.constant(1, np.float32), b.add("Cast", mask, to=FLOAT))
    bias = b.add("Add", bias, until(b.add("Mul", mask, b.constant(-10000, np.float32)), 3))
    for _ in range(layers):
        y = rms(x)
        q, k, v = (b.heads(b.add("MatMul", y, b.draw(width, width, scale=scale)), heads, size, order)
                   for order, scale in (([0, 2, 1, 3], 0.06), ([0, 2, 3, 1], 0.06), ([0, 2, 1, 3], None)))
        scores = b.add("Softmax", b.add("Add", b.add("MatMul", q, k), bias), axis=-1)
        shape = b.add("Shape", y)
        ends = [b.add("Unsqueeze", b.add("Gather", shape, b.constant(axis, np.int64), axis=0),
                      b.constant([0], np.int64)) for axis in (0, 1)]
        y = b.add("Transpose", b.add("MatMul", scores, v), perm=[0, 2, 1, 3])
        y = b.add("Reshape", y, b.add("Concat", *ends, b.constant([width], np.int64), axis=0))
        x = b.add("Add", x, b.add("MatMul", y, b.draw(width, width)))
        inner = b.add("Relu", b.add("MatMul", rms(x), b.draw(width, 4 * width)))
        x = b.add("Add", x, b.add("MatMul", inner, b.draw(4 * width, width)))
    rms(x)
    return b.model([(name, INT64, extents) for name in ("input_ids", "attention_mask")],
                   [("last_hidden_state", FLOAT, [*extents, width])])


def bert_inputs(batch=2, length=11, words=120, seed=5):
    values = np.random.default_rng(seed)
    mask = (np.arange(length) < values.integers(length // 2, length + 1, (batch, 1))).astype(np.int64)
    return {"input_ids": values.integers(0, words, (batch, length)),
            "token_type_ids": values.integers(0, 2, (batch, length)), "attention_mask": mask}


def cnn(seed=7):
    """Convolutions with batch normalisation, a residual, several activations, and a classifier."""
    b = Builder(seed)

    def conv(x, channels, filters, kernel=3, group=1, **attributes):
        pad = [kernel // 2] * 4
        weights = b.draw(filters, channels // group, kernel, kernel,
                         scale=1 / np.sqrt(channels // group * kernel * kernel))
        y = b.add("Conv", x, weights, b.draw(filters, scale=0.3), pads=pad, group=group, **attributes)
        return b.add("BatchNormalization", y, b.draw(filters, scale=0.3, mean=1),
                     b.draw(filters, scale=0.3), b.draw(filters, scale=0.3),
                     b.constant(b.values.uniform(0.5, 1.5, filters), np.float32))
    x = b.add("Relu", conv("image", 3, 16, strides=[2, 2]))
    x = b.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = b.add("Relu", conv(x, 16, 16))
    x = b.add("Relu", b.add("Add", conv(y, 16, 16), x))
    x = b.add("LeakyRelu", conv(x, 16, 24, kernel=1), alpha=0.1)
    x = b.add("Clip", conv(x, 24, 24, group=24), b.constant(0, np.float32), b.constant(6, np.float32))
    x = b.add("HardSigmoid", conv(x, 24, 24, kernel=1))
    x = b.add("Flatten", b.add("GlobalAveragePool", x))
    x = b.add("Relu", b.add("Gemm", x, b.draw(32, 24, scale=1), b.draw(32, scale=0.3), transB=1))
    b.add("Gemm", x, b.draw(10, 32, scale=0.3), b.draw(10, scale=0.3), transB=1)
    return b.model([("image", FLOAT, ["batch", 3, 32, 32])], [("logits", FLOAT, ["batch", 10])])


def cnn_inputs(batch=2, seed=8):
    return {"image": np.random.default_rng(seed).standard_normal((batch, 3, 32, 32)).astype(np.float32)}
