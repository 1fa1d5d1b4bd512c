"""How often `kolmo mi`, `te` and `network` call independent series dependent, and how often they find a coupling, for each
kind of surrogates; and what `network` finds of systems whose links are known.

study.py KOLMO OUT.json [--only TEXT]  --only: measures again the cells whose line below holds TEXT, and keeps the others of OUT.json
study.py KOLMO --reduced               fewer runs of the default surrogates only, as CI does; fails if the share of p <= 0.05 leaves
                                       its bounds

The same command goes on after an interruption. A run has 99 surrogates, so that p <= 0.05 has a probability of exactly 0.05 if the
surrogates are right. Each cell of the record has the date and the commit of its own."""
import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from math import exp, lgamma, log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine  # noqa: E402

from surrogates import series  # noqa: E402

METHODS = ("circular", "permute", "block", "phase", "iaaft")
SYSTEMS = {"coupled-logistic": "coupled logistic maps", "var": "vector autoregression", "henon": "Henon maps"}
LEVEL, SURROGATES, SURROGATES_OF_SYSTEMS = 0.05, 99, 199


@dataclass(frozen=True)
class Cell:
    """Runs that share everything but the seed. `method` None: the default."""
    what: str  # "independent", "coupled" or "system"
    kind: str
    rows: int
    measure: str
    method: str | None
    runs: int

    def line(self) -> str:
        return f"{self.what} {self.kind} {self.rows} {self.measure} {self.method or 'default'}"


def full():
    for kind in SYSTEMS:
        for rows in (400, 1000):
            yield Cell("system", kind, rows, "network", None, 8)
    for kind in series.KINDS:
        for rows in (1000, 100):
            for measure in ("mi", "te"):
                for method in METHODS:
                    runs = {"circular": 200, "iaaft": 30}.get(method, 60) if rows == 1000 else 60
                    yield Cell("independent", kind, rows, measure, method, runs)
    for kind in ("white", "AR 0.95", "AR 0.99", "random walk", "seasonal"):
        for method in METHODS:
            for measure in ("mi", "te"):
                yield Cell("independent", kind, 10000, measure, method, 10 if method == "iaaft" else 20)
            if method == "circular" or kind in ("white", "AR 0.95"):
                yield Cell("independent", kind, 10000, "network", method, 2 if method == "circular" else 1)
    for kind in series.KINDS:
        yield Cell("independent", kind, 1000, "network", "circular", 12)
    for kind in ("white", "AR 0.95", "random walk", "logistic map"):
        for method in METHODS[1:]:
            yield Cell("independent", kind, 1000, "network", method, 5)
    for kind in series.KINDS:
        for method in METHODS:
            yield Cell("independent", kind, 100, "network", method, 5)
    for kind in series.COUPLED:
        for rows in (100, 1000):
            for measure in ("mi", "te"):
                for method in METHODS:
                    yield Cell("coupled", kind, rows, measure, method, 20 if method == "iaaft" else 50)


def reduced():
    for kind in ("white", "AR 0.95"):
        for measure in ("mi", "te"):
            yield Cell("independent", kind, 1000, measure, None, 120)


def bounds(runs: int, level=LEVEL, outside=0.01):
    """The range of counts in which a binomial variable lies, except with probability `outside` on each side."""
    mass = [exp(lgamma(runs + 1) - lgamma(k + 1) - lgamma(runs - k + 1) + k * log(level) + (runs - k) * log(1 - level))
            for k in range(runs + 1)]
    low = next(k for k in range(runs + 1) if sum(mass[:k + 1]) > outside)
    high = next(k for k in range(runs, -1, -1) if sum(mass[k:]) > outside)
    return low, high


def call(*command) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def result(*command) -> dict:
    return json.loads(call(*command, "--json", "--threads", 1, "--device", "cpu"))


def outcome(kolmo: str, cell: Cell, seed: int, folder: Path) -> dict:
    """Runs a cell once: returns the p-values, and the names of the warnings."""
    columns = (series.coupled(cell.kind, cell.rows, seed) if cell.what == "coupled"
               else series.independent(cell.kind, cell.rows, 5 if cell.measure == "network" else 2, seed))
    path = folder / f"{abs(hash((cell, seed)))}.csv"
    header = ",".join(f"x{i}" for i in range(len(columns)))
    path.write_text(header + "\n" + "\n".join(",".join(map(repr, row)) for row in zip(*columns, strict=True)) + "\n", encoding="utf-8")
    roles = {"mi": ["--x", "0", "--y", "1"], "te": ["--source", "0", "--target", "1"], "network": ["--max-lag", "3"]}
    method = ["--surrogate-type", cell.method] if cell.method else []
    found = result(kolmo, cell.measure, path, *roles[cell.measure], "--surrogates", SURROGATES, "--seed", seed, *method,
                   *(("--exceedances", 0) if cell.measure == "network" else ()))
    path.unlink()
    return {"p_values": [link["p_value"] for link in found.get("links", [found])],
            "warned": {w["name"] for w in found["warnings"]}}


def outcome_of_system(kolmo: str, cell: Cell, seed: int, folder: Path) -> dict:
    """Counts links: those of the system, significant ones, right ones, and those with the right lag."""
    path, truth = folder / f"{cell.kind}{cell.rows}_{seed}.csv", folder / f"{cell.kind}{cell.rows}_{seed}.json"
    call(kolmo, "simulate", cell.kind, "--variables", 5, "--rows", cell.rows, "--seed", seed, "--out", path, "--truth", truth)
    known = {(link["source"], link["target"]): link["lag"] for link in json.loads(truth.read_text(encoding="utf-8"))["links"]}
    links = result(kolmo, "network", path, "--max-lag", 3, "--surrogates", SURROGATES_OF_SYSTEMS, "--exceedances", 0)["links"]
    found = {(link["source_index"], link["target_index"]): link["lag"] for link in links if link["significant"]}
    right = [pair for pair in found if pair in known]
    return {"links": len(known), "found": len(found), "right": len(right), "right_lag": sum(found[p] == known[p] for p in right)}


def measure(kolmo: str, cell: Cell, pool: ThreadPoolExecutor, folder: Path) -> dict:
    if cell.what == "system":
        counts = list(pool.map(lambda seed: outcome_of_system(kolmo, cell, seed, folder), range(1, 1 + cell.runs)))
        return {**asdict(cell), **{name: sum(c[name] for c in counts) for name in counts[0]}}
    outcomes = list(pool.map(lambda seed: outcome(kolmo, cell, seed, folder), range(cell.runs)))
    p_values = [p for o in outcomes for p in o["p_values"]]
    warned = Counter(name for o in outcomes for name in o["warned"])
    return {**asdict(cell), "tests": len(p_values), "rejected": sum(p <= LEVEL for p in p_values),
            "warned": dict(sorted(warned.items())), "p_values": p_values}


def key(cell) -> tuple:
    c = cell if isinstance(cell, dict) else asdict(cell)
    return tuple(c[name] for name in Cell.__dataclass_fields__)


def read_cells(path: Path | None, commit: str | None = None) -> dict:
    """The cells of a record, of one commit only or of any."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path and path.is_file() else []
    return {key(c): c for c in cells if commit in (None, c["commit"])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kolmo")
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--reduced", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cells, faults = list((reduced if options.reduced else full)()), 0
    version, commit = machine.kolmo_version(options.kolmo)
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = {"version": version, "machine": machine.cpu_model(), "level": LEVEL, "surrogates": SURROGATES,
              "surrogates_of_systems": SURROGATES_OF_SYSTEMS, "cells": []}
    partial = options.out and options.out.with_name(options.out.name + ".partial")
    kept = {k: c for k, c in read_cells(options.out).items() if options.only and options.only not in Cell(*k).line()}
    finished = {**kept, **read_cells(partial, commit)}
    with ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        for i, cell in enumerate(cells):
            known = finished.get(key(cell))
            found = known or {**measure(options.kolmo, cell, pool, Path(folder)), "date": now, "commit": commit}
            record["cells"].append(found)
            if known:
                continue
            if partial:
                partial.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
            print(f"{i + 1}/{len(cells)} {cell.line()}:", {k: v for k, v in found.items() if k not in {*asdict(cell), "p_values"}}, flush=True)
            low, high = bounds(found.get("tests", 0))
            if options.reduced and not low <= found["rejected"] <= high:
                print(f"{cell.line()}: {found['rejected']} is outside {low} to {high}", file=sys.stderr)
                faults += 1
    if options.out:
        partial.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
        partial.rename(options.out)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
