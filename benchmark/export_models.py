#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes the networks that compare_ort.mjs measures, or others of torchvision by name: architectures
# with seeded random weights (nothing is downloaded), as ONNX opset 13 with a free batch dimension.
# Needs python3-torch and python3-torchvision; the folder is $XDG_CACHE_HOME/tengine/models unless
# one is given.
import argparse
import math
import os
import pathlib

import torch
import torchvision
from torch import nn

# Networks of torchvision, with the size of their images.
PICTURES = {
    "resnet50": 224, "resnet18": 224, "mobilenet_v2": 224, "mobilenet_v3_large": 224,
    "efficientnet_b0": 224, "squeezenet1_1": 224, "shufflenet_v2_x1_0": 224, "densenet121": 224,
    "inception_v3": 299, "vgg16": 224, "vit_b_16": 224, "convnext_tiny": 224,
    "regnet_y_400mf": 224, "mnasnet1_0": 224, "googlenet": 224,
}


class UNet(nn.Module):
    """O. Ronneberger et al., 2015, with padding: 32 to 512 channels."""

    def __init__(self, width=32, depth=5):
        super().__init__()
        channels = [3] + [width << i for i in range(depth)]
        self.down = nn.ModuleList(self.block(a, b) for a, b in zip(channels, channels[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * c, c, 2, 2) for c in channels[-2:0:-1])
        self.merge = nn.ModuleList(self.block(2 * c, c) for c in channels[-2:0:-1])
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def block(inputs, outputs):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        levels = []
        for block in self.down:
            x = block(x if not levels else nn.functional.max_pool2d(x, 2))
            levels.append(x)
        for up, merge, level in zip(self.up, self.merge, reversed(levels[:-1])):
            x = merge(torch.cat([up(x), level], 1))
        return self.head(x)


class BertLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last_norm = nn.LayerNorm(width), nn.LayerNorm(width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
        context = (torch.softmax(scores, -1) @ value).permute(0, 2, 1, 3).contiguous()
        x = self.norm(x + self.output(context.view(x.size(0), x.size(1), -1)))
        return self.last_norm(x + self.second(nn.functional.gelu(self.first(x))))


def make_bert():
    return nn.Sequential(*(BertLayer(768, 12, 3072) for _ in range(12)))


class Recurrent(nn.Module):
    """Two layers of 512 units."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(512, 512, 2)

    def forward(self, x):
        return self.lstm(x)[0]


# Other networks, with the shape of their input.
OTHERS = {
    "unet": (UNet, (1, 3, 256, 256)),
    # J. Devlin et al., 2018: BERT-base after its embeddings, 128 tokens.
    "bert": (make_bert, (1, 128, 768)),
    "lstm": (Recurrent, (64, 1, 512)),
}

# Exported only on request: bert with a free number of tokens, for alternating shapes.
FREE_TOKENS = "bert_tokens"


def default_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "tengine" / "models"


def randomize_statistics(network):
    """Batch normalisation as after training: a fresh one would be close to the identity."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.1, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.0)
            nn.init.uniform_(module.bias, -0.1, 0.1)


def create(name):
    """The network, and the shape of its input."""
    if name in OTHERS or name == FREE_TOKENS:
        make, shape = OTHERS["bert" if name == FREE_TOKENS else name]
        return make(), shape
    options = {"init_weights": False} if name in ("inception_v3", "googlenet") else {}
    network = getattr(torchvision.models, name)(weights=None, **options)
    size = PICTURES.get(name, 224)
    return network, (1, 3, size, size)


def export(name, folder):
    torch.manual_seed(1)
    network, shape = create(name)
    randomize_statistics(network)
    path = folder / f"{name}.onnx"
    # The shapes that an attention splits and joins are constants in the export.
    free = {} if name in ("bert", "lstm", "vit_b_16") else {0: "batch"}
    if name == FREE_TOKENS:
        free[1] = "tokens"
    axes = {"input": free, "output": free} if free else {}
    torch.onnx.export(
        network.eval(), torch.zeros(shape), path, opset_version=13,
        input_names=["input"], output_names=["output"], dynamic_axes=axes)
    print(path)


def main():
    parser = argparse.ArgumentParser(description="Export the benchmark networks to ONNX.")
    parser.add_argument("--folder", type=pathlib.Path, default=default_folder())
    parser.add_argument("networks", nargs="*", default=[*PICTURES, *OTHERS])
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.networks:
        export(name, arguments.folder)


if __name__ == "__main__":
    main()
