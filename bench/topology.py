"""Persistence of point clouds beside Ripser and giotto-ph: samples in turn, on one core and the same points, diagrams compared first.

topology.py OUT.json [PART OF A NAME]  with kolmo, ripser and gph importable. Times are seconds of the core: what other processes of the
machine take is not in them."""
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import machine
import numpy as np
from gph import ripser_parallel
from kolmo.topology import rips_persistence
from ripser import ripser

PAIRS, ENOUGH = 7, 15.0  # samples of each; no more once so many seconds are spent on a case
ARMS = {"kolmo": lambda x: (lambda p: [p.h0, p.h1])(rips_persistence(x, threads=1)),
        "ripser": lambda x: ripser(x, maxdim=1)["dgms"],
        "giotto-ph": lambda x: ripser_parallel(x, maxdim=1, n_threads=1)["dgms"]}


def circle(n: int, noise: float) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], 1) + noise * np.random.default_rng(0).standard_normal((n, 2))


def delays(n: int) -> np.ndarray:
    t = np.arange(n + 77)
    series = np.sin(0.11 * t) + 0.5 * np.sin(0.11 * 2**0.5 * t) + 0.1 * np.random.default_rng(1).standard_normal(len(t))
    return np.lib.stride_tricks.sliding_window_view(series, 78)[:, ::7].copy()


CASES = {f"{n} points in a cube of {d} dimensions": (lambda n=n, d=d: np.random.default_rng(d).random((n, d)))
         for n, d in ((50, 3), (200, 3), (1000, 3), (2000, 2), (2000, 3), (2000, 5))}
CASES |= {"500 points of a noisy circle": lambda: circle(500, 0.1), "1000 points of a noisy circle": lambda: circle(1000, 0.1),
          "2000 points of a noisy circle": lambda: circle(2000, 0.1), "2000 delay vectors of two rhythms": lambda: delays(2000)}


def ordered(diagram: np.ndarray) -> np.ndarray:
    """The intervals that last, in the order of their lengths: those of f32 may be shorter than a rounding."""
    return np.sort(diagram[:, 1] - diagram[:, 0])[::-1]


def differ(got: list[np.ndarray], want: list[np.ndarray]) -> float:
    """The largest difference of the lengths of intervals; a peer lacks those that f32 does not resolve."""
    most = 0.0
    for g, w in zip(map(ordered, got), map(ordered, want), strict=True):
        n = max(len(g), len(w))
        g, w = (np.pad(x, (0, n - len(x))) for x in (g, w))
        most = max(most, float(np.max(np.abs(g - w)[np.isfinite(g)], initial=0.0)), 0.0 if np.array_equal(np.isfinite(g), np.isfinite(w)) else np.inf)
    return most


def measure(name: str) -> dict:
    x = CASES[name]()
    results, seconds = {}, {arm: [] for arm in ARMS}
    for _ in range(PAIRS):
        for arm, run in ARMS.items():
            before = time.process_time()
            results[arm] = run(x)
            seconds[arm].append(time.process_time() - before)
        if sum(map(sum, seconds.values())) > ENOUGH:
            break
    for arm in ARMS:
        error = differ(results["kolmo"], results[arm])
        if error > 1e-6 * np.abs(x).max():
            raise SystemExit(f"{name}: the lengths of intervals of {arm} differ by {error}")
    row = {"case": name, "loops": len(results["kolmo"][1]), "seconds": seconds, "median": {arm: statistics.median(s) for arm, s in seconds.items()}}
    print(f"{name:45}", "  ".join(f"{arm} {m * 1e3:10.2f} ms" for arm, m in row["median"].items()), flush=True)
    return row


def main() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": kolmo._kolmo.commit(),
              "machine": {"cpu": machine.cpu_model(), "cores_used": 1, "system": platform.platform(), "load_average_at_start": list(os.getloadavg())},
              "versions": {name: importlib.metadata.version(name) for name in ("ripser", "giotto-ph", "numpy")},
              "rows": []}
    for name in CASES:
        if part in name:
            record["rows"].append(measure(name))
            Path(sys.argv[1]).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")  # a run may be ended between cases


if __name__ == "__main__":
    main()
