"""What a call from Python costs on a small array, beside NumPy's own function: pairs of samples in turn, on one processor.

python_calls.py OUT.json  with kolmo importable (PYTHONPATH=build/ci/python)"""
import json
import os
import platform
import statistics
import sys
import timeit
from datetime import datetime, timezone
from pathlib import Path

import kolmo
import machine
import numpy as np

CALLS, SAMPLES = 2000, 101


def quartiles(values: list[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(values, n=4)
    return {"median": middle, "low": low, "high": high}


def main() -> None:
    x = np.random.default_rng(0).random((4, 5), dtype=np.float32)
    out = np.empty_like(x)
    y = x + 1
    pairs = {"exp": (lambda: kolmo.elementwise_exp(x), lambda: np.exp(x)),
             "exp, out given": (lambda: kolmo.elementwise_exp(x, out), lambda: np.exp(x, out)),
             "add": (lambda: kolmo.vector_add(x, y), lambda: np.add(x, y))}
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    results = []
    for name, both in pairs.items():
        samples: list[list[float]] = [[], []]
        for _ in range(SAMPLES):
            for place, call in enumerate(both):
                samples[place].append(timeit.timeit(call, number=CALLS) / CALLS * 1e6)
        above = [k - n for k, n in zip(*samples, strict=True)]
        results.append({"call": name, "kolmo_us": quartiles(samples[0]), "numpy_us": quartiles(samples[1]), "above_us": quartiles(above),
                        "samples_us": {"kolmo": [round(s, 4) for s in samples[0]], "numpy": [round(s, 4) for s in samples[1]]}})
        print(f"{name}: {results[-1]['kolmo_us']['median']:.2f} us, NumPy {results[-1]['numpy_us']['median']:.2f} us, "
              f"above by {results[-1]['above_us']['median']:.2f} us")
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": kolmo._kolmo.commit(), "machine": machine.cpu_model(),
              "python": platform.python_version(), "numpy": np.__version__, "calls_a_sample": CALLS, "results": results}
    Path(sys.argv[1]).write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
