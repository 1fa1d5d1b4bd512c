"""What is known of the rows of series: trials, times, and which rows count."""
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timezone
from typing import Any

import numpy as np

from kolmo._kolmo import InvalidArgument

NONE = np.zeros(0)


@dataclass
class Labels:
    """Labels of rows: dates (datetime64), numbers, or others, which are no times. `plain`: they only count rows from 0."""

    values: np.ndarray
    name: str = ""
    unit: str = ""
    plain: bool = False
    trials: np.ndarray | None = None  # of the outer levels of a MultiIndex

    @property
    def are_times(self) -> bool:
        return not self.plain and self.values.dtype.kind in "Mmiuf"


@dataclass
class Rows:
    """As the extension takes it; arrays of no length where nothing is known."""

    trials: np.ndarray = field(default_factory=lambda: NONE.astype(np.int32))
    dates: np.ndarray = field(default_factory=lambda: NONE.astype(np.int64))
    times: np.ndarray = field(default_factory=lambda: NONE)
    time_name: str = ""
    time_unit: str = ""
    where: np.ndarray = field(default_factory=lambda: NONE.astype(np.uint8))

    def arguments(self) -> tuple[Any, ...]:
        return self.trials, self.dates, self.times, self.time_name, self.time_unit, self.where


def labels_of_index(index: Any) -> Labels | None:
    """The labels of a pandas Index."""
    name = "" if index.name is None else str(index.name)
    if hasattr(index, "levels"):
        outer = index.droplevel(-1)
        inner = labels_of_index(index.get_level_values(-1))
        assert inner is not None
        inner.trials = codes_of(outer.to_list(), len(index), "index")
        return inner
    if hasattr(index, "start"):  # a RangeIndex
        return Labels(np.asarray(index), name, plain=index.step > 0)
    if hasattr(index, "to_timestamp"):
        index = index.to_timestamp()
    if getattr(index, "tz", None) is not None:
        local = index.tz_localize(None)
        index = local if (local == local.normalize()).all() else index.tz_convert(None)
    values = np.asarray(index)
    if values.dtype.kind == "O" and len(values) and all(hasattr(v, "isoformat") for v in values):
        values = values.astype("datetime64[us]")
    plain = values.dtype.kind in "iu" and bool((np.diff(values) == 1).all())
    return Labels(values, name, plain=plain)


def same_labels(a: Labels, b: Labels) -> int | None:
    """The first row whose labels differ; None if there is none, or if one side has labels that only count rows."""
    numbers = a.values.dtype.kind in "iu" and b.values.dtype.kind in "iu"
    if (a.plain or b.plain) and not numbers:
        return None
    differ = np.flatnonzero(a.values != b.values)
    return int(differ[0]) if len(differ) else None


def codes_of(labels: Any, rows: int, what: str = "trials") -> np.ndarray:
    """0, 1, ... for labels in the order in which they are met."""
    given = np.ma.asarray(labels) if not isinstance(labels, list) or not any(isinstance(x, tuple) for x in labels) else None
    items = labels if given is None else given.tolist()  # None for what is masked
    if (len(items),) != (rows,) or (given is not None and given.ndim != 1):
        shape = (len(items),) if given is None else given.shape
        raise InvalidArgument(f"{what}: has shape {shape}; wants one label for each of {rows} rows")
    numbers: dict[Any, int] = {}
    codes = np.empty(rows, np.int32)
    for row, label in enumerate(items):
        if label is None or label != label:
            raise InvalidArgument(f"{what}: row {row}: the trial is missing")
        codes[row] = numbers.setdefault(label, len(numbers))
    return codes


def _tiled(values: np.ndarray, shape: tuple[int, ...], what: str) -> np.ndarray:
    """One value for each row; those of one trial are repeated for all trials."""
    rows = int(np.prod(shape))
    if values.shape == shape or values.shape == (rows,):
        return values.reshape(-1)
    if len(shape) == 2 and values.shape == shape[1:]:
        return np.tile(values, shape[0])
    raise InvalidArgument(f"{what}: has shape {values.shape}; wants one value for each of {rows} rows")


def _refuse_masked(values: Any, what: str) -> None:
    """np.asarray would take what is behind a mask for values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidArgument(f"{what}: row {np.flatnonzero(np.ma.getmaskarray(values))[0]} has no value")


def _set_times(to: Rows, labels: Labels, shape: tuple[int, ...]) -> None:
    values = _tiled(labels.values, shape, "time")
    to.time_name, to.time_unit = labels.name, labels.unit
    if values.dtype.kind in "Mm":
        missing = np.flatnonzero(np.isnat(values))
        if len(missing):
            raise InvalidArgument(f"time: row {missing[0]} has no value")
    if values.dtype.kind == "M":
        fine = values.astype("datetime64[us]")
        if (fine == values).all():
            to.dates = np.ascontiguousarray(fine.astype(np.int64))
        else:
            to.times, to.time_unit = (values - values[0]).astype("timedelta64[ns]").astype(np.float64), "ns"
    elif values.dtype.kind == "m":
        to.times, to.time_unit = values.astype("timedelta64[ns]").astype(np.float64) / 1e9, "s"
    else:
        to.times = np.ascontiguousarray(values, np.float64)


def rows_of(shape: tuple[int, ...], labels: Labels | None, own_trials: np.ndarray | None,
            trials: Any, time: Any, where: Any, ordered: bool = True) -> Rows:
    """The rows of data of `shape` (rows,) or (trials, rows). `labels` and `own_trials` came with the data; the others are
    arguments, which win. time=False leaves the labels aside. `ordered`: the analysis depends on the order of rows; if not, whole
    numbers of an index, which a sample of rows keeps, are no times."""
    rows = int(np.prod(shape))
    result = Rows()
    if own_trials is None and labels is not None:
        own_trials = labels.trials
    if len(shape) == 2 or own_trials is not None:
        if trials is not None:
            raise InvalidArgument("trials: the first of three axes already counts trials" if len(shape) == 2 else
                                  "trials: the data already say which trial each row belongs to")
        numbers = np.repeat(np.arange(shape[0], dtype=np.int32), shape[1]) if len(shape) == 2 else own_trials
        assert numbers is not None
        result.trials = numbers
    elif trials is not None:
        result.trials = codes_of(trials, rows)
    if time is not None and time is not False:
        name = str(getattr(time, "name", None) or "time")
        _refuse_masked(time, "time")
        values = np.asarray(getattr(time, "to_numpy", lambda: time)())
        if values.dtype.kind == "O":
            values = np.array([v.astimezone(timezone.utc).replace(tzinfo=None) if getattr(v, "tzinfo", None) else v for v in values])
        if values.dtype.kind in "OUS":
            try:
                values = values.astype("datetime64[us]")
            except (ValueError, TypeError):
                raise InvalidArgument("time: takes dates or numbers, one for each row") from None
        if values.dtype.kind == "c":
            raise InvalidArgument("time: takes dates or numbers, one for each row, and no complex numbers")
        _set_times(result, Labels(values, name), shape)
    elif time is None and labels is not None and labels.are_times and (ordered or labels.values.dtype.kind not in "iu"):
        _set_times(result, labels, shape)
    if where is not None:
        _refuse_masked(where, "where")
        marks = np.asarray(where)
        if marks.dtype.kind not in "biu":
            raise InvalidArgument(f"where: takes True or False for each row, not {marks.dtype}")
        result.where = np.ascontiguousarray(_tiled(marks != 0, shape, "where"), np.uint8)
    return result
