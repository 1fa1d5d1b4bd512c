"""Two tables of a record of `kolmo bench` beside the times of bench/gpu_pytorch.py, slowest first: every case (docs/h200_details.md),
and each operator by its slowest case (docs/h200.md). A case that only one of the records has is left out."""
from statistics import median


def shown(microseconds: float) -> str:
    return f"{microseconds / 1e3:.2f} ms" if microseconds >= 1e3 else f"{microseconds:.1f} us"


def times(record: dict) -> dict[tuple[str, str], float]:
    """The microseconds of each operator and case."""
    return {(op["name"], result["case"]): result["seconds"] * 1e6 for op in record["ops"]
            for result in op["results"] if "seconds" in result}


def named(result: dict, op: dict) -> str:
    """The name of a result: that of its alias or operator, and the case."""
    name = result.get("name", op["name"])
    return result["case"] if result["case"].startswith(name) else f"{name} {result['case']}"


def compared(record: dict, torch: dict) -> list[tuple[float, tuple[str, str], str, float, float]]:
    """PyTorch's time over Kolmo's, operator and case, what these are called, both times in microseconds; slowest first."""
    theirs = {tuple(key.split(": ", 1)): median(samples) for key, samples in torch["microseconds"].items() if ": " in key}
    names = {(op["name"], result["case"]): named(result, op) for op in record["ops"]
            for result in op["results"] if "seconds" in result}
    return sorted((theirs[case] / own, case, names[case], own, theirs[case]) for case, own in times(record).items() if case in theirs)


def table(record: dict, torch: dict) -> str:
    lines = [f"| {name} | {shown(own)} | {shown(their)} | {ratio:.2f} |" for ratio, _, name, own, their in compared(record, torch)]
    return "\n".join(["| case | Kolmo | PyTorch | PyTorch / Kolmo |", "|---|---|---|---|", *lines]) + "\n"


def by_operator(record: dict, torch: dict) -> str:
    """One row for each operator or alias: its slowest case beside PyTorch, and the median of all its cases."""
    rows: dict[str, list] = {}
    for row in compared(record, torch):
        rows.setdefault(row[2].split()[0].rstrip(","), []).append(row)
    lines = [f"| `{name}` | {cases[0][2].removeprefix(name).lstrip(', ')} | {shown(cases[0][3])} | {shown(cases[0][4])} | {cases[0][0]:.2f} | "
             f"{median(ratio for ratio, *_ in cases):.2f} ({len(cases)}) |" for name, cases in rows.items()]
    return "\n".join(["| operator | its slowest case | Kolmo | PyTorch | PyTorch / Kolmo | median (cases) |",
                      "|---|---|---|---|---|---|", *lines]) + "\n"
