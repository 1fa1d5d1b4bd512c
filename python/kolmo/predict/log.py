"""The log of a training: one row for each step, and the validations."""
from __future__ import annotations

import math
import os
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kolmo._kolmo import InvalidArgument

Columns = dict[str, np.ndarray[Any, Any]]
NAMES = ("step", "loss", "gradient_norm", "rate")
USUAL = {  # what columns are called by default: log_names() in kolmo/predict/record/log_file.cpp
    "step": ("step", "Step", "_step", "global_step", "trainer/global_step", "iteration", "iter"),
    "loss": ("loss", "train_loss", "train/loss", "training_loss", "loss/train"),
    "gradient_norm": ("gradient_norm", "grad_norm", "train/grad_norm"),
    "rate": ("rate", "lr", "learning_rate", "train/learning_rate", "train/lr"),
    "validation": ("validation", "val_loss", "eval_loss", "validation_loss", "val/loss", "eval/loss"),
    "averaged": ("averaged", "averaged_loss")}
UNKNOWN = {"", "none", "na", "<na>", "n/a", "nan", "nat", "null"}


def _numbers(values: np.ndarray[Any, Any], place: str) -> np.ndarray[Any, Any]:
    """Objects and texts as numbers, with NaN for unknown values. Raises InvalidArgument for the first that is neither."""
    numbers = np.full(len(values), math.nan)
    for row, value in enumerate(values):
        if str(value).strip().casefold() not in UNKNOWN:
            try:
                numbers[row] = float(value)
            except (TypeError, ValueError):
                raise InvalidArgument(f"log: row {row + 1}, {place}: {str(value)!r} is no number; convert it, or use None where a value is "
                                      "unknown") from None
    return numbers


def numeric_columns(log: Any, options: dict[str, Any]) -> Columns:
    """The columns of a dict or a DataFrame as arrays of doubles. A column that is no numbers and is not read is left out."""
    columns: Columns = {}
    for key in log if isinstance(log, Mapping) else log.columns:
        name, values = str(key), np.asarray(log[key])
        if values.dtype.kind not in "biuf":
            try:
                values = _numbers(values, f"column '{name}'")
            except InvalidArgument:
                read = {n for role, usual in USUAL.items() for n in ((options[role],) if options.get(role) else usual)}
                if name in read or name.rpartition(" - ")[2] in read:  # "RUN - loss", as in what wandb exports
                    raise
                continue
        columns[name] = np.ascontiguousarray(values, np.float64)
    mark_divergence(columns, options)
    return columns


def mark_divergence(columns: Columns, options: dict[str, Any]) -> None:
    """In arrays NaN is both unknown and a loss that is no number. A loss that is NaN from some row to the end, while it was known in nine
    of ten rows before, is the latter."""
    name = options.get("loss") or next((n for n in USUAL["loss"] if n in columns), None)
    if name not in columns:
        return
    bad = np.isnan(columns[name])
    known = np.flatnonzero(~bad)
    if len(known) and known[-1] + 1 < len(bad) and len(known) >= 0.9 * known[-1]:
        columns[name] = np.where(bad, np.inf, columns[name])


def _field(value: float) -> str:
    return "" if math.isnan(value) else "Infinity" if math.isinf(value) else repr(float(value))


class Log:
    """Columns step, loss, gradient_norm and rate (NaN where unknown), and validations: step, loss, and the average they are of."""

    def __init__(self) -> None:
        self._columns = {name: array("d") for name in NAMES}
        self.validations: list[tuple[int, float, str]] = []

    def __len__(self) -> int:
        return len(self._columns["step"])

    def append(self, rows: Iterable[tuple[float, ...]]) -> None:
        """Rows of step, loss, gradient norm and rate."""
        for column, values in zip(self._columns.values(), zip(*rows, strict=True), strict=False):
            column.extend(values)

    def columns(self) -> Columns:
        """The rows as arrays of doubles, copied. A gradient norm that is known at some steps holds until the next."""
        columns: Columns = {name: np.array(values) for name, values in self._columns.items()}
        norm = columns["gradient_norm"]
        known = np.flatnonzero(np.isfinite(norm))
        if len(known):
            columns["gradient_norm"] = norm[known[np.maximum(np.searchsorted(known, np.arange(len(norm)), side="right") - 1, 0)]]
        else:
            del columns["gradient_norm"]
        return columns

    def validation(self, average: str = "") -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Steps and held-out losses of the weights, or of an average of them."""
        rows = [(step, loss) for step, loss, of in self.validations if of == average]
        return np.array([s for s, _ in rows], float), np.array([v for _, v in rows], float)

    def last(self, count: int) -> np.ndarray[Any, Any]:
        return np.array(self._columns["loss"][-count:])

    def end(self) -> tuple[int, float]:
        """Step and rate of the last row."""
        return int(self._columns["step"][-1]), self._columns["rate"][-1]

    def losses(self, first: int) -> list[float]:
        """The losses of the rows from ``first`` on."""
        return list(self._columns["loss"][first:])

    def cut(self, step: int) -> None:
        """Forgets what came after this step, which is as if it had not been."""
        keep = int(np.searchsorted(np.array(self._columns["step"]), step, side="right"))
        for values in self._columns.values():
            del values[keep:]
        self.validations = [row for row in self.validations if row[0] <= step]

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes what ``kolmo forecast`` reads, beside the file and then over it. Fields of unknown values are empty; a loss that has
        diverged is Infinity."""
        columns: Columns = {name: np.array(values) for name, values in self._columns.items()}
        mark_divergence(columns, {})
        path = Path(path)
        beside = path.with_name(path.name + ".partial")
        with beside.open("w", encoding="utf-8") as out:
            out.write(",".join(NAMES) + "\n")
            for row in zip(*columns.values(), strict=True):
                out.write(",".join([str(int(row[0])), *(_field(v) for v in row[1:])]) + "\n")
        beside.replace(path)

    def state_dict(self) -> dict[str, Any]:
        return {"columns": {name: list(values) for name, values in self._columns.items()}, "validations": [list(v) for v in self.validations]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._columns = {name: array("d", state["columns"][name]) for name in NAMES}
        self.validations = [(int(step), float(loss), str(of)) for step, loss, of in state["validations"]]
