#!/usr/bin/env python3
"""gpu_tests.py BUILD RECORD: runs the C++ tests of a build on this machine's GPU and keeps in RECORD (results/h200/cpp.json, say) which
of them need it and passed, with the device, the commit and the hashes of the CUDA sources. Needed by a test means that it is skipped
or missing where CUDA sees no device. What `kolmo validate --record` keeps, conformance, is left out. Status 1 if a test failed."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from record_text import record_text

ROOT = Path(__file__).resolve().parent.parent


def outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None:
        return "failed"
    skipped = case.find("skipped")
    return "passed" if skipped is None else "skipped: " + skipped.get("message", "").split("\n", 1)[-1].strip()


def outcomes(program: Path, shards: int, **environment: str) -> dict[str, str]:
    """"passed", "failed" or why it was skipped, by the name of the test."""
    with tempfile.TemporaryDirectory() as folder:
        def run(shard: int) -> dict[str, str]:
            file = Path(folder, f"{shard}.xml")
            command = [program, "--gtest_filter=-Conformance_*", f"--gtest_output=xml:{file}", "--gtest_brief=1"]
            done = subprocess.run(command, cwd=ROOT, env=os.environ | environment | {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)},
                                  capture_output=True, text=True)
            if not file.is_file():
                raise SystemExit(f"gpu_tests: {program} crashed with status {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
            return {f"{case.get('classname')}.{case.get('name')}": outcome(case) for case in ElementTree.parse(file).getroot().iter("testcase")}

        with ThreadPoolExecutor(shards) as pool:
            return {name: found for part in pool.map(run, range(shards)) for name, found in part.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("record", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    program, kolmo = options.build / "kolmo_tests", options.build / "kolmo"
    devices, ops = (json.loads(subprocess.run([kolmo, *asked, "--json"], check=True, capture_output=True, text=True).stdout)
                    for asked in (["devices"], ["list"]))
    gpus = [d for d in devices if d["device"].startswith("cuda")]
    if not gpus:
        print("gpu_tests: this machine has no usable GPU, or the build no CUDA", file=sys.stderr)
        return 1
    without = outcomes(program, options.jobs, CUDA_VISIBLE_DEVICES="-1")
    with_gpu = outcomes(program, options.jobs)
    needing = [name for name in sorted(with_gpu) if without.get(name, "skipped").startswith("skipped")]
    failed = sorted(name for name, found in with_gpu.items() if found == "failed")
    version, commit = re.fullmatch(r"kolmo (\S+) \((\S+)\)", subprocess.run([kolmo, "--version"], check=True, capture_output=True, text=True).stdout.strip()).groups()
    record = {"kolmo_version": version, "commit": commit, "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "kind": "cpp",
              "device": gpus[0], "driver": gpus[0]["driver"], "command": f"tools/gpu_tests.py {options.build} {options.record}",
              "counts": {"run": len(with_gpu), "failed": len(failed), "need a GPU": len(needing)}, "failed": failed,
              "need_a_gpu": [{"name": name, "outcome": with_gpu[name]} for name in needing],
              "cuda_sources": [{"name": op["name"], "hash": op["cuda_sources"]} for op in ops if op["cuda_sources"] and not op["alias_of"]]}
    options.record.write_text(record_text(record), encoding="utf-8")
    print(f"{record['counts']}, written to {options.record}")
    return 1 if failed or not needing else 0


if __name__ == "__main__":
    sys.exit(main())
