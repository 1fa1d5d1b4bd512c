#!/usr/bin/env python3
"""Race check without a GPU: validates, under ThreadSanitizer on the emulated GPU, every operator whose CUDA sources
changed since it last passed. results/races.json holds the hash of the sources that each operator passed with; commit it
with a change of CUDA sources, and continuous integration need not check them again.

Prints "passed failed skipped" on the last line of stdout; operators that passed before count as passed. With --pending it
only tells, by status 1, whether there are any to check."""
import argparse
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "results/races.json"
LIMIT_SECONDS = 1200  # for one operator, while two share the cores


def hashes(command: Path) -> dict[str, str]:
    listed = subprocess.run([command, "list", "--json"], check=True, capture_output=True, text=True).stdout
    ops = json.loads(listed)
    return {op["name"]: op["cuda_sources"] for op in ops if op["cuda_sources"] and not op["alias_of"]}


def passed_before() -> dict[str, str]:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}


def check(kolmo: Path, op: str, threads: str) -> bool:
    options = os.environ.get("TSAN_OPTIONS", "")
    environment = os.environ | {"TSAN_OPTIONS": f"halt_on_error=1 {options}"}
    command = [kolmo, "validate", op, "--device", "simt", "--threads", threads, "--aspect", "result"]
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
    parser.add_argument("--command", type=Path, default=ROOT / "build/tsan/kolmo", help="a kolmo built with ThreadSanitizer and the emulated GPU")
    parser.add_argument("--sources", type=Path, default=ROOT / "build/ci/kolmo", help="any kolmo of these sources")
    parser.add_argument("--pending", action="store_true")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    arguments = parser.parse_args()

    try:
        every = hashes(arguments.sources)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"race_check: {error}", file=sys.stderr)
        print("0 1 0")
        return 1
    record = {op: sources for op, sources in passed_before().items() if op in every}
    changed = [op for op, sources in every.items() if record.get(op) != sources]
    print(f"races: {len(every)} operators with CUDA sources, {len(changed)} changed since their race check last passed",
          file=sys.stderr)
    if arguments.pending:
        return 1 if changed else 0

    writing = threading.Lock()

    def passes(op: str) -> bool:
        started = time.monotonic()
        good = check(arguments.command, op, arguments.jobs)
        with writing:  # written after each operator, so that an interrupted check keeps what passed
            record.pop(op, None)
            if good:
                record[op] = every[op]
            RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"races: {op} {'passed' if good else 'failed'} ({time.monotonic() - started:.0f} s)", file=sys.stderr, flush=True)
        return good

    # The emulated GPU waits for its blocks to end, so several operators at a time keep the cores busy.
    with ThreadPoolExecutor(int(arguments.jobs)) as pool:
        failed = len(changed) - sum(pool.map(passes, changed))
    print(len(every) - failed, failed, 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
