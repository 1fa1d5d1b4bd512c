"""Configurations that `kolmo tune` or kolmo.tuner.tune() measured to be the fastest, and which calls take by themselves.

Calls of this process use the store of this machine for the device on which the process works first."""
from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from kolmo import _kolmo
from kolmo._command import command

atexit.register(_kolmo.keep_misses)


def use(store: str | None = None, device: str = "auto") -> int:
    """Take configurations from a store (None: the default one) for calls on `device`; returns how many it has."""
    return int(_kolmo.use_store(_kolmo.default_store() if store is None else store, device))


def stop() -> None:
    """Every call runs with its default again."""
    _kolmo.stop_using()


def missed() -> int:
    """Calls of this process that had no configuration of their own, each counted once."""
    return int(_kolmo.missed_calls())


def tune(*operators: str, **options: Any) -> Any:
    """`kolmo tune OPERATORS`: measures in a process of its own and keeps the results. Options are those of the command, such
    as device="cuda", budget=60, misses=True. Returns its JSON record. Then call use()."""
    return command("tune", *operators, **options)


@dataclass(frozen=True)
class Tuned:
    """What kolmo.tune() found. `speedup` is over the default, the first configuration; it is 1 if the default won or if the
    time was too short for a decision (`decided` is False)."""
    best: dict[str, Any]
    speedup: float
    decided: bool
    samples: int
    findings: list[dict[str, Any]] = field(repr=False)


def tune_function(function: Callable[..., Any], space: Mapping[str, Sequence[Any]], *, budget: float = 10, margin: float = 0.02,
                  constraint: Callable[..., bool] | None = None, verify: Callable[..., Any] | None = None,
                  synchronize: Callable[[], Any] | None = None) -> Tuned:
    """Find the keyword arguments with which `function` is fastest.

    Parameters
    ----------
    function : called with one value of each parameter of `space`; each call is timed. InvalidArgument, Unsupported and
        OutOfMemory mean that a configuration cannot run; any other exception ends the tuning.
    space : names and the values to choose from; the first of each is the default.
    budget : seconds of measuring.
    margin : the lower bound of the gain must exceed it for a switch.
    constraint : says whether a combination is allowed.
    verify : called once with a configuration before it may win; raises kolmo.Error if the results are wrong.
    synchronize : waits for work that `function` only queues, such as torch.cuda.synchronize.

    A faster configuration is confirmed by a second round of pairs before it wins.
    """
    names, values = list(space), [list(v) for v in space.values()]

    def chosen(places: list[int]) -> dict[str, Any]:
        return {name: v[i] for name, v, i in zip(names, values, places, strict=True)}

    def measure(places: list[int]) -> float:
        arguments = chosen(places)
        begin = perf_counter()
        function(**arguments)
        if synchronize:
            synchronize()
        return perf_counter() - begin

    def verified(places: list[int]) -> float:
        if verify:
            verify(**chosen(places))
        return 0.0

    found = json.loads(_kolmo.tune(
        getattr(function, "__name__", "function"), [(n, len(v)) for n, v in zip(names, values, strict=True)], measure,
        (lambda places: bool(constraint(**chosen(places)))) if constraint else None, verified if verify else None, budget, margin))
    findings = [{**chosen(f.pop("places")), **f} for f in found["findings"]]
    return Tuned(chosen(found["places"]), found["speedup"], found["decided"], found["samples"], findings)
