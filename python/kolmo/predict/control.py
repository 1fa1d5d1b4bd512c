"""The phases of a watched training. Warmup: no forecasts. Full: the training as it is. Predict: a decay runs, from a snapshot. Correct: its
result is compared with the forecast, and kept or rolled back. Every step, evaluation and forecast is charged."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.distributed

from kolmo._kolmo import Error, InvalidArgument, alarm_of, choose, decision_horizon, decision_stride
from kolmo.predict.decide import ALARM, GO_ON, RETURN_AVERAGE, START_DECAY, STOP, Decision
from kolmo.predict.outlook import outlook_of
from kolmo.predict.rates import RateFactor
from kolmo.predict.record import BLOCK
from kolmo.predict.snapshot import Snapshot

if TYPE_CHECKING:
    from kolmo.predict.jumps import Jumps
    from kolmo.predict.watch import Watch

ENOUGH = 6  # validations, for a forecast of them
FIRST_COST = 0.02  # seconds that the forecasts of a first decision are taken to cost
ALARMS = 3  # after so many the training stops


class Controller:
    """Part of :class:`Watch`, whose arguments it takes."""

    def __init__(self, watch: Watch, control: bool, evaluate: Callable[[], float] | None, every: int | None, state: Sequence[Any],
                 data: Any, warmup: int, overhead: float | None, jumps: Jumps | None):
        self.watch, self.control, self.evaluate = watch, control, evaluate
        self._every, self._warmup, self._overhead = every, warmup, overhead
        self._parts, self._data = list(state), data
        self.decisions: list[Decision] = []
        self.done, self.base_factor, self.offset = False, 1.0, 0.0
        self.rolled_back, self._alarms = 0, 0
        self._phase = "full"
        self._next = warmup
        self._cost = FIRST_COST
        self._means: list[float] = []  # of the losses in each block
        self._usual = math.nan
        self._decay: tuple[Decision, Snapshot] | None = None
        self._verified: Snapshot | None = None
        self._candidate: Snapshot | None = None
        self._parameters = 0
        if jumps is not None and not control:
            raise InvalidArgument("kolmo.predict.Watch: jumps change the weights, so they need control=True")
        self.jumps = jumps
        self._factor = RateFactor(watch.optimizer, self._before_step) if control else None

    def close(self) -> None:
        if self._factor is not None:
            self._factor.remove()
            self._factor = None
        self.control = False

    @property
    def phase(self) -> str:
        return "warmup" if self.watch.steps < self._warmup else self._phase

    def rate_used(self) -> Any:
        return None if self._factor is None else self._factor.used

    def agree(self, value: Any) -> Any:
        """What rank 0 says, on every rank."""
        if not self.control or not torch.distributed.is_available() or not torch.distributed.is_initialized():
            return value
        values = [value]
        torch.distributed.broadcast_object_list(values, src=0)
        return values[0]

    # -- snapshots

    def snapshot(self) -> Snapshot | None:
        """None if there is no memory for it."""
        began = perf_counter()
        try:
            w = self.watch
            return Snapshot(w.steps, w.optimizer, w._buffers(), w.averages, self._parts, self._data)
        except (torch.OutOfMemoryError, MemoryError):
            return None
        finally:
            self.watch.seconds["snapshots"] += perf_counter() - began

    def _before_step(self) -> None:
        if self._verified is None:
            self._verified = self.snapshot()
        count = sum(len(g["params"]) for g in self.watch.optimizer.param_groups)
        if count != self._parameters:
            self._parameters = count
            kept = [self._verified, self._candidate, self._decay[1] if self._decay else None]
            for snapshot in (s for s in kept if s is not None):
                snapshot.include(p for g in self.watch.optimizer.param_groups for p in g["params"])

    def return_to(self, snapshot: Snapshot, *, random_and_data: bool) -> None:
        """The steps since then are forgotten by the log, and charged."""
        w = self.watch
        w._recorder.everything()
        snapshot.restore(w.averages, random_and_data=random_and_data)
        self.rolled_back += w.steps - snapshot.step
        w.steps = snapshot.step
        w.log.cut(snapshot.step)
        del self._means[snapshot.step // BLOCK:]
        self._candidate = None

    # -- after each step

    def after_step(self, closing: bool) -> None:
        if closing:
            self._block()
        if self._decay is not None and not self.done:
            decision, start = self._decay
            passed = self.watch.steps - start.step
            self._set(self.base_factor * max(0.0, 1 - passed / decision.length))
            if passed >= decision.length:
                self._correct()
        if self.watch.budget is not None and not self.done and self.watch.charged >= self.watch.budget:
            self._finish("the budget is used up")

    def _set(self, factor: float) -> None:
        if self._factor is not None:
            self._factor.factor = factor

    def _block(self) -> None:
        w = self.watch
        if self.done:
            return
        while len(w.log) >= BLOCK * (len(self._means) + 1):
            losses = w.log.losses(BLOCK * len(self._means), BLOCK)
            self._means.append(sum(losses) / BLOCK)
        if not self._means:
            return
        reason, due = self.agree((self._alarm_reason(), self._due()))
        if reason:
            self._alarm(reason)
        elif self.control and self._decay is None:
            self._verify()
        if due and not reason and self._decay is None and not self.done:
            self._decide()
        if self.jumps is not None and not reason and self._decay is None and not self.done:
            self.jumps.consider(self)

    def _alarm_reason(self) -> str:
        """The full test where the last block is unusual, and at times that grow by a quarter."""
        last, usual = self._means[-1], self._usual
        if math.isfinite(last):
            self._usual = last if not math.isfinite(usual) else usual + 0.1 * (last - usual)
        count = len(self._means)
        looks = count >= 40 and count == int(40 * 1.25 ** round(math.log(count / 40, 1.25)))
        if looks or not math.isfinite(last) or last - usual > 0.25 * abs(usual):
            recent = [d for d in self.decisions[-3:] if d.action == ALARM and not self.control and self.watch.steps - d.step < 50 * BLOCK]
            return "" if recent else alarm_of(np.array(self._means))
        return ""

    def _verify(self) -> None:
        """A snapshot is verified once losses of its own weights are known and raise no alarm."""
        steps = self.watch.steps
        if self._candidate is not None and len(self.watch.log) >= self._candidate.step + BLOCK:
            self._verified, self._candidate = self._candidate, None
        if self._candidate is None and (self._verified is None or steps - self._verified.step >= max(10 * BLOCK, steps // 10)):
            self._candidate = self.snapshot()

    def _alarm(self, reason: str) -> None:
        decision = Decision(self.watch.steps, ALARM, reason=reason)
        self.decisions.append(decision)
        if not self.control or "drift" in reason:
            return
        self._alarms += 1
        back = self._decay[1] if self._decay else self._verified
        if back is not None:
            self.return_to(back, random_and_data=False)
            self.base_factor /= 2
            decision.outcome = {"returned_to": back.step, "rate_factor": self.base_factor}
        if self._decay is not None:
            self._decay[0].outcome = {"rolled_back": True, "reason": reason}
            self._decay = None
        if self.jumps is not None:
            self.jumps.cancel()
        self._phase = "full"
        self._set(self.base_factor)
        if self._alarms >= ALARMS:
            self._end(Decision(self.watch.steps, STOP, reason=f"{ALARMS} alarms, the last: {reason}"))

    # -- decisions

    def _due(self) -> bool:
        w = self.watch
        return self._decay is None and w.steps >= self._next and (w.target is not None or w.budget is not None)

    def _affordable(self) -> bool:
        """Whether the forecasts of a decision, if they cost what the last did, stay within half of the overhead; the other half is for
        records and averages."""
        w = self.watch
        return self._overhead is None or w.seconds["forecasts"] + self._cost <= self._overhead / 2 * w.wall

    def _stride(self) -> int:
        return self._every or decision_stride(self.watch.steps, BLOCK)

    def _later(self) -> None:
        self._next = self.watch.steps + self._stride()

    def _measure(self) -> dict[str, float]:
        """The held-out loss of the weights, "", and of each average, by ``evaluate``; empty without it."""
        w, losses = self.watch, dict[str, float]()
        if self.evaluate is None:
            return losses
        with w.evaluating("evaluations"), torch.no_grad():
            losses[""] = float(self.evaluate())
            for name in w.averages.names if w.averages is not None else ():
                with w.averaged(name):
                    losses[name] = float(self.evaluate())
        losses = dict(self.agree(losses))
        w.log.validations.extend((w.steps, loss, of) for of, loss in losses.items())
        return losses

    def _decide(self) -> None:
        w = self.watch
        self._later()
        try:
            losses = self._measure()
        except torch.OutOfMemoryError:
            self.decisions.append(Decision(w.steps, GO_ON, reason="there was no memory for the evaluation"))
            return
        if w.target is not None and losses and min(losses.values()) <= w.target:
            self._finish("the target is reached", losses)
            return
        if not self.agree(self._affordable()):
            return
        before = w.seconds["forecasts"]
        try:
            decision = self._choose()
        except Error as e:
            decision = Decision(w.steps, GO_ON, reason=str(e))
        self._cost = w.seconds["forecasts"] - before
        decision = self.agree(decision)
        if self.control and decision.action == START_DECAY:
            snapshot = self.snapshot()
            if self.agree(snapshot is None) or snapshot is None:
                decision = Decision(w.steps, GO_ON, reason="there is no memory for the snapshot that a decay starts from")
            else:
                self._decay, self._phase = (decision, snapshot), "predict"
        self.decisions.append(decision)

    def _choose(self) -> Decision:
        """What the forecasts of the held-out loss say, if there are enough losses of it, and otherwise those of the training loss."""
        w = self.watch
        validations = len(w.log.validation()[0]) >= ENOUGH
        loss = "validation" if validations else "training"
        average = w.averages.names[0] if w.averages is not None else None
        free = average if validations and average is not None and len(w.log.validation(average)[0]) >= ENOUGH else loss
        remaining = None if w.budget is None else max(0, w.budget - w.charged)
        stride = self._stride()
        going_on = w._look(None, 0, decision_horizon(w.steps, remaining, stride, BLOCK), free, w.target)
        return Decision(**choose(w.steps, w.target, remaining, stride, outlook_of(going_on, w.steps), lambda start, length: outlook_of(
            w._look(start, length, start + length, loss, w.target), w.steps), self.offset))

    def _correct(self) -> None:
        """The end of a decay. It is kept if it reached the target or ends the budget; otherwise the training goes on from its start."""
        assert self._decay is not None
        self._phase = "correct"
        w, (decision, start) = self.watch, self._decay
        w._recorder.everything()
        try:
            losses = self._measure() or {"": float(w.log.last(BLOCK).mean())}
        except torch.OutOfMemoryError:
            losses = {"": math.inf}
        losses = self.agree(losses)
        measured = losses[""]
        decision.outcome = {"measured": measured, "error": measured - decision.forecast, "losses": losses, "rolled_back": False}
        self._decay = None
        reached = w.target is not None and min(losses.values()) <= w.target
        over = w.budget is not None and w.charged >= w.budget
        if reached or (over and math.isfinite(measured)):
            self._finish("the target is reached" if reached else "the decay ends the budget", losses)
            return
        if math.isfinite(measured):
            self.offset += measured - decision.forecast
        self.return_to(start, random_and_data=True)
        decision.outcome["rolled_back"] = True
        self._phase = "full"
        self._set(self.base_factor)
        self._later()

    def after_validation(self, loss: float, of: str) -> None:
        if self.watch.target is not None and not self.done and loss <= self.watch.target and self.evaluate is None:
            self._finish("the target is reached", {of: loss})

    def _finish(self, reason: str, losses: dict[str, float] | None = None) -> None:
        """Returns the best of weights and averages, by their last held-out losses."""
        w = self.watch
        try:
            losses = losses or self._measure()
        except torch.OutOfMemoryError:
            losses = {}
        if not losses:
            names = w.averages.names if w.averages is not None else ()
            losses = {of: float(v[1][-1]) for of in ("", *names) if len((v := w.log.validation(of))[0])}
        losses = self.agree(losses)
        best = min(losses, key=lambda of: losses[of]) if losses else ""
        margin = losses.get("", math.nan) - losses[best] if best else math.nan
        decision = Decision(w.steps, RETURN_AVERAGE if best else STOP, margin=margin, reason=reason, outcome={"losses": losses})
        if best:
            decision.outcome["average"] = best
        self._end(decision)

    def _end(self, decision: Decision) -> None:
        self.decisions.append(decision)
        self.done, self._decay, self._phase = True, None, "full"
        self._set(0.0)
        if self.control and decision.action == RETURN_AVERAGE and self.watch.averages is not None and not self.watch.averages.inside:
            self.watch.adopt(decision.outcome["average"])

    # -- to a file and back

    def state_dict(self) -> dict[str, Any]:
        decay = None if self._decay is None else [self.decisions.index(self._decay[0]), self._decay[1].state_dict()]
        verified, candidate = (s and s.state_dict() for s in (self._verified, self._candidate))
        return {"verified": verified, "candidate": candidate, "decisions": [d.to_dict() for d in self.decisions], "done": self.done,
                "base_factor": self.base_factor, "offset": self.offset, "rolled_back": self.rolled_back, "alarms": self._alarms,
                "next": self._next, "cost": self._cost, "means": list(self._means), "usual": self._usual, "decay": decay,
                "factor": self._factor.factor if self._factor else 1.0, "phase": self._phase, "jumps": self.jumps.state_dict() if self.jumps is not None else None}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.decisions = [Decision(**d) for d in state["decisions"]]
        self.done, self.base_factor, self.offset = state["done"], state["base_factor"], state["offset"]
        self.rolled_back, self._alarms, self._next, self._cost = state["rolled_back"], state["alarms"], state["next"], state["cost"]
        self._means, self._usual, self._phase = list(state["means"]), state["usual"], state["phase"]
        self._verified, self._candidate = self.restored(state["verified"]), self.restored(state["candidate"])
        self._set(state["factor"])
        decay = state["decay"]
        start = self.restored(decay[1]) if decay else None
        self._decay = None if start is None else (self.decisions[decay[0]], start)
        if self.jumps is not None:
            self.jumps.load_state_dict(state["jumps"], self)

    def restored(self, state: dict[str, Any] | None) -> Snapshot | None:
        """The snapshot of this state."""
        if state is None:
            return None
        kept = self.snapshot()
        if kept is None:
            raise InvalidArgument("kolmo.predict.Watch: there is no memory for a snapshot that is in the state")
        kept.load_state_dict(state)
        return kept
