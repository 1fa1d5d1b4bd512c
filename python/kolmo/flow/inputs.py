"""Arrays and tables of other libraries as columns of double precision."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo._kolmo import InvalidArgument
from kolmo.flow.rows import Labels, Rows, labels_of_index, rows_of, same_labels

NUMBERS = re.compile(r"[\d-]*")  # names that read like the index of a column


@dataclass
class Columns:
    """Values of shape (rows, columns) or (trials, rows, columns), NaN where missing; names are empty if there are none.
    `single`: they were one series, without an axis of columns. `faults`: why columns of a data frame hold no numbers, which
    is an error only where they are used, as in the files that the command reads. `labels`: of rows. `trials`: of rows, for a
    list of tables."""

    values: np.ndarray
    names: list[str] = field(default_factory=list)
    single: bool = False
    faults: dict[int, str] = field(default_factory=dict)
    labels: Labels | None = None
    trials: np.ndarray | None = None

    @property
    def width(self) -> int:
        return int(self.values.shape[-1])


def columns_of(data: Any, what: str) -> Columns:
    """Any array or table with time along rows. `what` is the argument's name, for messages."""
    if type(data) is np.ndarray and data.dtype == np.float64:
        return Columns(_at_least_2d(data, what), single=data.ndim == 1)
    if isinstance(data, (list, tuple)) and data and all(len(getattr(part, "shape", ())) == 2 for part in data):
        return _of_trials(data, what)
    if hasattr(data, "get_data") and hasattr(data, "ch_names"):
        return _of_mne(data, what)
    if hasattr(data, "data_vars"):  # xarray.Dataset
        data = data.to_dataarray(dim="variable")
        data = data.transpose(..., "variable")
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return _of_xarray(data, what)
    if hasattr(data, "to_frame") and hasattr(data, "name"):  # a Series
        return Columns(floats(data, what)[:, None], [] if data.name in (None, "") else [str(data.name)], single=True,
                       labels=_index_labels(data))
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return _of_frame(data, what)
    values = floats(data, what)
    return Columns(_at_least_2d(values, what), single=values.ndim == 1)


def _of_frame(frame: Any, what: str) -> Columns:
    labels = list(frame.columns)
    rows = len(frame)
    values = np.full((rows, len(labels)), np.nan)
    faults = {}
    for i, label in enumerate(labels):
        column = frame.iloc[:, i] if hasattr(frame, "iloc") else frame[label]
        try:
            values[:, i] = floats(column, f"{what}: column {str(label)!r}")
        except (InvalidArgument, TypeError) as e:
            faults[i] = str(e)
    plain = all(isinstance(label, (int, np.integer)) for label in labels) and labels == list(range(len(labels)))
    return Columns(values, [] if plain else [str(label) for label in labels], faults=faults,
                   labels=_dates_in(frame, labels, _index_labels(frame)))


def _index_labels(table: Any) -> Labels | None:
    return labels_of_index(table.index) if hasattr(table, "index") and not callable(table.index) else None


def _dates_in(frame: Any, names: list[Any], index: Labels | None) -> Labels | None:
    """The only column of dates, as the command finds it in a file, unless the index holds times. Whole numbers in an index are
    weaker: they may count what is left of other rows."""
    if index is not None and ((index.are_times and index.values.dtype.kind not in "iu") or index.trials is not None):
        return index
    found = []
    for i, name in enumerate(names):
        column = frame.iloc[:, i] if hasattr(frame, "iloc") else frame[name]
        missing = column.isna().any() if hasattr(column, "isna") else column.null_count() if hasattr(column, "null_count") else 0
        if str(column.dtype).lower().startswith(("date", "timestamp")) and not missing:
            found.append((str(name), column))
    if len(found) != 1:
        return index
    name, column = found[0]
    if hasattr(column, "dt") and getattr(column.dt, "tz", None) is not None:
        column = column.dt.tz_convert(None)
    return Labels(np.asarray(column.to_numpy()).astype("datetime64[us]"), name)


def _of_trials(parts: Any, what: str) -> Columns:
    """Tables of the same columns, each of which is a trial."""
    columns = [columns_of(part, f"{what}[{i}]") for i, part in enumerate(parts)]
    first = columns[0]
    for i, part in enumerate(columns):
        if part.names != first.names or part.width != first.width:
            raise InvalidArgument(f"{what}[{i}]: has other columns than {what}[0]")
        for fault in part.faults.values():
            raise InvalidArgument(fault)
    labels = None
    if all(part.labels is not None and part.labels.are_times for part in columns):
        values = np.concatenate([part.labels.values for part in columns])  # type: ignore[union-attr]
        labels = Labels(values, first.labels.name, first.labels.unit)  # type: ignore[union-attr]
    trials = np.repeat(np.arange(len(columns), dtype=np.int32), [len(part.values) for part in columns])
    return Columns(np.concatenate([part.values for part in columns]), first.names, labels=labels, trials=trials)


def _of_mne(data: Any, what: str) -> Columns:
    """Epochs (epochs, channels, times) or a recording (channels, times) of MNE."""
    values = floats(data.get_data(), what)
    return Columns(np.ascontiguousarray(np.swapaxes(values, -1, -2)), [str(name) for name in data.ch_names],
                   labels=Labels(np.asarray(data.times, np.float64), "times", "s"))


def _of_xarray(data: Any, what: str) -> Columns:
    if data.ndim == 2 and "time" in data.dims:
        data = data.transpose("time", ...)
    values = floats(data.values, what)
    along = data.dims[-2] if data.ndim > 1 else data.dims[0]
    labels = None
    if along in data.coords:
        coordinate = data.coords[along]
        labels = labels_of_index(coordinate.to_index())
        if labels is not None and not labels.name:
            labels.name = str(along)
    if data.ndim == 1:
        return Columns(values[:, None], [str(data.name)] if data.name else [], single=True, labels=labels)
    last = data.dims[-1]
    names = [str(name) for name in data.coords[last].values] if last in data.coords else []
    return Columns(_at_least_2d(values, what), names, labels=labels)


def _at_least_2d(values: np.ndarray, what: str) -> np.ndarray:
    if values.ndim == 1:
        return values[:, None]
    if values.ndim not in (2, 3):
        raise InvalidArgument(
            f"{what}: has {values.ndim} dimensions; series want 1 (time), 2 (time, columns) or 3 (trials, time, columns)"
        )
    return values


def floats(data: Any, what: str) -> np.ndarray:
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
        if array.dtype == object:  # as a list that holds pandas' NA beside numbers
            array = np.where(np.asarray(np.frompyfunc(lambda x: type(x).__name__ == "NAType", 1, 1)(array), bool), np.nan, array)
        _refuse_rounding(array, what)
        return np.asarray(array, dtype=np.float64)
    except TypeError as e:
        raise TypeError(f"{what}: {e}") from None
    except InvalidArgument:
        raise
    except ValueError as e:
        unequal = isinstance(data, (list, tuple)) and len({np.shape(part) for part in data}) > 1
        hint = "; trials of unequal lengths are a list of arrays (rows, columns)" if unequal else ""
        raise InvalidArgument(f"{what}: {e}{hint}") from None


def _refuse_rounding(array: np.ndarray, what: str) -> None:
    """Whole numbers that double precision rounds are refused, as by the command."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return
    with np.errstate(invalid="ignore"):
        rounded = array.astype(np.float64)
        differs = (rounded >= 2.0 ** (63 if array.dtype.kind == "i" else 64)) | (rounded.astype(array.dtype) != array)
    if differs.any():
        place = tuple(int(i) for i in np.argwhere(differs)[0])
        raise InvalidArgument(f"{what}: row {place[0]}: {array[place]} cannot be held by a double exactly; subtract a constant first")


@dataclass
class Roles:
    """Several arguments as columns of one table: `spec[role]` lists the columns of a role."""

    values: np.ndarray
    names: list[str]
    made_up: list[bool]
    rows: Rows
    spec: dict[str, list[int]]

    def data(self) -> _kolmo.Data:
        return _kolmo.Data(self.values, "data", self.names, self.made_up, {}, [], *self.rows.arguments())


def join(trials: Any, time: Any, where: Any, ordered: bool, /, **arguments: Any) -> Roles:
    """The arguments that are given, beside one another. All have as many rows, trials if one has, and equal labels if several
    have some. `ordered`: see rows_of."""
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
    labels, own_trials = _common(parts)
    rows = rows_of(shape, labels, own_trials, trials, time, where, ordered)
    return Roles(values, names, made_up, rows, spec)


def _common(parts: dict[str, Columns]) -> tuple[Labels | None, np.ndarray | None]:
    """The labels and trials of all arguments that have some; refuses different ones."""
    labelled = [(role, part.labels) for role, part in parts.items() if part.labels is not None]
    for role, labels in labelled[1:]:
        first_role, first = labelled[0]
        row = same_labels(first, labels) if first.values.shape == labels.values.shape else 0
        if row is not None:
            raise InvalidArgument(
                f"{role}: its labels differ from those of {first_role}: row {row} is {labels.values[row]} and "
                f"{first.values[row]}; align them first ({first_role}, {role} = {first_role}.align({role}, join='inner')), "
                "or pass arrays to pair rows by place")
    in_trials = [(role, part.trials) for role, part in parts.items() if part.trials is not None]
    for role, trials in in_trials[1:]:
        if not np.array_equal(trials, in_trials[0][1]):
            raise InvalidArgument(f"{role}: its trials are not as long as those of {in_trials[0][0]}")
    usable = [labels for _, labels in labelled if labels.are_times or labels.trials is not None]
    return usable[0] if usable else None, in_trials[0][1] if in_trials else None


def _extent(part: Columns) -> str:
    shape = part.values.shape
    return f"{shape[0]} rows" if len(shape) == 2 else f"{shape[0]} trials of {shape[1]} rows"
