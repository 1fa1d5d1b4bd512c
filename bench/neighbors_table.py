"""The table of records of bench_neighbors: the time of the variant in use, and what it gains over those without trees."""
TREES = "trees"


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def table(*records: dict) -> str:
    found: dict[str, dict[int, dict]] = {}
    for r in (r for record in records for r in record["rows"]):
        name = r["estimate"] if r["estimates"] == 1 else f"{r['estimate']}, {r['estimates'] - 1} surrogates"
        found.setdefault(name, {}).setdefault(r["rows"], {})[r["variant"]] = r
    sizes = sorted({n for times in found.values() for n in times})
    lines = ["| estimate | " + " | ".join(f"{n:,} rows" for n in sizes) + " |", "|---" * (1 + len(sizes)) + "|"]
    for name, times in found.items():
        cells = []
        for n in sizes:
            by = times.get(n, {})
            used = [r for r in by.values() if r["in_use"]]
            others = [r["median"] for v, r in by.items() if not v.startswith(TREES)]
            gain = f", {min(others) / used[0]['median']:.3g} times" if used and used[0]["variant"].startswith(TREES) and others else ""
            cells.append(shown(used[0]["median"]) + gain if used else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
