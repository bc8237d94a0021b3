# SPDX-License-Identifier: Apache-2.0
"""Reads the text of a photo, with the three networks of PP-OCRv4 (docs/ocr.md):

    python3 ocr.py ~/.cache/tengine/networks/ocr PHOTO [-o BOXES.png]

It prints a line for each line of text: the corners of its box in the order of reading, the
confidence, and the text. examples/ocr is the same program in C.
"""
import argparse
import math
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageOps

import tengine

# From bytes to values, in lists for red, green and blue. The networks take blue first, with
# ImageNet's mean and deviation of red.
DETECTION = {"format": "bgr", "mean": [103.53, 116.28, 123.675],
             "scale": [1 / 57.375, 1 / 57.12, 1 / 58.395]}
LINE = {"format": "bgr", "mean": 127.5, "scale": 1 / 127.5}

LONGEST_SIDE = 960        # of the picture that the detection sees
TEXT_PIXEL = 0.3          # a pixel belongs to text above this probability
TEXT_REGION = 0.6         # and a region if this is its average
UNCLIP = 1.5              # regions are shrunken text: they grow by this share of area / perimeter
SMALLEST_SIDE = 3         # of a region, in pixels of the detection
UPSIDE_DOWN = 0.9         # the direction is believed above this probability
SPACE = 0.01              # a space has at least this probability
CONFIDENCE = 0.5          # a text is printed from this on
LINE_HEIGHT = 48          # of the pictures of lines
DIRECTION_WIDTH = 192
SHORTEST_LINE = 320       # pixels; widths are multiples of 32, so that few shapes are prepared


def find_regions(is_text):
    """The connected regions of a mask (8 neighbours): lists of runs (row, begin, end)."""
    parents, runs, above = [], [], []

    def root(index):
        while parents[index] != index:
            index = parents[index]
        return index

    for row, pixels in enumerate(is_text):
        edges = np.flatnonzero(np.diff(pixels, prepend=False, append=False))
        here = []
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
            index = len(runs)
            runs.append((row, begin, end))
            parents.append(index)
            here.append(index)
            for other in above:
                if runs[other][1] <= end and begin <= runs[other][2]:
                    parents[root(other)] = root(index)
        above = here
    regions = {}
    for index, run in enumerate(runs):
        regions.setdefault(root(index), []).append(run)
    return list(regions.values())


def convex_hull(points):
    """The corners of the convex hull, in order: Andrew's monotone chain."""
    points = sorted(set(points))
    hull = []
    for sequence in (points, reversed(points)):
        start = len(hull)
        for x, y in sequence:
            while len(hull) >= start + 2:
                (ax, ay), (bx, by) = hull[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                hull.pop()
            hull.append((x, y))
        hull.pop()
    return np.array(hull, float)


def smallest_rectangle(hull):
    """Centre, unit vector of the side that is more horizontal, width, height. A side of the
    smallest rectangle lies on a side of the hull."""
    best = None
    for side in np.roll(hull, -1, axis=0) - hull:
        x, y = side / np.hypot(*side)
        if abs(y) > abs(x):
            x, y = y, -x
        axes = np.array([[x, y], [-y, x]]) * (1 if x > 0 else -1)
        low, high = (hull @ axes.T).min(axis=0), (hull @ axes.T).max(axis=0)
        width, height = high - low
        if best is None or width * height < best[2] * best[3]:
            best = ((low + high) / 2 @ axes, axes[0], width, height)
    return best


def corners_of(centre, axis, width, height):
    """Corners in the order of reading, from the top left. Text in a tall box reads downwards."""
    across = np.array([-axis[1], axis[0]])
    corners = np.array([centre + sx * width / 2 * axis + sy * height / 2 * across
                        for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    return np.roll(corners, -1, axis=0) if height >= 1.5 * width else corners


def detect(session, picture):
    """The boxes of the lines of text, from the top to the bottom."""
    factor = min(1, LONGEST_SIDE / max(picture.size))
    width, height = (max(32, round(side * factor / 32) * 32) for side in picture.size)
    values = session.read_pictures(np.asarray(picture),
                                   settings={**DETECTION, "size": [height, width]})
    probability = session(values)[0, 0]
    boxes = []
    for runs in find_regions(probability > TEXT_PIXEL):
        score = np.concatenate([probability[row, begin:end] for row, begin, end in runs]).mean()
        points = [(x, y) for row, begin, end in runs for x in (begin, end) for y in (row, row + 1)]
        centre, axis, w, h = smallest_rectangle(convex_hull(points))
        if score < TEXT_REGION or min(w, h) < SMALLEST_SIDE:
            continue
        grown = 2 * UNCLIP * w * h / (2 * (w + h))
        corners = corners_of(centre, axis, w + grown, h + grown)
        corners = corners * [picture.width / width, picture.height / height]
        boxes.append(np.clip(corners, 0, picture.size))
    return sort_boxes(boxes)


def sort_boxes(boxes):
    """In the order of reading: boxes whose tops differ by less than half a line are a row."""
    rows = []
    for box in sorted(boxes, key=lambda box: box[:, 1].min()):
        if rows and box[:, 1].min() - rows[-1][0][:, 1].min() < np.ptp(rows[-1][0][:, 1]) / 2:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in sorted(row, key=lambda box: box[:, 0].min())]


def cut(picture, box):
    """The picture of a line, upright."""
    width = max(1, round(math.dist(box[0], box[1])))
    height = max(1, round(math.dist(box[0], box[3])))
    right, down = (box[1] - box[0]) / width, (box[3] - box[0]) / height
    return picture.transform((width, height), Image.Transform.AFFINE,
                             (right[0], down[0], box[0][0], right[1], down[1], box[0][1]),
                             Image.Resampling.BILINEAR)


def line_values(session, line, width):
    """An input of this width: the line, and zeros on its right."""
    wanted = min(width, max(1, round(LINE_HEIGHT * line.width / line.height)))
    values = np.zeros((1, 3, LINE_HEIGHT, width), np.float32)
    values[..., :wanted] = session.read_pictures(
        np.asarray(line), settings={**LINE, "size": [LINE_HEIGHT, wanted]})
    return values


def is_upside_down(session, line):
    """Whether the classifier of directions is sure of it."""
    return session(line_values(session, line, DIRECTION_WIDTH))[0, 1] > UPSIDE_DOWN


def recognition_values(session, line):
    """The input of the recognition for a line."""
    width = max(SHORTEST_LINE, LINE_HEIGHT * line.width / line.height)
    return line_values(session, line, math.ceil(width / 32) * 32)


def decode(scores, characters):
    """The text and its confidence: the most probable class of each column, without repetitions and
    blanks (class 0), as CTC's greedy decoding. The network, trained on Chinese, sees spaces but
    prefers the blank: a small probability of the last class between two characters is a space."""
    classes = scores[:, :-1].argmax(axis=1)
    columns = np.flatnonzero((classes != 0) & (classes != np.append(0, classes[:-1])))
    text = ""
    for column, before in zip(columns, np.append(-1, columns[:-1])):
        if text and scores[before:column, -1].max() >= SPACE:
            text += " "
        text += characters[classes[column]]
    return text, float(scores[columns, classes[columns]].mean()) if text else 0.0


class Reader:
    """The three networks of a folder; the recognition may be another one, of another precision."""

    def __init__(self, folder, recognition=None, precision="fp32"):
        folder = pathlib.Path(folder)
        options = {"run.shape_cache": 16}  # lines have many widths
        self.detection = tengine.Session(folder / "ch_PP-OCRv4_det_infer.onnx")
        self.direction = tengine.Session(folder / "ch_ppocr_mobile_v2.0_cls_infer.onnx")
        self.recognition = tengine.Session(recognition or folder / "ch_PP-OCRv4_rec_infer.onnx",
                                           precision=precision, options=options)
        keys = (folder / "ppocr_keys_v1.txt").read_text(encoding="utf-8").split("\n")
        self.characters = ["", *keys]  # the blank is first; the space, last, has no key

    def find(self, picture):
        """The box and the picture of each line, both from where the text begins."""
        for box in detect(self.detection, picture):
            line = cut(picture, box)
            if is_upside_down(self.direction, line):
                box = np.roll(box, 2, axis=0)
                line = cut(picture, box)
            yield box, line

    def read(self, picture):
        """The box, the confidence and the text of each line."""
        for box, line in self.find(picture):
            scores = self.recognition(recognition_values(self.recognition, line))[0]
            text, confidence = decode(scores, self.characters)
            if confidence >= CONFIDENCE:
                yield box, confidence, text

    def save_samples(self, picture, folder):
        """Writes the inputs of the recognition, for `tengine quantize --data`."""
        pathlib.Path(folder).mkdir(exist_ok=True)
        for index, (_, line) in enumerate(self.find(picture)):
            np.save(f"{folder}/{index:03}.npy", recognition_values(self.recognition, line))


def draw(picture, boxes, path):
    """Writes the picture with the boxes."""
    pen = ImageDraw.Draw(picture)
    for box in boxes:
        corners = [tuple(corner) for corner in box]
        pen.line([*corners, corners[0]], fill=(255, 0, 0), width=2)
    picture.save(path)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", help="folder of PP-OCRv4's files")
    parser.add_argument("picture")
    parser.add_argument("-o", metavar="PNG", help="write the picture with the boxes")
    parser.add_argument("-r", metavar="MODEL", help="another network for the recognition")
    parser.add_argument("-p", metavar="PRECISION", default="fp32", help="of the recognition")
    parser.add_argument("-s", metavar="FOLDER", help="write samples for `tengine quantize`, only")
    options = parser.parse_args()
    with Image.open(options.picture) as file:
        picture = ImageOps.exif_transpose(file).convert("RGB")
    reader = Reader(options.networks, options.r, options.p)
    if options.s:
        reader.save_samples(picture, options.s)
        return
    lines = list(reader.read(picture))
    for box, confidence, text in lines:
        print(*(f"{x:.0f},{y:.0f}" for x, y in box), f"{confidence:.3f}", text)
    if options.o:
        draw(picture, [box for box, _, _ in lines], options.o)


if __name__ == "__main__":
    main()
