#!/usr/bin/env python3
"""Race check without a GPU: validates, under ThreadSanitizer on the emulated GPU, every operator whose CUDA sources
changed since it last passed. Passes are kept in build/tsan/passed/<op>, which holds the hash of the sources.

Prints "passed failed skipped" on the last line of stdout; operators that passed before count as passed."""
import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / "build/tsan/passed"
LIMIT_SECONDS = 1200  # for one of two operators that share the cores


def hashes(command: Path) -> dict[str, str]:
    listed = subprocess.run([command, "list", "--json"], check=True, capture_output=True, text=True).stdout
    ops = json.loads(listed)
    return {op["name"]: op["cuda_sources"] for op in ops if op["cuda_sources"] and not op["alias_of"]}


def is_current(op: str, sources: str) -> bool:
    stamp = PASSED / op
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == sources


def build(jobs: str) -> bool:
    for command in (["cmake", "--preset", "tsan"],
                    ["cmake", "--build", "--preset", "tsan", "-j", jobs, "--target", "kolmo"]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            print((done.stdout + done.stderr)[-6000:], file=sys.stderr)
            return False
    return True


def check(op: str, threads: str) -> bool:
    options = os.environ.get("TSAN_OPTIONS", "")
    environment = os.environ | {"TSAN_OPTIONS": f"halt_on_error=1 {options}"}
    command = [ROOT / "build/tsan/kolmo", "validate", op, "--device", "simt", "--threads", threads]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"{op}: not done after {LIMIT_SECONDS} s", file=sys.stderr)
        return False
    if done.returncode:
        print(f"{op}: {' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-6000:]}", file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, default=ROOT / "build/ci/kolmo", help="a kolmo that lists the catalogue")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    arguments = parser.parse_args()

    try:
        every = hashes(arguments.command)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"race_check: {error}", file=sys.stderr)
        print("0 1 0")
        return 1
    changed = [op for op, sources in every.items() if not is_current(op, sources)]
    passed = len(every) - len(changed)
    print(f"{len(every)} operators with CUDA sources, {len(changed)} changed since they last passed", file=sys.stderr)
    if changed and not build(arguments.jobs):
        print(f"{passed} {len(changed)} 0")
        return 1
    PASSED.mkdir(parents=True, exist_ok=True)

    def passes(op: str) -> bool:
        if good := check(op, arguments.jobs):
            (PASSED / op).write_text(every[op], encoding="utf-8")
        return good

    # The emulated GPU waits for its blocks to end: operators side by side fill the cores.
    with ThreadPoolExecutor(int(arguments.jobs)) as pool:
        good = sum(pool.map(passes, changed))
    passed, failed = passed + good, len(changed) - good
    print(passed, failed, 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
