#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes the networks that compare_ort.mjs measures, or others by name: torchvision's architectures
# with seeded random weights (nothing is downloaded), as ONNX opset 13 with a free batch dimension.
# Needs python3-torch and python3-torchvision; the folder is $XDG_CACHE_HOME/tengine/models unless
# one is given.
import argparse
import os
import pathlib

import torch
import torchvision

NETWORKS = ("resnet50", "mobilenet_v2", "squeezenet1_1")


def default_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "tengine" / "models"


def randomize_statistics(network):
    """Batch normalisation as after training: a fresh one would be close to the identity."""
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.0)
            torch.nn.init.uniform_(module.bias, -0.1, 0.1)


def export(name, folder):
    torch.manual_seed(1)
    network = getattr(torchvision.models, name)(weights=None)
    randomize_statistics(network)
    path = folder / f"{name}.onnx"
    torch.onnx.export(
        network.eval(), torch.zeros(1, 3, 224, 224), path, opset_version=13,
        input_names=["input"], output_names=["output"],
        dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}})
    print(path)


def main():
    parser = argparse.ArgumentParser(description="Export the benchmark networks to ONNX.")
    parser.add_argument("--folder", type=pathlib.Path, default=default_folder())
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.networks:
        export(name, arguments.folder)


if __name__ == "__main__":
    main()
