"""page.py RESULT.json PAGE.md [--check]: writes the table of docs/choosing.md about numbers of neighbours from a result of study.py."""
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pages import main_of_one_page  # noqa: E402

START, END = "<!-- neighbors -->\n", "<!-- /neighbors -->"
DEPENDENT = ("gaussian", "lognormal", "uniform")


def table(result: dict) -> str:
    k = result["neighbors"]
    cells = {(c["rows"], c["dimension"], c["system"]): c for c in result["cells"]}
    four, sixteen = k.index(4), k.index(16)

    def best(rows, d, system):
        rmse = cells[rows, d, system]["rmse"]
        least = rmse.index(min(rmse[:k.index("auto")]))
        return f"{k[least]}: {rmse[least]:.3f} ({rmse[four]:.3f})"

    def seen(rows, d, at):
        """How many standard deviations of independent data a weak dependence is above their mean."""
        weak, none = cells[rows, d, "weak"], cells[rows, d, "independent"]
        truth = -math.log(1 - 0.15**2) / 2  # of the weak dependence; bias is measured from it
        return f"{(weak['bias'][at] + truth - none['bias'][at]) / none['deviation'][at]:.1f}"

    def by_rule(rows, d):
        """Its k, and its errors over those of k = 4."""
        at, chosen = k.index("auto"), min(64, max(4, round(rows ** (4 / (4 + d)) / 5)))
        shares = [cells[rows, d, s]["rmse"][at] / cells[rows, d, s]["rmse"][four] for s in (*DEPENDENT, "weak", "independent")]
        return f"| {rows} | {d} | {chosen} | " + " | ".join(f"{s:.2f}" for s in shares) + " |"

    shown = [c for c in sorted({c[:2] for c in cells}) if c[0] in (100, 1000, 10000) and c[1] in (2, 3, 4, 6)]
    lines = ["| rows | columns | " + " | ".join(DEPENDENT) + " | correlation .15: k = 4 | k = 16 |", "|---" * (4 + len(DEPENDENT)) + "|"]
    lines += [f"| {rows} | {d} | " + " | ".join(best(rows, d, s) for s in DEPENDENT) + f" | {seen(rows, d, four)} | {seen(rows, d, sixteen)} |"
              for rows, d in shown]
    lines += ["", "`--neighbors auto`: its k, and root mean square errors over those of k = 4:", "",
              "| rows | columns | k | " + " | ".join(DEPENDENT) + " | correlation .15 | independent |", "|---" * (5 + len(DEPENDENT)) + "|"]
    lines += [by_rule(rows, d) for rows, d in shown]
    return f"On {result['machine']}, commit {result['commit']} of {result['date'][:10]}:\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main_of_one_page(__doc__, table, START, END))
