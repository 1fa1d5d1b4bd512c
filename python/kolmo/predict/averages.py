"""Averages of weights along a training: the power average of Karras et al. 2024 (arXiv:2312.02696) and the exponential one.

Each average is one flat buffer for each dtype and device. Views of it in the shapes of the weights are updated by one call of PyTorch
for each average, which is faster than gathering the weights in a flat buffer first (``bench/predict_overhead.py``)."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kolmo._kolmo import InvalidArgument


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, which True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def power_exponent(width: float) -> float:
    """The exponent g of weights t^g that give the average's time a standard deviation of ``width`` times the time since the start:
    width = sqrt(g + 1) / ((g + 2) sqrt(g + 3)); 0.1 gives 6.94 and 0.05 gives 16.97."""
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        wide = (middle + 1) ** 0.5 / ((middle + 2) * (middle + 3) ** 0.5) > width
        low, high = (middle, high) if wide else (low, middle)
    return low


class _Rule:
    """Which share of an average the present weights are, from "power:WIDTH" or "exponential:DECAY"."""

    def __init__(self, name: str, stride: int):
        kind, _, text = name.partition(":")
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if kind == "power" and 0 < number < 0.28:
            self._exponent: float | None = power_exponent(number) + 1
        elif kind == "exponential" and 0 < number < 1:
            self._exponent, self._least = None, 1 - number ** stride
        else:
            raise InvalidArgument(f"kolmo.predict: the average {name!r} is none of power:WIDTH with a width between 0 and 0.28, such as "
                                  "power:0.1, and exponential:DECAY with a decay between 0 and 1, such as exponential:0.999")

    def share(self, count: int) -> float:
        """Of the update with this number, from 1; the first is the weights themselves."""
        if self._exponent is None:
            return max(self._least, 1 / count)
        return float(1 - (1 - 1 / count) ** self._exponent)


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _views(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    ends = np.cumsum([t.numel() for t in like])
    return [flat[end - t.numel():end].view(t.shape) for end, t in zip(ends.tolist(), like, strict=True)]


class _Segment:
    """The tensors that began to be averaged together, and their averages by name."""

    def __init__(self, tensors: Sequence[Tensor], names: Iterable[str]):
        self.tensors, self.count = list(tensors), 0
        self.flat: dict[str, list[Tensor]] = {}
        self._groups: dict[tuple[torch.dtype, torch.device], list[Tensor]] = {}
        for t in self.tensors:
            self._groups.setdefault((t.dtype, t.device), []).append(t)
        self._views: dict[str, list[list[Tensor]]] = {}
        for name in names:
            self.flat[name] = [torch.zeros(sum(t.numel() for t in group), dtype=_wide(dtype), device=device)
                               for (dtype, device), group in self._groups.items()]
            self._views[name] = [_views(flat, group) for flat, group in zip(self.flat[name], self._groups.values(), strict=True)]

    def update(self, rules: dict[str, _Rule]) -> None:
        self.count += 1
        for number, ((dtype, device), group) in enumerate(self._groups.items()):
            if group[0].device != device or group[0].dtype != dtype:
                raise InvalidArgument(f"kolmo.predict: the weights were {dtype} on {device} and are {group[0].dtype} on {group[0].device} now; "
                                      "make the averages after the model was moved")
            now = [t.detach() if t.dtype == _wide(dtype) else t.detach().float() for t in group]
            for name, rule in rules.items():
                torch._foreach_lerp_(self._views[name][number], now, rule.share(self.count))  # type: ignore[attr-defined,unused-ignore]

    def of(self, present: set[int]) -> _Segment | None:
        """The segment of those of its tensors that are there: itself if all are, None if none is."""
        staying = [t for t in self.tensors if id(t) in present]
        if len(staying) == len(self.tensors):
            return self
        if not staying:
            return None
        smaller = _Segment(staying, self.flat)
        smaller.count = self.count
        for name in self.flat:
            values = {id(t): v for t, v in self.pairs(name)}
            for t, v in smaller.pairs(name):
                v.copy_(values[id(t)])
        return smaller

    def pairs(self, name: str) -> list[tuple[Tensor, Tensor]]:
        """Each tensor with its average."""
        return [(t, v) for views, group in zip(self._views[name], self._groups.values(), strict=True)
                for v, t in zip(views, group, strict=True)]

    def put(self, name: str) -> None:
        for tensor, average in self.pairs(name):
            tensor.detach().copy_(average)


class Averages:
    """Averages of tensors that training changes in place.

    ``names``: "power:WIDTH", which weighs the step t by t^g so that the average is about WIDTH times the steps so far wide, and
    "exponential:DECAY" (per step, and the plain mean of all weights until that is shorter). ``stride``: an average takes the weights
    of every ``stride``-th step. Weights of 16 bits are averaged in 32. Tensors may come and go: the average of a new one begins then.
    """

    def __init__(self, tensors: Iterable[Tensor], names: Sequence[str] = ("power:0.1",), stride: int = 10):
        if not is_whole(stride) or stride < 1 or not names:
            raise InvalidArgument("kolmo.predict: averages need at least one name and a stride of whole steps that is at least 1, not "
                                  f"{list(names)} and {stride!r}")
        self.names, self.stride, self.steps = tuple(dict.fromkeys(names)), stride, 0
        self._rules = {name: _Rule(name, stride) for name in self.names}
        self._segments: list[_Segment] = []
        self._ids: list[int] = []
        self._inside: str | None = None
        self._adopted: str | None = None  # inside averaged(), for its end
        self._watch_tensors(list(tensors))

    def _watch_tensors(self, tensors: list[Tensor]) -> None:
        tensors = [t for t in tensors if t.is_floating_point() or t.is_complex()]
        ids = [id(t) for t in tensors]
        if ids == self._ids:
            return
        present, known = set(ids), {id(t) for s in self._segments for t in s.tensors}
        self._segments = [kept for s in self._segments if (kept := s.of(present)) is not None]
        if new := [t for t in tensors if id(t) not in known]:
            self._segments.append(_Segment(new, self.names))
        self._ids, self._tensors = ids, tensors

    @torch.no_grad()
    def step(self, tensors: Iterable[Tensor] | None = None) -> None:
        """Counts a step, and updates the averages at every ``stride``-th one. ``tensors``: those that there are now."""
        self.check_outside()
        self.steps += 1
        if self.steps % self.stride:
            return
        if tensors is not None:
            self._watch_tensors(list(tensors))
        for segment in self._segments:
            segment.update(self._rules)

    def check_outside(self) -> None:
        """Raises RuntimeError inside :meth:`averaged`, where no step may be taken."""
        if self._inside:
            raise RuntimeError("kolmo.predict: a step inside averaged(); the averaged weights are for evaluation, so leave the context first")

    def due(self) -> bool:
        """Whether the next step updates the averages."""
        return (self.steps + 1) % self.stride == 0

    def chosen(self, name: str | None) -> str:
        """``name``, or the first average; an unknown name raises."""
        if name is not None and name not in self.names:
            raise InvalidArgument(f"kolmo.predict: there is no average {name!r}; there are {', '.join(self.names)}")
        return name or self.names[0]

    @property
    def inside(self) -> str | None:
        """The name of the average that the weights are now, inside :meth:`averaged`."""
        return self._inside

    @contextmanager
    def averaged(self, name: str | None = None) -> Iterator[None]:
        """Puts the average into the weights, in place, and the weights back at the end, also if the body raises. Weights of which
        there is no average yet stay. What the body does to the weights is lost; an :meth:`adopt` in it is carried out at the end."""
        name = self.chosen(name)
        if self._inside:
            raise RuntimeError(f"kolmo.predict: averaged() inside averaged(); the weights are the average {self._inside} already")
        with torch.no_grad():
            kept = [(t.detach(), t.detach().clone()) for s in self._segments if s.count for t in s.tensors]
        self._inside = name
        try:
            self._put(name)
            yield
        finally:
            adopted, self._inside, self._adopted = self._adopted, None, None
            with torch.no_grad():
                for tensor, was in kept:
                    tensor.copy_(was)
            if adopted:
                self._put(adopted)

    def adopt(self, name: str | None = None) -> None:
        """Makes the weights the average, for good: inside :meth:`averaged` at its end."""
        name = self.chosen(name)
        if self._inside:
            self._adopted = name
        else:
            self._put(name)

    @torch.no_grad()
    def _put(self, name: str) -> None:
        for segment in self._segments:
            if segment.count:
                segment.put(name)

    @torch.no_grad()
    def add(self, changes: Sequence[Tensor]) -> None:
        """Adds ``changes``, one in the shape of each averaged tensor, to all averages."""
        for name in self.names:
            for average, change in zip(self.values(name), changes, strict=True):
                average.add_(change)

    def tensors(self) -> list[Tensor]:
        """The averaged tensors, in the order of :meth:`values`."""
        return [t.detach() for s in self._segments for t, _ in s.pairs(self.names[0])]

    def values(self, name: str | None = None) -> list[Tensor]:
        """The average of each of :meth:`tensors`: views of the flat buffers."""
        name = self.chosen(name)
        return [v for s in self._segments for _, v in s.pairs(name)]

    def state_dict(self) -> dict[str, Any]:
        place = {i: n for n, i in enumerate(self._ids)}
        return {"names": list(self.names), "stride": self.stride, "steps": self.steps, "segments": [
            {"places": [place.get(id(t), -1) for t in s.tensors], "count": s.count,
             "flat": {name: [f.clone() for f in flat] for name, flat in s.flat.items()}} for s in self._segments]}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Names, stride and the number of tensors must be those with which the state was made. A state that does not fit raises and
        changes nothing."""
        steps = int(state["steps"])
        if tuple(state["names"]) != self.names or state["stride"] != self.stride:
            raise InvalidArgument(f"kolmo.predict: the state has the averages {', '.join(state['names'])} with stride {state['stride']}, and "
                                  f"these are {', '.join(self.names)} with stride {self.stride}")
        segments = []
        for saved in state["segments"]:
            if any(not 0 <= place < len(self._tensors) for place in saved["places"]):
                raise InvalidArgument(f"kolmo.predict: the state has averages of {max(saved['places']) + 1} tensors or of some that were removed, "
                                      f"and the optimizer has {len(self._tensors)}: add its parameter groups before loading")
            tensors = [self._tensors[place] for place in saved["places"]]
            same = next((s for s in self._segments if [id(t) for t in s.tensors] == [id(t) for t in tensors]), None)
            segment = same or _Segment(tensors, self.names)
            for name in self.names:
                there, loaded = [f.numel() for f in segment.flat[name]], [f.numel() for f in saved["flat"][name]]
                if there != loaded:
                    raise InvalidArgument(f"kolmo.predict: the state's average {name} has {loaded} weights, and the optimizer's tensors have {there}")
            segments.append((segment, saved, int(saved["count"])))
        for segment, saved, count in segments:
            segment.count = count
            for name in self.names:
                for into, value in zip(segment.flat[name], saved["flat"][name], strict=True):
                    into.copy_(value)
        covered = {id(t) for segment, *_ in segments for t in segment.tensors}
        later = [t for t in self._tensors if id(t) not in covered]
        self._segments = [segment for segment, *_ in segments] + ([_Segment(later, self.names)] if later else [])
        self.steps = steps
