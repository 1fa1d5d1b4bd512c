"""Types of the operators and analyses for editors and type checkers, written by the build into the folder with the extension:
python _stubs.py FOLDER."""
from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":  # does not import kolmo/__init__.py, which needs more than the build has
    for package, folder in (("kolmo", sys.argv[1]), ("kolmo.flow", f"{sys.argv[1]}/flow")):
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [folder]

from kolmo import _kolmo  # noqa: E402
from kolmo._documentation import Description, described  # noqa: E402
from kolmo.flow.options import Analysis  # noqa: E402

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


ANALYSES = """# Written by kolmo._stubs from what the analyses say of themselves.
import os
from collections.abc import Callable
from typing import Any, Literal

from inspect import Signature

from kolmo.flow.estimate import Estimate
from kolmo.flow.options import Analysis

NETWORK: Analysis
NETWORK_SIGNATURE: Signature
NETWORK_PARAMETERS: list[str]

"""


def parameter_type(option: dict[str, Any]) -> str:
    if option["kind"] == "any":
        return str(option["type"])
    if option["kind"] == "choice":
        return f"Literal[{', '.join(repr(c) for c in option['choices'])}] | str | None"
    kinds = {"integer": "int", "natural": "int | Any", "real": "float", "flag": "bool", "text": "str | os.PathLike[str]"}
    word = f"Literal[{option['or']!r}] | " if "or" in option else ""
    return f"{kinds.get(option['kind'], 'Any')} | {word}None"


def analysis_stub(name: str) -> str:
    """A function; of a network the constructor of its parameters, and an attribute for each."""
    a = Analysis(name)
    types = {o["name"]: parameter_type(o) for o in a.options}
    types |= {alias: types[option] for alias, option in a.aliases.items()}
    words, by_name = [], False
    for p in a.parameters():
        if p.kind is p.KEYWORD_ONLY and not by_name:
            words.append("*")
            by_name = True
        words.append(f"{p.name}: {types.get(p.name, 'Any')}" + ("" if p.default is p.empty else f" = {p.default!r}"))
    if not a.network:
        text = "\n".join("    " + line if line else "" for line in a.text().splitlines())
        return f'def {a.about["function"]}({", ".join(words)}) -> Estimate:\n    """{a.about["summary"]}.\n\n{text}\n    """\n'
    attributes = "".join(f"    {o['name']}: {types[o['name']]}\n" for o in a.options)
    return (f"class NetworkParameters:\n{attributes}    def __init__(self, {', '.join(words)}) -> None: ...\n"
            "    def get_params(self, deep: bool = True) -> dict[str, Any]: ...\n"
            "    def set_params(self, **parameters: Any) -> NetworkParameters: ...\n"
            "    def request(self) -> dict[str, Any]: ...\n")


def main() -> None:
    names = _kolmo.names()
    text = HEADER + f"__all__ = {names!r}\n\n" + "\n".join(map(stub, names))
    folder = Path(sys.argv[1])
    (folder / "ops.pyi").write_text(text, encoding="utf-8")
    (folder / "_analyses.pyi").write_text(ANALYSES + "\n".join(map(analysis_stub, _kolmo.analyses())), encoding="utf-8")


if __name__ == "__main__":
    main()
