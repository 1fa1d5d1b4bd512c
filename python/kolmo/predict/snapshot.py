"""The state of a training at one step, from which it can go on: kept on its device, or in host memory where that is full."""
from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kolmo._kolmo import InvalidArgument
from kolmo.predict.averages import Averages


def generators() -> dict[str, Any]:
    """The state of the global generators of random numbers of Python, NumPy and PyTorch."""
    used = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call,unused-ignore]
    cuda = torch.cuda.get_rng_state_all() if used else []
    return {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.get_rng_state(), "cuda": cuda}


def set_generators(state: dict[str, Any]) -> None:
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if state["cuda"]:
        torch.cuda.set_rng_state_all(state["cuda"])


@contextmanager
def same_generators() -> Iterator[None]:
    """What is drawn inside is not missed outside."""
    state = generators()
    try:
        yield
    finally:
        set_generators(state)


def _kept(value: Any, host: bool) -> Any:
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True) if host else value.detach().clone()
    if isinstance(value, dict):
        return {k: _kept(v, host) for k, v in value.items()}
    return copy.deepcopy(value)


class Snapshot:
    """Weights, buffers, the optimizer's state and options, averages, the states of ``parts`` (schedulers, scalers), generators and the
    place in the data. Restoring is in place, so that views, compiled code and graphs stay valid."""

    def __init__(self, step: int, optimizer: torch.optim.Optimizer, buffers: Iterable[Tensor], averages: Averages | None,
                 parts: Sequence[Any], data: Any = None):
        self.step = step
        self._optimizer, self._parts, self._data = optimizer, list(parts), data
        try:
            self._take(buffers, averages, host=False)
        except torch.OutOfMemoryError:
            self._take(buffers, averages, host=True)

    def _take(self, buffers: Iterable[Tensor], averages: Averages | None, host: bool) -> None:
        self.host = host
        parameters = [p for g in self._optimizer.param_groups for p in g["params"]]
        self._tensors = [(t, _kept(t, host)) for t in [*parameters, *buffers]]
        self._states = {p: _kept(self._optimizer.state.get(p), host) for p in parameters}
        self._groups = [_kept({k: v for k, v in g.items() if k != "params"}, host) for g in self._optimizer.param_groups]
        self._averages = None if averages is None else _kept(averages.state_dict(), host)
        self._part_states = [_kept(p.state_dict(), host) for p in self._parts]
        self._data_state = None if self._data is None else _kept(self._data.state_dict(), host)
        self._generators = generators()

    @torch.no_grad()
    def include(self, parameters: Iterable[Tensor]) -> None:
        """Keeps the present values of parameters that were added since, and of no others."""
        known = {id(t) for t, _ in self._tensors}
        for p in parameters:
            if id(p) not in known:
                self._tensors.append((p, _kept(p, self.host)))
                self._states[p] = _kept(self._optimizer.state.get(p), self.host)

    @torch.no_grad()
    def restore(self, averages: Averages | None, *, random_and_data: bool) -> None:
        """``random_and_data``: also the generators and the place in the data, so that the same steps come again."""
        for tensor, was in self._tensors:
            tensor.copy_(was)
        for p, was in self._states.items():
            if was is None:
                self._optimizer.state.pop(p, None)
                continue
            now = self._optimizer.state[p]
            for key in set(now) - set(was):
                del now[key]
            for key, value in was.items():
                now[key] = _put(now.get(key), value)
        for group, was in zip(self._optimizer.param_groups, self._groups, strict=False):
            for key, value in was.items():
                group[key] = _put(group.get(key), value)
        if averages is not None and self._averages is not None:
            averages.load_state_dict(self._averages)
        for part, was in zip(self._parts, self._part_states, strict=True):
            part.load_state_dict(copy.deepcopy(was))
        if random_and_data:
            if self._data is not None:
                self._data.load_state_dict(copy.deepcopy(self._data_state))
            set_generators(self._generators)

    def state_dict(self) -> dict[str, Any]:
        """Tensors in the order of parameters and buffers."""
        r = self._generators
        python, numpy = r["python"], r["numpy"]
        return {"step": self.step, "tensors": [v for _, v in self._tensors], "states": list(self._states.values()), "groups": self._groups,
                "averages": self._averages, "parts": self._part_states, "data": self._data_state,
                "generators": {"python": [python[0], list(python[1]), python[2]], "numpy": [numpy[0], numpy[1].tolist(), *numpy[2:]],
                               "torch": r["torch"], "cuda": list(r["cuda"])}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Into a snapshot of the same optimizer, buffers, averages and parts."""
        if len(state["tensors"]) != len(self._tensors) or len(state["parts"]) != len(self._parts):
            raise InvalidArgument(f"kolmo.predict: the snapshot in the state has {len(state['tensors'])} tensors and {len(state['parts'])} parts, "
                                  f"and the training has {len(self._tensors)} and {len(self._parts)}")
        self.step = state["step"]
        self._tensors = [(t, v) for (t, _), v in zip(self._tensors, state["tensors"], strict=True)]
        self._states = dict(zip(self._states, state["states"], strict=True))
        self._groups, self._averages, self._part_states, self._data_state = state["groups"], state["averages"], state["parts"], state["data"]
        g = state["generators"]
        self._generators = {"python": (g["python"][0], tuple(g["python"][1]), g["python"][2]),
                            "numpy": (g["numpy"][0], np.array(g["numpy"][1], dtype=np.uint32), *g["numpy"][2:]),
                            "torch": g["torch"], "cuda": g["cuda"]}


def _put(into: Any, value: Any) -> Any:
    if isinstance(value, Tensor):
        if isinstance(into, Tensor) and into.shape == value.shape and into.dtype == value.dtype:
            return into.copy_(value)
        return value.clone() if not isinstance(into, Tensor) else value.to(into.device, copy=True)
    return copy.deepcopy(value)
