"""What bounds operators on a GPU, by its counters: python3 bench/gpu_bounds.py KOLMO BENCH.json TORCH.json RECORD.json

Of each case of a record of `kolmo bench` that is memory-bound and below the share of the copy that was asked, or slower than
PyTorch, Nsight Compute profiles the kernels of a few calls. The record has of each kernel its share of the time, and the shares of
their peaks that the memory, the issue slots and the pipes reach. Takes about four seconds a case."""
import argparse
import csv
import io
import json
import subprocess
import sys
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path

from below_copy import below_copy
from beside_pytorch import compared

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from record_text import record_text  # noqa: E402

TIME = "gpu__time_duration.sum"
PEAK = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"
COUNTERS = {"dram": "dram__throughput" + PEAK, "l2": "lts__throughput" + PEAK, "l1": "l1tex__throughput" + ACTIVE,
            "issue": "sm__inst_issued" + ACTIVE, "warps": "sm__warps_active" + ACTIVE}
PIPES = {pipe: f"sm__inst_executed_pipe_{name}{ACTIVE}" for pipe, name in
         {"alu": "alu", "fma": "fma", "f64": "fp64", "special functions": "xu", "load and store": "lsu"}.items()}
PIPES["tensor cores"] = "sm__pipe_tensor_cycles_active" + ACTIVE
LAUNCHES = 40  # launches of a case that are profiled


def profile(kolmo: str, operator: str, case: str) -> list[dict]:
    """Profiles a case: returns a row of counters for each launch."""
    metrics = ",".join([TIME, *COUNTERS.values(), *PIPES.values()])
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-kernel-base", "function",
               "--launch-count", str(LAUNCHES), "--metrics", metrics,
               kolmo, "bench", operator, "--case", case, "--device", "cuda", "--default", "--no-baseline",
               "--samples", "3"]
    out = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    start = out.find('"ID"')
    if start < 0:
        raise RuntimeError(f"{operator}: {case}: ncu profiled nothing:\n{out[-2000:]}")
    rows = csv.DictReader(io.StringIO(out[start:]))
    return [row for row in rows if row["ID"]]  # the first row holds the units


def number(text: str) -> float:
    return float(text.replace(",", "") or "nan")


def kernels(rows: list[dict]) -> list[dict]:
    """Means of each kernel's launches, weighted by their time; kernels with most of the time first."""
    launches = defaultdict(list)
    for row in rows:
        launches[row["Kernel Name"]].append(row)
    total = sum(number(row[TIME]) for row in rows)
    found = []
    for name, of_kernel in launches.items():
        time = sum(number(row[TIME]) for row in of_kernel)

        def mean(metric, of_kernel=of_kernel, time=time):
            return round(sum(number(row[metric]) * number(row[TIME]) for row in of_kernel) / time, 1)

        pipes = {pipe: mean(metric) for pipe, metric in PIPES.items()}
        share = time / total
        found.append({"kernel": name, "share_of_time": round(share, 3), **{k: mean(m) for k, m in COUNTERS.items()}, "pipes": pipes})
    return sorted(found, key=lambda k: -k["share_of_time"])


def table(record: dict) -> str:
    """A table with a row for each case: the kernel that takes most of its time."""
    lines = ["| case | kernel, of the time | memory | L2 | L1 | issue slots | busiest pipe | warps |", "|---|---|---|---|---|---|---|---|"]
    for case in record["cases"]:
        k = case["kernels"][0]
        pipe = max(k["pipes"], key=k["pipes"].get)
        cells = [case["shown"], f"`{k['kernel']}`, {k['share_of_time'] * 100:.0f} %",
                 *(f"{k[name]:.0f} %" for name in ("dram", "l2", "l1", "issue")), f"{pipe} {k['pipes'][pipe]:.0f} %", f"{k['warps']:.0f} %"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kolmo")
    parser.add_argument("bench")
    parser.add_argument("torch")
    parser.add_argument("record")
    arguments = parser.parse_args()
    bench = json.loads(Path(arguments.bench).read_text(encoding="utf-8"))
    torch = json.loads(Path(arguments.torch).read_text(encoding="utf-8"))
    wanted = {case: shown for ratio, case, shown, *_ in compared(bench, torch) if ratio < 1}
    wanted |= {(r["operator"], r["case"]): r["shown"] for r in below_copy(bench)}
    record = {key: bench[key] for key in ("kolmo_version", "commit", "device", "driver")}
    record |= {"kind": "bounds", "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "cases": []}
    for (operator, case), shown in wanted.items():
        found = kernels(profile(arguments.kolmo, operator, case))
        record["cases"].append({"operator": operator, "case": case, "shown": shown, "kernels": found})
        Path(arguments.record).write_text(record_text(record), encoding="utf-8")
        print(shown, found[0], flush=True)


if __name__ == "__main__":
    main()
