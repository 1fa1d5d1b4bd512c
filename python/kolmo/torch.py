"""The float operators as operators of PyTorch: torch.ops.kolmo.softmax(x), in eager mode and under torch.compile.

Importing this module registers them. They have no derivatives: going backward through one raises kolmo.Unsupported. Shapes are
known without computing, so that torch.compile traces through them; tensors are taken as they are, and one that is not contiguous
raises."""
from __future__ import annotations

import json
from typing import Any

import torch

from kolmo import _kolmo, ops
from kolmo._documentation import Description, described

_KINDS = {"integer": "int", "natural": "int", "real": "float", "flag": "bool", "choice": "str", "list": "int[]"}
_library: Any = torch.library.Library("kolmo", "DEF")  # type: ignore[no-untyped-call]
__all__: list[str] = []


def _takes_floats(d: Description) -> bool:
    return bool(d.inputs) and bool(d.required) and "f32" in d.inputs[0]["dtypes"] and all(
        f["kind"] == "in" for f in d.inputs) and not any("counter" in f for f in d.outputs)


def _option(f: dict[str, Any]) -> str:
    return f"{_KINDS[f['kind']]}{'?' if f['optional'] else ''} {f['name']}={json.dumps(f['default']) if f['kind'] != 'flag' else f['default']}".replace(
        "=null", "=None")


def _schema(name: str, d: Description) -> str:
    words = [f"Tensor? {f['name']}=None" if f["optional"] else f"Tensor {f['name']}" for f in d.inputs]
    if d.options:
        words += ["*", *map(_option, d.options)]
    results = ", ".join(["Tensor"] * len(d.required))
    return f"{name}({', '.join(words)}) -> {results if len(d.required) == 1 else f'({results})'}"


def _register(name: str) -> None:
    d = described(name)
    if not _takes_floats(d):
        return
    operator, inputs = getattr(ops, name), [f["name"] for f in d.inputs]
    single = len(d.required) == 1

    def compute(*tensors: torch.Tensor | None, **options: Any) -> Any:
        given = {key: t.detach() for key, t in zip(inputs, tensors, strict=False) if t is not None}
        result = operator(**given, **options)
        return result if single else tuple(result[:len(d.required)])

    def shaped(*tensors: torch.Tensor | None, **options: Any) -> Any:
        given = {key: ([int(n) for n in t.shape], str(t.dtype)) for key, t in zip(inputs, tensors, strict=False) if t is not None}
        like = next(t for t in tensors if t is not None)
        outputs = [like.new_empty(shape, dtype=_DTYPES[dtype]) for shape, dtype in _kolmo.shapes(name, {**given, **options})]
        return outputs[0] if single else tuple(outputs)

    def backward(context: Any, *gradients: Any) -> None:
        raise _kolmo.Unsupported(f"{name}: has no derivative; call it on tensors that require no gradient")

    _library.define(_schema(name, d), tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order))
    _library.impl(name, compute, "CPU")
    _library.impl(name, compute, "CUDA")
    torch.library.register_fake(f"kolmo::{name}", shaped, lib=_library)
    torch.library.register_autograd(f"kolmo::{name}", backward, lib=_library)
    globals()[name] = getattr(torch.ops.kolmo, name)
    __all__.append(name)


_DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
           "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "c128": torch.complex128, "c64": torch.complex64, "bool": torch.bool}
for _name in ops.__all__:
    _register(_name)
