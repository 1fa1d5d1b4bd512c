"""Writes the tables and plots of docs/surrogates.md, and the table of systems of docs/network_inference.md, from a result of study.py.

page.py RESULT.json docs [--check]    --check: fails if a page or a plot differs from what it would write"""
import argparse
import json
import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pages import between  # noqa: E402
from surrogates.series import KINDS, STATIONARY  # noqa: E402
from surrogates.study import METHODS, SYSTEMS, bounds  # noqa: E402

COLOURS = {"circular": "#1b6ca8", "permute": "#c0392b", "block": "#2e8b57", "phase": "#8e5ea2", "iaaft": "#d68910"}
START, END = "<!-- study -->\n", "<!-- /study -->"


def shares(cells: list, **wanted) -> dict:
    """The cell of each kind and method that has these properties."""
    return {(c["kind"], c["method"]): c for c in cells if all(c[k] == v for k, v in wanted.items())}


def text_of(cell: dict | None) -> str:
    if not cell:
        return ""
    share, most = cell["rejected"] / cell["tests"], bounds(cell["tests"])[1]
    wrong = cell["what"] == "independent" and cell["rejected"] > most
    return f"**{share:.2f}**" if wrong else f"{share:.2f}"


def table(cells: list, kinds, methods=METHODS, told=True) -> str:
    rows = [f"| | {' | '.join(methods)} |" + (" warned of, circular |" if told else ""),
            "|---" * (len(methods) + 1 + told) + "|"]
    for kind in kinds:
        found = [cells.get((kind, m)) for m in methods]
        if not any(found):
            continue
        row = f"| {kind} | {' | '.join(map(text_of, found))} |"
        if told:
            warned = found[0]["warned"] if found[0] else {}
            row += " " + ", ".join(f"`{n}` {c / found[0]['runs']:.0%}" for n, c in warned.items()) + " |"
        rows.append(row)
    return "\n".join(rows) + "\n"


def plot(panels: list[tuple[str, dict]], kinds, label: str, band: bool) -> str:
    """Shares by kind, one panel above the other; a grey band where a share of 0.05 lies by chance."""
    left, height, gap = 60, 220, 60
    step = max(62, 560 // len(kinds))
    width = step * len(kinds)
    total = len(panels) * (height + gap) + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {total}" font-family="sans-serif" '
           'font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for i, method in enumerate(METHODS):
        x = left + i * 100
        out += [f'<circle cx="{x}" cy="20" r="5" fill="{COLOURS[method]}"/>', f'<text x="{x + 10}" y="24">{method}</text>']
    for p, (title, cells) in enumerate(panels):
        top = 50 + p * (height + gap)
        def y(share, top=top):
            return top + height * (1 - share)
        out.append(f'<text x="{left}" y="{top - 6}" font-weight="bold">{escape(f"{title}: {label}")}</text>')
        for share in (0, 0.25, 0.5, 0.75, 1):
            out += [f'<line x1="{left}" x2="{left + width}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>',
                    f'<text x="{left - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share}</text>']
        for k, kind in enumerate(kinds):
            for m, method in enumerate(METHODS):
                cell = cells.get((kind, method))
                if not cell:
                    continue
                x = left + step * k + step // 2 - 20 + 10 * m
                if band:
                    low, high = (b / cell["tests"] for b in bounds(cell["tests"]))
                    out.append(f'<line x1="{x}" x2="{x}" y1="{y(high):.1f}" y2="{y(low):.1f}" stroke="#bbb" stroke-width="6"/>')
                out.append(f'<circle cx="{x}" cy="{y(cell["rejected"] / cell["tests"]):.1f}" r="4" fill="{COLOURS[method]}"/>')
            out.append(f'<text x="{left + step * k + step // 2}" y="{top + height + 16}" text-anchor="middle" font-size="10">{kind}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def made(cells) -> str:
    """Says when the cells were made, and from which commits."""
    return ", ".join(f"commit {commit} of {date}" for date, commit in sorted({(c["date"][:10], c["commit"]) for c in cells}))


def systems(result: dict) -> str:
    cells = [c for c in result["cells"] if c["what"] == "system"]
    rows = ["| system | rows | links | found | right | precision | recall | right lag |", "|---" * 8 + "|"]
    for c in cells:
        rows.append(f"| {SYSTEMS[c['kind']]} | {c['rows']} | {c['links']} | {c['found']} | {c['right']} | {c['right'] / c['found']:.2f} | "
                    f"{c['right'] / c['links']:.2f} | {c['right_lag']} |")
    return (f"On systems of five variables with known links (`kolmo simulate`, seeds 1 to {cells[0]['runs']}), lags up to 3, "
            f"{result['surrogates_of_systems']}\nsurrogates, Benjamini-Hochberg at 0.05, all else default ({made(cells)}):\n\n" + "\n".join(rows) + "\n")


def files(result: dict) -> tuple[str, dict[str, str]]:
    """The generated part of docs/surrogates.md, and the plots by name."""
    cells = [c for c in result["cells"] if c["what"] != "system"]
    independent = {(n, m): shares(cells, what="independent", rows=n, measure=m) for n in (100, 1000, 10000)
                   for m in ("mi", "te", "network")}
    coupled = {(n, m): shares(cells, what="coupled", rows=n, measure=m) for n in (100, 1000) for m in ("mi", "te")}
    names = {"mi": "mutual information", "te": "transfer entropy", "network": "links of a network of five, lags up to 3"}
    text = [f"{result['surrogates']} surrogates a test, on {result['machine']}. Mutual information and transfer entropy: "
            f"{made(c for c in cells if c['measure'] != 'network')}; networks: {made(c for c in cells if c['measure'] == 'network')}.\n"]
    for n in (1000, 100, 10000):
        for m in ("mi", "te", "network"):
            if any(kind == "white" for kind, _ in independent[n, m]):
                only = [x for x in METHODS if any(method == x for _, method in independent[n, m])]
                text.append(f"Independent series of {n} rows, {names[m]}:\n\n{table(independent[n, m], KINDS, only)}")
    for n in (1000, 100):
        for m in ("mi", "te"):
            kinds = [k for k in KINDS if any(k == kind for kind, _ in coupled[n, m])]
            text.append(f"Coupled series of {n} rows, {names[m]} (higher is better):\n\n{table(coupled[n, m], kinds, told=False)}")
    stationary = [k for k in KINDS if k in STATIONARY]
    others = [k for k in KINDS if k not in STATIONARY]
    plots = {
        "surrogates_false_positives.svg": plot(
            [(names[m], independent[1000, m]) for m in ("mi", "te", "network")], [*stationary, *others],
            "share of p <= 0.05 of 1000 independent rows", True),
        "surrogates_power.svg": plot(
            [(f"{names[m]}, {n} rows", coupled[n, m]) for n in (1000, 100) for m in ("te",)],
            [k for k in KINDS if (k, "circular") in coupled[1000, "te"]], "share of couplings found", False)}
    return "\n".join(text), plots


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    result = json.loads(options.result.read_text(encoding="utf-8"))
    text, plots = files(result)
    wanted = {options.docs / name: between((options.docs / name).read_text(encoding="utf-8"), part, START, END)
              for name, part in (("surrogates.md", text), ("network_inference.md", systems(result)))}
    wanted |= {options.docs / "pictures" / name: svg for name, svg in plots.items()}
    if options.check:
        wrong = [str(p) for p, content in wanted.items() if not p.is_file() or p.read_text(encoding="utf-8") != content]
        print("\n".join(f"{p} is not what {options.result} gives; see make study" for p in wrong), end="", file=sys.stderr)
        return 1 if wrong else 0
    for path, content in wanted.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
