"""The kolmo command in a process of its own: measuring should not disturb the caller, nor be disturbed."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kolmo._kolmo import Error, InvalidArgument


def options(given: Mapping[str, Any]) -> Iterable[str]:
    """Turns `under_load=True, budget=3` into `--under-load --budget 3`; None and False leave an option out."""
    for name, value in given.items():
        if value is None or value is False:
            continue
        yield "--" + name.replace("_", "-")
        if value is not True:
            yield str(value)


def _start() -> str:
    """The program of the command's process: this package, found where this process finds modules but for the current folder."""
    path = [p for p in sys.path if p] + [str(Path(__file__).parents[1])]
    return f"import sys; sys.path[:] = {path!r}; from kolmo.__main__ import main; main()"


def command(*arguments: str, **given: Any) -> Any:
    """Runs `kolmo ARGUMENTS --json` and returns what it prints. Its progress and notes go to standard error."""
    line = [*arguments, *options(given), "--json"]
    done = subprocess.run([sys.executable, "-c", _start(), *line], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 2:
        raise InvalidArgument(f"kolmo {' '.join(line)}: refused; standard error says why")
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise Error(f"kolmo {' '.join(line)}: ended with status {done.returncode}") from None
