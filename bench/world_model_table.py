"""The tables of docs/benchmarks.md of the parts of a world model (bench/world_model.py), with the times of a GPU where a record has them."""
from statistics import median

from beside_pytorch import shown, times

NONE = "not measured"
BLOCK, CLUSTER = 64 << 10, 227 << 10  # bytes of shared memory: that every GPU has for a block, and that compute capability 9.0 has


def parts(record: dict, gpu: dict) -> str:
    known = times(gpu)
    lines = ["| operator | case | H200 | CPU | CPU baseline | baseline | baseline / CPU |", "|---|---|---|---|---|---|---|"]
    for r in record["results"]:
        on_gpu = known.get((r["op"], r["case"]))
        lines.append(f"| {r['op'] if ' ' in r['op'] else '`' + r['op'] + '`'} | {r['case'].removesuffix(', f32')} | {NONE if on_gpu is None else shown(on_gpu)} "
                     f"| {shown(median(r['kolmo_us']))} | {r['baseline']} | {shown(median(r['baseline_us']))} | {r['ratio']:.2f} |")
    return "\n".join(lines) + "\n"


def mebibytes(count: float) -> str:
    return f"{count / 2**20:.2f} MiB"


def memory(record: dict) -> str:
    lines = ["| members | units | tensors | workspace | both, estimated | measured | measured / estimated |", "|---|---|---|---|---|---|---|"]
    for r in record["memory"]:
        both = r["tensor_bytes"] + r["workspace_bytes"]
        lines.append(f"| {r['members']} | {r['units']} | {mebibytes(r['tensor_bytes'])} | {mebibytes(r['workspace_bytes'])} | {mebibytes(both)} "
                     f"| {mebibytes(r['peak_bytes'])} | {r['peak_bytes'] / both:.3f} |")
    return "\n".join(lines) + "\n"


def upload(record: dict, pipeline: dict) -> str:
    """Times of a GPU are estimates, from the rate at which `kolmo pipeline` uploaded items of one size."""
    of_items = pipeline["ops"][0]["results"]
    seconds = median(run["alone_seconds"]["upload"] for run in of_items["saturated"][0]["runs"])
    rate = of_items["bytes"] / seconds
    lines = [f"| members | units | weights | H200, estimated from {rate / 1e9:.1f} GB/s | CPU, `contiguous_copy` | CPU baseline: NumPy, `copyto` |",
             "|---|---|---|---|---|---|"]
    for r in record["uploads"]:
        lines.append(f"| {r['members']} | {r['units']} | {mebibytes(r['bytes'])} | {shown(r['bytes'] / rate * 1e6)} | {shown(median(r['kolmo_us']))} "
                     f"| {shown(median(r['baseline_us']))} |")
    return "\n".join(lines) + "\n"


def shared_bytes(n: int, ranks: int, warps: int) -> int:
    """What a rank of kolmo/ops/recurrent/gru_sequences/resident.cuh holds in f32 with its weights in shared memory."""
    most = -(-n // ranks)
    return 32 + -(-12 * most * n // 16) * 16 + -(-4 * (3 * n + 16 * most + 6 * warps) // 16) * 16


def shared(gpu: dict) -> str:
    """The shared memory that the weights of n units need, beside its limit, and the variant that ran on a GPU."""
    ran = {result["case"]: result.get("variant") for op in gpu["ops"] if op["name"] == "gru_forward" for result in op["results"]}

    def cell(need: int, limit: int) -> str:
        return f"{need / 1024:.1f} KiB{'' if need <= limit else ', too much'}"
    lines = [f"| units | in a block, of {BLOCK >> 10} KiB | each block of a cluster of 8, of {CLUSTER >> 10} KiB | of a cluster of 16 | ran on the H200 |",
             "|---|---|---|---|---|"]
    for n in (64, 70, 71, 128, 256, 512, 1024):
        lines.append(f"| {n} | {cell(2 * shared_bytes(n, 2, 8), BLOCK)} | {cell(shared_bytes(n, 8, 16), CLUSTER)} | {cell(shared_bytes(n, 16, 16), CLUSTER)} "
                     f"| {ran.get(f'50 steps of {n} units, f32') or NONE} |")
    return "\n".join(lines) + "\n"
