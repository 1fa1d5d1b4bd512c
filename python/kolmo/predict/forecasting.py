"""Forecasts of the loss of a training from its log, with the options of ``kolmo forecast``."""
from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo.flow.options import translated, type_text
from kolmo.predict.log import numeric_columns

TrainingLog = _kolmo.TrainingLog


class Forecast:
    """What becomes of a loss: one element for each block of steps to come, whose mean loss it is of.

    ``step``: the last step of the block. ``median``, ``mean``, ``low`` and ``high`` (the ends of the 90 % interval), and ``quantiles``,
    (blocks, 19), at ``levels`` .05 to .95; NaN beyond the range of numbers. ``rate``: as planned. ``driver``: the forecaster. ``calibrated_on``: whose errors the
    quantiles come from. ``decision``: what to do, with ``decide=True``: a dict with action, length, probability, margin, forecast of the
    loss at the end of the decay, driver and reason. ``document``: all that ``kolmo forecast --json`` prints. ``log``: what it was made
    from; None in a copy."""

    def __init__(self, document: dict[str, Any], figure: str, log: TrainingLog | None):
        self.document, self.log, self._figure = document, log, figure
        rows = document["forecast"]
        self.step = np.array([r["step"] for r in rows], np.int64)
        self.median, self.mean, self.low, self.high, self.rate = (
            np.array([r[name] for r in rows], float) for name in ("median", "mean", "low", "high", "rate"))
        self.quantiles = np.array([r["quantiles"] for r in rows], float)
        self.levels = np.array(document["levels"])
        self.driver: str = document["driver"]
        self.calibrated_on: str = document["calibrated_on"]
        self.notes: list[str] = document["notes"]
        self.decision: dict[str, Any] | None = document.get("decision")

    def time_to(self, target: float) -> dict[str, int | None]:
        """The first step at which the loss is at or below ``target``: the ``median``, and ``low`` and ``high``, the ends of the 90 %
        interval, without the noise of single blocks. None: not within the horizon."""
        if not target > 0:
            raise _kolmo.InvalidArgument(f"Forecast.time_to: the target is {target}, but a loss is positive")
        document = self.document
        noise = document["noise"]
        z = np.array([_normal(level) for level in self.levels])
        away = np.log(self.quantiles) - np.log(self.median)[:, None]
        curve = np.log(self.median)[:, None] + np.copysign(np.sqrt(np.maximum(0, away**2 - (z * noise) ** 2)), away)

        def first(reached: Any) -> int | None:
            found = np.flatnonzero(reached)
            return int(self.step[found[0]]) if len(found) else None

        goal = math.log(target)
        return {"median": first(np.log(self.median) <= goal), "low": first(curve[:, 0] <= goal), "high": first(curve[:, -1] <= goal)}

    def to_frame(self) -> Any:
        """A DataFrame of pandas with a row for each block to come."""
        import pandas  # type: ignore[import-untyped,unused-ignore]
        columns: dict[str, Any] = {name: getattr(self, name) for name in ("step", "median", "low", "high", "mean", "rate")}
        columns |= {f"q{round(100 * level):02d}": self.quantiles[:, i] for i, level in enumerate(self.levels)}
        return pandas.DataFrame(columns)

    def skills(self) -> Any:
        """How each forecaster stands on the log's own past: a list of rows with CRPS, skill against persistence, and coverage."""
        return self.document["standings"]

    def plot(self, path: str | os.PathLike[str] | None = None) -> str:
        """The figure of the log and its forecast as SVG text; written to ``path`` if one is given."""
        if path is not None:
            beside = Path(path).with_name(Path(path).name + ".partial")
            beside.write_text(self._figure, encoding="utf-8")
            beside.replace(path)
        return self._figure

    def __reduce__(self) -> tuple[Any, ...]:
        return Forecast, (self.document, self._figure, None)

    def _repr_svg_(self) -> str:
        return self._figure

    def __len__(self) -> int:
        return len(self.step)

    def __repr__(self) -> str:
        return (f"<forecast by {self.driver}: loss {self.median[-1]:.4g} ({self.low[-1]:.4g} to {self.high[-1]:.4g}) at step "
                f"{self.step[-1]}>")


def _normal(level: float) -> float:
    from statistics import NormalDist
    return NormalDist().inv_cdf(level)


@functools.cache
def described() -> dict[str, Any]:
    about: dict[str, Any] = json.loads(_kolmo.describe_forecast())
    return about


def log_from(log: Any, options: str = "{}") -> tuple[TrainingLog, str]:
    """A log and its name, from a path, a TrainingLog, or columns by name (a dict, a DataFrame)."""
    if isinstance(log, TrainingLog):
        return log, "log"
    if isinstance(log, (str, os.PathLike)):
        path = os.fspath(log)
        return translated(lambda: _kolmo.read_log(path, options)), path
    if not isinstance(log, Mapping) and not hasattr(log, "columns"):
        raise TypeError(f"kolmo.predict: a log is a path, a TrainingLog, or columns by name, not {type(log).__name__}")
    columns = numeric_columns(log, json.loads(options))
    return translated(lambda: _kolmo.log_of(columns, options, "log")), "log"


def read_log(path: str | os.PathLike[str], **columns: Any) -> TrainingLog:
    """Reads a log: CSV, JSONL, or a folder of TensorBoard's event files. ``columns``: names, as ``loss="train/loss"``, and ``block``."""
    return log_from(os.fspath(path), json.dumps({k: v for k, v in columns.items() if v is not None}))[0]


def forecast(log: Any, *, plan: Any = "hold", **options: Any) -> Forecast:
    rates: list[float] = []
    if not isinstance(plan, (str, os.PathLike)) and plan is not None:
        given = np.asarray(plan, float)
        if given.ndim > 1 or not given.size:
            raise _kolmo.InvalidArgument(f"kolmo.predict.forecast: plan is an array of shape {given.shape}, but has one rate for each step to "
                                         "come; give one row")
        rates = [float(r) for r in given.ravel()]
    else:
        options["plan"] = "hold" if plan is None else os.fspath(plan)
    text = _options({name: v.item() if isinstance(v, np.generic) else v for name, v in options.items()})
    made, name = log_from(log, text)
    document, figure = translated(lambda: _kolmo.forecast_log(made, text, rates, name))
    return Forecast(json.loads(document), figure, made)


def _options(given: dict[str, Any]) -> str:
    known = {o["name"] for o in described()["options"]}
    for name in given.keys() - known:
        raise TypeError(f"there is no option {name!r}; there are {', '.join(sorted(known))}")
    for name, value in given.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise _kolmo.InvalidArgument(f"kolmo.predict: {name} is {value}, but must be a finite number")
    return json.dumps({name: os.fspath(v) if isinstance(v, os.PathLike) else v for name, v in given.items() if v is not None})


def sweep(runs: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Forecasts all runs whose logs are in a folder to the same ``step``: ``horizon`` steps after the end of the longest log (default 100).
    ``runs`` has, by median, ``file``, ``median``, ``low`` and ``high`` (90 % interval) of the loss there, ``rank`` with ``rank_low`` and
    ``rank_high``, ``best`` (the probability of rank 1), and ``may_stop``: whether the run ends below the first one with a probability of
    less than 5 %. A run that cannot be forecast is last, with ``why_not``. Ranks are of joint draws in which the runs are independent.
    ``options``: as of ``forecast``."""
    found: dict[str, Any] = json.loads(translated(lambda: _kolmo.sweep_runs(os.fspath(runs), _options(options))))
    return found


def backtest(runs: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Which forecaster would have been best on the runs whose logs are in a folder: ``rows`` with CRPS of log loss, coverage, and the 95 %
    interval of the CRPS less that of the driver; ``ranks`` with Spearman's correlation of the final losses with those forecast after a
    fifth of each run. ``options``: ``store`` and names of columns, as of ``forecast``."""
    found: dict[str, Any] = json.loads(translated(lambda: _kolmo.backtest_runs(os.fspath(runs), _options(options))))
    return found


def train_store(runs: str | os.PathLike[str], store: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Trains the ensemble of a store on the runs whose logs are in a folder, and on those in the store. Returns how it and the other
    forecasters stand on runs that it had not learned from. ``options``: ``device`` and names of columns, as of ``forecast``."""
    text = _options(options | {"store": store})
    found: dict[str, Any] = json.loads(translated(lambda: _kolmo.train_store(os.fspath(runs), text)))
    return found


def _document() -> None:
    about = described()
    by_name = Parameter.KEYWORD_ONLY
    forecast.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter("log", Parameter.POSITIONAL_OR_KEYWORD), *(Parameter(o["name"], by_name, default=o["default"]) for o in about["options"])])
    lines = [about["summary"] + ".", "", "Parameters", "----------",
             "log : path, TrainingLog, or columns by name (dict, DataFrame)",
             "    what is known of the training: step, loss, gradient_norm, rate; of these only the loss is needed"]
    for o in about["options"]:
        kind = "str, path or array of a rate for each step to come, default 'hold'" if o["name"] == "plan" else type_text(o)
        lines += [f"{o['name']} : {kind}", f"    {o['help']}" + (f"; if None: {o['if_left_out']}" if "if_left_out" in o else "")]
    lines += ["", "Returns", "-------", "Forecast", "    " + " ".join(about["about"].split()), "", "Raises", "------", "InvalidArgument",
              "    for a log or plan that cannot be; naming file, row and column", "", "Notes", "-----", about["source"] + "."]
    forecast.__doc__ = "\n".join(lines)


_document()
