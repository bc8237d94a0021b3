# SPDX-License-Identifier: Apache-2.0
# The model zoo's RT-DETR (Y. Zhao et al., 2024) for images of one size, as it is exported: a hybrid
# encoder, the choice of queries by TopK, and decoder layers with deformable attention by
# GridSample.
import torch
from torch import nn
from torch.nn import functional

from yolo import C3, conv
from zoo import describe, export, numbers, settle

CLASSES = 80
SIZE, STRIDES = 256, (8, 16, 32)


class SelfAttention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, positions):
        query, key, value = (self.split(each) for each in (
            self.query(x + positions), self.key(x + positions), self.value(x)))
        weights = (query @ key.transpose(-1, -2) * query.size(-1) ** -0.5).softmax(-1)
        y = (weights @ value).transpose(1, 2)
        return self.output(y.reshape(x.shape))


class Forward(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.first, self.last = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.activation, self.norm = activation, nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.last(self.activation(self.first(x))))


def wave_positions(size, width):
    """Sines and cosines of both coordinates, a row for each place."""
    rates = 10000.0 ** (-torch.arange(width // 4) / (width // 4))
    y, x = torch.meshgrid(torch.arange(size).float(), torch.arange(size).float(), indexing="ij")
    angles = [each.flatten()[:, None] * rates for each in (x, y)]
    return torch.cat([wave(each) for each in angles for wave in (torch.sin, torch.cos)], 1)[None]


class Encoder(nn.Module):
    """Attention within the coarsest level, then a pyramid up and down."""

    def __init__(self, width):
        super().__init__()
        self.attention, self.norm = SelfAttention(width), nn.LayerNorm(width)
        self.forwarded = Forward(width, functional.gelu)
        self.register_buffer("positions", wave_positions(SIZE // 32, width))
        self.lateral = nn.ModuleList(conv(width, width) for _ in range(2))
        self.up = nn.ModuleList(C3(2 * width, width) for _ in range(2))
        self.down = nn.ModuleList(conv(width, width, 3, 2) for _ in range(2))
        self.last = nn.ModuleList(C3(2 * width, width) for _ in range(2))

    def forward(self, fine, middle, coarse):
        x = coarse.flatten(2).transpose(1, 2)
        x = self.forwarded(self.norm(x + self.attention(x, self.positions)))
        coarse = self.lateral[0](x.transpose(1, 2).reshape(coarse.shape))
        x = functional.interpolate(coarse, scale_factor=2.0)
        middle = self.lateral[1](self.up[0](torch.cat((x, middle), 1)))
        fine = self.up[1](torch.cat((functional.interpolate(middle, scale_factor=2.0), fine), 1))
        middle = self.last[0](torch.cat((self.down[0](fine), middle), 1))
        return fine, middle, self.last[1](torch.cat((self.down[1](middle), coarse), 1))


class DeformableAttention(nn.Module):
    """X. Zhu et al., 2021: each head samples a few points of each level."""

    def __init__(self, width, heads=4, points=4):
        super().__init__()
        self.heads, self.points = heads, points
        self.offsets = nn.Linear(width, heads * 3 * points * 2)
        self.weights = nn.Linear(width, heads * 3 * points)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, query, boxes, memory):
        batch, count, width = query.shape
        heads, points = self.heads, self.points
        offsets = self.offsets(query).view(batch, count, heads, 3, points, 2)
        weights = self.weights(query).view(batch, count, heads, 3 * points).softmax(-1)
        boxes = boxes[:, :, None, None, None]
        places = 2 * (boxes[..., :2] + offsets / points * boxes[..., 2:] * 0.5) - 1
        value = self.value(memory).view(batch, -1, heads, width // heads)
        sampled = []
        for i, part in enumerate(value.split([(SIZE // each) ** 2 for each in STRIDES], 1)):
            side = SIZE // STRIDES[i]
            part = part.flatten(2).transpose(1, 2).reshape(batch * heads, -1, side, side)
            grid = places[:, :, :, i].transpose(1, 2).flatten(0, 1)
            sampled.append(functional.grid_sample(part, grid, align_corners=False))
        weights = weights.transpose(1, 2).reshape(batch * heads, 1, count, 3 * points)
        y = (torch.cat(sampled, -1) * weights).sum(-1)
        return self.output(y.view(batch, width, count).transpose(1, 2))


class DecoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention, self.norm = SelfAttention(width), nn.LayerNorm(width)
        self.cross, self.cross_norm = DeformableAttention(width), nn.LayerNorm(width)
        self.forwarded = Forward(width, functional.relu)

    def forward(self, x, positions, boxes, memory):
        x = self.norm(x + self.attention(x, positions))
        return self.forwarded(self.cross_norm(x + self.cross(x + positions, boxes, memory)))


def layers(*widths):
    steps = [each for a, b in zip(widths, widths[1:]) for each in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*steps[:-1])


def logit(x):
    x = x.clamp(1e-5, 1 - 1e-5)
    return torch.log(x / (1 - x))


class RtDetr(nn.Module):
    def __init__(self, width=96, depth=3, queries=50):
        super().__init__()
        self.queries = queries
        self.stem = nn.Sequential(conv(3, 16, 3, 2, activation=nn.ReLU),
                                  conv(16, 32, 3, 1, activation=nn.ReLU), nn.MaxPool2d(3, 2, 1))
        self.stages = nn.ModuleList(nn.Sequential(conv(a, b, 3, 2, activation=nn.ReLU), C3(b, b))
                                    for a, b in ((32, 64), (64, 128), (128, 256)))
        self.project = nn.ModuleList(conv(c, width, activation=nn.Identity)
                                     for c in (64, 128, 256))
        self.encoder = Encoder(width)
        self.memory = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width))
        self.score, self.box = nn.Linear(width, CLASSES), layers(width, width, width, 4)
        self.position = layers(4, 2 * width, width)
        self.layers = nn.ModuleList(DecoderLayer(width) for _ in range(depth))
        self.boxes = nn.ModuleList(layers(width, width, width, 4) for _ in range(depth))
        self.last = nn.Linear(width, CLASSES)
        self.register_buffer("anchors", self.make_anchors())

    @staticmethod
    def make_anchors():
        parts = []
        for i, stride in enumerate(STRIDES):
            side = SIZE // stride
            places = (torch.arange(side) + 0.5) / side
            y, x = torch.meshgrid(places, places, indexing="ij")
            edge = torch.full_like(x, 0.05 * 2 ** i)
            parts.append(torch.stack((x, y, edge, edge), -1).view(1, -1, 4))
        return logit(torch.cat(parts, 1))

    def forward(self, images):
        x, levels = self.stem(images), []
        for stage, project in zip(self.stages, self.project):
            x = stage(x)
            levels.append(project(x))
        memory = torch.cat([each.flatten(2).transpose(1, 2) for each in self.encoder(*levels)], 1)
        found = self.memory(memory)
        _, index = self.score(found).max(-1)[0].topk(self.queries, 1)
        index = index.unsqueeze(-1)
        boxes = (self.box(found) + self.anchors).gather(1, index.repeat(1, 1, 4)).sigmoid()
        x = found.gather(1, index.repeat(1, 1, found.size(-1)))
        for layer, box in zip(self.layers, self.boxes):
            x = layer(x, self.position(boxes), boxes, memory)
            boxes = (box(x) + logit(boxes)).sigmoid()
        return boxes, self.last(x).sigmoid()


def build_rt_detr(path):
    network = RtDetr()
    settle(network, [torch.rand(1, 3, SIZE, SIZE)], [network.score, network.last])
    export(network, path, {"images": torch.zeros(2, 3, SIZE, SIZE)}, ["pred_boxes", "scores"],
           {name: {0: "batch"} for name in ("images", "pred_boxes", "scores")})
    describe(path, *({"images": numbers("float32", (batch, 3, SIZE, SIZE), 0, 1)}
                     for batch in (1, 2)))
