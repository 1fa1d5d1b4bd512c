"""What the monitor shows of a training while it runs: gauges of this process's metrics."""
from __future__ import annotations

from typing import Any

from kolmo import _kolmo
from kolmo.predict.log import Log

_HELP = {
    "step": "steps so far", "loss": "mean loss of the last block of steps", "rate": "learning rate of the last step",
    "overhead_ratio": "share of the wall time that the watch takes", "forecast_step": "step that the forecast is of",
    "forecast_loss": "loss forecast under the plan, by quantile"}


class Live:
    """The gauges ``kolmo_training_...`` of one training, which is named by the label ``run``."""

    def __init__(self, run: str):
        self._gauges = {name: self._gauge(run, name) for name in ("step", "loss", "rate", "overhead_ratio", "forecast_step")}
        self._quantiles = {q: self._gauge(run, "forecast_loss", quantile=q) for q in ("0.05", "0.5", "0.95")}

    def _gauge(self, run: str, name: str, **labels: str) -> Any:
        return _kolmo.gauge(f"kolmo_training_{name}", {"run": run, **labels}, _HELP[name])

    def block(self, log: Log, count: int, overhead: float) -> None:
        """The last ``count`` rows of the log."""
        losses = log.last(count)
        if len(losses):
            step, rate = log.end()
            for name, value in (("step", step), ("loss", losses.mean()), ("rate", rate), ("overhead_ratio", overhead)):
                self._gauges[name].set(value)

    def forecast(self, forecast: Any) -> None:
        """The last step of a forecast of the training loss under the plan."""
        self._gauges["forecast_step"].set(forecast.step[-1])
        for gauge, at in zip(self._quantiles.values(), (0, 9, 18), strict=True):
            value = forecast.quantiles[-1][at]
            gauge.set(float("nan") if value is None else value)  # None: beyond the range of numbers
