#!/usr/bin/env python3
"""train_store.py KOLMO OUTPUT.json DEVICE...: times `kolmo forecast --train-store` on 64 trainings of 300 blocks.

A training's loss follows a lag law with noise of 1 %: floor + amplitude (S + 10)^-0.3 + gain lag(rate), S the sum of rates so far; three of
four have a decay. Each device is timed REPEATS times, the whole command with reading, training, and judging the forecasters."""
import datetime
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import cpu_model, kolmo_version

RUNS, STEPS, REPEATS = 64, 3000, 5


def write_runs(folder: Path) -> None:
    draw = random.Random(7)
    for i in range(RUNS):
        floor, amplitude, gain = .4 + .1 * (i % 3), 2 + .3 * (i % 5), .2 + .1 * (i % 4)
        decay = math.inf if i % 4 == 0 else STEPS * (1 + i % 3) // 4
        total, lag, lines = 0.0, 1.0, ["step,loss,gradient_norm,rate"]
        for t in range(STEPS):
            rate = max(0.0, min(1.0, 1 - (t - decay) * 5 / STEPS))
            total += rate
            lag += (rate - lag) / 10
            loss = (floor + amplitude * (total + 10) ** -.3 + gain * lag) * math.exp(draw.gauss(0, .01))
            lines.append(f"{t + 1},{loss:.6g},{1 + 10 / (total + 10):.6g},{.01 * rate:.6g}")
        (folder / f"run{i}.csv").write_text("\n".join(lines) + "\n")


def main() -> None:
    kolmo, output, *devices = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        runs = Path(temporary) / "runs"
        runs.mkdir()
        write_runs(runs)
        found = {}
        for device in devices:
            seconds = []
            for repeat in range(REPEATS):
                store = Path(temporary) / f"store_{device}_{repeat}"
                began = time.monotonic()
                subprocess.run([kolmo, "forecast", "--train-store", runs, "--store", store, "--device", device], check=True,
                               stdout=subprocess.DEVNULL)
                seconds.append(round(time.monotonic() - began, 3))
            found[device] = {"seconds": seconds, "median": statistics.median(seconds)}
    version, commit = kolmo_version(kolmo)
    gpus = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], check=True, capture_output=True,
                          text=True).stdout.split("\n")[0] if "cuda" in devices else None
    record = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "version": version, "commit": commit,
              "cpu": cpu_model(), "cores": os.cpu_count(), "gpu": gpus, "runs": RUNS, "blocks": STEPS // 10, "devices": found}
    Path(output).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
