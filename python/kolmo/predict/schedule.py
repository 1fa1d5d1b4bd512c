"""The rates that a scheduler of PyTorch will set at the training steps to come."""
from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from kolmo._kolmo import InvalidArgument

Array = np.ndarray[Any, Any]
FEW = 10  # steps without a tick that are nothing unusual


class _RatesOnly:
    """As much of an optimizer as a scheduler looks at."""

    def __init__(self, groups: list[dict[str, Any]]):
        self.param_groups = [{k: v for k, v in g.items() if k != "params"} | {"params": []} for g in groups]
        self.state: dict[Any, Any] = {}
        self.defaults: dict[str, Any] = {}
        self._opt_called = True

    def step(self) -> None: ...

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]  # else schedulers warn that no step was taken


def scheduled(scheduler: Any, ticks: int, group: int = 0) -> Array:
    """The rates of a parameter group from now on, one for each step of the scheduler, found by running a copy of it. The scheduler and the
    optimizer stay as they are; copied are all but the optimizer, which is not touched."""
    optimizer = _RatesOnly(scheduler.optimizer.param_groups)
    ahead = copy.deepcopy(scheduler, {id(scheduler.optimizer): optimizer})
    rates = []
    for _ in range(ticks):
        rates.append(float(optimizer.param_groups[group]["lr"]))
        try:
            ahead.step()
        except TypeError:
            raise InvalidArgument(f"kolmo.predict: {type(scheduler).__name__} chooses rates by the losses that come, so they are not known "
                                  "in advance: leave out scheduler=") from None
        except ValueError:  # a schedule that is over, as that of OneCycleLR
            rates += rates[-1:] * (ticks - len(rates))
            break
    return np.array(rates)


class Schedule:
    """A scheduler, and how many training steps pass for each of its own, a tick, which is learned from the steps that are watched: 1, the
    steps of an epoch, or less than 1. The state has what was learned, not the scheduler."""

    def __init__(self, scheduler: Any):
        self._scheduler, self._told = scheduler, False
        while not hasattr(scheduler, "last_epoch") and getattr(scheduler, "_schedulers", None):  # ChainedScheduler
            scheduler = scheduler._schedulers[0]
        self._counter = scheduler
        self._tick = self.tick()  # of the last step
        self._held = 0  # steps in this tick
        self._first: float | None = None  # steps in the first tick, whose beginning may not have been watched
        self._steps = self._ticks = 0  # in whole ticks after the first

    def tick(self) -> int | None:
        """How often the scheduler was stepped; None if it does not tell, and then it counts as stepped once for each training step."""
        ticks: int | None = getattr(self._counter, "last_epoch", None)
        return ticks

    def step(self, tick: int | None) -> None:
        """Counts a training step that was taken in this tick."""
        if tick == self._tick:
            self._held += 1
            return
        if tick is not None and self._tick is not None and tick > self._tick and self._held:
            if self._first is None:
                self._first = self._held / (tick - self._tick)
            else:
                self._steps += self._held
                self._ticks += tick - self._tick
        self._tick, self._held = tick, 1

    def rates(self, horizon: int, group: int) -> Array:
        """The rates of the next ``horizon`` training steps. Until a tick was seen to end, the present one is taken to be half over."""
        held = self._held if self._tick is not None and self.tick() == self._tick else 0
        if self._first is None and held > FEW and not self._told:
            self._told = True
            warnings.warn(f"kolmo.predict: the scheduler was not stepped in {held} steps that were watched, so it is not known how often it "
                          "will be; until it is stepped, forecasts hold the present rate for as many steps as it was held so far", stacklevel=4)
        length = self._length(held)
        ahead: Array = np.floor((min(held, max(length, 1)) + np.arange(horizon)) / length + 1e-9).astype(int)
        return np.take(scheduled(self._scheduler, int(ahead[-1]) + 1, group), ahead)

    def _length(self, held: int) -> float:
        """Training steps in a tick."""
        if self._ticks:
            length = self._steps / self._ticks
        elif self._first is not None:
            length = max(self._first, held) if self._first >= 1 else self._first
        else:
            length = 2 * held if held > 1 else 1
        return round(length) if length >= 1 else 1 / round(1 / length)

    def state_dict(self) -> dict[str, Any]:
        return {"tick": self._tick, "held": self._held, "first": self._first, "steps": self._steps, "ticks": self._ticks}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._tick, self._held, self._first, self._steps, self._ticks = (state[k] for k in ("tick", "held", "first", "steps", "ticks"))
