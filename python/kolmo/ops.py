"""Every operator of the catalogue, by its name."""
from kolmo import _kolmo
from kolmo._documentation import Documented

__all__ = _kolmo.names()
for _name in __all__:
    globals()[_name] = Documented(_name)
