"""What the estimate of active information storage is in the mean where there is none, and how often subtracting the mean of 20
permutations, instead of nothing, would make the choice of an embedding depend on the seed.

storage_bias.py KOLMO OUT.json         measures
storage_bias.py --table OUT.json       prints the tables of docs/network_inference.md

Series are those of bench/surrogates/series.py. All histories are estimated from the same rows."""
import argparse
import json
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import machine
from surrogates import series

HISTORIES, ROWS, PERMUTATIONS, SEEDS = (1, 2, 3, 4), (100, 300, 1000), 400, 20


def storage(kolmo: str, file: Path, history: int, surrogates: int, seed: int, algorithm: str) -> dict:
    command = [kolmo, "ais", file, "--x", 0, "--history", history, "--rows", f"{max(HISTORIES) - history}:", "--surrogates", surrogates,
               "--surrogate-type", "permute", "--seed", seed, "--algorithm", algorithm, "--threads", 1, "--device", "cpu", "--json"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def best(scores: list[float]) -> int:
    return HISTORIES[scores.index(max(scores))]


def measure(kolmo: str) -> dict:
    version, commit = machine.kolmo_version(kolmo)
    record = {"version": version, "commit": commit, "machine": machine.cpu_model(),
              "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
              "permutations": PERMUTATIONS, "seeds": SEEDS, "bias": [], "choices": []}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "series.csv"
        for kind in series.KINDS:
            for rows in ROWS:
                values = series.independent(kind, rows, 1, 1)[0]
                file.write_text("x\n" + "\n".join(map(repr, values)) + "\n", encoding="utf-8")
                for algorithm in ("ksg1", "ksg2"):
                    found = [storage(kolmo, file, h, PERMUTATIONS, 0, algorithm) for h in HISTORIES]
                    record["bias"] += [{"kind": kind, "rows": rows, "algorithm": algorithm, "history": h, "mean": r["surrogate_mean"],
                                        "deviation": r["surrogate_std"]} for h, r in zip(HISTORIES, found, strict=True)]
                chosen = {"less the mean of 20": [], "as estimated": []}
                for seed in range(SEEDS):
                    found = [storage(kolmo, file, h, 20, seed, "ksg1") for h in HISTORIES]
                    chosen["less the mean of 20"].append(best([r["value"] - r["surrogate_mean"] for r in found]))
                    chosen["as estimated"].append(best([r["value"] for r in found]))
                record["choices"].append({"kind": kind, "rows": rows, **chosen})
                print(kind, rows, chosen, flush=True)
    return record


def table(record: dict) -> str:
    lines = ["| rows | algorithm | largest distance of the mean from 0 | in standard errors | error of a mean of 20 |", "|---" * 5 + "|"]
    for rows in ROWS:
        for algorithm in ("ksg1", "ksg2"):
            cells = [c for c in record["bias"] if (c["rows"], c["algorithm"]) == (rows, algorithm) and c["kind"] != "ties"]
            errors = [abs(c["mean"]) / c["deviation"] * record["permutations"]**0.5 for c in cells]
            of_20 = sum(c["deviation"] for c in cells) / len(cells) / 20**0.5
            lines.append(f"| {rows} | {algorithm} | {max(abs(c['mean']) for c in cells):.4f} | {max(errors):.1f} | {of_20:.4f} |")
    lines += ["", f"| rows | series | choice differs among {record['seeds']} seeds, less the mean of 20 | as estimated |", "|---" * 4 + "|"]
    for rows in ROWS:
        cells = [c for c in record["choices"] if c["rows"] == rows]
        differ = [sum(len(set(c[how])) > 1 for c in cells) for how in ("less the mean of 20", "as estimated")]
        lines.append(f"| {rows} | {len(cells)} | {differ[0]} | {differ[1]} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path)
    parser.add_argument("kolmo", nargs="?")
    parser.add_argument("out", type=Path, nargs="?")
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.table.read_text(encoding="utf-8"))), end="")
        return 0
    options.out.write_text(json.dumps(measure(options.kolmo), separators=(",", ":")) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
