# SPDX-License-Identifier: Apache-2.0
# The model zoo's language models: MiniLM, ModernBERT, T5 and a decoder of 4 bits.
import math

import torch
from torch import nn
from torch.nn import functional

import export_decoder
from zoo import describe, export, numbers

LOWEST = torch.finfo(torch.float32).min
VOCABULARY = 4000


def tokens(*shape):
    return numbers("int64", shape, 0, VOCABULARY - 1)


def floats(*shape):
    return numbers("float32", shape, -1, 1)


def ones(*shape, zeros=0):
    """A mask whose last row ends with `zeros` zeros."""
    count = math.prod(shape)
    return {"type": "int64", "shape": list(shape), "values": [1] * (count - zeros) + [0] * zeros}


def split_heads(x, heads):
    return x.view(x.size(0), x.size(1), heads, -1).transpose(1, 2)


def join_heads(x):
    x = x.transpose(1, 2).contiguous()
    return x.view(x.size(0), x.size(1), -1)


class MiniLmLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm, self.last_norm = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x, mask):
        query, key, value = (split_heads(f(x), self.heads)
                             for f in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1)) + mask
        x = self.norm(x + self.output(join_heads(torch.softmax(scores, -1) @ value)))
        return self.last_norm(x + self.second(functional.gelu(self.first(x))))


class MiniLm(nn.Module):
    """W. Wang et al., 2020, as sentence-transformers pools it: six layers of 384."""

    def __init__(self, width=384, heads=12, inner=1536, layers=6, positions=512):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(positions, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.register_buffer("positions", torch.arange(positions)[None])
        self.layers = nn.ModuleList(MiniLmLayer(width, heads, inner) for _ in range(layers))

    def forward(self, ids, mask, kinds):
        places = self.positions[:, :ids.size(1)]
        x = self.norm(self.words(ids) + self.kinds(kinds) + self.places(places))
        added = (1.0 - mask[:, None, None, :].to(torch.float32)) * LOWEST
        for layer in self.layers:
            x = layer(x, added)
        weights = mask.unsqueeze(-1).expand(x.size()).float()
        mean = (x * weights).sum(1) / torch.clamp(weights.sum(1), min=1e-9)
        return x, functional.normalize(mean, p=2.0, dim=1)


def build_minilm(path):
    ids = torch.ones(2, 8, dtype=torch.int64)
    inputs = {"input_ids": ids, "attention_mask": ids, "token_type_ids": torch.zeros_like(ids)}
    free = {0: "batch_size", 1: "sequence_length"}
    axes = {**{name: free for name in inputs}, "token_embeddings": free,
            "sentence_embedding": {0: "batch_size"}}
    export(MiniLm(), path, inputs, ["token_embeddings", "sentence_embedding"], axes, opset=14)

    def size(batch, length, padding):
        return {"input_ids": tokens(batch, length),
                "token_type_ids": numbers("int64", (batch, length), 0, 1),
                "attention_mask": ones(batch, length, zeros=padding)}
    describe(path, size(1, 128, 0), size(2, 37, 9))


def rotate(x, cosine, sine):
    first, second = x[..., :x.size(-1) // 2], x[..., x.size(-1) // 2:]
    return x * cosine + torch.cat((-second, first), -1) * sine


class ModernBertLayer(nn.Module):
    def __init__(self, width, heads, inner, is_first):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.Identity() if is_first else nn.LayerNorm(width)
        self.norm = nn.LayerNorm(width)
        self.packed, self.output = nn.Linear(width, 3 * width, False), nn.Linear(width, width, False)
        self.wide, self.narrow = nn.Linear(width, 2 * inner, False), nn.Linear(inner, width, False)

    def forward(self, x, mask, angles):
        packed = self.packed(self.attention_norm(x))
        packed = packed.view(x.size(0), x.size(1), 3, self.heads, -1)
        query, key, value = packed.transpose(3, 1).unbind(2)
        query, key = rotate(query, *angles), rotate(key, *angles)
        scores = query @ key.transpose(2, 3) * query.size(-1) ** -0.5 + mask
        x = x + self.output(join_heads(torch.softmax(scores, -1) @ value))
        left, gate = self.wide(self.norm(x)).chunk(2, dim=-1)
        return x + self.narrow(functional.gelu(left) * gate)


class ModernBert(nn.Module):
    """B. Warner et al., 2024: rotary positions, gated layers, every third attention is global, the
    others see 64 tokens to each side."""

    def __init__(self, width=384, heads=6, inner=576, layers=7, window=128):
        super().__init__()
        self.window = window
        self.words, self.norm = nn.Embedding(VOCABULARY, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(ModernBertLayer(width, heads, inner, i == 0)
                                    for i in range(layers))
        self.last_norm, self.dense = nn.LayerNorm(width), nn.Linear(width, width, False)
        self.head_norm, self.decoder = nn.LayerNorm(width), nn.Linear(width, VOCABULARY)
        places = torch.arange(0, width // heads, 2) / (width // heads)
        self.register_buffer("global_rates", 1.0 / 160000.0 ** places)
        self.register_buffer("local_rates", 1.0 / 10000.0 ** places)

    def forward(self, ids, mask):
        x = self.norm(self.words(ids))
        positions = torch.arange(ids.size(1), device=ids.device)[None]
        everywhere = mask[:, None, None, :].to(x.dtype).expand(-1, 1, ids.size(1), -1)
        everywhere = (1.0 - everywhere).masked_fill((1.0 - everywhere).to(torch.bool), LOWEST)
        rows = positions.unsqueeze(2)
        distance = torch.abs(rows - rows.transpose(1, 2))
        outside = (distance > self.window // 2).unsqueeze(1)
        nearby = everywhere.masked_fill(outside, LOWEST)
        angles = [self.angles(positions, rates) for rates in (self.global_rates, self.local_rates)]
        for i, layer in enumerate(self.layers):
            x = layer(x, nearby if i % 3 else everywhere, angles[1 if i % 3 else 0])
        return self.decoder(self.head_norm(functional.gelu(self.dense(self.last_norm(x)))))

    @staticmethod
    def angles(positions, rates):
        angles = (rates[None, :, None] @ positions[:, None, :].float()).transpose(1, 2)
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)


def build_modernbert(path):
    ids = torch.ones(2, 8, dtype=torch.int64)
    free = {0: "batch_size", 1: "sequence_length"}
    axes = {name: free for name in ("input_ids", "attention_mask", "logits")}
    export(ModernBert(), path, {"input_ids": ids, "attention_mask": ids}, ["logits"], axes)

    def size(batch, length, padding):
        return {"input_ids": tokens(batch, length),
                "attention_mask": ones(batch, length, zeros=padding)}
    describe(path, size(1, 192, 0), size(2, 31, 5))


class T5Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-6))


class T5Attention(nn.Module):
    def __init__(self, width, heads, has_bias, is_decoder):
        super().__init__()
        self.heads, self.is_decoder = heads, is_decoder
        self.query, self.key, self.value, self.output = (nn.Linear(width, width, False)
                                                         for _ in range(4))
        self.query.weight.data *= (width // heads) ** -0.5  # scores are not divided
        self.bias = nn.Embedding(32, heads) if has_bias else None

    def buckets(self, distance, count=32, longest=128):
        if self.is_decoder:
            start, distance = 0, -torch.min(distance, torch.zeros_like(distance))
        else:
            count //= 2
            start, distance = (distance > 0).to(torch.long) * count, torch.abs(distance)
        exact = count // 2
        far = exact + (torch.log(distance.float() / exact) / math.log(longest / exact)
                       * (count - exact)).to(torch.long)
        far = torch.min(far, torch.full_like(far, count - 1))
        return start + torch.where(distance < exact, distance, far)

    def position_bias(self, rows, columns):
        places = torch.arange(rows, dtype=torch.long)[:, None]
        buckets = self.buckets(torch.arange(columns, dtype=torch.long)[None, :] - places)
        return self.bias(buckets).permute(2, 0, 1).unsqueeze(0)

    def keys(self, x):
        return split_heads(self.key(x), self.heads), split_heads(self.value(x), self.heads)

    def forward(self, x, key, value, bias):
        scores = split_heads(self.query(x), self.heads) @ key.transpose(3, 2) + bias
        weights = torch.softmax(scores.float(), -1).type_as(scores)
        return self.output(join_heads(weights @ value))


class T5Layer(nn.Module):
    def __init__(self, width, heads, inner, is_first, is_decoder):
        super().__init__()
        self.attention = T5Attention(width, heads, is_first, is_decoder)
        self.cross = T5Attention(width, heads, False, True) if is_decoder else None
        self.first, self.second = nn.Linear(width, inner, False), nn.Linear(inner, width, False)
        self.norms = nn.ModuleList(T5Norm(width) for _ in range(3 if is_decoder else 2))

    def forward(self, x, bias, past=None, encoded=None, encoded_bias=None):
        """The keys and values of both attentions come after the result."""
        normal = self.norms[0](x)
        key, value = self.attention.keys(normal)
        if past:
            key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        x = x + self.attention(normal, key, value, bias)
        present = [key, value]
        if self.cross:
            pair = past[2:] if past else self.cross.keys(encoded)
            x = x + self.cross(self.norms[1](x), *pair, encoded_bias)
            present += pair
        return [x + self.second(functional.relu(self.first(self.norms[-1](x))))] + present


class T5(nn.Module):
    """C. Raffel et al., 2019: one of the two stacks, with a quarter of T5-small's width."""

    def __init__(self, is_decoder, width=256, heads=4, inner=1024, layers=4):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.layers = nn.ModuleList(T5Layer(width, heads, inner, i == 0, is_decoder)
                                    for i in range(layers))
        self.norm = T5Norm(width)


class T5Encoder(T5):
    def __init__(self):
        super().__init__(is_decoder=False)

    def forward(self, ids, mask):
        x = self.words(ids)
        bias = self.layers[0].attention.position_bias(ids.size(1), ids.size(1))
        bias = bias + (1.0 - mask[:, None, None, :].to(x.dtype)) * LOWEST
        for layer in self.layers:
            x = layer(x, bias)[0]
        return self.norm(x)


class T5Decoder(T5):
    def __init__(self):
        super().__init__(is_decoder=True)

    def forward(self, mask, ids, encoded, *past):
        x = self.words(ids)
        total = ids.size(1) + (past[0].size(2) if past else 0)
        bias = self.layers[0].attention.position_bias(total, total)[:, :, -ids.size(1):, :]
        places = torch.arange(total)
        causal = places[None, None, :] <= places[None, -ids.size(1):, None]
        bias = bias + (1.0 - causal[:, None].to(x.dtype)) * LOWEST
        encoded_bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * LOWEST
        presents = []
        for i, layer in enumerate(self.layers):
            pasts = past[4 * i:4 * i + 4]
            x, *present = layer(x, bias, pasts, encoded, encoded_bias)
            presents += present[:2] if past else present
        logits = self.norm(x) * x.size(-1) ** -0.5 @ self.words.weight.transpose(0, 1)
        return logits, *presents


class T5DecoderWithPast(T5Decoder):
    def forward(self, mask, ids, *past):
        return super().forward(mask, ids, None, *past)


def build_t5_encoder(path):
    ids = torch.ones(2, 8, dtype=torch.int64)
    free = {0: "batch_size", 1: "sequence_length"}
    axes = {name: free for name in ("input_ids", "attention_mask", "last_hidden_state")}
    export(T5Encoder(), path, {"input_ids": ids, "attention_mask": ids}, ["last_hidden_state"],
           axes, opset=13)

    def size(batch, length, padding):
        return {"input_ids": tokens(batch, length),
                "attention_mask": ones(batch, length, zeros=padding)}
    describe(path, size(1, 160, 0), size(2, 23, 4))


def cache_names(start, layers, kinds):
    return [f"{start}.{i}.{kind}.{what}" for i in range(layers) for kind in kinds
            for what in ("key", "value")]


def build_t5_decoder(path):
    ids = torch.ones(2, 6, dtype=torch.int64)
    encoded_free = {0: "batch_size", 1: "encoder_sequence_length"}
    free = {0: "batch_size", 1: "decoder_sequence_length"}
    presents = cache_names("present", 4, ("decoder", "encoder"))
    axes = {"encoder_attention_mask": encoded_free, "encoder_hidden_states": encoded_free,
            "input_ids": free, "logits": free}
    for name in presents:
        kind = "decoder" if ".decoder." in name else "encoder"
        axes[name] = {0: "batch_size", 2: f"{kind}_sequence_length"}
    inputs = {"encoder_attention_mask": torch.ones(2, 8, dtype=torch.int64), "input_ids": ids,
              "encoder_hidden_states": torch.zeros(2, 8, 256)}
    export(T5Decoder(), path, inputs, ["logits", *presents], axes, opset=13)

    def size(batch, length, encoded):
        return {"encoder_attention_mask": ones(batch, encoded, zeros=3),
                "input_ids": tokens(batch, length),
                "encoder_hidden_states": floats(batch, encoded, 256)}
    describe(path, size(1, 16, 40), size(2, 1, 23))


def build_t5_decoder_with_past(path):
    ids = torch.ones(2, 1, dtype=torch.int64)
    pasts = cache_names("past_key_values", 4, ("decoder", "encoder"))
    presents = cache_names("present", 4, ("decoder",))
    axes = {"encoder_attention_mask": {0: "batch_size", 1: "encoder_sequence_length"},
            "input_ids": {0: "batch_size"}, "logits": {0: "batch_size"}}
    for name in pasts:
        kind = "past_decoder" if ".decoder." in name else "encoder"
        axes[name] = {0: "batch_size", 2: f"{kind}_sequence_length"}
    for name in presents:
        axes[name] = {0: "batch_size", 2: "past_decoder_sequence_length + 1"}
    inputs = {"encoder_attention_mask": torch.ones(2, 8, dtype=torch.int64), "input_ids": ids}
    for name in pasts:
        inputs[name] = torch.zeros(2, 4, 5 if ".decoder." in name else 8, 64)
    export(T5DecoderWithPast(), path, inputs, ["logits", *presents], axes, opset=13)

    def size(batch, past, encoded):
        caches = {name: floats(batch, 4, past if ".decoder." in name else encoded, 64)
                  for name in pasts}
        return {"encoder_attention_mask": ones(batch, encoded, zeros=3),
                "input_ids": tokens(batch, 1), **caches}
    describe(path, size(1, 16, 40), size(2, 3, 23))


def build_smollm_int4(path):
    """Eight layers of 384: 64 tokens of a prompt, and the one after it. Products are of floats
    (accuracy level 1), so that results can be compared."""
    options = export_decoder.parse(["--layers", "8", "--width", "384", "--heads", "6", "--kv-heads",
                                    "2", "--inner", "1024", "--vocabulary", "8000", "--context",
                                    "256", "--accuracy-level", "1"])
    export_decoder.Decoder(options).build().write(path)

    def size(count, past):
        def number(value):
            return {"type": "int32", "shape": [1], "values": [value]}
        caches = {f"past_key_values.{i}.{kind}": floats(1, 2, 256, 64)
                  for i in range(8) for kind in ("key", "value")}
        return {"input_ids": tokens(1, count), "seqlens_k": number(past + count - 1),
                "total_sequence_length": number(past + count), **caches}
    describe(path, size(64, 0), size(1, 64))
