"""scaling_page.py RESULT.json PAGE.md [--check]: writes the tables and the plot about times of a page from a result of scaling.py."""
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pages import main_of_one_page  # noqa: E402

START, END = "<!-- scaling -->\n", "<!-- /scaling -->"
PEERS = ("scipy", "scikit-learn", "infomeasure")
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e5ea2", "#d68910", "#17a2b8", "#555555")


def named(case: str) -> str:
    d = case[2:]
    return f"MI(1,{int(d) - 1})" if case.startswith("mi") else f"TE({d},{d})"


def columns(case: str) -> int:
    return int(case[2:]) if case.startswith("mi") else 2 * int(case[2:]) + 1


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def by_key(result: dict) -> dict:
    return {(r["case"], r["arm"], r["rows"]): r for r in result["rows"]}


def power(result: dict, case: str) -> float:
    """The exponent of the number of rows: the slope of a line fitted to the logarithms of measured times."""
    points = [(math.log(r["rows"]), math.log(r["median"])) for r in result["rows"] if r["case"] == case and r["arm"] == "kolmo" and "median" in r]
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def beside_peers(result: dict) -> str:
    found = by_key(result)
    lines = []
    for case, rows in {(r["case"], r["rows"]) for r in result["rows"] if r["arm"] in PEERS}:
        row = [found.get((case, arm, rows), {}) for arm in ("kolmo", *PEERS)]
        peers = [r["median"] for r in row[1:] if "median" in r]
        share = min(peers) / row[0]["median"] if peers and "median" in row[0] else math.inf
        cells = [shown(r["median"]) if "median" in r else "too long" if "projected" in r else "" for r in row]
        lines.append((share, f"| {named(case)} | {rows:,} | {' | '.join(cells)} | {f'{share:.1f}' if peers else ''} |"))
    head = "| estimate | rows | Kolmo | cKDTree of scipy | scikit-learn | infomeasure | fastest peer / Kolmo |\n" + "|---" * 7 + "|\n"
    return head + "\n".join(line for _, line in sorted(lines)) + "\n"


def over_rows(result: dict) -> str:
    found = by_key(result)
    sizes = sorted({r["rows"] for r in result["rows"]})
    cases = sorted({r["case"] for r in result["rows"]}, key=lambda c: (columns(c), c))
    lines = ["| columns | estimate | " + " | ".join(f"{n:,} rows" for n in sizes) + " | power of rows |", "|---" * (3 + len(sizes)) + "|"]
    for case in cases:
        row = [found[case, "kolmo", n] for n in sizes]
        cells = [shown(r["median"]) if "median" in r else f"about {float(format(r['projected'], '.2g')):.0f} s" for r in row]
        lines.append(f"| {columns(case)} | {named(case)} | {' | '.join(cells)} | {power(result, case):.2f} |")
    return "\n".join(lines) + "\n"


def text(result: dict) -> str:
    versions = ", ".join(f"{name} {v}" for name, v in result["versions"].items())
    return (f"One core of {result['machine']['cpu']} that other work shared, {result['date'][:10]}, commit {result['commit']}; {versions}; k = 4, f64.\n\n"
            f"{beside_peers(result)}\n{over_rows(result)}")


def plot(result: dict) -> dict[str, str]:
    """Time over rows, both in powers of ten, a line for each number of columns; projected times are hollow."""
    found = by_key(result)
    sizes = sorted({r["rows"] for r in result["rows"]})
    least, most = math.log10(sizes[0]), math.log10(sizes[-1])
    left, top, width, height = 70, 30, 460, 330
    lowest, highest = -3, 3

    def x(n):
        return left + width * (math.log10(n) - least) / (most - least)

    def y(seconds):
        return top + height * (highest - math.log10(seconds)) / (highest - lowest)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 110} {top + height + 50}" font-family="sans-serif" '
           'font-size="12">', '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="18" font-weight="bold">seconds of one core, MI of x and the other columns, over rows</text>']
    for e in range(lowest, highest + 1):
        out += [f'<line x1="{left}" x2="{left + width}" y1="{y(10**e):.1f}" y2="{y(10**e):.1f}" stroke="#ddd"/>',
                f'<text x="{left - 8}" y="{y(10**e) + 4:.1f}" text-anchor="end">{10**e:g} s</text>']
    for n in sizes:
        out += [f'<line x1="{x(n):.1f}" x2="{x(n):.1f}" y1="{top}" y2="{top + height}" stroke="#ddd"/>',
                f'<text x="{x(n):.1f}" y="{top + height + 18}" text-anchor="middle">{n:,}</text>']
    for d in range(2, 9):
        rows = [found[f"mi{d}", "kolmo", n] for n in sizes]
        points = [(x(r["rows"]), y(r.get("median", r.get("projected"))), "median" in r) for r in rows]
        colour = COLOURS[d - 2]
        out.append(f'<polyline fill="none" stroke="{colour}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b, _ in points)}"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" stroke="{colour}" fill="{colour if measured else "white"}"/>' for a, b, measured in points]
        out.append(f'<text x="{left + width + 12}" y="{top + 30 + (8 - d) * 20}" fill="{colour}">{d} columns</text>')
    return {"neighbors_scaling.svg": "\n".join([*out, "</svg>"]) + "\n"}


if __name__ == "__main__":
    sys.exit(main_of_one_page(__doc__, text, START, END, plot))
