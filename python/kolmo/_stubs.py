"""Types of the operators for editors and type checkers, written by the build: python _stubs.py PACKAGE FILE, where PACKAGE is
the folder with the extension."""
from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":  # does not import kolmo/__init__.py, which needs more than the build has
    sys.modules["kolmo"] = ModuleType("kolmo")
    sys.modules["kolmo"].__path__ = [sys.argv[1]]

from kolmo import _kolmo  # noqa: E402
from kolmo._documentation import Description, described  # noqa: E402

HEADER = '''# Written by kolmo._stubs from what the operators say of themselves.
from collections.abc import Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeVar

from kolmo._kolmo import Stream

# An array of NumPy, or of a library with __dlpack__; results are of the same library.
_A = TypeVar("_A")

'''
OTHERS = {"dtype": "Any", "like": "Any", "device": "str | None", "stream": "Stream | int | Any"}


def option_type(field: dict[str, Any]) -> str:
    if field["kind"] == "choice":
        kind = f"Literal[{', '.join(repr(c) for c in field['choices'])}]"
    else:
        kind = {"integer": "SupportsIndex", "natural": "SupportsIndex", "real": "SupportsFloat", "flag": "bool", "list": "Sequence[int]"}[field["kind"]]
    return kind + (" | None" if field["optional"] else "")


def result_type(d: Description) -> str:
    if not d.outputs:
        changed = sum(f["kind"] == "inout" for f in d.inputs)
        return "_A" if changed == 1 else f"tuple[{', '.join(['_A'] * changed)}]"
    return "_A" if d.inputs and len(d.outputs) == 1 else "Any"


def stub(name: str) -> str:
    d = described(name)
    first = "_A" if d.inputs else "Any"
    words = [f"{f['name']}: " + ("Any | None = None" if f["optional"] else first) for f in d.inputs]
    if d.required:
        words.append("out: Any = None")
    words.append("*")
    words += [f"{f['name']}: {option_type(f)} = {f['default']!r}" for f in d.options]
    words += [f"{f['name']}: Any = None" for f in d.outputs if f["optional"]]
    words += [f"{name}: {OTHERS[name]} = None" for name in d.others]
    text = "\n".join("    " + line if line else "" for line in d.text().replace("\\", "\\\\").splitlines())
    return f'def {name}({", ".join(words)}) -> {result_type(d)}:\n    """\n{text}\n    """\n'


def main() -> None:
    names = _kolmo.names()
    text = HEADER + f"__all__ = {names!r}\n\n" + "\n".join(map(stub, names))
    Path(sys.argv[2]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
