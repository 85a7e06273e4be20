# SPDX-License-Identifier: Apache-2.0
"""Whole networks on a GPU beside PyTorch. Usage: gpu.py --intarsia PATH [OPTION]...

    gpu.py --intarsia build/cuda/bin/intarsia                     five networks, float32 and float16
    gpu.py --intarsia ... --models resnet50,bert_base --compile   some, torch.compile among the engines
    gpu.py --intarsia ... --device cpu-check --models resnet18    no GPU: export, conversion, comparison

Needs the command of a build with INTARSIA_CUDA=ON (with shared libraries beside it, where the system has
none), and a Python with torch, torchvision, transformers and onnx; no network: weights are random, seeded
and calibrated as in test/models/export_torch.py.

Times, each the median over alternating rounds:
  run     inputs from the host's memory, outputs back to it, waited for: what a program pays
  device  runs queued one behind the other, nothing copied: what the GPU takes, or the host to launch them
Engines: intarsia; eager: PyTorch as it is; graph: the same as one captured CUDA graph; nhwc: with
channels-last weights and images; compile: torch.compile(mode="reduce-overhead"); tf32: with TensorFloat-32 in
products and convolutions, without which the others compute float32. Results are compared with PyTorch's in float64 on
the CPU, as a part of the output's scale. Each case is a process of its own with a limit of time.
"""

import argparse
import contextlib
import copy
import json
import multiprocessing
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import torch
import torchvision

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import inputs as seeded  # noqa: E402
from export_torch import calibrate_batch_norm, redraw_constants  # noqa: E402

LIMITS = {"f32": 1e-3, "f16": 2e-2, "mixed": 2e-2}  # of the output's scale
# What PyTorch computes in. Ours is exported in the same, but for `mixed`: float32 for --precision f16.
TYPES = {"f32": torch.float32, "f16": torch.float16, "mixed": torch.float16}
ENCODERS = {"bert_base": (768, 12), "minilm": (384, 6)}  # name: width, layers; 12 heads
TOKENS = 128
START = time.monotonic()


def say(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)


class Hidden(torch.nn.Module):
    """An encoder of transformers, with one output."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, ids, mask):
        return self.module(input_ids=ids, attention_mask=mask).last_hidden_state


def network(name):
    """A module in float32 and its inputs by name."""
    torch.manual_seed(1)
    rng = seeded.generator("gpu", name)
    if name in ENCODERS:
        from transformers import BertConfig, BertModel
        width, layers = ENCODERS[name]
        config = BertConfig(hidden_size=width, num_hidden_layers=layers, num_attention_heads=12,
                            intermediate_size=4 * width, attn_implementation="eager")
        module = redraw_constants(Hidden(BertModel(config, add_pooling_layer=False)))
        ids = rng.integers(config.vocab_size, size=(1, TOKENS))
        mask = numpy.ones((1, TOKENS), numpy.int64)
        mask[:, -TOKENS // 8:] = 0
        return module, {"ids": torch.from_numpy(ids), "mask": torch.from_numpy(mask)}
    module = redraw_constants(getattr(torchvision.models, name)(weights=None))
    if any(isinstance(part, torch.nn.BatchNorm2d) for part in module.modules()):
        module = calibrate_batch_norm(module, name)
    return module, {"input": torch.from_numpy(seeded.images(rng, 1))}


def cast(values, kind, device="cpu"):
    return [value.to(device, kind if value.is_floating_point() else None)
            for value in values.values()]


def export(module, values, names, path):
    """By the exporter that traces, or the other one if that fails; which one it was."""
    ways = {"traced": {"opset_version": 17, "dynamo": False},
            "dynamo": {"opset_version": 18, "dynamo": True, "external_data": False,
                       "verbose": False}}
    problems = []
    for way, options in ways.items():
        with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
            warnings.simplefilter("ignore")
            try:
                with torch.enable_grad():  # else attention is an operator without a form in ONNX
                    torch.onnx.export(module, tuple(values), str(path), input_names=names,
                                      output_names=["output"], **options)
                return way
            except Exception as problem:  # whatever it is, the other one may succeed
                problems.append(f"{way}: {type(problem).__name__}: {str(problem)[:300]}")
    raise RuntimeError("no exporter takes the model: " + "; ".join(problems))


class Command:
    """The command `intarsia`; it raises RuntimeError with what the command says."""

    def __init__(self, path, options):
        self.path = pathlib.Path(path).resolve()
        self.options = options

    def __call__(self, *arguments):
        libraries = f"{self.path.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        done = subprocess.run([str(self.path), *map(str, arguments)], capture_output=True,
                              text=True, env={**os.environ, "LD_LIBRARY_PATH": libraries})
        if done.returncode != 0:
            raise RuntimeError(f"intarsia {arguments[0]}: {done.stderr.strip()[-600:]}")
        return done.stdout, done.stderr

    def convert(self, model, plan):
        out, notes = self("convert", model, "-o", plan, *self.options)
        reasons = re.findall(r"warning: (.*)", notes)
        graphs = re.search(r"(\d+) graphs", out)
        return {"warnings": len(reasons), "first_warnings": reasons[:5],
                "graphs": int(graphs[1]) if graphs else 0}

    def run(self, plan, feeds, folder):
        arguments = []
        for name, value in feeds.items():
            numpy.save(folder / f"{name}.npy", value.cpu().numpy())
            arguments += ["--input", f"{name}={folder / name}.npy"]
        self("run", plan, *arguments, "--output-dir", folder)
        return numpy.load(folder / "output_0.npy")

    def time(self, plan, seconds):
        """Milliseconds of a whole run, and of the device's part of it."""
        found = json.loads(self("bench", plan, "--json", "--seconds", seconds)[0])
        return found["median_ms"], found.get("device_ms", found["median_ms"])


class Torch:
    """A module with inputs on its device: how long it takes, in some way of executing it."""

    def __init__(self, module, values, kind, tf32):
        self.tf32 = tf32
        self.set_tf32()
        on_device = next(module.parameters()).is_cuda
        self.wait = torch.cuda.synchronize if on_device else lambda: None
        self.host = [value.cpu().pin_memory() if on_device else value.clone() for value in values]
        self.values = [value.clone() for value in values]
        self.call = lambda: module(*self.values)
        if kind == "compile":
            compiled = torch.compile(module, mode="reduce-overhead")

            def call():
                torch.compiler.cudagraph_mark_step_begin()
                return compiled(*self.values)
            self.call = call
        for _ in range(3):
            self.out = self.call()
        self.wait()
        if kind == "graph":
            self.capture()
        self.result = torch.empty_like(self.out, device="cpu", pin_memory=on_device)

    def set_tf32(self):
        torch.backends.cuda.matmul.allow_tf32 = self.tf32
        torch.backends.cudnn.allow_tf32 = self.tf32

    def capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.call()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = self.call()

        def replay():
            graph.replay()
            return out
        self.call = replay

    def run(self):
        for value, given in zip(self.values, self.host):
            value.copy_(given, non_blocking=True)
        self.result.copy_(self.call(), non_blocking=True)
        self.wait()

    def time(self, seconds):
        """Milliseconds of a whole run, and of one of many that are queued."""
        self.set_tf32()
        self.run()
        runs, queued = [], []
        begin = time.perf_counter()
        while len(runs) < 3 or time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            self.run()
            runs.append(1e3 * (time.perf_counter() - start))
        count = max(1, min(1000, int(10 / statistics.median(runs))))
        begin = time.perf_counter()
        while not queued or time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            for _ in range(count):
                self.call()
            self.wait()
            queued.append(1e3 * (time.perf_counter() - start) / count)
        return statistics.median(runs), statistics.median(queued)


def engines_of(precision, image, options):
    """Names of PyTorch's engines: kind, TensorFloat-32, channels-last."""
    if options.device == "cpu-check":
        return {"eager": ("eager", False, False)} if precision == "f32" else {}
    made = {}
    for kind in ("eager", "graph", *(["compile"] if options.compile else [])):
        for tf32 in (False, True) if precision == "f32" else (False,):
            made[kind + tf32 * " tf32"] = (kind, tf32, False)
    if image:
        tf32 = precision == "f32"
        made["graph nhwc" + tf32 * " tf32"] = ("graph", tf32, True)
    return made


def difference(found, expected):
    """The largest difference as a part of the largest element, NaN if one is not finite."""
    if found.shape != expected.shape:
        raise RuntimeError(f"the output has extents {found.shape}, expected {expected.shape}")
    scale = numpy.abs(expected).max()
    if not 1e-3 < scale < 1e4 or expected.std() < 1e-3 * scale:
        raise RuntimeError(f"the expected outputs tell nothing: their largest is {scale:.3g}")
    return float(numpy.abs(found.astype(numpy.float64) - expected).max() / scale)


def measure(name, precision, options, folder):
    """One network in one precision, step by step."""
    device = "cuda" if options.device == "cuda" else "cpu"
    on_device = ["--device", "cuda"] if device == "cuda" else []
    command = Command(options.intarsia, on_device + options.convert_option)
    if precision == "mixed":
        command.options += ["--precision", "f16"]
    kind = TYPES[precision]
    module, values = network(name)
    module = module.to(kind)
    feeds = dict(zip(values, cast(values, kind)))
    with torch.inference_mode():
        expected = module.double()(*cast(feeds, torch.float64)).numpy()
    module = module.to(kind)  # exact: the values are of that type
    say(f"{name} {precision}: made; the reference's largest output is {abs(expected).max():.3g}")
    record = {"model": name, "precision": precision, "engines": {}}

    model, plan = folder / "model.onnx", folder / "model.plan"
    exported = torch.float32 if precision == "mixed" else kind
    ours = dict(zip(feeds, cast(feeds, exported)))
    record["exporter"] = export(module.to(exported), list(ours.values()), list(ours), model)
    # The values have not changed.
    module, arguments = module.to(device, kind), cast(feeds, kind, device)
    say(f"  exported ({record['exporter']}), {model.stat().st_size / 2**20:.0f} MiB")
    record["plan"] = command.convert(model, plan)
    say(f"  converted: {record['plan']['graphs']} graphs, {record['plan']['warnings']} warnings"
        + "".join(f"\n           {text}" for text in record["plan"]["first_warnings"]))
    record["error"] = difference(command.run(plan, ours, folder), expected)
    record["agrees"] = record["error"] <= LIMITS[precision]
    say(f"  {'agrees' if record['agrees'] else 'DIFFERS'}: {record['error']:.2g} of the scale")

    with torch.inference_mode():
        torch.backends.cudnn.benchmark = True
        made = {}
        for engine, (how, tf32, last) in engines_of(precision, "input" in feeds, options).items():
            format_ = torch.channels_last if last else torch.contiguous_format
            try:
                # In place, weights would change under what is captured.
                laid = copy.deepcopy(module).to(memory_format=format_) if last else module
                shown = [value.to(memory_format=format_) if value.dim() == 4 else value
                         for value in arguments]
                made[engine] = Torch(laid, shown, how, tf32)
            except Exception as problem:
                say(f"  {engine} failed: {str(problem).splitlines()[0][:150]}")
                continue
            made[engine].run()
            error = difference(made[engine].result.numpy(), expected)
            record["engines"][engine] = {"error": error}
        samples = {engine: [] for engine in ["intarsia", *made]}
        for _ in range(options.rounds):
            samples["intarsia"].append(command.time(plan, options.seconds))
            for engine, runner in made.items():
                samples[engine].append(runner.time(options.seconds))
    for engine, rows in samples.items():
        entry = record["engines"].setdefault(engine, {"error": record["error"]})
        entry["run_ms"] = statistics.median(row[0] for row in rows)
        entry["device_ms"] = statistics.median(row[1] for row in rows)
        say(f"  {engine:<16} run {entry['run_ms']:8.3f} ms, device {entry['device_ms']:8.3f} ms, "
            f"error {entry['error']:.2g}")
    return record


def child(connection, name, precision, options):
    os.setsid()  # the limit of time ends the command as well
    with tempfile.TemporaryDirectory() as folder:
        try:
            connection.send(measure(name, precision, options, pathlib.Path(folder)))
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}"
            connection.send({"model": name, "precision": precision, "failed": text[:800]})


def guarded(name, precision, options):
    """What `measure` finds, in a process that ends when its time is up."""
    context = multiprocessing.get_context("fork")  # what is imported need not be imported again
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, name, precision, options))
    process.start()
    theirs.close()
    record = {"model": name, "precision": precision, "failed": f"no result in {options.limit} s"}
    try:
        if ours.poll(options.limit):
            record = ours.recv()
    except EOFError:
        record["failed"] = "its process ended without a result"
    process.join(5)
    if process.is_alive():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
    if "failed" in record:
        say(f"{name} {precision} FAILED: {record['failed']}")
    return record


def table(records):
    """Ours beside the fastest engine of PyTorch that computes in the same precision, and all."""
    lines = ["", f"{'':<18} {'intarsia':>17}   others: run / device ms (ratio to ours, above 1: "
             "we are faster)"]
    for record in records:
        title = f"{record['model']} {record['precision']}"
        if "failed" in record:
            lines.append(f"{title:<18} FAILED: {record['failed'].splitlines()[0][:100]}")
            continue
        ours = record["engines"]["intarsia"]
        line = f"{title:<18} {ours['run_ms']:8.3f}/{ours['device_ms']:8.3f}  "
        for engine, entry in record["engines"].items():
            if engine != "intarsia":
                line += (f" | {engine} {entry['run_ms']:.3f}/{entry['device_ms']:.3f} "
                         f"({entry['run_ms'] / ours['run_ms']:.2f}/"
                         f"{entry['device_ms'] / ours['device_ms']:.2f})")
        plan = record["plan"]
        line += f" | {plan['graphs']} graphs, error {record['error']:.1g}"
        line += "" if record["agrees"] else " DIFFERS"
        lines.append(line)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--intarsia", required=True, help="the command")
    parser.add_argument("--models", default="resnet50,mobilenet_v2,efficientnet_b0,bert_base,"
                        "vit_b_16", help="of torchvision, or: " + ", ".join(ENCODERS))
    parser.add_argument("--precisions", default="f32,f16",
                        help="f32, f16, and mixed: a float32 model converted with --precision f16")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu-check"])
    parser.add_argument("--seconds", type=float, default=0.2,
                        help="per engine, round and kind of time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, help="seconds of a network and precision; 90, or 240 "
                        "with --compile")
    parser.add_argument("--compile", action="store_true", help="torch.compile, too; it takes minutes")
    parser.add_argument("--convert-option", action="append", default=[],
                        help="of `intarsia convert`, for instance --convert-option=--strip-names")
    parser.add_argument("--output", help="file for the figures")
    options = parser.parse_args()
    options.limit = options.limit or (240 if options.compile else 90)
    names, precisions = options.models.split(","), options.precisions.split(",")
    if not set(precisions) <= set(TYPES):
        parser.error(f"--precisions are {', '.join(TYPES)}")
    records = [guarded(name, precision, options) for name in names for precision in precisions]
    print(table(records))
    if options.output:
        about = {"torch": torch.__version__, "device": "cpu"}
        if options.device == "cuda":  # asked for last: a process that has asked cannot fork
            about["device"] = torch.cuda.get_device_name()
        text = json.dumps({"about": about, "cases": records}, indent=1)
        pathlib.Path(options.output).write_text(text + "\n")
    return 1 if any("failed" in record or not record["agrees"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
