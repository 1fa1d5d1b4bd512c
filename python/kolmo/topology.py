"""The shape of dynamics: persistence of point clouds and of windows of a series, and distances of its diagrams.

Options, defaults, checks and results are those of ``kolmo topology``. A diagram is an array (n, 2) of births and deaths in that order; a
class that never dies has an infinite death."""
from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo.flow.inputs import columns_of, floats
from kolmo.flow.options import translated, type_text

Diagram = np.ndarray[Any, np.dtype[np.float64]]
WINDOWS = ("window", "step", "compare", "order")  # options of windows only


@dataclass(frozen=True)
class Persistence:
    """The persistence of a point cloud. ``h0``: components; ``h1``: loops; ``threshold``: the scale at which the filtration ended;
    ``points``: how many there were; ``begin`` and ``end``: the rows that they were made of."""
    h0: Diagram
    h1: Diagram
    threshold: float
    points: int
    begin: int
    end: int

    @property
    def longest(self) -> tuple[float, float]:
        """Birth and death of the loop that persists longest; (0, 0) if there is none."""
        if not len(self.h1):
            return 0.0, 0.0
        birth, death = self.h1[np.argmax(self.h1[:, 1] - self.h1[:, 0])]
        return float(birth), float(death)

    def __repr__(self) -> str:
        return f"<persistence of {self.points} points: {len(self.h0)} components, {len(self.h1)} loops up to scale {self.threshold:.4g}>"


@dataclass(frozen=True)
class Windows:
    """The persistence of each window of a series, as a sequence of :class:`Persistence`. ``begin`` and ``end``: rows; ``longest``: the
    persistence of the loop that persists longest; ``distance``: of the loops from those of the window before, NaN for the first."""
    windows: tuple[Persistence, ...]
    distance: Diagram

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, i: int) -> Persistence:
        return self.windows[i]

    def __iter__(self) -> Iterator[Persistence]:
        return iter(self.windows)

    @property
    def begin(self) -> np.ndarray[Any, Any]:
        return np.array([w.begin for w in self.windows])

    @property
    def end(self) -> np.ndarray[Any, Any]:
        return np.array([w.end for w in self.windows])

    @property
    def longest(self) -> Diagram:
        return np.array([w.longest[1] - w.longest[0] for w in self.windows])

    def __repr__(self) -> str:
        return f"<persistence of {len(self)} windows of {self.windows[0].end - self.windows[0].begin} rows>"


@functools.cache
def described() -> dict[str, Any]:
    about: dict[str, Any] = json.loads(_kolmo.describe_topology())
    return about


def _options(*, windows: bool) -> list[dict[str, Any]]:
    return [o for o in described()["options"] if not o["for_files"] and (windows or o["name"] not in WINDOWS) and not (windows and o["name"] == "distances")]


def _windows(name: str, data: Any, options: dict[str, Any], progress: Callable[[float, float], Any] | None, *, windows: bool) -> Windows:
    known = [o["name"] for o in _options(windows=windows)]
    for option in options.keys() - set(known):
        raise TypeError(f"{name}() got an unexpected option {option!r}; there are {', '.join(known)}")
    given = columns_of(data, f"{name}: data")
    if given.values.ndim != 2 or given.trials is not None:
        raise _kolmo.InvalidArgument(f"{name}: data of {given.values.ndim if given.trials is None else 3} axes; they are (rows,) or (rows, columns)")
    for fault in given.faults.values():
        raise _kolmo.InvalidArgument(fault)
    values = np.ascontiguousarray(given.values if given.values.size else np.empty((0, 1)))
    options = {n: v.item() if isinstance(v, np.generic) else v for n, v in options.items() if v is not None}
    found = translated(lambda: _kolmo.topology(values, options, name, progress))
    windows_found = [Persistence(_intervals(h0), _intervals(h1), threshold, points, begin, end) for begin, end, points, threshold, h0, h1, _ in found]
    return Windows(tuple(windows_found), np.array([w[-1] for w in found]))


def _intervals(numbers: bytes) -> Diagram:
    return np.frombuffer(numbers).reshape(-1, 2).copy()


def rips_persistence(points: Any, *, progress: Callable[[float, float], Any] | None = None, **options: Any) -> Persistence:
    return _windows("rips_persistence", points, options, progress, windows=False)[0]


def persistence_windows(series: Any, window: int, *, progress: Callable[[float, float], Any] | None = None, **options: Any) -> Windows:
    return _windows("persistence_windows", series, {"window": window, **options}, progress, windows=True)


def _diagram(name: str, which: str, diagram: Any) -> Diagram:
    values = floats(diagram, f"{name}: {which}")
    if values.size == 0:
        return np.empty((0, 2))
    if values.ndim != 2 or values.shape[1] != 2:
        raise _kolmo.InvalidArgument(f"{name}: {which} has shape {values.shape}, but a diagram is (n, 2): births and deaths")
    return np.ascontiguousarray(values)


def bottleneck_distance(a: Any, b: Any) -> float:
    """Returns the largest cost of the matching of two diagrams for which it is smallest, exactly.

    Intervals are matched with those of the other diagram, at the larger of the differences of birth and death, or with the diagonal, at
    half their persistence. Intervals that never die are matched with each other; if their numbers differ, the distance is infinite.

    Parameters
    ----------
    a, b : array_like (n, 2)
        births and deaths

    Raises
    ------
    InvalidArgument
        for NaN, and a death before its birth

    Notes
    -----
    Kerber, Morozov, Nigmetov, ACM J. Exp. Algorithmics 22 (2017)."""
    return float(_kolmo.bottleneck_distance(_diagram("bottleneck_distance", "a", a), _diagram("bottleneck_distance", "b", b)))


def wasserstein_distance(a: Any, b: Any, order: float = 1.0) -> float:
    """Returns the smallest (sum of cost^order)^(1/order) of a matching of two diagrams, with the costs of :func:`bottleneck_distance`.

    Parameters
    ----------
    a, b : array_like (n, 2)
        births and deaths
    order : float, 1 or more and finite

    Raises
    ------
    InvalidArgument
        for NaN, a death before its birth, and another order

    Notes
    -----
    Time grows as n^2 m for n <= m intervals, memory as 8 n m bytes. Jonker, Volgenant, Computing 38, 325 (1987)."""
    return float(_kolmo.wasserstein_distance(_diagram("wasserstein_distance", "a", a), _diagram("wasserstein_distance", "b", b), float(order)))


def _document(function: Any, first: list[Parameter], data: list[str], returns: str, *, windows: bool) -> None:
    options = [o for o in _options(windows=windows) if o["name"] not in {p.name for p in first}]
    by_name = Parameter.KEYWORD_ONLY
    function.__signature__ = Signature([*first, *(Parameter(o["name"], by_name, default=o["default"]) for o in options),
                                        Parameter("progress", by_name, default=None)])
    about = described()
    lines = [" ".join(about["about"].split()), "", "Parameters", "----------", *data]
    for o in options:
        lines += [f"{o['name']} : {type_text(o)}", f"    {o['help']}" + (f"; if None: {o['if_left_out']}" if "if_left_out" in o else "")]
    lines += ["progress : callable, optional", "    is called as progress(done, total) while the work goes on", "", "Returns", "-------", returns, "",
              "Raises", "------", "InvalidArgument", "    for values that are missing or infinite, naming the row; a matrix that is no matrix of distances",
              "OutOfMemory", "    for more points than this machine has memory for", "", "Notes", "-----", about["source"] + "."]
    function.__doc__ = "\n".join(lines)


_EITHER = Parameter.POSITIONAL_OR_KEYWORD
_document(rips_persistence, [Parameter("points", _EITHER)],
          ["points : array_like (rows,) or (rows, columns)", "    points as rows, a series with `dimension`, or distances"], "Persistence", windows=False)
_document(persistence_windows, [Parameter("series", _EITHER), Parameter("window", _EITHER)],
          ["series : array_like (rows,) or (rows, columns)", "    one or several series, in order of time", "window : int", "    rows of a window"], "Windows",
          windows=True)
