"""The parts of a world model on a CPU beside PyTorch and NumPy, its memory, and the upload of its weights.

world_model.py OUT.json KOLMO [PART OF A NAME]  with kolmo and torch importable (PYTHONPATH=build/ci/python); KOLMO is the command. Samples are
taken in turn, on one core and the same data, and results are compared first (cpu_pytorch.py). Times are seconds of the core: what other processes
of the machine take is not in them. Names of cases are those of `kolmo bench`."""
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import machine
import numpy as np
import torch
from cpu_pytorch import Call, measured, normal, tensors

FEATURES, CATEGORIES = 64, 256
DECAYS = np.array([0.75, 0.9375, 0.984375])
PYTORCH, NUMPY = "PyTorch, `nn.GRU`", "NumPy"
MEMORY = [("50 steps of one member of 256 units, f32", 1, 256), ("50 steps of 5 members of 256 units, f32", 5, 256),
          ("50 steps of 10 members of 256 units, f32", 10, 256), ("50 steps of 5 members of 512 units, f32", 5, 512),
          ("50 steps of 5 members of 1024 units, f32", 5, 1024)]


def gru(n: int) -> tuple[Call, Call, float]:
    theirs, x = torch.nn.GRU(FEATURES, n, batch_first=True), normal(1, 50, FEATURES)
    weights = [p.detach().numpy() for p in theirs.parameters()]
    h, (tx,) = np.zeros((1, n), np.float32), tensors(x)
    return lambda: kolmo.gru_forward(x, h, *weights)[0], lambda: theirs(tx)[0], 1e-4


def ensemble(steps: int, members: int, n: int) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[torch.Tensor], torch.Tensor]]:
    """The losses of rollouts from features, as Kolmo's operator and as PyTorch's cells of the members in turn."""
    cells = [torch.nn.GRUCell(FEATURES, n) for _ in range(members)]
    weights = [np.stack([p.detach().numpy() for p in same]) for same in zip(*(c.parameters() for c in cells), strict=True)]
    h, a, b = np.tanh(normal(members, n)), normal(members, n) / (4 * n**0.5), normal(members, CATEGORIES) / (4 * CATEGORIES**0.5)
    units = torch.arange(CATEGORIES) * n // CATEGORIES
    th, ta, tb = tensors(h, a, b)

    def ours(features: np.ndarray) -> np.ndarray:
        return kolmo.rssm_rollout(features, h, *weights[:2], a, b, *weights[2:], steps=steps, reset="after").loss

    def theirs(features: torch.Tensor) -> torch.Tensor:
        loss = torch.empty(members, steps)
        for m, cell in enumerate(cells):
            x, state = features.clone()[None], th[m][None]
            for t in range(steps):
                state = cell(x, state)
                x[0, 0] = loss[m, t] = torch.exp(torch.clamp(state[0] @ ta[m] + torch.softmax(state[0, units], 0) @ tb[m], -10, 10))
        return loss
    return ours, theirs


def rollout(steps: int, members: int, n: int = 256) -> tuple[Call, Call, float]:
    ours, theirs = ensemble(steps, members, n)
    features = normal(FEATURES)
    (given,) = tensors(features)
    return lambda: ours(features), lambda: theirs(given), 1e-4


def slope(x: np.ndarray) -> float:
    t = np.arange(len(x)) - (len(x) - 1) / 2
    return float(t @ x / max(t @ t, 1e-300))


def numpy_encode(losses, norms, optimizer, progress, weights, layers, jump) -> np.ndarray:
    """The features of kolmo.state_encode (docs/reference/nn.md)."""
    x, g = losses.astype(np.float64), norms.astype(np.float64)
    w, mean, deviation, last = len(x), x.mean(), x.std(), x[-1]
    late, early = (x[-16:].mean(), x[-32:-16].mean()) if w >= 32 else (0.0, 1.0)
    ratio = late / max(early, 1e-8) if w >= 32 else 1.0

    def averages(values: np.ndarray) -> np.ndarray:
        powers = DECAYS[:, None] ** np.arange(len(values) - 1, -1, -1)
        return (1 - DECAYS) * (powers[:, 1:] @ values[1:]) + powers[:, 0] * values[0]
    ema, centred = averages(x), x - mean
    variance = centred @ centred
    step, phase, of_phase, total = progress
    return np.concatenate([
        [last, mean, deviation, x.min(), x.max(), late - early if w >= 32 else 0.0, ratio, step / 1e4],
        [g[-1], g.mean(), g.std(), g.min(), g.max(), max(np.log10(g[-1]), -10), min(g[-1] / max(g.mean(), 1e-8), 10), g.std() / max(g.mean(), 1e-8)],
        optimizer[:4], [max(np.log10(optimizer[4]), -10)], optimizer[5:], [np.clip((last - mean) / max(deviation, 1e-8), -10, 10), phase, of_phase / 100],
        ema, [ema[0] - ema[2]], [slope(x[-n:]) for n in (16, 64, 256)], [centred[1:] @ centred[:-1] / variance if variance > 0 else 0.0],
        np.quantile(x, [0.1, 0.25, 0.5, 0.75, 0.9]), averages(g), weights, layers, [np.clip(1 - step / total, 0, 1)], np.arange(4) == phase, jump])


def state(w: int, v: int) -> list[np.ndarray]:
    rng = np.random.default_rng(w)
    losses = 2 / (1 + 0.02 * np.arange(w)) + 0.1 * rng.random(w)
    parts = losses, 1 + rng.random(v), 0.1 + rng.random(7), np.array([w, 1, w % 100, 5000]), rng.random(6), rng.random(8), rng.random(3)
    return [p.astype(np.float32) for p in parts]


def encode(w: int) -> tuple[Call, Call, float]:
    parts = state(w, min(w, 64))
    return lambda: kolmo.state_encode(*parts), lambda: numpy_encode(*parts), 1e-5


def whole_step() -> tuple[Call, Call, float]:
    """A state after 256 steps is encoded, and an ensemble imagines 50 steps from its features."""
    ours, theirs = ensemble(50, 5, 256)
    parts = state(256, 64)
    return (lambda: ours(kolmo.state_encode(*parts)), lambda: theirs(torch.from_numpy(numpy_encode(*parts).astype(np.float32))), 1e-4)


# Each row names the operator and the case that `kolmo bench` times on a GPU, the two calls, and the peer beside Kolmo.
CASES = [("gru_forward", f"50 steps of {n} units, f32", lambda n=n: gru(n), PYTORCH) for n in (64, 128, 256, 512, 1024)]
CASES += [("rssm_rollout", f"{steps} steps of {f'{m} members' if m > 1 else 'one member'} of {n} units, f32", lambda s=steps, m=m, n=n: rollout(s, m, n),
           "PyTorch, `nn.GRUCell` of each member") for steps, m, n in ((10, 5, 256), (50, 5, 256), (100, 5, 256), (50, 1, 256), (50, 10, 256),
                                                                      (50, 5, 512), (50, 5, 1024))]
CASES += [("state_encode", f"one state after {'one step' if w == 1 else f'{w} steps'}, f32", lambda w=w: encode(w), NUMPY) for w in (1, 50, 100, 500)]
CASES += [("end to end", "one state after 256 steps, then 50 steps of 5 members of 256 units, f32", whole_step, "NumPy, then PyTorch, `nn.GRUCell`")]


def memory(command: str, case: str) -> dict:
    """What a call needs, as `kolmo bench` computes it from the layout, and the peak of the pool in a process that makes this call only."""
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/trace.json"
        bench = [command, "--memory-trace", trace, "bench", "rssm_rollout", "--device", "cpu", "--case", case, "--no-baseline", "--samples", "3", "--json"]
        told = json.loads(subprocess.run(bench, check=True, capture_output=True).stdout)["ops"][0]["results"][0]
        seen = json.loads(subprocess.run([command, "memory", trace, "--pool", "cpu", "--json"], check=True, capture_output=True).stdout)
    return {"tensor_bytes": told["tensor_bytes"], "workspace_bytes": told["workspace_bytes"], "peak_bytes": seen["pools"][0]["peak_requested_bytes"]}


def weight_bytes(members: int, n: int) -> int:
    return 4 * members * (3 * n * (FEATURES + n + 1) + n + CATEGORIES)


def main(out: str, command: str, part: str = "") -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    load = list(os.getloadavg())
    results, memories, uploads = [], [], []
    with torch.inference_mode():
        for op, case, make, baseline in CASES:
            if part in f"{op} {case}":
                row = measured(f"{op} {case}", *make(), time.process_time)
                results.append({"op": op, "case": case, "baseline": baseline, "kolmo_us": row["kolmo_us"], "baseline_us": row["pytorch_us"], "ratio": row["ratio"]})
                print(f"{row['ratio']:8.2f}  {op}: {case}", flush=True)
    for case, members, n in MEMORY:
        memories.append({"case": case, "members": members, "units": n, **memory(command, case)})
        given, kept, copied = (np.zeros(weight_bytes(members, n), np.uint8) for _ in range(3))
        row = measured("copy", lambda given=given, kept=kept: kolmo.contiguous_copy(given, kept), lambda given=given, copied=copied: np.copyto(copied, given),
                       float("nan"), time.process_time)
        uploads.append({"members": members, "units": n, "bytes": given.nbytes, "kolmo_us": row["kolmo_us"], "baseline_us": row["pytorch_us"]})
        print(f"{members} members of {n} units: {memories[-1]}", flush=True)
    record = {"kind": "world_model", "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": kolmo._kolmo.commit(),
              "machine": {"cpu": machine.cpu_model(), "cores_used": 1, "system": platform.platform(), "load_average_at_start": load},
              "versions": {"kolmo": kolmo.__version__, "torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version()},
              "results": results, "memory": memories, "uploads": uploads}
    Path(out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
