"""The kolmo command in a process of its own: measuring should not disturb the caller, nor be disturbed."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
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


def command(*arguments: str, **given: Any) -> Any:
    """Runs `kolmo ARGUMENTS --json` and returns what it prints. Its progress and notes go to standard error."""
    line = [sys.executable, "-m", "kolmo", *arguments, *options(given), "--json"]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 2:
        raise InvalidArgument(f"kolmo {' '.join(line[3:])}: refused; standard error says why")
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise Error(f"kolmo {' '.join(line[3:])}: ended with status {done.returncode}") from None
