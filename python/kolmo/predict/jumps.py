"""Jumps of weights along the way that their average moves: an experiment, off unless asked for. In every honest measurement so far no
jump was accepted (0 of 324), and trainings with jumps were slower by what the gates cost."""
from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from kolmo._kolmo import InvalidArgument
from kolmo.predict.record import BLOCK
from kolmo.predict.snapshot import Snapshot

if TYPE_CHECKING:
    from kolmo.predict.control import Controller


class Jumps:
    """gate: returns the losses of held-out samples, one each, of the weights as they are; equal samples each time, at least 16.

    At every ``every``-th step, twice as rarely after each refusal (up to 16 times), the displacement of the average since ``every`` steps
    before is added to the average, 1 and 3 times, and the losses are compared in pairs with those of the average itself, so that averaging
    is no gain. A jump is accepted if its mean difference is negative at the one-sided ``level``, divided by the number of candidates. It
    is then added to weights and averages. Within ``probation`` steps the mean training loss must not be above that of as many steps before
    by 3 standard errors; otherwise weights, optimizer, generators and the place in the data go back, and displacements are halved. Gates
    take at most ``overhead`` of the wall time.
    """

    def __init__(self, gate: Callable[[], Tensor], *, every: int = 100, level: float = 0.01, probation: int = 50, overhead: float = 0.01):
        if every < BLOCK or every % BLOCK or probation < BLOCK or not 0 < level < 0.5:
            raise InvalidArgument(f"kolmo.predict.Jumps: every is a multiple of {BLOCK} steps, probation at least {BLOCK}, and level between 0 "
                                  f"and 0.5, not {every}, {probation} and {level}")
        self.gate, self.every, self.level, self.probation, self.overhead = gate, every, level, probation, overhead
        self.tried = self.accepted = self.undone = 0
        self._scale, self._wait = 1.0, 1
        self._last: tuple[int, list[Tensor]] | None = None
        self._trial: tuple[Snapshot, float, float] | None = None  # from where, and mean and standard error of the loss before

    def consider(self, c: Controller) -> None:
        """At the end of a block."""
        w = c.watch
        if w.averages is None:
            raise InvalidArgument("kolmo.predict.Jumps: jumps follow averages; make the watch with average=True")
        if self._trial is not None:
            self._judge(c)
            return
        if w.steps % self.every:
            return
        parameters = {id(p) for g in w.optimizer.param_groups for p in g["params"]}
        moving = [id(t) in parameters for s in w.averages._segments for t, _ in s.pairs(w.averages.names[0])]
        last, self._last = self._last, (w.steps, [v.clone() for v in w.averages.values()])
        if last is None or last[0] != w.steps - self.every or len(last[1]) != len(moving) or (w.steps // self.every) % self._wait:
            return
        if c.agree(w.seconds["evaluations"] > self.overhead * w.wall and self.tried > 0):
            return
        way = [(now - was) * self._scale if m else torch.zeros_like(now) for now, was, m in zip(self._last[1], last[1], moving, strict=True)]
        self.tried += 1
        try:
            with w.evaluating("evaluations"):
                factor = c.agree(self._best(w.averages, way))
        except torch.OutOfMemoryError:
            factor = 0.0
        snapshot = c.snapshot() if factor else None
        if not factor or snapshot is None:
            self._wait = min(16, 2 * self._wait)
            return
        self.accepted, self._wait = self.accepted + 1, 1
        with torch.no_grad():
            for tensor, step in zip(w.averages.tensors(), way, strict=True):
                tensor.add_(step.to(tensor.dtype), alpha=factor)
            w.averages.add([step * factor for step in way])
        w._recorder.everything()
        before = w.log.last(self.probation)
        self._trial = snapshot, float(before.mean()), float(before.std() / math.sqrt(len(before)))
        self._last = None

    def _best(self, averages: Any, way: list[Tensor]) -> float:
        """How many times the way is accepted; 0 for not at all."""
        candidates, best = (1.0, 3.0), (0.0, 0.0)
        critical = NormalDist().inv_cdf(self.level / len(candidates))
        with averages.averaged(), torch.no_grad():
            base, at = self.gate().double(), 0.0
            if base.dim() != 1 or len(base) < 16:
                raise InvalidArgument(f"kolmo.predict.Jumps: gate() returns the losses of at least 16 samples, not a tensor of shape {tuple(base.shape)}")
            for factor in candidates:
                for tensor, step in zip(averages.tensors(), way, strict=True):
                    tensor.add_(step.to(tensor.dtype), alpha=factor - at)
                at = factor
                difference = self.gate().double() - base
                mean, error = float(difference.mean()), float(difference.std()) / math.sqrt(len(difference))
                if mean < critical * error and mean < best[0]:
                    best = (mean, factor)
        return best[1]

    def _judge(self, c: Controller) -> None:
        assert self._trial is not None
        snapshot, mean, error = self._trial
        w = c.watch
        if w.steps - snapshot.step < self.probation:
            return
        w._recorder.everything()
        since = w.log.last(w.steps - snapshot.step)
        bad = not float(since.mean()) <= mean + 3 * math.hypot(error, float(since.std()) / math.sqrt(len(since)))
        self._trial = None
        if c.agree(bad):
            c.return_to(snapshot, random_and_data=True)
            self.undone, self._scale = self.undone + 1, self._scale / 2

    def cancel(self) -> None:
        self._trial = self._last = None

    def state_dict(self) -> dict[str, Any]:
        trial = None if self._trial is None else [self._trial[0].state_dict(), *self._trial[1:]]
        return {"trial": trial, "tried": self.tried, "accepted": self.accepted, "undone": self.undone, "scale": self._scale, "wait": self._wait,
                "last": None if self._last is None else list(self._last)}

    def load_state_dict(self, state: dict[str, Any], c: Controller) -> None:
        self.tried, self.accepted, self.undone = state["tried"], state["accepted"], state["undone"]
        self._scale, self._wait, trial = state["scale"], state["wait"], state["trial"]
        self._trial = (c.restored(trial[0]), trial[1], trial[2]) if trial else None
        self._last = None if state["last"] is None else (state["last"][0], list(state["last"][1]))
