"""Decisions: when to decay, when to return the average or to stop, and when to raise an alarm."""
from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any


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
