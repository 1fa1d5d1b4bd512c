"""Wall-clock times of `kolmo network` on a GPU: python3 bench/gpu_network.py KOLMO RECORD.json

Twenty runs of the first network show whether its time has one mode; what runs once is shown once."""
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

MODELS = {"a.csv": "var --variables 100 --samples 1000", "b.csv": "var --variables 50 --samples 10000",
          "d.csv": "var --variables 6 --samples 10000"}
UNLIKE = "c.csv"  # 100 series of 1000 values, x' = phi x + noise, each with a phi of its own: targets choose unlike pasts
FIRST = "a.csv --max-lag 1 --surrogates 200"
RUNS = ((FIRST, 20), (f"{FIRST} --embedding given", 3), ("b.csv --max-lag 1 --surrogates 100 --embedding given", 3),
        (f"{FIRST} --surrogate-type permute", 3), (f"{FIRST} --surrogate-type block", 3),
        (f"{UNLIKE} --max-lag 1 --surrogates 200", 20), ("a.csv --surrogates 200", 3),  # five lags, unless one is asked for
        *((f"d.csv --surrogates 100 --embedding given --history {columns}", 3) for columns in (1, 2, 3, 4)))


def write_unlike_series(path: Path) -> None:
    draw, x, rows = random.Random(1), [0.0] * 100, []
    for _ in range(1000):
        x = [0.95 * i / 99 * value + draw.gauss(0, 1) for i, value in enumerate(x)]
        rows.append(",".join(f"{value:.6f}" for value in x))
    path.write_text("\n".join([",".join(f"x{i}" for i in range(100)), *rows]) + "\n", encoding="utf-8")


def main() -> None:
    kolmo, record = sys.argv[1:]
    called = {"check": True, "text": True, "capture_output": True}
    device = next(d for d in json.loads(subprocess.run([kolmo, "devices", "--json"], **called).stdout) if d["device"] == "cuda:0")
    version, commit = re.match(r"kolmo (\S+) \((.*)\)", subprocess.run([kolmo, "--version"], **called).stdout).groups()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        write_unlike_series(Path(folder) / UNLIKE)
        for name, model in MODELS.items():
            subprocess.run([kolmo, "simulate", *model.split(), "--out", name, "--truth", "truth.json"], cwd=folder, **called)
        for arguments, times in RUNS:
            command = ["network", *arguments.split(), "--exceedances", "0", "--device", "cuda", "--json"]
            seconds, of_estimates = [], []  # those of the command, and those of the network alone
            for _ in range(times):
                start = time.perf_counter()
                printed = subprocess.run([kolmo, *command], cwd=folder, **called).stdout
                seconds.append(round(time.perf_counter() - start, 3))
                network = json.loads(printed)
                of_estimates.append(round(network["seconds"], 3))
            estimates = len(network["links"]) * network["options"]["max_lag"] * (1 + network["options"]["surrogates"])
            runs.append({"command": " ".join(["kolmo", *command]), "estimates": estimates, "seconds": seconds,
                         "of_estimates": of_estimates})
            print(f"{arguments}: {sorted(seconds)[len(seconds) // 2]} s (longest {max(seconds)})", flush=True)
    data = [f"kolmo simulate {model} --out {name}" for name, model in MODELS.items()]
    result = {"kolmo_version": version, "commit": commit, "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
              "kind": "network", "device": device, "driver": device["driver"], "data": data, "runs": runs}
    Path(record).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
