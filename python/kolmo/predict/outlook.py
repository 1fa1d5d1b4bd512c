"""What a forecast says of the steps to come, for decisions; and rates to come."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from kolmo._kolmo import Outlook
from kolmo.predict.log import Columns

Array = np.ndarray[Any, Any]


def decayed(rate: float, start: int, length: int, horizon: int) -> Array:
    """Rates of the ``horizon`` steps to come: ``rate`` for ``start`` steps, then linearly to 0 within ``length``, and 0."""
    falls = 1 - np.arange(horizon - start, dtype=float) / length if horizon > start else np.zeros(0)
    return rate * np.concatenate([np.ones(min(start, horizon)), np.maximum(falls, 0)])


def outlook_of(forecast: Any, now: int) -> Outlook:
    """Of a forecast with ``step`` (numbers of steps), ``quantiles`` (a row for each step, at equally spaced levels) and ``driver``, seen
    from the step ``now``."""
    return Outlook(np.asarray(forecast.step, float) - now, np.ascontiguousarray(forecast.quantiles, float), str(forecast.driver))


Forecaster = Callable[..., Any]


def default_forecaster(log: Columns, *, plan: Any, horizon: int, target: float | None = None, store: Any = None) -> Any:
    """The forecasts of ``kolmo forecast``."""
    predict: Any = importlib.import_module("kolmo.predict")
    return predict.forecast(log, plan=plan, horizon=horizon, target=target, store=store)


def check_store(store: Any, forecaster: Forecaster) -> None:
    """Raises InvalidArgument for a run store that the default forecaster cannot read, before a training depends on it."""
    if store is not None and forecaster is default_forecaster:
        forecaster({"loss": 1 + 1 / np.arange(1.0, 401.0)}, plan="hold", horizon=10, store=store)
