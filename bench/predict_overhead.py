#!/usr/bin/env python3
"""What a watch costs: seconds of Watch.step, and of one forecast; and how to update averages of weights: one call of PyTorch for each
average on views of flat buffers, which kolmo.predict does, beside gathering the weights in a flat buffer and the operator
weights_average on it. Medians of rounds that take turns, in seconds of CPU time on one thread.

  bench/predict_overhead.py [--json FILE]     needs PyTorch; PYTHONPATH=<build>/python"""
import argparse
import json
import math
import statistics
import time

import kolmo
import torch
from kolmo.predict import Watch
from predict_facts import facts

SHAPES = {
    "MLP, 26,122 weights": [(128, 64), (128,), (128, 128), (128,), (10, 128), (10,)],
    "CNN, 422,986 weights": [(48, 3, 3, 3), (48,), (96, 48, 3, 3), (96,), (96, 96, 3, 3), (96,), (192, 1536), (192,), (10, 192), (10,)],
    "GPT, 1.2 million weights": [(256, 128), (64, 128)] + [(128,), (128,), (384, 128), (128, 128), (512, 128), (128, 512)] * 6,
}


def ways(shapes, averages):
    weights = [torch.randn(s) for s in shapes]
    sizes = [w.numel() for w in weights]
    flats = torch.zeros(averages, sum(sizes))
    views = [[v.view(w.shape) for v, w in zip(f.split(sizes), weights, strict=True)] for f in flats]
    gathered = torch.zeros(sum(sizes))
    parts = [v.view(w.shape) for v, w in zip(gathered.split(sizes), weights, strict=True)]
    power, memory = torch.ones(averages, dtype=torch.bool), torch.full((averages,), 6.94, dtype=torch.float64)

    def foreach():
        for v in views:
            torch._foreach_lerp_(v, weights, 0.01)

    def gather_and_lerp():
        torch._foreach_copy_(parts, weights)
        for f in flats:
            f.lerp_(gathered, 0.01)

    def gather_and_operator():
        torch._foreach_copy_(parts, weights)
        kolmo.weights_average(gathered, power, memory, flats, step=100)

    return {"PyTorch, on views": foreach, "gathered, PyTorch": gather_and_lerp, "gathered, weights_average": gather_and_operator}


def watched(rounds):
    """Seconds of a step of the watch, the mean over 50 steps, in which the norm of gradients is read once and averages updated 5 times."""
    rows = []
    for name, shapes in SHAPES.items():
        kinds = {"without averages": False, "power:0.1": True, "power:0.1 and power:0.05": ["power:0.1", "power:0.05"]}
        watches, times = {}, {kind: [] for kind in kinds}
        for kind, average in kinds.items():
            weights = [torch.nn.Parameter(torch.randn(s)) for s in shapes]
            for w in weights:
                w.grad = torch.randn_like(w)
            watches[kind] = Watch(torch.optim.SGD(weights, 1e-3), average=average)
        loss = torch.tensor(1.0)
        for round_ in range(rounds + 3):
            for kind, watch in watches.items():
                start = time.process_time()
                for _ in range(50):
                    watch.step(loss)
                if round_ >= 3:
                    times[kind].append((time.process_time() - start) / 50)
        for kind, t in times.items():
            rows.append({"weights": name, "averages": kind, "seconds": statistics.median(t), "share_of_3_ms": statistics.median(t) / 3e-3})
            print(f"{name}, {kind}: {1e6 * rows[-1]['seconds']:.1f} us a step, {100 * rows[-1]['share_of_3_ms']:.2f} % of 3 ms")
    return rows


def forecasts(rounds):
    """Seconds of one forecast of 200 steps of decay, after so many steps."""
    rows = []
    for steps in (300, 1000, 3000):
        watch, times = Watch(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.1), average=False), []
        generator = torch.Generator().manual_seed(0)
        for step in range(1, steps + 1):
            watch.step(0.5 + 3 * step ** -0.5 * math.exp(0.1 * float(torch.randn((), generator=generator))))
        for _ in range(rounds):
            start = time.process_time()
            watch.forecast(decay_at="now", length=200)
            times.append(time.process_time() - start)
        rows.append({"steps": steps, "seconds": statistics.median(times)})
        print(f"a forecast after {steps} steps: {1e3 * rows[-1]['seconds']:.2f} ms")
    return rows


def measure(rounds):
    rows = []
    for name, shapes in SHAPES.items():
        for averages in (1, 2, 3):
            found = ways(shapes, averages)
            times = {way: [] for way in found}
            for round_ in range(rounds + 3):
                for way, run in found.items():
                    start = time.process_time()
                    run()
                    if round_ >= 3:
                        times[way].append(time.process_time() - start)
            rows.append({"weights": name, "averages": averages, **{way: statistics.median(t) for way, t in times.items()}})
            print(f"{name}, {averages} averages: " + ", ".join(f"{way} {1e6 * statistics.median(t):.0f} us" for way, t in times.items()))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    torch.set_num_threads(1)
    result = {"kind": "predict-overhead", **facts(), "threads": 1, "watch": watched(given.rounds), "forecasts": forecasts(given.rounds // 4),
              "averages": measure(given.rounds)}
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            out.write(json.dumps(result, indent=1) + "\n")
