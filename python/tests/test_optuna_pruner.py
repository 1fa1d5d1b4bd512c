"""ForecastPruner says once why it judges no trial."""
import math
import warnings

import pytest

optuna = pytest.importorskip("optuna")
from kolmo.predict.optuna import ForecastPruner  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)


def warned(pruner: ForecastPruner, steps: int, every: int = 1, offset: float = 0) -> tuple[list[str], set[str]]:
    def objective(trial):
        floor = trial.suggest_float("floor", 1, 3)
        for step in range(every, steps + 1, every):
            trial.report(floor + 2 / step + 0.01 * math.sin(7 * step) + offset, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return floor + offset
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=pruner)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study.optimize(objective, n_trials=12)
    return [str(w.message) for w in caught if "ForecastPruner" in str(w.message)], {t.state.name for t in study.trials}


@pytest.mark.parametrize("steps", [20, 40])
def test_trials_that_are_too_short(steps):
    said, states = warned(ForecastPruner(steps), steps)
    assert len(said) == 1 and f"trials of {steps} steps" in said[0] and "blocks of 10 steps" in said[0]
    assert states == {"COMPLETE"}


def test_trials_with_too_few_reports():
    said, _ = warned(ForecastPruner(200), 200, every=25)
    assert len(said) == 1 and "8 reports, and least=10" in said[0]


def test_losses_that_are_negative():
    said, _ = warned(ForecastPruner(100), 100, offset=-10)
    assert len(said) == 1 and "logarithm of the loss" in said[0]


def test_trials_that_can_be_judged_are_not_warned_of():
    said, states = warned(ForecastPruner(100), 100)
    assert said == [] and "PRUNED" in states
