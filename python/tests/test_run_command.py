"""`kolmo run` on NPY files: every operator with its first case that NPY can hold, every dtype as it is."""
import os
import subprocess
import sys

import kolmo
import numpy as np
import pytest
from test_operators import NAMES, case_of, count_of, fields

PROGRAM = os.environ.get("KOLMO_COMMAND")
COMMAND = [PROGRAM] if PROGRAM else [sys.executable, "-m", "kolmo"]
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c16", "c8"]


def run(*arguments):
    return subprocess.run([*COMMAND, "run", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def text(value):
    """Writes an option's value as the command takes it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def first_case(name):
    """The first case that NPY, which has no bf16, can hold."""
    for case, given in (case_of(name, i) for i in range(count_of(name))):
        if not any(isinstance(v, kolmo.Array) for v in given.values()):
            return case, given
    return None


@pytest.mark.parametrize("name", [name for name in NAMES if first_case(name)])
def test_every_operator_runs_on_files(name, tmp_path):
    case, given = first_case(name)
    line, outputs = [name, "--device", "cpu"], []
    for f in fields(name):
        file = tmp_path / f"{f['name']}.npy"
        value = given.get(f["name"])
        if "shape" not in f:
            if f["name"] in given and value != []:  # an empty list is the default
                line += ["--set", f"{f['name']}={text(value)}"]
        elif f["kind"] == "out" and f["optional"] and value is None:
            continue
        if f["kind"] in ("in", "inout") and value is not None:
            np.save(file, value)
            line += ["--in", f"{f['name']}={file}"]
        if f["kind"] in ("out", "inout"):
            outputs.append(f["name"])
            line += ["--out", f"{f['name']}={tmp_path}/new_{f['name']}.npy"]
    if not any(f["kind"] in ("in", "inout") for f in fields(name)):
        line += ["--dtype", case.dtype]
    done = run(*line)
    assert done.returncode == 0, done.stderr
    assert case.failure({key: np.load(tmp_path / f"new_{key}.npy") for key in outputs}) == ""


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dtype_stays_what_it_is(dtype, tmp_path):
    x = np.array([[0, 1, 2], [3, 1, 0]]).astype(dtype)
    if x.dtype.kind in "iu":
        x[0, 0], x[1, 1] = np.iinfo(dtype).max, np.iinfo(dtype).min
    for given in (x, x.astype(x.dtype.newbyteorder(">")), np.asfortranarray(x)):
        np.save(tmp_path / "x.npy", given)
        done = run("contiguous_copy", "--in", f"x={tmp_path}/x.npy", "--out", f"y={tmp_path}/y.npy")
        assert done.returncode == 0, done.stderr
        y = np.load(tmp_path / "y.npy")
        assert y.dtype == x.dtype and np.array_equal(y, x)


@pytest.mark.slow  # a sanitizer would end the process instead
def test_memory_that_cannot_be_had_names_operator_and_output():
    done = run("random_uniform", "--set", f"n={2**40}", "--device", "cpu")
    assert done.returncode == 1
    assert done.stderr.startswith("kolmo: random_uniform: values is (1099511627776) f64") and "8796093022208 bytes" in done.stderr
    for more in ({}, {"dtype": "bf16"}):
        with pytest.raises(kolmo.OutOfMemory, match=r"random_uniform: values is \(1099511627776\)"):
            kolmo.random_uniform(n=2**40, **more)
