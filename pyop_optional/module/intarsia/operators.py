# SPDX-License-Identifier: Apache-2.0
"""Operators of one's own, as conversions and sessions are told of them."""

import os


def _names(paths):
    one = isinstance(paths, (str, bytes, os.PathLike))
    return [os.fsencode(path) for path in ([paths] if one else paths or ())]


def request(operators, allow_pyop, pyop_path):
    """For native code: (files, allow_pyop, folders). A path stands for a list of one."""
    return _names(operators), bool(allow_pyop), _names(pyop_path)
