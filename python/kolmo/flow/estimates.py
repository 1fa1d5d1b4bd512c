"""Estimates of information between given series."""
from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any

from kolmo import _kolmo
from kolmo.flow.inputs import Roles, join
from kolmo.flow.markup import estimate_html
from kolmo.flow.options import in_python_terms, lags_text, option_list, pairs_in_python_terms, translated, warn
from kolmo.flow.progress import listener


@dataclass(frozen=True, eq=False)
class Estimate(float):
    """The result of an estimate. It is a float, its value, and compares and computes as one.

    Attributes
    ----------
    value : float
        In ``units``.
    units : str
        "nats" or "bits".
    p_value : float
        NaN if there was no test. With surrogates (1 + #{surrogate >= value}) / (1 + surrogates), unless
        ``p_value="plain"``.
    p_at_floor : bool
        No surrogate reached the value: a smaller p needs more surrogates.
    test : str
        "surrogates", "F", "chi-square" or "".
    surrogates : int
        Different ones.
    surrogate_mean, surrogate_std : float
        NaN without surrogates.
    samples : int
        Embedded rows that the estimate used.
    embedding : dict
        Histories, steps and lags used, by name; empty where there are none.
    warnings : tuple of (name, text)
        Also issued as `DataWarning`.
    notes : tuple of str
        What else is worth knowing about the data.
    document : dict
        The JSON object that the command prints.
    """

    value: float
    measure: str = ""
    units: str = "nats"
    p_value: float = float("nan")
    p_at_floor: bool = False
    test: str = ""
    surrogates: int = 0
    surrogate_mean: float = float("nan")
    surrogate_std: float = float("nan")
    samples: int = 0
    embedding: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=(), repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    def __new__(cls, value: float, *_: Any, **__: Any) -> Estimate:
        return super().__new__(cls, value)

    @property
    def bias_corrected(self) -> float:
        """The value less the mean of its surrogates."""
        return self.value - self.surrogate_mean

    @property
    def z(self) -> float:
        """How many standard deviations of the surrogates the value is above their mean; NaN if that is 0."""
        return self.bias_corrected / self.surrogate_std if self.surrogate_std > 0 else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that ``kolmo mi --json`` and the like print."""
        return copy.deepcopy(self.document)

    def _repr_html_(self) -> str:
        return estimate_html(self)


EMBEDDING = ("embedding", "target_history", "target_tau", "source_history", "source_tau", "lag", "max_lag", "history", "tau")


def _estimate(command: str, function: str, data: Roles, roles: dict[str, str], options: dict[str, Any]) -> Estimate:
    progress = options.pop("progress", None)
    words = option_list(command, function, options) + [f"--{role}={spec}" for role, spec in roles.items()]
    with listener(progress, function) as report:
        text, found, notes, _ = translated(
            lambda: _kolmo.analyse(command, words, data.values, "data", data.names, data.trials, {}, report)
        )
    result = json.loads(text)
    found = pairs_in_python_terms(found)
    warn(found)
    numbers = {key: _number(result.get(key)) for key in ("value", "p_value", "surrogate_mean", "surrogate_std")}
    return Estimate(
        **numbers,
        measure=result["measure"],
        units=result["units"],
        p_at_floor=bool(result["p_at_floor"]),
        test=result["test"] or "",
        surrogates=result["surrogates"],
        samples=result["samples"],
        embedding={key: result[key] for key in EMBEDDING if key in result} if command in ("te", "ais") else {},
        warnings=tuple(found),
        notes=tuple(map(in_python_terms, notes)),
        document=result,
    )


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def mutual_information(
    x: Any, y: Any, given: Any = None, *, k: int | None = None, surrogates: int = 0, trials: Any = None, **options: Any
) -> Estimate:
    r"""Mutual information I(x; y), or I(x; y | given), of values at the same time.

    Parameters
    ----------
    x, y, given : array_like, (n,), (n, d) or (trials, n, d)
        Joint variables of d columns: NumPy arrays, Series and DataFrames of pandas or polars, xarray, tensors on the CPU.
        Rows with a missing value (NaN) are left out.
    k : int, default 4
        Nearest neighbours.
    surrogates : int
        Rearrangements of x for the p-value; 0: no test.
    trials : array_like, (n,)
        The trial that each row belongs to; equal labels follow one another.
    progress : bool or callable
        A bar of tqdm; by default if standard error is a terminal.
    **options
        Those of ``kolmo mi``: estimator ("ksg", "gaussian", "discrete", "ordinal"), algorithm ("ksg1", "ksg2"),
        surrogate_type, min_shift, block_length, p_value, theiler, theiler_scope, transform, standardize, noise,
        random_state, units, precision, bias, order, order_delay, rows, local, strict, device, threads.

    Returns
    -------
    Estimate
        psi(k) + psi(N) - <psi(n_x + 1) + psi(n_y + 1)> in nats, where n_x and n_y count the rows nearer than the k-th
        neighbour of the joint space in the maximum norm; with `given` psi(k) - <psi(n_xz + 1) + psi(n_yz + 1) -
        psi(n_z + 1)>.

    Raises
    ------
    InvalidArgument
        Naming the argument. Also for a warning about the data, with ``strict=True``.

    Notes
    -----
    Kraskov, Stögbauer, Grassberger, Phys. Rev. E 69, 066138 (2004); Frenzel, Pompe, Phys. Rev. Lett. 99, 204101 (2007).
    """
    data = join(trials, x=x, y=y, given=given)
    return _estimate("mi", "mutual_information", data, data.spec, dict(options, k=k, surrogates=surrogates))


def transfer_entropy(
    source: Any,
    target: Any,
    given: Any = None,
    *,
    lag: int = 1,
    history: int = 1,
    tau: int = 1,
    source_history: int = 1,
    source_tau: int = 1,
    given_lags: int | tuple[int, int] = 1,
    k: int | None = None,
    surrogates: int = 0,
    trials: Any = None,
    **options: Any,
) -> Estimate:
    r"""Transfer entropy from a source to a target, I(source past; target next | target past, given).

    Parameters
    ----------
    source, target : array_like, (n,) or (trials, n, 1)
        One series each; see `mutual_information` for what is taken.
    given : array_like, (n,), (n, d) or (trials, n, d)
        Further series in the condition.
    lag : int
        Rows from the newest value of the source to the target's next value. ``max_lag=L`` instead takes the largest value
        over the lags 1 to L; surrogates do the same.
    history, tau : int
        Values of the target's past, and rows between them. ``embedding="ais"`` or ``"ragwitz"`` chooses them, up to
        ``max_history`` and ``max_tau``.
    source_history, source_tau : int
        The same of the source.
    given_lags : int or (first, last)
        Lags of `given`, in rows before the target's next value.
    k, surrogates, trials, progress, **options
        As for `mutual_information`, and those of ``kolmo te``: max_lag, embedding, max_history, max_tau.

    Returns
    -------
    Estimate
        In nats, unless ``units="bits"``.

    Notes
    -----
    Schreiber, Phys. Rev. Lett. 85, 461 (2000); the estimator is that of `mutual_information` with a condition.
    """
    data = join(trials, source=source, target=target, given=given)
    roles = dict(data.spec)
    if given is not None:
        roles["given"] = ",".join(column + lags_text(given_lags) for column in roles["given"].split(","))
    own = dict(source_history=source_history, source_tau=source_tau, k=k, surrogates=surrogates)
    if options.get("max_lag") is None or lag != 1:
        own["lag"] = lag
    if options.get("embedding") in (None, "given") or history != 1 or tau != 1:
        own["history"], own["tau"] = history, tau
    return _estimate("te", "transfer_entropy", data, roles, dict(options, **own))


def active_information_storage(
    x: Any, *, history: int = 1, tau: int = 1, k: int | None = None, surrogates: int = 0, trials: Any = None, **options: Any
) -> Estimate:
    r"""Active information storage I(past; next): what a series' own past says about its next value.

    Parameters
    ----------
    x : array_like, (n,) or (trials, n, 1)
    history, tau : int
        Values of the past, and rows between them.
    k, surrogates, trials, progress, **options
        As for `mutual_information`; surrogates are permutations unless ``surrogate_type`` says otherwise.

    Returns
    -------
    Estimate

    Notes
    -----
    Lizier, Prokopenko, Zomaya, Inf. Sci. 208, 39 (2012).
    """
    data = join(trials, x=x)
    own = dict(history=history, tau=tau, k=k, surrogates=surrogates)
    return _estimate("ais", "active_information_storage", data, data.spec, dict(options, **own))


def entropy(x: Any, *, k: int | None = None, trials: Any = None, **options: Any) -> Estimate:
    r"""Differential entropy of one or several columns, in the units of the data.

    Parameters
    ----------
    x : array_like, (n,), (n, d) or (trials, n, d)
    k, trials, progress, **options
        As for `mutual_information`, without surrogates.

    Returns
    -------
    Estimate
        psi(N) - psi(k) + d <ln eps>, with eps twice the distance to the k-th neighbour in the maximum norm.

    Notes
    -----
    Kozachenko, Leonenko, Probl. Inf. Transm. 23, 95 (1987).
    """
    data = join(trials, x=x)
    return _estimate("entropy", "entropy", data, data.spec, dict(options, k=k))
