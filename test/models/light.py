# SPDX-License-Identifier: Apache-2.0
"""Gives the `light_*` networks of the onnx package weights that make them usable as tests.

As shipped, every weight is one repeated constant (a ConstantOfShape node), and so is every
expected output. Here each becomes an initialiser: weights drawn after He, everything else
calibrated while a batch of images passes through the network node by node. BatchNormalization gets
the mean and variance of its input, a convolution without one a bias that gives its outputs a fixed
mean per channel: without it, images end as nearly equal numbers behind many layers. That mean lies
above zero by SHIFT of the spread, so that ReLU cuts a quarter: where it cuts half, deep random
networks amplify rounding errors a thousandfold. The last layer before the softmax is scaled so
that the logits spread by about LOGIT_SPREAD, far from saturation.
"""

import numpy as np
import onnx
import onnx.numpy_helper

import cases
import inputs

LOGIT_SPREAD = 1.5
SHIFT = 0.7
BATCH = 8


def _run_node(node, opset, values):
    """Runs one node alone on arrays, by ONNX Runtime."""
    feeds = {name: values[name] for name in node.input}
    float_type = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [node], "node",
        [onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
         for name, array in feeds.items()],
        [onnx.helper.make_tensor_value_info(node.output[0], float_type, None)])
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=4)
    return cases.session(model.SerializeToString()).run([node.output[0]], feeds)[0]


def _draw(rng, node, slot, shape):
    """Initial values of input `slot` of a node."""
    normal = rng.standard_normal(shape, dtype=np.float32)
    if node.op_type == "BatchNormalization":  # mean and variance are measured later
        return 0.1 * normal + np.float32(1.0 if slot == 1 else SHIFT)
    if slot == 1:
        return normal * np.float32(np.sqrt(2.0 / np.prod(shape[1:])))
    return np.zeros(shape, np.float32)  # a bias, set from the outputs


def _measure(node, values, samples):
    """Sets mean and variance of a BatchNormalization to those of its input."""
    data = np.concatenate([sample[node.input[0]] for sample in samples])
    values[node.input[3]] = data.mean(axis=(0, 2, 3), dtype=np.float64).astype(np.float32)
    values[node.input[4]] = data.var(axis=(0, 2, 3), dtype=np.float64).astype(np.float32)


def _bias(rng, outputs, is_last):
    """A bias for these outputs: SHIFT as described above, or small and random in the last layer."""
    data = np.concatenate(outputs)
    noise = rng.standard_normal(data.shape[1])
    if is_last:
        return (0.3 * data.std() * noise).astype(np.float32)
    means = data.mean(axis=(0,) + tuple(range(2, data.ndim)), dtype=np.float64)
    return ((SHIFT + 0.1 * noise) * data.std() - means).astype(np.float32)


def _draw_all(rng, graph, values):
    """Draws all float parameters, those of ConstantOfShape included; returns their names, and
    those of the shapes that are read no more."""
    users = {}
    for node in graph.node:
        for slot, key in enumerate(node.input):
            users.setdefault(key, (node, slot))
    drawn = {t.name for t in graph.initializer
             if t.data_type == onnx.TensorProto.FLOAT and t.name in users}
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in fills:
        drawn.add(node.output[0])
        values[node.output[0]] = np.empty(values[node.input[0]], np.float32)
        graph.node.remove(node)
    for key in sorted(drawn):
        node, slot = users[key]
        if node.op_type == "Reshape":  # inception_v1 reshapes the weight of its classifier
            node, slot = users[node.output[0]]
        values[key] = _draw(rng, node, slot, values[key].shape)
    return sorted(drawn), {node.input[0] for node in fills}


def _calibrate(rng, model, values, samples):
    """Passes the samples through the network and sets everything that depends on them."""
    nodes = model.graph.node
    last = [n for n in nodes if n.op_type in ("Conv", "Gemm")][-1]
    last_use = {key: index for index, node in enumerate(nodes) for key in node.input}
    for index, node in enumerate(nodes):
        if all(key in values for key in node.input):  # constant: one result for all samples
            values[node.output[0]] = _run_node(node, model.opset_import, values)
            continue
        if node.op_type == "BatchNormalization":
            _measure(node, values, samples)
        outputs = [_run_node(node, model.opset_import, {**values, **s}) for s in samples]
        if node.op_type in ("Conv", "Gemm") and len(node.input) == 3:
            bias = _bias(rng, outputs, node is last)
            values[node.input[2]] = bias
            outputs = [o + bias.reshape((1, -1) + (1,) * (o.ndim - 2)) for o in outputs]
        if node.op_type == "Softmax":
            spread = np.concatenate([s[node.input[0]] for s in samples]).std(axis=1).mean()
            for key in last.input[1:]:  # everything between them is positively homogeneous
                key = next((n.input[0] for n in nodes if key in n.output), key)
                values[key] = values[key] * np.float32(LOGIT_SPREAD / spread)
        for sample, output in zip(samples, outputs):
            sample[node.output[0]] = output
            for key in node.input:  # frees what no later node reads
                if last_use[key] == index:
                    sample.pop(key, None)


def build(path, name, scale):
    """Returns the model's bytes and two feeds for it; `scale` is that of the images.

    The feeds are images of the calibration batch: on others the networks behave wildly, since a
    batch is all that they ever saw.
    """
    model = onnx.load(path)
    graph = model.graph
    rng = inputs.generator("weights", name)
    values = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    drawn, shapes = _draw_all(rng, graph, values)
    data = next(i.name for i in graph.input if i.name not in values)
    batch = inputs.images(inputs.generator("input", name), BATCH, scale=scale)
    _calibrate(rng, model, values, [{data: image[None]} for image in batch])

    replaced = shapes.union(drawn)
    kept = [t for t in graph.initializer if t.name not in replaced]
    declared = [i for i in graph.input if i.name not in replaced]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(kept)
    graph.initializer.extend(onnx.numpy_helper.from_array(values[key], key) for key in drawn)
    # Version 3 of the format lists every initialiser among the inputs.
    graph.input.extend(declared)
    graph.input.extend(onnx.helper.make_tensor_value_info(
        key, onnx.TensorProto.FLOAT, values[key].shape) for key in drawn)
    return model.SerializeToString(), [{data: image[None]} for image in batch[:2]]
