#!/usr/bin/env python3
"""bench/world_model_ablation.py INPUTS.npz --out FOLDER [--device cuda] [--only NAME,...]: what the world model gains or loses by one change.
INPUTS.npz is made by bench/ablation_inputs.py. The network of kolmo/predict/model is written here again in PyTorch, with the same inputs,
losses, windows and schedule; a variant changes one thing. All networks of a variant (folds x seeds x members) are trained side by side.
FOLDER/NAME.npz holds the mean and deviation over the members' forecasts, which bench/ablation_score.py scores."""
from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from ablation_networks import AHEAD, BATCH, FIRST_HEAD, LEAST, WINDOW, Ahead, Networks, Variant, loss_of

RATE, DECAY, MOST, EPOCHS, MEMBERS = 6e-3, 1e-3, 1500, 170, 5
SAMPLES = 8  # paths of a latent in a forecast

# Held out: the runs of the first three folds are forecast as tests; the others, trained without the runs of the tests, choose attempts.
FOLDS = {"runs": None, "gpt_small 64": ["gpt_small 64"], "cnn 64": ["cnn 64"]}
INNER = {f"inner {name}": [name, "gpt_small 64", "cnn 64"] for name in ("gpt_small 128", "gpt_small 192", "cnn 16", "cnn 32")}


VARIANTS = {
    "as_built": Variant(inner=True),
    "gaussian": Variant(hidden=36, latent="gaussian"),
    "categorical": Variant(hidden=36, latent="categorical"),
    "features_added": Variant(hidden=36, features="extend"),
    "features_instead": Variant(hidden=36, features="replace"),
    "relative_level": Variant(level="relative", inner=True),
    "moved_level": Variant(level="moved", inner=True),
    "ahead_20": Variant(ahead=20, inner=True),
    "gaussian_48": Variant(latent="gaussian"),
}


@dataclass
class Group:
    """Networks that learn from the same runs: the ensemble, or one half's (which forecasts the other half)."""
    fold: str
    seed: int
    part: int  # -1: all runs that are not held out
    runs: np.ndarray
    forecast: np.ndarray
    members: int


class Curves:
    def __init__(self, file: str, device: str):
        z = np.load(file)
        self.n, self.family, self.held = z["blocks"], [str(f) for f in z["family"]], z["held"]
        self.offset = np.concatenate([[0], np.cumsum(self.n)[:-1]])
        rows = np.concatenate([z["rows"], np.zeros((1, z["rows"].shape[1]))])  # the last row stands for what is not there
        first = np.repeat([rows[o:o + 3, 16].mean() for o in self.offset], self.n)
        put = lambda a: torch.tensor(np.ascontiguousarray(a), dtype=torch.float32, device=device)  # noqa: E731
        self.block, self.planned, self.trace = put(rows[:, :8]), put(rows[:, 8:11]), put(rows[:, 11:16])
        self.first = put(np.append(first, 0))
        f = z["features"]
        self.features = put(np.concatenate([f, np.zeros((1, f.shape[1]))]))
        self.device = device

    def groups(self, folds: dict, seeds: int) -> list[Group]:
        out = []
        for fold, families in folds.items():
            named = np.array([any(name in f for name in families or ()) for f in self.family])
            out_of = np.array(self.held, bool) if families is None else named
            test = out_of if families is None else np.array([families[0] in f for f in self.family])
            train = np.flatnonzero(~out_of)
            for seed in range(seeds):
                out.append(Group(fold, seed, -1, train, np.flatnonzero(test), MEMBERS))
                for part in (0, 1):
                    out.append(Group(fold, seed, part, train[1 - part::2], train[part::2], (MEMBERS + 1) // 2))
        return out


def course(curves: Curves, group: Group, variant: Variant, random: np.random.Generator):
    """The updates of a member: first blocks of windows and their blocks (MOST x BATCH), first block of the closed loop, rate."""
    windows = [(r, first) for r in group.runs for first in range(0, int(curves.n[r]) - LEAST + 1, WINDOW // 2)]
    of_run: dict = {}
    for w in windows:
        of_run.setdefault(w[0], []).append(w)
    usable, sample = list(of_run), []
    while len(sample) < len(windows):
        sample += of_run[usable[random.integers(len(usable))]]
    sample = np.array(sample[:len(windows)])
    batches = max(1, len(windows) // BATCH)
    updates = min(EPOCHS * batches, MOST)
    order = np.concatenate([random.permutation(len(sample))[:batches * BATCH] for _ in range(-(-updates // batches))])[:updates * BATCH]
    run, first = sample[order, 0], sample[order, 1]
    room = curves.n[run] - LEAST - first
    first = first + (random.random(len(first)) * np.minimum(WINDOW // 2, room + 1)).astype(int)
    base, left = np.full((MOST, BATCH), int(curves.n.sum())), np.zeros((MOST, BATCH), int)
    base[:updates], left[:updates] = (curves.offset[run] + first).reshape(-1, BATCH), (curves.n[run] - first).reshape(-1, BATCH)
    start = AHEAD + random.integers(0, WINDOW - AHEAD - variant.ahead - 2, MOST)
    turn, u = max(1., .3 * updates - 1), np.arange(MOST)
    up = RATE + (RATE / 25 - RATE) / 2 * (1 + np.cos(np.pi * u / turn))
    down = RATE / 25e4 + (RATE - RATE / 25e4) / 2 * (1 + np.cos(np.pi * (u - turn) / max(1., updates - 1 - turn)))
    return base, left, start, np.where(u <= turn, up, np.where(u < updates, down, 0))


def train(variant: Variant, curves: Curves, groups: list[Group], updates: int | None) -> Networks:
    device, cuda = curves.device, curves.device.startswith("cuda")
    courses = [course(curves, g, variant, np.random.default_rng([g.seed, m, g.part + 1, len(g.runs)])) for g in groups for m in range(g.members)]
    base, left, start = (torch.tensor(np.stack([c[i] for c in courses], 1), device=device) for i in range(3))
    rate = torch.tensor(np.stack([c[3] for c in courses], 1), dtype=torch.float32, device=device)
    torch.manual_seed(1)
    net = Networks(variant, curves.features.shape[1], len(courses), device, 7)
    p = list(net.p.values())
    first, second = [torch.zeros_like(q) for q in p], [torch.zeros_like(q) for q in p]
    u = torch.zeros(1, dtype=torch.long, device=device)
    shown = torch.zeros((), device=device)

    def update():
        loss = loss_of(net, curves, base.index_select(0, u)[0], left.index_select(0, u)[0], start.index_select(0, u)[0])
        gradient = torch.autograd.grad(loss, p)
        with torch.no_grad():
            shown.copy_(loss / net.count)
            norm = sum((g * g).sum((1, 2), keepdim=True) for g in gradient).sqrt()
            clip, now = (1 / (norm + 1e-6)).clamp(max=1), (u + 1).float()
            r = rate.index_select(0, u).reshape(-1, 1, 1)
            by, root = r / (1 - .9 ** now), 1 / torch.sqrt(1 - .999 ** now)
            for q, g, m, s in zip(p, gradient, first, second):
                g = g * clip
                m.lerp_(g, .1), s.lerp_(g * g, .001)
                q.mul_(1 - r * DECAY).sub_(by * m / (s.sqrt() * root + 1e-8))
            u.add_(1)

    begin = time.monotonic()
    count = updates or MOST
    graph = None
    for i in range(count):
        if cuda and i == 3:
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                update()
        graph.replay() if graph else update()
        if i in (0, 2, 10, count // 4, count // 2, count - 1):
            print(f"  update {i}: loss {float(shown):.4f}, {time.monotonic() - begin:.1f} s", flush=True)
    return net


@torch.no_grad()
def rollouts(net: Networks, curves: Curves, run: np.ndarray, seen: np.ndarray):
    """The forecasts of networks from each origin: mean over paths [network, origin, block] less the trend's start, and their variance."""
    v, dev, paths = net.v, curves.device, SAMPLES if net.z else 1
    t = np.arange(-WINDOW, AHEAD)
    at = seen[:, None] + t
    inside = (at >= 0) & (at < curves.n[run][:, None])
    index = torch.tensor(np.where(inside, curves.offset[run][:, None] + at, len(curves.block) - 1), device=dev)
    begun = torch.tensor(inside, device=dev)
    block, planned, trace = curves.block[index].clone(), curves.planned[index].clone(), curves.trace[index[:, WINDOW - 1]]
    most = np.array([float(curves.block[o:o + min(s + AHEAD, n), 4].max()) for o, s, n in zip(curves.offset[run], seen, curves.n[run])])
    peak = torch.tensor(most, dtype=torch.float32, device=dev)[:, None]  # of the rates seen and planned, which may be below the run's
    block[..., 4] -= peak
    block[..., 5] += peak / 2
    planned[..., 0] -= peak
    shift = curves.first[index[:, WINDOW - 1]] if v.level == "relative" else torch.zeros(len(run), device=dev)
    if v.level == "relative":
        block[..., 5] = 0
    block[..., 0] -= shift[:, None]
    features = curves.features[index] if v.features else None
    many = lambda a: a.repeat_interleave(paths, 0).expand(net.count, *[-1] * (a.dim())) if paths > 1 else a.expand(net.count, *[-1] * a.dim())  # noqa: E731
    block, planned, trace, shift, begun = many(block), many(planned), many(trace), many(shift), many(begun)
    features = many(features) if v.features else None
    h = torch.zeros(*block.shape[:2], v.hidden, device=dev)
    path, levels = Ahead(trace), []
    for i in range(WINDOW + AHEAD):
        x, z = block[:, :, i], None
        known = torch.cat([h, planned[:, :, i]], -1)
        if net.z:
            if i >= WINDOW:
                z = net.draw(net.about("prior", known))
            else:
                here, was = curves.trace[index[:, i]], curves.trace[index[:, max(i - 1, 0)]]
                surprise = many((10 * (here[:, 0] - was[:, 3] - .93 * was[:, 4]))[:, None])
                z = net.draw(net.about("posterior", torch.cat([known, surprise, x[..., 1:2]], -1)))
                # A member begins to draw after FIRST_HEAD blocks, as in training.
                z = z * torch.tensor(np.repeat(at[:, i] >= np.maximum(seen - WINDOW, 0) + FIRST_HEAD, paths), device=dev)[None, :, None]
            known = torch.cat([known, z], -1)
        if i >= WINDOW:
            change = path.imagine(net.change(known))
            levels.append(path.level - trace[..., 3])
            x = torch.cat([path.inputs(change, shift), x[..., 4:7], block[:, :, WINDOW - 1, 7:]], -1)
        x = net.given(x, features[:, :, min(i, WINDOW - 1)] if v.features else None)
        h = torch.where((begun[:, :, i] | torch.tensor(i >= WINDOW, device=dev))[..., None], net.cell(torch.cat([x, z], -1) if net.z else x, h), h)
    out = torch.stack(levels, -1).unflatten(1, (len(run), paths))
    return out.mean(2), out.var(2) if paths > 1 else torch.zeros_like(out[:, :, 0])


def origins(curves: Curves, group: Group):
    run, seen = [], []
    for r in group.forecast:
        n = int(curves.n[r])
        step = max(5, n // 16)
        some = set(range(10, n, step)) | (set(range(10, n, 5)) if group.part < 0 else set())
        for s in sorted(some):
            run.append(r), seen.append(s)
    return np.array(run), np.array(seen)


def forecast(net: Networks, curves: Curves, groups: list[Group]) -> dict:
    out, first = {}, 0
    for g in groups:
        chosen = list(range(first, first + g.members))
        first += g.members
        run, seen = origins(curves, g)
        mean, variance = rollouts(net.some(chosen), curves, run, seen)
        key = f"{g.fold}|{g.seed}|{g.part}"
        out[key + "|origin"] = np.stack([run, seen]).astype(np.int16)
        for name, value in (("mean", mean.mean(0)), ("spread", mean.std(0)), ("paths", variance.mean(0).sqrt())):
            if name != "paths" or net.z:
                out[f"{key}|{name}"] = value.cpu().numpy().astype(np.float16)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default=",".join(VARIANTS))
    parser.add_argument("--updates", type=int, help="fewer, to try the program")
    parser.add_argument("--folds", help="the first so many of the folds, to try the program", type=int)
    parser.add_argument("--stop", type=float, default=1e9, help="begin no variant after so many seconds")
    o = parser.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    curves = Curves(o.inputs, o.device)
    begin = time.monotonic()
    for name in o.only.split(","):
        if time.monotonic() - begin > o.stop:
            print(name, "was left out: no time", flush=True)
            continue
        variant, now = VARIANTS[name], time.monotonic()
        groups = curves.groups(dict(list(FOLDS.items())[:o.folds]), o.seeds)
        if variant.inner and not o.folds:
            groups += curves.groups(INNER, min(2, o.seeds))
        print(f"{name}: {sum(g.members for g in groups)} networks", flush=True)
        net = train(variant, curves, groups, o.updates)
        found = forecast(net, curves, groups)
        device = torch.cuda.get_device_name() if o.device.startswith("cuda") else "CPU"
        np.savez_compressed(o.out / f"{name}.npz", parameters=net.parameters(), seconds=time.monotonic() - now, device=device, torch=torch.__version__, **found)
        print(f"{name}: {net.parameters()} parameters, {time.monotonic() - now:.1f} s", flush=True)
        del net
        if o.device.startswith("cuda"):
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
