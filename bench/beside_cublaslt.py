"""A table of docs/h200_details.md: the default rows of `matmul` beside cuBLASLt, of a record of `kolmo tune matmul`, slowest first."""
from beside_pytorch import shown


def table(record: dict) -> str:
    rows = []
    for r in next(op for op in record["ops"] if op["name"] == "matmul")["results"]:
        timed = {c["label"]: c for c in r["profile"]["configs"].values()}
        cublaslt, default = timed.pop("cublaslt", None), timed[r["default"]]["median_ns"]
        best = min(timed.values(), key=lambda c: c["median_ns"])
        faster = "" if best["label"] == r["default"] else f"; `{best['label']}` {shown(best['median_ns'] / 1e3)}"
        ratio = cublaslt["median_ns"] / default if cublaslt else float("inf")
        theirs = f"{shown(cublaslt['median_ns'] / 1e3)} | {ratio:.2f}" if cublaslt else "not timed |"
        rows.append((ratio, f"| {r['case']} | `{r['default']}`{faster} | {shown(default / 1e3)} | {theirs} |"))
    return "\n".join(["| case | default row; a faster one | Kolmo | cuBLASLt | cuBLASLt / Kolmo |", "|---|---|---|---|---|",
                      *(line for _, line in sorted(rows))]) + "\n"
