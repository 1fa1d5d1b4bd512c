"""Images beside SciPy, scikit-image and GUDHI, spiking neurons beside Brian2."""
from __future__ import annotations

import kolmo
import numpy as np
import scipy.ndimage

from peers import Pair, peer


def image(rng, most=40):
    return rng.random(tuple(int(n) for n in rng.integers(2, most, 2)))


@peer("image_segmentation", "scipy")
def image_segmentation(rng):
    x, eight = scipy.ndimage.gaussian_filter(image(rng), 1), bool(rng.integers(2))
    level = float(np.median(x))
    got = kolmo.image_segmentation(x, np.array([level]), connectivity="eight" if eight else "four", regions=x.size)
    want, count = scipy.ndimage.label(x >= level, np.ones((3, 3)) if eight else None)
    pairs = {(int(a), int(b)) for a, b in zip(got.labels.ravel(), want.ravel(), strict=True)}
    same = len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})  # equal except for names
    sizes = np.sort(np.bincount(want.ravel())[1:])
    return [Pair(got.count, np.array(count)), Pair(np.array(same), np.array(True)), Pair(np.sort(got.areas), sizes)]


@peer("pixel_entropy", "skimage")
def pixel_entropy(rng):
    from skimage.filters.rank import entropy
    from skimage.morphology import disk
    x, radius = (image(rng) * 256).astype(np.uint8), int(rng.integers(1, 6))
    return [Pair(kolmo.pixel_entropy(x, radius=radius), entropy(x, disk(radius)), 1e-10)]


def diagrams(x, vertices):
    import gudhi
    c = gudhi.CubicalComplex(vertices=x) if vertices else gudhi.CubicalComplex(top_dimensional_cells=x)
    c.compute_persistence(min_persistence=-1.0)
    return [c.persistence_intervals_in_dimension(d) for d in (0, 1)]


def ordered(pairs):
    pairs = np.asarray(pairs, float).reshape(-1, 2)
    pairs = pairs[pairs[:, 1] > pairs[:, 0]]
    return pairs[np.lexsort(pairs.T)]


@peer("pixel_tda", "gudhi")
def pixel_tda(rng):
    sides = [256, 256] if rng.random() < 0.2 else np.exp(rng.uniform(np.log(2), np.log(257), 2)).astype(int)
    x = rng.random(sides)
    if rng.integers(2):
        x = np.round(x, 1)
    vertices = bool(rng.integers(2))
    got, want = kolmo.pixel_tda(x, cells="vertices" if vertices else "squares", capacity=x.size), diagrams(x, vertices)
    return [Pair(ordered(got.h0), ordered(want[0])), Pair(ordered(got.h1), ordered(want[1]))]


@peer("betti_curve", "gudhi")
def betti_curve(rng):
    from gudhi.representations import BettiCurve
    births = rng.random(30)
    pairs, thresholds = np.stack([births, births + rng.random(30)], axis=1), np.sort(rng.random(15) * 2)
    want = BettiCurve(predefined_grid=thresholds).fit_transform([pairs])[0].astype(np.int64)
    return [Pair(kolmo.betti_curve(pairs, thresholds), want)]


@peer("persistence_image", "scipy")
def persistence_image(rng):
    from scipy.stats import norm
    births = rng.random(12)
    pairs, sigma = np.stack([births, births + rng.random(12)], axis=1), float(rng.uniform(0.05, 0.3))
    x, y = (np.arange(20) + 0.5) / 20, (np.arange(20) + 0.5) / 20
    want = sum((d - b) * norm.pdf(y, d - b, sigma)[:, None] * norm.pdf(x, b, sigma)[None] for b, d in pairs)
    return [Pair(kolmo.persistence_image(pairs, sigma=sigma), want, 1e-11)]


def brian():
    import brian2
    brian2.prefs.codegen.target = "numpy"
    brian2.BrianLogger.suppress_name("base")
    return brian2


@peer("leaky_integrate_fire", "brian2")
def leaky_integrate_fire(rng):
    b = brian()
    steps, n, dt, tau, waits = 60, 5, 1e-4, float(rng.uniform(2e-3, 2e-2)), int(rng.integers(0, 9))
    rest, reset, resistance = float(rng.uniform(-0.3, 0.3)), float(rng.uniform(-0.5, 0.5)), float(rng.uniform(0.5, 2))
    current, start = rng.uniform(0, 60, (steps, n)), rng.uniform(0, 0.9, n)
    drive = b.TimedArray(current, dt=dt * b.second)
    group = b.NeuronGroup(n, "dv/dt = (-(v - rest) + resistance * drive(t, i)) / (tau_m*second) : 1 (unless refractory)", threshold="v > 1",
                          reset="v = reset_to", refractory=waits * dt * b.second, method="euler", dt=dt * b.second,
                          namespace={"drive": drive, "tau_m": tau, "rest": rest, "reset_to": reset, "resistance": resistance})
    group.v = start
    spikes = b.SpikeMonitor(group)
    b.Network(group, spikes).run(steps * dt * b.second)
    want = np.zeros((steps, n), bool)
    want[np.round(spikes.t / b.second / dt).astype(int), np.asarray(spikes.i)] = True
    potential, waiting, cut = start.copy(), np.zeros(n, np.int32), int(rng.integers(1, steps))
    got = [kolmo.leaky_integrate_fire(part, potential, waiting, dt=dt, tau=tau, resistance=resistance, rest=rest, reset=reset, refractory=waits * dt)
           for part in (current[:cut], current[cut:])]
    return [Pair(np.concatenate(got), want), Pair(potential, np.asarray(group.v), 1e-10)]


@peer("stdp_update", "brian2")
def stdp_update(rng):
    b = brian()
    steps, m, n, dt = 40, 3, 4, 1e-4
    pre, post, start = rng.random((steps, m)) < 0.15, rng.random((steps, n)) < 0.15, rng.random((m, n))
    when = [[np.nonzero(s) for s in (pre, post)][k] for k in (0, 1)]
    groups = [b.SpikeGeneratorGroup(size, w[1], w[0] * dt * b.second, dt=dt * b.second) for size, w in zip((m, n), when, strict=True)]
    model = """w : 1
    dx/dt = -x / (20*ms) : 1 (event-driven)
    dy/dt = -y / (20*ms) : 1 (event-driven)"""
    s = b.Synapses(*groups, model, on_pre="x += 1; w = clip(w - 0.0105 * y, 0, 1)", on_post="y += 1; w = clip(w + 0.01 * x, 0, 1)",
                   dt=dt * b.second)
    s.connect()
    s.w = start.ravel()
    b.Network(*groups, s).run(steps * dt * b.second)
    weight, traces = start.copy(), [np.zeros(m), np.zeros(n)]
    for i in range(steps):
        kolmo.stdp_update(pre[i], post[i], weight, *traces)
    want = np.empty((m, n))
    want[np.asarray(s.i), np.asarray(s.j)] = np.asarray(s.w)
    return [Pair(weight, want, 1e-10)]
