"""A network as data and options, which may be computed in parts and elsewhere."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo.flow.inputs import Columns, columns_of
from kolmo.flow.options import Pairs, translated
from kolmo.flow.rows import Rows, rows_of

Records = dict[tuple[int, int], bytes]
Solution = tuple[str, Pairs, list[str], Records]


@dataclass
class NetworkProblem:
    """Can be pickled: another process computes some targets, and `solve` takes what they found. Targets are numbers of
    columns of `values`. `options` are those of a network, by name, that are not left out."""

    options: dict[str, Any]
    values: np.ndarray
    names: list[str]
    rows: Rows = field(default_factory=Rows)
    name: str = "data"
    faults: dict[int, str] = field(default_factory=dict)
    no_variables: list[int] = field(default_factory=list)

    def data(self) -> _kolmo.Data:
        return _kolmo.Data(self.values, self.name, self.names, [], self.faults, self.no_variables, *self.rows.arguments())

    def plan(self, checkpoint: Any = None, finished: Records | None = None) -> tuple[list[int], Records]:
        """The targets to compute next, and what the checkpoint and `finished` hold. Raises what is wrong with the data or the
        options."""
        return translated(lambda: _kolmo.network_plan(self.options, self.data(), _path(checkpoint), finished or {}))

    def records(self, targets: list[int], progress: Any = None, checkpoint: Any = None, finished: Records | None = None) -> Records:
        """A step for these targets: their finished work, by target and round; -1 stands for the target's embedding. What `finished`
        holds is not computed again; if it holds all of a part of the surrogates, the next part is computed. All goes into the
        checkpoint, also without targets."""
        return translated(lambda: _kolmo.network_records(
            self.options, self.data(), targets, progress, _path(checkpoint), finished or {}))

    def solve(self, finished: Records | None = None, progress: Any = None, checkpoint: Any = None,
              files: dict[str, str] | None = None) -> Solution:
        """The JSON document, warnings, notes and all finished work; what `finished` holds is not computed again. `files` are
        written: paths of "report", "table" and "graph"."""
        return translated(lambda: _kolmo.network(
            self.options, self.data(), progress, _path(checkpoint), finished or {}, files or {}, self.command()))

    def command(self) -> str:
        """How the document names its origin."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"kolmo.TransferEntropyNetwork({given}).fit({self.name})"


def _path(checkpoint: Any) -> str:
    return os.path.abspath(os.fspath(checkpoint)) if checkpoint is not None else ""


def problem_of(options: dict[str, Any], X: Any, trials: Any, time: Any, where: Any,
               made: str = "a network") -> tuple[NetworkProblem, Columns]:
    """The data `X` with the options of a TransferEntropyNetwork, or of what else is `made` of several variables. Columns of X may say what is
    known of its rows."""
    data = columns_of(X, "X")
    of_rows = {"trials": trials, "time": time, "where": where}
    no_variables = []
    for what, given in of_rows.items():
        if isinstance(given, str):
            if given not in data.names:
                raise _kolmo.InvalidArgument(f"{what}: the data have no column {given!r}")
            of_rows[what] = X[given]
            no_variables.append(data.names.index(given))
    if time is None and data.labels is not None and data.labels.name in data.names and data.labels.are_times:
        no_variables.append(data.names.index(data.labels.name))
    check_shape(data, least=1 if options.get("measure") == "ais" else 2, made=made)
    rows = rows_of(data.values.shape[:-1], data.labels, data.trials, **of_rows)
    if data.values.ndim == 3:
        rows.trials = Rows().trials  # the extension counts them
    if time is False:
        options = {**options, "time": "none"}
    return NetworkProblem(options, np.ascontiguousarray(data.values), data.names, rows, faults=data.faults,
                          no_variables=no_variables), data


def check_shape(data: Columns, least: int = 2, made: str = "a network") -> None:
    """In words that scikit-learn's users know. What is `made` of the data, which the message names, has `least` variables or more."""
    shape = data.values.shape
    if data.single and least > 1:
        raise _kolmo.InvalidArgument(f"X: is one series; {made} has two or more. Reshape your data: time along rows, "
                                     "variables along columns")
    if shape[-1] < least:
        raise _kolmo.InvalidArgument(f"X: {shape[-1]} feature(s) (shape={shape}) while a minimum of {least} is required: {made} "
                                     f"has {'two variables' if least > 1 else 'one variable'} or more")
    if shape[-2] < 2 or shape[0] < 1:
        raise _kolmo.InvalidArgument(f"X: {shape[-2]} sample(s) (shape={shape}) while a minimum of 2 is required")
