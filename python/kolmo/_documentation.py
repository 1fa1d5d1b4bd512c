"""Signatures and docstrings of operators, made from the descriptions that operators have."""
from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from inspect import Parameter, Signature
from typing import Any

from kolmo import _kolmo

OTHERS = {"dtype": "dtype of outputs that no input determines", "like": "an array whose library and device the outputs get",
          "device": "where to work, if no array says it: \"cpu\", \"cuda\", \"cuda:1\"",
          "stream": "a kolmo.Stream or another library's CUDA stream; by default the one that is current"}


class Description:
    """An operator's fields in the order of its Python signature."""

    def __init__(self, op: dict[str, Any]) -> None:
        self.op = op
        tensors = [f for f in op["fields"] if "shape" in f]
        self.inputs = sorted((f for f in tensors if f["kind"] != "out"), key=lambda f: bool(f["optional"]))
        self.outputs = sorted((f for f in tensors if f["kind"] == "out"), key=lambda f: bool(f["optional"]))
        self.required = [f for f in self.outputs if not f["optional"]]
        self.options = [f for f in op["fields"] if "shape" not in f and not f["bound"]]
        self.others = [name for name in OTHERS if name == "stream" or not self.inputs]

    def signature(self) -> Signature:
        by_name, either = Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD
        return Signature([
            *(Parameter(f["name"], either, default=None if f["optional"] else Parameter.empty) for f in self.inputs),
            *([Parameter("out", either, default=None)] if self.required else []),
            *(Parameter(f["name"], by_name, default=f["default"]) for f in self.options),
            *(Parameter(f["name"], by_name, default=None) for f in self.outputs if f["optional"]),
            *(Parameter(name, by_name, default=None) for name in self.others)])

    def text(self) -> str:
        op = self.op
        lines = [op["summary"], "", "Parameters", "----------"]
        for f in self.inputs:
            changed = ", changed in place" if f["kind"] == "inout" else ""
            lines += [f"{f['name']} : {array_text(f)}{changed}{', optional' if f['optional'] else ''}", f"    {f['help']}"]
        if self.required:
            shape = array_text(self.required[0]) if len(self.required) == 1 else f"tuple of {len(self.required)} arrays"
            lines += [f"out : {shape}, optional", "    where the result is written; by default new memory"]
        for f in self.options:
            lines += [f"{f['name']} : {option_text(f)}", f"    {f['help']}"]
        for f in self.outputs:
            if f["optional"]:
                lines += [f"{f['name']} : True or {array_text(f)}, optional", f"    to be computed, too: {f['help']}"]
        for name in self.others:
            lines += [f"{name} : optional", f"    {OTHERS[name]}"]
        if self.outputs:
            lines += ["", "Returns", "-------"]
            for f in self.outputs:
                lines += [f"{f['name']} : {array_text(f)}{', if asked for' if f['optional'] else ''}", f"    {f['help']}"]
        lines += ["", "Raises", "------", "kolmo.InvalidArgument",
                  "    for shapes, dtypes, layouts or values outside of what is said here" +
                  "".join(f"; {fault}" for fault in op["faults"])]
        lines += ["", "Notes", "-----", f"Determinism: {op['determinism']}. Devices: {', '.join(op['devices'])}."]
        if op["in_place"]:
            lines += ["The output may be an input of the same shape."]
        if op["source"]:
            lines += [f"Source: {op['source']}."]
        return "\n".join(lines)


def array_text(field: dict[str, Any]) -> str:
    return f"array ({', '.join(field['shape'].split())}) of {', '.join(field['dtypes'])}"


def option_text(field: dict[str, Any]) -> str:
    kinds = {"integer": "int", "natural": "int", "real": "float", "flag": "bool", "list": "list of int"}
    if field["kind"] == "choice":
        return "{" + ", ".join(map(repr, field["choices"])) + f"}}, default {field['default']!r}"
    words = [kinds[field["kind"]]]
    if field.get("min") is not None:
        words.append(f"from {field['min']}")
    if field.get("max") is not None:
        words.append(f"to {field['max']}")
    return " ".join(words) + f", default {field['default']!r}"


def near(name: str, names: Iterable[str]) -> str:
    """What a message says of the nearest of these names; nothing if none is near."""
    found = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {found[0]!r}?" if found else ""


def described(name: str) -> Description:
    return Description(json.loads(_kolmo.Operator(name).describe()))


class Documented(_kolmo.Operator):
    # An operator of the catalogue, or one of its aliases; it has no docstring of its own, so that each object has one.
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__name__ = self.__qualname__ = name
        self.__module__ = "kolmo.ops"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return described(self.__name__).text()

    @property
    def __signature__(self) -> Signature:
        return described(self.__name__).signature()

    def __repr__(self) -> str:
        return f"<operator {self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__
