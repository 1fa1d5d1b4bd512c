"""The upper rungs of the ladder for predictive training, on a GPU: a CNN of 0.42 million weights whose labels a random network gives, and a
GPT of 10.8 million weights on the bytes of Python sources.

Forward and backward pass and the clipping of gradients are one CUDA graph, so that no method's step waits for its launches. Batches
depend on the seed and the step only."""
import hashlib
import os
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class OnGpu:
    """What both tasks have in common. On a CPU (`device="cpu"`) it runs without graphs, to try it."""

    clock = staticmethod(time.perf_counter)

    def __init__(self, device):
        self.device, self.cuda = torch.device(device), device != "cpu"

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def model(self, seed):
        torch.manual_seed(1000 + seed)
        return self.make().to(self.device)

    def autocast(self):
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.cuda, cache_enabled=False)

    def gradients(self, model, seed):
        """A function of the step that sets all gradients and returns the loss."""
        rows = torch.zeros(self.batch, dtype=torch.long, device=self.device)
        order = torch.randint(self.choices, (self.most_steps, self.batch), generator=torch.Generator().manual_seed(50 + seed)).to(self.device)
        weights = list(model.parameters())

        def work():
            with self.autocast():
                loss = self.loss(model, rows)
            loss.backward()
            nn.utils.clip_grad_norm_(weights, 1.0)
            return loss.detach()

        if not self.cuda:
            def eager(step):
                rows.copy_(order[step])
                model.zero_grad()
                return work()
            return eager
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                model.zero_grad()
                work()
        torch.cuda.current_stream().wait_stream(aside)
        model.zero_grad()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = work()

        def replay(step):
            rows.copy_(order[step])
            graph.replay()
            return loss
        return replay

    @torch.no_grad()
    def validation(self, model):
        with self.autocast():
            return float(self.held_out_loss(model))


class Labelled(OnGpu):
    """Pictures of 3 x 16 x 16, smooth with noise, in ten classes: a random convolutional network gives the probabilities that labels are
    drawn from, so that no model is without loss. 100,000 to train on and 8192 to validate on."""

    name, batch = "cnn", 256

    def __init__(self, device="cuda", most_steps=4000, small=False):
        super().__init__(device)
        self.most_steps, self.width = most_steps, 8 if small else 48
        self.choices, held = (2000, 500) if small else (100_000, 8192)
        if small:
            self.batch = 32
        g = torch.Generator().manual_seed(21)
        teacher = nn.Sequential(nn.Conv2d(3, 24, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
                                nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10)).to(self.device)
        with torch.no_grad():
            for p in teacher.parameters():
                p.copy_(torch.randn(p.shape, generator=g) * (2 / max(1, p[0].numel())) ** 0.5 if p.dim() > 1 else torch.zeros(p.shape))
            count = self.choices + held
            coarse = torch.randn(count, 3, 5, 5, generator=g)
            x = torch.cat([functional.interpolate(part, size=(16, 16), mode="bilinear", align_corners=True) for part in coarse.split(4096)])
            x = (x + 0.3 * torch.randn(x.shape, generator=g)).to(self.device)
            scores = torch.cat([teacher(part) for part in x.split(4096)])
            chances = functional.softmax(3 * (scores - scores.mean(0)) / scores.std(), 1)
            drawn = torch.rand(count, 1, generator=g).to(self.device)
            y = (chances.cumsum(1) < drawn).sum(1).clamp(max=9)
        self.x, self.y, self.xv, self.yv = x[:self.choices], y[:self.choices], x[self.choices:], y[self.choices:]

    def make(self):
        w = self.width
        return nn.Sequential(nn.Conv2d(3, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, 2 * w, 3, stride=2, padding=1), nn.ReLU(),
                             nn.Conv2d(2 * w, 2 * w, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * w, 4 * w), nn.ReLU(),
                             nn.Linear(4 * w, 10))

    def loss(self, model, rows):
        return functional.cross_entropy(model(self.x[rows]).float(), self.y[rows])

    def held_out_loss(self, model):
        return functional.cross_entropy(model(self.xv).float(), self.yv)


def python_sources(limit):
    """The library of Python and the sources of PyTorch, each text once: bytes to train on, and of every 40th file to validate on."""
    kept, seen, size = [[], []], set(), 0
    for root in (Path(os.__file__).parent, Path(torch.__file__).parent):
        for path in sorted(root.rglob("*.py")):
            if size >= limit or "site-packages" in path.relative_to(root).parts:
                continue
            text = path.read_bytes()[:200_000]
            digest = hashlib.sha256(text).digest()
            if len(text) >= 500 and digest not in seen:
                seen.add(digest)
                size += len(text)
                kept[len(seen) % 40 == 0].append(text)
    return [torch.from_numpy(np.frombuffer(b"\n".join(k), np.uint8).copy()) for k in kept]


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False))

    def forward(self, x):
        parts = [p.unflatten(2, (self.heads, -1)).transpose(1, 2) for p in self.mixed(self.before_attention(x)).chunk(3, 2)]
        x = x + self.out(functional.scaled_dot_product_attention(*parts, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.before_mlp(x))


class Decoder(nn.Module):
    def __init__(self, width, layers, heads, context):
        super().__init__()
        self.bytes, self.places = nn.Embedding(256, width), nn.Embedding(context, width)
        self.layers, self.norm = nn.Sequential(*(Layer(width, heads) for _ in range(layers))), nn.LayerNorm(width)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, x):
        return functional.linear(self.norm(self.layers(self.bytes(x) + self.places.weight)), self.bytes.weight)


class Bytes(OnGpu):
    """A decoder of 6 layers, 6 heads and width 384 on 32 rows of 256 bytes a step, validated on 96 rows."""

    name, batch = "gpt", 32

    def __init__(self, device="cuda", most_steps=4000, small=False):
        super().__init__(device)
        self.most_steps = most_steps
        self.sizes = (32, 2, 2, 32) if small else (384, 6, 6, 256)
        if small:
            self.batch = 8
        context = self.sizes[3]
        train, held = python_sources(1_000_000 if small else 40_000_000)
        self.text, self.choices = train.to(self.device), len(train) - context - 1
        starts = torch.linspace(0, len(held) - context - 2, 96).long()
        self.held = torch.stack([held[s:s + context + 1] for s in starts]).long().to(self.device)
        self.ahead = torch.arange(context + 1, device=self.device)

    def make(self):
        return Decoder(*self.sizes)

    def of(self, model, rows):
        return functional.cross_entropy(model(rows[:, :-1]).float().flatten(0, 1), rows[:, 1:].flatten())

    def loss(self, model, rows):
        return self.of(model, self.text[rows[:, None] + self.ahead].long())

    def held_out_loss(self, model):
        return self.of(model, self.held)
