"""Time of nearest-neighbour estimates over rows and columns, beside scipy's cKDTree, scikit-learn and infomeasure: whole calls on one core.

scaling.py OUT.json [--rows N]...    --rows: only these; the rest of OUT.json stays as it is

A case is MI(1,d-1) of d columns in all, or TE(k,k), whose joint space has 2 k + 1. Times are seconds of user mode of the core: what other
processes take is not in them. Every value of a peer is compared with Kolmo's. A case that going by fewer rows takes longer than
the limit is projected and says so. Needs the Python package, scipy, scikit-learn and infomeasure."""
import argparse
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import sys
import warnings
from datetime import datetime, timezone
from pathlib import Path

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for variable in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR"):
    os.environ[variable + "_NUM_THREADS"] = "1"

import infomeasure  # noqa: E402
import kolmo  # noqa: E402
import numpy as np  # noqa: E402
from scipy.signal import lfilter  # noqa: E402
from scipy.spatial import cKDTree  # noqa: E402
from scipy.special import digamma  # noqa: E402
from sklearn.feature_selection import mutual_info_regression  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine  # noqa: E402

ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
PEER_ROWS = (100_000, 1_000_000)
CASES = tuple(f"mi{d}" for d in range(2, 9)) + ("te1", "te2", "te3")
PEER_CASES = ("mi2", "mi4", "te1", "te3")
K = 4
PLAIN = {"standardize": "none", "noise": 0}
LIMIT, ENOUGH, SAMPLES = 100.0, 6.0, 5  # seconds of a call; seconds after which a case has no more samples; samples
TOLERANCE = {"scipy": 1e-10, "scikit-learn": 1e-6, "infomeasure": 1e-6}  # nats; scikit-learn adds noise of 1e-10


def data(case: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """MI: x of one column is half of it a sum of the columns of y. TE: an autoregressive y follows an autoregressive x."""
    random = np.random.default_rng([rows, *case.encode()])
    if case.startswith("mi"):
        y = random.standard_normal((rows, int(case[2:]) - 1))
        x = np.sqrt(0.5 / y.shape[1]) * y.sum(1) + np.sqrt(0.5) * random.standard_normal(rows)
        return x, y if y.shape[1] > 1 else y[:, 0].copy()
    x = lfilter([1], [1, -0.5], random.standard_normal(rows))
    noise = random.standard_normal(rows)
    noise[1:] += 0.5 * x[:-1]
    return x, lfilter([1], [1, -0.4], noise)


def kolmo_call(case, x, y, **options):
    options |= {"threads": 1, "device": "cpu"}
    if case.startswith("mi"):
        return float(kolmo.mutual_information(x, y, **options))
    past = int(case[2:])
    return float(kolmo.transfer_entropy(x, y, target_history=past, source_history=past, **options))


def counts(points: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """The number of other points whose distance is below the radius: of one column by sorting, else by a tree."""
    if points.shape[1] > 1:
        return cKDTree(points).query_ball_point(points, np.nextafter(radius, 0), p=np.inf, return_length=True) - 1
    at, value = points[:, 0], np.concatenate(([-np.inf], np.sort(points[:, 0]), [np.inf]))
    first, end = np.searchsorted(value, at - radius, "right"), np.searchsorted(value, at + radius, "left")
    first += np.where(at - value[first] >= radius, 1, -(at - value[first - 1] < radius).astype(int))  # sums are rounded, differences decide
    end += np.where(value[end] - at < radius, 1, -(value[end - 1] - at >= radius).astype(int))
    return end - first - 1


def scipy_call(case, x, y):
    """KSG1 as one writes it over a tree of scipy."""
    if case.startswith("mi"):
        x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
        radius = cKDTree(np.hstack((x, y))).query(np.hstack((x, y)), k=K + 1, p=np.inf)[0][:, K]
        return digamma(K) + digamma(len(x)) - np.mean(digamma(counts(x, radius) + 1) + digamma(counts(y, radius) + 1))
    past = int(case[2:])
    windows = np.lib.stride_tricks.sliding_window_view
    source, target, now = windows(x, past)[:-1], windows(y, past)[:-1], y[past:, None]
    joint = np.hstack((source, now, target))
    radius = cKDTree(joint).query(joint, k=K + 1, p=np.inf)[0][:, K]
    n_xz, n_yz, n_z = (counts(np.ascontiguousarray(m), radius) for m in (np.hstack((source, target)), np.hstack((now, target)), target))
    return digamma(K) + np.mean(digamma(n_z + 1) - digamma(n_xz + 1) - digamma(n_yz + 1))


def sklearn_call(case, x, y):
    return mutual_info_regression(x[:, None], y, n_neighbors=K, random_state=0)[0] if case == "mi2" else None


def infomeasure_call(case, x, y):
    options = {"approach": "metric", "noise_level": 0}
    if case.startswith("mi"):
        return float(infomeasure.mutual_information(x, y, **options))
    past = int(case[2:])
    return float(infomeasure.transfer_entropy(x, y, src_hist_len=past, dest_hist_len=past, **options))


ARMS = {"kolmo": kolmo_call, "scipy": scipy_call, "scikit-learn": sklearn_call, "infomeasure": infomeasure_call}


def spent(call) -> tuple[float, float | None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    value = call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before, value


class Scaling:
    def __init__(self, rows: list[dict]):
        self.rows = rows

    def median(self, case, arm, rows):
        found = [r for r in self.rows if (r["case"], r["arm"], r["rows"]) == (case, arm, rows) and "seconds" in r]
        return found[0]["median"] if found else None

    def projected(self, case: str, arm: str, rows: int) -> float:
        """Seconds by the power of rows between two smaller sizes; of one, as rows^1.5; of none, 0."""
        one, two = self.median(case, arm, rows // 10), self.median(case, arm, rows // 100)
        return one * (one / two if two else 10**1.5) if one else 0.0

    def measure(self, case: str, rows: int) -> None:
        arms = ARMS if case in PEER_CASES and rows in PEER_ROWS else ("kolmo",)
        arms = [arm for arm in arms if arm != "scikit-learn" or case == "mi2"]
        made = {arm: {"case": case, "rows": rows, "arm": arm, "seconds": []} for arm in arms}
        x, y = data(case, rows)
        expected = None
        for arm, row in made.items():
            if (seconds := self.projected(case, arm, rows)) > LIMIT:
                row["projected"] = seconds
        while running := [arm for arm, row in made.items() if "projected" not in row and len(row["seconds"]) < SAMPLES and sum(row["seconds"]) < ENOUGH]:
            for arm in running:
                seconds, value = spent(lambda arm=arm: ARMS[arm](case, x, y))
                made[arm]["seconds"].append(round(seconds, 4))
                if arm == "kolmo":
                    continue
                if expected is None:
                    expected = kolmo_call(case, x, y, **PLAIN)
                scaled = kolmo_call(case, x / x.std(), y / y.std(), **PLAIN) if arm == "scikit-learn" else expected
                made[arm]["difference"] = abs(value - scaled)
                if not made[arm]["difference"] <= TOLERANCE[arm]:
                    raise SystemExit(f"{case} of {rows} rows: {arm} gives {value}, Kolmo {scaled}")
        for row in made.values():
            if row["seconds"]:
                row["median"] = statistics.median(row["seconds"])
            else:
                del row["seconds"]
            print(f"{case} {rows:>9} {row['arm']:12} {row.get('median', row.get('projected')):10.3f} s{' projected' if 'projected' in row else ''}", flush=True)
        self.rows = [r for r in self.rows if (r["case"], r["rows"]) != (case, rows)] + list(made.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, action="append", help="only this many rows; may be repeated")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    scaling = Scaling(json.loads(options.out.read_text(encoding="utf-8"))["rows"] if options.rows and options.out.exists() else [])
    for arm, call in ARMS.items():  # first calls import and compile
        for case in PEER_CASES if arm != "scikit-learn" else ("mi2",):
            call(case, *data(case, 1000))
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": kolmo._kolmo.commit(),
              "machine": {"cpu": machine.cpu_model(), "cores_used": 1, "system": platform.platform(), "load_average_at_start": list(os.getloadavg())},
              "versions": {name: importlib.metadata.version(name) for name in ("scipy", "scikit-learn", "infomeasure", "numpy")}}
    for rows in options.rows or ROWS:
        for case in CASES:
            scaling.measure(case, rows)
            lines = ",\n".join(json.dumps(row) for row in scaling.rows)  # a run may be ended between cases
            options.out.write_text(json.dumps(record)[:-1] + ', "rows": [\n' + lines + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
