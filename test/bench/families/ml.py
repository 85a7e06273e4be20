# SPDX-License-Identifier: Apache-2.0
"""Classical models: forests of 500 trees of depth 8 over 32 features, support vector machines."""

import numpy

from sweep_cases import case, normal

TREES, DEPTH, FEATURES, VECTORS = 500, 8, 32, 500


def forest(prefix, targets):
    """The lists of full trees: node i has the children 2i + 1 and 2i + 2."""
    rng = numpy.random.default_rng(5)
    count, inner = 2 ** (DEPTH + 1) - 1, 2 ** DEPTH - 1
    node = numpy.arange(count)
    leaf = node >= inner
    leaves = node[leaf].repeat(targets)

    def each(values):
        return numpy.tile(values, TREES).tolist()
    number = numpy.arange(TREES)
    return {
        "nodes_treeids": number.repeat(count).tolist(), "nodes_nodeids": each(node),
        "nodes_featureids": rng.integers(0, FEATURES, TREES * count).tolist(),
        "nodes_values": rng.standard_normal(TREES * count).astype(numpy.float32).tolist(),
        "nodes_modes": each(numpy.where(leaf, "LEAF", "BRANCH_LEQ")),
        "nodes_truenodeids": each(numpy.where(leaf, 0, 2 * node + 1)),
        "nodes_falsenodeids": each(numpy.where(leaf, 0, 2 * node + 2)),
        f"{prefix}_treeids": number.repeat(len(leaves)).tolist(), f"{prefix}_nodeids": each(leaves),
        f"{prefix}_ids": each(numpy.tile(numpy.arange(targets), inner + 1)),
        f"{prefix}_weights": rng.standard_normal(TREES * len(leaves)).astype(numpy.float32).tolist()}


def trees(rows, targets):
    return case("ai.onnx.ml:TreeEnsembleRegressor", f"{rows} rows, {targets} targets",
                [normal(rows, FEATURES)], bodies=lambda: forest("target", targets),
                n_targets=targets, tolerance=1e-4)


def machine(kernel, rows):
    def attributes():
        rng = numpy.random.default_rng(6)
        return {"support_vectors": rng.standard_normal(VECTORS * FEATURES).tolist(),
                "coefficients": rng.standard_normal(VECTORS).tolist()}
    return case("ai.onnx.ml:SVMRegressor", f"{kernel} {rows} rows", [normal(rows, FEATURES)],
                bodies=attributes, kernel_type=kernel, kernel_params=[0.01, 0.5, 3.0],
                n_supports=VECTORS, rho=[0.5], tolerance=1e-3)


CASES = [
    *(trees(rows, targets) for targets in (1, 3) for rows in (1, 8, 1000)),
    *(machine(kernel, rows) for kernel in ("RBF", "POLY") for rows in (1, 1000)),
]
