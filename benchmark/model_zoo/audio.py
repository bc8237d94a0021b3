# SPDX-License-Identifier: Apache-2.0
# The model zoo's audio models: Whisper, wav2vec2, voice activity detection, and a keyword spotter.
import math
import pathlib
import tempfile

import onnx
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional

import branches
from language import cache_names, floats, join_heads, split_heads
from zoo import describe, export, numbers


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.value, self.output = (nn.Linear(width, width) for _ in range(3))
        self.key = nn.Linear(width, width, False)

    def keys(self, x):
        return split_heads(self.key(x), self.heads), split_heads(self.value(x), self.heads)

    def forward(self, x, key, value, mask=None):
        query = split_heads(self.query(x) * (x.size(-1) // self.heads) ** -0.5, self.heads)
        scores = query @ key.transpose(2, 3)
        scores = scores if mask is None else scores + mask
        return self.output(join_heads(torch.softmax(scores, -1) @ value))


class Layer(nn.Module):
    """Norms first; with another attention, to what was encoded, if asked."""

    def __init__(self, width, heads, is_decoder):
        super().__init__()
        self.attention = Attention(width, heads)
        self.cross = Attention(width, heads) if is_decoder else None
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if is_decoder else 2))
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask=None, past=None, encoded=None):
        normal = self.norms[0](x)
        key, value = self.attention.keys(normal)
        if past:
            key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        x = x + self.attention(normal, key, value, mask)
        present = [key, value]
        if self.cross:
            pair = past[2:] if past else self.cross.keys(encoded)
            x = x + self.cross(self.norms[1](x), *pair)
            present += pair
        return [x + self.second(functional.gelu(self.first(self.norms[-1](x))))] + present


def sinusoids(length, channels):
    rates = torch.exp(-math.log(10000) / (channels // 2 - 1) * torch.arange(channels // 2))
    angles = torch.arange(length)[:, None] * rates[None]
    return torch.cat([angles.sin(), angles.cos()], 1)


class WhisperEncoder(nn.Module):
    """A. Radford et al., 2022: Whisper-tiny's."""

    def __init__(self, width=384, heads=6, layers=4, mels=80, frames=3000):
        super().__init__()
        self.first = nn.Conv1d(mels, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("places", sinusoids(frames // 2, width))
        self.layers = nn.ModuleList(Layer(width, heads, False) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = functional.gelu(self.second(functional.gelu(self.first(x))))
        x = x.permute(0, 2, 1) + self.places
        for layer in self.layers:
            x = layer(x)[0]
        return self.norm(x)


def build_whisper_encoder(path):
    axes = {"input_features": {0: "batch_size"}, "last_hidden_state": {0: "batch_size"}}
    export(WhisperEncoder(), path, {"input_features": torch.zeros(1, 80, 3000)},
           ["last_hidden_state"], axes, opset=14)
    describe(path, *({"input_features": floats(batch, 80, 3000)} for batch in (1, 2)))


class WhisperDecoder(nn.Module):
    def __init__(self, width=384, heads=6, layers=4, vocabulary=4000, positions=448):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.layers = nn.ModuleList(Layer(width, heads, True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, encoded, *past):
        before = past[0].size(2) if past else 0
        x = self.words(ids) + self.places.weight[before:before + ids.size(1)]
        rows = torch.arange(ids.size(1))[:, None] + before
        after = torch.arange(before + ids.size(1))[None] > rows
        mask = after.to(x.dtype) * torch.finfo(torch.float32).min
        presents = []
        for i, layer in enumerate(self.layers):
            x, *present = layer(x, mask, past[4 * i:4 * i + 4], encoded)
            presents += present[:2] if past else present
        return self.norm(x) @ self.words.weight.transpose(0, 1), *presents


class WhisperDecoderWithPast(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, ids, *past):
        return self.decoder(ids, None, *past)


def build_whisper_decoder_merged(path):
    """Both decoders in one file, chosen by an input, as Hugging Face's exporter merges them. The
    branch with a cache gives back the encoder's keys and values without elements."""
    pasts = cache_names("past_key_values", 4, ("decoder", "encoder"))
    presents = cache_names("present", 4, ("decoder", "encoder"))
    axes = {"input_ids": {0: "batch_size", 1: "decoder_sequence_length"},
            "logits": {0: "batch_size", 1: "decoder_sequence_length"},
            "encoder_hidden_states": {0: "batch_size", 1: "encoder_sequence_length"}}
    for name in pasts + presents:
        kind = "encoder" if ".encoder." in name else "past_decoder"
        axes[name] = {0: "batch_size", 2: f"{kind}_sequence_length"}
    decoder = WhisperDecoder()
    ids, encoded = torch.ones(2, 3, dtype=torch.int64), torch.zeros(2, 8, 384)
    caches = {name: torch.zeros(2, 6, 8 if ".encoder." in name else 5, 64) for name in pasts}
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("first.onnx", "next.onnx")]
        export(decoder, files[0], {"input_ids": ids, "encoder_hidden_states": encoded},
               ["logits", *presents], axes, opset=14)
        export(WhisperDecoderWithPast(decoder), files[1], {"input_ids": ids[:, :1], **caches},
               ["logits", *(name for name in presents if ".decoder." in name)], axes, opset=14)
        first, following = (onnx.load(str(file)) for file in files)
    chosen = helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1])
    inputs = [*first.graph.input, *(value for value in following.graph.input
                                    if value.name != "input_ids"), chosen]
    onnx.save(branches.join("use_cache_branch", inputs, following, first), str(path))

    def size(batch, length, past, encoded):
        caches = {name: floats(batch, 6, encoded if ".encoder." in name and past else past, 64)
                  for name in pasts}
        return {"input_ids": numbers("int64", (batch, length), 0, 3999),
                "encoder_hidden_states": floats(batch, encoded, 384), **caches,
                "use_cache_branch": {"type": "bool", "shape": [1], "values": [int(past > 0)]}}
    describe(path, size(1, 4, 0, 1500), size(1, 1, 12, 1500))


class Wav2Vec2(nn.Module):
    """A. Baevski et al., 2020: seven convolutions of the samples, a convolution for the positions,
    four layers and the letters."""

    def __init__(self, channels=256, width=384, heads=6, layers=4, letters=32):
        super().__init__()
        kernels, strides = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)
        self.convs = nn.ModuleList(nn.Conv1d(channels if i else 1, channels, kernel, stride,
                                             bias=False)
                                   for i, (kernel, stride) in enumerate(zip(kernels, strides)))
        self.group_norm = nn.GroupNorm(channels, channels)
        self.norm, self.projection = nn.LayerNorm(channels), nn.Linear(channels, width)
        self.places = nn.utils.weight_norm(nn.Conv1d(width, width, 128, padding=64, groups=16),
                                           dim=2)
        self.layers = nn.ModuleList(Layer(width, heads, False) for _ in range(layers))
        self.first_norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters)

    def forward(self, samples):
        x = samples[:, None]
        for i, conv in enumerate(self.convs):
            x = conv(x)
            x = functional.gelu(x if i else self.group_norm(x))
        x = self.projection(self.norm(x.transpose(1, 2)))
        places = self.places(x.transpose(1, 2))[:, :, :-1]  # the kernel is even: one too many
        x = self.first_norm(x + functional.gelu(places).transpose(1, 2))
        for layer in self.layers:
            x = layer(x)[0]
        return self.head(x)


def build_wav2vec2(path):
    axes = {"input_values": {0: "batch_size", 1: "sequence_length"},
            "logits": {0: "batch_size", 1: "frames"}}
    export(Wav2Vec2(), path, {"input_values": torch.zeros(1, 8000)}, ["logits"], axes, opset=14)
    describe(path, *({"input_values": floats(1, samples)} for samples in (16000, 40000)))


class VoiceDetector(nn.Module):
    """Like Silero's: frequencies by a convolution, four convolutions, an LSTM with its state."""

    def __init__(self, window, width=128):
        super().__init__()
        self.window = window
        bins = window // 2 + 1
        self.spectrum = nn.Conv1d(1, 2 * bins, window, stride=window // 2, bias=False)
        channels = (bins, width, 64, 64, width)
        self.convs = nn.ModuleList(nn.Conv1d(a, b, 3, stride=stride, padding=1)
                                   for a, b, stride in zip(channels, channels[1:], (1, 2, 2, 1)))
        self.lstm, self.head = nn.LSTM(width, width), nn.Conv1d(width, 1, 1)

    def forward(self, samples, state):
        x = functional.pad(samples, (0, self.window // 4), mode="reflect").unsqueeze(1)
        real, imaginary = self.spectrum(x).chunk(2, dim=1)
        x = torch.sqrt(real ** 2 + imaginary ** 2)
        for conv in self.convs:
            x = functional.relu(conv(x))
        x, (hidden, cell) = self.lstm(x.permute(2, 0, 1), (state[:1], state[1:]))
        x = torch.sigmoid(self.head(functional.relu(x.permute(1, 2, 0))))
        return x.mean(2), torch.cat((hidden, cell))


def build_voice_detector(path):
    """An If on the rate of the samples."""
    axes = {"input": {0: "batch", 1: "samples"}, "state": {1: "batch"}, "output": {0: "batch"},
            "stateN": {1: "batch"}}
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for window in (256, 128):
            file = pathlib.Path(folder) / f"{window}.onnx"
            inputs = {"input": torch.zeros(1, 2 * window), "state": torch.zeros(2, 1, 128)}
            export(VoiceDetector(window), file, inputs, ["output", "stateN"], axes, opset=16)
            models.append(onnx.load(str(file)))
    rate = helper.make_tensor_value_info("sr", TensorProto.INT64, [])
    wanted = helper.make_tensor("", TensorProto.INT64, [], [16000])
    nodes = [helper.make_node("Constant", [], ["rate"], value=wanted),
             helper.make_node("Equal", ["sr", "rate"], ["is_16000"])]
    inputs = [*models[0].graph.input, rate]
    onnx.save(branches.join("is_16000", inputs, *models, nodes=nodes), str(path))

    def size(samples, rate):
        return {"input": floats(1, samples), "state": floats(2, 1, 128),
                "sr": {"type": "int64", "shape": [], "values": [rate]}}
    describe(path, size(512, 16000), size(256, 8000))


class KeywordSpotter(nn.Module):
    """A convolution over frames of frequencies, two layers of GRU, and 12 words."""

    def __init__(self, bins=40, width=128, words=12):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(bins, width, 5, 2, 2), nn.BatchNorm1d(width)
        self.gru = nn.GRU(width, width, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, words)

    def forward(self, frames):
        x = functional.relu(self.norm(self.conv(frames.transpose(1, 2))))
        return torch.softmax(self.head(self.gru(x.transpose(1, 2))[0].mean(1)), -1)


def build_keyword_gru(path):
    axes = {"frames": {0: "batch", 1: "time"}, "words": {0: "batch"}}
    export(KeywordSpotter(), path, {"frames": torch.zeros(1, 100, 40)}, ["words"], axes, opset=13)
    describe(path, {"frames": floats(1, 98, 40)}, {"frames": floats(3, 61, 40)})
