"""The table of docs/h200.md: memory-bound cases of a record of `kolmo bench` that stay below the share of the measured copy
that was asked."""
ASKED = 0.85
BYTES = 64e6


def flops_per_second(op: str, case: str, device: dict) -> float:
    wide = "f64" in case or "i64" in case
    if op != "matmul":
        return device["flops_f64" if wide else "flops_f32"]
    if "f16" in case:  # bf16 too
        return device["matrix_flops_16"]
    return device["matrix_flops_f64" if wide else "flops_f32"]


def table(record: dict) -> str:
    device = record["device"]
    copy = device["bytes_per_second"]
    rows = []
    for op in record["ops"]:
        for result in op["results"]:
            memory = result["bytes"] / copy
            bound_by_memory = memory > result["flops"] / flops_per_second(op["name"], result["case"], device)
            share = memory / result["seconds"]
            if result["bytes"] >= BYTES and bound_by_memory and share < ASKED:
                rows.append(f"| `{op['name']}` {result['case']} | {result['seconds'] * 1e6:.1f} us | {share * 100:.0f} % |")
    return "\n".join(["| case | time | of the copy |", "|---|---|---|", *rows]) + "\n"
