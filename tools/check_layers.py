#!/usr/bin/env python3
"""Checks the arrows between layers, which files may include which kinds of files, where #ifdef and <<< may stand, that
tools/gpu_code.txt names the files that test __CUDA_ARCH__, and that what tools/new_op left to fill in was filled in.

The table below is the rule: a layer may include itself and the layers named beside it, and nothing else."""
import functools
import re
import subprocess
import sys
from pathlib import Path

BASE = {"base"}
RUNTIME = BASE | {"runtime", "version"}
OP = RUNTIME | {"impl", "inside", "op", "nearest"}
OPS = OP | {"skeleton", "knn", "ops"}
FLOW = OPS | {"io"}
# The rooms of kolmo/flow: each may include those before it. Simulated series and surrogates do not know each other.
FLOW_ROOMS = ["option", "data", "simulate", "surrogate", "estimate", "test", "infer", "request", "result", "report", "analysis"]
# The rooms of kolmo/predict: each may include those before it, and how options describe themselves.
PREDICT_ROOMS = [f"predict/{room}" for room in ("record", "forecast", "model", "decide", "request", "analysis", "report")]
LAYERS = {
    "base": BASE,
    "version": set(),
    "command": set(),
    "runtime": RUNTIME | {"launch"},
    "op": OP,
    "impl": BASE | {"impl"},  # kolmo/op/impl.hpp: an operator's code on a kind of device
    "inside": OP,  # kolmo/op/inside.hpp: operators as parts of others
    "device": BASE | {"device", "launch"},
    "launch": RUNTIME | {"launch"},
    "skeleton": RUNTIME | {"impl", "device", "launch", "skeleton"},
    "knn": OP | {"knn"},  # k nearest neighbours and KSG, shared by several operators
    "ops": OPS,
    "kernel": BASE | {"impl", "inside", "ops", "device", "launch", "skeleton", "knn", "kernel"},  # .cu, .cuh
    "tune": OP | {"io", "tune"},
    "monitor": RUNTIME | {"monitor"},  # views of what the runtime records
    "io": RUNTIME | {"io", "nearest"},
    "nearest": {"nearest"},  # kolmo/io/nearest: slips of the pen, in files and in names of operators
    **{room: FLOW | set(FLOW_ROOMS[: i + 1]) for i, room in enumerate(FLOW_ROOMS)},
    **{room: FLOW | {"option"} | set(PREDICT_ROOMS[: i + 1]) for i, room in enumerate(PREDICT_ROOMS)},
    "predict/report": FLOW | {"option", "result", "report"} | set(PREDICT_ROOMS),  # report: the style of pages
    "predict/analysis": FLOW | {"option", "result"} | set(PREDICT_ROOMS),  # result: text for SVG
    "surrogate": FLOW | {"option", "data", "surrogate"},
    "topology": RUNTIME | {"topology"},  # persistence of point clouds, distances of diagrams
    "topology/analysis": RUNTIME | {"io", "option", "topology", "topology/analysis"},
    "check": OP | {"check"},
    "oracle": OPS | {"check", "oracle"},  # <op>_oracle.cpp
}
TOP = {"cli", "python", "bench", "tests", "examples"}  # may include everything below, and themselves

CUDA_HEADER = re.compile(r'(cuda|cub/|thrust/|cooperative_groups|mma\.h|nv/|cublas|cudnn|curand)')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)


ROOT = Path(__file__).resolve().parent.parent
GPU_CODE = "tools/gpu_code.txt"


@functools.cache
def gpu_code() -> set[str]:
    lines = (ROOT / GPU_CODE).read_text(encoding="utf-8").splitlines()
    return {line.split("\t")[0] for line in lines if not line.startswith("#")}


def layer(path: str) -> str:
    parts = path.split("/")
    if parts[0] != "kolmo":
        return parts[0]
    if path in ("kolmo/version.hpp", "kolmo/command.hpp"):
        return Path(path).stem
    if path in ("kolmo/runtime/cuda/launch.cuh", "kolmo/runtime/cuda/cublaslt.hpp", "kolmo/runtime/cuda/tensor_copies.hpp"):
        return "launch"
    if path in ("kolmo/op/impl.hpp", "kolmo/op/inside.hpp"):
        return Path(path).stem
    if parts[1] in ("ops", "knn") and path.endswith((".cu", ".cuh")):
        return "kernel"
    if parts[1] in ("ops", "knn") and path.endswith(("_oracle.cpp", "_oracle.hpp")):
        return "oracle"
    if path in ("kolmo/io/nearest.hpp", "kolmo/io/nearest.cpp"):
        return "nearest"
    if parts[1] == "topology" and len(parts) > 3:
        return f"topology/{parts[2]}"
    if parts[1] == "predict":
        return f"predict/{parts[2]}"
    return parts[2] if parts[1] == "flow" else parts[1]


def include_faults(path: str, bracket: str, name: str):
    here = layer(path)
    is_cuda = path.endswith((".cu", ".cuh"))
    if bracket == "<":
        if name == "cuda_occupancy.h":  # plain C, and needs no CUDA
            return
        if CUDA_HEADER.match(name) and not is_cuda and not path.startswith(("kolmo/runtime/cuda/", "simt/")):
            yield f"<{name}>: CUDA headers belong in .cu, .cuh and kolmo/runtime/cuda"
        return
    if name.endswith(".cuh") and not is_cuda:
        yield f'"{name}": a .cuh is for .cu and .cuh files'
    if name.endswith((".cpp", ".cu")):
        yield f'"{name}": a source is not a header'
    if here == "simt":
        if name.startswith("kolmo/"):
            yield f'"{name}": simt stands alone'
        return
    there = layer(name)
    if "/" in name and name.split("/")[0] not in TOP | {"kolmo", "simt"}:
        return  # a library's header
    if here in TOP:
        if there in TOP and there not in {here, "cli"} and {here, there} != {"tests", "bench"}:
            yield f'"{name}": {here} may not include {there}'
        return
    if here not in LAYERS:
        yield f"kolmo/{here} is not in the table of layers of tools/check_layers.py"
    elif there not in LAYERS[here]:
        yield f'"{name}": {here} may not include {there}'
    elif there == "ops" and here in {"ops", "kernel", "oracle"}:
        yield from neighbour_faults(path, name)


def neighbour_faults(path: str, name: str):
    """An operator sees another operator only through <op>.hpp, and what the operators of its group share in the group's folder."""
    home, other = Path(path).parent, Path(name).parent
    if other not in (home, home.parent) and Path(name).name != f"{other.name}.hpp":
        yield f'"{name}": an operator sees another one only through {other.name}.hpp'


def faults(path: str, text: str):
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        for fault in include_faults(path, match[1], match[2]):
            yield line, fault
    if path.startswith("kolmo/ops/"):
        for match in re.finditer(r"fill in", text):
            yield text.count("\n", 0, match.start()) + 1, "what tools/new_op left to fill in is not filled in"
    code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    code = re.sub(r'"(\\.|[^"\\\n])*"', '""', code)
    tested = re.search(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b__CUDA_ARCH__\b", code, re.M)
    if tested and path not in gpu_code():
        yield code.count("\n", 0, tested.end()) + 1, f"tests __CUDA_ARCH__, which {GPU_CODE} does not give a reason for"
    elif path in gpu_code() and not tested:
        yield 1, f"does not test __CUDA_ARCH__, but {GPU_CODE} says so"
    for match in re.finditer(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\bKOLMO_CUDA\b", code, re.M):
        if not path.startswith("kolmo/runtime/"):
            yield code.count("\n", 0, match.end()) + 1, "#ifdef KOLMO_CUDA belongs in kolmo/runtime"
    if "<<<" in code and not path.endswith("/launch.cuh") and not path.startswith("bench/"):
        yield code.count("\n", 0, code.index("<<<")) + 1, "kernels start through launch(), so that simt can run them"


def main() -> int:
    paths = sys.argv[1:] or sorted(
        subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.hpp", "*.cpp", "*.cu", "*.cuh"],
                       cwd=ROOT, check=True, capture_output=True, text=True).stdout.split())
    count = 0
    for path in sorted(gpu_code()):
        if not (ROOT / path).is_file():
            print(f"{GPU_CODE}: {path} is not there", file=sys.stderr)
            count += 1
    for path in paths:
        for line, fault in faults(path, (ROOT / path).read_text(encoding="utf-8")):
            print(f"{path}:{line}: {fault}", file=sys.stderr)
            count += 1
    print(f"check_layers: {len(paths)} files, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
