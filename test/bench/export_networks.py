# SPDX-License-Identifier: Apache-2.0
"""Exports the networks that networks.py measures. Usage: /usr/bin/python3 export_networks.py DIR NAME...

Runs under Debian's Python, like test/models/export_torch.py, whose helpers and networks it uses:
architectures of torchvision with seeded weights, redrawn and calibrated as described there, because
the architecture is what costs time.
"""

import pathlib
import sys

import torch
import torchvision

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import export_torch  # noqa: E402
from export_torch import calibrate_batch_norm, export, redraw_constants  # noqa: E402

NETWORKS = {name: export_torch.MODELS[name] for name in ("mlp", "gru", "resnet18", "mobilenet_v2")}
VISION = {  # name: options of torchvision's function, extent of the image
    "resnet50": ({}, 224),
    "vgg16": ({}, 224),
    "squeezenet1_1": ({}, 224),
    "googlenet": ({"init_weights": False, "aux_logits": False}, 224),
    "densenet121": ({}, 224),
    "inception_v3": ({"init_weights": False, "aux_logits": False}, 299),
    "mobilenet_v3_large": ({}, 224),
    "efficientnet_b0": ({}, 224),
    "shufflenet_v2_x1_0": ({}, 224),
    "vit_b_16": ({}, 224),
    "swin_t": ({}, 224),
    "convnext_tiny": ({}, 224),
    "mnasnet1_0": ({}, 224),
    "regnet_y_400mf": ({}, 224),
}
SEGMENTATION = {"deeplabv3_mobilenet_v3_large": 320,
                "lraspp_mobilenet_v3_large": 320}  # name: extent of the image
TEXT = {"minilm_l6": (384, 6), "bert_base": (768, 12)}  # name: width, layers


def network(function):
    NETWORKS[function.__name__] = function
    return function


def vision(name, path):
    options, extent = VISION[name]
    module = redraw_constants(getattr(torchvision.models, name)(**options))
    if any(isinstance(part, torch.nn.BatchNorm2d) for part in module.modules()):
        module = calibrate_batch_norm(module, name)
    with torch.enable_grad():  # without, attention goes through an operator that has no ONNX form
        export(path, module, torch.randn(1, 3, extent, extent), 13, ["input"], ["logits"])


def text(name, path):
    """An encoder over 128 tokens of BERT's vocabulary, with BERT's widths and heads."""
    width, layers = TEXT[name]
    module = export_torch.TextEncoder(width, 12, layers, words=30522, longest=512)
    tokens, mask = torch.randint(30522, (1, 128)), torch.ones(1, 128, dtype=torch.int64)
    export(path, redraw_constants(module), (tokens, mask), 17, ["tokens", "mask"], ["output"])


def normalised(channels, filters, kernel, **options):
    return [torch.nn.Conv2d(channels, filters, kernel, bias=False, **options),
            torch.nn.BatchNorm2d(filters), torch.nn.ReLU()]


class Patch(torch.nn.Module):
    """Cuts the network's input out of the images that calibration passes."""

    def forward(self, x):
        return x[:, :1, :49, :10]


@network
def dscnn(path):
    """Keyword spotting on 49 frames of 10 features: four depthwise separable blocks."""
    layers = normalised(1, 64, (10, 4), stride=2, padding=(5, 1))
    for _ in range(4):
        layers += normalised(64, 64, 3, padding=1, groups=64) + normalised(64, 64, 1)
    layers += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 12)]
    module = redraw_constants(torch.nn.Sequential(*layers))
    calibrate_batch_norm(torch.nn.Sequential(Patch(), module), "dscnn")
    export(path, module, torch.randn(1, 1, 49, 10), 13, ["input"], ["logits"])


@network
def autoencoder(path):
    """Anomalies of machine sounds: 640 features through a bottleneck of 8."""
    widths = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128]
    layers = []
    for narrow, wide in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(narrow, wide), torch.nn.ReLU()]
    module = redraw_constants(torch.nn.Sequential(*layers, torch.nn.Linear(128, 640)))
    for part in module:
        if isinstance(part, torch.nn.Linear):  # the default shrinks what passes through ten layers
            torch.nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
    export(path, module, torch.randn(1, 640), 13, ["input"], ["output"])


class UNet(torch.nn.Module):
    """Four levels of two convolutions each, from 32 channels to 512, joined across."""

    def __init__(self, base=32, levels=4):
        super().__init__()
        widths = [base * 2**level for level in range(levels + 1)]

        def double(channels, filters):
            return torch.nn.Sequential(*normalised(channels, filters, 3, padding=1),
                                       *normalised(filters, filters, 3, padding=1))

        self.down = torch.nn.ModuleList(map(double, [3, *widths], widths))
        self.up = torch.nn.ModuleList(
            torch.nn.ConvTranspose2d(wide, narrow, 2, stride=2)
            for narrow, wide in zip(widths, widths[1:]))
        self.join = torch.nn.ModuleList(double(2 * narrow, narrow) for narrow in widths[:-1])
        self.head = torch.nn.Conv2d(base, 2, 1)

    def forward(self, x):
        levels = []
        for index, block in enumerate(self.down):
            x = block(torch.nn.functional.max_pool2d(x, 2) if index else x)
            levels.append(x)
        for index in reversed(range(len(self.up))):
            x = self.join[index](torch.cat([levels[index], self.up[index](x)], dim=1))
        return self.head(x)


@network
def unet(path):
    module = calibrate_batch_norm(redraw_constants(UNet()), "unet")
    export(path, module, torch.randn(1, 3, 256, 256), 13, ["input"], ["output"])


class First(torch.nn.Module):
    """One of the outputs that a module gives in a dictionary."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)["out"]


def segmentation(name, path):
    module = getattr(torchvision.models.segmentation, name)(
        weights=None, weights_backbone=None, num_classes=21)
    module = calibrate_batch_norm(First(redraw_constants(module)), name)
    extent = SEGMENTATION[name]
    export(path, module, torch.randn(1, 3, extent, extent), 13, ["input"], ["output"])


class Detector(torch.nn.Module):
    """A single-shot detector up to its boxes and scores, before non-maximum suppression."""

    def __init__(self, module):
        super().__init__()
        self.backbone, self.head = module.backbone, module.head

    def forward(self, x):
        found = self.head(list(self.backbone(x).values()))
        return found["bbox_regression"], found["cls_logits"]


@network
def ssdlite320(path):
    module = torchvision.models.detection.ssdlite320_mobilenet_v3_large(
        weights=None, weights_backbone=None)
    module = calibrate_batch_norm(Detector(redraw_constants(module)), "ssdlite320")
    export(path, module, torch.randn(1, 3, 320, 320), 13, ["input"], ["boxes", "scores"])


class Frames(torch.nn.Module):
    """Makes clips of eight frames out of the images that calibration passes."""

    def forward(self, x):
        return torch.stack([x[:, :, 8 * i:8 * i + 112, 8 * i:8 * i + 112] for i in range(8)], 2)


@network
def r3d_18(path):
    """Eight frames of a video, by convolutions in three dimensions."""
    module = redraw_constants(torchvision.models.video.r3d_18(weights=None))
    calibrate_batch_norm(torch.nn.Sequential(Frames(), module), "r3d_18")
    export(path, module, torch.randn(1, 3, 8, 112, 112), 13, ["input"], ["logits"])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        print(f"exporting {name}", file=sys.stderr, flush=True)
        torch.manual_seed(1)
        path = folder / f"{name}.onnx"
        if name in VISION:
            vision(name, path)
        elif name in SEGMENTATION:
            segmentation(name, path)
        elif name in TEXT:
            text(name, path)
        else:
            NETWORKS[name](path)


if __name__ == "__main__":
    main()
