#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes a decoder for `tengine bench --tokens`: the architecture of a language model of half a billion
# weights with seeded random weights (nothing is downloaded), as ONNX with ONNX Runtime's operators.
# The matrices have 4 bits and a scale for each block. Inputs are the tokens, their lengths and the
# cache of every layer; outputs are the logits of the last token, and the cache. --tiny is for a quick
# look. Needs python3-numpy; the folder is $XDG_CACHE_HOME/tengine/models unless a file is given.
import argparse
import math
import os
import pathlib

import numpy

FLOAT, UINT8, INT32, INT64, FLOAT16 = 1, 2, 6, 7, 10
SIZES = {FLOAT: 4, UINT8: 1, INT64: 8, FLOAT16: 2}
MICROSOFT = "com.microsoft"


# ---- protobuf: a message is a list of its bytes, or of functions that make them, with their size ----

def varint(value):
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field, value):
    return varint(field << 3) + varint(value)


def counted(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def real(field, value):
    return varint(field << 3 | 5) + numpy.float32(value).tobytes()


def attribute(name, value):
    if isinstance(value, float):
        return counted(1, name) + real(2, value) + number(20, 1)
    return counted(1, name) + number(3, value) + number(20, 2)


def value_info(name, element_type, dims):
    shape = b"".join(counted(1, counted(2, dim) if isinstance(dim, str) else number(1, dim))
                     for dim in dims)
    tensor_type = number(1, element_type) + counted(2, shape)
    return counted(1, name) + counted(2, counted(1, tensor_type))


class Model:
    """Nodes, inputs and outputs as bytes; tensors as a head and what makes their elements."""

    def __init__(self, seed):
        self.parts = []
        self.tensors = []
        self.names = set()
        self.random = numpy.random.default_rng(seed)

    def node(self, op, inputs, outputs, domain="", **attributes):
        message = b"".join(counted(1, each) for each in inputs)
        message += b"".join(counted(2, each) for each in outputs)
        message += counted(3, outputs[0]) + counted(4, op)
        message += b"".join(counted(5, attribute(*pair)) for pair in attributes.items())
        self.parts.append(counted(1, message + counted(7, domain)))
        return outputs[0]

    def tensor(self, name, element_type, dims, make):
        if name not in self.names:
            self.names.add(name)
            size = SIZES[element_type] * math.prod(dims)
            head = b"".join(number(1, dim) for dim in dims) + number(2, element_type)
            head += counted(8, name) + varint(9 << 3 | 2) + varint(size)
            self.tensors.append((varint(5 << 3 | 2) + varint(len(head) + size) + head, size, make))
        return name

    def list(self, name, values):
        return self.tensor(name, INT64, [len(values)],
                           lambda: numpy.array(values, numpy.int64).tobytes())

    def input(self, name, element_type, dims):
        self.parts.append(counted(11, value_info(name, element_type, dims)))

    def output(self, name, element_type, dims):
        self.parts.append(counted(12, value_info(name, element_type, dims)))

    def write(self, path):
        parts = [counted(2, "decoder")] + self.parts
        length = sum(map(len, parts)) + sum(len(head) + size for head, size, _ in self.tensors)
        with open(path, "wb") as file:
            file.write(number(1, 8) + counted(8, counted(1, "") + number(2, 17)))
            file.write(counted(8, counted(1, MICROSOFT) + number(2, 1)))
            file.write(varint(7 << 3 | 2) + varint(length))
            file.writelines(parts)
            for head, size, make in self.tensors:
                data = make()
                assert len(data) == size, (len(data), size)
                file.write(head)
                file.write(data)


# ---- the decoder ----

class Decoder:
    def __init__(self, options):
        self.options = options
        self.depth = options.width // options.heads
        self.model = Model(options.seed)

    def normal(self, name, dims, deviation, mean=0.0):
        def make():
            values = self.model.random.standard_normal(dims, dtype=numpy.float32)
            return (values * deviation + mean).astype(numpy.float32).tobytes()
        return self.model.tensor(name, FLOAT, dims, make)

    def matrix(self, name, x, inputs, outputs):
        """4 bits of any value, which deviate by 4.6, so that results have the variance of x."""
        options, random = self.options, self.model.random
        blocks = -(-inputs // options.block)
        packed = [outputs, blocks, options.block // 2]
        self.model.tensor(name + ".weight", UINT8, packed, lambda: random.bytes(math.prod(packed)))

        def make_scales():
            scales = random.uniform(0.5, 1.5, outputs * blocks) / (4.6 * math.sqrt(inputs))
            return scales.astype(numpy.float32).tobytes()
        self.model.tensor(name + ".scale", FLOAT, [outputs * blocks], make_scales)
        return self.model.node("MatMulNBits", [x, name + ".weight", name + ".scale"], [name],
                               MICROSOFT, K=inputs, N=outputs, bits=4, block_size=options.block,
                               accuracy_level=options.accuracy_level)

    def norm(self, name, x, added):
        """Normalises the sum, which is the second result."""
        weight = self.normal(name + ".weight", [self.options.width], 0.1, 1.0)
        if added is None:
            self.model.node("SimplifiedLayerNormalization", [x, weight], [name], axis=-1,
                            epsilon=1e-6, stash_type=1)
            return name, x
        self.model.node("SkipSimplifiedLayerNormalization", [x, added, weight],
                        [name, "", "", name + ".sum"], MICROSOFT, epsilon=1e-6)
        return name, name + ".sum"

    def angles(self, function, name):
        def make():
            places = numpy.arange(0, self.depth, 2) / self.depth
            positions = numpy.arange(self.options.context)[:, None]
            return function(positions / 1e6 ** places[None]).astype(numpy.float32).tobytes()
        return self.model.tensor(name, FLOAT, [self.options.context, self.depth // 2], make)

    def attention(self, i, x):
        options = self.options
        layer, cache = f"layer.{i}.attention", [1, options.kv_heads, options.context, self.depth]
        columns = (options.heads + 2 * options.kv_heads) * self.depth
        packed = self.matrix(layer + ".qkv", x, options.width, columns)
        past = [f"past_key_values.{i}.{kind}" for kind in ("key", "value")]
        present = [f"present.{i}.{kind}" for kind in ("key", "value")]
        for name in past:
            self.model.input(name, FLOAT, cache)
        for name in present:
            self.model.output(name, FLOAT, cache)
        inputs = [packed, "", "", *past, "seqlens_k", "total_sequence_length",
                  self.angles(numpy.cos, "cos_cache"), self.angles(numpy.sin, "sin_cache")]
        self.model.node("GroupQueryAttention", inputs, [layer, *present], MICROSOFT, do_rotary=1,
                        num_heads=options.heads, kv_num_heads=options.kv_heads)
        return self.matrix(layer + ".output", layer, options.heads * self.depth, options.width)

    def mlp(self, i, x):
        layer, width, inner = f"layer.{i}.mlp", self.options.width, self.options.inner
        gate = self.matrix(layer + ".gate", x, width, inner)
        up = self.matrix(layer + ".up", x, width, inner)
        self.model.node("Sigmoid", [gate], [layer + ".sigmoid"])
        self.model.node("Mul", [gate, layer + ".sigmoid"], [layer + ".swish"])
        product = self.model.node("Mul", [layer + ".swish", up], [layer + ".product"])
        return self.matrix(layer + ".down", product, inner, width)

    def embed(self):
        dims = [self.options.vocabulary, self.options.width]

        def make():
            values = self.model.random.standard_normal(dims, dtype=numpy.float32)
            return values.astype(numpy.float16).tobytes()
        table = self.model.tensor("embedding.weight", FLOAT16, dims, make)
        rows = self.model.node("Gather", [table, "input_ids"], ["embedding.rows"])
        return self.model.node("Cast", [rows], ["embedding"], to=FLOAT)

    def build(self):
        options, model = self.options, self.model
        model.input("input_ids", INT64, [1, "tokens"])
        model.input("seqlens_k", INT32, [1])
        model.input("total_sequence_length", INT32, [1])
        model.output("logits", FLOAT, [1, 1, options.vocabulary])
        x, added = self.embed(), None
        for i in range(options.layers):
            norm, x = self.norm(f"layer.{i}.attention_norm", x, added)
            norm, x = self.norm(f"layer.{i}.mlp_norm", x, self.attention(i, norm))
            added = self.mlp(i, norm)
        norm, _ = self.norm("norm", x, added)
        last = [model.list("last", [-1]), model.list("end", [2**63 - 1]), model.list("axis", [1])]
        model.node("Slice", [norm, *last], ["last_token"])
        self.matrix("logits", "last_token", options.width, options.vocabulary)
        return model


def default_file(tiny):
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    name = "decoder_tiny.onnx" if tiny else "decoder.onnx"
    return pathlib.Path(cache) / "tengine" / "models" / name


def parse(arguments=None):
    sizes = {"layers": (24, 2), "width": (896, 64), "heads": (14, 4), "kv_heads": (2, 2),
             "inner": (4864, 128), "vocabulary": (151936, 97), "context": (2048, 64)}
    parser = argparse.ArgumentParser(description="Writes a decoder with random weights.")
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--tiny", action="store_true", help="two layers of 64 channels, 97 tokens")
    for name, (size, tiny) in sizes.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, metavar="N",
                            help=f"default {size}, with --tiny {tiny}")
    parser.add_argument("--block", type=int, default=32, metavar="N", help="weights with one scale")
    parser.add_argument("--accuracy-level", type=int, default=4, choices=range(5),
                        help="of MatMulNBits; 4 lets it compute in int8")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    for name, defaults in sizes.items():
        if getattr(options, name) is None:
            setattr(options, name, defaults[options.tiny])
    if options.width % (2 * options.heads) or options.heads % options.kv_heads:
        parser.error("the width is that of heads of an even size, which kv heads divide")
    return options


def main():
    options = parse()
    file = options.file or default_file(options.tiny)
    file.parent.mkdir(parents=True, exist_ok=True)
    Decoder(options).build().write(file)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
