#!/usr/bin/env python3
"""What sequential tests find of simulated networks, and how many surrogates they take: docs/surrogates.md.

network_power.py KOLMO OUT.json DEVICE [--missing]    --missing: only the runs that OUT.json has not; the others stay as they are"""
import csv
import json
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from data import ring
from machine import cpu_model, kolmo_version

RING = "ring of 20, each driving the next, rows "
VAR = "var --variables 100 --seed 1 --rows "
FIXED = "--surrogates 200 --exceedances 0"
LAGS = "--max-lag 3"  # those of the links of var
GREEDY = f"{LAGS} --method multivariate"
RUNS = ((RING + "1000", ""), (RING + "1000", "--max-lag 1"), (RING + "1000", "--max-lag 1 --surrogate-type block"),
        (RING + "1000", "--max-lag 3"), (RING + "1000", "--neighbors auto"),
        (RING + "1000", "--max-lag 1 " + FIXED), (RING + "2000", ""), (RING + "2000", FIXED),
        *((VAR + rows, f"{LAGS} --surrogate-type block") for rows in ("1000", "3000")), (VAR + "3000", f"{LAGS} {FIXED}"),
        *((VAR + rows, f"{GREEDY} --estimator gaussian") for rows in ("1000", "3000")),
        *((VAR + rows, GREEDY) for rows in ("1000", "3000", "5000")), (VAR + "3000", f"{GREEDY} --neighbors 10"))


def truth_of(kolmo: str, system: str, folder: Path) -> set[tuple[str, str]]:
    """Writes the series, and returns the links of the system."""
    if system.startswith(RING):
        values = ring(20, int(system.removeprefix(RING)))
        names = [f"x{i}" for i in range(values.shape[1])]
        with open(folder / "series.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *values.tolist()])
        return {(names[i - 1], names[i]) for i in range(len(names))}
    subprocess.run([kolmo, "simulate", *system.split(), "--out", "series.csv", "--truth", "truth.json"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    links = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["links"]
    return {(f"x{link['source']}", f"x{link['target']}") for link in links}


def main() -> None:
    kolmo, out, device = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]), sys.argv[3]
    version, commit = kolmo_version(kolmo)
    made = {"kolmo_version": version, "commit": commit, "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": cpu_model(),
            "device": device}
    known = json.loads(out.read_text(encoding="utf-8")) if "--missing" in sys.argv else {**made, "runs": []}
    there = {(run["system"], run["options"]): run for run in known["runs"]}
    runs = []
    for system, options in RUNS:
        if (system, options) in there:
            runs.append(there[system, options])
            continue
        with tempfile.TemporaryDirectory() as folder:
            truth = truth_of(kolmo, system, Path(folder))
            where = "cpu" if "gaussian" in options else device
            command = [kolmo, "network", "series.csv", *options.split(), "--device", where, "--json"]
            found = json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)
        links = found["links"]
        significant = {(link["source"], link["target"]) for link in links if link["significant"]}
        true_ones = [link["p_value"] for link in links if (link["source"], link["target"]) in truth]
        runs.append({"system": system, "options": options, "links": len(links), "true": len(truth), "significant": len(significant),
                     "true_and_significant": len(significant & truth), "surrogates_a_link": sum(link["surrogates"] for link in links) / len(links),
                     "smallest_p": min(true_ones), "warnings": [w["name"] for w in found["warnings"]], "seconds": found["seconds"], **(made if there else {})})
        print(runs[-1], flush=True)
    out.write_text(json.dumps({**known, "runs": runs}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
