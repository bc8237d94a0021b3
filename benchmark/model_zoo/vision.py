# SPDX-License-Identifier: Apache-2.0
# The model zoo's image-to-image networks, and its image encoders.
import math

import torch
import torchvision
from torch import nn
from torch.nn import functional

from export_models import randomize_statistics
from zoo import describe, export, numbers

PICTURE_AXES = {0: "batch", 2: "height", 3: "width"}


def pictures(batch, height, width, channels=3):
    return numbers("float32", (batch, channels, height, width), 0, 1)


class SuperResolution(nn.Module):
    """W. Shi et al., 2016: three times the size, of the luminance."""

    def __init__(self, scale=3):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 64, 5, padding=2), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, scale * scale, 3, padding=1),
            nn.PixelShuffle(scale))

    def forward(self, x):
        return self.layers(x)


def build_super_resolution(path):
    export(SuperResolution(), path, {"input": torch.zeros(1, 1, 56, 56)}, ["output"],
           {"input": PICTURE_AXES, "output": PICTURE_AXES})
    describe(path, {"input": pictures(1, 224, 224, 1)}, {"input": pictures(2, 90, 131, 1)})


class Generator(nn.Module):
    """A. Radford et al., 2016 (DCGAN): 64 x 64 pictures."""

    def __init__(self, noise=100, width=64):
        super().__init__()
        layers = [nn.ConvTranspose2d(noise, 8 * width, 4, 1, 0, bias=False),
                  nn.BatchNorm2d(8 * width), nn.ReLU()]
        for factor in (8, 4, 2):
            layers += [nn.ConvTranspose2d(factor * width, factor * width // 2, 4, 2, 1, bias=False),
                       nn.BatchNorm2d(factor * width // 2), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False),
                                    nn.Tanh())

    def forward(self, z):
        return self.layers(z)


def build_gan_generator(path):
    generator = Generator()
    randomize_statistics(generator)
    export(generator, path, {"z": torch.zeros(1, 100, 1, 1)}, ["image"],
           {"z": {0: "batch"}, "image": {0: "batch"}})
    describe(path, *({"z": numbers("float32", (batch, 100, 1, 1), -1, 1)} for batch in (1, 4)))


class Autoencoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        sizes = (3, width, 2 * width, 4 * width)
        self.encoder = nn.Sequential(*(layer for a, b in zip(sizes, sizes[1:]) for layer in (
            nn.Conv2d(a, b, 3, 2, 1), nn.BatchNorm2d(b), nn.LeakyReLU(0.2))))
        self.squeeze = nn.Conv2d(4 * width, 16, 1)
        self.widen = nn.Conv2d(16, 4 * width, 1)
        self.decoder = nn.Sequential(*(layer for a, b in zip(sizes[:0:-1], sizes[-2:0:-1] + (3,))
                                       for layer in (nn.Upsample(scale_factor=2),
                                                     nn.Conv2d(a, b, 3, 1, 1), nn.ELU())))

    def forward(self, x):
        code = self.squeeze(self.encoder(x))
        return torch.sigmoid(self.decoder(self.widen(code))), code


def build_autoencoder(path):
    network = Autoencoder()
    randomize_statistics(network)
    export(network, path, {"input": torch.zeros(1, 3, 64, 64)}, ["reconstruction", "code"],
           {name: PICTURE_AXES for name in ("input", "reconstruction", "code")})
    describe(path, {"input": pictures(1, 128, 128)}, {"input": pictures(2, 72, 104)})


class FirstOutput(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)["out"]


def build_deeplabv3(path):
    """L.-C. Chen et al., 2017, on MobileNetV3-Large."""
    network = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large(
        weights=None, weights_backbone=None)
    randomize_statistics(network)
    export(FirstOutput(network), path, {"input": torch.zeros(1, 3, 128, 128)}, ["out"],
           {"input": PICTURE_AXES, "out": PICTURE_AXES})
    describe(path, {"input": pictures(1, 256, 256)}, {"input": pictures(2, 160, 224)})


class Block(nn.Module):
    """A transformer's; with `scaled` each branch has factors (LayerScale), as DINOv2 has them."""

    def __init__(self, width, heads, activation=functional.gelu, scaled=False):
        super().__init__()
        self.heads, self.activation = heads, activation
        self.norm, self.last_norm = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scales = nn.Parameter(torch.rand(2, width)) if scaled else None

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query * (width // self.heads) ** -0.5 @ key.transpose(-2, -1)
        scores = scores if mask is None else scores + mask
        y = self.output((scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width))
        x = x + (y if self.scales is None else y * self.scales[0])
        y = self.second(self.activation(self.first(self.last_norm(x))))
        return x + (y if self.scales is None else y * self.scales[1])


class Refine(nn.Module):
    """A fusion step of DPT: R. Ranftl et al., 2021."""

    def __init__(self, width):
        super().__init__()
        self.units = nn.ModuleList(nn.Sequential(
            nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1)) for _ in range(2))
        self.last = nn.Conv2d(width, width, 1)

    def forward(self, x, skip, size):
        if skip is not None:
            x = x + skip + self.units[0](skip)
        x = x + self.units[1](x)
        return self.last(functional.interpolate(x, size, mode="bilinear", align_corners=True))


class DepthAnything(nn.Module):
    """L. Yang et al., 2024: DINOv2 with patches of 14, here 6 blocks of 192, and the head of DPT."""

    def __init__(self, width=192, depth=6, features=48):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 14, 14)
        self.first = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 37 * 37 + 1, width) * 0.1)
        self.blocks = nn.ModuleList(Block(width, 3, scaled=True) for _ in range(depth))
        self.norm = nn.LayerNorm(width, 1e-6)
        sizes = (48, 96, 192, 192)
        self.project = nn.ModuleList(nn.Conv2d(width, size, 1) for size in sizes)
        self.resize = nn.ModuleList([
            nn.ConvTranspose2d(48, 48, 4, 4), nn.ConvTranspose2d(96, 96, 2, 2), nn.Identity(),
            nn.Conv2d(192, 192, 3, 2, 1)])
        self.narrow = nn.ModuleList(nn.Conv2d(size, features, 3, padding=1, bias=False)
                                    for size in sizes)
        self.refine = nn.ModuleList(Refine(features) for _ in sizes)
        self.head = nn.Conv2d(features, features // 2, 3, padding=1)
        self.last = nn.Sequential(nn.Conv2d(features // 2, 32, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(32, 1, 1), nn.ReLU())
        nn.init.constant_(self.last[2].bias, 1.0)  # else the last ReLU may leave only zeros

    def place(self, rows, columns):
        """The positions, interpolated from those of 37 x 37 patches."""
        grid = self.positions[:, 1:].reshape(1, 37, 37, -1).permute(0, 3, 1, 2)
        grid = functional.interpolate(grid, (rows, columns), mode="bicubic", align_corners=False)
        return torch.cat((self.positions[:, :1], grid.flatten(2).transpose(1, 2)), 1)

    def forward(self, x):
        x = self.patches(x)
        batch, _, rows, columns = x.shape
        x = torch.cat((self.first.expand(batch, -1, -1), x.flatten(2).transpose(1, 2)), 1)
        x = x + self.place(rows, columns)
        levels = []
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i >= len(self.blocks) - 4:
                level = self.norm(x)[:, 1:].transpose(1, 2).reshape(batch, -1, rows, columns)
                j = len(levels)
                levels.append(self.narrow[j](self.resize[j](self.project[j](level))))
        y = None
        for i in (3, 2, 1, 0):
            size = levels[i - 1].shape[2:] if i > 0 else [2 * each for each in levels[0].shape[2:]]
            y = self.refine[i](levels[3], None, size) if y is None else (
                self.refine[i](y, levels[i], size))
        y = functional.interpolate(self.head(y), (rows * 14, columns * 14), mode="bilinear",
                                   align_corners=True)
        return self.last(y).squeeze(1)


def build_depth_anything(path):
    export(DepthAnything(), path, {"image": torch.zeros(1, 3, 140, 168)}, ["depth"],
           {"image": PICTURE_AXES, "depth": {0: "batch", 1: "height", 2: "width"}})
    describe(path, {"image": pictures(1, 252, 252)}, {"image": pictures(2, 140, 196)})


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


class ClipPicture(nn.Module):
    """A. Radford et al., 2021: the tower of pictures, here 6 blocks of 256, patches of 32."""

    def __init__(self, width=256, depth=6):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 32, 32, bias=False)
        self.first = nn.Parameter(torch.randn(width))
        self.positions = nn.Embedding(50, width)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.blocks = nn.ModuleList(Block(width, 4, quick_gelu) for _ in range(depth))
        self.project = nn.Linear(width, 128, bias=False)

    def forward(self, pixel_values):
        x = self.patches(pixel_values).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(x.size(0), 1, -1), x), 1)
        x = self.before(x + self.positions(torch.arange(50).expand(1, -1)))
        for block in self.blocks:
            x = block(x)
        x = self.project(self.after(x[:, 0]))
        return x / x.norm(p=2, dim=-1, keepdim=True)


def build_clip_picture(path):
    export(ClipPicture(), path, {"pixel_values": torch.zeros(1, 3, 224, 224)}, ["image_embeds"],
           {name: {0: "batch"} for name in ("pixel_values", "image_embeds")})
    describe(path, *({"pixel_values": pictures(batch, 224, 224)} for batch in (1, 3)))


class ClipText(nn.Module):
    """The text encoder: the embedding of the token with the greatest number, the end of the text."""

    def __init__(self, width=256, depth=6, vocabulary=8000, context=77):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, 4, quick_gelu) for _ in range(depth))
        self.after = nn.LayerNorm(width)
        self.project = nn.Linear(width, 128, bias=False)

    def forward(self, input_ids, attention_mask):
        batch, length = input_ids.shape
        x = self.words(input_ids) + self.positions(torch.arange(length).unsqueeze(0))
        lowest = torch.finfo(torch.float32).min
        mask = torch.full((length, length), lowest).triu(1)[None, None]
        mask = mask + (1 - attention_mask[:, None, None, :].float()) * -1e9
        for block in self.blocks:
            x = block(x, mask.clamp(min=lowest))
        x = self.after(x)[torch.arange(batch), input_ids.to(torch.int).argmax(-1)]
        x = self.project(x)
        return x / x.norm(p=2, dim=-1, keepdim=True)


def build_clip_text(path):
    ids = torch.arange(18).view(2, 9)
    axes = {0: "batch", 1: "sequence"}
    export(ClipText(), path, {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
           ["text_embeds"], {"input_ids": axes, "attention_mask": axes,
                             "text_embeds": {0: "batch"}})
    describe(path, *({"input_ids": numbers("int64", shape, 0, 7999),
                      "attention_mask": numbers("int64", shape, 1, 1)}
                     for shape in ((1, 77), (2, 16))))


class Residual(nn.Module):
    def __init__(self, width, times):
        super().__init__()
        self.norm, self.last_norm = nn.GroupNorm(32, width, 1e-5), nn.GroupNorm(32, width, 1e-5)
        self.first, self.last = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(times, width)

    def forward(self, x, time):
        y = self.first(functional.silu(self.norm(x)))
        y = y + self.time(functional.silu(time))[:, :, None, None]
        return x + self.last(functional.silu(self.last_norm(y)))


class CrossAttention(nn.Module):
    def __init__(self, width, context, heads=8):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(context, width, bias=False) for _ in range(2))
        self.output = nn.Linear(width, width)

    def split(self, x):
        batch, length, width = x.shape
        x = x.reshape(batch, length, self.heads, width // self.heads).permute(0, 2, 1, 3)
        return x.reshape(batch * self.heads, length, width // self.heads)

    def forward(self, x, context):
        query, key, value = (self.split(each) for each in (
            self.query(x), self.key(context), self.value(context)))
        scores = torch.bmm(query, key.transpose(1, 2)) * query.size(-1) ** -0.5
        y = torch.bmm(scores.softmax(-1), value)
        y = y.reshape(x.size(0), self.heads, -1, y.size(-1)).permute(0, 2, 1, 3)
        return self.output(y.reshape(x.size(0), -1, x.size(-1)))


class DiffusionBlock(nn.Module):
    """R. Rombach et al., 2022: the embedding of the time, and a block of the U-Net with attention to
    itself and to the text, here of 192 channels, and its way down."""

    def __init__(self, width=192, context=256, times=768):
        super().__init__()
        self.width = width
        self.stem = nn.Conv2d(4, width, 3, padding=1)
        self.time = nn.Sequential(nn.Linear(width, times), nn.SiLU(), nn.Linear(times, times))
        self.residuals = nn.ModuleList(Residual(width, times) for _ in range(2))
        self.norm = nn.GroupNorm(32, width, 1e-6)
        self.into, self.out = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross = CrossAttention(width, width), CrossAttention(width, context)
        self.gated, self.inner = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)
        self.down = nn.Conv2d(width, width, 3, 2, 1)

    def embed(self, timestep):
        half = self.width // 2
        rates = torch.exp(torch.arange(half, dtype=torch.float32) * (-math.log(10000) / half))
        angles = timestep[:, None].float() * rates[None]
        return self.time(torch.cat((angles.cos(), angles.sin()), -1))

    def attend(self, x, context):
        batch, width, rows, columns = x.shape
        y = self.into(self.norm(x)).permute(0, 2, 3, 1).reshape(batch, rows * columns, width)
        z = self.norms[0](y)
        y = y + self.own(z, z)
        y = y + self.cross(self.norms[1](y), context)
        value, gate = self.gated(self.norms[2](y)).chunk(2, -1)
        y = y + self.inner(value * functional.gelu(gate))
        return x + self.out(y.reshape(batch, rows, columns, width).permute(0, 3, 1, 2))

    def forward(self, sample, timestep, encoder_hidden_states):
        time = self.embed(timestep)
        x = self.residuals[0](self.stem(sample), time)
        x = self.residuals[1](self.attend(x, encoder_hidden_states), time)
        return self.down(x)


def build_diffusion_block(path):
    inputs = {"sample": torch.zeros(2, 4, 16, 16), "timestep": torch.tensor([7]),
              "encoder_hidden_states": torch.zeros(2, 77, 256)}
    axes = {"sample": PICTURE_AXES, "encoder_hidden_states": {0: "batch", 1: "sequence"},
            "out_sample": PICTURE_AXES}
    export(DiffusionBlock(), path, inputs, ["out_sample"], axes)
    describe(path, *({"sample": numbers("float32", (batch, 4, rows, columns), -1, 1),
                      "timestep": {"type": "int64", "shape": [1], "values": [500]},
                      "encoder_hidden_states": numbers("float32", (batch, 77, 256), -1, 1)}
                     for batch, rows, columns in ((1, 32, 32), (2, 16, 24))))
