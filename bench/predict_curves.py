#!/usr/bin/env python3
"""bench/predict_curves.py CURVES.npz --kolmo COMMAND --record FILE.json [--hold runs|FAMILY]: how well trainings that were
held out are forecast, through the public command. CURVES.npz holds segments of real trainings (rec: loss, gradient norm and rate of each
step; off: where segments begin; meta: JSON of task, width, seed, stage and parent of each). A segment is joined to its parents, and
each training becomes a CSV. `kolmo forecast --train-store` learns from those that are not held out, and
`kolmo forecast --backtest` forecasts the others. --hold runs: seed 1 of the trainings of one size, and every third run of the sweep;
FAMILY: all trainings whose "task width" contains the text. The ends of decays are forecast when they begin, by `kolmo forecast`. All rows of the command's table are kept, also those that lose."""
from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def trainings(file: Path):
    """Yields name, family, whether --hold runs holds it out, steps x (loss, gradient norm, rate), and the step at which a branch decays."""
    z = np.load(file)
    meta, off, rec = json.loads(str(z["meta"])), z["off"], z["rec"]
    continued = {m["parent"] for m in meta if m.get("parent") is not None and m["stage"] == "trunk"}
    for i, m in enumerate(meta):
        pilot = m["stage"] == "pilot" and m["kind"] == "const" and m.get("parent") is None
        if m["stage"] in ("pilot_sf", "sfree") or i in continued or pilot:  # schedule-free, or part of a longer one
            continue
        parts, j = [], i
        while j is not None:
            parts.append(rec[off[j]:off[j + 1]])
            j = meta[j].get("parent")
        steps = np.concatenate(parts[::-1])
        if len(steps) < 150 or not np.isfinite(steps[:, 0]).all() or steps[:, 0].max() > 30:
            continue
        held = (m["seed"] - 1000) % 3 == 1 if m["stage"] == "sweep" else m["seed"] == 1
        width = str(m["width"]).strip("()").replace(", ", "-")
        yield f"{m['task']}-{width}-{m['stage']}-{m['kind']}-{i}", f"{m['task']} {width}", held, steps[: len(steps) // 10 * 10], m["start"] if m["stage"] == "branch" else 0


def is_held(hold: str, family: str, held: bool) -> bool:
    return held if hold == "runs" else hold in family


def write(path: Path, steps, first: int = 1) -> Path:
    rows = [f"{first + t},{loss:.7g},{norm:.7g},{rate:.7g}\n" for t, (loss, norm, rate) in enumerate(steps)]
    path.write_text("step,loss,gradient_norm,rate\n" + "".join(rows), encoding="utf-8")
    return path


def export(file: Path, hold: str, folder: Path) -> dict[str, int]:
    count = {"train": 0, "held": 0}
    for name, family, held, steps, _ in trainings(file):
        part = "held" if is_held(hold, family, held) else "train"
        count[part] += 1
        (folder / part).mkdir(exist_ok=True)
        write(folder / part / f"{name}.csv", steps)
    return count


def decays(kolmo: str, file: Path, hold: str, folder: Path) -> list[dict]:
    """The end of each held-out decay (mean loss of its last 30 steps), forecast when it begins: the mean absolute error by task, of a
    forecast that does not know of the decay, and of those that do, without a store and with it; and the error that the noise of the last 30
    losses alone would make, taken from the differences between successive losses."""
    ways = {"blind": ["--plan", "hold"], "no_store": ["--plan", folder / "plan.csv"], "store": ["--plan", folder / "plan.csv", "--store", folder / "store"]}
    errors: dict[str, dict[str, list]] = {}
    for _, family, held, steps, begin in trainings(file):
        if not begin or not is_held(hold, family, held):
            continue
        log, length = write(folder / "log.csv", steps[:begin]), len(steps) - begin
        write(folder / "plan.csv", steps[begin:], begin + 1)
        of_task = errors.setdefault(family.split()[0], {way: [] for way in (*ways, "noise")})
        step_noise = np.diff(steps[-60:, 0]).std() / 2 ** 0.5
        of_task["noise"].append((2 / np.pi / 30) ** 0.5 * step_noise)  # the mean absolute value of a normal error
        for way, arguments in ways.items():
            said = json.loads(subprocess.run([kolmo, "forecast", log, *arguments, "--horizon", str(length), "--json"], check=True,
                                             capture_output=True, text=True).stdout)
            end = np.mean([row["median"] for row in said["forecast"] if row["step"] <= len(steps)][-3:])
            of_task[way].append(abs(end - steps[-30:, 0].mean()))
    return [{"task": task, "decays": len(of["blind"]), **{way: float(np.mean(e)) for way, e in of.items()}} for task, of in errors.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("curves", type=Path)
    parser.add_argument("--kolmo", default=str(ROOT / "build/ci/kolmo"))
    parser.add_argument("--hold", action="append", help="may be given several times; runs if left out")
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    results = []
    for hold in options.hold or ["runs"]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            count, store = export(options.curves, hold, folder), str(folder / "store")
            begin, used = time.monotonic(), os.times()
            subprocess.run([options.kolmo, "forecast", "--train-store", folder / "train", "--store", store], check=True, stdout=sys.stderr)
            seconds, now = time.monotonic() - begin, os.times()
            said = subprocess.run([options.kolmo, "forecast", "--backtest", folder / "held", "--store", store, "--json"], check=True,
                                  capture_output=True, text=True).stdout
            of_decays = decays(options.kolmo, options.curves, hold, folder)
        results.append({"held_out": hold, "trained_on": count["train"], "tested_on": count["held"], "train_store_seconds": round(seconds, 1),
                        "train_store_cpu_seconds": round(now.children_user - used.children_user, 1), "decays": of_decays, "backtest": json.loads(said)})
        print(hold, json.dumps(results[-1])[:2000], file=sys.stderr, flush=True)
    version = subprocess.run([options.kolmo, "--version"], check=True, capture_output=True, text=True).stdout
    record = {"commit": version.split("(")[1].split(")")[0], "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
              "machine": f"{platform.machine()}, {len(os.sched_getaffinity(0))} threads, other work ran beside", "results": results}
    if options.record:
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    else:
        print(json.dumps(record, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
