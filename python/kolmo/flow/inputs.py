"""Arrays and tables of other libraries as columns of double precision."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo._kolmo import InvalidArgument

NO_TRIALS = np.zeros(0, np.int32)
NUMBERS = re.compile(r"[\d-]*")  # names that read like the index of a column


@dataclass
class Columns:
    """Values of shape (rows, columns) or (trials, rows, columns), NaN where missing; names are empty if there are none.
    `single`: they were one series, without an axis of columns. `faults`: why columns of a data frame hold no numbers, which
    is an error only where they are used, as in the files that the command reads."""

    values: np.ndarray
    names: list[str] = field(default_factory=list)
    single: bool = False
    faults: dict[int, str] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return int(self.values.shape[-1])


def columns_of(data: Any, what: str) -> Columns:
    """Any array or table with time along rows. `what` is the argument's name, for messages."""
    if type(data) is np.ndarray and data.dtype == np.float64:
        return Columns(_at_least_2d(data, what), single=data.ndim == 1)
    if hasattr(data, "data_vars"):  # xarray.Dataset
        data = data.to_dataarray(dim="variable")
        data = data.transpose(..., "variable")
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return _of_xarray(data, what)
    if hasattr(data, "to_frame") and hasattr(data, "name"):  # a Series
        return Columns(_floats(data, what)[:, None], [] if data.name in (None, "") else [str(data.name)], single=True)
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return _of_frame(data, what)
    values = _floats(data, what)
    return Columns(_at_least_2d(values, what), single=values.ndim == 1)


def _of_frame(frame: Any, what: str) -> Columns:
    labels = list(frame.columns)
    rows = len(frame)
    values = np.full((rows, len(labels)), np.nan)
    faults = {}
    for i, label in enumerate(labels):
        column = frame.iloc[:, i] if hasattr(frame, "iloc") else frame[label]
        try:
            values[:, i] = _floats(column, f"{what}: column {str(label)!r}")
        except (InvalidArgument, TypeError) as e:
            faults[i] = str(e)
    plain = all(isinstance(label, (int, np.integer)) for label in labels) and labels == list(range(len(labels)))
    return Columns(values, [] if plain else [str(label) for label in labels], faults=faults)


def _of_xarray(data: Any, what: str) -> Columns:
    if data.ndim == 2 and "time" in data.dims:
        data = data.transpose("time", ...)
    values = _floats(data.values, what)
    if data.ndim == 1:
        return Columns(values[:, None], [str(data.name)] if data.name else [], single=True)
    last = data.dims[-1]
    names = [str(name) for name in data.coords[last].values] if last in data.coords else []
    return Columns(_at_least_2d(values, what), names)


def _at_least_2d(values: np.ndarray, what: str) -> np.ndarray:
    if values.ndim == 1:
        return values[:, None]
    if values.ndim not in (2, 3):
        raise InvalidArgument(
            f"{what}: has {values.ndim} dimensions; series want 1 (time), 2 (time, columns) or 3 (trials, time, columns)"
        )
    return values


def _floats(data: Any, what: str) -> np.ndarray:
    """Double precision, missing values as NaN."""
    device = str(getattr(data, "device", "cpu"))
    if not device.startswith("cpu") and getattr(getattr(data, "device", None), "platform", "") != "cpu":
        raise InvalidArgument(f"{what}: is on the device {device}; move it to the CPU first")
    if hasattr(data, "detach"):
        data = data.detach()
    if type(data).__module__.startswith("scipy.sparse"):
        raise InvalidArgument(f"{what}: is a sparse matrix; series are dense, see its method toarray()")
    if isinstance(data, (list, tuple)) and any(isinstance(part, np.ma.MaskedArray) for part in data):
        data = np.ma.array(data)  # np.asarray would lose their masks
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(float), np.nan)
    kind = getattr(getattr(data, "dtype", None), "kind", "")
    try:
        if kind and hasattr(data, "array") and hasattr(data, "isna"):  # pandas, also of dtypes with a mask
            array = data.to_numpy(dtype=object, na_value=np.nan) if kind not in "fiubcMm" or data.isna().any() else data
            array = np.asarray(array)
        else:
            array = np.asarray(data.to_numpy() if hasattr(data, "to_numpy") else data)
        if array.dtype.kind in "Mm":
            raise InvalidArgument(f"{what}: holds times; series hold numbers")
        if array.dtype.kind == "c":
            raise InvalidArgument(f"{what}: Complex data not supported; a series holds real numbers")
        return np.asarray(array, dtype=np.float64)
    except TypeError as e:
        raise TypeError(f"{what}: {e}") from None
    except InvalidArgument:
        raise
    except ValueError as e:
        raise InvalidArgument(f"{what}: {e}") from None


def trial_numbers(labels: Any, rows: int) -> np.ndarray:
    """0, 1, ... for each run of equal labels; labels that come again after others are refused."""
    if labels is None:
        return NO_TRIALS
    given = np.ma.asarray(labels)  # tolist() gives None for what is masked
    if given.shape != (rows,):
        raise InvalidArgument(f"trials: has shape {given.shape}; wants one label for each of {rows} rows")
    seen: dict[Any, int] = {}
    numbers = np.empty(rows, np.int32)
    last = object()
    for row, label in enumerate(given.tolist()):
        if label is None or label != label:
            raise InvalidArgument(f"trials: row {row}: the trial is missing")
        if row == 0 or label != last:
            if label in seen:
                raise InvalidArgument(f"trials: row {row}: the trial was met before; its rows must follow each other")
            seen[label] = len(seen)
            last = label
        numbers[row] = seen[label]
    return numbers


@dataclass
class Roles:
    """Several arguments as columns of one table: `spec[role]` lists the columns of a role."""

    values: np.ndarray
    names: list[str]
    made_up: list[bool]
    trials: np.ndarray
    spec: dict[str, list[int]]

    def data(self) -> _kolmo.Data:
        return _kolmo.Data(self.values, "data", self.names, self.made_up, self.trials, {})


def join(trials: Any, /, **arguments: Any) -> Roles:
    """The arguments that are given, beside one another. All have as many rows, and trials if one has."""
    parts = {role: columns_of(data, role) for role, data in arguments.items() if data is not None}
    first_role, first = next(iter(parts.items()))
    shape = first.values.shape[:-1]
    blocks, names, made_up, spec, at = [], [], [], {}, 0
    for role, part in parts.items():
        for fault in part.faults.values():
            raise InvalidArgument(fault)
        width = part.width
        if part.values.shape[:-1] != shape:
            raise InvalidArgument(
                f"{role}: has {_extent(part)}, and {first_role} {_extent(first)}; they are of the same rows"
            )
        if width == 0:
            raise InvalidArgument(f"{role}: has no columns")
        blocks.append(part.values if len(shape) == 1 else part.values.reshape(-1, width))
        own = part.names if part.names and not any(NUMBERS.fullmatch(name) for name in part.names) else []
        names += own or ([role] if width == 1 else [f"{role}{i}" for i in range(width)])
        made_up += [not own] * width
        spec[role] = list(range(at, at + width))
        at += width
    values = np.concatenate(blocks, axis=1)
    if len(shape) == 2:
        if trials is not None:
            raise InvalidArgument("trials: the first of three axes already counts trials")
        numbers = np.repeat(np.arange(shape[0], dtype=np.int32), shape[1])
    else:
        numbers = trial_numbers(trials, len(values))
    return Roles(values, names, made_up, numbers, spec)


def _extent(part: Columns) -> str:
    shape = part.values.shape
    return f"{shape[0]} rows" if len(shape) == 2 else f"{shape[0]} trials of {shape[1]} rows"
