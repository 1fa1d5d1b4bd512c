"""What is expected of Kolmo, as a floor: seconds per unit at most, the share of the yardstick's time at most, what a call takes
beside its estimate at most, as a share of that, or times the speed of the faster peer at least."""
from results import YARDSTICK, Result

SECONDS = [
    ("gauss.300.single", 100e-6),
    ("te11.1000.surrogate", 0.05e-3),
    ("te11.10000.surrogate", 1e-3),
    ("network.20.surrogate", 5.0),
    ("mi11.1000000.single", 100.0),  # the requirement says "tens of seconds"
    ("te11.1000000.single", 100.0),
]
# The floors of 50 us and 1 ms refer to a core on which a program like bench/plain_lanes.cpp takes 60 us and 2.57 ms.
SHARES = [
    ("te11.1000.thousand", 0.050 / 0.060),
    ("te11.10000.thousand", 1 / 2.57),
]
RESTS = [(f"{case}.{size}.single", 0.25) for case in ("mi11", "te11") for size in (1_000, 10_000, 100_000, 1_000_000)]
RATIOS = [("mi11.1000.single", 3.0), ("te11.1000.single", 4.0)] + [
    (f"{case}.{size}.single", 5.0 if case != "te11" or size != 100_000 else 4.0) for case in ("mi11", "te11", "te22", "te33")
    for size in (10_000, 100_000, 1_000_000)]


def verdicts(result: Result) -> list[tuple[str, str, float, float | None, bool | None]]:
    """(point, "seconds", "share", "rest" or "ratio", expected, reached, met); reached and met are None where it was not measured."""
    found = []
    for point, most in SECONDS:
        reached = result.median(f"{point}.kolmo")
        found.append((point, "seconds", most, reached, None if reached is None else reached <= most))
    for point, most in SHARES:
        own, yardstick = result.median(f"{point}.kolmo"), result.median(f"{point}.{YARDSTICK}")
        reached = own / yardstick if own and yardstick else None
        found.append((point, "share", most, reached, None if reached is None else reached <= most))
    for point, most in RESTS:
        reached = result.rest(point)
        found.append((point, "rest", most, reached, None if reached is None else reached <= most))
    for point, least in RATIOS:
        reached = result.ratio(point)
        found.append((point, "ratio", least, reached, None if reached is None else reached >= least))
    return found
