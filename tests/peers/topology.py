"""Persistence of point clouds beside Ripser, distances of diagrams beside GUDHI."""
from __future__ import annotations

import numpy as np
from kolmo.topology import bottleneck_distance, rips_persistence, wasserstein_distance

from peers import Pair, peer


def ordered(pairs):
    pairs = np.asarray(pairs, float).reshape(-1, 2)
    return pairs[np.lexsort(pairs.T[::-1])]


def cloud(rng):
    """A cloud in a cube, on a noisy circle, on a grid with ties, or the delay vectors of a series."""
    n, kind = int(rng.integers(2, 160)), int(rng.integers(4))
    if kind == 0:
        return rng.random((n, int(rng.integers(1, 6))))
    if kind == 1:
        angle = rng.random(n) * 2 * np.pi
        return np.stack([np.cos(angle), np.sin(angle)], 1) + 0.1 * rng.standard_normal((n, 2))
    if kind == 2:
        return rng.integers(0, 9, (n, 2)).astype(float)
    series = np.sin(np.arange(n + 20) * rng.uniform(0.05, 0.6)) + 0.1 * rng.standard_normal(n + 20)
    return np.lib.stride_tricks.sliding_window_view(series, 15)[:, ::7]


@peer("rips_persistence", "ripser")
def rips(rng):
    from ripser import ripser
    # Distances that Ripser's f32 holds exactly, so that results are equal.
    x = cloud(rng)
    distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)).astype(np.float32).astype(float)
    options = {} if rng.integers(2) else {"thresh": float(np.float32(np.quantile(distances, rng.uniform(0.2, 0.8))))}
    got = rips_persistence(distances, distances=True, threshold=options.get("thresh"))
    want = ripser(distances, distance_matrix=True, maxdim=1, **options)["dgms"]
    return [Pair(ordered(got.h0), ordered(want[0])), Pair(ordered(got.h1), ordered(want[1]))]


def diagrams(rng):
    essential = int(rng.integers(3))
    made = []
    for _ in range(2):
        births = rng.random(int(rng.integers(0, 60)))
        pairs = np.stack([births, births + rng.exponential(0.3, len(births))], 1)
        made.append(np.concatenate([pairs, np.stack([rng.random(essential), np.full(essential, np.inf)], 1)]))
    return made


@peer("bottleneck_distance", "gudhi")
def bottleneck(rng):
    import gudhi
    a, b = diagrams(rng)
    return [Pair(np.array(bottleneck_distance(a, b)), np.array(gudhi.bottleneck_distance(a, b, 0)), 1e-15)]


@peer("wasserstein_distance", "gudhi")
def wasserstein(rng):
    from gudhi.wasserstein import wasserstein_distance as gudhi_distance
    a, b = diagrams(rng)
    order = float(rng.integers(1, 4))
    return [Pair(np.array(wasserstein_distance(a, b, order)), np.array(gudhi_distance(a, b, order=order, internal_p=np.inf)), 1e-12)]
