"""A table of docs/h200_details.md: what is fused, of a record of `kolmo bench`, beside the same as a sequence of operators, which has passes over
memory and launches of its own; the least gain first."""
from beside_pytorch import named, shown


def table(record: dict) -> str:
    rows = sorted((result["baseline"]["seconds"] / result["seconds"], named(result, op), result["seconds"], result["baseline"]["seconds"])
                  for op in record["ops"] for result in op["results"] if result.get("baseline", {}).get("variant") == "unfused")
    lines = [f"| {name} | {shown(fused * 1e6)} | {shown(unfused * 1e6)} | {ratio:.2f} |" for ratio, name, fused, unfused in rows]
    return "\n".join(["| case | fused | unfused | unfused / fused |", "|---|---|---|---|", *lines]) + "\n"
