# SPDX-License-Identifier: Apache-2.0
"""What is accepted as an array: numpy's, tensors of other packages through DLPack, and whatever numpy
makes an array of."""

import numpy as np
from numpy.ma import MaskedArray  # numpy imports it when it is first asked for, in a run then

from . import _native
from .elements import ELEMENTS
from .errors import Error

HOST_DEVICES = (1, 3, 11)  # of DLPack: the processor, and host memory pinned for CUDA or ROCm


def has_dlpack(value):
    return hasattr(value, "__dlpack__") and not isinstance(value, np.generic)


def as_array(value, where, in_place=False):
    """An array that shows `value` without a copy where that is possible, and the name of its
    elements' type: for types that numpy lacks it is that of ml_dtypes. `in_place`: never a copy."""
    if isinstance(value, MaskedArray):
        raise TypeError(f"{where}: masked elements have no value; pass x.filled(VALUE)")
    if isinstance(value, np.ndarray):
        return np.asarray(value), value.dtype.name
    if has_dlpack(value):
        check_device(value, where)
        try:
            return _imported(value)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
            # PyTorch, for instance, did not always export truth values.
            if in_place or not hasattr(value, "__array__"):
                raise Error(f"{where}: {error}", "kUnsupported") from error
            array = _by_array(value, where)
    else:
        array = np.asarray(value)
    return array, array.dtype.name


def _by_array(value, where):
    try:
        return np.asarray(value)
    except (RuntimeError, TypeError) as error:
        raise Error(f"{where}: {error}", "kUnsupported") from error


def check_device(value, where):
    device = getattr(value, "__dlpack_device__", None)
    if device is not None and int(device()[0]) not in HOST_DEVICES:
        raise Error(f"{where}: the tensor lies in the memory of a device; pass a copy in the "
                    "processor's memory (x.cpu())", "kUnsupported")


def _imported(value):
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # older than DLPack 1.0
        capsule = value.__dlpack__()
    tensor = _native.DlpackTensor(capsule)
    element = ELEMENTS[tensor.type]
    return np.asarray(tensor), element.ml_dtype or element.dtype.name
