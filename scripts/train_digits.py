#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the handwritten-digit network of examples/data and writes every file of that folder.

Needs Debian's python3-sklearn, python3-torch, python3-onnx and python3-pil; takes about half a
minute on one core. docs/digits.md explains it: data, split, network, accuracy.
"""

import argparse
import json
import pathlib

import numpy
import onnx
import onnx.numpy_helper
import PIL.Image
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

CLASSES = 10
SIDE = 8  # pixels; every pixel is an integer 0..FULL_INK
FULL_INK = 16
DATA_CREDIT = ("Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, 1998, "
               "UCI Machine Learning Repository, doi:10.24432/C50P49, CC BY 4.0")
# The images come form by form: the same 130 or so digits (0..9 three times, then mixed) repeat
# fourteen times. The last three forms start here, so that no form is on both sides of the split.
HELD_OUT_START = 1415

SEED = 0
EPOCHS = 100
BATCH = 64
PEAK_LEARNING_RATE = 1e-2
WEIGHT_DECAY = 1e-2
LABEL_SMOOTHING = 0.05

OPSET = 13
MODEL_BYTES_LIMIT = 200_000
PICTURE_SIDE = 64  # of the PNG files: large enough to look at, a whole multiple of SIDE


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(y)))


class DigitNet(nn.Module):
    """A small network with the kinds of layers of large ones."""

    def __init__(self, narrow=24, wide=40):
        super().__init__()
        self.stem = nn.Conv2d(1, narrow, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(narrow)
        self.depthwise = nn.Conv2d(narrow, narrow, 3, padding=1, groups=narrow, bias=False)
        self.depthwise_norm = nn.BatchNorm2d(narrow)
        self.pointwise = nn.Conv2d(narrow, wide, 1, bias=False)
        self.pointwise_norm = nn.BatchNorm2d(wide)
        self.pool = nn.MaxPool2d(2)
        self.block = ResidualBlock(wide)
        self.global_pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(wide, CLASSES)

    def forward(self, image):
        """Logits, the input of the loss."""
        x = torch.relu(self.stem_norm(self.stem(image)))
        x = torch.relu(self.depthwise_norm(self.depthwise(x)))
        x = torch.relu(self.pointwise_norm(self.pointwise(x)))
        x = self.block(self.pool(x))
        return self.classifier(torch.flatten(self.global_pool(x), 1))


class DigitProbabilities(DigitNet):
    """The shipped form of the network."""

    def forward(self, image):
        return super().forward(image).softmax(1)


def load_split():
    """Training images and labels, held-out images and labels; images are [N,1,8,8] in 0..1."""
    digits = load_digits()
    images = torch.tensor(digits.images / FULL_INK, dtype=torch.float32).unsqueeze(1)
    labels = torch.tensor(digits.target)
    cut = HELD_OUT_START
    return images[:cut], labels[:cut], images[cut:], labels[cut:]


def distort(images, generator):
    """Rotates, shears, scales and shifts each image slightly, like other handwriting."""

    def uniform(bound, *shape):
        return (2 * torch.rand(len(images), *shape, generator=generator) - 1) * bound

    angle, shear, scale, shift = uniform(0.17), uniform(0.2), 1 + uniform(0.06), uniform(0.15, 2)
    row_x = torch.stack([scale * angle.cos(), shear - angle.sin(), shift[:, 0]], 1)
    row_y = torch.stack([angle.sin(), scale * angle.cos(), shift[:, 1]], 1)
    grid = functional.affine_grid(torch.stack([row_x, row_y], 1), images.shape, align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train(images, labels):
    torch.set_num_threads(1)  # sums have one order on every machine
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    net = DigitNet()
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=WEIGHT_DECAY)
    steps = EPOCHS * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=steps)
    for epoch in range(EPOCHS):
        for batch in torch.randperm(len(images), generator=generator).split(BATCH):
            logits = net(distort(images[batch], generator))
            loss = functional.cross_entropy(logits, labels[batch], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1:3}  loss {loss.item():.4f}")
    return net.eval()


def export(net, path):
    shipped = DigitProbabilities()
    shipped.load_state_dict(net.state_dict())
    torch.onnx.export(
        shipped.eval(), torch.zeros(1, 1, SIDE, SIDE), str(path), opset_version=OPSET,
        input_names=["image"], output_names=["probabilities"],
        dynamic_axes={"image": {0: "N"}, "probabilities": {0: "N"}},
        # Keeps batch normalisation as nodes of its own (still in eval mode), so that the model
        # shows the effect of a framework's graph passes on it.
        training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)

    model = onnx.load(str(path))
    model.graph.name = "digits"
    model.doc_string = f"Handwritten digits, 8x8 grey. Trained on: {DATA_CREDIT}."
    for node in model.graph.node:
        for item in [item for item in node.attribute if item.name == "momentum"]:
            node.attribute.remove(item)  # has a meaning in training only
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))
    size = path.stat().st_size
    assert size <= MODEL_BYTES_LIMIT, f"{path} has {size} bytes, at most {MODEL_BYTES_LIMIT} wanted"


def attribute(node, name):
    return next(onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name)


def convolution(node, x, weight):
    top, left, bottom, right = attribute(node, "pads")
    x = functional.pad(x, (left, right, top, bottom))
    return functional.conv2d(x, weight, None, attribute(node, "strides"), 0,
                             attribute(node, "dilations"), attribute(node, "group"))


def normalization(node, x, scale, bias, mean, variance):
    return functional.batch_norm(x, mean, variance, scale, bias, eps=attribute(node, "epsilon"))


EVALUATE = {
    "Add": lambda node, a, b: a + b,
    "BatchNormalization": normalization,
    "Conv": convolution,
    "Flatten": lambda node, x: x.flatten(attribute(node, "axis")),
    "Gemm": lambda node, x, weight, bias: x @ weight.T + bias,
    "GlobalAveragePool": lambda node, x: x.mean((2, 3), keepdim=True),
    "MaxPool": lambda node, x: functional.max_pool2d(
        x, attribute(node, "kernel_shape"), attribute(node, "strides")),
    "Relu": lambda node, x: x.relu(),
    "Softmax": lambda node, x: x.softmax(attribute(node, "axis")),
}


def run_file(path, images):
    """Evaluates the model of the file, so that the shipped model is measured."""
    graph = onnx.load(str(path)).graph
    tensors = {i.name: torch.tensor(onnx.numpy_helper.to_array(i)) for i in graph.initializer}
    tensors[graph.input[0].name] = images
    for node in graph.node:
        tensors[node.output[0]] = EVALUATE[node.op_type](node, *(tensors[i] for i in node.input))
    return tensors[graph.output[0].name]


def write_pictures(folder, images, labels):
    """The first held-out image of each digit as digit_<label>_<index in the held-out set>.png."""
    for old in folder.glob("digit_*.png"):
        old.unlink()
    repeat = PICTURE_SIDE // SIDE
    for label in range(CLASSES):
        index = int((labels == label).nonzero()[0])
        grey = (images[index, 0] * 255).round().to(torch.uint8).numpy()
        enlarged = grey.repeat(repeat, axis=0).repeat(repeat, axis=1)
        PIL.Image.fromarray(enlarged, "L").save(folder / f"digit_{label}_{index:03}.png")


def write_summary(folder, net, training_images, images, correct, confidence):
    total = len(images)
    summary = {
        "model": {
            "file": "digits.onnx",
            "bytes": (folder / "digits.onnx").stat().st_size,
            "parameters": sum(p.numel() for p in net.parameters()),
            "opset": OPSET,
            "input": "image: float32 [N,1,8,8], ink from 0 (paper) to 1 (full)",
            "output": "probabilities: float32 [N,10], softmax over the digits 0..9",
            "licence": "Apache-2.0",
            "trained_by": "scripts/train_digits.py",
        },
        "split": {
            "rule": f"images 0..{HELD_OUT_START - 1} train, the rest (last three forms) held out",
            "training_images": len(training_images),
            "held_out_images": total,
            "seed": SEED,
        },
        "held_out": {
            "correct": correct,
            "images": total,
            "accuracy": round(correct / total, 4),
            "mean_probability_of_label": round(confidence, 4),
        },
        "data": {
            "source": DATA_CREDIT,
            "licence": "CC BY 4.0",
            "obtained_through": "sklearn.datasets.load_digits",
            "changes": "pixels scaled to 0..1; ten held-out images enlarged 8 times as PNG",
        },
    }
    (folder / "digits.json").write_text(json.dumps(summary, indent=2) + "\n")


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="train and export the digit network")
    parser.add_argument("--output", type=pathlib.Path, default=root / "examples" / "data")
    parser.add_argument("--training-images", type=pathlib.Path, metavar="FILE.npz",
                        help="only write the training images there, to calibrate with")
    arguments = parser.parse_args()
    training_images, training_labels, images, labels = load_split()
    if arguments.training_images:
        numpy.savez(arguments.training_images, image=training_images.numpy())
        return
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)

    net = train(training_images, training_labels)
    path = folder / "digits.onnx"
    export(net, path)

    with torch.no_grad():
        # Two computations of the same numbers: the file, evaluated node by node, and the trained
        # network.
        probabilities = run_file(path, images)
        torch.testing.assert_close(probabilities, net(images).softmax(1), rtol=1e-4, atol=1e-6)
    correct = int((probabilities.argmax(1) == labels).sum())
    confidence = float(probabilities[torch.arange(len(labels)), labels].mean())

    (folder / "digits_labels.txt").write_text("".join(f"{label}\n" for label in range(CLASSES)))
    numpy.save(folder / "heldout_images.npy", images.numpy())
    numpy.save(folder / "heldout_labels.npy", labels.numpy().astype(numpy.uint8))
    write_pictures(folder, images, labels)
    write_summary(folder, net, training_images, images, correct, confidence)
    print(f"held-out accuracy {correct}/{len(labels)} = {correct / len(labels):.2%}, "
          f"model {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
