# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: 64 steps of 64 features, 128 cells."""

from sweep_cases import case, constant, normal

STEPS, FEATURES, CELLS = 64, 64, 128


def recurrent(operator, gates, batch, directions=1, **attributes):
    direction = "bidirectional" if directions == 2 else "forward"
    spread = CELLS ** -0.5
    variant = f"batch {batch}" + (" bidirectional" if directions == 2 else "")
    return case(operator, variant, [
        normal(STEPS, batch, FEATURES),
        constant(normal(directions, gates * CELLS, FEATURES, scale=spread)),
        constant(normal(directions, gates * CELLS, CELLS, scale=spread)),
        constant(normal(directions, 2 * gates * CELLS, scale=spread))],
        hidden_size=CELLS, direction=direction, **attributes)


CASES = [
    *(recurrent("RNN", 1, batch) for batch in (1, 8)),
    *(recurrent("GRU", 3, batch, linear_before_reset=1) for batch in (1, 8)),
    *(recurrent("LSTM", 4, batch) for batch in (1, 8)),
    recurrent("LSTM", 4, 1, directions=2),
]
