"""Progress of a long call: a bar of tqdm, or a function of the caller."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def listener(progress: Any, what: str) -> Iterator[Callable[[float, float], None] | None]:
    """A function of the work done and its total, for `progress`: None (a bar if standard error is a terminal and tqdm is
    there), True, False, or such a function."""
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not (sys.stderr and sys.stderr.isatty())):
        yield None
    else:
        bar = _Bar(what, bool(progress))
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    def __init__(self, what: str, wanted: bool):
        self.what, self.wanted, self.bar, self.missing = what, wanted, None, False
        if wanted:
            import tqdm  # type: ignore[import-untyped,unused-ignore]  # noqa: F401 (says at once that it is not installed)

    def __call__(self, done: float, total: float) -> None:
        if self.bar is None and not self.missing and done < total:
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
            except ImportError:
                self.missing = True
                return
            self.bar = tqdm(total=total, desc=self.what, unit=" estimates x rows", unit_scale=True, leave=False,
                            delay=0 if self.wanted else 0.5)
        if self.bar is not None:
            self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
