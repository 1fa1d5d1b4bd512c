"""The extension module is a good neighbour of the other libraries in a process."""
import shutil
import subprocess

import pytest

from kolmo import _kolmo


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm of binutils")
def test_the_extension_exports_its_init_function_alone():
    """Two copies of the C++ library in a process, as with PyTorch beside an extension with a static one, once shared half of a locale."""
    listed = subprocess.run(["nm", "-D", "--defined-only", _kolmo.__file__], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in listed.splitlines()] == ["PyInit__kolmo"]
