"""kolmo.predict without PyTorch."""
import subprocess
import sys

import pytest


def test_it_imports_without_torch():
    code = ("import sys; sys.modules['torch'] = None\nimport kolmo.predict\n"
            "try:\n    kolmo.predict.Averages\nexcept ImportError as e:\n    print(e)")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "kolmo.predict.Averages needs PyTorch, which is not installed\n"


def test_an_unknown_name_is_an_attribute_error():
    import kolmo.predict
    with pytest.raises(AttributeError, match="'kolmo.predict' has no attribute 'Wacth'"):
        kolmo.predict.Wacth  # noqa: B018
