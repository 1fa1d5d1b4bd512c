"""A table of docs/h200_details.md: memory-bound cases of a record of `kolmo bench` that stay below the share of the measured copy
that was asked, slowest first, also as a share of a copy of as many bytes."""
from statistics import median

from beside_pytorch import named

ASKED = 0.85
BYTES = 64e6


def flops_per_second(op: str, case: str, device: dict) -> float:
    wide = "f64" in case or "i64" in case
    if op != "matmul":
        return device["flops_f64" if wide else "flops_f32"]
    if "f16" in case:  # bf16 is meant too
        return device["matrix_flops_16"]
    return device["matrix_flops_f64" if wide else "flops_f32"]


def below_copy(record: dict) -> list[dict]:
    """The results of memory-bound cases, with what they are called and the `share` of the copy, that are below what was asked.
    Memory-bound is what must move its bytes for longer than it computes at the peak of its dtype."""
    device = record["device"]
    found = []
    for op in record["ops"]:
        for result in op["results"]:
            if "seconds" not in result:
                continue
            memory = result["bytes"] / device["bytes_per_second"]
            computing = result["flops"] / flops_per_second(op["name"], result["case"], device)
            share = memory / result["seconds"]
            if result["bytes"] >= BYTES and memory > computing and share < ASKED:
                found.append(result | {"operator": op["name"], "shown": named(result, op), "share": share})
    return found


def copy_time(torch: dict, size: float) -> float:
    """Seconds in which PyTorch copies so many bytes, read and written: the line through the two sizes that were measured."""
    half, full = (median(torch["microseconds"][f"copy 2^24 torch.float{bits}"]) * 1e-6 for bits in (16, 32))
    return half + (full - half) * (size / 2**26 - 1)


def table(record: dict, torch: dict) -> str:
    rows = sorted(((copy_time(torch, r["bytes"]) / r["seconds"], r) for r in below_copy(record)), key=lambda row: row[0])
    lines = [f"| {r['shown']} | {r['seconds'] * 1e6:.1f} us | {r['share'] * 100:.0f} % | {same * 100:.0f} % |" for same, r in rows]
    return "\n".join(["| case | time | of the copy | of a copy of as many bytes |", "|---|---|---|---|", *lines]) + "\n"
