# SPDX-License-Identifier: Apache-2.0
# The model zoo's networks from pictures to pictures, and its encoders of pictures.
import torch
from torch import nn

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
