"""A pruner of Optuna that stops trials whose forecast end is unlikely to be among the best."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from kolmo._kolmo import Error, InvalidArgument
from kolmo.predict.outlook import Forecaster, check_store, default_forecaster, outlook_of

LEAST_BLOCKS = 4  # of a forecast


class ForecastPruner(BasePruner):
    """Prunes a trial when the probability that its loss at the step ``steps`` is at most the ``keep``-quantile of the losses that finished
    trials ended with is below ``probability``.

    Trials report losses, which are positive and minimised, by step (from 1, or 0) with ``trial.report(loss, step)``. ``rates``: the planned
    learning rates of a trial's steps, which forecasts use; by default those in ``trial.user_attrs["rates"]``, or a constant rate.
    ``startup``: so many trials finish before any is pruned; ``least``: a trial is not pruned before so many reports. store: earlier
    runs. Where no trial can be judged, a warning says why once. Research: over stopping all trials at a fixed early step, pruning gains little (Egele et al. 2024, arXiv:2404.04111).
    """

    def __init__(self, steps: int, *, probability: float = 0.05, keep: float = 0.25, startup: int = 5, least: int = 10,
                 rates: Callable[[FrozenTrial], Sequence[float]] | None = None, store: object = None,
                 forecaster: Forecaster = default_forecaster):
        if steps < 1 or not 0 < probability < 1 or not 0 <= keep <= 1 or startup < 1 or least < 2:
            raise InvalidArgument("kolmo.predict.optuna.ForecastPruner: steps and startup are at least 1, least at least 2, probability is "
                                  f"between 0 and 1 and keep from 0 to 1, not {steps}, {startup}, {least}, {probability} and {keep}")
        check_store(store, forecaster)
        self._steps, self._probability, self._keep = steps, probability, keep
        self._startup, self._least, self._rates = startup, least, rates
        self._store, self._forecaster = store, forecaster
        self._told = False

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        if study.direction != StudyDirection.MINIMIZE:
            raise InvalidArgument("kolmo.predict.optuna.ForecastPruner: forecasts are of losses; make the study with direction='minimize'")
        steps = np.array(sorted(trial.intermediate_values), dtype=float)
        losses = np.array([trial.intermediate_values[int(s)] for s in steps])
        if len(steps) and not np.isfinite(losses[-1]):
            return True
        ended = [t.value for t in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)) if t.value is not None]
        if len(ended) < self._startup or len(steps) < self._least or steps[-1] >= self._steps:
            if len(ended) >= self._startup and len(steps) < self._least and steps[-1] >= self._steps:
                self._tell(f"a trial has {len(steps)} reports, and least={self._least} come before it is judged")
            return False
        last = int(steps[-1])
        given = self._rates(trial) if self._rates is not None else trial.user_attrs.get("rates")
        rates = np.ones(self._steps) if given is None else np.asarray(given, float)
        if len(rates) < self._steps:
            raise InvalidArgument(f"kolmo.predict.optuna.ForecastPruner: trial {trial.number} has {len(rates)} rates for {self._steps} steps")
        finite = np.isfinite(losses)
        log = {"step": steps[finite], "loss": losses[finite], "rate": rates[np.maximum(steps[finite].astype(int) - 1, 0)]}
        ahead = self._steps - last
        try:
            forecast = self._forecaster(log, plan=rates[last:self._steps], horizon=ahead, target=None, store=self._store)
        except Error as error:
            block = _block_of(steps)
            if last - steps[0] + 1 >= LEAST_BLOCKS * block or LEAST_BLOCKS * block >= self._steps:  # not only too early
                self._tell(f"{error}; trials of {self._steps} steps that report every {steps[1] - steps[0]:.0f} have {self._steps // block} "
                           f"blocks of {block} steps")
            return False
        return outlook_of(forecast, last).probability_below(float(np.quantile(ended, self._keep)), ahead) < self._probability

    def _tell(self, why: str) -> None:
        if not self._told:
            warnings.warn(f"kolmo.predict.optuna.ForecastPruner: no trial is pruned: {why}", stacklevel=3)
        self._told = True


def _block_of(steps: np.ndarray[Any, Any]) -> int:
    """The steps of a block of a forecast: 10, or more if reports are further apart."""
    apart = int(np.median(np.diff(steps)))
    return -(-10 // apart) * apart
