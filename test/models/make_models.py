# SPDX-License-Identifier: Apache-2.0
"""Makes the test models. Usage: make_models.py [--cache DIR] [--out DIR] [--full] [NAME]...

Run it with CACHE/venv/bin/python after setup_env.sh. Without names it makes every case, with
--full those over 500 MB too; cases that are up to date are skipped. The layout of a case is
described in cases.py, the list of cases in README.md.
"""

import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import time

import cases

SOUNDS = pathlib.Path("/usr/share/sounds/alsa")


def normal(name, *shapes):
    """One standard normal float32 array per shape."""
    import inputs
    import numpy

    rng = inputs.generator("input", name)
    return [rng.standard_normal(shape, dtype=numpy.float32) for shape in shapes]


def make_torch(writer, folder, selected):
    """Models exported by PyTorch; see export_torch.py."""
    import inputs
    import numpy

    def image(name):
        images = inputs.images(inputs.generator("input", name), 2)
        return [{"input": one[None]} for one in images]

    def tokens(name, lengths):
        rng = inputs.generator("input", name)
        feeds = []
        for length in lengths:
            mask = numpy.ones((1, length), numpy.int64)
            mask[:, length - length // 4:] = 0
            feeds.append({"tokens": rng.integers(500, size=(1, length)), "mask": mask})
        return feeds

    recurrent = {"gru": ("h0",), "lstm": ("h0", "c0")}

    def sequence(name, layers):
        feeds = []
        for number in range(2):
            arrays = normal(f"{name}{number}", (12, 1, 24), *[(layers, 1, 32)] * 2)
            feeds.append(dict(zip(("input",) + recurrent[name], arrays)))
        return feeds

    def frames(name, lengths):
        return [{"frames": array} for array in normal(name, *((n, 20) for n in lengths))]

    def plain(name, *shapes):
        return [{"input": array} for array in normal(name, *shapes)]

    table = {
        "mlp": (lambda n: plain(n, (1, 784), (1, 784)), ""),
        "mlp_batch": (lambda n: plain(n, (4, 784), (4, 784), (1, 784)), "--dim batch=4"),
        "gru": (lambda n: sequence(n, 2), ""),
        "lstm": (lambda n: sequence(n, 1), ""),
        "lstm_bidirectional": (lambda n: plain(n, (3, 12, 24), (3, 12, 24)), ""),
        "transformer": (lambda n: plain(n, (1, 16, 64), (1, 16, 64)), ""),
        "transformer_tokens": (lambda n: tokens(n, (16, 16, 9)), "--dim sequence=16"),
        "transducer": (lambda n: frames(n, (24, 24, 1, 7)), "--dim time=24"),
        "resnet18": (image, ""),
        "mobilenet_v2": (image, ""),
    }
    names = [name for name in table if selected(name) and writer.wanted(name)]
    if not names:
        return
    subprocess.run(["/usr/bin/python3", str(cases.HERE / "export_torch.py"), str(folder), *names],
                   check=True)
    for name in names:
        feeds, options = table[name]
        writer.write(name, (folder / f"{name}.onnx").read_bytes(), feeds(name), options)


def make_silero(writer, folder, selected):
    """Every export of Silero VAD, on frames of a recorded voice.

    The frames are the first, the second with the state of the first, the one that is most likely
    speech and the least likely one after it, the last two with the state that they have in the
    recording. The export that takes a sequence of frames gets the recording in parts of several
    lengths, each with the state that the one before has left.
    """
    import audio
    import numpy

    signal, rate = audio.read_wav(SOUNDS / "Front_Center.wav")

    def recorded(model, sample_rate, size):
        """Feeds of the four frames, from a run over the whole recording."""
        runtime = cases.session(model)
        names = {value.name for value in runtime.get_inputs()}
        state = numpy.zeros((2, 1, 128), numpy.float32)
        feeds, speech = [], []
        for frame in audio.frames(audio.resample(signal, rate, sample_rate), size, size // 8):
            feed = {"input": frame, "state": state, "sr": numpy.array(sample_rate)}
            feeds.append({key: feed[key] for key in feed if key in names})
            output, state = runtime.run(["output", "stateN"], feeds[-1])
            speech.append(float(output[0, 0]))
        loudest = max(range(2, len(speech)), key=speech.__getitem__)
        quiet = min(range(loudest + 1, len(speech)), key=speech.__getitem__)
        return [feeds[index] for index in (0, 1, loudest, quiet)]

    def parts(model, lengths):
        runtime = cases.session(model)
        frames = numpy.stack(audio.frames(audio.resample(signal, rate, 16000), 512, 64))
        frames = frames.reshape(len(frames), 576)
        hidden = cell = numpy.zeros((1, 1, 128), numpy.float32)
        feeds, start = [], 0
        for length in lengths:
            feeds.append({"input": frames[start:start + length], "h": hidden, "c": cell})
            _, hidden, cell = runtime.run(None, feeds[-1])
            start += length
        if start > len(frames):
            raise SystemExit(f"make_models: the recording has {len(frames)} frames, not {start}")
        return feeds

    def fixed(feeds):
        return [{key: feed[key] for key in feed if key != "sr"} for feed in feeds]

    def with_rate(value):
        return lambda runtime, feed: runtime.run(None, {**feed, "sr": numpy.array(value)})

    both_rates = ("silero_vad", "silero_vad_op18_ifless")
    for path in sorted(folder.glob("*.onnx")):
        name = path.stem
        model = path.read_bytes()
        if name == "silero_vad_16k_sequence":
            if selected(name) and writer.wanted(name):
                writer.write(name, model, parts(model, (10, 10, 1, 16, 3)),
                             "--dim sequence_length=16")
            continue
        if selected(name) and writer.wanted(name):
            writer.write(name, model, recorded(model, 16000, 512))
        if name not in both_rates:
            continue
        case = f"{name}_fix16000"
        if selected(case) and writer.wanted(case):
            writer.write(case, model, fixed(recorded(model, 16000, 512)), "--fix sr=16000",
                         runner=with_rate(16000))
        case = f"{name}_fix8000"
        if selected(case) and writer.wanted(case):
            writer.write(case, model, fixed(recorded(model, 8000, 256)), "--fix sr=8000",
                         runner=with_rate(8000))
        case = f"{name}_288"  # 288 samples suit the branches of both rates
        if selected(case) and writer.wanted(case):
            writer.write(case, model, recorded(model, 8000, 256) + recorded(model, 16000, 256))


def conditioning(model, feeds):
    """How far ONNX Runtime's own answers move if weights change in their last place.

    Magika normalises by variances that it computes as mean(x^2) - mean(x)^2: for input that is
    nearly constant the difference cancels, and any order of summation gives another answer.
    """
    import numpy
    import onnx

    proto = onnx.load_from_string(model)
    worst = numpy.zeros(len(feeds))
    exact = cases.session(model)
    for trial in range(3):
        moved = onnx.ModelProto()
        moved.CopyFrom(proto)
        random = numpy.random.default_rng(trial)
        for tensor in moved.graph.initializer:
            if tensor.data_type != onnx.TensorProto.FLOAT:
                continue
            array = onnx.numpy_helper.to_array(tensor)
            noise = random.uniform(-1, 1, array.shape) * numpy.finfo(numpy.float32).eps
            array = (array * (1 + noise)).astype(numpy.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
        session = cases.session(moved.SerializeToString())
        for index, feed in enumerate(feeds):
            change = numpy.abs(session.run(None, feed)[0] - exact.run(None, feed)[0]).max()
            worst[index] = max(worst[index], change)
    return worst


def make_magika(writer, model, selected):
    """One data set for each of 100 files of differing kinds."""
    if not (selected("magika") and writer.wanted("magika")):
        return
    import json

    import file_samples

    samples = file_samples.samples()
    feeds = [{"bytes": file_samples.features(data)[None]} for _, data in samples]
    worst = conditioning(model.joinpath("model.onnx").read_bytes(), feeds)
    stable = [index for index in range(len(samples)) if worst[index] < 2e-5][:100]
    for (name, _), change in zip(samples, worst):
        if change >= 2e-5:
            print(f"    {name} is left out: its answer moves by {change:.1e}")
    samples = [samples[index] for index in stable]
    feeds = [feeds[index] for index in stable]
    if len({feed["bytes"].tobytes() for feed in feeds}) != 100:
        raise SystemExit(f"make_models: magika: {len(feeds)} files, expected 100 that differ")
    results = writer.write("magika", model.joinpath("model.onnx").read_bytes(), feeds)
    # The files themselves, with the kind and probability of each, serve the tests of file_kind.
    labels = json.loads(model.joinpath("config.min.json").read_text())["target_labels_space"]
    folder = writer.out / "magika" / "files"
    folder.mkdir()
    lines = []
    for (name, data), (scores,) in zip(samples, results):
        (folder / name).write_bytes(data)
        lines.append(f"{name} {labels[scores[0].argmax()]} {scores[0].max():.6f}\n")
    (writer.out / "magika" / "labels.txt").write_text("".join(lines))
    print(f"    {len({line.split()[1] for line in lines})} kinds among the answers")


def make_light(writer, selected, full):
    """Networks of the onnx package with calibrated weights; see light.py."""
    table = {  # name: scale of the images, smallest change (5 % only behind an average)
        "squeezenet": (60.0, 0.1),
        "inception_v1": (60.0, 0.1),
        "resnet50": (1.0, 0.1),
        "bvlc_alexnet": (60.0, 0.1),
        "vgg19": (60.0, 0.1),
    }
    for name, (scale, change) in table.items():
        case = f"light_{name}"
        if name == "vgg19" and not full:
            continue
        if not (selected(case) and writer.wanted(case)):
            continue
        import light
        import onnx

        shipped = pathlib.Path(onnx.__file__).parent / f"backend/test/data/light/{case}.onnx"
        model, feeds = light.build(shipped, name, scale)
        writer.write(case, model, feeds, minimum_change=change)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cache = os.environ.get("INTARSIA_CACHE", str(cases.HERE.parents[1] / "build" / "cache"))
    parser.add_argument("--cache", default=cache, help="folder that setup_env.sh filled")
    parser.add_argument("--out", help="folder of the cases (default CACHE/models)")
    parser.add_argument("--full", action="store_true", help="VGG-19 too")
    parser.add_argument("names", nargs="*", help="only these cases; * stands for anything")
    arguments = parser.parse_args()
    cache = pathlib.Path(arguments.cache)
    start = time.monotonic()
    writer = cases.Writer(arguments.out or cache / "models", cases.source_key())

    def selected(name):
        names = arguments.names
        return not names or any(fnmatch.fnmatch(name, pattern) for pattern in names)

    packages = cache / "packages"
    if not packages.is_dir():
        sys.exit(f"make_models: {packages} is missing; run test/models/setup_env.sh first")
    make_torch(writer, cache / "torch", selected)
    make_silero(writer, packages / "silero_vad" / "data", selected)
    models = sorted((packages / "magika" / "models").iterdir())
    make_magika(writer, models[-1], selected)
    make_light(writer, selected, arguments.full)
    if not writer.names:
        sys.exit("make_models: no case has such a name")
    if not arguments.names:
        writer.prune()
    print(f"make_models: {len(writer.names)} cases in {writer.out}, "
          f"{time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
