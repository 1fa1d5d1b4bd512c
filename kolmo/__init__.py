"""Not the Python package: this folder holds C++ sources, and python/kolmo the package. Python finds it first where a program
runs in the checkout; it gives way to the package, or says how to get it."""
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_spec = importlib.machinery.PathFinder.find_spec("kolmo", [p for p in sys.path if os.path.realpath(p) != _here])
if _spec is None or _spec.origin is None:
    raise ImportError(f"kolmo: {_here} holds its sources, and the Python package is not installed; `pip install '.[flow]'` there "
                      "builds and installs it")
_package = importlib.util.module_from_spec(_spec)
sys.modules["kolmo"] = _package
_spec.loader.exec_module(_package)
