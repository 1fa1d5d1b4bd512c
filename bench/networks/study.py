"""What methods find of systems whose links are known: precision, recall, lags, and false links where there are none.

study.py KOLMO OUT.json [--only TEXT ...] [--not TEXT ...] [--all] [--device DEVICE] [--data FOLDER]

--only: measures again the cells whose line holds one of the texts. --not: leaves out those whose line holds one. --all: also the cells that
take hours on a CPU (large systems by nearest neighbours). --device: where nearest neighbours are computed (default cpu); it changes no
answer. --data: the folder with the systems that IDTxl was run on; without it these cells stay as they are. The same command goes on after
an interruption. Each cell has the date, the commit and the machine of its own. The interpreter needs NumPy, and tigramite for its cells."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine  # noqa: E402

from networks import systems  # noqa: E402

GREEDY = ("--method", "multivariate")
KOLMO = {
    "pairwise": ("--method", "pairwise"), "conditional": ("--method", "pairwise", "--conditional-all"), "multivariate": GREEDY,
    "multivariate, permute": (*GREEDY, "--surrogate-type", "permute"), "multivariate, block": (*GREEDY, "--surrogate-type", "block"),
    "bivariate": ("--method", "bivariate"), "pairwise, gaussian": ("--method", "pairwise", "--estimator", "gaussian"),
    "multivariate, gaussian": (*GREEDY, "--estimator", "gaussian"),
    "multivariate, gaussian, circular": (*GREEDY, "--estimator", "gaussian", "--surrogates", "199")}
NEIGHBORS = {f"multivariate, k = {k}": (*GREEDY, "--neighbors", str(k)) for k in (10,)}  # the default is 4
KOLMO |= NEIGHBORS
LINEAR = ("pairwise, gaussian", "multivariate, gaussian", "PCMCI", "PCMCI+")
SURROGATES = ("multivariate", "multivariate, permute", "multivariate, block")
SMALL = ("chain", "driver", "henon", "logistic")
IDTXL = {"IDTxl, KSG": "JidtKraskovCMI", "IDTxl, Gaussian": "JidtGaussianCMI"}


@dataclass(frozen=True)
class Cell:
    """Networks that share everything but the seed."""
    system: str
    rows: int
    method: str
    runs: int

    def line(self) -> str:
        return f"{self.system} {self.rows} {self.method}"


def cells(everything: bool):
    for system in ("chain", "chain, own .9", "driver", "henon", "logistic", "var 10", "hidden driver"):
        yield from (Cell(system, 1000, method, 15) for method in LINEAR)
        yield Cell(system, 1000, "multivariate", 15 if system == "hidden driver" else 60)  # 60 tell .98 from .96
    yield from (Cell("given", 1000, method, 1) for method in ("multivariate", "multivariate, gaussian", "PCMCI", *IDTXL))
    for method in ("pairwise", "multivariate, permute", "conditional", "multivariate, block"):
        yield from (Cell(system, 1000, method, 15) for system in ("chain", "chain, own .9", "driver", "henon", "logistic", "hidden driver"))
    for phi in (0, 0.5, 0.9, 0.95, 0.98):
        for method in LINEAR[:3]:
            yield Cell(f"AR {phi:g}", 1000, method, 20 if method == "PCMCI" else 100)
    yield from (Cell(f"AR {phi:g}", 1000, "multivariate", 300 if phi == 0.98 else 60) for phi in (0, 0.9, 0.95, 0.98))
    for phi, method, runs in ((0.9, "multivariate, permute", 15), (0.98, "multivariate, permute", 15), (0.98, "multivariate, gaussian, circular", 60)):
        yield Cell(f"AR {phi:g}", 1000, method, runs)
    yield from (Cell("AR 0.98", 200, method, runs) for method, runs in (("multivariate", 60), ("PCMCI", 20)))
    yield Cell("AR 0.98", 200, "multivariate, gaussian", 100)
    yield from (Cell("var 10", 1000, method, 15) for method in ("pairwise", "multivariate, permute", "multivariate, block"))
    for rows in (200, 2000):
        yield from (Cell(system, rows, "multivariate", 15) for system in ("chain", "logistic", "var 10"))
        for system in ("chain", "logistic", "var 10"):
            yield from (Cell(system, rows, method, 15 if "gaussian" in method else 5) for method in LINEAR)
    for system, runs in (("var 30", 3), ("var 100", 2)):
        yield from (Cell(system, 1000, method, runs) for method in LINEAR[:2])
    yield Cell("var 30", 1000, "PCMCI", 1)
    for system in ("chain", "var 10"):
        yield from (Cell(system, 10000, method, 3) for method in LINEAR[:3])
    yield from (Cell("var 100", 10000, method, 1) for method in LINEAR[:2])
    for method in NEIGHBORS:
        yield from (Cell(system, 1000, method, 15) for system in ("chain", "chain, own .9", "driver", "henon", "logistic", "var 10"))
        yield from (Cell(f"AR {phi:g}", 1000, method, 60) for phi in (0, 0.98))
        yield from (Cell(system, 200, method, 15) for system in ("chain", "logistic", "var 10"))
    yield Cell("chain", 500, "multivariate", 15)
    yield Cell("chain", 500, "PCMCI, CMIknn", 1)
    if everything:
        yield Cell("logistic", 500, "PCMCI, CMIknn", 1)
        yield Cell("var 100", 1000, "PCMCI", 1)
        yield from (Cell("var 10", 2000, method, 3) for method in (*SURROGATES[1:], "pairwise"))
        for system, rows in (("var 30", 1000), ("var 100", 1000), ("chain", 10000), ("logistic", 10000), ("var 10", 10000)):
            yield from (Cell(system, rows, method, 3) for method in (*SURROGATES, "pairwise"))


def run(command: list) -> tuple[str, float]:
    """The output of a command, and its CPU seconds."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        child = subprocess.Popen([str(c) for c in command], stdout=out, stderr=errors,
                                 env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(map(str, command))}: {errors.read()}")
        out.seek(0)
        return out.read(), used.ru_utime + used.ru_stime


@dataclass
class Data:
    """A system whose links are known; of a given one what other programs found."""
    path: Path
    known: systems.Links
    variables: int
    peers: dict | None = None


def found_by_peer(method: str, data: list[Data]) -> list[tuple[dict, None, float]]:
    """As found_in, of all data: IDTxl's results are given; tigramite starts once for all."""
    if method in IDTXL:
        known = [d.peers["idtxl"][IDTXL[method]] for d in data]
        return [({(s, int(t)): lag for t, of in k["targets"].items() for s, lag in reversed(of["sources"])}, None, k["cpu_s"])
                for k in known]
    text = run([sys.executable, Path(__file__).with_name("peers.py"), method, systems.MAX_LAG, *(d.path for d in data)])[0]
    return [({(s, t): lag for s, t, lag in done["links"]}, None, done["cpu_s"]) for done in json.loads(text.splitlines()[-1])]


def found_in(kolmo: str, method: str, path: Path, device: str) -> tuple[dict, list | None, float]:
    """The links that a method claims, {(source, target): lag}; of greedy searches the targets with a chosen source; CPU seconds."""
    text, seconds = run([kolmo, "network", path, "--max-lag", systems.MAX_LAG, *KOLMO[method], "--json", "--threads", 1,
                         "--device", device])
    document = json.loads(text)
    links = {(k["source_index"], k["target_index"]): k["lag"] for k in document["links"] if k["significant"]}
    return links, [t["target_index"] for t in document["targets"] if t.get("sources")] if "multi" in method else None, seconds


def outcome(data: Data, found: dict, chosen: list | None, seconds: float) -> dict:
    known, variables = data.known, data.variables
    right = [pair for pair in found if pair in known]
    driven = {target for _, target in known}
    counts = {"links": len(known), "found": len(found), "right": len(right), "right_lag": sum(found[p] == known[p] for p in right),
              "pairs": variables * (variables - 1), "networks": 1, "with_false_link": int(len(right) < len(found)), "cpu_s": seconds,
              "precisions": len(right) / max(1, len(found))}
    if chosen is not None:
        counts |= {"undriven_targets": variables - len(driven), "with_false_source": sum(t not in driven for t in chosen)}
    return counts


def data_of(cell: Cell, folder: Path, given: Path | None) -> list[Data]:
    """Those of the cell's seeds; or the systems of which one run of IDTxl is known."""
    if cell.system == "given":
        return [Data(path, known, len(path.read_text(encoding="utf-8").split("\n")[0].split(",")), peers)
                for path, known, peers in (systems.given(given, name) for name in (*SMALL, "var10"))]
    all_ = []
    for seed in range(1, 1 + cell.runs):
        x, known = systems.make(cell.system, cell.rows, seed)
        path = folder / f"{seed}.csv"
        np.savetxt(path, x, delimiter=",", header=",".join(f"x{i}" for i in range(x.shape[1])), comments="")
        all_.append(Data(path, known, x.shape[1]))
    return all_


def device_of(cell: Cell, wanted: str) -> str:
    return "cpu" if cell.method not in KOLMO or "gaussian" in cell.method else wanted


def machine_with(kolmo: str, device: str) -> str:
    """The processor, and the GPU that the device is."""
    if device == "cpu":
        return machine.cpu_model()
    known = json.loads(subprocess.run([kolmo, "devices", "--json"], check=True, capture_output=True, text=True).stdout)
    return f"{machine.cpu_model()}, {next(d['name'] for d in known if d['device'].startswith(device))}"


def measure(kolmo: str, cell: Cell, pool: ThreadPoolExecutor, given: Path | None, device: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        data = data_of(cell, Path(folder), given)
        if cell.method in KOLMO:
            found = list(pool.map(lambda d: found_in(kolmo, cell.method, d.path, device), data))
        else:
            found = found_by_peer(cell.method, data)
    counts = [outcome(d, *f) for d, f in zip(data, found, strict=True)]
    return {**asdict(cell), **{name: round(sum(c[name] for c in counts), 2) for name in counts[0]}}


def key(cell) -> tuple:
    c = cell if isinstance(cell, dict) else asdict(cell)
    return tuple(c[name] for name in Cell.__dataclass_fields__)


def read_cells(path: Path | None) -> dict:
    return {key(c): c for c in json.loads(path.read_text(encoding="utf-8"))["cells"]} if path and path.is_file() else {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kolmo")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--not", nargs="+", default=[], dest="without")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    version, commit = machine.kolmo_version(options.kolmo)
    partial = options.out.with_name(options.out.name + ".partial")
    earlier, record = read_cells(options.out), {"version": version, "cells": []}
    again = {k: c for k, c in read_cells(partial).items() if c["commit"] == commit}
    machines = {d: machine_with(options.kolmo, d) for d in {"cpu", options.device}}
    wanted = list(cells(options.all))
    heavy = [c for c in cells(True) if c not in wanted]
    with ThreadPoolExecutor(options.jobs) as pool:
        for i, cell in enumerate([*wanted, *heavy]):
            known = again.get(key(cell))
            line = cell.line()
            stays = (cell in heavy or not any(t in line for t in options.only) or any(t in line for t in options.without)
                     or (cell.system == "given" and not options.data))
            if stays:
                known = known or earlier.get(key(cell))
                if not known:
                    continue
            if not known:
                now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                device = device_of(cell, options.device)
                known = {**measure(options.kolmo, cell, pool, options.data, device), "date": now, "commit": commit,
                         "machine": machines[device], "device": device}
                print(f"{i + 1}/{len(wanted)} {cell.line()}:", {k: v for k, v in known.items() if k not in asdict(cell)}, flush=True)
            record["cells"].append(known)
            partial.write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")
    partial.rename(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
