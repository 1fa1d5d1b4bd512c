"""A factor on the learning rates of an optimizer for the time of its steps, so that schedulers neither see nor undo it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class RateFactor:
    """Multiplies the rate of every parameter group by ``factor`` before each step of the optimizer, and puts it back after it. ``used``
    is the rate of the first group in the last step. ``before`` is called before each step."""

    def __init__(self, optimizer: torch.optim.Optimizer, before: Callable[[], None]):
        self.factor = 1.0
        self.used: Any = None
        self._before, self._kept = before, list[Any]()
        self._handles = [optimizer.register_step_pre_hook(self._scale), optimizer.register_step_post_hook(self._put_back)]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _scale(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if self._kept:  # the step before raised
            self._put_back(optimizer, args, kwargs)
        self._before()
        first = optimizer.param_groups[0]["lr"]
        self.used = (first if not isinstance(first, Tensor) else first.detach().clone()) * self.factor
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
