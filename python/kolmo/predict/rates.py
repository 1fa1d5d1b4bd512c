"""The learning rates of an optimizer at its steps, and a factor on them for that time, so that schedulers neither see nor undo it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from kolmo._kolmo import InvalidArgument
from kolmo.predict.record import scalar
from kolmo.predict.schedule import Schedule


class Rates:
    """Notes the rate of each step of the optimizer. ``group`` is the parameter group that counts: the first one whose rate is the largest at
    the beginning. ``before`` is called before each step; if there is one, the rates of all groups are multiplied by ``factor`` for the time
    of the step."""

    def __init__(self, optimizer: torch.optim.Optimizer, schedule: Schedule | None, before: Callable[[], None] | None):
        self.factor = 1.0
        self._optimizer, self._schedule, self._before = optimizer, schedule, before
        groups = optimizer.param_groups
        self.group = max(range(len(groups)), key=lambda i: (float(groups[i]["lr"]), float(groups[i].get("initial_lr", 0))))
        self._noted: tuple[Any, int | None] | None = None  # rate and tick of the last step of the optimizer
        self._kept, self._handles = list[Any](), list[Any]()
        hooks = getattr(optimizer, "_optimizer_step_pre_hooks", None)
        if before is None:
            if hooks is not None:  # some wrappers of optimizers have none
                self._handles = [optimizer.register_step_pre_hook(self._note)]
            return
        if hooks is None:
            raise InvalidArgument(f"kolmo.predict.Watch: control=True needs hooks on the optimizer's steps, and {type(optimizer).__name__} has none; "
                                  "give the optimizer of PyTorch that it wraps")
        if any(getattr(hook, "__func__", None) is Rates._scale for hook in hooks.values()):
            raise InvalidArgument("kolmo.predict.Watch: another watch with control=True is on this optimizer, and both would scale its rates; "
                                  "close() that one first, or make this one with control=False")
        self._handles = [optimizer.register_step_pre_hook(self._scale), optimizer.register_step_post_hook(self._put_back)]

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles, self.factor = [], 1.0

    def step(self) -> Any:
        """The rate of the training step that is over: that of the optimizer's last step, or the present one if it took none since."""
        if self._noted is None:
            self._note()
        assert self._noted is not None
        (rate, tick), self._noted = self._noted, None
        if self._schedule is not None:
            self._schedule.step(tick)
        return rate

    def planned(self, horizon: int) -> Any:
        """The rates of the steps to come, without the factor: the scheduler's, or one number, the present rate."""
        if self._schedule is not None:
            return self._schedule.rates(horizon, self.group)
        return float(self._optimizer.param_groups[self.group]["lr"])

    def _note(self, *_: Any) -> None:
        rate = scalar(self._optimizer.param_groups[self.group]["lr"])
        self._noted = (rate if self.factor == 1 else rate * self.factor, None if self._schedule is None else self._schedule.tick())

    def _scale(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._kept:  # the step before raised
            self._put_back(optimizer, args, kwargs)
        assert self._before is not None
        self._before()
        self._note()
        if self.factor == 1:
            return
        for group in optimizer.param_groups:
            rate = group["lr"]
            if isinstance(rate, Tensor):
                self._kept.append(rate.clone())
                rate.mul_(self.factor)
            else:
                self._kept.append(rate)
                group["lr"] = rate * self.factor

    def _put_back(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        for group, rate in zip(optimizer.param_groups, self._kept, strict=False):
            if isinstance(rate, Tensor):
                group["lr"].copy_(rate)
            else:
                group["lr"] = rate
        self._kept = []
