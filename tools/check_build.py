#!/usr/bin/env python3
"""Budgets of a build: compile times from its .ninja_log, kernels from the symbols of its objects.

check_build.py FOLDER --total SECONDS   no object took over 30 s, all together at most SECONDS. Only for a build without a
                                        cache, with one job a core: the log holds how long each command ran.
check_build.py FOLDER --kernels         no operator has over 24 kernels without a reason below; those of a family are shared
                                        out among its operators. No object of kernels took over 30 s of a processor of 3 GHz,
                                        in a build without a cache: other machines may share the cores, so the times are
                                        scaled by the speed that tools/core_speed.cpp finds."""
import argparse
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OBJECT_SECONDS = 30
REFERENCE_GHZ = 3.0
KERNELS = 24
# Operators that need more kernels (of a family, each): how many, and why.
MORE_KERNELS: dict[str, tuple[int, str]] = {
    "dense/dot_product": (36, "four dtypes, each read 16 bytes or one element at a time, and groups of threads for short rows"),
    "info/joint_counts": (30, "four dtypes of sums over a table, for three sizes of groups, 16 bytes at a time, and small tables read once"),
    "info/ksg_conditional_mutual_information": (210, "each way of searching, for each kind of problem, two kinds of lists, and trees of f32, f64 and images, in sources of their own, for each number of columns"),
    "dense/matmul": (117, "a tile's sizes are constants of its kernel, for each dtype, and f32 is split in parts"),
    "nn/batch_norm": (29, "four dtypes, each for long rows and for short ones, which end in the channel's map"),
    "nn/layer_norm": (26, "four dtypes, of rows in groups of four or five sizes, in parts, or in memory"),
    "nn/normalize": (26, "four dtypes, of rows in groups of four or five sizes, in parts, or in memory"),
    "nn/softmax": (26, "four dtypes, of rows in groups of four or five sizes, in parts, or in memory"),
    "nn/attention": (36, "four dtypes and three widths of heads, few rows and a GPU of compute capability 9.0 in other tiles"),
    "nn/conv2d": (29, "four dtypes, both orders of axes, by tiles, without, and by channel"),
    "recurrent/gru_sequences": (30, "two operators, their dtypes, each place in which weights stay, plans side by side and their results, and inputs that change from step to step"),
    "quantum/quantum_measurement": (30, "two dtypes of sums of outcomes and amplitudes, for three sizes of groups and 16 bytes at a time, and draws by threads and by warps"),
    "reduce/reduce_sum": (40, "four dtypes, each read 16 bytes or one element at a time, and groups of threads for short rows"),
}
DECLARED = re.compile(r"^extern const Op<\w+> ([\w, ]+);", re.M)
STUB = re.compile(r"__device_stub__(\w+?)(?:E\d+__\w+)?$", re.M)


def durations(log: str) -> dict[str, float]:
    """The seconds of the last run of each command, by its output."""
    rows = (line.split("\t") for line in log.splitlines() if not line.startswith("#"))
    return {row[3]: (int(row[1]) - int(row[0])) / 1000 for row in rows}


def slow_objects(taken: dict[str, float]):
    for name, seconds in taken.items():
        if seconds > OBJECT_SECONDS:
            yield f"{name}: {seconds:.0f} s; the cap is {OBJECT_SECONDS}"


def time_faults(log: str, limit: float, took: float | None = None):
    taken = durations(log)
    compiled = {name: s for name, s in taken.items() if name.endswith((".o", ".gch"))}
    total = sum(compiled.values())
    if took is not None and 0 < took < total:  # the cores were shared: each command got its share of them
        compiled = {name: s * took / total for name, s in compiled.items()}
        total = took
    print(f"check_build: {len(compiled)} objects, {total:.0f} s, the longest {max(compiled.values(), default=0):.0f} s")
    if not compiled:
        yield "nothing was compiled"
    yield from slow_objects(compiled)
    if total > limit:
        yield f"{total:.0f} s of compilers; the cap is {limit:.0f}"


def kernels_in(symbols: str) -> int:
    """nvcc makes one host function, the stub, for each kernel; g++ may leave only its variables."""
    return len({match[1] for match in STUB.finditer(symbols)})


def operators_in(header: str) -> int:
    return sum(len(names.split(",")) for names in DECLARED.findall(header))


def kernels_of(folder: Path, root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """Kernels and operators by <group>/<folder> of a build's objects; objects whose sources are gone do not count."""
    found: dict[str, tuple[int, int]] = {}
    for path in sorted(folder.glob("CMakeFiles/kolmo_kernels.dir/kolmo/ops/*/*/*.cu.o")):
        source = root.joinpath("kolmo/ops", *path.parts[-3:]).with_name(path.name.removesuffix(".o"))
        if source.is_file():
            symbols = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
            name = "/".join(path.parts[-3:-1])
            header = source.with_name(path.parts[-2] + ".hpp").read_text(encoding="utf-8")
            found[name] = kernels_in(symbols) + found.get(name, (0, 0))[0], operators_in(header)
    return found


def processor_seconds(times: str) -> float:
    """The processor seconds of the children of a shell, from what its `times` printed: minutes and seconds, user and system, first of the
    shell itself and then of its children."""
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", times.splitlines()[1]))


def core_ghz() -> float:
    """The speed of a core at this moment."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["g++", "-O2", "-o", f"{folder}/core_speed", ROOT / "tools/core_speed.cpp"], check=True)
        return float(subprocess.run([f"{folder}/core_speed"], check=True, capture_output=True, text=True).stdout)


def object_faults(taken: dict[str, float], ghz: float = REFERENCE_GHZ):
    taken = {name: seconds * min(1.0, ghz / REFERENCE_GHZ) for name, seconds in taken.items()}
    print(f"check_build: {len(taken)} objects of kernels, the longest {max(taken.values(), default=0):.0f} s")
    if not taken:
        yield "nothing says how long objects of kernels took: remove CMakeFiles/kolmo_kernels.dir and build again"
    yield from slow_objects(taken)


def kernel_faults(found: dict[str, tuple[int, int]]):
    counts = {folder: math.ceil(kernels / operators) for folder, (kernels, operators) in found.items()}
    print(f"check_build: {sum(kernels for kernels, _ in found.values())} kernels of "
          f"{sum(operators for _, operators in found.values())} operators, the most {max(counts.values(), default=0)}")
    if not sum(counts.values()):
        yield "no kernel was found"
    for op, count in counts.items():
        cap, _ = MORE_KERNELS.get(op, (KERNELS, ""))
        if count > cap:
            yield f"{op}: {count} kernels an operator; the cap is {cap}"
    for op, (_, reason) in MORE_KERNELS.items():
        if counts.get(op, KERNELS + 1) <= KERNELS:  # a build that was broken off lacks some
            yield f"{op}: needs no exception in tools/check_build.py any more ({reason})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--total", type=float)
    parser.add_argument("--took", type=float, help="seconds of the processors, where other work shared them")
    parser.add_argument("--kernels", action="store_true")
    options = parser.parse_args()
    faults = []
    if options.total:
        faults += time_faults((options.folder / ".ninja_log").read_text(encoding="utf-8"), options.total, options.took)
    if options.kernels:
        faults += kernel_faults(kernels_of(options.folder))
        kept = options.folder.glob("CMakeFiles/kolmo_kernels.dir/kolmo/ops/*/*/*.cu.o.times")  # cmake/keep_ptxas.sh writes these
        faults += object_faults({path.name.removesuffix(".times"): processor_seconds(path.read_text(encoding="utf-8")) for path in kept}, core_ghz())
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
