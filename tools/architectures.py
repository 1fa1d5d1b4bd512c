#!/usr/bin/env python3
"""Compiles the kernels of every operator for the GPUs that are not on hand, without optimising them: that they compile is all it shows.
Only folders of operators whose CUDA sources changed since they last passed are compiled; results/architectures.json holds the hash of
the sources that each passed with. Commit it with a change of CUDA sources. architectures.py [--jobs N] [--nvcc NVCC]

Prints "passed failed skipped" on the last line of stdout, in folders; those that passed before count as passed."""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from passed import Passed

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cmake"))
from source_hashes import KERNEL_CODE, Tree  # noqa: E402

RECORD = ROOT / "results/architectures.json"
# For each virtual architecture, by which the sources tell GPUs apart, the GPUs that its code is assembled for. 9.0 is what the
# presets compile in full.
TARGETS = {80: (80, 86, 89), 100: (100, 103), 120: (120,)}


def folders(root: Path = ROOT) -> dict[str, str]:
    """By <group>/<folder>, the hash of its CUDA sources and of what they are compiled for."""
    tree = Tree(root)
    stems = (header.with_suffix("") for header in sorted(root.glob("kolmo/ops/*/*/*.hpp")) if header.stem == header.parent.name)
    hashes = {"/".join(stem.parts[-3:-1]): tree.hash_of(f"{stem.relative_to(root).as_posix()}.cu", KERNEL_CODE, ".cu") for stem in stems}
    return {folder: hashlib.sha256(f"{code} {TARGETS}".encode()).hexdigest() for folder, code in hashes.items() if code}


def compiles(nvcc: str, source: Path) -> bool:
    pairs = [f"arch=compute_{virtual},code=[{','.join(f'sm_{r}' for r in real)}]" for virtual, real in TARGETS.items()]
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++20", f"-I{ROOT}", "--expt-relaxed-constexpr", "-Werror=cross-execution-space-call", "-DKOLMO_SM90A",
                   "--Ofast-compile=max", "--fatbin", *(word for pair in pairs for word in ("-gencode", pair)), source, "-o", f"{folder}/x.fatbin"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-6000:]}", file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--nvcc")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no folder later than this; what is left is named and counts as skipped")
    options = parser.parse_args()
    every = folders()
    passed = Passed(RECORD, every)
    print(f"architectures: {len(every)} folders with kernels, {len(passed.pending)} changed since they last passed", file=sys.stderr)
    nvcc = options.nvcc or subprocess.run([ROOT / "tools/find_nvcc.sh"], capture_output=True, text=True).stdout.strip()
    if passed.pending and not nvcc:
        print("architectures: skipped, as there is no nvcc", file=sys.stderr)
        print(len(every) - len(passed.pending), 0, len(passed.pending))
        return 0

    with ThreadPoolExecutor(options.jobs) as pool:
        begun = time.monotonic()

        def passes(folder: str) -> bool | None:
            started = time.monotonic()
            if started - begun > options.seconds:
                return None
            good = all([compiles(nvcc, source) for source in sorted((ROOT / "kolmo/ops" / folder).glob("*.cu"))])
            passed.note(folder, good)
            print(f"architectures: {folder} {'passed' if good else 'failed'} ({time.monotonic() - started:.0f} s)", file=sys.stderr, flush=True)
            return good

        results = dict(zip(passed.pending, pool.map(passes, passed.pending)))
    failed = list(results.values()).count(False)
    left = [folder for folder, good in results.items() if good is None]
    if left:
        print(f"architectures: not compiled within {options.seconds:.0f} s: {', '.join(left)}", file=sys.stderr)
    print(len(every) - failed - len(left), failed, len(left))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
