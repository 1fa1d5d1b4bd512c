#!/usr/bin/env python3
"""second_shape.py [--revision COMMIT] [--build FOLDER] [--command FILE] [--whole LOG --calls FILE]: counts what docs/architecture.md says of the
second shape and writes it into bench/results/runtime-cpu/second_shape.json, beside what was measured by hand: lines of code
at the commit before it and at COMMIT (HEAD); with a build of HEAD with nvcc, kernels of each folder; the size of the `kolmo`
of a build of HEAD, stripped. --whole puts in the same of the whole catalogue: lines at HEAD, what tools/empty_debian.sh printed
into LOG, and the times of calls that the test op.call_cost printed into FILE."""
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
    if "_oracle." in path or "_test." in path:  # what oracles were called before
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


def whole(log: str, calls: str) -> dict:
    """Of HEAD, from the lines of tools/empty_debian.sh and of op.call_cost."""
    demo = re.search(r"make demo took (\d+) s, of them (\d+) s for packages, on cores of ([\d.]+) GHz; (\d+) s of processors of 3 GHz", log)
    build = re.search(r"check_build: (\d+) objects, (\d+) s, the longest (\d+) s", log)
    if not demo or not build:
        raise SystemExit("the log has no lines of tools/empty_debian.sh")
    entry = re.compile(r"^extern const Op<\w+> ([\w, ]+);", re.M)
    headers = [path for path in git("ls-files", "kolmo/ops/*.hpp").split() if Path(path).stem == Path(path).parent.name]
    operators = sum(len(names.split(", ")) for path in headers for names in entry.findall(git("show", f"HEAD:{path}")))
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "operators": operators, "lines": lines("HEAD"),
            "make_demo_on_empty_debian": {"seconds": int(demo[1]), "packages": int(demo[2]), "core_ghz": float(demo[3]), "processors_of_3_ghz": int(demo[4])},
            "objects": int(build[1]), "cpu_seconds": int(build[2]), "longest_object_seconds": int(build[3]), "calls": calls.split("\n")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", default="HEAD", metavar="COMMIT")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--command", type=Path)
    parser.add_argument("--whole", type=Path)
    parser.add_argument("--calls", type=Path)
    options = parser.parse_args()
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if options.whole:
        record["whole"] = whole(options.whole.read_text(encoding="utf-8", errors="replace"), options.calls.read_text(encoding="utf-8").strip())
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        return
    record["lines"] = {"before": lines(BEFORE), "after": lines(options.revision)}
    commit = git("rev-parse", "--short=12", "HEAD").strip()
    if options.build:
        kernels = {folder: count for folder, (count, _) in kernels_of(options.build).items()}
        record["kernels"] |= {"commit": commit, "folders": kernels}
    if options.command:
        record["command_bytes"] = {"commit": commit, "stripped": stripped_bytes(options.command),
                                   "folder": options.command.resolve().parent.name}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
