"""Logs that TensorBoard writes: folders of event files, read by TensorBoard's own package."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from kolmo._kolmo import InvalidArgument


def is_event_folder(path: str) -> bool:
    return os.path.isdir(path)


def read_event_folder(path: str) -> dict[str, Any]:
    """The scalars of a folder as columns, with a row for each step that any of them has; NaN where a scalar has none."""
    folder = Path(path)
    if not any("tfevents" in p.name for p in folder.iterdir()):
        raise InvalidArgument(f"{path}: the folder holds no event files of TensorBoard (their names have 'tfevents')")
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError as e:
        raise ImportError(f"{path}: reading TensorBoard's event files needs the package tensorboard, which is not installed: "
                          "pip install tensorboard") from e
    events = EventAccumulator(path, size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    series: dict[str, dict[int, float]] = {tag: {e.step: e.value for e in events.Scalars(tag)} for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:
        values = {e.step: _numbers(e.tensor_proto) for e in events.Tensors(tag)}
        if all(v.size == 1 for v in values.values()):
            series[tag] = {step: float(v[0]) for step, v in values.items()}
    if not series:
        raise InvalidArgument(f"{path}: the event files hold no scalars")
    steps = sorted({step for values in series.values() for step in values})
    return {"step": np.array(steps, float), **{tag: np.array([_value(v, step) for step in steps]) for tag, v in series.items()}}


def _numbers(tensor: Any) -> Any:
    return np.frombuffer(tensor.tensor_content, np.float32) if tensor.tensor_content else np.array(tensor.float_val)


def _value(values: dict[int, float], step: int) -> float:
    value = values.get(step, np.nan)
    return float("inf") if step in values and not np.isfinite(value) else float(value)
