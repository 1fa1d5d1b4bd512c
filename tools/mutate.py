#!/usr/bin/env python3
"""Mutation check: python3 tools/mutate.py [OPERATOR_FOLDER_OR_SHARED_SOURCE ...] [--all] [--cpu] [--minutes N] [--record results/mutants.json]

Changes one sign, bound or index in each source file of every operator and in those they share (with --all one of each), builds the
command and asks `kolmo validate`, on the CPU for what the CPU runs and on the emulated GPU for what a GPU runs. A mutant that passes has survived: a case or a
fact is missing, or the change makes no difference. The latter are listed with their reason in tools/mutants_equivalent.txt.

Works on a copy in build/mutants, which the first run builds. Takes about an hour; what a record of the same sources holds is not run
again. With --minutes it ends in time, and the next run goes on: sources that were never judged come first, then those judged longest
ago; 0: says how many there are. --cpu: only sources that the CPU alone runs. Exit status 1 if a mutant survived that is not listed."""
import argparse
import functools
import hashlib
import json
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path

from mutants import candidates, operators_of
from record_text import record_text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "cmake"))
from source_hashes import tokens  # noqa: E402

TREE = ROOT / "build/mutants/tree"
COMMAND = TREE / "build/cpu/kolmo"
ORIGINAL = COMMAND.with_name("kolmo_original")
KINDS = ("sign", "bound", "index")
# Headers that compute for operators whose own files hold little code, and the operators whose tests judge their mutants.
SHARED = {
    "kolmo/base/row_terms.hpp": ["reduce_sum", "dot_product"],
    "kolmo/base/sums.hpp": ["reduce_sum", "dot_product", "shannon_entropy"],
    "kolmo/base/entropy.hpp": ["shannon_entropy", "kl_divergence", "free_energy"],
    "kolmo/base/table_sums.hpp": ["conditional_entropy", "mutual_information"],
    "kolmo/device/small_tables.cuh": ["conditional_entropy", "mutual_information"],
    "kolmo/device/short_sums.cuh": ["reduce_sum", "shannon_entropy", "kl_divergence", "mutual_information"],
    "kolmo/device/reduce.cuh": ["shannon_entropy", "kl_divergence", "mutual_information"],
    "kolmo/device/wide_sums.cuh": ["reduce_sum", "dot_product"],
    "kolmo/base/normal.hpp": ["random_normal"],
    "kolmo/base/random.hpp": ["random_normal", "random_uniform"],
    "kolmo/base/digamma.hpp": ["digamma"],
    "kolmo/base/half.hpp": ["fp16_to_fp32", "fp32_to_fp16"],
    "kolmo/ops/recurrent/units.hpp": ["gru_cell", "lstm_cell", "gru_forward", "gru_backward", "rssm_rollout"],
    "kolmo/ops/recurrent/rows.cpp": ["gru_cell", "lstm_cell", "gru_forward", "rssm_rollout"],
    "kolmo/runtime/cpu/lane_sums.cpp": ["reduce_sum", "dot_product"],
    "kolmo/runtime/cpu/sum_items.hpp": ["reduce_sum", "dot_product", "shannon_entropy"],
    "kolmo/runtime/cpu/vectors.hpp": ["vector_add", "random_normal", "fp16_to_fp32"],
    "kolmo/skeleton/elementwise_cpu.hpp": ["vector_add", "elementwise_multiply", "broadcast_add", "digamma"],
    "kolmo/skeleton/draw_cpu.hpp": ["random_normal", "random_uniform"],
}
LEAST = 20  # seconds of CPU time that a mutant may take
TRIES = 6  # candidates that do not compile or change nothing are passed over


def run(*command):
    return subprocess.run(command, cwd=TREE, capture_output=True).returncode == 0


def build():
    return run("cmake", "--build", "build/cpu", "--target", "kolmo")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def source_digest(path):
    """A digest of what is compiled: comments and spaces do not change it."""
    return hashlib.sha256("\0".join(tokens(path.read_text(encoding="utf-8"))).encode()).hexdigest()[:16]


def objects():
    """The digest of each object, except the one that holds the digests of the sources."""
    return {path: digest(path) for path in TREE.glob("build/cpu/**/*.o") if path.name != "source_hashes.cpp.o"}


def changed(original):
    """The devices whose code differs from that in these objects."""
    return {"simt" if "kolmo_simt.dir" in path.parts else "cpu" for path, now in objects().items() if original.get(path) != now}


def prepare():
    """Copies the tracked files; only what differs is written, so that little is built again."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, names):
        source, copy = ROOT / name, TREE / name
        if source.is_file() and (not copy.exists() or copy.read_bytes() != source.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    if not run("cmake", "--preset", "cpu", "-DKOLMO_TESTS=OFF", "-DKOLMO_NATIVE=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O1") or not build():
        sys.exit("the sources as they are cannot be built")
    shutil.copy(COMMAND, ORIGINAL)


def devices(path):
    """The devices on which the code of a file runs."""
    if "cpu" in path.parts or path.stem.endswith("_cpu"):
        return ["cpu"]
    return {".cu": ["simt"], ".cuh": ["simt"], ".cpp": ["cpu"]}.get(path.suffix, ["cpu", "simt"])


def sources(folder):
    """The sources of a folder that compute: neither its arguments nor its oracle."""
    for path in sorted(folder.iterdir()):
        if not path.stem.endswith("_oracle") and path.name != folder.name + ".hpp":
            yield path


def chosen_sources(given):
    """The sources, each with its operators: those of the given folders and shared sources, or all of them."""
    folders = [f for f in map(Path, given) if str(f) not in SHARED] if given else sorted(
        p.relative_to(ROOT) for p in (ROOT / "kolmo/ops").glob("*/*") if p.is_dir())
    for folder in folders:
        names = operators_of((ROOT / folder / (folder.name + ".hpp")).read_text(encoding="utf-8"))
        yield from ((path, names) for path in sources(ROOT / folder))
    yield from ((ROOT / path, names) for path, names in SHARED.items() if not given or path in given)


def by_chance(name, values):
    """Shuffles the values in an order that depends on the name alone, so that it is the same on every machine."""
    return sorted(values, key=lambda value: hashlib.sha256(f"{name} {value}".encode()).digest())


def chosen(text, kind, name):
    return by_chance(name, [c for c in candidates(text) if c.kind == kind])[:TRIES]


def validate(command, names, device, seconds):
    """Runs the validation, up to the first line that says FAILED. Returns that line (or the last one), the exit status, and the seconds of
    CPU time. `seconds` limits CPU time, since a busy machine is no fault of the mutant. The clock's time is limited to ten times as much,
    since a mutant that waits uses no CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = ""
    with subprocess.Popen([command, "validate", *names, "--device", device], cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))) as process:
        late = threading.Timer(10 * seconds, process.kill)
        late.start()
        for line in process.stdout:
            if line.startswith("FAILED"):
                process.kill()
                break
        process.wait()
        late.cancel()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return line.strip(), process.returncode, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@functools.cache
def limit(names, device):
    """The seconds that a mutant may take: ten times the CPU time of the present sources, and LEAST."""
    line, status, seconds = validate(ORIGINAL, names, device, 1000)
    if status != 0:
        sys.exit(f"the sources as they are fail on {device}: {line}")
    return LEAST + int(10 * seconds)


def judge(names, device):
    line, status, _ = validate(COMMAND, names, device, limit(tuple(names), device))
    if status == 0:
        return {"result": "survived"}
    late = status in (-signal.SIGXCPU, -signal.SIGKILL) and not line.startswith("FAILED")
    return {"result": "killed", "by": "time" if late else line[:160]}


def mutate(path, kind, names, original):
    """Judges the first candidate that compiles and changes code; returns its records. If there is none, the result is `none`."""
    name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    about = {"file": name, "sha256": source_digest(path), "kind": kind, "date": str(date.today())}
    for candidate in chosen(text, kind, name):
        (TREE / name).write_text(candidate.applied(text), encoding="utf-8")
        if build() and (on := set(devices(path)) & changed(original)):
            shown = {**about, "line": candidate.line, "before": candidate.before, "after": candidate.after}
            return [{**shown, "device": device, **judge(names, device)} for device in sorted(on)]
    return [{**about, "result": "none"}]


def of_source(path, known, hashed):
    """The kinds of mutants that the present source has, and the kinds that were tried."""
    mine = [m for m in known if m["file"] == str(path.relative_to(ROOT)) and m["sha256"] == hashed(path)]
    return {m["kind"] for m in mine if m["result"] != "none"}, {m["kind"] for m in mine}


def due(sources_and_names, known, every_kind=False, hashed=source_digest):
    """The sources that the record lacks, or has in an older form: first those never judged, then those judged longest ago."""
    last = {}
    for m in known:
        last[m["file"]] = max(last.get(m["file"], ""), m["date"])
    found = []
    for path, names in sources_and_names:
        judged, tried = of_source(path, known, hashed)
        if tried != set(KINDS) and (every_kind or not judged):
            found.append((path, names))
    return sorted(found, key=lambda source: last.get(str(source[0].relative_to(ROOT)), ""))


def equivalent():
    """Reads the list, whose columns are the file, the line without its comment, the kind and the reason."""
    lines = (ROOT / "tools/mutants_equivalent.txt").read_text(encoding="utf-8").split("\n")
    return {tuple(line.split("\t")[:3]) for line in lines if line and not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="*", help="e.g. kolmo/ops/nn/softmax or kolmo/base/sums.hpp")
    parser.add_argument("--all", action="store_true", help="one of each kind in each file")
    parser.add_argument("--cpu", action="store_true", help="only sources that the CPU alone runs")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no source that would not end in time, by the slowest so far")
    parser.add_argument("--record", default="results/mutants.json")
    options = parser.parse_args()
    begin, longest, record = time.monotonic(), 0.0, ROOT / options.record
    read = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {"mutants": []}
    mutants = [{**m, "date": m.get("date", read["date"])} for m in read["mutants"] if (ROOT / m["file"]).exists()]
    waiting = due((source for source in chosen_sources(options.sources) if not options.cpu or devices(source[0]) == ["cpu"]), mutants, options.all)
    original = {}
    if waiting and options.minutes > 0:
        prepare()
        original = objects()
    while waiting and time.monotonic() - begin + longest < options.minutes * 60:
        started, (path, names) = time.monotonic(), waiting.pop(0)
        name = str(path.relative_to(ROOT))
        mutants = [m for m in mutants if m["file"] != name or m["sha256"] == source_digest(path)]
        for kind in by_chance(name, KINDS):
            judged, tried = of_source(path, mutants, source_digest)
            if kind not in tried and (options.all or not judged):
                fresh = mutate(path, kind, names, original)
                for m in fresh:
                    if m["result"] != "none":
                        print(f"{m['result']:8} {m['device']:4} {name}:{m['line']}: {m['before']} -> {m['after']}", flush=True)
                mutants += fresh
        shutil.copy(path, TREE / name)
        mutants.sort(key=lambda m: (m["file"], KINDS.index(m["kind"]), m.get("device", "")))
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(record_text({"date": str(date.today()), "mutants": mutants}), encoding="utf-8")
        longest = max(longest, time.monotonic() - started)
    if waiting:
        print(f"{len(waiting)} sources are left, {waiting[0][0].relative_to(ROOT)} and on; run again")
    mutants = [m for m in mutants if m["result"] != "none" and m["sha256"] == source_digest(ROOT / m["file"])]
    listed = equivalent()
    survivors = [m for m in mutants if m["result"] == "survived" and (m["file"], m["before"], m["kind"]) not in listed]
    for m in survivors:
        print(f"survived on {m['device']}: {m['file']}:{m['line']}: {m['before']} -> {m['after']}")
    print(f"{len(mutants)} mutants, {sum(m['result'] == 'killed' for m in mutants)} killed, {len(survivors)} survived")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
