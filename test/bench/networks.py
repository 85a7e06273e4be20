# SPDX-License-Identifier: Apache-2.0
"""Measures whole networks beside other engines. Usage: networks.py [OPTION]... [NETWORK]...

    networks.py                      all networks, tables on standard output
    networks.py tiny 'resnet*'       a group, some networks
    networks.py --quick              they convert, run and agree; no times

Run it with CACHE/venv/bin/python after building the target run_plan. Networks are exported by
PyTorch when they are first needed (export_networks.py; 1.6 GB in CACHE/networks for all). One
that could not show a wrong result is refused, as in test/models/cases.py.
"""

import hashlib
import os
import pathlib
import subprocess
import sys

import command
import numpy
import onnx
import peers
import sweep_cases  # noqa: F401  (adds test/models to the path)

import cases
import inputs as seeded
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

# Two inputs must change the outputs by this part of their scale, 200 times the tolerance: random
# networks without normalisation (VGG) bring inputs closer together from layer to layer.
MINIMUM_CHANGE = 0.02
EXPORTER = command.HERE / "export_networks.py"
GROUPS = {
    "tiny": "mlp dscnn autoencoder gru",
    "classic": "resnet18 resnet50 vgg16 squeezenet1_1 googlenet densenet121 inception_v3 unet",
    "mobile": "mobilenet_v2 mobilenet_v3_large efficientnet_b0 shufflenet_v2_x1_0 mnasnet1_0 "
              "regnet_y_400mf",
    "transformers": "minilm_l6 bert_base vit_b_16 swin_t convnext_tiny",
    "images": "deeplabv3_mobilenet_v3_large lraspp_mobilenet_v3_large "
              "ssdlite320 r3d_18",
    "reading": "ocr_detection ocr_recognition ocr_direction",
    "quantised": "dscnn_qdq resnet18_qdq resnet50_qdq mobilenet_v2_qdq mobilenet_v3_large_qdq "
                 "efficientnet_b0_qdq unet_qdq minilm_l6_dynamic",
}
TOLERANCE_OF_CODES = 0.15  # of the outputs' scale
# Models of the package rapidocr-onnxruntime, whose extents the caller chooses: the input's.
READING = {"ocr_detection": ("ch_PP-OCRv4_det_infer.onnx", (1, 3, 640, 640)),
           "ocr_recognition": ("ch_PP-OCRv4_rec_infer.onnx", (1, 3, 48, 320)),
           "ocr_direction": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", (1, 3, 48, 192))}


def page(rng, height, width):
    """Dark strokes in lines on a bright page, which a network for text takes for something."""
    image = numpy.full((1, 3, height, width), 0.9, numpy.float32)
    for top in range(8, height - 24, 40):
        for left in range(8, width - 12, 9):
            if rng.random() < 0.8:
                across, down = rng.integers(2, 8), rng.integers(3, 24)
                image[:, :, top:top + down, left:left + across] = -0.9
    return image + 0.05 * rng.standard_normal(image.shape, dtype=numpy.float32)


def draw(session, name, number):
    """Inputs of a network, from what its session says of them."""
    feeds = {}
    for port in session.get_inputs():
        rng = seeded.generator("network", name, port.name, number)
        shape = tuple(port.shape)
        if port.name == "mask":
            feeds[port.name] = numpy.ones(shape, numpy.int64)
        elif port.type == "tensor(int64)":
            feeds[port.name] = rng.integers(30522, size=shape)
        elif name == "ocr_detection":
            feeds[port.name] = page(rng, *shape[2:])
        elif len(shape) == 4 and shape[1] == 3:
            feeds[port.name] = seeded.images(rng, 1, max(shape[2:]))[:, :, :shape[2], :shape[3]]
        else:
            feeds[port.name] = rng.standard_normal(shape, dtype=numpy.float32)
    return feeds


def source_key():
    """A hash of what a network depends on."""
    digest = hashlib.sha256()
    for path in (EXPORTER, cases.HERE / "export_torch.py", cases.HERE / "inputs.py"):
        digest.update(path.read_bytes())
    debian = subprocess.run(["dpkg-query", "-W", "python3-torch", "python3-torchvision"],
                            capture_output=True, text=True, check=True)
    digest.update(debian.stdout.encode())
    return digest.hexdigest()


def read_package(name, models, path):
    """Writes a model of the package with fixed extents, which every engine then knows."""
    file, shape = READING[name]
    model = onnx.load(models / file)
    for extent, size in zip(model.graph.input[0].type.tensor_type.shape.dim, shape):
        extent.dim_value = size
    for output in model.graph.output:  # they follow from the input's
        output.type.tensor_type.ClearField("shape")
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)


class Calibration(quantization.CalibrationDataReader):
    """Some inputs of a network."""

    def __init__(self, path, name):
        session = cases.session(str(path))
        self.feeds = iter([draw(session, name, number) for number in range(4)])

    def get_next(self):
        return next(self.feeds, None)


def quantise(name, folder, key, path):
    """Writes a network in bytes: QuantizeLinear and DequantizeLinear around all operators (qdq),
    or constant weights alone, with inputs quantised as they come (dynamic)."""
    base, _, kind = name.rpartition("_")
    source, prepared = export(base, folder, key), folder / f"{name}_prepared.onnx"
    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    byte = quantization.QuantType
    if kind == "qdq":
        quantization.quantize_static(
            str(prepared), str(path), Calibration(prepared, base), per_channel=True,
            activation_type=byte.QUInt8, weight_type=byte.QInt8)
    else:
        quantization.quantize_dynamic(str(prepared), str(path), weight_type=byte.QInt8)
    prepared.unlink()


def export(name, folder, key):
    """The path of a network; it is exported and examined unless its stamp says that it stands."""
    path, stamp = folder / f"{name}.onnx", folder / f"{name}.stamp"
    if stamp.exists() and stamp.read_text() == key:
        return path
    if name in GROUPS["quantised"].split():
        quantise(name, folder, key, path)
        stamp.write_text(key)  # what optimisation changes of bytes is no mistake
        return path
    if name in READING:
        read_package(name, folder.parent / "packages/rapidocr_onnxruntime/models", path)
    else:
        subprocess.run(["/usr/bin/python3", str(EXPORTER), str(folder), name], check=True)
    plain, optimised = cases.session(str(path)), cases.session(str(path), optimise=True)
    feeds = [draw(plain, name, number) for number in range(2)]
    cases.check(name, [plain.run(None, feed) for feed in feeds],
                [optimised.run(None, feed) for feed in feeds], minimum_change=MINIMUM_CHANGE)
    stamp.write_text(key)
    return path


def job(name, group, folder, key):
    quantised = group == "quantised"

    def make(_):
        path = export(name, folder, key)
        return path, draw(cases.session(str(path)), name.rpartition("_")[0] if quantised else name,
                          0)
    # Engines that keep codes between operators differ by some steps of these.
    return command.Job(name, group, make, TOLERANCE_OF_CODES if quantised else None)


def main():
    parser = command.parser(__doc__, rounds=8, seconds=2.0)
    cache = os.environ.get("INTARSIA_CACHE", str(cases.HERE.parents[1] / "build" / "cache"))
    parser.add_argument("--cache", default=cache, help="folder of test/models/setup_env.sh")
    options = parser.parse_args()
    folder = pathlib.Path(options.cache) / "networks"
    key = source_key()
    jobs = [job(name, group, folder, key) for group, names in GROUPS.items()
            for name in names.split()]
    others = [] if options.quick else peers.installed(options.threads)
    return command.run(jobs, options, peers=others)


if __name__ == "__main__":
    sys.exit(main())
