"""The table of a record of bench/topology.py: the cases in which Kolmo fares worst come first."""
PEERS = ("ripser", "giotto-ph")


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def table(record: dict) -> str:
    rows = record["rows"]
    lines = ["| points | loops | Kolmo | Ripser | giotto-ph | faster peer / Kolmo |", "|---|---|---|---|---|---|"]
    share = {r["case"]: min(r["median"][p] for p in PEERS) / r["median"]["kolmo"] for r in rows}
    for r in sorted(rows, key=lambda r: share[r["case"]]):
        times = " | ".join(shown(r["median"][arm]) for arm in ("kolmo", *PEERS))
        lines.append(f"| {r['case']} | {r['loops']} | {times} | {share[r['case']]:.2f} |")
    return "\n".join(lines) + "\n"
