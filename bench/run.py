#!/usr/bin/env python3
"""Speed of Kolmo beside scikit-learn and infomeasure, as a user of Python meets it, in one run on one core; see
docs/benchmarks.md.

Writes every sample to bench/results/<date>-<cpu>-<commit>.json and prints a table."""
import argparse
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for variable in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR"):
    os.environ[variable + "_NUM_THREADS"] = "1"

import machine  # noqa: E402
import results  # noqa: E402
import schedule  # noqa: E402
import table  # noqa: E402
from arms import Infomeasure, Kolmo, PlainLanes, Sklearn, warm_up  # noqa: E402
from data import driven_pair, ring  # noqa: E402

SIZES = (300, 1_000, 10_000, 100_000, 1_000_000)
NETWORKS = (10, 20)
SURROGATES = 200
SURROGATE_BUDGET = 8.0  # seconds of one call; larger sizes use fewer surrogates, and the row tells how many
TOLERANCE = 1e-6  # in nats, between a peer and Kolmo by the peer's settings; scikit-learn adds noise of 1e-10


class Bench:
    def __init__(self, arms, limit, quick):
        self.arms, self.limit, self.quick = arms, limit, quick
        self.rows, self.known, self.faults = [], {}, []

    def skip(self, point, arm, reason):
        print(f"{point}.{arm.name}: skipped: {reason}", flush=True)
        self.rows.append({"key": f"{point}.{arm.name}", "skipped": reason})

    def plan(self, case, size, mode):
        """Returns the arms that run, and the number of surrogates for each."""
        point, surrogates = f"{case}.{size}.{mode}", {}
        for arm in self.arms:
            if not arm.supports(case):
                continue
            known = self.known.get((case, mode, arm.name), {})
            each = schedule.predicted(known, size)
            if each is None and mode == "surrogate":  # a peer's surrogate costs as much as an estimate
                each = self.known.get((case, "single", arm.name), {}).get(size)
            if mode == "single":
                if each is not None and each > self.limit:
                    self.skip(point, arm,
                              f"going by smaller sizes it would take {table.duration(each)}; the limit is {self.limit:g} s")
                else:
                    surrogates[arm] = 0
                continue
            budget = 2.0 if self.quick else SURROGATE_BUDGET
            count = schedule.affordable_surrogates(SURROGATES, each or 0.0, budget, arm.lanes, self.limit)
            if size not in self.known.get((case, "single", arm.name), {}):
                self.skip(point, arm, "its single estimate was skipped")
            elif count == 0:
                self.skip(point, arm,
                          f"at {table.duration(each)} each, the fewest surrogates of one call would take over {self.limit:g} s")
            else:
                surrogates[arm] = count
        return surrogates

    def measure(self, case, size, mode, calls, **extra):
        """Calls the arms in turn; calls: {arm: (units, function)}. Returns the value of each."""
        samples, own = {arm: [] for arm in calls}, {arm: [] for arm in calls}
        values, waiting, turn = {}, list(calls), 0
        while waiting:
            first = turn % len(waiting)  # no arm always follows the same one
            for arm in waiting[first:] + waiting[:first]:
                seconds, values[arm], itself = calls[arm][1]()
                samples[arm].append(seconds)
                own[arm] += [] if itself is None else [itself]
            turn += 1
            most = 3 if self.quick else 100
            waiting = [a for a in waiting if turn < min(most, schedule.repeats(samples[a][0]))]
        for arm in samples:
            units = calls[arm][0]
            row = {"key": results.key(case, size, mode, arm.name), "case": case, "size": size, "mode": mode,
                   "arm": arm.name, "units_per_call": units, **extra, "seconds": samples[arm],
                   **results.summary(samples[arm], units), "value": values[arm], "load": os.getloadavg()[0]}
            if own[arm]:
                row |= {"own": own[arm], "rest": statistics.median(s / o - 1 for s, o in zip(samples[arm], own[arm]))}
            self.rows.append(row)
            self.known.setdefault((case, mode, arm.name), {})[size] = row["median"]
            print(f"{row['key']}: {table.duration(row['median'])} ({len(samples[arm])} calls)", flush=True)
        return values

    def compare(self, case, size, pair, values):
        """Whether Kolmo computes what the peers do, where it is asked to."""
        for arm, value in values.items():
            if arm is self.arms[0]:
                continue
            like = self.arms[0].like(arm, case, pair)
            if not abs(value - like) <= TOLERANCE:
                self.faults.append(f"{case}.{size}: {arm.name} gives {value}, and Kolmo by its settings {like}")

    def estimates(self, cases, sizes):
        for size in sizes:
            pair = driven_pair(size)
            for case in cases:
                for mode in ("single", "surrogate"):
                    planned = self.plan(case, size, mode)
                    calls = {arm: (max(count, 1), partial(arm.estimate, case, pair, count))
                             for arm, count in planned.items()}
                    wanted = {} if mode == "single" else {"surrogates_wanted": SURROGATES}
                    values = self.measure(case, size, mode, calls, threads=1, **wanted)
                    if mode == "single":
                        self.compare(case, size, pair, values)

    def beside_yardstick(self, plain, sizes):
        count = 1000
        for size in sizes:
            pair = driven_pair(size)
            calls = {self.arms[0]: (count, partial(self.arms[0].estimate, "te11", pair, count)),
                     plain: (count, partial(plain.surrogates, pair, count))}
            self.measure("te11", size, "thousand", calls, threads=1)

    def networks(self, sizes):
        kolmo, infomeasure = self.arms[0], self.arms[-1]
        for size in sizes:
            data = ring(size)
            self.measure("network", size, "surrogate", {kolmo: (1, partial(kolmo.network, data, SURROGATES))},
                         threads=1, samples_per_variable=len(data), surrogates=SURROGATES)
            each = self.known[("te11", "surrogate", infomeasure.name)][1000]
            pairs = size * (size - 1)
            self.skip(f"network.{size}.surrogate", infomeasure,
                      f"{pairs} pairs at one lag would take {pairs * (SURROGATES + 1) * each:.0f} s, at "
                      f"{table.duration(each)} for an estimate")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kolmo", required=True, help="the kolmo command, of the same build as the Python package")
    parser.add_argument("--out", help="result file, or a folder for it (default bench/results)")
    parser.add_argument("--quick", action="store_true", help="a small part, in about a minute")
    parser.add_argument("--limit", type=float, default=60, help="skip calls predicted to take longer (seconds)")
    options = parser.parse_args()
    yardstick = Path(options.kolmo).resolve().with_name("bench_plain_lanes")
    if not yardstick.exists():
        parser.error(f"{yardstick} is missing: build the target bench_plain_lanes")
    begin = time.monotonic()

    result = {"kind": "kolmo-bench", "quick": options.quick, **machine.facts(options.kolmo)}
    busy = result["machine"]["load_average_at_start"][0]
    if busy > 0.5:
        print(f"note: the load is {busy:.1f} already; times will be too long", file=sys.stderr)
    cases = ("mi11", "te11") if options.quick else ("mi11", "te11", "te22", "te33")
    with tempfile.TemporaryDirectory(prefix="kolmo-bench-") as folder:
        bench = Bench([Kolmo(), Sklearn(), Infomeasure()], options.limit, options.quick)
        warm_up(bench.arms, ("gauss", *cases))
        bench.estimates(("gauss",), SIZES[:1])
        bench.estimates(cases, SIZES[:2] if options.quick else SIZES)
        bench.beside_yardstick(PlainLanes(yardstick, Path(folder)), (1_000,) if options.quick else (1_000, 10_000))
        bench.networks(NETWORKS[:1] if options.quick else NETWORKS)
    result["duration_seconds"] = time.monotonic() - begin
    result["machine"]["load_average_at_end"] = list(os.getloadavg())
    result["rows"] = bench.rows

    out = Path(options.out) if options.out else Path(__file__).resolve().parent / "results"
    if out.suffix != ".json":
        out = out / machine.file_name(result)
    results.save(result, out)
    print()
    print(table.terminal(results.Result(result)))
    print(f"\n{out}")
    for fault in bench.faults:
        print(f"bench: {fault}", file=sys.stderr)
    return 1 if bench.faults else 0


if __name__ == "__main__":
    sys.exit(main())
