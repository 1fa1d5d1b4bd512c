"""Networks of transfer entropy, with the habits of scikit-learn."""
from __future__ import annotations

import copy
import json
import os
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

from kolmo import _kolmo
from kolmo._analyses import NETWORK, NetworkParameters
from kolmo.flow.inputs import Columns
from kolmo.flow.markup import network_html
from kolmo.flow.options import Pairs, in_python_terms, pairs_in_python_terms, warn
from kolmo.flow.problem import NetworkProblem, Records, problem_of
from kolmo.flow.progress import listener

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped,unused-ignore]
    import pandas  # type: ignore[import-untyped,unused-ignore]
    from matplotlib.axes import Axes

EDGE_COLUMNS = ("source", "target", "lag", "lags", "lag_time", "value", "bias_corrected", "z", "surrogate_mean", "surrogate_std",
                "surrogate_q95", "p_value", "p_at_floor", "p_adjusted", "significant", "surrogates")


class TransferEntropyNetwork(NetworkParameters):
    r"""Who drives whom: transfer entropy between all ordered pairs of variables.

    A link's statistic is the largest I(source past at lag l; target next | target past, given) over the lags 1 to
    `max_lag`. The same maximum is taken in every surrogate, so that p needs no correction for the choice of the lag; the
    p-values of all pairs are corrected together.

    With `method` "multivariate" the values in the past that together tell a target's next value are chosen one after another,
    first of its own past and then of all sources, each by its information given those before it. So neither a chain nor a
    common driver that is in the data gives links that are not there. "bivariate" does the same for each source by itself.

    Attributes
    ----------
    edges_ : pandas.DataFrame
        All ordered pairs: source, target, lag, value, bias_corrected, z, surrogate_mean, surrogate_std, surrogate_q95,
        p_value, p_at_floor, p_adjusted, significant, surrogates, units; of other methods than "pairwise" also lags, those that
        were chosen.
    matrix_ : numpy.ndarray, (sources, targets)
        Values by source (row) and target (column), in the order of `variables_`; NaN on the diagonal.
    significant_ : numpy.ndarray of bool, (sources, targets)
    targets_ : pandas.DataFrame
        target, history, tau, samples, active_information_storage; of other methods than "pairwise" own_past, sources and
        removed (lists of what was chosen, in order, and of what a later test removed), joint_value, joint_p_value and
        first_p_value instead of history and tau; of `measure` "ais" also p_value and p_at_floor.
    warnings_ : list of (name, text)
        Also issued as `DataWarning`.
    notes_ : list of str
    variables_ : list of str
    units_ : str
    n_features_in_, feature_names_in_
        As in scikit-learn; names only if all columns have some.

    Notes
    -----
    Schreiber, Phys. Rev. Lett. 85, 461 (2000); Kraskov et al., Phys. Rev. E 69, 066138 (2004); Frenzel, Pompe, Phys. Rev.
    Lett. 99, 204101 (2007); Novelli et al., Netw. Neurosci. 3, 827 (2019).
    """

    def fit(self, X: Any, y: Any = None, *, trials: Any = None, time: Any = None, where: Any = None,
            client: Any = None) -> TransferEntropyNetwork:
        """Infers the network.

        Parameters
        ----------
        X : array_like or table, (rows, variables) or (trials, rows, variables)
            Time along rows; missing values are NaN. Also a list of tables of the same columns, which are trials. DataFrames of pandas and polars, xarray (a dimension "time" comes
            first, names are the coordinates of the last dimension), NumPy arrays, tensors on the CPU, Epochs and
            Raw of MNE.
        y : None
            Not used.
        trials : array_like, (rows,), or the name of a column, optional
            The trial that each row belongs to, as numbers or text; no embedding spans two.
        time : array_like, (rows,), or the name of a column, or False, optional
            When each row was measured, as dates or numbers, oldest first. Absent rows end an observation set, as missing values
            do, and the time between two rows is told with the lags. By default the index or coordinate of X, or its only
            column of dates. False: every row is one step.
        where : array_like of bool, (rows,), or the name of a column, optional
            The rows that count as a target's present; its past may reach into other rows.
        client : distributed.Client, optional
            Targets are computed by the workers of this cluster; see `kolmo.distributed`. The result is the same.

        Returns
        -------
        self

        Raises
        ------
        InvalidArgument
            Naming the argument, or the column and row. KeyboardInterrupt leaves `checkpoint` ready to go on from.
        """
        problem, data = problem_of(self.request(), X, trials, time, where)
        with listener(self.progress, "network") as report:
            finished = {} if client is None else _on_cluster(problem, client, self.checkpoint, report)
            rest = None if finished else report
            return self._fitted(problem, data, *problem.solve(finished, rest, self.checkpoint))

    def _fitted(self, problem: NetworkProblem, data: Columns, text: str, found: Pairs, notes: list[str],
                records: Records) -> TransferEntropyNetwork:
        self.n_features_in_ = data.width
        if data.names:
            self.feature_names_in_ = np.asarray(data.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._document, self._work, self._records = json.loads(text), problem, records
        self.warnings_, self.notes_ = pairs_in_python_terms(found), [in_python_terms(note) for note in notes]
        warn(self.warnings_)
        return self

    def _result(self) -> dict[str, Any]:
        if "_document" not in self.__dict__:
            raise _not_fitted(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                              "arguments before using this estimator.")
        return dict(self._document)

    def __sklearn_is_fitted__(self) -> bool:
        return "_document" in self.__dict__

    def to_dict(self) -> dict[str, Any]:
        """The document that ``kolmo network --out`` writes."""
        return copy.deepcopy(self._result())

    @property
    def variables_(self) -> list[str]:
        return list(self._result()["variables"])

    @property
    def units_(self) -> str:
        return str(self._result()["units"])

    @property
    def edges_(self) -> pandas.DataFrame:
        import pandas

        links = self._result()["links"]
        there = {"lag_time": "time_step" in self._document, "lags": self._document["options"]["method"] != "pairwise"}
        columns = [c for c in EDGE_COLUMNS if there.get(c, True)]
        table = pandas.DataFrame({c: [link[c] for link in links] for c in columns})
        for c in table.columns.intersection(["value", "bias_corrected", "z", "surrogate_mean", "surrogate_std",
                                             "surrogate_q95", "p_value", "p_adjusted"]):
            table[c] = table[c].astype(float)
        return table.assign(units=self.units_)

    @property
    def targets_(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame(self._result()["targets"]).drop(columns="target_index")

    def _grid(self, key: str, fill: Any, dtype: Any) -> np.ndarray:
        n = len(self._result()["variables"])
        grid = np.full((n, n), fill, dtype)
        for link in self._document["links"]:
            value = link[key]
            grid[link["source_index"], link["target_index"]] = fill if value is None else value
        return grid

    @property
    def matrix_(self) -> np.ndarray:
        return self._grid("value", np.nan, float)

    @property
    def significant_(self) -> np.ndarray:
        return self._grid("significant", False, bool)

    def to_networkx(self, significant: bool = True) -> networkx.DiGraph:
        """A networkx.DiGraph of all variables and of the significant links, or of all; edges have the columns of `edges_`."""
        import networkx

        graph = networkx.DiGraph(units=self.units_)
        graph.add_nodes_from(self.variables_)
        for edge in self.edges_.drop(columns="units").to_dict("records"):
            if edge["significant"] or not significant:
                graph.add_edge(edge.pop("source"), edge.pop("target"), **edge)
        return graph

    def plot(self, kind: str | None = None, ax: Axes | None = None, **options: Any) -> Axes:
        """Draws the "network", its links in "time", its "matrix", or values by lag ("profiles"); see `kolmo.flow.plots`. `kind` left out is
        "network"; of `measure` "ais", which has no links, "time". Returns the axes."""
        from kolmo.flow import plots

        return plots.draw(self._result(), kind, ax, **options)

    def report(self, path: Any) -> None:
        """Writes the page that ``kolmo network --report`` writes, which is HTML."""
        if os.path.splitext(os.fspath(path))[1].lower() not in ("", ".html", ".htm"):
            raise _kolmo.InvalidArgument(f"path: {os.fspath(path)!r} does not end in .html; the report is HTML, which a browser "
                                         "prints to PDF")
        self._write("report", path)

    def export(self, path: Any) -> None:
        """Writes .csv (one row for each pair; of `measure` "ais" for each variable), .graphml, .dot (significant links) or .json, as
        the command does."""
        suffix = os.path.splitext(os.fspath(path))[1]
        kinds = {".json": "document", ".csv": "table", ".graphml": "graph", ".dot": "graph"}
        if suffix in kinds:
            self._write(kinds[suffix], path)
        else:
            raise _kolmo.InvalidArgument(f"path: {os.fspath(path)!r} ends in none of .csv, .graphml, .dot and .json")

    def _write(self, kind: str, path: Any) -> str:
        """Makes the document anew, with a file of this kind: all work is finished."""
        self._result()
        return self._work.solve(self._records, files={kind: os.path.abspath(os.fspath(path))})[0]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # type: ignore[import-untyped,unused-ignore]

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags(allow_nan=True))

    def _repr_html_(self) -> str | None:
        return network_html(self._document, self.warnings_) if self.__sklearn_is_fitted__() else None


_about = (TransferEntropyNetwork.__doc__ or "").replace("    Attributes\n", indent(NETWORK.text(), "    ") + "\n\n    Attributes\n")
TransferEntropyNetwork.__doc__ = _about


class MultivariateNetwork(TransferEntropyNetwork):
    """`TransferEntropyNetwork` with ``method="multivariate"``: chooses for each target the values in the past that together tell its
    next value."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"method": "multivariate", **options})


def _on_cluster(problem: NetworkProblem, client: Any, checkpoint: Any, report: Any) -> Records:
    from kolmo.distributed import network_records

    targets, finished = problem.plan(checkpoint)
    seen: set[int] = set()
    for target, records in network_records(problem, client, targets, finished):
        finished |= records
        if checkpoint is not None:
            problem.records([], checkpoint=checkpoint, finished=records)
        if report and target not in seen:
            seen.add(target)
            report(len(seen), len(targets))
    return finished


def _not_fitted(message: str) -> Exception:
    try:
        from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        NotFittedError = type("NotFittedError", (ValueError, AttributeError), {})
    error: Exception = NotFittedError(message)
    return error
