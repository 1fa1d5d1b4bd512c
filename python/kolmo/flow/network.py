"""Networks of transfer entropy, with the habits of scikit-learn."""
from __future__ import annotations

import copy
import inspect
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from kolmo import _kolmo
from kolmo.flow.inputs import Columns
from kolmo.flow.markup import network_html
from kolmo.flow.options import Pairs, in_python_terms, option_list, pairs_in_python_terms, warn
from kolmo.flow.problem import NetworkProblem, Records, problem_of
from kolmo.flow.progress import listener

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped,unused-ignore]
    import pandas  # type: ignore[import-untyped,unused-ignore]
    from matplotlib.axes import Axes

EDGE_COLUMNS = ("source", "target", "lag", "lag_time", "value", "bias_corrected", "z", "surrogate_mean", "surrogate_std",
                "surrogate_q95", "p_value", "p_at_floor", "p_adjusted", "significant", "surrogates")


class TransferEntropyNetwork:
    r"""Who drives whom: transfer entropy between all ordered pairs of variables.

    A link's statistic is the largest I(source past at lag l; target next | target past, given) over the lags 1 to
    `max_lag`. The same maximum is taken in every surrogate, so that p needs no correction for the choice of the lag; the
    p-values of all pairs are corrected together.

    Parameters
    ----------
    max_lag : int
    surrogates : int
        0: values only, and no link is claimed.
    k : int
        Nearest neighbours.
    random_state : int, numpy.random.Generator or RandomState, default 0
        Seed of surrogates and noise.
    estimator : {"ksg", "gaussian", "discrete", "ordinal"}
        Without another number of surrogates than the default, "gaussian" tests analytically.
    embedding : {"ais", "ragwitz", "given"}
        How each target's history and tau are chosen, up to `max_history` and `max_tau`; "given" takes `history` and `tau`.
    source_history, source_tau : int
        Values of the source's past, and rows between them.
    given : list, dict or str
        Variables in the condition with their lags: ``{"a": 1, "b": (1, 3)}``, ``["a", ("b", 2)]`` or ``"a:1,b:1-3"``.
    columns, exclude : list of names or numbers
        Variables of the network, and variables left out; default all.
    surrogate_type : {"circular", "permute", "block", "trials", "phase", "iaaft"}
    alpha, correction
        Level of significance, and "bh" (Benjamini and Hochberg), "bonferroni" or "none".
    strict : bool
        A warning about the data or the result is an error.
    checkpoint : path
        Finished work is kept in this file, from which the same call goes on after it was interrupted.
    progress : bool or callable
        A bar of tqdm, by default if standard error is a terminal; or a function of the work done and its total.
    dt, dt_unit, groups
        Time between rows, its unit, and a CSV file variable,group, for figures.
    others
        As in ``kolmo network --help``; None is the default there.

    Attributes
    ----------
    edges_ : pandas.DataFrame
        All ordered pairs: source, target, lag, value, bias_corrected, z, surrogate_mean, surrogate_std, surrogate_q95,
        p_value, p_at_floor, p_adjusted, significant, surrogates, units.
    matrix_ : numpy.ndarray, (sources, targets)
        Values by source (row) and target (column), in the order of `variables_`; NaN on the diagonal.
    significant_ : numpy.ndarray of bool, (sources, targets)
    targets_ : pandas.DataFrame
        target, history, tau, samples, active_information_storage.
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

    def __init__(self, max_lag: int = 5, surrogates: int = 1000, k: int = 4, *, random_state: Any = None,
                 estimator: str | None = None, embedding: str | None = None, max_history: int | None = None,
                 max_tau: int | None = None, history: int | None = None, tau: int | None = None,
                 source_history: int | None = None, source_tau: int | None = None, given: Any = None, columns: Any = None,
                 exclude: Any = None, surrogate_type: str | None = None, min_shift: int | None = None,
                 block_length: int | None = None, p_value: str | None = None, alpha: float | None = None,
                 correction: str | None = None, algorithm: str | None = None, theiler: int | None = None,
                 theiler_scope: str | None = None, transform: str | None = None, standardize: str | None = None,
                 noise: float | None = None, units: str | None = None, precision: str | None = None,
                 bias: str | None = None, order: int | None = None, order_delay: int | None = None,
                 rows: str | None = None, dt: float | None = None, dt_unit: str | None = None, groups: Any = None,
                 strict: bool = False, checkpoint: Any = None, device: str | None = None, threads: int | None = None,
                 progress: Any = None) -> None:
        values = locals()
        self.set_params(**{name: values[name] for name in _PARAMETERS})

    def fit(self, X: Any, y: Any = None, *, trials: Any = None, client: Any = None) -> TransferEntropyNetwork:
        """Infers the network.

        Parameters
        ----------
        X : array_like or table, (rows, variables) or (trials, rows, variables)
            Time along rows; missing values are NaN. DataFrames of pandas and polars, xarray (a dimension "time" comes
            first, names are the coordinates of the last dimension), NumPy arrays, tensors on the CPU.
        y : None
            Not used.
        trials : array_like, (rows,), optional
            The trial that each row belongs to; no embedding spans two.
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
        parameters = self.get_params()
        problem, data = problem_of(parameters, X, trials)
        with listener(parameters["progress"], "network") as report:
            finished = {} if client is None else _on_cluster(problem, client, parameters["checkpoint"], report)
            rest = None if finished else report
            return self._fitted(problem, data, *problem.solve(finished, rest, parameters["checkpoint"]))

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
        columns = [c for c in EDGE_COLUMNS if c != "lag_time" or "time_step" in self._document]
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

    def plot(self, kind: str = "network", ax: Axes | None = None, **options: Any) -> Axes:
        """Draws the network, its matrix, or values by lag; see `kolmo.flow.plots`. Returns the axes."""
        from kolmo.flow import plots

        self._result()
        return plots.draw(self, kind, ax, **options)

    def report(self, path: Any) -> None:
        """Writes the page that ``kolmo network --report`` writes."""
        self._write("report", path)

    def export(self, path: Any) -> None:
        """Writes .csv (one row for each pair), .graphml, .dot (significant links) or .json, as the command does."""
        suffix = os.path.splitext(os.fspath(path))[1]
        if suffix == ".json":
            text = self._write(None, path)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        elif suffix in (".csv", ".graphml", ".dot"):
            self._write("table" if suffix == ".csv" else "graph", path)
        else:
            raise _kolmo.InvalidArgument(f"path: {os.fspath(path)!r} ends in none of .csv, .graphml, .dot and .json")

    def _write(self, option: str | None, path: Any) -> str:
        """All work is finished: only the document is made anew, with the option of the command that writes this file."""
        self._result()
        more = [] if option is None else option_list("network", "TransferEntropyNetwork", {option: path})
        return self._work.solve(self._records, more=more)[0]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor, by name."""
        return {name: getattr(self, name, None) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> TransferEntropyNetwork:
        """Sets parameters of the constructor."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {_PARAMETERS!r}.")
            if name == "transform" and value is None:
                self.__dict__.pop(name, None)  # scikit-learn takes what has this attribute for a transformer
            else:
                setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # type: ignore[import-untyped,unused-ignore]

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags(allow_nan=True))

    def __repr__(self) -> str:
        usual = {name: p.default for name, p in _SIGNATURE.parameters.items()}
        given = [f"{n}={v!r}" for n, v in self.get_params().items() if v is not usual[n] and v != usual[n]]
        return f"{type(self).__name__}({', '.join(given)})"

    def _repr_html_(self) -> str | None:
        return network_html(self) if self.__sklearn_is_fitted__() else None


_SIGNATURE = inspect.signature(TransferEntropyNetwork.__init__)
_PARAMETERS = [name for name in _SIGNATURE.parameters if name != "self"]


def _on_cluster(problem: NetworkProblem, client: Any, checkpoint: Any, report: Any) -> Records:
    from kolmo.distributed import network_records

    targets, finished = problem.plan(checkpoint)
    for done, (target, records) in enumerate(network_records(problem, client, targets), 1):
        finished |= records
        if checkpoint is not None:
            problem.records([target], checkpoint=checkpoint, finished=records)
        if report:
            report(done, len(targets))
    return finished


def _not_fitted(message: str) -> Exception:
    try:
        from sklearn.exceptions import NotFittedError  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        NotFittedError = type("NotFittedError", (ValueError, AttributeError), {})
    error: Exception = NotFittedError(message)
    return error
