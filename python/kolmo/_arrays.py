"""Arrays of other libraries: how each allocates, takes over, and names its current stream. Called by the extension for all but
NumPy's own arrays, which it makes itself."""
from __future__ import annotations

import sys
from collections import namedtuple
from functools import cache
from typing import Any

from kolmo import _kolmo
from kolmo._documentation import described


def _library(example: Any) -> Any:
    """The module that makes arrays like this one; None if it is not known."""
    name = type(example).__module__.partition(".")[0]
    name = {"jaxlib": "jax"}.get(name, name)
    if name == "jax":
        import jax.numpy  # type: ignore[import-not-found,unused-ignore]
        return jax.numpy
    if name in ("torch", "cupy", "numpy"):
        return sys.modules[name]
    if hasattr(example, "__array_namespace__"):
        return example.__array_namespace__()
    if hasattr(example, "__dlpack__"):
        return None
    import numpy  # for any other buffer
    return numpy


def empty(example: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """A new array beside `example`; None where arrays cannot be written once they are made."""
    library = _library(example)
    if library is None or "jax" in library.__name__:
        return None
    if library.__name__ == "torch":
        return library.empty(shape, dtype=getattr(library, dtype), device=example.device)
    if library.__name__ == "cupy":
        with library.cuda.Device(example.device.id):
            return library.empty(shape, dtype)
    return library.empty(shape, dtype=getattr(library, dtype))


def take(example: Any, array: _kolmo.Array) -> Any:
    """Hands `array` over to the library of `example`, without a copy."""
    library = _library(example)
    return library.from_dlpack(array) if hasattr(library, "from_dlpack") else array


def current_stream(example: Any, device: int) -> int:
    """The handle of the CUDA stream on which the library of `example` queues its work; 0: the legacy default stream."""
    library = _library(example)
    name = library.__name__ if library else ""
    if name == "torch":
        return int(library.cuda.current_stream(device).cuda_stream)
    if name == "cupy":
        with library.cuda.Device(device):
            return int(library.cuda.get_current_stream().ptr)
    return 0


@cache
def _result_type(name: str) -> Any:
    return namedtuple(f"{name}_result", [f["name"] for f in described(name).outputs])


def result(name: str, outputs: tuple[Any, ...]) -> Any:
    """Several outputs of an operator by their names; None for those that were not asked for."""
    return _result_type(name)(*outputs)
