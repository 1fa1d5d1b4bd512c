"""Writes the tables of docs/multivariate.md from a result of study.py.

page.py RESULT.json docs/multivariate.md [--check]    --check: fails if the page differs from what it would write"""
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pages import main_of_one_page  # noqa: E402
from surrogates.study import bounds  # noqa: E402

START, END = "<!-- networks -->\n", "<!-- /networks -->"
METHODS = {"multivariate": "multivariate", "pairwise": "pairwise", "conditional": "`--conditional-all`",
           "multivariate, gaussian": "multivariate, `gaussian`", "pairwise, gaussian": "pairwise, `gaussian`", "PCMCI": "PCMCI",
           "PCMCI+": "PCMCI+", "PCMCI, CMIknn": "PCMCI, CMIknn"}
NUMBERS = {"multivariate": "k = 4"} | {f"multivariate, k = {k}": f"k = {k}" for k in (10,)}
KINDS = {"multivariate": "circular", "multivariate, permute": "permute", "multivariate, block": "block"}
LEVELS = {"multivariate": "multivariate", "multivariate, permute": "with `permute`", "multivariate, gaussian": "multivariate, `gaussian`",
          "multivariate, gaussian, circular": "`gaussian` with circular surrogates", "pairwise, gaussian": "pairwise, `gaussian`",
          "PCMCI": "PCMCI"} | {m: f"multivariate, {t}" for m, t in NUMBERS.items() if m != "multivariate"}
SYSTEMS = {"chain, own .9": "chain, own coefficient .9", "henon": "Hénon maps", "logistic": "logistic maps", "driver": "common driver",
           "var 10": "autoregression of 10", "var 30": "autoregression of 30", "var 100": "autoregression of 100"}


def shares(cell: dict) -> tuple[float, float, float]:
    """Precision, recall, and the share of right links whose lag is right."""
    return (cell["right"] / cell["found"] if cell["found"] else 0.0, cell["right"] / cell["links"],
            cell["right_lag"] / cell["right"] if cell["right"] else 0.0)


def both(cell: dict) -> float:
    """The harmonic mean of precision and recall."""
    precision, recall, _ = shares(cell)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def grouped(cells: list) -> dict:
    """The cells of each system and number of rows by method, the one with more runs where there are several."""
    groups: dict = {}
    for c in cells:
        group = groups.setdefault((c["system"], c["rows"]), {})
        if c["method"] not in group or group[c["method"]]["runs"] < c["runs"]:
            group[c["method"]] = c
    return groups


def table(head: list, rows: list) -> str:
    """Without the columns that are empty; says so if there is no row."""
    if not rows:
        return "Not measured yet.\n"
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    return "\n".join(f"| {' | '.join(row[i] for i in kept)} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def quality(groups: dict, methods: dict) -> str:
    """A row for each system, those first in which another method is better than `multivariate` by most."""
    known = {k: g for k, g in groups.items() if "multivariate" in g and g["multivariate"]["links"] and k[0] != "given"}

    def behind(item) -> float:
        others = [both(c) for m, c in item[1].items() if m != "multivariate" and m in methods]
        return both(item[1]["multivariate"]) - max(others, default=0.0)

    rows = []
    for (system, n), group in sorted(known.items(), key=behind):
        best = max(both(group[m]) for m in methods if m in group)
        texts = []
        for m in methods:
            text = "{:.2f} / {:.2f} / {:.2f}".format(*shares(group[m])) if m in group else ""
            texts.append(f"**{text}**" if text and both(group[m]) > best - 0.005 else text)
        rows.append([f"{SYSTEMS.get(system, system)}, {n} rows", *texts])
    return table(["", *methods.values()], rows)


def means(groups: dict) -> str:
    """Precision as the mean of that of each network, where it is known."""
    known = {k: g["multivariate"] for k, g in groups.items() if g.get("multivariate", {}).get("precisions") and k[1] == 1000}
    return "As means over networks (the tables count the links of all), precision of `multivariate` in 1000 rows is " + ", ".join(
        f"{c['precisions'] / c['networks']:.3f} ({SYSTEMS.get(system, system)})" for (system, _), c in known.items()) + ".\n" if known else ""


def linear(groups: dict) -> str:
    """Systems that were only given to linear methods."""
    methods = {m: t for m, t in METHODS.items() if m in ("multivariate, gaussian", "pairwise, gaussian", "PCMCI", "PCMCI+")}
    rows = []
    for (system, n), group in groups.items():
        if "multivariate" in group or not any(m in group for m in methods) or not next(iter(group.values()))["links"]:
            continue
        rows.append([f"{SYSTEMS.get(system, system)}, {n} rows",
                     *("{:.2f} / {:.2f} / {:.2f}".format(*shares(group[m])) if m in group else "" for m in methods)])
    return table(["", *methods.values()], rows)


def share(count: float, of: int) -> str:
    text = f"{count / of:.3f}"
    return f"**{text}**" if count > bounds(of)[1] else text


def level(groups: dict) -> str:
    rows = []
    for (system, n), group in sorted(groups.items(), key=lambda item: (item[0][1] != 1000, item[0])):
        if next(iter(group.values()))["links"]:
            continue
        for m, text in LEVELS.items():
            if m in group:
                c = group[m]
                targets = share(c["with_false_source"], c["undriven_targets"]) if "undriven_targets" in c else ""
                rows.append([f"{system}, {n} rows", text, str(c["networks"]), targets, share(c["with_false_link"], c["networks"]),
                             f"{c['found'] / c['pairs']:.4f}"])
    return table(["", "method", "networks", "targets with a source", "networks with a link", "links of pairs"], rows)


def seconds_text(s: float) -> str:
    return f"{s:.2g}" if s < 100 else f"{s:,.0f}"


def seconds(groups: dict, methods: dict, usual: str) -> str:
    """CPU seconds of what was computed on a CPU, with a star if that was not the usual machine."""
    rows = []
    for (system, n), group in groups.items():
        cells = {m: group[m] for m in methods if m in group and group[m]["device"] == "cpu"}
        if cells and system != "given" and next(iter(group.values()))["links"]:
            rows.append([f"{SYSTEMS.get(system, system)}, {n} rows",
                         *(f"{seconds_text(c['cpu_s'] / c['networks'])}{'' if c['machine'] == usual else '*'}" if (c := cells.get(m)) else ""
                           for m in methods)])
    return table(["", *methods.values()], rows)


def given(groups: dict) -> str:
    names = {**METHODS, "multivariate, permute": "multivariate, `permute`", "IDTxl, KSG": "IDTxl, KSG of JIDT", "IDTxl, Gaussian": "IDTxl, Gaussian"}
    rows = [[names[m], *(f"{s:.2f}" for s in shares(c)), seconds_text(c["cpu_s"])]
            for m, c in next((g for (system, _), g in groups.items() if system == "given"), {}).items()]
    return table(["", "precision", "recall", "right lags", "CPU s"], rows)


def text_of(result: dict) -> str:
    groups = grouped(result["cells"])
    made = ", ".join(f"commit {c} of {d}" for d, c in sorted({(c["date"][:10], c["commit"]) for c in result["cells"]}))
    machines = Counter(c["machine"] for c in result["cells"])
    usual, *others = (m for m, _ in Counter(c["machine"] for c in result["cells"] if c["device"] == "cpu").most_common())
    on = ", ".join(f"{m} ({n} cells)" for m, n in machines.most_common())
    runs = sorted({c["runs"] for c in result["cells"] if c["system"] != "given"})
    small = {m: t for m, t in METHODS.items() if m in ("multivariate", "pairwise", "conditional", "multivariate, gaussian", "PCMCI", "PCMCI+")}

    def of(methods: dict, needed: str) -> str:
        return quality({k: {m: c for m, c in g.items() if m in methods} for k, g in groups.items() if needed in g and k[0] != "given"}, methods)

    return "\n".join([
        f"On {on};\n{made}; {runs[0]} to {runs[-1]} networks a cell. Answers do not depend on the machine.",
        "Precision / recall / share of right lags; systems first in which another method is better than `multivariate` by most, the best in bold:\n", quality(groups, METHODS), means(groups),
        "Systems given to linear methods only:\n", linear(groups), "Kinds of surrogates:\n",
        of(KINDS, "multivariate, permute"), "Numbers of neighbours (`--neighbors`):\n", of(NUMBERS, "multivariate, k = 10"),
        "Where there is no link (independent series of coefficient AR, or a common driver that is not among them); in bold what is above the",
        "binomial bounds of .05:\n", level(groups), f"CPU seconds a network, on {usual}" + "".join(f", * on {m}" for m in others) + ":\n", seconds(groups, small, usual),
        "Five systems of which a run of IDTxl 1.6 is known, one of each kind with 1000 rows (that run's seconds are of the same kind of machine):\n",
        given(groups)])


if __name__ == "__main__":
    sys.exit(main_of_one_page(__doc__, text_of, START, END))
