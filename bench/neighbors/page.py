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
        least = rmse.index(min(rmse))
        return f"{k[least]}: {rmse[least]:.3f} ({rmse[four]:.3f})"

    def seen(rows, d, at):
        """How many standard deviations of independent data a weak dependence is above their mean."""
        weak, none = cells[rows, d, "weak"], cells[rows, d, "independent"]
        truth = -math.log(1 - 0.15**2) / 2  # of the weak dependence; bias is measured from it
        return f"{(weak['bias'][at] + truth - none['bias'][at]) / none['deviation'][at]:.1f}"

    lines = ["| rows | columns | " + " | ".join(DEPENDENT) + " | correlation .15: k = 4 | k = 16 |", "|---" * (4 + len(DEPENDENT)) + "|"]
    for rows, d in sorted({c[:2] for c in cells}):
        if rows in (100, 1000, 10000) and d in (2, 3, 4, 6):
            lines.append(f"| {rows} | {d} | " + " | ".join(best(rows, d, s) for s in DEPENDENT) + f" | {seen(rows, d, four)} | {seen(rows, d, sixteen)} |")
    return f"On {result['machine']}, commit {result['commit']} of {result['date'][:10]}:\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main_of_one_page(__doc__, table, START, END))
