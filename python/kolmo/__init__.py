"""Information flow between time series, forecasting and dynamics, on the CPU and the GPU."""
from kolmo import monitor, ops, tuner
from kolmo._devices import bench, contiguous, devices
from kolmo._kolmo import Array, DeviceError, Error, InvalidArgument, Kernel, OutOfMemory, Stream, Unsupported
from kolmo._kolmo import version as _version
from kolmo.ops import *  # noqa: F403
from kolmo.tuner import tune_function as tune

# After the operators: of equal names these win, and the operator is in kolmo.ops.
from kolmo.flow import (DataWarning, Estimate, TransferEntropyNetwork, active_information_storage, entropy,  # isort: skip
                        mutual_information, transfer_entropy)

__version__: str = _version()
__all__ = ["Array", "DeviceError", "Error", "InvalidArgument", "Kernel", "OutOfMemory", "Stream", "Unsupported", "bench",
           "contiguous", "devices", "monitor", "ops", "tune", "tuner",
           "DataWarning", "Estimate", "TransferEntropyNetwork", "active_information_storage", "entropy",
           "mutual_information", "transfer_entropy", *ops.__all__]
