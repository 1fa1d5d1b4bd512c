"""The networks of the world model in PyTorch, and their loss, for bench/world_model_ablation.py. Many networks are computed side by side:
arrays are [network, window, ...]."""
from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.nn import functional as F

WINDOW, AHEAD, LEAST, BATCH, HEAD, PLANNED, FIRST_HEAD = 48, 10, 20, 64, 32, 3, 5
CLOSED = .6  # weight of the losses in closed loop


@dataclass
class Variant:
    """One change. `latent`: gaussian or categorical. `features`: extend or replace. `level`: absolute, relative or moved."""
    hidden: int = 48
    latent: str = ""
    features: str = ""
    level: str = "absolute"
    ahead: int = AHEAD
    inner: bool = False


class Networks:
    """`count` networks, whose parameters are [network, inputs, outputs]."""

    def __init__(self, variant: Variant, features: int, count: int, device: str, seed: int):
        v, n = variant, variant.hidden
        self.v, self.count = variant, count
        self.inputs = {"": 8, "extend": 8 + features, "replace": 4 + features}[v.features]
        self.kinds = (3, 6)  # categorical variables, and the classes of each
        self.z = {"": 0, "gaussian": 8, "categorical": 18}[v.latent]
        g = torch.Generator(device=device).manual_seed(seed)
        self.p = {}

        def add(name, rows, columns, fan):
            self.p[name] = ((2 * torch.rand(count, rows, columns, generator=g, device=device) - 1) / math.sqrt(fan)).requires_grad_()
        add("input", self.inputs + self.z, 3 * n, n), add("recurrent", n, 3 * n, n), add("bias", 1, 4 * n, n)
        add("head", n + PLANNED + self.z, HEAD, n + PLANNED), add("head_bias", 1, HEAD, n + PLANNED)
        add("out", HEAD, 1, HEAD), add("out_bias", 1, 1, HEAD)
        if self.z:
            wide, outs = (24, 16) if v.latent == "gaussian" else (16, 18)
            for name, more in (("prior", 0), ("posterior", 2)):
                add(name, n + PLANNED + more, wide, n), add(name + "_bias", 1, wide, n), add(name + "_out", wide, outs, wide)
                add(name + "_out_bias", 1, outs, wide)

    def parameters(self) -> int:
        return sum(p[0].numel() for p in self.p.values())

    def some(self, chosen) -> "Networks":
        part = object.__new__(Networks)
        part.v, part.count, part.inputs, part.kinds, part.z = self.v, len(chosen), self.inputs, self.kinds, self.z
        part.p = {k: p.detach()[chosen] for k, p in self.p.items()}
        return part

    def cell(self, x, h):
        n = self.v.hidden
        of_input, of_state = self.p["bias"].split([n, 3 * n], -1)
        new, gates = torch.bmm(x, self.p["input"]).split([n, 2 * n], -1)
        other, kept = torch.baddbmm(of_state, h, self.p["recurrent"]).split([2 * n, n], -1)
        r, z = torch.sigmoid(gates + other).split(n, -1)
        return torch.lerp(torch.tanh(new + of_input + r * kept), h, z)

    def change(self, known):
        a = torch.baddbmm(self.p["head_bias"], known, self.p["head"])
        return .1 * torch.baddbmm(self.p["out_bias"], F.silu(a), self.p["out"])[..., 0]

    def about(self, name, x):
        a = F.silu(torch.baddbmm(self.p[name + "_bias"], x, self.p[name]))
        out = torch.baddbmm(self.p[name + "_out_bias"], a, self.p[name + "_out"])
        if self.v.latent == "gaussian":
            mean, scale = out.chunk(2, -1)
            return mean, F.softplus(scale) + .05
        logits = out.unflatten(-1, self.kinds)
        return (torch.log(.99 * torch.softmax(logits, -1) + .01 / self.kinds[1]),)

    def draw(self, about):
        if self.v.latent == "gaussian":
            return about[0] + about[1] * torch.randn_like(about[0])
        logs = about[0]
        with torch.no_grad():
            most = (logs - torch.log(-torch.log(torch.rand_like(logs).clamp(1e-7, 1 - 1e-7)))).argmax(-1, keepdim=True)
            hard = torch.zeros_like(logs).scatter_(-1, most, 1.)
        soft = logs.exp()
        return (hard + soft - soft.detach()).flatten(-2)

    def divergence(self, q, p):
        if self.v.latent == "gaussian":
            return (torch.log(p[1] / q[1]) + (q[1] ** 2 + (q[0] - p[0]) ** 2) / (2 * p[1] ** 2) - .5).sum(-1)
        return (q[0].exp() * (q[0] - p[0])).sum((-1, -2))

    def given(self, block, features):
        if not self.v.features:
            return block
        return torch.cat([block if self.v.features == "extend" else torch.cat([block[..., :1], block[..., 4:7]], -1), features], -1)


class Ahead:
    """The losses as they go on in closed loop: see LossTrace in member_sizes.hpp."""

    def __init__(self, trace):
        self.level, self.fast, self.slow, self.trend = trace[..., 3], trace[..., 1], trace[..., 2], trace[..., 4]

    def enter(self, trace, here):
        self.level, self.trend = torch.where(here, trace[..., 3], self.level), torch.where(here, trace[..., 4], self.trend)
        self.fast, self.slow = torch.where(here, trace[..., 1], self.fast), torch.where(here, trace[..., 2], self.slow)

    def imagine(self, d):
        self.trend = .93 * self.trend
        change = self.trend + d
        self.level = self.level + change
        self.fast, self.slow = self.fast + .3 * (self.level - self.fast), self.slow + .07 * (self.level - self.slow)
        return change

    def inputs(self, change, shift):
        return torch.stack([self.level - shift, 10 * change, 10 * (self.fast - self.level), 5 * (self.slow - self.level)], -1)


def huber(e):
    size = e.abs()
    return torch.where(size < .05, e * e / .1, size - .025)


def smooth(e):
    return torch.sqrt(e * e + .05 ** 2) - .05


def loss_of(net: Networks, curves, base, left, start):
    """The sum over networks of the mean loss of a batch: base, left [network, window], start [network]."""
    v, steps = net.v, WINDOW - 2
    if net.z:
        base, left = torch.cat([base, base], 1), torch.cat([left, left], 1)
    t = torch.arange(steps, device=base.device)
    inside = t < left[..., None]
    at = torch.where(inside, base[..., None] + t, len(curves.block) - 1)
    block, planned, trace, weight = curves.block[at], curves.planned[at], curves.trace[at], inside.float()
    features = curves.features[at] if v.features else None
    shift = torch.zeros_like(base, dtype=torch.float32)
    if v.level == "relative":
        shift = curves.first[at[..., 0]]
        block = torch.cat([block[..., :5], torch.zeros_like(block[..., 5:6]), block[..., 6:]], -1)
    if v.level == "moved":
        shift = .5 * torch.randn_like(shift)
        block = torch.cat([block[..., :5], block[..., 5:6] + .25 * torch.randn_like(shift)[..., None, None], block[..., 6:]], -1)
    block = torch.cat([block[..., :1] - shift[..., None, None], block[..., 1:]], -1)
    before = (start - 1)[:, None, None, None].expand(-1, base.shape[1], 1, 1)
    norm = block[..., 7:].gather(2, before)[:, :, 0]
    frozen = features.gather(2, before.expand(-1, -1, -1, features.shape[-1]))[:, :, 0] if v.features else None
    h = torch.zeros(*base.shape, v.hidden, device=base.device)
    path = Ahead(trace[:, :, 0])
    s = start[:, None]
    changes, levels, divergences = [], [], []
    for t in range(steps):
        x, z = block[:, :, t], None
        if t >= FIRST_HEAD:
            was = trace[:, :, t - 1]
            known = torch.cat([h, planned[:, :, t]], -1)
            if net.z:
                surprise = 10 * (trace[:, :, t, 0] - was[..., 3] - .93 * was[..., 4])
                prior = net.about("prior", known)
                posterior = net.about("posterior", torch.cat([known, surprise[..., None], x[..., 1:2]], -1))
                divergences.append(net.divergence(posterior, prior))
                z = net.draw([torch.where((t < s).reshape(-1, *[1] * (q.dim() - 1)), q, p) for q, p in zip(posterior, prior)])
                known = torch.cat([known, z], -1)
            changes.append(net.change(known))
            if t >= AHEAD:
                path.enter(was, t == s)
                imagined = torch.cat([path.inputs(path.imagine(changes[-1]), shift), x[..., 4:7], norm], -1)
                levels.append(path.level)
                x = torch.where((t >= s)[..., None], imagined, x)
        elif net.z:
            z = torch.zeros(*base.shape, net.z, device=base.device)
        if t + 1 < steps:
            x = net.given(x, torch.where((t >= s)[..., None], frozen, features[:, :, t]) if v.features else None)
            h = net.cell(torch.cat([x, z], -1) if net.z else x, h)

    t = torch.arange(steps, device=base.device)
    at, came, weight = t[FIRST_HEAD:], trace[..., 0], weight / base.shape[1]
    trend = (trace[..., 3] + .93 * trace[..., 4])[:, :, FIRST_HEAD - 1:-1]
    read = (huber(trend + torch.stack(changes, -1) - came[..., FIRST_HEAD:]) * weight[..., FIRST_HEAD:]).sum(1)
    total = (read * (at < s if net.z else at <= s) / s).sum()
    if net.z:  # the Huber loss is a hundredth of a negative log likelihood of noise of .022
        total = total + .01 * ((torch.stack(divergences, -1) * weight[..., FIRST_HEAD:]).sum(1) * (at < s) / s).sum()
    ways, y, weight, at = torch.stack(levels, -1), came[..., AHEAD:], weight[..., AHEAD:], t[AHEAD:]
    if net.z:  # a proper score of two paths
        a, b = ways.chunk(2, 1)
        score = (smooth(ways - y) * weight).sum(1) - (smooth(a - b) * weight[:, :BATCH]).sum(1)
    else:
        score = (huber(ways - y) * weight).sum(1)
    return total + CLOSED * (score * ((at >= s) & (at < s + v.ahead))).sum()
