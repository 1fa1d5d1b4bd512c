#!/usr/bin/env python3
"""Compares two results of bench/run.py on one machine: fails where Kolmo became over 5 % slower and the quartiles of the
two no longer overlap, or where something is no longer measured. Prints what the peers did, which never changed, as a
measure of how the machine's speed differed between the two."""
import argparse
import statistics
import sys

from results import PEERS, Result, load
from table import duration

TOLERANCE = 1.05


def slower(old: dict, new: dict) -> bool:
    return new["median"] > TOLERANCE * old["median"] and new["q1"] > old["q3"]


def faster(old: dict, new: dict) -> bool:
    return old["median"] > TOLERANCE * new["median"] and old["q1"] > new["q3"]


def compare(old: Result, new: Result):
    """Returns the lines to print, and the number of regressions."""
    lines, failures = [], 0
    for name, before in old.rows.items():
        if not name.endswith(".kolmo") or "skipped" in before:
            continue
        now = new.rows.get(name)
        if now is None or "skipped" in now:
            if now is None and new.data["quick"] and not old.data["quick"]:
                continue
            lines.append(f"{name}: was {duration(before['median'])}, is no longer measured")
            failures += 1
        elif slower(before, now) or faster(before, now):
            verdict = "SLOWER" if slower(before, now) else "faster"
            failures += verdict == "SLOWER"
            lines.append(f"{name}: {duration(before['median'])} -> {duration(now['median'])}, "
                         f"{now['median'] / before['median'] - 1:+.0%} {verdict}")
    return lines, failures


def drift(old: Result, new: Result):
    """The median of the peers' new / old times; None without common rows."""
    ratios = [new.median(name) / old.median(name) for name in old.rows
              if name.endswith(PEERS) and old.median(name) and new.median(name)]
    return statistics.median(ratios) if ratios else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    options = parser.parse_args()
    old, new = Result(load(options.old)), Result(load(options.new))
    cpus = old.data["machine"]["cpu"], new.data["machine"]["cpu"]
    if cpus[0] != cpus[1]:
        print(f"compare: different machines: {cpus[0]} and {cpus[1]}", file=sys.stderr)
        return 2
    lines, failures = compare(old, new)
    print("\n".join(lines) or "no change over 5 % outside the spread")
    mood = drift(old, new)
    if mood is not None:
        print(f"peers: {mood - 1:+.0%} in the median")
    print(f"{failures} slower or gone")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
