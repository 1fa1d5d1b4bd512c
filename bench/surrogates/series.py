"""Series for the study of surrogates: `pair(kind, rows, seed)` gives two independent ones, `coupled` two of which the first
drives the second."""
import math
import random


def ar(phi):
    def series(rows, rng):
        x, all_ = rng.gauss(0, 1) / math.sqrt(1 - phi * phi), []
        for _ in range(rows):
            x = phi * x + rng.gauss(0, 1)
            all_.append(x)
        return all_
    return series


def random_walk(rows, rng):
    x, all_ = 0.0, []
    for _ in range(rows):
        x += rng.gauss(0, 1)
        all_.append(x)
    return all_


def logistic(rows, rng):
    x, all_ = rng.uniform(0.1, 0.9), []
    for t in range(rows + 100):
        x = min(max(4 * x * (1 - x), 1e-12), 1 - 1e-12) if x not in (0.0, 0.75) else rng.uniform(0.1, 0.9)
        if t >= 100:
            all_.append(x)
    return all_


def trend(rows, rng):
    slope = rng.choice((-1, 1)) * 4 / rows
    return [slope * t + rng.gauss(0, 1) for t in range(rows)]


def seasonal(rows, rng):
    start = rng.uniform(0, 1)
    return [math.sin(2 * math.pi * (t / 12 + start)) + rng.gauss(0, 0.5) for t in range(rows)]


def ties(rows, rng):
    return [round(2 * v) / 2 for v in ar(0.5)(rows, rng)]


KINDS = {"white": ar(0.0), "AR 0.5": ar(0.5), "AR 0.8": ar(0.8), "AR 0.9": ar(0.9), "AR 0.95": ar(0.95),
         "AR 0.98": ar(0.98), "AR 0.99": ar(0.99), "random walk": random_walk, "logistic map": logistic,
         "trend": trend, "seasonal": seasonal, "ties": ties}
# Independent stationary series up to AR 0.95, for which the default must be valid.
STATIONARY = ("white", "AR 0.5", "AR 0.8", "AR 0.9", "AR 0.95", "logistic map", "ties")
COUPLED = {"AR 0.5": 0.2, "AR 0.9": 0.2, "AR 0.95": 0.2, "logistic map": 0.1}


def independent(kind, rows, count, seed):
    """`count` independent series."""
    rng = random.Random(f"{kind} {rows} {seed}")
    return [KINDS[kind](rows, rng) for _ in range(count)]


def coupled(kind, rows, seed):
    """x drives y one row later, with the strength that COUPLED gives."""
    strength, rng = COUPLED[kind], random.Random(f"coupled {kind} {rows} {seed}")
    x = KINDS[kind](rows, rng)
    y = []
    if kind == "logistic map":
        at = rng.uniform(0.1, 0.9)
        for t in range(rows):
            at = (1 - strength) * 4 * at * (1 - at) + strength * (x[t - 1] if t else 0.5)
            y.append(at)
    else:
        phi, at = float(kind.split()[1]), 0.0
        for t in range(rows):
            at = phi * at + strength * (x[t - 1] if t else 0) + rng.gauss(0, 1)
            y.append(at)
    return [x, y]
