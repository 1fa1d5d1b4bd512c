"""Options of the command as keyword arguments, and what the command says in terms of these."""
from __future__ import annotations

import difflib
import functools
import json
import math
import numbers
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from kolmo import _kolmo

COMMAND_NAMES = {"k": "neighbors", "random_state": "seed"}
PYTHON_NAMES = {command: python for python, command in COMMAND_NAMES.items()}
Pairs = list[tuple[str, str]]  # warnings: name and text
T = TypeVar("T")
PATHS = {"local", "report", "table", "graph", "groups"}


class DataWarning(UserWarning):
    """Something in the data, the options or the result because of which a result may mislead."""


@functools.cache
def known(command: str) -> dict[str, dict[str, str]]:
    """The options of a command by their Python names: type, default, help."""
    return {
        PYTHON_NAMES.get(o["name"], o["name"].replace("-", "_")): o
        for o in json.loads(_kolmo.analysis_options(command))
    }


def option_list(command: str, function: str, options: dict[str, Any]) -> list[str]:
    """The options that are given, as on the command line. None and False are as if left out."""
    allowed = known(command)
    words = []
    for name, value in options.items():
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; it takes {', '.join(sorted(allowed))}"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
        if value is None or value is False:
            continue
        option = "--" + COMMAND_NAMES.get(name, name.replace("_", "-"))
        is_flag = allowed[name]["type"] == "flag"
        if is_flag and value is not True:
            raise _kolmo.InvalidArgument(f"{name}: {value!r} is neither True nor False")
        words.append(option if is_flag else f"{option}={_text(name, value, allowed[name]['type'])}")
    return words


def _text(name: str, value: Any, kind: str) -> str:
    if name == "random_state" and hasattr(value, "integers"):
        value = value.integers(2**31)
    elif name == "random_state" and hasattr(value, "randint"):
        value = value.randint(2**31 - 1)
    if name in PATHS:
        return str(os.path.abspath(os.fspath(value)))
    if isinstance(value, str):
        return value.replace("_", "-") if "|" in kind else value
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        if math.isnan(value):
            raise _kolmo.InvalidArgument(f"{name}: NaN is not a number")
        return repr(float(value))
    raise _kolmo.InvalidArgument(f"{name}: {value!r} is not a number or text")


def column_spec(columns: Any) -> str | None:
    """Names and 0-based indices, or what the command takes, as one text."""
    if columns is None or isinstance(columns, str):
        return columns
    if isinstance(columns, numbers.Integral) or not isinstance(columns, Iterable):
        columns = [columns]
    return ",".join(_column(c) for c in columns) or None


def given_spec(given: Any) -> str | None:
    """A text such as "a:1-3,b"; or names and indices, with lags as in {"a": (1, 3), "b": 1} or [("a", 2), "b"]."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, numbers.Integral):
        given = [given]
    items = given.items() if isinstance(given, dict) else given
    return ",".join(_column(i[0]) + lags_text(i[1]) if isinstance(i, tuple) else _column(i) for i in items) or None


def lags_text(lags: Any) -> str:
    """":2" of 2, ":1-3" of (1, 3)."""
    first, last = (lags, lags) if isinstance(lags, numbers.Integral) else lags
    return f":{first}" if first == last else f":{first}-{last}"


def _column(column: Any) -> str:
    if isinstance(column, numbers.Integral):
        return str(int(column))
    return '"' + str(column).replace('"', '""') + '"'


@functools.cache
def _choices() -> dict[str, set[str]]:
    """The words that options of the command take, by the option's name there."""
    return {o["name"]: set(o["type"].split("|")) for command in ("mi", "te", "network")
            for o in json.loads(_kolmo.analysis_options(command)) if "|" in o["type"]}


def in_python_terms(text: str) -> str:
    """A message of the command with its options as Python's arguments: `--transform difference` is transform="difference"."""
    def argument(m: re.Match[str]) -> str:
        name = PYTHON_NAMES.get(m[1], m[1].replace("-", "_"))
        if m[2] and m[2] in _choices().get(m[1], ()):
            return f'{name}="{m[2]}"'
        return name + (f" {m[2]}" if m[2] else "")

    text = text.replace("give --transpose", "give the transpose").replace("name it in --na", "make it NaN")
    return re.sub(r"--([a-z][a-z-]*[a-z])(?:[ =]([a-z0-9-]*[a-z0-9]))?", argument, text)


def pairs_in_python_terms(found: Pairs) -> Pairs:
    """Warnings of the command with their texts in Python's terms."""
    return [(name, in_python_terms(text)) for name, text in found]


def translated(work: Callable[[], T]) -> T:
    """The result of `work`; its errors are of the same class, in Python's terms."""
    try:
        return work()
    except _kolmo.Error as e:
        raise type(e)(in_python_terms(str(e))) from None


def warn(found: Pairs) -> None:
    """Issues warnings, which are in Python's terms, at the first frame outside this package."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame and os.path.abspath(frame.f_code.co_filename).startswith(here + os.sep):
        level, frame = level + 1, frame.f_back
    for name, text in found:
        warnings.warn(f"{name}: {text}", DataWarning, stacklevel=level)
