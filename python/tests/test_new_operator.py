"""A new operator is in Python without an edit of Python: the package is built once more with examples/own_operators."""
import os
import subprocess
import sys
from pathlib import Path

import kolmo
import pytest

EXTENDED = Path(kolmo.__file__).parents[2] / "python_extended"
SCRIPT = """
import inspect, sys
import kolmo, kolmo._stubs, numpy as np
assert kolmo.scale_by(np.arange(3.0), factor=3).tolist() == [0, 3, 6]
assert kolmo.divide_by(np.float32(3)).dtype == np.float32
assert str(inspect.signature(kolmo.scale_by)) == "(x, out=None, *, factor=2.0, stream=None)"
assert "what to multiply or divide with" in kolmo.scale_by.__doc__
case = kolmo._kolmo.Case("scale_by")
assert case.failure({"y": kolmo.scale_by(**case.arguments())}) == ""
assert "factor: SupportsFloat = 2.0" in kolmo._stubs.stub("scale_by")
try:
    kolmo.scale_by(np.arange(3.0), factor=1e4)
except kolmo.InvalidArgument as error:
    assert "scale_by: factor is 10000" in str(error), error
else:
    sys.exit("a factor beyond its bounds was taken")
"""


@pytest.mark.skipif(not EXTENDED.is_dir(), reason="built with the tests only")
def test_a_new_operator_is_there():
    done = subprocess.run([sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONPATH": str(EXTENDED)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
