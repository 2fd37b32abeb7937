"""Small models of the families that users of PyTorch/XLA train."""
import torch
from torch import nn
from torch.nn import functional as F


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).flatten(2)


def rope(x, base):
    frequencies = base ** (-torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    angles = torch.arange(x.shape[-2], device=x.device)[:, None] * frequencies
    a, b = x[..., ::2], x[..., 1::2]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Llama(nn.Module):
    """Grouped-query attention with rotary embeddings, and a gated feed-forward network."""
    def __init__(self, width=16, heads=4, groups=2, vocabulary=11):
        super().__init__()
        self.heads, self.groups, size = heads, groups, width // heads
        self.embed, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * groups * size, bias=False)
        self.gate, self.up, self.down = (nn.Linear(*s, bias=False) for s in ((width, 32), (width, 32), (32, width)))
        self.norms = nn.ModuleList(RMSNorm(width) for _ in range(3))

    def forward(self, ids):
        x = self.embed(ids)
        h = self.norms[0](x)
        k, v = (split(part, self.groups).repeat_interleave(self.heads // self.groups, 1) for part in self.kv(h).chunk(2, -1))
        q = rope(split(self.q(h), self.heads), 10000.0)
        mask = torch.full((ids.shape[1],) * 2, float("-inf"), device=x.device).triu(1)
        x = x + self.o(merge(((q @ rope(k, 10000.0).transpose(-1, -2)) / 2 + mask).softmax(-1) @ v))
        h = self.norms[1](x)
        return self.head(self.norms[2](x + self.down(F.silu(self.gate(h)) * self.up(h))))


class Gpt2(nn.Module):
    def __init__(self, width=16, heads=2, vocabulary=11):
        super().__init__()
        self.heads = heads
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(32, width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width), nn.Dropout(0.1))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        q, k, v = (split(part, self.heads) for part in self.qkv(self.norms[0](x)).chunk(3, -1))
        x = x + self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        return self.norms[2](x + self.mlp(self.norms[1](x))) @ self.tokens.weight.t()


class Bert(nn.Module):
    def __init__(self, width=16, vocabulary=11):
        super().__init__()
        self.tokens, self.norm = nn.Embedding(vocabulary, width, padding_idx=0), nn.LayerNorm(width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.1, activation="gelu", batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        return self.head(self.layer(self.norm(self.tokens(ids)), src_key_padding_mask=ids == 0))


class T5(nn.Module):
    """Relative position biases in buckets, and attention of a decoder to an encoder."""
    def __init__(self, width=16, heads=2, vocabulary=11):
        super().__init__()
        self.heads = heads
        self.tokens, self.bias = nn.Embedding(vocabulary, width), nn.Embedding(8, heads)
        self.qkv, self.cross_q, self.cross_kv = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.norm, self.feed = RMSNorm(width), nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, width))

    def buckets(self, n, device):
        distance = (torch.arange(n, device=device)[:, None] - torch.arange(n, device=device)).clamp(min=0)
        far = 4 + (torch.log(distance.clamp(min=1).float() / 4) / 1.4 * 4).long()
        return torch.where(distance < 4, distance, far.clamp(4, 7))

    def attend(self, q, k, v, bias=0.0):
        q, k, v = (split(part, self.heads) for part in (q, k, v))
        return merge((q @ k.transpose(-1, -2) + bias).softmax(-1) @ v)

    def forward(self, ids):
        x = self.tokens(ids)
        bias = self.bias(self.buckets(ids.shape[1], ids.device)).permute(2, 0, 1)
        encoded = x + self.attend(*self.qkv(self.norm(x)).chunk(3, -1), bias)
        x = x + self.attend(self.cross_q(self.norm(x)), *self.cross_kv(encoded).chunk(2, -1))
        return (x + self.feed(self.norm(x))) @ self.tokens.weight.t()


class Convnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                                    nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 5))

    def forward(self, x):
        return self.layers(x)


class Mlp(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)
