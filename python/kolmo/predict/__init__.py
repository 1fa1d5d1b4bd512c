"""Forecasts of a training from its own log, averaged weights, and decisions on when to decay and when to stop.

Importing this module needs no PyTorch. The names that do are loaded when they are first used."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kolmo.predict.averages import Averages
    from kolmo.predict.jumps import Jumps
    from kolmo.predict.watch import Watch

from kolmo._kolmo import TrainingLog
from kolmo.predict.decide import Decision
from kolmo.predict.forecasting import Forecast, backtest, forecast, read_log, sweep, train_store

_LAZY = {"Averages": "averages", "Jumps": "jumps", "Watch": "watch"}  # the module of each name that needs PyTorch
__all__ = ["Averages", "Decision", "Forecast", "Jumps", "TrainingLog", "Watch", "backtest", "forecast", "read_log", "sweep", "train_store"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'kolmo.predict' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"kolmo.predict.{_LAZY[name]}"), name)
    except ModuleNotFoundError as e:
        if e.name != "torch":
            raise
        raise ImportError(f"kolmo.predict.{name} needs PyTorch, which is not installed") from None
