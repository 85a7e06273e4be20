# SPDX-License-Identifier: Apache-2.0
# The extension module is an interior of the package.
from typing import Any

def __getattr__(name: str) -> Any: ...
