# SPDX-License-Identifier: Apache-2.0
"""InferenceSession: a model, converted and opened in one step."""

import os
from collections.abc import Mapping

from . import cache as plans
from .conversion import OPTIONS, SESSION_OPTIONS, SILENT_OPTIONS, convert
from .errors import Error
from .flags import options_of
from .session import ExecutionSession
from .sources import Source, source_of


class InferenceSession(ExecutionSession):
    """An ONNX model, converted and opened; or a plan, opened.

    model: a path, bytes, a file open for reading bytes, or an onnx.ModelProto; a dict of models makes
        entry points. Contents tell models from plans.
    sess_options: None; for programs that were written for ONNX Runtime.
    providers: a list with "CPUExecutionProvider", or None; a name may come as (name, {}).
    provider_options: None, or empty dicts: there are none.
    cache: True keeps the plan, and opens the kept one if the model's contents, all options and the
        version are the same: in $INTARSIA_CACHE_DIR, else in ~/.cache/intarsia. A path is another
        folder; False converts every time. What Python operators take part in is never kept.
    options: those of intarsia.convert (dims={"batch": (1, 8)}, threads=2, progress=..., ...).
    """

    def __init__(self, model, sess_options=None, providers=None, provider_options=None, *,
                 cache=True, **options):
        named = [each if isinstance(each, tuple) else (each, {}) for each in providers or ()]
        if sess_options is not None or any(provider_options or ()) or any(given for _, given in named):
            raise TypeError("sess_options and provider_options are there for programs that pass None or "
                            "nothing in them; threads and the like are arguments of their own")
        if providers is not None and "CPUExecutionProvider" not in [name for name, _ in named]:
            raise Error(f"providers {list(providers)}: a session runs on the processor; pass "
                        "'CPUExecutionProvider', or leave it out", "kUnsupported")
        unknown = [name for name in options if name not in OPTIONS]
        if unknown:
            raise TypeError(f"{type(self).__name__}() has no option {unknown[0]!r}; its options are "
                            f"{', '.join(OPTIONS)}")
        for_session = {name: options[name] for name in SESSION_OPTIONS if name in options}
        models = {name: _given(each) for name, each in model.items()} if isinstance(model, Mapping) \
            else _given(model)
        if not isinstance(models, Mapping) and models.is_plan:
            surplus = [name for name in options if name not in SESSION_OPTIONS + SILENT_OPTIONS]
            if surplus:
                raise TypeError(f"{models.name} is a plan; {surplus[0]} is an option of a conversion")
            self._open(models, **for_session)
            return
        given = {name: _value(each) for name, each in models.items()} if isinstance(models, Mapping) \
            else _value(models)
        self._open_converted(given, options, for_session, plans.cache_directory(cache))
        if isinstance(models, Mapping):
            self._source = Source("the model", None, None)
            return
        self._source = models._replace(data=None)
        if models.path is not None:  # else it is pickled as the plan that it has become
            self._options = {**{name: value for name, value in options.items()
                                if name not in SILENT_OPTIONS}, "cache": cache}

    def _open_converted(self, models, options, for_session, directory):
        if directory is not None and plans.may_keep(options):
            path, made = plans.kept_plan(models, options, directory)
            if path is not None:
                try:
                    self._open(source_of(path, "plan"), **for_session)
                    return
                except Error:
                    if made:
                        raise
                # It was damaged.
                path.unlink(missing_ok=True)
                self._open_converted(models, options, for_session, directory)
                return
        self._open(source_of(convert(models, **options), "model"), **for_session)


def _given(model):
    return source_of(model, "model")


def _value(source):
    """For convert: what a file held is read once only."""
    return source.data if source.path is None else os.fsdecode(source.path)


def compile_and_load(model, flags=(), *, cache=True, **options):
    """An InferenceSession of the model in one step.

    flags: as the command `intarsia convert` takes them, a string or a list ("--dim batch=8 --threads 2");
        or a dict of options. `-O0` to `-O3` and `--EmitLib` of onnx-mlir are accepted and change
        nothing: a plan is always optimised.
    """
    given = flags if isinstance(flags, Mapping) else options_of(flags)
    return InferenceSession(model, cache=cache, **{**given, **options})
