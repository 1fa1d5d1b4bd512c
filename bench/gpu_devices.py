"""Work that several GPUs share beside one GPU, in turn: python3 bench/gpu_devices.py KOLMO RECORD.json [PAIRS [DEVICES]]

Runs a network pair by pair, a multivariate one, and the surrogates of one long transfer entropy, on DEVICES (cuda:all) and on the first
of them. `wall` are seconds of the command, `inside` those of its estimates, without the start of CUDA and the reading of the file. The
outputs must be the same but for the device, the command and the seconds."""
import json
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import machine

VAR = "simulate var --variables 100 --samples 1000 --out var.csv --truth t.json"
LONG = "simulate var --variables 2 --samples 1000000 --out long.csv --truth t.json"
RUNS = {"network, 5 lags": "network var.csv --surrogates 200 --exceedances 0",
        "network, 1 lag": "network var.csv --max-lag 1 --surrogates 200 --exceedances 0",
        "multivariate network, 5 lags": "network var.csv --method multivariate",
        "transfer entropy, 100 surrogates": "te long.csv --source 0 --target 1 --surrogates 100",
        "transfer entropy, 1000 surrogates": "te long.csv --source 0 --target 1 --surrogates 1000"}
OF_RUN = ("device", "command", "seconds", "text")  # text is that on methods, which names the device


def without_run(value):
    """A document without what tells where and how fast it was made."""
    if isinstance(value, dict):
        return {k: without_run(v) for k, v in value.items() if k not in OF_RUN}
    return [without_run(v) for v in value] if isinstance(value, list) else value


def spread(values: list) -> dict:
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main() -> int:
    kolmo, record, pairs = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5
    several = sys.argv[4] if len(sys.argv) > 4 else "cuda:all"
    one = several.split(",")[0].replace("all", "0")
    version, commit = machine.kolmo_version(kolmo)
    runs, differing = [], []
    with tempfile.TemporaryDirectory() as folder:
        def call(arguments: str, device: str) -> tuple[dict, float]:
            start = time.perf_counter()
            text = subprocess.run([kolmo, *arguments.split(), "--device", device, "--json"], cwd=folder, check=True, capture_output=True, text=True).stdout
            return json.loads(text), time.perf_counter() - start

        for arguments in (VAR, LONG):
            subprocess.run([kolmo, *arguments.split()], cwd=folder, check=True, capture_output=True)
        for name, arguments in RUNS.items():
            samples: dict = {d: {"wall": [], "inside": []} for d in (one, several)}
            for pair in range(pairs):
                found = {}
                for device in (one, several)[:: 1 if pair % 2 == 0 else -1]:
                    found[device], seconds = call(arguments, device)
                    samples[device]["wall"].append(round(seconds, 3))
                    samples[device]["inside"].append(round(found[device]["seconds"], 4))
                if without_run(found[one]) != without_run(found[several]):
                    differing.append(name)
            factors = {kind: spread([a / b for a, b in zip(samples[one][kind], samples[several][kind], strict=True)])
                       for kind in ("wall", "inside")}
            runs.append({"name": name, "command": f"kolmo {arguments}", "same": name not in differing, "seconds": samples, "factors": factors})
            print(name, {d: {k: statistics.median(v) for k, v in s.items()} for d, s in samples.items()}, factors, flush=True)
            devices = json.loads(subprocess.run([kolmo, "devices", "--json"], check=True, capture_output=True, text=True).stdout)
            record.write_text(json.dumps({
                "kolmo_version": version, "commit": commit, "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "kind": "devices", "devices": [d for d in devices if d["device"].startswith(one.split(":", maxsplit=1)[0])],
                "machine": machine.cpu_model(), "data": [f"kolmo {VAR}", f"kolmo {LONG}"], "runs": runs}, indent=1) + "\n", encoding="utf-8")
    for name in differing:
        print(f"{name}: the outputs on {one} and on {several} differ", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
