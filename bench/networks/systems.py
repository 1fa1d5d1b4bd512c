"""Systems whose links are known: `make(name, rows, seed)` returns the series, (rows, variables), and the links as
{(source, target): lag}. A link is one of variables that are seen."""
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

MAX_LAG, BEFORE = 3, 500  # the longest lag that methods look at; rows that are dropped at the start
Links = dict[tuple[int, int], int]
System = tuple[np.ndarray, Links]


def linear(noise: np.ndarray, own, couplings: dict[tuple[int, int, int], float]) -> np.ndarray:
    """x_i(t) = own_i x_i(t - 1) + sum over (j, i, lag) of coefficient * x_j(t - lag) + noise."""
    x = noise.copy()
    for t in range(MAX_LAG, len(x)):
        x[t] += own * x[t - 1]
        for (source, target, lag), c in couplings.items():
            x[t, target] += c * x[t - lag, source]
    return x


def independent(phi: float, variables: int, rows: int, random: np.random.Generator) -> System:
    return linear(random.normal(size=(rows + BEFORE, variables)), phi, {}), {}


def chain(own: float, rows: int, random: np.random.Generator) -> System:
    links = {(i, i + 1): 1 for i in range(4)}
    return linear(random.normal(size=(rows + BEFORE, 5)), own, {(s, t, lag): 0.4 for (s, t), lag in links.items()}), links


def driver(hidden: bool, rows: int, random: np.random.Generator) -> System:
    """x0 drives three others at lags 1, 2 and 3; hidden, it is not among the series and there is no link."""
    links = {(0, i): i for i in (1, 2, 3)}
    own = np.array([0.5, 0.3, 0.3, 0.3])
    x = linear(random.normal(size=(rows + BEFORE, 4)), own, {(s, t, lag): 0.5 for (s, t), lag in links.items()})
    return (x[:, 1:], {}) if hidden else (x, links)


def henon(rows: int, random: np.random.Generator) -> System:
    """Five maps in a row, each driven by the one before it (Kugiumtzis 2013)."""
    x = np.zeros((rows + BEFORE, 5))
    x[:2] = random.uniform(-0.1, 0.1, size=(2, 5))
    for t in range(2, len(x)):
        mean = np.concatenate([x[t - 1, :1], 0.3 * x[t - 1, :-1] + 0.7 * x[t - 1, 1:]])
        x[t] = 1.4 - mean**2 + 0.3 * x[t - 2]
    return x, {(i, i + 1): 1 for i in range(4)}


def logistic(rows: int, random: np.random.Generator) -> System:
    """Five noisy maps: 0 drives 1 and 2, both drive 3, and 3 drives 4."""
    sources = {1: [0], 2: [0], 3: [1, 2], 4: [3]}
    x = random.uniform(size=(rows + BEFORE, 5))
    for t in range(1, len(x)):
        at = x[t - 1].copy()
        for target, of in sources.items():
            at[target] = 0.5 * x[t - 1, target] + 0.5 * x[t - 1, of].mean()
        x[t] = (4 * at * (1 - at) + random.normal(0, 0.1, 5)) % 1
    return x, {(s, t): 1 for t, of in sources.items() for s in of}


def regression(variables: int, rows: int, random: np.random.Generator) -> System:
    """A vector autoregression: each variable has two sources, at lags 1 to 3, with coefficients of .25 to .45 of either sign."""
    while True:
        couplings = {}
        for target in range(variables):
            for source in random.choice([v for v in range(variables) if v != target], 2, replace=False):
                couplings[int(source), target, int(random.integers(1, 4))] = random.uniform(0.25, 0.45) * random.choice((-1, 1))
        companion = np.eye(3 * variables, k=-variables)
        for (source, target, lag), c in couplings.items():
            companion[target, (lag - 1) * variables + source] = c
        companion[:variables, :variables] += 0.2 * np.eye(variables)
        if np.abs(np.linalg.eigvals(companion)).max() < 0.95:
            break
    x = linear(random.normal(size=(rows + BEFORE, variables)), 0.2, couplings)
    return x, {(s, t): lag for s, t, lag in couplings}


SYSTEMS: dict[str, Callable[[int, np.random.Generator], System]] = {
    "chain": lambda n, r: chain(0.5, n, r), "chain, own .9": lambda n, r: chain(0.9, n, r), "driver": lambda n, r: driver(False, n, r),
    "hidden driver": lambda n, r: driver(True, n, r), "henon": henon, "logistic": logistic,
    **{f"var {v}": lambda n, r, v=v: regression(v, n, r) for v in (10, 30, 100)},
    **{f"AR {phi:g}": lambda n, r, phi=phi: independent(phi, 5, n, r) for phi in (0, 0.5, 0.9, 0.95, 0.98)}}


def make(name: str, rows: int, seed: int) -> System:
    x, links = SYSTEMS[name](rows, np.random.default_rng([seed, rows, *name.encode()]))
    return x[-rows:], links


def given(folder: Path, name: str) -> tuple[Path, Links, dict]:
    """A system of the data that the tests share, with what IDTxl and PCMCI selected."""
    truth = json.loads((folder / f"{name}_s1.truth.json").read_text(encoding="utf-8"))
    peers = json.loads((folder / f"{name}_s1.peers.json").read_text(encoding="utf-8"))
    return folder / f"{name}_s1.csv", {(k["source"], k["target"]): k["lag"] for k in truth["links"]}, peers
