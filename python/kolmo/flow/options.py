"""What analyses say of their options, as Python's signatures and docstrings; and their messages in Python's terms."""
from __future__ import annotations

import difflib
import functools
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from types import FrameType
from typing import Any, TypeVar

from kolmo import _kolmo

Pairs = list[tuple[str, str]]  # warnings: name and text
T = TypeVar("T")


class DataWarning(UserWarning):
    """Something in the data, the options or the result because of which a result may mislead."""


# Parameters that Python has instead of, or besides, the command's options. They are of every analysis that names them.
PROGRESS = {"name": "progress", "kind": "any", "default": None, "type": "bool | Callable[[float, float], object] | None",
            "help": "a bar of tqdm; by default if standard error is a terminal; or a function of the work done and its total"}
GIVEN_LAGS = {"name": "given_lags", "kind": "any", "default": 1, "type": "int | tuple[int, int]",
              "help": "lags of `given` in rows before the target's next value: one, or the first and last"}
CHECKPOINT = {"name": "checkpoint", "kind": "any", "default": None, "type": "str | os.PathLike[str] | None",
              "help": "finished work is kept in this file, from which the same call goes on after it was interrupted"}
ROWS = [
    {"name": "trials", "kind": "any", "default": None, "type": "Any",
     "help": "array (rows,): the trial that each row belongs to, as numbers or text; no embedding spans two trials"},
    {"name": "time", "kind": "any", "default": None, "type": "Any",
     "help": "array (rows,): when each row was measured, as dates or numbers, oldest first; absent rows end a set, as missing "
             "values do. If None: the index or coordinate of the data, or their only column of dates. False: every row is one step"},
    {"name": "where", "kind": "any", "default": None, "type": "Any",
     "help": "array (rows,) of bool: rows that count as the present; the past may reach into other rows"},
]


TABLE: dict[str, Any] = {"name": "X", "kind": "any", "required": True, "type": "Any",
         "help": "a table with a column for each variable, time along rows, as `TransferEntropyNetwork.fit` takes it; `columns`, "
                 "`exclude` and `given` name its columns"}


class Analysis:
    """The description of an analysis, as parameters of Python: those that are data come first, and are given by place or name.
    `pairs`: of mutual information that of all pairs of columns of a table."""

    def __init__(self, name: str, pairs: bool = False) -> None:
        self.about: dict[str, Any] = json.loads(_kolmo.describe_analysis(name))
        self.network = name == "network"
        other = "one pair" if pairs else "all pairs"
        options = [o for o in self.about["options"] if not o["for_files"] and o.get("use") != other]
        self.data = [] if self.network else [TABLE] if pairs else [o for o in options if "columns" in o["kind"]]
        self.options = [o for o in options if o not in self.data]
        if name == "te":
            self.options.append(GIVEN_LAGS)
        self.options += [CHECKPOINT, PROGRESS] if self.network else [*ROWS, PROGRESS]
        self.aliases = {o["alias"]: o["name"] for o in self.options if "alias" in o}
        self.names = {o["name"] for o in self.options} | set(self.aliases)

    def parameters(self) -> list[Parameter]:
        """All but those of `self`. An alias stands at the end, and is None by default."""
        either, by_name = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
        leading = 2 if self.network else 0  # max_lag and surrogates may be given by place
        return [*(Parameter(o["name"], either, default=Parameter.empty if o["required"] else None) for o in self.data),
                *(Parameter(o["name"], either if i < leading else by_name, default=o["default"]) for i, o in enumerate(self.options)),
                *(Parameter(alias, by_name, default=None) for alias in self.aliases)]

    def signature(self) -> Signature:
        return Signature(self.parameters())

    @staticmethod
    def self_parameter() -> Parameter:
        return Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)

    def text(self) -> str:
        """The section "Parameters" of a docstring."""
        lines = ["Parameters", "----------"]
        for o in self.data:
            optional = "" if o["required"] else ", optional"
            lines += [f"{o['name']} : array_like, (rows,), (rows, columns) or (trials, rows, columns){optional}", f"    {o['help']}"]
        for o in self.options:
            lines += [f"{o['name']} : {type_text(o)}", f"    {o['help']}"]
            if "if_left_out" in o:
                lines[-1] += f"; if None: {o['if_left_out']}"
        for alias, name in self.aliases.items():
            lines += [f"{alias} : optional", f"    another name of `{name}`"]
        return "\n".join(lines)


@functools.cache
def described(name: str, pairs: bool = False) -> Analysis:
    return Analysis(name, pairs)


KINDS = {"integer": "int", "natural": "int", "real": "float", "flag": "bool", "text": "str", "columns": "list of names or numbers",
         "lagged columns": "list, dict or str"}


def type_text(option: dict[str, Any]) -> str:
    """As in a docstring: "int, 1 to 64, default 4"."""
    if option["kind"] == "any":
        return f"{option['type']}, default {option['default']}"
    if option["kind"] == "choice":
        return "{" + ", ".join(map(repr, option["choices"])) + f"}}, default {option['default']!r}"
    kind = KINDS[option["kind"]]
    if "min" in option:
        kind += f", {option['min']} to {option['max']}" + (f", or {option['or']!r}" if "or" in option else "")
    return f"{kind}, default {option['default']!r}"


@functools.cache
def _choices() -> dict[str, set[str]]:
    """The words that options take, by the option's name."""
    return {o["name"]: set(o["choices"]) for name in ("mi", "te", "network") for o in described(name).about["options"] if "choices" in o}


def in_python_terms(text: str) -> str:
    """A message of the command with its options as Python's arguments: `--transform difference` is transform="difference"."""
    def argument(m: re.Match[str]) -> str:
        name = m[1].replace("-", "_")
        if m[2] and m[2] in _choices().get(name, ()):
            return f'{name}="{m[2]}"'
        return name + (f" {m[2]}" if m[2] else "")

    text = text.replace("--time none", "time=False").replace("give --transpose", "give the transpose").replace("name it in --na", "make it NaN")
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


def given_values(analysis: Analysis, function: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options as values for the extension: seeds of generators are drawn, and paths are texts. None is as if left out."""
    values = {name: value for name, value in options.items() if value is not None}
    unknown = values.keys() - analysis.names
    if unknown:
        name = sorted(unknown)[0]
        near = difflib.get_close_matches(name, analysis.names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; it takes {', '.join(sorted(analysis.names))}"
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    for name in ("seed", "random_state"):
        seed: Any = values.get(name)
        if hasattr(seed, "integers"):
            values[name] = int(seed.integers(2**31))
        elif hasattr(seed, "randint"):
            values[name] = int(seed.randint(2**31 - 1))
    for option in analysis.options:
        if option.get("path") and option["name"] in values:
            values[option["name"]] = os.path.abspath(os.fspath(values[option["name"]]))
    for alias, name in analysis.aliases.items():
        if alias in values and name in values:
            raise TypeError(f"{function}() got {alias!r}, which is another name of {name!r}, besides it")
    return values


def warn(found: Sequence[tuple[str, str]]) -> None:
    """Issues warnings, which are in Python's terms, at the first frame outside this package."""
    if not found:
        return
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame and os.path.abspath(frame.f_code.co_filename).startswith(here + os.sep):
        level, frame = level + 1, frame.f_back
    for name, text in found:
        warnings.warn(f"{name}: {text}", DataWarning, stacklevel=level)
