"""A watch over a training with PyTorch: its log, forecasts, averaged weights, and decisions."""
from __future__ import annotations

import copy
import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from kolmo._kolmo import InvalidArgument
from kolmo.predict.averages import Averages, is_whole
from kolmo.predict.control import Controller
from kolmo.predict.decide import Decision
from kolmo.predict.jumps import Jumps
from kolmo.predict.live import Live
from kolmo.predict.log import Columns, Log
from kolmo.predict.outlook import Forecaster, check_store, decayed, default_forecaster
from kolmo.predict.rates import Rates
from kolmo.predict.record import BLOCK, NORM_EVERY, Recorder, norm_of_gradients, scalar
from kolmo.predict.schedule import Schedule
from kolmo.predict.snapshot import same_generators

MOST_STEPS = 3_000_000  # 300,000 blocks, the most that `kolmo forecast` takes


def _loss(name: str, value: Any) -> float:
    """A finite number, also as a tensor or array without dimensions."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__float__") or getattr(value, "shape", None) or not math.isfinite(value):
        raise InvalidArgument(f"kolmo.predict.{name} is a finite loss, not {value!r}")
    return float(value)


class Watch:
    """Watches a training: make it around the optimizer, and call :meth:`step` after each step of the optimizer.

    With ``control=False`` the training is untouched, bit by bit: losses are recorded, averages of the weights carried, forecasts made
    when asked for, and decisions recorded as advice. With ``control=True`` decisions are carried out.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
    target : float, optional
        The loss to reach: the held-out loss by ``evaluate`` or :meth:`validated`. As long as neither gave one, the mean training loss, over
        50 steps or the last twentieth of them, counts instead.
    budget : int, optional
        How many steps there are.
    average : bool, str or list of str, default True
        Names as :class:`Averages` takes them; True for "power:0.1".
    stride : int, default 10
        Averages take the weights of every so many steps.
    scheduler : optional
        The scheduler of PyTorch whose rates are the plan, stepped after each training step, after each epoch, or as often as it may be:
        how often is learned from the steps that are watched. Without one the plan is the present rate.
    model : torch.nn.Module, optional
        Its buffers, such as the statistics of batch norm, are averaged, swapped and restored as well.
    control : bool, default False
        Whether decisions are carried out.
    evaluate : function, optional
        Returns the held-out loss of the weights as they are.
    every : int, optional
        Steps between evaluations and decisions; by default 50, and later a twentieth of the steps.
    state : list, default ()
        What else a return to an earlier step restores beside ``scheduler``: objects with ``state_dict``, such as a GradScaler.
    data : optional
        The place in the data, an object with ``state_dict``; rolled back with the generators of random numbers after a decay that missed.
    warmup : int, default 100
        Steps without forecasts.
    store : optional
        Earlier runs, as :func:`forecast` takes them.
    overhead : float, default 0.005
        The share of the wall time that the watch may take. Decisions for whose forecasts it leaves no time are left out, so that they
        depend on timing; None: none is.
    jumps : Jumps, optional
    forecaster : function, optional
        In place of :func:`forecast`.
    name : str, default "training"
        What the page of :func:`kolmo.monitor.serve` calls this training.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, *, target: float | None = None, budget: int | None = None,
                 average: bool | str | Sequence[str] = True, stride: int = BLOCK, scheduler: Any = None,
                 model: torch.nn.Module | None = None, control: bool = False, evaluate: Callable[[], float] | None = None,
                 every: int | None = None, state: Sequence[Any] = (), data: Any = None, warmup: int = 100, store: Any = None,
                 overhead: float | None = 0.005, jumps: Jumps | None = None, forecaster: Forecaster = default_forecaster,
                 name: str = "training"):
        if control and target is None and budget is None:
            raise InvalidArgument("kolmo.predict.Watch: control=True needs target= (a loss) or budget= (steps), or it has nothing to decide by")
        if overhead is not None and not 0 < overhead <= 1:
            raise InvalidArgument(f"kolmo.predict.Watch: overhead is a share of the wall time above 0 and at most 1, not {overhead}")
        for option, value in (("budget", budget), ("every", every), ("warmup", warmup), ("stride", stride)):
            if not is_whole(value) and (value is not None or option in ("warmup", "stride")):
                raise InvalidArgument(f"kolmo.predict.Watch: {option} is a whole number of steps, not {value!r}")
        target = None if target is None else _loss("Watch: target", target)
        if target is not None and target <= 0:
            warnings.warn(f"kolmo.predict.Watch: the target is {target:g}; forecasts are of the logarithm of the loss, so that they cannot tell "
                          "when a loss that is not positive is reached, and no decay is started for it", stacklevel=2)
        check_store(store, forecaster)
        while isinstance(inner := getattr(optimizer, "optimizer", None), torch.optim.Optimizer):  # of Lightning and Accelerate
            optimizer = inner
        self.optimizer, self.model, self.store = optimizer, model, store
        self.target, self.budget = target, budget
        self.log = Log()
        self._recorder, self._forecaster, self._live = Recorder(self.log), forecaster, Live(name)
        names = ("power:0.1",) if average is True else (average,) if isinstance(average, str) else tuple(average or ())
        self.averages = Averages(self._tensors(), names, stride) if names else None
        self._micro: list[Any] = []
        self._schedule = None if scheduler is None else Schedule(scheduler)
        parts = list(state)
        if scheduler is not None:
            parts += [self._schedule] if any(s is scheduler for s in state) else [scheduler, self._schedule]
        self.controller = Controller(self, control, evaluate, every, parts, data, warmup, overhead, jumps)
        self.rates = Rates(optimizer, self._schedule, self.controller.before_step if control else None)

    def _tensors(self) -> list[Tensor]:
        buffers = self._buffers()
        return [p for g in self.optimizer.param_groups for p in g["params"]] + buffers

    def _buffers(self) -> list[Tensor]:
        return [] if self.model is None else list(self.model.buffers())

    # -- the loop

    def add(self, loss: Any) -> None:
        """The loss of one of several batches whose gradients are accumulated; :meth:`step` then takes their mean."""
        self._micro.append(scalar(loss))

    def step(self, loss: Any = None, *, gradient_norm: Any = None) -> None:
        """Records a step, after ``optimizer.step()``. ``loss``: a number or a tensor with one, which is not waited for on a GPU.
        ``gradient_norm``: the norm before clipping; by default that of the gradients as they are, at every 50th step."""
        started = perf_counter()
        if self.averages is not None:
            self.averages.check_outside()
        if loss is None:
            if not self._micro:
                raise InvalidArgument("kolmo.predict.Watch.step: without a loss there must be losses of add() since the last step")
            loss = sum(self._micro) / len(self._micro)
        self._micro = []
        step = self.steps + 1
        norm: Any = math.nan
        if gradient_norm is not None:
            norm = scalar(gradient_norm)
        elif step % NORM_EVERY == 0:
            norm = norm_of_gradients(self.optimizer)
        self._recorder.open.append((step, scalar(loss), norm, self.rates.step()))
        if step % BLOCK == 0:
            self._recorder.close()
            self._live.block(self.log, BLOCK, self.overhead)
        core = self.controller.core
        averaging = perf_counter()
        core.charge("record", averaging - started)
        if self.averages is not None:
            self.averages.step(self._tensors() if self.averages.due() else None)
            core.charge("averages", perf_counter() - averaging)
        core.step(self.controller)

    def validated(self, loss: Any, average: str | None = None) -> None:
        """Reports a held-out loss: of the weights, or inside :meth:`averaged` of the average."""
        of = self._averages().chosen(average) if average else self.averages.inside or "" if self.averages is not None else ""
        value = float(loss.detach() if isinstance(loss, Tensor) else loss)
        self.log.validations.append((self.steps, value, of))
        self.controller.core.validated(self.controller, of, value)

    # -- averages

    def averaged(self, name: str | None = None) -> AbstractContextManager[None]:
        """A context in which the weights are their average (the first one, or the one of this name), and after which they are what they
        were. With ``model=``, statistics of batch norm are averaged as the weights are; otherwise they stay those of the last steps:
        ``torch.optim.swa_utils.update_bn`` inside the context computes them anew."""
        return self._averages().averaged(name)

    def adopt(self, name: str | None = None) -> None:
        """Makes the weights the average, for good: at the end of a training, and inside :meth:`averaged` at the end of that."""
        self._averages().adopt(name)

    def _averages(self) -> Averages:
        if self.averages is None:
            raise InvalidArgument("kolmo.predict.Watch: there are no averages; make it with average=True")
        return self.averages

    # -- what is known

    @property
    def decisions(self) -> list[Decision]:
        """All decisions so far, with what has come of them."""
        return self.controller.decisions

    @property
    def steps(self) -> int:
        """The steps so far, without those that were rolled back."""
        return self.controller.core.steps

    @property
    def phase(self) -> str:
        """"warmup", "full", "predict" or "correct"."""
        return self.controller.core.phase

    @property
    def done(self) -> bool:
        """Whether a decision ended the training: its rate is 0 from then on with ``control=True``."""
        return self.controller.core.done

    @property
    def charged(self) -> int:
        """All steps that were taken, those that were rolled back included."""
        return self.controller.core.charged

    @property
    def wall(self) -> float:
        """Seconds since the first step."""
        return self.controller.core.wall

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds for record, averages, forecasts, evaluations and snapshots."""
        return self.controller.core.seconds

    @property
    def overhead(self) -> float:
        """The share of the wall time that the watch took on this thread, without ``evaluate`` and without what a GPU did meanwhile."""
        return self.controller.core.overhead

    def columns(self) -> Columns:
        """The log as arrays: step, loss, gradient_norm, rate; and validation and averaged where they are known, NaN elsewhere."""
        self._recorder.everything()
        columns = self.log.columns()
        names = ("", *(self.averages.names if self.averages else ())[:1])
        for column, of in zip(("validation", "averaged"), names, strict=False):
            steps, losses = self.log.validation(of)
            if len(steps) and len(self.log):
                columns[column] = np.full(len(self.log), math.nan)
                columns[column][np.searchsorted(columns["step"], steps).clip(max=len(self.log) - 1)] = losses
        return columns

    def forecast(self, *, decay_at: int | str | None = None, length: int | None = None, horizon: int | None = None,
                 target: float | None = None, of: str = "training") -> Any:
        """Forecasts the loss. ``decay_at``: the step at which the rate starts to fall linearly to 0 within ``length`` steps, or "now";
        None keeps the plan, which is the scheduler's, or the present rate. ``horizon``: steps ahead; by default to the end of the decay.
        ``of``: "training", "validation" or the name of an average, whose loss must have been reported. Returns a :class:`Forecast`."""
        self._recorder.everything()
        if self.steps == 0:
            raise InvalidArgument("kolmo.predict.Watch.forecast: there was no step yet")
        if target is not None and (target := _loss("Watch.forecast: target", target)) <= 0:
            raise InvalidArgument(f"kolmo.predict.Watch.forecast: target is {target}, but forecasts are of losses that are positive")
        for option, value in (("horizon", horizon), ("length", length), ("decay_at", None if decay_at == "now" else decay_at)):
            if value is not None and not is_whole(value):
                or_now = ' or "now"' if option == "decay_at" else ""
                raise InvalidArgument(f"kolmo.predict.Watch.forecast: {option} is a whole number of steps{or_now}, not {value!r}")
        start = 0
        if decay_at is not None:
            if length is None or length < 1:
                raise InvalidArgument("kolmo.predict.Watch.forecast: a decay has a length= of at least 1 step")
            start = 0 if decay_at == "now" else int(decay_at) - self.steps
            if start < 0:
                raise InvalidArgument(f"kolmo.predict.Watch.forecast: decay_at is {decay_at}, and {self.steps} steps are over")
            if horizon is None:
                horizon = start + length
        return self._look(start if decay_at is not None else None, length or 0, 100 if horizon is None else horizon, of, self.target if target is None else target)

    def _look(self, start: int | None, length: int, horizon: int, of: str, target: float | None) -> Any:
        if not 1 <= horizon <= MOST_STEPS:
            raise InvalidArgument(f"kolmo.predict.Watch.forecast: horizon is {horizon} steps; 1 to {MOST_STEPS} can be forecast")
        began = perf_counter()
        rates = self.planned(horizon)
        if start is not None:
            rates = decayed(1.0, start, length, horizon) * (rates if self._schedule is not None else rates[0])
        try:
            forecast = self._forecaster(self._columns_of(of), plan=rates, horizon=horizon, store=self.store,
                                        target=target if target is None or target > 0 else None)
            if start is None and of == "training":
                self._live.forecast(forecast)
            return forecast
        finally:
            self.controller.core.charge("forecasts", perf_counter() - began)

    def planned(self, horizon: int) -> np.ndarray[Any, Any]:
        """The rates of the steps to come without a decision: the scheduler's, or the present one."""
        return np.full(horizon, self.rates.planned(horizon) * self.controller.core.base_factor)

    def _columns_of(self, of: str) -> Columns:
        columns = self.columns()
        if of == "training":
            return columns
        if of != "validation":
            self._averages().chosen(of)
        steps, losses = self.log.validation("" if of == "validation" else of)
        if len(steps) < 2:
            raise InvalidArgument(f"kolmo.predict.Watch.forecast: there are {len(steps)} losses of {of}; report them by validated()"
                                  + ("" if of == "validation" else " inside averaged()"))
        rows = np.searchsorted(columns["step"], steps).clip(max=len(columns["step"]) - 1)
        kept = {"step": steps, "loss": losses, "rate": columns["rate"][rows]}
        return kept | ({"gradient_norm": columns["gradient_norm"][rows]} if "gradient_norm" in columns else {})

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the log as ``kolmo forecast`` reads it."""
        self._recorder.everything()
        self.log.write_csv(path)

    @contextmanager
    def evaluating(self, name: str) -> Iterator[None]:
        """Charges what runs inside to ``name``; it draws no random numbers that the training would miss."""
        began = perf_counter()
        try:
            with same_generators():
                yield
        finally:
            self.controller.core.charge(name, perf_counter() - began)

    # -- to a file and back

    def state_dict(self) -> dict[str, Any]:
        """Numbers, strings, lists and tensors, as ``torch.save`` takes and ``torch.load(weights_only=True)`` reads. The state of model,
        optimizer, scheduler and generators is not in it. With ``control=True`` the snapshots to which the training may go back are, up to
        three, each as large as weights, optimizer's state and averages."""
        self._recorder.everything()
        return {"version": 4, "log": self.log.state_dict(), "group": self.rates.group,
                "schedule": self._schedule.state_dict() if self._schedule is not None else None,
                "averages": self.averages.state_dict() if self.averages is not None else None, "controller": self.controller.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Into a watch that was made with the same arguments. A state that does not fit raises and changes nothing."""
        if state.get("version") != 4:
            raise InvalidArgument(f"kolmo.predict.Watch: the state has version {state.get('version')!r}, and this is version 4")
        if (self.averages is None) != (state["averages"] is None):
            raise InvalidArgument("kolmo.predict.Watch: averages are in one of state and watch only; make the watch with the same average=")
        log, group, schedule = Log(), int(state["group"]), copy.copy(self._schedule)
        log.load_state_dict(state["log"])
        if schedule is not None and state["schedule"] is not None:
            schedule.load_state_dict(state["schedule"])
        take_over = self.controller.loaded(state["controller"])
        if self.averages is not None:
            self.averages.load_state_dict(state["averages"])
        take_over()
        self._recorder.forget()
        vars(self.log).update(vars(log))
        self.rates.group = group
        if self._schedule is not None:
            vars(self._schedule).update(vars(schedule))

    def __reduce__(self) -> NoReturn:
        raise TypeError("kolmo.predict.Watch: a watch belongs to its optimizer and cannot be copied or pickled; save its state_dict(), and load "
                        "that into a watch that is made with the same arguments")

    def close(self) -> None:
        """Takes the watch off the optimizer. The training can go on without it."""
        self.controller.close()
        self.rates.close()
