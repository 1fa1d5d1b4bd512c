"""Every operator with sizes, options and values drawn from what its fields say: the CPU and the emulated GPU agree, in answers
and in what they refuse."""
import json
import re

import kolmo
import numpy as np
import pytest
from drawing import draw
from kolmo import _kolmo
from test_operators import DEVICES, NO_ROOM, names_an_argument

OPERATORS = [d for d in (json.loads(_kolmo.Operator(name).describe()) for name in kolmo.ops.__all__) if d["alias_of"] is None]
PROBLEMS = 25  # more are drawn until a quarter of this number is not refused


def outcome(described, arguments, device):
    """Calls the operator: returns the outputs, or what was refused."""
    given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    try:
        result = getattr(kolmo.ops, described["name"])(**given, device=device)
    except (kolmo.InvalidArgument, kolmo.Unsupported) as error:
        return re.sub(r" on (cpu|simt)\b", "", str(error))
    outputs = result if isinstance(result, tuple) else (result,)
    return [np.asarray(x) for x in outputs if x is not None] + [given[f["name"]] for f in described["fields"] if f["kind"] == "inout"]


def narrowest(arguments):
    sizes = [x.real.dtype.itemsize for x in arguments.values() if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
    return min(sizes, default=8)


@NO_ROOM
@pytest.mark.parametrize("described", OPERATORS, ids=lambda d: d["name"])
def test_devices_agree(described):
    answered = 0
    for seed in range(4 * PROBLEMS):
        if seed >= PROBLEMS and answered >= PROBLEMS // 4:
            break
        arguments = draw(described, seed)
        shown = {k: (v.shape, str(v.dtype)) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
        first, *others = (outcome(described, arguments, device) for device in DEVICES)
        if isinstance(first, str):
            assert first.startswith(f"{described['name']}: "), first
            assert names_an_argument(first.partition(": ")[2], described["fields"]), first
            assert all(other == first for other in others), (first, others, shown)
            continue
        answered += 1
        near = {8: 1e-8, 4: 1e-3, 2: 3e-2}[narrowest(arguments)]
        for other in others:
            assert not isinstance(other, str), (other, shown)
            for x, y in zip(first, other, strict=True):
                assert x.shape == y.shape and x.dtype == y.dtype, shown
                if x.dtype.kind in "fc":
                    np.testing.assert_allclose(y, x, rtol=near, atol=near * max(1, np.abs(x[np.isfinite(x)]).max(initial=0)), err_msg=str(shown))
                else:
                    assert np.array_equal(x, y), shown
    assert answered >= PROBLEMS // 4
