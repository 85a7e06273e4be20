# SPDX-License-Identifier: Apache-2.0
"""Exports small PyTorch models to ONNX. Usage: /usr/bin/python3 export_torch.py DIR [NAME]...

Runs under Debian's Python with python3-torch (1.13) and python3-torchvision. Every model is seeded
and calibrated, so that its outputs depend on every parameter: parameters that an initialiser left
constant (biases, normalisation scales) are redrawn, BatchNorm statistics are measured on random
images. Expected outputs are not made here, but by ONNX Runtime in make_models.py.
"""

import math
import pathlib
import sys
import warnings
from typing import List, Tuple

import torch
import torchvision

import inputs

MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


def redraw_constants(module):
    """Replaces every parameter that holds one repeated value by random ones around it."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.numel() > 1 and parameter.min() == parameter.max():
                parameter += 0.2 * torch.randn_like(parameter)
    return module.eval()


def calibrate_batch_norm(module, name, batches=2, batch=8):
    """Replaces running means and variances by their averages over random images."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # cumulative average
    module.train()
    with torch.no_grad():
        for index in range(batches):
            rng = inputs.generator("calibration", name, index)
            module(torch.from_numpy(inputs.images(rng, batch)))
    return module.eval()


def export(path, module, arguments, opset, names, outputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, arguments, str(path), opset_version=opset, input_names=names,
                          output_names=outputs, **options)


@model
def mlp(path):
    module = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(),
                                 torch.nn.Linear(128, 10))
    export(path, redraw_constants(module), torch.randn(1, 784), 13, ["input"], ["logits"])


@model
def mlp_batch(path):
    """The same network with softmax and a symbolic batch."""
    module = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(),
                                 torch.nn.Linear(128, 10), torch.nn.Softmax(dim=-1))
    export(path, redraw_constants(module), torch.randn(2, 784), 15, ["input"], ["probabilities"],
           dynamic_axes={"input": {0: "batch"}, "probabilities": {0: "batch"}})


@model
def gru(path):
    """Two layers; the state is an input and an output, for use with --state."""
    module = redraw_constants(torch.nn.GRU(24, 32, num_layers=2))
    export(path, module, (torch.randn(12, 1, 24), torch.zeros(2, 1, 32)), 14, ["input", "h0"],
           ["output", "hn"])


@model
def lstm(path):
    """One layer; both states are inputs and outputs."""
    module = redraw_constants(torch.nn.LSTM(24, 32))
    states = (torch.zeros(1, 1, 32), torch.zeros(1, 1, 32))
    export(path, module, (torch.randn(12, 1, 24), states), 14, ["input", "h0", "c0"],
           ["output", "hn", "cn"])


@model
def lstm_bidirectional(path):
    """Two layers in both directions, batch first, initial states of zero, a linear head."""

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(24, 32, num_layers=2, bidirectional=True, batch_first=True)
            self.head = torch.nn.Linear(64, 8)

        def forward(self, x):
            return self.head(self.lstm(x)[0])

    export(path, redraw_constants(Tagger()), torch.randn(3, 12, 24), 16, ["input"], ["output"])


@model
def transformer(path):
    """torch.nn.TransformerEncoder on features; opset 13, so LayerNormalization is decomposed."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, dim_feedforward=256, activation="gelu",
                                             batch_first=True)
    module = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    for index, part in enumerate(module.layers):  # made as copies of one layer: draw each anew
        torch.manual_seed(100 + index)
        for parameter in part.parameters():
            if parameter.dim() > 1:
                torch.nn.init.xavier_uniform_(parameter)
    module = redraw_constants(module)
    # Inference goes through a fused operator that has no ONNX form, unless gradients are wanted.
    with torch.enable_grad():
        export(path, module, torch.randn(1, 16, 64), 13, ["input"], ["output"])


class Attention(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        parts = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = torch.nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = torch.nn.LayerNorm(width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                       torch.nn.Linear(4 * width, width))

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class TextEncoder(torch.nn.Module):
    def __init__(self, width=64, heads=4, layers=2, words=500, longest=64):
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.positions = torch.nn.Embedding(longest, width)
        self.blocks = torch.nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, tokens, mask):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


@model
def transformer_tokens(path):
    """Token ids and a padding mask, symbolic sequence length, LayerNormalization of opset 17."""
    tokens, mask = torch.randint(500, (1, 16)), torch.ones(1, 16, dtype=torch.int64)
    export(path, redraw_constants(TextEncoder()), (tokens, mask), 17, ["tokens", "mask"],
           ["output"], dynamic_axes={n: {1: "sequence"} for n in ("tokens", "mask", "output")})


@model
def resnet18(path):
    """The exporter folds BatchNorm into Conv here, as in most models that users have."""
    module = calibrate_batch_norm(redraw_constants(torchvision.models.resnet18()), "resnet18")
    export(path, module, torch.randn(1, 3, 224, 224), 13, ["input"], ["logits"])


@model
def mobilenet_v2(path):
    """BatchNorm is kept as its own node, so that the converter has to fold it."""
    module = redraw_constants(torchvision.models.mobilenet_v2())
    module = calibrate_batch_norm(module, "mobilenet_v2")
    export(path, module, torch.randn(1, 3, 224, 224), 13, ["input"], ["logits"],
           training=torch.onnx.TrainingMode.PRESERVE)


class Transducer(torch.nn.Module):
    """Greedy decoding: an emitted word goes through the prediction network, a blank (word 0) and
    the third word in one frame go on to the next frame."""

    def __init__(self, features=20, width=24, words=12):
        super().__init__()
        self.encoder = torch.nn.Linear(features, width)
        self.embedding = torch.nn.Embedding(words, width)
        self.gate = torch.nn.Linear(2 * width, width)
        self.candidate = torch.nn.Linear(2 * width, width)
        self.joint = torch.nn.Linear(width, words)

    def predict(self, word: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        both = torch.cat([self.embedding(word), hidden], 1)
        gate = torch.sigmoid(self.gate(both))
        return gate * hidden + (1 - gate) * torch.tanh(self.candidate(both))

    def forward(self, frames: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        encoded = torch.tanh(self.encoder(frames))
        hidden = self.predict(torch.zeros([1], dtype=torch.long),
                              torch.zeros([1, encoded.size(1)]))
        words: List[torch.Tensor] = []
        frame, in_frame = 0, 0
        while frame < encoded.size(0):
            scores = self.joint(torch.tanh(encoded[frame:frame + 1] * 2 + hidden))
            best = torch.argmax(scores, 1)
            if int(best) == 0 or in_frame == 3:
                frame += 1
                in_frame = 0
            else:
                words.append(best)
                hidden = self.predict(best, hidden)
                in_frame += 1
        return torch.cat(words), hidden


@model
def transducer(path):
    """An RNN transducer with its decoding: a Loop that ends by its condition, an If that carries a
    sequence, and as many words as it says."""
    module = torch.jit.script(redraw_constants(Transducer()))
    export(path, module, (torch.randn(6, 20),), 16, ["frames"], ["words", "hidden"],
           dynamic_axes={"frames": {0: "time"}, "words": {0: "length"}})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        print(f"exporting {name}", flush=True)
        torch.manual_seed(1)
        MODELS[name](folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
