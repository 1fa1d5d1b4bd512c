#!/usr/bin/env python3
"""Race check without a GPU: validates, under ThreadSanitizer on the emulated GPU, every operator whose CUDA sources
changed since it last passed. results/races.json holds the hash of the sources that each operator passed with; commit it
with a change of CUDA sources, and continuous integration need not check them again. The name "simt" in it stands for the
emulated GPU: after a change of simt/, the operators of WITNESSES are checked again, which use every part of it; --all checks
all operators.

Prints "passed failed skipped" on the last line of stdout; operators that passed before count as passed. With --pending it
only tells, by status 1, whether there are any to check."""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from passed import Passed

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cmake"))
from source_hashes import tokens  # noqa: E402

RECORD = ROOT / "results/races.json"
LIMIT_SECONDS = 1200  # for one operator, while two share the cores
# Sums by shuffles; votes and asynchronous copies; tensor cores; counting barriers; grids whose blocks run together; atomics.
WITNESSES = ("reduce_sum", "leaky_integrate_fire", "matmul", "attention", "top_k_sampling", "gru_forward", "ksg_mutual_information")


def operator_hashes(command: Path) -> dict[str, str]:
    listed = subprocess.run([command, "list", "--json"], check=True, capture_output=True, text=True).stdout
    ops = json.loads(listed)
    return {op["name"]: op["cuda_sources"] for op in ops if op["cuda_sources"] and not op["alias_of"]}


def simt_hash(root: Path = ROOT) -> str:
    """Of the tokens of the emulated GPU, without its tests."""
    files = sorted(path for folder in ("simt", "simt/shim") for path in (root / folder).iterdir() if path.suffix in (".h", ".hpp", ".cpp"))
    code = "".join(f"{path.relative_to(root)} {chr(0).join(tokens(path.read_text(encoding='utf-8')))}\n" for path in files)
    return hashlib.sha256(code.encode()).hexdigest()


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
    parser.add_argument("--all", action="store_true", help="check every operator again")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no operator later than this; what is left is named and counts as skipped")
    arguments = parser.parse_args()

    try:
        every = operator_hashes(arguments.sources)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"race_check: {error}", file=sys.stderr)
        print("0 1 0")
        return 1
    passed = Passed(RECORD, every | {"simt": simt_hash()})
    new_simt = "simt" in passed.pending
    changed = sorted(every if arguments.all else {*passed.pending, *(WITNESSES if new_simt else ())} - {"simt"})
    print(f"races: {len(every)} operators with CUDA sources, {len(changed)} to check"
          + ("; simt/ changed since it last passed" if new_simt else ""), file=sys.stderr)
    if arguments.pending:
        return 1 if changed else 0

    begun = time.monotonic()

    def passes(op: str) -> bool | None:
        started = time.monotonic()
        if started - begun > arguments.seconds:
            return None
        good = check(arguments.command, op, arguments.jobs)
        passed.note(op, good)
        print(f"races: {op} {'passed' if good else 'failed'} ({time.monotonic() - started:.0f} s)", file=sys.stderr, flush=True)
        return good

    # The emulated GPU waits for its blocks to end, so several operators at a time keep the cores busy.
    with ThreadPoolExecutor(int(arguments.jobs)) as pool:
        results = dict(zip(changed, pool.map(passes, changed)))
    failed = list(results.values()).count(False)
    left = [op for op, good in results.items() if good is None]
    if left:
        print(f"races: not checked within {arguments.seconds:.0f} s: {', '.join(left)}", file=sys.stderr)
    if new_simt and not failed and not left:
        passed.note("simt", True)
    print(len(every) - failed - len(left), failed, len(left))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
