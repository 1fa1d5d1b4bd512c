"""The part of PyTorch in the phases of a watched training, which the C++ core goes through: snapshots, evaluations, forecasts, factors on
the learning rates, and agreement between processes."""
from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed

from kolmo import _kolmo
from kolmo._kolmo import InvalidArgument
from kolmo.predict.decide import Decision
from kolmo.predict.outlook import outlook_of
from kolmo.predict.snapshot import Snapshot

if TYPE_CHECKING:
    from kolmo.predict.jumps import Jumps
    from kolmo.predict.watch import Watch


class Controller:
    """Part of :class:`Watch`, whose arguments it takes. The host of ``core``, which calls the methods of the middle part."""

    def __init__(self, watch: Watch, control: bool, evaluate: Callable[[], float] | None, every: int | None, state: Sequence[Any],
                 data: Any, warmup: int, overhead: float | None, jumps: Jumps | None):
        if jumps is not None and not control:
            raise InvalidArgument("kolmo.predict.Watch: jumps change the weights, so they need control=True")
        self.watch, self.control, self.evaluate, self.jumps = watch, control, evaluate, jumps
        self._new_core = partial(
            _kolmo.Controller, control=control, evaluates=evaluate is not None, target=watch.target, budget=watch.budget, every=every,
            warmup=warmup, overhead=overhead, averages=list(watch.averages.names if watch.averages else ()))
        self.core = self._new_core()
        self._parts, self._data = list(state), data
        self._snapshots: dict[int, Snapshot] = {}  # by step
        self._parameters = 0

    def close(self) -> None:
        self.control = False
        self.core.release()
        self._snapshots = {}

    @property
    def decisions(self) -> list[Decision]:
        return [Decision(**d) for d in self.core.decisions]

    @property
    def offset(self) -> float:
        return self.core.offset

    def before_step(self) -> None:
        self.core.before_step(self)
        count = sum(len(g["params"]) for g in self.watch.optimizer.param_groups)
        if count != self._parameters:
            self._parameters = count
            for snapshot in self._snapshots.values():
                snapshot.include(p for g in self.watch.optimizer.param_groups for p in g["params"])

    def snapshot(self) -> Snapshot | None:
        """None if there is no memory for it."""
        began = perf_counter()
        try:
            w = self.watch
            return Snapshot(w.steps, w.optimizer, w._buffers(), w.averages, self._parts, self._data)
        except (torch.OutOfMemoryError, MemoryError):
            return None
        finally:
            self.core.charge("snapshots", perf_counter() - began)

    def return_to(self, snapshot: Snapshot, *, random_and_data: bool) -> None:
        """The steps since then are forgotten by the log, and charged."""
        self._restore(snapshot, random_and_data)
        self.core.went_back(snapshot.step)

    def _restore(self, snapshot: Snapshot, random_and_data: bool) -> None:
        w = self.watch
        w._recorder.everything()
        snapshot.restore(w.averages, random_and_data=random_and_data)
        w.log.cut(snapshot.step)
        self._snapshots = {step: s for step, s in self._snapshots.items() if step <= snapshot.step}

    # -- what the core asks for

    def losses(self, start: int, wait: bool) -> list[float]:
        if wait:
            self.watch._recorder.everything()
        return self.watch.log.losses(start)

    def validations(self, of: str) -> list[float]:
        losses: list[float] = self.watch.log.validation(of)[1].tolist()
        return losses

    def evaluate_each(self, of: list[str]) -> list[tuple[str, float]] | None:
        """The losses of rank 0: of the weights, whose name is "", and of averages."""
        w, losses = self.watch, list[tuple[str, float]]()
        if self.evaluate is None:
            return losses
        try:
            with w.evaluating("evaluations"), torch.no_grad():
                for name in of:
                    with w.averaged(name) if name else nullcontext():
                        losses.append((name, float(self.evaluate())))
            found: list[tuple[str, float]] | None = losses
        except torch.OutOfMemoryError:
            found = None
        found = self.agree(found)
        w.log.validations.extend((w.steps, loss, of) for of, loss in found or ())
        return found

    def forecast(self, start: int | None, length: int, horizon: int, of: str) -> Any:
        return outlook_of(self.watch._look(start, length, horizon, of, self.watch.target), self.watch.steps)

    def keep(self, step: int) -> bool:
        if step not in self._snapshots and (snapshot := self.snapshot()) is not None:
            self._snapshots[step] = snapshot
        return step in self._snapshots

    def forget_except(self, steps: list[int]) -> None:
        self._snapshots = {step: s for step, s in self._snapshots.items() if step in steps}

    def restore(self, step: int, random_and_data: bool) -> None:
        self._restore(self._snapshots[step], random_and_data)

    def set_rate_factor(self, factor: float) -> None:
        if self.control:
            self.watch.rates.factor = factor

    def adopt(self, average: str) -> None:
        self.watch.adopt(average)

    def _together(self) -> bool:
        return self.control and torch.distributed.is_available() and torch.distributed.is_initialized()

    def agree(self, value: Any) -> Any:
        """Returns on every rank what rank 0 says."""
        if not self._together():
            return value
        values = [value]
        torch.distributed.broadcast_object_list(values, src=0)
        return values[0]

    def all(self, here: bool) -> bool:
        """Whether it is so on every rank."""
        if not self._together():
            return here
        everywhere = [here] * torch.distributed.get_world_size()
        torch.distributed.all_gather_object(everywhere, here)
        return False not in everywhere

    def quiet_block(self) -> None:
        if self.jumps is not None:
            self.jumps.consider(self)

    def alarmed(self) -> None:
        if self.jumps is not None:
            self.jumps.cancel()

    # -- to a file and back

    def state_dict(self) -> dict[str, Any]:
        return {"core": self.core.state(), "snapshots": [s.state_dict() for s in self._snapshots.values()],
                "jumps": self.jumps.state_dict() if self.jumps is not None else None}

    def loaded(self, state: dict[str, Any]) -> Callable[[], None]:
        """Reads a state, and returns a function that takes it over and cannot fail."""
        core, jumps = self._new_core(), copy.copy(self.jumps)
        core.load(state["core"])
        snapshots = {s["step"]: self.restored(s) for s in state["snapshots"]}
        if jumps is not None:
            jumps.load_state_dict(state["jumps"], self)

        def take_over() -> None:
            self.core, self._snapshots = core, snapshots
            if self.jumps is not None:
                vars(self.jumps).update(vars(jumps))
            self.set_rate_factor(core.rate_factor)
        return take_over

    def restored(self, state: dict[str, Any]) -> Snapshot:
        """The snapshot of this state."""
        kept = self.snapshot()
        if kept is None:
            raise InvalidArgument("kolmo.predict.Watch: there is no memory for a snapshot that is in the state")
        kept.load_state_dict(state)
        return kept
