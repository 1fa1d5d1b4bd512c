"""Every operator of the catalogue, by its name."""
from typing import TYPE_CHECKING

from kolmo import _kolmo
from kolmo._documentation import Documented, near

__all__ = _kolmo.names()
for _name in __all__:
    globals()[_name] = Documented(_name)

if not TYPE_CHECKING:  # type checkers would take every name for one that exists

    def __getattr__(name: str):
        raise AttributeError(f"module 'kolmo.ops' has no attribute {name!r}{near(name, __all__)}")
