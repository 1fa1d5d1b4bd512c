"""Information flow between time series, forecasting and dynamics, on the CPU and the GPU."""
from typing import TYPE_CHECKING

try:
    from kolmo._kolmo import version as _version
except ModuleNotFoundError as e:
    if e.name != "kolmo._kolmo":
        raise
    raise ImportError("kolmo: this folder of sources has no built extension; `pip install '.[flow]'` in the checkout builds and "
                      "installs the package") from None

from kolmo import monitor, ops, predict, topology, tuner
from kolmo._devices import bench, contiguous, devices
from kolmo._documentation import near
from kolmo._kolmo import Array, DeviceError, Error, InvalidArgument, Kernel, OutOfMemory, Stream, Unsupported
from kolmo._weights import gru_weights
from kolmo.tuner import tune_function as tune

from kolmo.flow import (DataWarning, Estimate, MultivariateNetwork, MutualInformationMatrix, TransferEntropyNetwork,  # isort: skip
                        active_information_storage, entropy, mutual_information, mutual_information_matrix, transfer_entropy)

if TYPE_CHECKING:  # after the functions above, which come before operators of their names
    from kolmo.ops import *  # type: ignore[assignment,unused-ignore]  # noqa: F403

__version__: str = _version()
__all__ = ["Array", "DeviceError", "Error", "InvalidArgument", "Kernel", "OutOfMemory", "Stream", "Unsupported", "bench",
           "contiguous", "devices", "gru_weights", "monitor", "ops", "predict", "topology", "tune", "tuner",
           "DataWarning", "Estimate", "MultivariateNetwork", "MutualInformationMatrix", "TransferEntropyNetwork",
           "active_information_storage", "entropy", "mutual_information", "mutual_information_matrix", "transfer_entropy", *ops.__all__]

# Where names are equal those above win, and the operator is only in kolmo.ops.
globals().update({name: getattr(ops, name) for name in ops.__all__ if name not in globals()})

if not TYPE_CHECKING:  # type checkers would take every name for one that exists

    def __getattr__(name):
        raise AttributeError(f"module 'kolmo' has no attribute {name!r}{near(name, __all__)}")
