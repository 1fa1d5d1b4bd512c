"""The losses of a training on their way into the log: numbers on a GPU are fetched in blocks, so that no step waits for one."""
from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from kolmo.predict.log import Log

BLOCK = 10  # steps
NORM_EVERY = 50  # steps: a norm takes one pass over all gradients


def scalar(value: Any) -> float | Tensor:
    """A number now if it costs nothing, and a copy of the tensor if a GPU has it."""
    if type(value) is float:
        return value
    if isinstance(value, Tensor):
        if value.numel() != 1:
            raise ValueError(f"kolmo.predict: a loss is one number, not a tensor of shape {tuple(value.shape)}; pass its mean")
        return value.item() if value.device.type == "cpu" else value.detach().clone()
    return float(value)


class Recorder:
    """Rows (step, loss, gradient norm, rate) of blocks. The block before the last is in the log; with nothing on a GPU all are."""

    def __init__(self, log: Log):
        self._log, self.open = log, list[tuple[Any, ...]]()
        self._waiting: list[tuple[list[tuple[Any, ...]], Tensor | None, Any]] = []

    def close(self) -> None:
        """Ends a block: starts to fetch it, and takes into the log what has arrived."""
        rows, self.open = self.open, []
        remote = [v for row in rows for v in row[1:] if isinstance(v, Tensor)]
        if not remote:
            self._waiting.append((rows, None, None))
            return self.drain()
        gathered = torch.stack([v.reshape(()).to(remote[0].device, torch.float32) for v in remote])
        if gathered.is_cuda:
            host = torch.empty(len(remote), dtype=gathered.dtype, pin_memory=True).copy_(gathered, non_blocking=True)
            event = torch.cuda.Event()  # type: ignore[no-untyped-call,unused-ignore]
            event.record()
        else:
            host, event = gathered.cpu(), None
        self._waiting.append((rows, host, event))
        self.drain(keep=1 if event else 0)

    def drain(self, keep: int = 0) -> None:
        while len(self._waiting) > keep:
            rows, host, event = self._waiting.pop(0)
            if event is not None:
                event.synchronize()
            if host is not None:
                values = iter(host.tolist())
                rows = [tuple(next(values) if isinstance(v, Tensor) else v for v in row) for row in rows]
            self._log.append(rows)

    def everything(self) -> None:
        """Takes all steps so far into the log, and waits for a GPU."""
        rows, self.open = self.open, []
        self.drain()
        self._log.append(tuple(float(v) for v in row) for row in rows)

    def forget(self) -> None:
        self.open, self._waiting = [], []


def norm_of_gradients(optimizer: torch.optim.Optimizer) -> float | Tensor:
    """The norm of all gradients that are there; NaN if there is none."""
    gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
    if not gradients or any(g.layout != torch.strided for g in gradients):
        return math.nan
    return scalar(torch.nn.utils.get_total_norm(gradients))
