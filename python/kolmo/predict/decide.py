"""Decisions: when to decay, when to return the average or to stop, and when to raise an alarm. Free of PyTorch."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from kolmo.predict.outlook import Outlook, shares_of

GO_ON, START_DECAY, RETURN_AVERAGE, STOP, ALARM = "go on", "start decay", "return the average", "stop", "alarm"
LENGTHS = (0.12, 0.35)  # of decays, as shares of the steps so far; those that were measured
MARGIN = 0.005  # of the loss: by so much a decay must be forecast to be better
LEAST_LENGTH = 20  # steps


@dataclass
class Decision:
    """``action`` is one of "go on", "start decay", "return the average", "stop", "alarm". ``probability``: of what the action counts on,
    by the forecast. ``margin``: by how much the forecast of it is below what it is compared with, as a loss. ``forecast``: the median
    of the loss at the end of a decay. ``outcome``: what came of it, once it is known."""

    step: int
    action: str
    length: int = 0
    probability: float = math.nan
    margin: float = math.nan
    forecast: float = math.nan
    driver: str = ""
    reason: str = ""
    outcome: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Situation:
    """What is decided on: steps so far, the loss to reach, the steps that remain (None: as many as it takes), how far ahead to look
    for a better start, and the forecasts. ``going_on`` is that of the loss that would be returned without a decay (of averaged weights
    if there are any); ``decaying(start, length)`` that of the loss along a decay that starts in ``start`` steps. ``offset``: what earlier
    decays ended above their forecasts."""

    steps: int
    target: float | None
    remaining: int | None
    stride: int
    going_on: Outlook
    decaying: Callable[[int, int], Outlook]
    offset: float = 0.0


def choose(s: Situation) -> Decision:
    """To a target: of all decays that start now or later and are forecast to end below it by a margin, the one that ends first; it is
    started if it starts now and the loss without it gets there later. Within a budget, and where no decay reaches the target in
    time: a decay that lasts to the end, once it is forecast to be no worse than the one that begins a stride later, and better by a
    margin than to go on. Research: averages are free, so a decay must beat them."""
    lengths = [n for n in shares_of(s.steps, LENGTHS, LEAST_LENGTH) if s.remaining is None or n <= s.remaining]
    if s.target is not None:
        goal = s.target * (1 - MARGIN)
        best = None
        for start in range(0, 3 * s.stride, s.stride):
            for length in lengths:
                if s.remaining is not None and start + length > s.remaining:
                    continue
                outlook = s.decaying(start, length)
                end = outlook.median(start + length) + s.offset
                if end <= goal and (best is None or start + length < best[0] + best[1]):
                    best = (start, length, outlook, end)
        alone = s.going_on.reaches(goal)
        if best is not None:
            start, length, outlook, end = best
            chance = outlook.probability_below(s.target - s.offset, start + length)
            if alone <= start + length:
                return Decision(s.steps, GO_ON, 0, s.going_on.probability_below(s.target, alone), s.target - s.going_on.median(alone), end,
                                s.going_on.driver, f"without a decay the target is reached in {alone:.0f} steps, with one in {start + length}")
            if start:
                return Decision(s.steps, GO_ON, 0, chance, s.target - end, end, outlook.driver,
                                f"a decay in {start} steps reaches the target before one that starts now")
            return Decision(s.steps, START_DECAY, length, chance, s.target - end, end, outlook.driver, "the decay reaches the target first")
        if s.remaining is None:
            return Decision(s.steps, GO_ON, reason="no decay is forecast to reach the target yet", driver=s.going_on.driver)
    if s.remaining is None:
        return Decision(s.steps, GO_ON, reason="there is neither a target nor a budget")
    return _within_budget(s)


def _within_budget(s: Situation) -> Decision:
    assert s.remaining is not None
    if s.remaining < LEAST_LENGTH:
        return Decision(s.steps, GO_ON, reason=f"{s.remaining} steps remain, which are too few for a decay")
    longest = max(LEAST_LENGTH, round(max(LENGTHS) / (1 + max(LENGTHS)) * (s.steps + s.remaining)))
    if s.remaining > longest:
        return Decision(s.steps, GO_ON, reason=f"a decay to the end is not begun before {longest} steps remain")
    now = s.decaying(0, s.remaining)
    end = now.median(s.remaining) + s.offset
    without = s.going_on.median(s.remaining)
    margin = without - end
    chance = now.probability_below(without - s.offset, s.remaining)
    later = s.remaining - s.stride
    if margin <= MARGIN * abs(without):
        return Decision(s.steps, GO_ON, 0, 1 - chance, -margin, end, now.driver, "a decay is not forecast to beat going on by the margin")
    if later >= LEAST_LENGTH and s.decaying(s.stride, later).median(s.remaining) + s.offset < end:
        return Decision(s.steps, GO_ON, 0, chance, margin, end, now.driver, "a decay that starts later is forecast to end lower")
    return Decision(s.steps, START_DECAY, s.remaining, chance, margin, end, now.driver, "the decay to the end beats going on")


def alarm_of(blocks: np.ndarray[Any, Any]) -> str:
    """Why the mean losses of the blocks so far are alarming, or nothing: a loss that is no finite number; a block that is 1.5 times the
    median of the 20 before and 10 of their robust standard deviations above it; or a drift: the last quarter of the blocks is above
    the quarter before by 5 standard errors, which count the autocorrelation of order 1. Diverging trainings are rare, and no alarm
    has been tried on more than simulated ones."""
    if not len(blocks):
        return ""
    if not np.isfinite(blocks[-1]):
        return "the loss is not a finite number"
    before = blocks[-21:-1]
    before = before[np.isfinite(before)]
    if len(before) >= 5:
        middle = float(np.median(before))
        spread = 1.4826 * float(np.median(np.abs(before - middle)))
        if blocks[-1] > middle + 10 * spread and blocks[-1] > middle + 0.5 * abs(middle):
            return f"the loss exploded: {blocks[-1]:.4g} after {middle:.4g}"
    quarter = len(blocks) // 4
    if quarter >= 20:
        a, b = blocks[-2 * quarter:-quarter], blocks[-quarter:]
        if np.isfinite(a).all() and np.isfinite(b).all():
            error = math.sqrt(_error(a) ** 2 + _error(b) ** 2)
            if float(b.mean() - a.mean()) > 5 * error + 1e-12 * abs(float(a.mean())):
                return f"the loss drifts upwards: {a.mean():.4g} on average, then {b.mean():.4g}"
    return ""


def _error(x: np.ndarray[Any, Any]) -> float:
    """The standard error of the mean of an autoregressive series of order 1."""
    d = x - x.mean()
    r = min(0.95, max(0.0, float((d[1:] * d[:-1]).sum() / max((d * d).sum(), 1e-300))))
    return math.sqrt(float((d * d).sum()) / (len(x) - 1) / len(x) * (1 + r) / (1 - r))
