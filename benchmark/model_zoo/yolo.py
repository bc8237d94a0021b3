# SPDX-License-Identifier: Apache-2.0
# The model zoo's YOLO detectors of the smallest size, as Ultralytics exports them with free sizes: with
# and without the selection of boxes in the graph.
import torch
import torchvision
from torch import nn

from zoo import describe, export, numbers, settle

CLASSES = 80
STRIDES = (8, 16, 32)


def conv(inputs, outputs, kernel=1, stride=1, groups=1, activation=nn.SiLU):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, 0.001), activation())


class Bottleneck(nn.Module):
    def __init__(self, inputs, outputs, shortcut=True, kernels=(3, 3), ratio=0.5):
        super().__init__()
        inner = int(outputs * ratio)
        self.layers = nn.Sequential(conv(inputs, inner, kernels[0]),
                                    conv(inner, outputs, kernels[1]))
        self.add = shortcut and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.add else self.layers(x)


class C3(nn.Module):
    def __init__(self, inputs, outputs, depth=1, shortcut=True, kernels=(1, 3)):
        super().__init__()
        inner = outputs // 2
        self.first, self.second = conv(inputs, inner), conv(inputs, inner)
        self.last = conv(2 * inner, outputs)
        self.blocks = nn.Sequential(*(Bottleneck(inner, inner, shortcut, kernels, 1.0)
                                      for _ in range(depth)))

    def forward(self, x):
        return self.last(torch.cat((self.blocks(self.first(x)), self.second(x)), 1))


class C2f(nn.Module):
    """Also C3k2, which has C3 blocks inside, when inner_c3 is true."""

    def __init__(self, inputs, outputs, depth=1, shortcut=True, inner_c3=False, ratio=0.5):
        super().__init__()
        inner = int(outputs * ratio)
        self.first = conv(inputs, 2 * inner)
        self.last = conv((2 + depth) * inner, outputs)
        make = (lambda: C3(inner, inner, 2, shortcut, (3, 3))) if inner_c3 else (
            lambda: Bottleneck(inner, inner, shortcut))
        self.blocks = nn.ModuleList(make() for _ in range(depth))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Sppf(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.last = conv(channels, channels // 2), conv(2 * channels, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Attention(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads, self.depth = heads, channels // heads
        self.key_depth = self.depth // 2
        self.qkv = conv(channels, channels + 2 * heads * self.key_depth, activation=nn.Identity)
        self.position = conv(channels, channels, 3, groups=channels, activation=nn.Identity)
        self.last = conv(channels, channels, activation=nn.Identity)

    def forward(self, x):
        batch, channels, height, width = x.shape
        query, key, value = self.qkv(x).view(
            batch, self.heads, 2 * self.key_depth + self.depth, height * width).split(
                [self.key_depth, self.key_depth, self.depth], 2)
        weights = (query.transpose(-2, -1) @ key * self.key_depth ** -0.5).softmax(-1)
        x = (value @ weights.transpose(-2, -1)).view(batch, channels, height, width)
        return self.last(x + self.position(value.reshape(batch, channels, height, width)))


class C2psa(nn.Module):
    def __init__(self, channels):
        super().__init__()
        inner = channels // 2
        self.first, self.last = conv(channels, channels), conv(channels, channels)
        self.attention = Attention(inner, inner // 64)
        self.inner = nn.Sequential(conv(inner, 2 * inner),
                                   conv(2 * inner, inner, activation=nn.Identity))

    def forward(self, x):
        kept, x = self.first(x).chunk(2, 1)
        x = x + self.attention(x)
        return self.last(torch.cat((kept, x + self.inner(x)), 1))


class Network(nn.Module):
    """The backbone and the pyramid that versions 8 and 11 share; `block` makes each stage's block."""

    def __init__(self, version):
        super().__init__()
        if version == 8:
            def block(a, b, depth, shortcut, stage):
                return C2f(a, b, depth, shortcut)
            widths, depths = (32, 64, 128, 256), (1, 2, 2, 1)
        else:
            def block(a, b, depth, shortcut, stage):
                return C2f(a, b, 1, True, stage >= 2, 0.25 if shortcut and stage < 2 else 0.5)
            widths, depths = (64, 128, 128, 256), (1, 1, 1, 1)
        sizes = (32, 64, 128, 256)
        self.stem = conv(3, 16, 3, 2)
        stages, inputs = [], 16
        for i, (size, width) in enumerate(zip(sizes, widths)):
            stages.append(nn.Sequential(conv(inputs, size, 3, 2),
                                        block(size, width, depths[i], True, i)))
            inputs = width
        self.stages = nn.ModuleList(stages)
        tail = [Sppf(256)] + ([C2psa(256)] if version > 8 else [])
        self.tail = nn.Sequential(*tail)
        self.up = nn.Upsample(scale_factor=2)
        self.middle = block(256 + widths[2], 128, 1, False, 1)
        self.fine = block(128 + widths[1], 64, 1, False, 1)
        self.fine_down, self.middle_down = conv(64, 64, 3, 2), conv(128, 128, 3, 2)
        self.middle_last = block(64 + 128, 128, 1, False, 1)
        self.coarse_last = block(128 + 256, 256, 1, False, 3)

    def forward(self, x):
        x = self.stages[0](self.stem(x))
        fine = self.stages[1](x)
        middle = self.stages[2](fine)
        coarse = self.tail(self.stages[3](middle))
        middle = self.middle(torch.cat((self.up(coarse), middle), 1))
        fine = self.fine(torch.cat((self.up(middle), fine), 1))
        middle = self.middle_last(torch.cat((self.fine_down(fine), middle), 1))
        return fine, middle, self.coarse_last(torch.cat((self.middle_down(middle), coarse), 1))


def make_anchors(levels):
    """Centres of all cells, in cells, and their strides."""
    points, strides = [], []
    for level, stride in zip(levels, STRIDES):
        height, width = level.shape[2:]
        y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
        points.append(torch.stack((x, y), -1).view(-1, 2))
        strides.append(torch.full((height * width, 1), float(stride)))
    return torch.cat(points).transpose(0, 1), torch.cat(strides).transpose(0, 1)


class Detect(nn.Module):
    """The head of versions 8, 11 and 26: distances to the four sides, with bins where there are any."""

    def __init__(self, version, channels=(64, 128, 256)):
        super().__init__()
        self.bins = 1 if version == 26 else 16
        box, inner = max(16, channels[0] // 4, 4 * self.bins), max(channels[0], min(CLASSES, 100))
        self.box = nn.ModuleList(nn.Sequential(
            conv(c, box, 3), conv(box, box, 3), nn.Conv2d(box, 4 * self.bins, 1))
            for c in channels)
        self.score = nn.ModuleList(nn.Sequential(
            *(nn.Sequential(conv(c, inner, 3), conv(inner, inner, 3)) if version == 8 else
              nn.Sequential(conv(c, c, 3, groups=c), conv(c, inner), conv(inner, inner, 3,
                            groups=inner), conv(inner, inner)),
              nn.Conv2d(inner, CLASSES, 1)))
            for c in channels)
        self.mean = nn.Conv2d(self.bins, 1, 1, bias=False)
        self.mean.weight.data[:] = torch.arange(self.bins, dtype=torch.float).view(1, -1, 1, 1)

    def forward(self, levels):
        x = torch.cat([torch.cat((box(level), score(level)), 1).flatten(2)
                       for level, box, score in zip(levels, self.box, self.score)], 2)
        points, strides = make_anchors(levels)
        box, score = x.split((4 * self.bins, CLASSES), 1)
        if self.bins > 1:
            box = box.view(box.size(0), 4, self.bins, -1).transpose(2, 1).softmax(1)
            box = self.mean(box).view(box.size(0), 4, -1)
        near, far = box.chunk(2, 1)
        low, high = points.unsqueeze(0) - near, points.unsqueeze(0) + far
        return low * strides, high * strides, score.sigmoid()


def select(boxes, scores, thresholds=(0.25, 0.6), most=20):
    """Rows of corners, score and class of one picture: Ultralytics's export with nms=True."""
    score, kind = scores.max(1)
    kept = (score > thresholds[0]).nonzero().squeeze(1)
    boxes, score, kind = boxes[kept], score[kept], kind[kept].float()
    kept = torchvision.ops.nms(boxes + kind.unsqueeze(1) * 4096, score, thresholds[1])[:most]
    return torch.cat((boxes[kept], score[kept].unsqueeze(1), kind[kept].unsqueeze(1)), 1)


class Detector(nn.Module):
    def __init__(self, version, with_nms=False):
        super().__init__()
        self.network, self.head = Network(version), Detect(version)
        self.finish = {True: self.finish_nms, False: self.finish_plain}[with_nms]
        if version == 26:
            self.finish = self.finish_top

    @staticmethod
    def finish_plain(low, high, scores):
        return torch.cat(((low + high) / 2, high - low, scores), 1)

    @staticmethod
    def finish_nms(low, high, scores):
        return select(torch.cat((low, high), 1)[0].transpose(0, 1), scores[0].transpose(0, 1))

    @staticmethod
    def finish_top(low, high, scores, most=20):
        boxes, scores = torch.cat((low, high), 1).transpose(1, 2), scores.transpose(1, 2)
        index = scores.amax(-1).topk(most)[1].unsqueeze(-1)
        boxes = boxes.gather(1, index.repeat(1, 1, 4))
        scores, index = scores.gather(1, index.repeat(1, 1, CLASSES)).flatten(1).topk(most)
        boxes = boxes.gather(1, (index // CLASSES).unsqueeze(-1).repeat(1, 1, 4))
        return torch.cat((boxes, scores.unsqueeze(-1), (index % CLASSES).unsqueeze(-1).float()), -1)

    def forward(self, x):
        return self.finish(*self.head(self.network(x)))


class Version5(nn.Module):
    """With anchors: G. Jocher, 2020."""
    ANCHORS = (((10, 13), (16, 30), (33, 23)), ((30, 61), (62, 45), (59, 119)),
               ((116, 90), (156, 198), (373, 326)))

    def __init__(self, with_nms=False):
        super().__init__()
        self.with_nms = with_nms
        self.first = nn.Sequential(conv(3, 16, 6, 2), conv(16, 32, 3, 2), C3(32, 32, 1),
                                   conv(32, 64, 3, 2), C3(64, 64, 2))
        self.first[0][0].padding = (2, 2)
        self.second = nn.Sequential(conv(64, 128, 3, 2), C3(128, 128, 3))
        self.third = nn.Sequential(conv(128, 256, 3, 2), C3(256, 256, 1), Sppf(256),
                                   conv(256, 128))
        self.up = nn.Upsample(scale_factor=2)
        self.middle = nn.Sequential(C3(256, 128, 1, False), conv(128, 64))
        self.fine = C3(128, 64, 1, False)
        self.fine_down, self.middle_down = conv(64, 64, 3, 2), conv(128, 128, 3, 2)
        self.middle_last, self.coarse_last = C3(128, 128, 1, False), C3(256, 256, 1, False)
        self.head = nn.ModuleList(nn.Conv2d(c, 3 * (CLASSES + 5), 1) for c in (64, 128, 256))

    def levels(self, x):
        fine = self.first(x)
        middle = self.second(fine)
        coarse = self.third(middle)
        middle = self.middle(torch.cat((self.up(coarse), middle), 1))
        fine = self.fine(torch.cat((self.up(middle), fine), 1))
        last = self.middle_last(torch.cat((self.fine_down(fine), middle), 1))
        return fine, last, self.coarse_last(torch.cat((self.middle_down(last), coarse), 1))

    def forward(self, x):
        found = []
        for level, head, stride, sizes in zip(self.levels(x), self.head, STRIDES, self.ANCHORS):
            batch, _, height, width = level.shape
            y = head(level).view(batch, 3, CLASSES + 5, height, width).permute(0, 1, 3, 4, 2)
            rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            grid = torch.stack((columns, rows), 2).expand(1, 3, height, width, 2).float() - 0.5
            sizes = torch.tensor(sizes, dtype=torch.float).view(1, 3, 1, 1, 2)
            centre, size, rest = y.contiguous().sigmoid().split((2, 2, CLASSES + 1), 4)
            y = torch.cat(((centre * 2 + grid) * stride, (size * 2) ** 2 * sizes, rest), 4)
            found.append(y.view(batch, 3 * height * width, CLASSES + 5))
        found = torch.cat(found, 1)
        if not self.with_nms:
            return found
        centre, size, sure, scores = found[0].split((2, 2, 1, CLASSES), 1)
        return select(torch.cat((centre - size / 2, centre + size / 2), 1), sure * scores)


def build(path, network, with_nms):
    axes = {"images": {0: "batch", 2: "height", 3: "width"}, "output0": {0: "batch", 1: "anchors"}}
    if with_nms:
        axes = {"images": {2: "height", 3: "width"}, "output0": {0: "boxes"}}
    heads = network.head if isinstance(network, Version5) else [
        layers[-1] for branch in (network.head.box, network.head.score) for layers in branch]
    settle(network, [torch.rand(1, 3, 320, 320)], heads)
    export(network, path, {"images": torch.zeros(1, 3, 64, 96)}, ["output0"], axes)
    describe(path, {"images": numbers("float32", (1, 3, 320, 320), 0, 1)},
             {"images": numbers("float32", (1 if with_nms else 2, 3, 192, 256), 0, 1)})


def build_yolov5n(path):
    build(path, Version5(), False)


def build_yolov5n_nms(path):
    build(path, Version5(True), True)


def build_yolov8n(path):
    build(path, Detector(8), False)


def build_yolov8n_nms(path):
    build(path, Detector(8, True), True)


def build_yolo11n(path):
    build(path, Detector(11), False)


def build_yolo11n_nms(path):
    build(path, Detector(11, True), True)


def build_yolo26n(path):
    build(path, Detector(26), False)
