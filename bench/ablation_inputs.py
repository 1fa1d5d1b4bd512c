#!/usr/bin/env python3
"""bench/ablation_inputs.py CURVES.npz PROGRAM OUT.npz [SIMPLE.npz]: the inputs of bench/world_model_ablation.py. PROGRAM is built from
bench/world_model_inputs.cpp. The 64 features of the training state are those of kolmo.state_encode, of the last 256 losses and 64 norms
at the end of each block; those that a log does not have (weights, layers, moments, jumps) are constant, and left out. They are scaled over
all runs. SIMPLE.npz holds the noise and the centres of the simple forecasters, for bench/ablation_score.py."""
from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import kolmo
import numpy as np
from predict_curves import trainings, write


def features(steps) -> np.ndarray:
    out = []
    for end in range(10, len(steps) + 1, 10):
        loss, norm, rate = np.ascontiguousarray(steps[:end].T, np.float64)
        optimizer = np.array([0, 0, 0, 0, rate[-1], .9 ** end, .999 ** end])
        out.append(kolmo.state_encode(loss[-256:], norm[-64:], optimizer, np.array([end, 1, 0, 1e4]), np.zeros(6), np.zeros(8), np.zeros(3)))
    return np.array(out)


def main() -> None:
    curves, program, out, *simple = sys.argv[1:]
    runs = {name + ".csv": (family, held, steps) for name, family, held, steps, _ in trainings(Path(curves))}
    with tempfile.TemporaryDirectory() as place:
        for name, (_, _, steps) in runs.items():
            write(Path(place) / name, steps)
        subprocess.run([program, place, place + "/out"], check=True)
        values = np.fromfile(place + "/out")
    names, rows, blocks, at, encoded, law = sorted(runs), [], [], 0, [], {"seen": [], "noise": [], "centres": [], "origins": []}
    for name in names:
        n = int(values[at])
        rows.append(values[at + 1:at + 1 + 17 * n].reshape(n, 17))
        at += 1 + 17 * n
        m = int(values[at])
        told = values[at + 1:at + 1 + 52 * m].reshape(m, 52)
        at += 1 + 52 * m
        law["origins"].append(m), law["seen"].append(told[:, 0]), law["noise"].append(told[:, 1]), law["centres"].append(told[:, 2:])
        blocks.append(n), encoded.append(features(runs[name][2]))
    f = np.concatenate(encoded)
    kept = f.std(0) > 1e-12
    f = np.clip((f[:, kept] - f[:, kept].mean(0)) / f[:, kept].std(0), -10, 10)
    print(kept.sum(), "features,", len(f), "blocks")
    np.savez_compressed(out, blocks=np.array(blocks), rows=np.concatenate(rows).astype(np.float32), features=f.astype(np.float32),
                        family=[runs[name][0] for name in names], held=np.array([runs[name][1] for name in names]))
    if simple:
        np.savez_compressed(simple[0], rows=np.concatenate(rows)[:, 16], blocks=np.array(blocks), family=[runs[name][0] for name in names],
                            origins=np.array(law["origins"]), seen=np.concatenate(law["seen"]).astype(int), noise=np.concatenate(law["noise"]),
                            centres=np.concatenate(law["centres"]).reshape(-1, 5, 10))


if __name__ == "__main__":
    main()
