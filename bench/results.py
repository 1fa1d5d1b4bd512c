"""Result files of bench/run.py: one JSON object with facts about the machine and one row for each thing measured.

A row has a key "<case>.<size>.<mode>.<arm>" and either "skipped", a reason, or "seconds", the raw samples of one call
each. A call that makes "surrogates" S > 0 in mode "surrogate" counts as S units; "median", "q1" and "q3" are of
seconds per unit. "own", of Kolmo, holds the seconds that each call says its estimate took itself, and "rest" the median of
what else it took, as a share of those. "load" is the load average after the samples."""
import json
import os
import statistics
from pathlib import Path

CASES = {"mi11": "MI(1,1)", "gauss": "MI(1,1), Gaussian", "te11": "TE(1,1)", "te22": "TE(2,2)", "te33": "TE(3,3)",
         "network": "network"}
ARMS = {"kolmo": "Kolmo", "sklearn": "scikit-learn", "infomeasure": "infomeasure"}
PEERS = ("sklearn", "infomeasure")
YARDSTICK = "plain"  # bench/plain_lanes.cpp, in mode "thousand" only, where it and Kolmo make 1000 surrogates


def summary(seconds: list[float], units: int = 1) -> dict:
    """Median and quartiles of seconds per unit."""
    each = [s / units for s in seconds]
    q1, median, q3 = statistics.quantiles(each, n=4, method="inclusive") if len(each) > 1 else each * 3
    return {"median": median, "q1": q1, "q3": q3}


def key(case: str, size: int, mode: str, arm: str) -> str:
    return f"{case}.{size}.{mode}.{arm}"


def load(path) -> dict:
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path}: {error}") from None
    if not isinstance(result, dict) or result.get("kind") != "kolmo-bench":
        raise SystemExit(f"{path}: is no result of bench/run.py")
    return result


def save(result: dict, path) -> None:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".partial")
    with beside.open("w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)
        out.write("\n")
        out.flush()
        os.fsync(out.fileno())
    beside.replace(path)


class Result:
    """A result file, looked up by key."""

    def __init__(self, data: dict):
        self.data = data
        self.rows = {row["key"]: row for row in data["rows"]}

    def median(self, name: str):
        """Seconds per unit, or None where the row is missing or was skipped."""
        return self.rows.get(name, {}).get("median")

    def ratio(self, point: str):
        """How many times faster Kolmo is than the faster peer at "<case>.<size>.<mode>"; None without a peer."""
        own = self.median(f"{point}.kolmo")
        peers = [m for m in (self.median(f"{point}.{peer}") for peer in PEERS) if m is not None]
        return min(peers) / own if own and peers else None

    def points(self) -> list[str]:
        return list(dict.fromkeys(name.rpartition(".")[0] for name in self.rows))

    def rest(self, point: str):
        """What a call of Kolmo takes beside its estimate, as a share of the time of that; None where it was not measured."""
        return self.rows.get(f"{point}.kolmo", {}).get("rest")

    def losses(self) -> list[str]:
        """Points at which a peer is faster."""
        return [p for p in self.points() if (self.ratio(p) or 1) < 1]
