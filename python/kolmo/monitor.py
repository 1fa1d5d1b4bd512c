"""What this process's operators did: counts, times, memory, as the command's `--metrics` serves it."""
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from kolmo import _kolmo


class Server:
    """Serves metrics over HTTP until it is closed: `/metrics` for Prometheus, `/` a page with live charts, and what `kolmo top`
    reads. Port 0 takes a free one. Anyone who can reach the address can read everything and change nothing."""

    def __init__(self, address: str = "127.0.0.1:0") -> None:
        self._server: Any = _kolmo.MonitorServer(address)
        self.url: str = self._server.url

    def close(self) -> None:
        self._server = None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<kolmo.monitor.Server {self.url}>"


def serve(address: str = "127.0.0.1:0") -> Server:
    """Start a Server."""
    return Server(address)


_tracing = Lock()


@contextmanager
def trace(path: str | os.PathLike[str]) -> Iterator[None]:
    """Write when every operator in the context ran, and with which arguments, for Perfetto and `kolmo advise`. One trace is
    recorded at a time, of at most 262144 spans; another is refused. A GPU must have finished before the context ends: synchronize its
    stream."""
    if not _tracing.acquire(blocking=False):
        raise _kolmo.InvalidArgument("kolmo.monitor.trace: a trace is being recorded already, and one is at a time")
    try:
        _kolmo.start_trace()
        yield
    finally:
        try:
            text = _kolmo.stop_trace()
        finally:
            _tracing.release()
        part = Path(f"{os.fspath(path)}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)


def metrics() -> dict[str, list[dict[str, Any]]]:
    """The readings of each metric by its name: labels, and a value, or the count of a histogram."""
    return {f["name"]: f["readings"] for f in json.loads(_kolmo.metrics())}


def prometheus() -> str:
    """The metrics in Prometheus' text format 0.0.4."""
    return str(_kolmo.prometheus())
