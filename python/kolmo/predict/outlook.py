"""What a forecast says of the steps to come, for decisions; and rates to come."""
from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from kolmo._kolmo import InvalidArgument, Outlook
from kolmo.predict.log import Columns

Array = np.ndarray[Any, Any]


def decayed(rate: float, start: int, length: int, horizon: int) -> Array:
    """Rates of the ``horizon`` steps to come: ``rate`` for ``start`` steps, then linearly to 0 within ``length``, and 0."""
    falls = 1 - np.arange(horizon - start, dtype=float) / length if horizon > start else np.zeros(0)
    return rate * np.concatenate([np.ones(min(start, horizon)), np.maximum(falls, 0)])


class _RatesOnly:
    """As much of an optimizer as a scheduler looks at."""

    def __init__(self, groups: list[dict[str, Any]]):
        self.param_groups = [{k: v for k, v in g.items() if k != "params"} | {"params": []} for g in groups]
        self.state: dict[Any, Any] = {}
        self.defaults: dict[str, Any] = {}
        self._opt_called = True

    def step(self) -> None: ...

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]  # else schedulers warn that no step was taken


def scheduled(scheduler: Any, steps: int) -> Array:
    """The rates of the first parameter group that a scheduler of PyTorch will set, found by running a copy of it. The scheduler and the
    optimizer stay as they are; copied are all but the optimizer, which is not touched."""
    optimizer = _RatesOnly(scheduler.optimizer.param_groups)
    ahead = copy.deepcopy(scheduler, {id(scheduler.optimizer): optimizer})
    rates = []
    for _ in range(steps):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        try:
            ahead.step()
        except TypeError:
            raise InvalidArgument(f"kolmo.predict: {type(scheduler).__name__} chooses rates by the losses that come, so they are not known "
                                  "in advance: leave out scheduler=") from None
        except ValueError:  # a schedule that is over, as that of OneCycleLR
            rates += rates[-1:] * (steps - len(rates))
            break
    return np.array(rates)


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
