"""What a forecast says of one step, for decisions; and rates to come."""
from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kolmo._kolmo import InvalidArgument
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


class Outlook:
    """Quantiles of a loss over the steps to come, from a forecast with ``step`` (numbers of steps) and ``quantiles`` (a row for each
    step, at the levels .05 to .95), seen from the step ``now``. Between steps quantiles are interpolated."""

    def __init__(self, forecast: Any, now: int):
        self.forecast, self.driver = forecast, str(forecast.driver)
        self.ahead = np.asarray(forecast.step, float) - now
        self._quantiles = np.asarray(forecast.quantiles, float)
        count = self._quantiles.shape[1]
        self._levels = np.arange(1, count + 1) / (count + 1)

    def at(self, ahead: float) -> Array:
        """The quantiles so many steps from now."""
        return np.array([np.interp(ahead, self.ahead, q) for q in self._quantiles.T])

    def median(self, ahead: float) -> float:
        return self.quantile(0.5, ahead)

    def quantile(self, level: float, ahead: float) -> float:
        return float(np.interp(level, self._levels, self.at(ahead)))

    def probability_below(self, loss: float, ahead: float) -> float:
        """That the loss is below ``loss`` by then: levels between quantiles, and half the outer level beyond them."""
        q = self.at(ahead)
        if loss < q[0]:
            return float(self._levels[0] / 2)
        if loss >= q[-1]:
            return float(1 - (1 - self._levels[-1]) / 2)
        return float(np.interp(loss, q, self._levels))

    def reaches(self, loss: float) -> float:
        """In how many steps the median is at or below ``loss``; infinity if not within the forecast."""
        medians = np.array([np.interp(0.5, self._levels, q) for q in self._quantiles])
        found = np.flatnonzero(medians <= loss)
        return float(self.ahead[found[0]]) if len(found) else math.inf


Forecaster = Callable[..., Any]


def default_forecaster(log: Columns, *, plan: Any, horizon: int, target: float | None = None, store: Any = None) -> Any:
    """The forecasts of ``kolmo forecast``."""
    predict: Any = importlib.import_module("kolmo.predict")
    return predict.forecast(log, plan=plan, horizon=horizon, target=target, store=store)


def shares_of(steps: int, shares: Sequence[float], least: int) -> list[int]:
    """Lengths in steps, in order, none below ``least``."""
    return sorted({max(least, round(share * steps)) for share in shares})
