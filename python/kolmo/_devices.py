"""Devices, benchmarks and layouts."""
from __future__ import annotations

import json
from typing import Any

from kolmo import _kolmo, ops
from kolmo._command import command


def devices() -> list[dict[str, Any]]:
    """Every device that this build and machine can use, the CPU first: name, processors, memory, capability, driver."""
    return list(json.loads(_kolmo.devices()))


def bench(*operators: str, **options: Any) -> Any:
    """`kolmo bench OPERATORS`: times of their cases, in a process of its own. Options are those of the command, such as
    device="cuda", budget=60, variants=True. Returns its JSON record."""
    return command("bench", *operators, **options)


def contiguous(x: Any) -> Any:
    """`x` itself if it is contiguous in row-major order and aligned, else such a copy, in the same library and on the same
    device."""
    try:
        if _kolmo.is_contiguous(x):
            return x
    except _kolmo.InvalidArgument:
        if not hasattr(x, "__array_interface__"):
            raise
    if hasattr(x, "__array_interface__"):
        import numpy
        return numpy.array(x, order="C")
    return ops.contiguous_copy(x)  # type: ignore[attr-defined,unused-ignore]
