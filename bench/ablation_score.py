#!/usr/bin/env python3
"""bench/ablation_score.py INPUTS.npz SIMPLE.npz FOLDER --record FILE.json: scores the forecasts that bench/world_model_ablation.py left in FOLDER
by the product's rules: the centre leans on the lag law where members differ, and quantiles come from the log's own past errors and from those
of networks that learned from the other half of the store (kolmo/predict/forecast/calibrator.cpp). CRPS of log loss, mean over runs. Differences
are paired over runs, with a 95 % bootstrap interval. Attempts for unseen widths are chosen by folds that hold out other widths."""
from __future__ import annotations

import argparse
import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

HORIZONS, LEVELS = (1, 5, 10), np.arange(1, 20) / 20
SIMPLE = ("persistence", "local_linear", "power_law", "lag_law", "lag_law_and_trend")


class Past:
    """What came, and what the simple forecasters said."""

    def __init__(self, inputs: str, simple: str):
        z, s = np.load(inputs), np.load(simple)
        self.n, self.log_loss = z["blocks"], s["rows"]
        self.offset = np.concatenate([[0], np.cumsum(self.n)[:-1]])
        self.anchor = z["rows"][:, 14]
        run = np.repeat(np.arange(len(self.n)), s["origins"])
        self.at = {(int(r), int(t)): i for i, (r, t) in enumerate(zip(run, s["seen"]))}
        self.noise, self.centres = s["noise"], s["centres"]

    def came(self, run: int, seen: int) -> np.ndarray:
        out = np.full(10, np.nan)
        part = self.log_loss[self.offset[run] + seen:self.offset[run] + min(seen + 10, self.n[run])]
        out[:len(part)] = part
        return out


def uncorrelated(e: np.ndarray) -> float:
    d = e - e.mean()
    own = (d * d).sum()
    r = np.clip((d[1:] * d[:-1]).sum() / own, 0, 1) if own > 0 else 0
    return len(e) * (1 - r) / (1 + r)


def quantiles(own_at: np.ndarray, own: np.ndarray, learned: np.ndarray, h: int) -> np.ndarray:
    most = min(20., len(learned))
    errors, weights = learned, np.full(len(learned), most / len(learned))
    if len(own):
        w = own_at.astype(float) ** 2
        independent = min(w.sum() ** 2 / (w * w).sum(), max(1 + (own_at[-1] - own_at[0]) / h, uncorrelated(own)))
        errors, weights = np.concatenate([own, learned]), np.concatenate([w * independent / w.sum(), weights])
    order = np.argsort(errors)
    errors, weights = errors[order], weights[order]
    middle, n = np.cumsum(weights) - weights / 2, len(errors)
    return np.interp(np.clip(LEVELS * (1 + 1 / n) - .5 / n, 0, 1) * weights.sum(), middle, errors)


class Forecasts:
    """Centres and units of error of forecasts, [origin, block]."""

    def __init__(self, past: Past, origin: np.ndarray, centre, spread=None):
        self.run, self.seen = origin.astype(int)
        rows = [past.at[r, t] for r, t in zip(self.run, self.seen)]
        self.noise, self.came = past.noise[rows][:, None], np.array([past.came(r, t) for r, t in zip(self.run, self.seen)])
        self.centre = centre
        self.unit = np.repeat(self.noise, 10, 1) if spread is None else np.hypot(self.noise, spread)
        self.error = (self.came - self.centre) / self.unit


def scores(past: Past, test: Forecasts, learned: np.ndarray) -> dict:
    """By run: CRPS and coverage at each horizon. `learned` are errors in their units, [origin, block]."""
    if len(learned) > 500:
        learned = learned[np.linspace(0, len(learned) - 1, 500).astype(int)]
    out = {}
    for r in np.unique(test.run):
        mine = np.flatnonzero(test.run == r)
        n, seen = int(past.n[r]), test.seen[mine]
        sums, row = [], dict(zip(seen, mine))
        history, t = [], 10
        while t < n:
            history.append(row.get(t) if t in row else row.get(t // 5 * 5))
            t += max(5, t // 32)
        history = np.array([i for i in history if i is not None])
        for t in range(10, n - 9, max(5, n // 16)):
            i = row[t]
            own = history[test.seen[history] + 10 <= t]
            for h in HORIZONS:
                e = learned[:, h - 1]
                q = test.centre[i, h - 1] + test.unit[i, h - 1] * quantiles(test.seen[own], test.error[own, h - 1], e[np.isfinite(e)], h)
                off = test.came[i, h - 1] - q
                sums.append([2 * np.maximum(LEVELS * off, (LEVELS - 1) * off).mean(), q[0] <= test.came[i, h - 1] <= q[-1]])
        if sums:
            out[int(r)] = np.array(sums).reshape(-1, 3, 2).mean(0)
    return out


def leaning(mean, spread, anchor, coefficient: float):
    """law + w (mean - law), w = D / (D + c V), sums over the blocks up to each."""
    distance, doubt = np.cumsum((mean - anchor) ** 2, 1), coefficient * np.cumsum(spread ** 2, 1)
    return anchor + distance / np.maximum(distance + doubt, 1e-30) * (mean - anchor)


def of_variant(past: Past, z, fold: str, seed: int, law: str = "lag_law", coefficient: float = 8) -> dict:
    parts = {}
    for part in (-1, 0, 1):
        key = f"{fold}|{seed}|{part}|"
        origin, spread = z[key + "origin"], z[key + "spread"].astype(float)
        run, seen = origin.astype(int)
        mean = z[key + "mean"].astype(float) + past.anchor[past.offset[run] + seen - 1][:, None]
        anchor = past.centres[[past.at[r, t] for r, t in zip(run, seen)], SIMPLE.index(law)]
        anchor = np.where(np.isfinite(anchor), anchor, mean)
        unit = 3 * spread
        if key + "paths" in z:
            unit = np.hypot(unit, z[key + "paths"].astype(float))
        parts[part] = Forecasts(past, origin, leaning(mean, spread, anchor, coefficient), unit)
    return scores(past, parts[-1], np.concatenate([parts[0].error, parts[1].error]))


def of_simple(past: Past, z, fold: str, name: str) -> dict:
    made = []
    for part in (-1, 0, 1):
        origin = z[f"{fold}|0|{part}|origin"]
        rows = [past.at[r, t] for r, t in zip(*origin.astype(int))]
        made.append(Forecasts(past, origin, past.centres[rows, SIMPLE.index(name)]))
    return scores(past, made[0], np.concatenate([made[1].error, made[2].error]))


def pooled(a, b) -> dict:
    """The forecasts of two ensembles of the same folds as those of one. If they are the same one, it is joined to that of the next seed."""
    out = {k: a[k] for k in a.files}
    for k in a.files:
        if not k.endswith("|mean"):
            continue
        fold, seed, part, _ = k.split("|")
        s, other = k.replace("|mean", "|spread"), f"{fold}|{(int(seed) + 1) % len(seeds_of(b, fold)) if a is b else seed}|{part}|"
        m, n, of_m, of_n = (x.astype(float) for x in (a[k], b[other + "mean"], a[s], b[other + "spread"]))
        out[k], out[s] = (m + n) / 2, np.sqrt((of_m ** 2 + of_n ** 2) / 2 + (m - n) ** 2 / 4)
    return out


def bootstrap(d: np.ndarray) -> list[float]:
    random = np.random.default_rng(0)
    return [float(x) for x in np.quantile(d[random.integers(0, len(d), (4000, len(d)))].mean(1), [.025, .975])]


def table(values: np.ndarray, base: np.ndarray | None) -> dict:
    """values: [seed, run, horizon, (crps, coverage)]."""
    mean = values.mean(0)
    row = {"crps": mean[:, :, 0].mean(0).tolist(), "coverage": mean[:, :, 1].mean(0).tolist(), "crps_of_seeds": values[..., 0].mean(1).tolist()}
    if base is not None:
        d = mean[:, :, 0] - base.mean(0)[:, :, 0]
        row["less_as_built"], row["interval"] = d.mean(0).tolist(), [bootstrap(d[:, i]) for i in range(3)]
    return row


def seeds_of(z, fold: str) -> list[int]:
    return sorted({int(k.split("|")[1]) for k in z if k.startswith(fold + "|")})


def array(found: list[dict]) -> np.ndarray:
    return np.array([[f[r] for r in sorted(f)] for f in found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs"), parser.add_argument("simple"), parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path)
    o = parser.parse_args()
    past = Past(o.inputs, o.simple)
    files = {p.stem: np.load(p) for p in sorted(o.folder.glob("*.npz"))}
    built = files["as_built"]
    if "ahead_20" in files:
        files["ahead_both"], files["ten_members"] = pooled(built, files["ahead_20"]), pooled(built, built)
    folds = list(dict.fromkeys(k.split("|")[0] for k in built.files if "|" in k))
    results, base = {}, {}
    for fold in folds:
        simple = {name: array([of_simple(past, built, fold, name)]) for name in SIMPLE}
        base[fold] = array([of_variant(past, built, fold, s) for s in seeds_of(built, fold)])
        rows = {name: table(v, None) for name, v in simple.items()} | {"as_built": table(base[fold], None)}
        for name, z in files.items():
            if name != "as_built" and seeds_of(z, fold):
                rows[name] = table(array([of_variant(past, z, fold, s) for s in seeds_of(z, fold)]), base[fold])
        results[fold] = {"runs": base[fold].shape[1], "rows": rows}
    inner, tried = [f for f in folds if f.startswith("inner")], {}
    if inner:
        for law in SIMPLE:
            for c in (0, 4, 8, 16, 32, 64, 128):
                of_folds = [array([of_variant(past, built, f, s, law, c) for s in seeds_of(built, f)])[..., 0].mean((0, 1)) for f in inner]
                tried[f"{law} {c}"] = [float(x) for x in np.mean([np.log(v / base[f][..., 0].mean((0, 1))) for v, f in zip(of_folds, inner)], 0)]
        law, c = min(tried, key=lambda k: tried[k][2]).split()
        for fold in folds:
            results[fold]["rows"]["learned_mixture"] = table(array([of_variant(past, built, fold, s, law, float(c)) for s in seeds_of(built, fold)]), base[fold])
    facts = {name: {"parameters": int(z["parameters"]), "seconds": round(float(z["seconds"]), 1)} for name, z in files.items() if name not in ("ahead_both", "ten_members")}
    commit = subprocess.run(["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"], cwd=Path(__file__).parent, capture_output=True, text=True)
    record = {"commit": commit.stdout.strip(), "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": str(built["device"]), "torch": str(built["torch"]),
              "horizons": [10, 50, 100], "variants": facts, "mixtures_tried": tried, "mixture": f"{law} {c}" if inner else None, "results": results}
    if o.record:
        o.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for fold, r in results.items():
        print(fold, r["runs"], "runs")
        for name, row in r["rows"].items():
            print(f"  {name:18}", " ".join(f"{1e3 * x:6.2f}" for x in row["crps"]), " ", " ".join(f"{x:.2f}" for x in row["coverage"]),
                  " ".join(f"{1e3 * d:+.2f} [{1e3 * a:+.2f}, {1e3 * b:+.2f}]" for d, (a, b) in zip(row.get("less_as_built", []), row.get("interval", []))))


if __name__ == "__main__":
    main()
