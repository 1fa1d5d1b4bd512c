#!/usr/bin/env python3
"""Prints a result of bench/run.py as Markdown tables; docs/benchmarks.md holds the same text (tools/check_numbers.py)."""
import argparse
import statistics

from expected import verdicts
from results import ARMS, CASES, YARDSTICK, Result, load

NONE = "not measured"


def duration(seconds) -> str:
    """Writes three significant digits with a unit: 12.3 ms."""
    if seconds is None:
        return NONE
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * scale >= 0.9995 or unit == "us":
            value = f"{seconds * scale:.3g}"
            return f"{float(value):.0f} {unit}" if "e" in value else f"{value} {unit}"
    raise AssertionError


def times(ratio) -> str:
    return "-" if ratio is None else f"{ratio:.3g}x" if ratio < 1000 else f"{ratio:.0f}x"


def spread(row) -> str:
    if row is None:
        return "-"
    if "skipped" in row:
        return "skipped"
    text = duration(row["median"])
    if len(row["seconds"]) > 1:
        text += f" ({duration(row['q1'])} to {duration(row['q3'])})"
    if row["mode"] == "surrogate" and row["units_per_call"] not in (1, row.get("surrogates_wanted")):
        text += f", of {row['units_per_call']}"
    return text


def describe(point: str) -> str:
    case, size, mode = point.split(".")
    if case.startswith("network"):
        return f"{CASES[case]}, {size} variables"
    of = {"surrogate": ", per surrogate", "thousand": ", per surrogate of 1000"}
    return f"{CASES[case]}, N = {int(size):,}" + of.get(mode, "")


def comparison(result: Result, mode: str):
    """The cases by how Kolmo fares, the worst first; those without a peer last."""
    rows = []
    for point in sorted(result.points(), key=lambda point: result.ratio(point) or float("inf")):
        case, size, its_mode = point.split(".")
        if its_mode != mode or case.startswith("network"):
            continue
        ratio = result.ratio(point)
        rows.append([CASES[case], f"{int(size):,}", *(spread(result.rows.get(f"{point}.{arm}")) for arm in ARMS),
                     times(ratio) + (" slower" if ratio is not None and ratio < 1 else "")])
    return ["estimate", "N", *ARMS.values(), "faster peer / Kolmo"], rows


def calls(result: Result):
    rows = []
    for point in result.points():
        case, size, mode = point.split(".")
        if (rest := result.rest(point)) is not None and mode == "single":
            row = result.rows[f"{point}.kolmo"]
            rows.append([CASES[case], f"{int(size):,}", spread(row), duration(statistics.median(row["own"])), f"{rest:.2f}"])
    return ["estimate", "N", "call", "the estimate itself", "rest / estimate"], rows


def networks(result: Result):
    rows = []
    for point in result.points():
        row = result.rows.get(f"{point}.kolmo")
        if point.startswith("network") and row is not None:
            case, size, _ = point.split(".")
            rows.append([CASES[case], size, spread(row)])
    return ["what", "variables", "Kolmo"], rows


def expectations(result: Result):
    rows = []
    for point, kind, expected, reached, met in verdicts(result):
        show, sign = {"seconds": (duration, "at most"), "share": (lambda share: f"{share:.2f} of the plain lanes' time", "at most"),
                      "rest": (lambda rest: f"{rest:.2f} of the estimate's time beside it", "at most"),
                      "ratio": (times, "at least")}[kind]
        rows.append([describe(point), f"{sign} {show(expected)}", NONE if reached is None else show(reached),
                     {None: "-", True: "yes", False: "NO"}[met]])
    return ["what", "expected", "reached", "met"], rows


def skipped(result: Result):
    names = ARMS | {YARDSTICK: "plain lanes"}
    rows = [[describe(name.rpartition(".")[0]), names[name.rpartition(".")[2]], row["skipped"]]
            for name, row in result.rows.items() if "skipped" in row]
    return ["what", "by", "why"], rows


def losses(result: Result) -> str:
    found = [f"- {describe(point)}: {times(result.ratio(point))}" for point in result.losses()]
    return "\n".join(found) or "- none"


TABLES = {
    "single": ("Single estimates", lambda r: comparison(r, "single")),
    "surrogate": ("With surrogates, time of one", lambda r: comparison(r, "surrogate")),
    "calls": ("What a call takes beside its estimate", calls),
    "networks": ("Networks", networks),
    "expected": ("Expected and reached", expectations),
    "skipped": ("Skipped", skipped),
}


def markdown_table(header, rows) -> str:
    if not rows:
        return "- none"
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def text_table(header, rows) -> str:
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in [header, *rows])


def machine(result: Result) -> str:
    data = result.data
    facts = data["machine"]
    load_average = facts["load_average_at_start"][0]
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    return (f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_bytes'] / 2**30:.0f} GiB, {facts['system']}; "
            f"{data['date']}, commit {data['commit']}; load at the start {load_average:.2f}; {versions}")


def quote(result: Result, name: str) -> str:
    """The text that `name` stands for in the documentation; KeyError for an unknown one.
    A table, `machine`, `losses`, `<point>.<arm>` (a time) or `<point>.ratio`."""
    if name in TABLES:
        return "\n" + markdown_table(*TABLES[name][1](result)) + "\n"
    if name == "losses":
        return "\n" + losses(result) + "\n"
    if name == "machine":
        return machine(result)
    point, _, what = name.rpartition(".")
    if what == "ratio" and point in result.points():
        return times(result.ratio(point))
    return duration(result.rows[name].get("median"))


def slower_marks(result: Result) -> str:
    return "Slower than a peer:\n" + losses(result)


def terminal(result: Result) -> str:
    parts = [f"{title}\n{text_table(*make(result))}" for title, make in TABLES.values() if make(result)[1]]
    return "\n\n".join([*parts, slower_marks(result)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", help="a file of bench/results")
    result = Result(load(parser.parse_args().result))
    print(machine(result))
    for title, make in TABLES.values():
        print(f"\n## {title}\n\n{markdown_table(*make(result))}")
    print(f"\n## Slower than a peer\n\n{losses(result)}")


if __name__ == "__main__":
    main()
