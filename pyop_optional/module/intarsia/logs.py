# SPDX-License-Identifier: Apache-2.0
"""The logger "intarsia", of the module `logging`."""

import logging

LOGGER = logging.getLogger(__package__)
# Programs that set up no logging see nothing: what a run fails for is its Error.
LOGGER.addHandler(logging.NullHandler())


def warn(text):
    """Native code calls it with what Python operators warn of."""
    LOGGER.warning("%s", text)
