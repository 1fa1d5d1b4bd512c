#!/usr/bin/env python3
"""Measured numbers in README.md and docs/*.md are those of one committed result of bench/run.py.

docs/benchmarks.md names the file: <!-- bench-results: bench/results/NAME.json -->, or "none" as long as nothing was
measured. A number stands as <!-- bench:KEY -->12.3 ms<!-- /bench -->; bench/table.py says what each KEY stands for.
These markers hold tables that scripts of bench/ make of the records that they name:
  <!-- beside-pytorch: BENCH TORCH -->            beside_pytorch.py, every case
  <!-- operators-beside-pytorch: BENCH TORCH -->  beside_pytorch.py, a row for each operator
  <!-- below-copy: BENCH TORCH -->                below_copy.py
  <!-- beside-cublaslt: TUNING -->                beside_cublaslt.py
  <!-- beside-unfused: BENCH -->                  beside_unfused.py
  <!-- cpu-pytorch: RECORD -->                    cpu_table.py
  <!-- gpu-bounds: RECORD -->                     gpu_bounds.py
  <!-- gpu-neighbors: RECORD... -->               neighbors_table.py
  <!-- predict-ladder: RECORD -->, predict-overhead, predict-gpt, predict-gpt2, predict-h200, predict-curves    predict_table.py
  <!-- topology: RECORD -->                       topology_table.py
  <!-- ablation: RECORD -->                       ablation_table.py
  <!-- network-power: RECORD -->                  network_power_table.py
  <!-- world-model: RECORD BENCH -->, world-model-memory: RECORD, world-model-upload: RECORD PIPELINE, world-model-shared: BENCH
                                                  world_model_table.py
<!-- time: RECORD OPERATOR: CASE --> ... <!-- /time --> is one time of a record of `kolmo bench`; with two records it says how many
times as fast the first is. <!-- network: RECORD WHAT OPTIONS --> ... <!-- /network --> is a time of a record of
bench/gpu_network.py, from the shortest to the longest run: WHAT is `command`, `printed` or `estimate`, which is the median of the
command's time for one estimate. <!-- record: RECORD --> ... <!-- /record --> is the date and the commit of any record.
--write [RESULT] puts the numbers (of another result) in."""
import argparse
import json
import re
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
from ablation_table import ablation  # noqa: E402
from below_copy import table as below_copy  # noqa: E402
from beside_cublaslt import table as beside_cublaslt  # noqa: E402
from beside_pytorch import by_operator, shown, table as beside_pytorch, times  # noqa: E402
from beside_unfused import table as beside_unfused  # noqa: E402
from cpu_table import table as cpu_pytorch  # noqa: E402
from gpu_bounds import table as gpu_bounds  # noqa: E402
from neighbors_table import table as gpu_neighbors  # noqa: E402
from network_power_table import network_power  # noqa: E402
from predict_table import curves, gpt, gpt2, h200, ladder, overhead  # noqa: E402
from results import Result, load  # noqa: E402
from table import NONE, TABLES, quote  # noqa: E402
from topology_table import table as topology  # noqa: E402
from world_model_table import memory, parts, shared, upload  # noqa: E402

SOURCE = re.compile(r"<!-- bench-results: (\S+) -->")
SPAN = re.compile(r"(<!-- bench:(\S+) -->)(.*?)(<!-- /bench -->)", re.S)
MADE = {"below-copy": below_copy, "beside-pytorch": beside_pytorch, "operators-beside-pytorch": by_operator,
        "beside-cublaslt": beside_cublaslt, "beside-unfused": beside_unfused, "cpu-pytorch": cpu_pytorch, "gpu-bounds": gpu_bounds,
        "gpu-neighbors": gpu_neighbors,
        "predict-ladder": ladder, "predict-overhead": overhead, "predict-gpt": gpt, "predict-gpt2": gpt2, "predict-h200": h200,
        "predict-curves": curves, "ablation": ablation, "topology": topology, "network-power": network_power,
        "world-model": parts, "world-model-memory": memory, "world-model-upload": upload, "world-model-shared": shared}
TABLE = re.compile(rf"(<!-- ({'|'.join(MADE)}): (\S+(?: \S+)*) -->\n)(.*?)(<!-- /\2 -->)", re.S)
TIME = re.compile(r"(<!-- time: (\S+) (?:(\S+) )?(\w+): (.+?) -->)(.*?)(<!-- /time -->)")
NETWORK = re.compile(r"(<!-- network: (\S+) (command|printed|estimate) (.+?) -->)(.*?)(<!-- /network -->)")
RECORD = re.compile(r"(<!-- record: (\S+) -->)(.*?)(<!-- /record -->)", re.S)
OPEN = re.compile(rf"<!-- /?(time|network|record|{'|'.join(MADE)})\b")
MARKER = re.compile(r"<!-- /?bench\b")


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def expected_text(result, name: str) -> str:
    if result is not None:
        return quote(result, name)
    return f"\n{NONE}\n" if name in {*TABLES, "losses"} else NONE


def rewrite(text: str, result) -> tuple[str, list[str]]:
    """The text with the numbers put in, and what is wrong with it as it stands."""
    faults = []

    def replace(match):
        start, name, found, end = match.groups()
        try:
            right = expected_text(result, name)
        except KeyError:
            faults.append(f"bench:{name} is not in the result")
            return match[0]
        if found != right:
            faults.append(f"bench:{name} reads {found.strip()[:60]!r}; the result says {right.strip()[:60]!r}")
        return start + right + end

    rest = SPAN.sub("", SOURCE.sub("", text))
    if MARKER.search(rest):
        faults.append("a bench marker is not closed, or closes nothing")
    return SPAN.sub(replace, text), faults


def network_text(run: dict, what: str) -> str:
    if what == "estimate":
        each = median(run["seconds"]) / run["estimates"] * 1e6
        return f"{each:{'.2g' if each < 100 else '.0f'}} us"
    times = run["seconds" if what == "command" else "of_estimates"]
    ends = [f"{least:.2f}" for least in (min(times), max(times))]
    return (ends[0] if ends[0] == ends[1] else " to ".join(ends)) + " s"


def rewrite_records(text: str, root: Path) -> tuple[str, list[str]]:
    """Does what rewrite() does, for what is made from the records of a GPU."""
    faults = []

    def record(name: str) -> dict:
        return json.loads((root / name).read_text(encoding="utf-8"))

    def filled(start: str, found: str, right: str, end: str) -> str:
        if found != right:
            faults.append(f"{start} reads {found!r}; the record says {right!r}")
        return start + right + end

    def time(match):
        start, *names, op, case, found, end = match.groups()
        known = [times(record(name)).get((op, case)) for name in names if name]
        if None in known:
            faults.append(f"{' or '.join(filter(None, names))} has no {op}: {case}")
            return match[0]
        return filled(start, found, shown(known[0]) if len(known) == 1 else f"{known[1] / known[0]:.0f}", end)

    def network(match):
        start, name, what, options, found, end = match.groups()
        runs = [run for run in record(name)["runs"]  # records from before sequential tests do not ask for all surrogates
                if run["command"].replace(" --exceedances 0", "") == f"kolmo network {options} --device cuda --json"]
        if not runs:
            faults.append(f"{name} has no network {options}")
            return match[0]
        return filled(start, found, network_text(runs[0], what), end)

    def source(match):
        start, name, found, end = match.groups()
        return filled(start, found, f"{record(name)['date'][:10]}, commit {record(name)['commit']}", end)

    def replace(match):
        start, kind, names, found, end = match.groups()
        right = MADE[kind](*map(record, names.split()))
        if found != right:
            faults.append(f"the table {kind} is not that of {names}")
        return start + right + end

    if OPEN.search(NETWORK.sub("", RECORD.sub("", TIME.sub("", TABLE.sub("", text))))):
        faults.append("a marker of a record is not closed, or closes nothing")
    return TABLE.sub(replace, TIME.sub(time, NETWORK.sub(network, RECORD.sub(source, text)))), faults


def named_result(root: Path):
    """The result that docs/benchmarks.md names; None if it says none."""
    named = SOURCE.findall((root / "docs/benchmarks.md").read_text(encoding="utf-8"))
    if len(named) != 1:
        raise SystemExit("docs/benchmarks.md: needs one <!-- bench-results: FILE -->")
    if named[0] == "none":
        return None
    data = load(root / named[0])
    if data["quick"]:
        raise SystemExit(f"{named[0]}: is a quick result; the documentation needs a full one")
    return Result(data)


def main(root: Path = ROOT, arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", nargs="?", const="", metavar="RESULT", help="put the numbers in")
    options = parser.parse_args(arguments)
    if options.write:
        page = root / "docs/benchmarks.md"
        name = Path(options.write).resolve().relative_to(root).as_posix()
        page.write_text(SOURCE.sub(f"<!-- bench-results: {name} -->", page.read_text(encoding="utf-8")), encoding="utf-8")
    result = named_result(root)
    count = total = 0
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        right, faults = rewrite(text, result)
        right, more = rewrite_records(right, root)
        faults += more
        total += sum(len(kind.findall(text)) for kind in (SPAN, TABLE, TIME, NETWORK, RECORD))
        if options.write is not None:
            page.write_text(right, encoding="utf-8")
            faults = rewrite(right, result)[1]
        for fault in faults:
            print(f"{page.relative_to(root)}: {fault}", file=sys.stderr)
        count += len(faults)
    print(f"check_numbers: {total} numbers and tables, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
