# SPDX-License-Identifier: Apache-2.0
"""The flags of the command `intarsia convert` as options of intarsia.convert."""

import shlex

from .errors import Error

# Flags of onnx-mlir that ask for what is done anyway.
_DONE_ANYWAY = ("-O0", "-O1", "-O2", "-O3", "--O0", "--O1", "--O2", "--O3", "--EmitLib", "-EmitLib")


def _extents(text):
    return () if text in ("scalar", "[]") else tuple(map(int, text.replace(",", "x").split("x")))


def _limits(text):
    low, dots, high = text.partition("..")
    if dots:
        return int(low), int(high)
    return int(text) if text.lstrip("-").isdigit() else text


# Per flag: the option, and how its value is read; those of _NAMED are NAME=VALUE, into a dict.
_NAMED = {"--dim": ("dims", _limits), "--shape": ("shapes", _extents), "--fix": ("fixed", str),
          "--value": ("values", str), "--bound": ("bounds", _extents),
          "--max-trips": ("max_trips", int), "--max-length": ("max_lengths", int),
          "--state": ("states", str), "--layout": ("layouts", str)}
_SINGLE = {"--seed": ("seed", int), "--threads": ("threads", int), "--target": ("target", str),
           "--max-string": ("max_string", int), "--plan-growth": ("plan_growth", float)}
_LISTS = {"--operators": "operators", "--pyop-path": "pyop_path", "--trainable": "trainable"}
_SWITCHES = {"--strip-names": "strip_names", "--allow-pyop": "allow_pyop"}


def words_of(flags):
    return shlex.split(flags) if isinstance(flags, str) else [str(flag) for flag in flags]


def options_of(flags):
    """Options of intarsia.convert. Raises Error that names the flag."""
    words = iter(words_of(flags))
    options = {}
    for word in words:
        flag, equals, value = word.partition("=")
        if not flag.startswith("--"):
            flag, equals, value = word, "", ""
        if flag in _DONE_ANYWAY:
            continue
        if flag in _SWITCHES:
            options[_SWITCHES[flag]] = True
            continue
        if flag not in (*_NAMED, *_SINGLE, *_LISTS, "--gradient"):
            raise Error(f"{word}: no flag of a conversion; see intarsia convert --help",
                        "kInvalidArgument")
        if not equals:
            value = next(words, None)
            if value is None:
                raise Error(f"{flag}: its value is missing", "kInvalidArgument")
        _add(options, flag, value)
    return options


def _add(options, flag, value):
    if flag == "--gradient":  # OUTPUT=INPUT,... or OUTPUT
        output, _, inputs = value.rpartition("=") if "=" in value else (value, "", "")
        options.setdefault("gradients", {})[output] = [name for name in inputs.split(",") if name]
        return
    if flag in _LISTS:
        options.setdefault(_LISTS[flag], []).append(value)
        return
    option, read = _NAMED.get(flag) or _SINGLE[flag]
    try:
        if flag in _SINGLE:
            options[option] = read(value)
            return
        name, equals, text = value.rpartition("=")
        if not (name and equals and text):
            raise ValueError("expected NAME=VALUE")
        options.setdefault(option, {})[name] = read(text)
    except ValueError as error:
        raise Error(f"{flag} {value}: {error}", "kInvalidArgument") from error


def without_output(flags):
    """The value of the flag -o, or None, and the flags without it."""
    words = words_of(flags)
    if "-o" not in words:
        return None, words
    at = words.index("-o")
    if at + 1 == len(words):
        raise Error("-o: its value is missing", "kInvalidArgument")
    return words[at + 1], words[:at] + words[at + 2:]
