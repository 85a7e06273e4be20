# SPDX-License-Identifier: Apache-2.0
"""What a model or a plan can be given as: a path, bytes, an open file, or an onnx.ModelProto."""

import os
from typing import NamedTuple, Optional

from .errors import Error

PLAN_MAGIC = b"INTARSIA"  # docs/plan_format.md


class Source(NamedTuple):
    """`path`, or the contents in `data`; `name` is for messages."""

    name: str
    path: Optional[bytes]
    data: Optional[memoryview]

    @property
    def is_plan(self):
        """By the first bytes, whatever the file is called."""
        if self.path is None:
            return bytes(self.data[:len(PLAN_MAGIC)]) == PLAN_MAGIC
        if not os.path.isfile(self.path):  # a pipe would wait for ever
            return False
        try:
            with open(self.path, "rb") as file:
                return file.read(len(PLAN_MAGIC)) == PLAN_MAGIC
        except OSError:
            return False  # who reads it whole tells why

    @property
    def absolute(self):
        """The path as text, good in another working directory, too."""
        return os.fsdecode(os.path.abspath(self.path))


def source_of(value, what):
    """A Source of anything that is one; a TypeError names `what`."""
    if isinstance(value, (str, os.PathLike)):
        path = os.fsencode(value)
        if b"\0" in path:
            raise Error(f"cannot read {os.fsdecode(path)!r}: the path contains a zero byte")
        return Source(os.fsdecode(path), path, None)
    name = f"the {what}"
    if hasattr(value, "read"):
        name = str(getattr(value, "name", name))
        value = value.read()
        if isinstance(value, str):
            raise TypeError(f"{name} is open as text; open it with open(path, 'rb')")
    elif hasattr(value, "SerializeToString"):
        value = value.SerializeToString()
    try:
        return Source(name, None, memoryview(value).cast("B"))
    except TypeError:
        raise TypeError(f"a {what} is a path, bytes or a file open for reading bytes, not "
                        f"{type(value).__name__}") from None
