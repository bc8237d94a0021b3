# SPDX-License-Identifier: Apache-2.0
"""Finds the faces on a photo, with a network of MediaPipe's face detection (docs/face.md):

    python3 face.py ~/.cache/tengine/networks/face/face_detection_short_range.tflite PHOTO [-o FACES.png]

It prints a line for each face: the upper left and lower right corner of its box, the probability, and
the right eye, left eye, tip of the nose, mouth, right ear and left ear. examples/face is the same
program in C.
"""
import argparse

import numpy as np
from PIL import Image, ImageDraw, ImageOps

import tengine

SETTINGS = {"fit": "letterbox", "fill": 0, "mean": 127.5, "scale": 1 / 127.5}
GRIDS = {128: [(8, 2), (16, 6)], 192: [(4, 1)]}  # by size of the input: stride, anchors of each cell
SAME_FACE = 0.3  # detections are of one face from this overlap on


def make_anchors(size):
    """The centres of the anchors, in pixels of the input: those of a single-shot detector."""
    anchors = []
    for stride, number in GRIDS[size]:
        y, x = np.indices((size // stride, size // stride)) * stride + stride / 2
        anchors.append(np.repeat(np.stack([x, y], axis=-1).reshape(-1, 2), number, axis=0))
    return np.concatenate(anchors)


def overlap(points, others):
    """The area of the intersection of boxes as a share of the area of their union."""
    low, high = np.maximum(points[0], others[:, 0]), np.minimum(points[1], others[:, 1])
    shared = np.prod(np.maximum(high - low, 0), axis=-1)
    areas = np.prod(others[:, 1] - others[:, 0], axis=-1) + np.prod(points[1] - points[0])
    return shared / (areas - shared)


def suppress_weighted(points, probabilities):
    """Replaces faces that overlap by their averages, weighted with the probabilities."""
    order = np.argsort(-probabilities, kind="stable")
    while len(order):
        best = order[0]
        same = overlap(points[best], points[order]) > SAME_FACE
        same[0] = True
        merged = order[same]
        yield np.average(points[merged], axis=0, weights=probabilities[merged]), probabilities[best]
        order = order[~same]


class Detector:
    """A network for short range, up to 2 m from the camera, or full range."""

    def __init__(self, path, precision="fp32"):
        self.session = tengine.Session(path, precision=precision)
        self.size = self.session.inputs[0].shape[1]
        self.anchors = make_anchors(self.size)

    def find(self, picture, level=0.5):
        """The points (corners of the box, key points) and the probability of each face."""
        outputs = self.session(self.session.read_pictures(np.asarray(picture), settings=SETTINGS))
        positions, logits = sorted(outputs, key=lambda output: -output.shape[2])
        probabilities = 1 / (1 + np.exp(-logits[0, :, 0].clip(-80, 80)))
        chosen = probabilities >= level
        # An anchor has centre, size and key points; positions are relative to the anchor.
        values = positions[0, chosen].reshape(-1, 8, 2)
        points = self.anchors[chosen, None] + np.concatenate(
            [values[:, :1] - values[:, 1:2] / 2, values[:, :1] + values[:, 1:2] / 2, values[:, 2:]],
            axis=1)
        scale = self.size / max(picture.size)
        bars = (self.size - np.array(picture.size) * scale) / 2
        return list(suppress_weighted((points - bars) / scale, probabilities[chosen]))


def draw(picture, faces, path):
    """Writes the picture with boxes and key points."""
    pen = ImageDraw.Draw(picture)
    for points, _ in faces:
        pen.rectangle([*points[0], *points[1]], outline=(255, 0, 0), width=2)
        for x, y in points[2:]:
            pen.rectangle([x - 2, y - 2, x + 2, y + 2], fill=(0, 255, 0))
    picture.save(path)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", help="file of MediaPipe's face detection")
    parser.add_argument("picture")
    parser.add_argument("-o", metavar="PNG", help="write the picture with boxes and key points")
    parser.add_argument("-l", metavar="LEVEL", type=float, default=0.5,
                        help="the probability from which on there is a face")
    parser.add_argument("-p", metavar="PRECISION", default="fp32")
    options = parser.parse_args()
    with Image.open(options.picture) as file:
        picture = ImageOps.exif_transpose(file).convert("RGB")
    faces = Detector(options.network, options.p).find(picture, options.l)
    for points, probability in faces:
        corners = [f"{x:.0f},{y:.0f}" for x, y in points]
        print(*corners[:2], f"{probability:.3f}", *corners[2:])
    if options.o:
        draw(picture, faces, options.o)


if __name__ == "__main__":
    main()
