#!/usr/bin/env python3
"""docs/reference, made of what the operators say of themselves: a page for each group, with contract, arguments, variants,
aliases, accuracy, and the latest record of a GPU.

reference.py KOLMO           writes the pages
reference.py KOLMO --check   fails if a page is not what would be written"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference"
DECLARED = re.compile(r"((?:^///[^\n]*\n)+)(?:^constexpr[^\n]*\n)*^extern const Op<\w+> ([\w, ]+);", re.M)


def latest_record() -> tuple[str, dict]:
    """The record of `kolmo bench` on a GPU with the latest date, and its path."""
    records = {path.relative_to(ROOT).as_posix(): json.loads(path.read_text(encoding="utf-8"))
               for path in sorted((ROOT / "results").glob("*/bench.json"))}
    return max(records.items(), key=lambda named: named[1]["date"])


def contracts() -> dict[str, str]:
    """The comment above the declaration of each operator."""
    found = {}
    for header in sorted((ROOT / "kolmo/ops").rglob("*.hpp")):
        for comment, names in DECLARED.findall(header.read_text(encoding="utf-8")):
            text = "\n".join(line.removeprefix("///").removeprefix(" ") for line in comment.splitlines())
            for name in names.split(","):
                found[name.strip()] = text
    return found


def cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def table(heading: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)]
    return [*lines, *("| " + " | ".join(cell(c) for c in row) + " |" for row in rows), ""]


def arguments(op: dict) -> list[str]:
    rows = []
    for field in op["fields"]:
        if "shape" in field:
            kind = field["kind"] + (", optional" if field["optional"] else "")
            rows.append([f"`{field['name']}`", kind, f"`{field['shape']}`", " ".join(field["dtypes"]), field["help"]])
        else:
            default = "none" if field["optional"] else json.dumps(field["default"])
            rows.append([f"`{field['name']}`", field["kind"], "", f"default {default}",
                         field["help"] + ("; " + ", ".join(field["choices"]) if "choices" in field else "")])
    return table(["argument", "kind", "shape", "dtypes or default", "meaning"], rows)


def variants(op: dict) -> list[str]:
    lines = []
    for device, key in (("a GPU", "variants"), ("the CPU", "cpu_variants")):
        names = [f"`{v['name']}`" + (" (baseline)" if v["naive"] else "") for v in op[key] if v["name"]]
        if names:
            lines += [f"Variants on {device}: " + ", ".join(names) + ".", ""]
    return lines


def span(numbers: list[float]) -> str:
    low, high = (f"{x:.1e}" if x else "0" for x in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def tolerances(cases: list[dict[str, float]]) -> str:
    """Describes the tolerances of the cases of a dtype; an error may be the larger of absolute and relative."""
    if all(t["absolute"] == t["relative"] for t in cases):
        return span([t["relative"] for t in cases])
    return " or ".join(f"{span([t[kind] for t in cases])} {kind}" for kind in ("absolute", "relative") if any(t[kind] for t in cases))


def accuracy(op: dict) -> list[str]:
    by_dtype: dict[str, list[dict[str, float]]] = {}
    for case in op["cases"]:
        if not case["benchmark_only"]:
            by_dtype.setdefault(case["dtype"], []).append(case["tolerance"])
    if not by_dtype:
        return []
    return ["Tolerances of its cases, by their dtype: " + "; ".join(f"{dtype} {tolerances(t)}" for dtype, t in by_dtype.items()) + ".", ""]


def measured(name: str, record: dict) -> list[str]:
    rows = []
    for op in record["ops"]:
        for r in op["results"]:
            if r["name"] == name and "seconds" in r:
                share = r["share_of_roofline"]
                beside = r.get("baseline")
                rows.append([r["case"], r["variant"] or "", f"{r['seconds'] * 1e6:.4g} us",
                             f"{beside['seconds'] * 1e6:.4g} us, {beside['variant']}" if beside else "-", f"{r['flops']:.3g}", f"{r['bytes']:.3g}",
                             f"{r['bytes_per_second'] / 1e9:.4g}", f"{r['flops_per_second'] / 1e9:.4g}",
                             "-" if share is None else f"{share * 100:.0f} %"])
    return table(["case", "variant", "time", "baseline", "flops", "bytes", "GB/s", "GFLOP/s", "of the roofline"], rows) if rows else []


def section(op: dict, aliases: list[dict], contract: str, record: dict) -> list[str]:
    lines = [f"## {op['name']}", "", op["summary"], "", "```text", contract, "```", "", *arguments(op), *variants(op), *accuracy(op)]
    lines += [f"Same bits: {op['determinism']}. Source: {op['source']}.", ""]
    lines += [f"Alias `{a['name']}`: {a['summary']}." for a in aliases] + ([""] if aliases else [])
    for name in (op["name"], *(a["name"] for a in aliases)):
        if rows := measured(name, record):
            lines += [f"`{name}` on {record['device']['name']} ({record['date'][:10]}, commit {record['commit'][:7]}):", "", *rows]
    return lines


def option_row(option: dict) -> list[str]:
    names = f"`{option['name']}`" + (f", `{option['alias']}`" if "alias" in option else "")
    kind = ", ".join(option["choices"]) if "choices" in option else option["kind"]
    if "min" in option:
        kind += f", {option['min']} to {option['max']}" + (f", or {option['or']}" if "or" in option else "")
    default = "needed" if option["required"] else "" if option["default"] is None else f"`{json.dumps(option['default'])}`"
    use = "" if option["use"] == "always" else f"; of {option['use']}"
    left_out = f"; if left out: {option['if_left_out']}" if "if_left_out" in option else ""
    return [names, kind, default, option["help"] + left_out + use]


def analyses_page(analyses: list[dict]) -> str:
    """The analyses of time series: each with its formula, source and options."""
    lines = ["# Analyses of time series", "", "Made by tools/reference.py from what the analyses say of themselves. An option `max_lag` is `--max-lag` of the "
             "command, `max_lag=` in Python, `max_lag` in JSON and in C++.", ""]
    for a in analyses:
        lines += [f"## {a['name']}", "", f"{a['summary']}. In Python `kolmo.{a['function']}`.", "", "```text", a["about"], "```", "",
                  f"Source: {a['source']}.", "", f"```sh\n{a['example']}\n```", "",
                  *table(["option", "value", "default", "meaning"], [option_row(o) for o in a["options"]])]
    return "\n".join(lines).rstrip() + "\n"


def pages(command: str) -> dict[str, str]:
    ops = json.loads(subprocess.run([command, "list", "--json"], check=True, capture_output=True, text=True).stdout)
    analyses = json.loads(subprocess.run([command, "list", "--analyses", "--json"], check=True, capture_output=True, text=True).stdout)
    path, record = latest_record()
    contract = contracts()
    groups: dict[str, list[dict]] = {}
    for op in ops:
        groups.setdefault(op["group"], []).append(op)
    made, index = {}, []
    for group, members in sorted(groups.items()):
        lines = [f"# {group}", "", f"Made by tools/reference.py from the operators and `{path}`.", ""]
        for op in members:
            if op["alias_of"] is None:
                lines += section(op, [a for a in members if a["alias_of"] == op["name"]], contract[op["name"]], record)
            index.append([f"[{op['name']}]({group}.md#{op['alias_of'] or op['name']})", op["summary"]])
        made[f"{group}.md"] = "\n".join(lines).rstrip() + "\n"
    made["analyses.md"] = analyses_page(analyses)
    made["README.md"] = "\n".join(["# Operators", "", "Made by tools/reference.py. The times are of one machine; `kolmo bench` measures yours.", "",
                                   "A tolerance t without a kind allows |error| <= t max(1, |want|). An absolute one allows |error| <= t, a relative one "
                                   "|error| <= t |want|, and of two kinds the larger counts.", "",
                                   *table(["operator", "what it computes"], index), "Analyses of time series: [analyses.md](analyses.md)."]).rstrip() + "\n"
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", metavar="KOLMO")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = pages(options.command)
    old = {page.name: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")}
    if options.check:
        stale = sorted(name for name in made.keys() | old.keys() if made.get(name) != old.get(name))
        if stale:
            print(f"docs/reference: {', '.join(stale)} differ from what the operators say; run tools/reference.py {options.command}")
        return 1 if stale else 0
    PAGES.mkdir(exist_ok=True)
    for name in old.keys() - made.keys():
        (PAGES / name).unlink()
    for name, text in made.items():
        (PAGES / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
