# SPDX-License-Identifier: Apache-2.0
"""Activations, products, normalisations and attention of ONNX Runtime's domain. Usage: contrib_test.py TOOL"""

import unittest

from contrib import ContribCase


class Contrib(ContribCase):
    pass


if __name__ == "__main__":
    unittest.main()
