# SPDX-License-Identifier: Apache-2.0
"""The build backend of <build>/python: a wheel of what the build tree has compiled, which `pip install
<build>/python` asks for. Nothing is compiled or downloaded, and the tree stays as it is."""

import base64
import hashlib
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASIDE = {"__pycache__"}


def get_requires_for_build_wheel(_config_settings=None):
    return []


def build_wheel(wheel_directory, _config_settings=None, _metadata_directory=None):
    """Writes the wheel and returns its name."""
    tree = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["intarsia"]
    project = tomllib.loads(Path(tree["source"], "pyproject.toml").read_text(encoding="utf-8"))["project"]
    interface = _interface()
    name = f"{project['name']}-{tree['version']}"
    tag = f"{interface}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    texts = {
        "METADATA": _fields([("Metadata-Version", "2.1"), ("Name", project["name"]), ("Version", tree["version"]),
                             ("Summary", project["description"]), ("License", project["license"]),
                             ("Requires-Python", project["requires-python"]),
                             *(("Requires-Dist", each) for each in project["dependencies"])]),
        "WHEEL": _fields([("Wheel-Version", "1.0"), ("Generator", "intarsia"), ("Root-Is-Purelib", "false"),
                          ("Tag", tag)])}
    record = []
    with zipfile.ZipFile(Path(wheel_directory, f"{name}-{tag}.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(path, data):
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")
        for file in sorted(HERE.rglob("*")):
            path = file.relative_to(HERE)
            if file.is_file() and len(path.parts) > 1 and not ASIDE.intersection(path.parts):
                add(path.as_posix(), file.read_bytes())
        for file, text in texts.items():
            add(f"{name}.dist-info/{file}", text.encode())
        own = f"{name}.dist-info/RECORD"
        wheel.writestr(own, "".join(record) + f"{own},,\n")
    return f"{name}-{tag}.whl"


def _interface():
    """The tags of the interpreters that the compiled module is for."""
    if sys.version_info >= (3, 12) and (HERE / "intarsia" / "_native.abi3.so").exists():
        return "cp312-abi3"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if (HERE / "intarsia" / f"_native{suffix}").exists():
        version = "cp" + sysconfig.get_config_var("py_version_nodot")
        return f"{version}-{version}"
    found = ", ".join(file.name for file in HERE.glob("intarsia/_native.*.so"))
    raise RuntimeError(
        f"{HERE}/intarsia has {found}, but this interpreter needs _native{suffix}: install with the one that the "
        "tree was configured for" if found else
        f"{HERE}/intarsia has no _native{suffix}: build the tree first, with -DINTARSIA_PYOP=ON")


def _fields(fields):
    return "".join(f"{name}: {value}\n" for name, value in fields)
