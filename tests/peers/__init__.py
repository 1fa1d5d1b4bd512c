"""Operators beside other programs: for each that has a peer, random problems whose results agree."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Problem = Callable[[np.random.Generator], "list[Pair]"]


@dataclass(frozen=True)
class Pair:
    """A result and that of the peer. They agree if |got - want| <= tolerance (|want| + scale) everywhere."""
    got: Any
    want: Any
    tolerance: float = 0.0
    scale: float = 1.0

    def excess(self) -> float:
        """The largest error over the tolerance; 0 for results that are equal, infinite for other shapes."""
        got, want = np.asarray(self.got), np.asarray(self.want)
        if got.shape != want.shape:
            return np.inf
        if got.dtype.kind in "biu" and want.dtype.kind in "biu":
            return 0.0 if np.array_equal(got, want) else np.inf
        error = np.abs(got.astype(complex) - want)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        limit = self.tolerance * (np.abs(want) + self.scale)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(same, 0.0, np.where(limit > 0, error / limit, np.inf))
        return float(np.max(share, initial=0.0))


@dataclass(frozen=True)
class Peer:
    operator: str
    library: str
    problem: Problem
    problems: int


PEERS: list[Peer] = []


def peer(operator: str, library: str, problems: int = 50) -> Callable[[Problem], Problem]:
    """Registers a problem: a function that draws one, and returns results of the operator beside those of the library."""
    def add(problem: Problem) -> Problem:
        PEERS.append(Peer(operator, library, problem, problems))
        return problem
    return add
