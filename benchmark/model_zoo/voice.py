# SPDX-License-Identifier: Apache-2.0
# The model zoo's speech synthesis: VITS as Piper exports it. Its output is as long as the durations
# that it predicts, so that every later shape depends on data.
import math

import torch
from torch import nn
from torch.nn import functional

from zoo import describe, export, numbers

WIDTH, HIDDEN, PHONEMES = 96, 192, 128


def sequence_mask(lengths, longest):
    return torch.arange(longest, dtype=lengths.dtype)[None] < lengths[:, None]


class RelativeAttention(nn.Module):
    """P. Shaw et al., 2018: keys and values get a term for each of nine distances."""

    def __init__(self, channels, heads=2, window=4):
        super().__init__()
        self.heads, self.window = heads, window
        self.query, self.key, self.value, self.output = (nn.Conv1d(channels, channels, 1)
                                                         for _ in range(4))
        depth = channels // heads
        self.near_keys = nn.Parameter(torch.randn(1, 2 * window + 1, depth) * depth ** -0.5)
        self.near_values = nn.Parameter(torch.randn(1, 2 * window + 1, depth) * depth ** -0.5)

    def forward(self, x, mask):
        batch, channels, length = x.size()
        query, key, value = (f(x).view(batch, self.heads, -1, length).transpose(2, 3)
                             for f in (self.query, self.key, self.value))
        query = query / math.sqrt(channels // self.heads)
        near = self.used(self.near_keys, length).unsqueeze(0)
        scores = query @ key.transpose(-2, -1) + self.to_absolute(query @ near.transpose(-2, -1))
        weights = torch.softmax(scores.masked_fill(mask == 0, -1e4), -1)
        near = self.used(self.near_values, length).unsqueeze(0)
        result = weights @ value + self.to_relative(weights) @ near
        return self.output(result.transpose(2, 3).contiguous().view(batch, channels, length))

    def used(self, terms, length):
        """The terms of as many distances as `length` places have."""
        padding = max(length - (self.window + 1), 0)
        begin = max((self.window + 1) - length, 0)
        padded = functional.pad(terms, (0, 0, padding, padding))
        return padded[:, begin:begin + 2 * length - 1]

    @staticmethod
    def to_absolute(x):
        batch, heads, length, _ = x.size()
        flat = functional.pad(x, (0, 1)).view(batch, heads, length * 2 * length)
        flat = functional.pad(flat, (0, length - 1))
        return flat.view(batch, heads, length + 1, 2 * length - 1)[:, :, :length, length - 1:]

    @staticmethod
    def to_relative(x):
        batch, heads, length, _ = x.size()
        flat = functional.pad(x, (0, length - 1))
        flat = flat.view(batch, heads, length ** 2 + length * (length - 1))
        flat = functional.pad(flat, (length, 0))
        return flat.view(batch, heads, length, 2 * length)[:, :, :, 1:]


class ChannelNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x):
        return self.norm(x.transpose(1, -1)).transpose(1, -1)


class TextEncoder(nn.Module):
    def __init__(self, layers=3, kernel=3):
        super().__init__()
        self.words = nn.Embedding(PHONEMES, WIDTH)
        self.attentions = nn.ModuleList(RelativeAttention(WIDTH) for _ in range(layers))
        self.wide, self.narrow = (nn.ModuleList(nn.Conv1d(a, b, kernel, padding=kernel // 2)
                                                for _ in range(layers))
                                  for a, b in ((WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)))
        self.norms = nn.ModuleList(ChannelNorm(WIDTH) for _ in range(2 * layers))
        self.project = nn.Conv1d(WIDTH, 2 * HIDDEN, 1)

    def forward(self, ids, lengths):
        x = (self.words(ids) * math.sqrt(WIDTH)).transpose(1, -1)
        mask = sequence_mask(lengths, x.size(2)).unsqueeze(1).to(x.dtype)
        both = mask.unsqueeze(2) * mask.unsqueeze(-1)
        x = x * mask
        for i, attention in enumerate(self.attentions):
            x = self.norms[2 * i](x + attention(x, both))
            y = self.narrow[i](torch.relu(self.wide[i](x * mask)) * mask) * mask
            x = self.norms[2 * i + 1](x + y)
        mean, deviation = (self.project(x * mask) * mask).chunk(2, dim=1)
        return x * mask, mean, deviation, mask


class SeparableConvs(nn.Module):
    def __init__(self, channels, layers=3, kernel=3):
        super().__init__()
        self.far = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel, groups=channels, dilation=kernel ** i,
                      padding=(kernel - 1) * kernel ** i // 2) for i in range(layers))
        self.points = nn.ModuleList(nn.Conv1d(channels, channels, 1) for _ in range(layers))
        self.norms = nn.ModuleList(ChannelNorm(channels) for _ in range(2 * layers))

    def forward(self, x, mask, condition=None):
        x = x if condition is None else x + condition
        for i, (far, point) in enumerate(zip(self.far, self.points)):
            y = functional.gelu(self.norms[2 * i](far(x * mask)))
            x = x + functional.gelu(self.norms[2 * i + 1](point(y)))
        return x * mask


def spline(inputs, widths, heights, slopes, bound, smallest=1e-3):
    """C. Durkan et al., 2019: the inverse of a monotonic rational-quadratic spline."""
    count = widths.shape[-1]

    def knots(sizes):
        sizes = smallest + (1 - smallest * count) * torch.softmax(sizes, -1)
        ends = functional.pad(torch.cumsum(sizes, -1), (1, 0))
        ends = 2 * bound * ends - bound
        ends[..., 0], ends[..., -1] = -bound, bound
        return ends, ends[..., 1:] - ends[..., :-1]
    x_ends, widths = knots(widths)
    y_ends, heights = knots(heights)
    slopes = smallest + functional.softplus(slopes)
    edges = torch.cat([y_ends[..., :-1], y_ends[..., -1:] + 1e-6], -1)
    places = torch.sum(inputs[..., None] >= edges, -1)[..., None] - 1

    def at(values):
        return values.gather(-1, places)[..., 0]
    width, height, x_begin, y_begin = at(widths), at(heights), at(x_ends), at(y_ends)
    slope, next_slope, delta = at(slopes), at(slopes[..., 1:]), at(heights / widths)
    bend, above = slope + next_slope - 2 * delta, inputs - y_begin
    a = above * bend + height * (delta - slope)
    b = height * slope - above * bend
    c = -delta * above
    return 2 * c / (-b - torch.sqrt(b.pow(2) - 4 * a * c)) * width + x_begin


class SplineFlow(nn.Module):
    """Outside the bound it is the identity: inputs are taken apart by NonZero and GatherND and put
    together by ScatterND."""

    def __init__(self, channels, bins=10, bound=5.0):
        super().__init__()
        self.bins, self.bound, self.channels = bins, bound, channels
        self.before, self.convs = nn.Conv1d(1, channels, 1), SeparableConvs(channels)
        self.project = nn.Conv1d(channels, 3 * bins - 1, 1)

    def forward(self, x, mask, condition):
        kept, changed = x.split([1, 1], 1)
        h = self.project(self.convs(self.before(kept), mask, condition)) * mask
        h = h.reshape(kept.size(0), 1, -1, kept.size(2)).permute(0, 1, 3, 2)
        scale = math.sqrt(self.channels)
        widths, heights = h[..., :self.bins] / scale, h[..., self.bins:2 * self.bins] / scale
        slopes = functional.pad(h[..., 2 * self.bins:], (1, 1))
        slopes[..., 0] = slopes[..., -1] = math.log(math.exp(1 - 1e-3) - 1)
        inside = (changed >= -self.bound) & (changed <= self.bound)
        outside = ~inside
        result = torch.zeros_like(changed)
        result[outside] = changed[outside]
        result[inside] = spline(changed[inside], widths[inside, :], heights[inside, :],
                                slopes[inside, :], self.bound)
        return torch.cat([kept, result], 1) * mask


class DurationPredictor(nn.Module):
    def __init__(self, flows=3):
        super().__init__()
        self.before, self.after = nn.Conv1d(WIDTH, WIDTH, 1), nn.Conv1d(WIDTH, WIDTH, 1)
        self.convs = SeparableConvs(WIDTH)
        self.flows = nn.ModuleList(SplineFlow(WIDTH) for _ in range(flows))
        self.shift, self.log_scale = (nn.Parameter(torch.randn(2, 1) * 0.3) for _ in range(2))

    def forward(self, x, mask, noise_scale):
        x = self.after(self.convs(self.before(x), mask)) * mask
        noise = torch.randn(x.size(0), 2, x.size(2)).type_as(x) * noise_scale
        for flow in self.flows:
            noise = flow(torch.flip(noise, [1]), mask, x)
        noise = (noise - self.shift) * torch.exp(-self.log_scale) * mask
        return noise[:, :1] + 1.0


class WaveNet(nn.Module):
    def __init__(self, channels, layers=3, kernel=5):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(channels, 2 * channels, kernel, padding=kernel // 2)
                                   for _ in range(layers))
        self.both = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 1) for _ in range(layers))

    def forward(self, x, mask):
        output = torch.zeros_like(x)
        for conv, both in zip(self.convs, self.both):
            left, gate = conv(x).chunk(2, dim=1)
            rest, skip = both(torch.tanh(left) * torch.sigmoid(gate)).chunk(2, dim=1)
            x, output = (x + rest) * mask, output + skip
        return output * mask


class Coupling(nn.Module):
    def __init__(self):
        super().__init__()
        self.before = nn.Conv1d(HIDDEN // 2, WIDTH, 1)
        self.net, self.after = WaveNet(WIDTH), nn.Conv1d(WIDTH, HIDDEN // 2, 1)

    def forward(self, x, mask):
        kept, changed = x.split([HIDDEN // 2, HIDDEN // 2], 1)
        mean = self.after(self.net(self.before(kept) * mask, mask)) * mask
        return torch.cat([kept, (changed - mean) * mask], 1)


class Vocoder(nn.Module):
    """J. Kong et al., 2020: HiFi-GAN's generator, 256 samples for each frame."""

    def __init__(self, channels=128, rates=((8, 16), (8, 16), (4, 8)), kernels=(3, 5)):
        super().__init__()
        self.first = nn.Conv1d(HIDDEN, channels, 7, padding=3)
        self.ups, self.blocks = nn.ModuleList(), nn.ModuleList()
        for rate, kernel in rates:
            channels //= 2
            self.ups.append(nn.ConvTranspose1d(2 * channels, channels, kernel, rate,
                                               (kernel - rate) // 2))
            self.blocks.append(nn.ModuleList(
                nn.ModuleList(nn.Conv1d(channels, channels, width, dilation=dilation,
                                        padding=dilation * (width - 1) // 2)
                              for dilation in (1, 3)) for width in kernels))
        self.last = nn.Conv1d(channels, 1, 7, padding=3, bias=False)

    def forward(self, x):
        x = self.first(x)
        for up, blocks in zip(self.ups, self.blocks):
            x = up(functional.leaky_relu(x, 0.1))
            total = 0
            for convs in blocks:
                y = x
                for conv in convs:
                    y = y + conv(functional.leaky_relu(y, 0.1))
                total = total + y
            x = total / len(blocks)
        return torch.tanh(self.last(functional.leaky_relu(x)))


class Voice(nn.Module):
    """J. Kim et al., 2021, without speakers."""

    def __init__(self, flows=4):
        super().__init__()
        self.encoder, self.durations = TextEncoder(), DurationPredictor()
        self.flows = nn.ModuleList(Coupling() for _ in range(flows))
        self.vocoder = Vocoder()

    def forward(self, ids, lengths, scales):
        noise_scale, length_scale, noise_scale_w = scales[0], scales[1], scales[2]
        x, mean, log_deviation, mask = self.encoder(ids, lengths)
        log_durations = self.durations(x, mask, noise_scale_w)
        durations = torch.ceil(torch.exp(log_durations) * mask * length_scale)
        frames = torch.clamp_min(torch.sum(durations, [1, 2]), 1).long()
        frame_mask = sequence_mask(frames, frames.max()).unsqueeze(1).to(mask.dtype)
        path = self.path(durations, mask.unsqueeze(2) * frame_mask.unsqueeze(-1))
        mean, log_deviation = (torch.matmul(path.squeeze(1), each.transpose(1, 2)).transpose(1, 2)
                               for each in (mean, log_deviation))
        z = mean + torch.randn_like(mean) * torch.exp(log_deviation) * noise_scale
        for flow in self.flows:
            z = flow(torch.flip(z, [1]), frame_mask)
        return self.vocoder(z * frame_mask)

    @staticmethod
    def path(durations, mask):
        """For each frame a row with a 1 at its phoneme."""
        batch, _, rows, columns = mask.shape
        ends = torch.cumsum(durations, -1).view(batch * columns)
        path = sequence_mask(ends, rows).view(batch, columns, rows).to(mask.dtype)
        path = path - functional.pad(path, (0, 0, 1, 0))[:, :-1]
        return path.unsqueeze(1).transpose(2, 3) * mask


def build_vits(path):
    """Without noise (two of the scales are 0), so that two runtimes say the same."""
    inputs = {"input": torch.randint(0, PHONEMES, (1, 50)), "input_lengths": torch.tensor([50]),
              "scales": torch.tensor([0.667, 1.0, 0.8])}
    axes = {"input": {0: "batch_size", 1: "phonemes"}, "input_lengths": {0: "batch_size"},
            "output": {0: "batch_size", 2: "time"}}
    export(Voice(), path, inputs, ["output"], axes, opset=15)

    def size(length):
        return {"input": numbers("int64", (1, length), 0, PHONEMES - 1),
                "input_lengths": {"type": "int64", "shape": [1], "values": [length]},
                "scales": {"type": "float32", "shape": [3], "values": [0, 1, 0]}}
    describe(path, size(60), size(23))
