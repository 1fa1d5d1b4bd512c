#!/usr/bin/env python3
"""second_shape.py --revision COMMIT, or --whole LOG --calls FILE --build FOLDER --command FILE: counts what docs/architecture.md says of the
second shape and writes it into bench/results/runtime-cpu/second_shape.json, beside what was measured by hand. --revision: lines of
code at the commit before it and at COMMIT. --whole, of the whole catalogue: lines at HEAD; what `.ci/run` printed into LOG of
`make test` in a fresh clone and of the empty Debian; the times of calls that the test op.call_cost printed; of a build of HEAD
with nvcc, kernels of each folder and objects that a change of op/op.hpp rebuilds; the size of its `kolmo`, stripped."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "bench/results/runtime-cpu/second_shape.json"
sys.path.insert(0, str(ROOT / "tools"))
from check_build import kernels_of  # noqa: E402

BEFORE = "312734d"
KINDS = {"headers": (".hpp",), "cpp": (".cpp",), "cu": (".cu", ".cuh"), "oracles": ()}
FOLDERS = ["op", "check", "skeleton", "knn", "ops/nn/softmax", "ops/nn/layer_norm", "ops/elementwise/vector_add",
           "ops/elementwise/binary"]


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def kind(path: str) -> str:
    if "_oracle." in path or "_test." in path:  # the former names of oracles
        return "oracles"
    return next(name for name, suffixes in KINDS.items() if path.endswith(suffixes))


def lines(revision: str) -> dict:
    counted = (line.rsplit(":", 2)[1:] for line in git("grep", "-c", "", revision, "--", "kolmo").splitlines())
    counts = {path: int(n) for path, n in counted if path.endswith((".hpp", ".cpp", ".cu", ".cuh"))}
    ops = dict.fromkeys(KINDS, 0)
    for path, n in counts.items():
        if path.startswith("kolmo/ops/"):
            ops[kind(path)] += n
    folders = {folder: sum(n for path, n in counts.items() if path.startswith(f"kolmo/{folder}/")) for folder in FOLDERS}
    row_op = sum(n for path, n in counts.items() if path.startswith(("kolmo/skeleton/row_op", "kolmo/skeleton/row_vec")))
    return {"commit": git("rev-parse", "--short=12", revision).strip(), "ops": ops,
            "folders": folders | {"skeleton of softmax and layer_norm": row_op}}


def stripped_bytes(command: Path) -> int:
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "-o", copy.name, command], check=True)
        return Path(copy.name).stat().st_size


def rebuilt(build: Path) -> int:
    """Objects of a build that a change of op/op.hpp rebuilds: those that read it, themselves or in a precompiled header."""
    said = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    read = {Path(name): "kolmo/op/op.hpp\n" in paths for name, paths in re.findall(r"^(\S+): #deps.*\n((?: .*\n)*)", said, re.M)}
    precompiled = [name.parent for name, reads in read.items() if reads and name.suffix == ".gch"]
    return sum(name.suffix == ".o" and (reads or any(name.is_relative_to(folder) for folder in precompiled)) for name, reads in read.items())


def whole(log: str, calls: str, build_folder: Path, command: Path) -> dict:
    """What is measured of HEAD: from the lines of .ci/run and of op.call_cost, and a build."""
    demo = re.search(r"make demo took (\d+) s, of them (\d+) s for packages, on cores of ([\d.]+) GHz; (\d+) s of processors of 3 GHz", log)
    build = re.search(r"check_build: (\d+) objects, (\d+) s, the longest (\d+) s", log)
    test = re.search(r"^seconds: test (\d+) \(([\d.]+) GHz\)", log, re.M)
    if not demo or not build or not test:
        raise SystemExit("the log has no lines of tools/empty_debian.sh, or not the last one of .ci/run")
    entry = re.compile(r"^extern const Op<\w+> ([\w, ]+);", re.M)
    headers = [path for path in git("ls-files", "kolmo/ops/*.hpp").split() if Path(path).stem == Path(path).parent.name]
    operators = sum(len(names.split(", ")) for path in headers for names in entry.findall(git("show", f"HEAD:{path}")))
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "operators": operators, "lines": lines("HEAD"),
            "make_demo_on_empty_debian": {"seconds": int(demo[1]), "packages": int(demo[2]), "core_ghz": float(demo[3]), "processors_of_3_ghz": int(demo[4])},
            "make_test_in_a_fresh_clone": {"seconds": int(test[1]), "core_ghz": float(test[2])},
            "objects": int(build[1]), "cpu_seconds": int(build[2]), "longest_object_seconds": int(build[3]), "calls": calls.split("\n"),
            "kernels": {folder: count for folder, (count, _) in kernels_of(build_folder).items()},
            "objects_rebuilt_for_op_hpp": rebuilt(build_folder), "command_bytes": stripped_bytes(command)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", metavar="COMMIT")
    for name in ("--whole", "--calls", "--build", "--command"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if options.revision:
        record["lines"] = {"before": lines(BEFORE), "after": lines(options.revision)}
    else:
        log, calls = (path.read_text(encoding="utf-8", errors="replace") for path in (options.whole, options.calls))
        record["whole"] = whole(log, calls.strip(), options.build, options.command)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
