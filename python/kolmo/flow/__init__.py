"""Information flow between time series: estimates, and networks of transfer entropy.

Options, defaults, checks and results are those of the command ``kolmo``. An option is called as there, with ``_`` for ``-``.
"""
from kolmo._analyses import (
    active_information_storage,
    entropy,
    mutual_information,
    transfer_entropy,
)
from kolmo.flow.estimate import Estimate
from kolmo.flow.matrix import MutualInformationMatrix, mutual_information_matrix
from kolmo.flow.network import MultivariateNetwork, TransferEntropyNetwork
from kolmo.flow.options import DataWarning

__all__ = [
    "DataWarning",
    "Estimate",
    "MutualInformationMatrix",
    "MultivariateNetwork",
    "TransferEntropyNetwork",
    "active_information_storage",
    "entropy",
    "mutual_information",
    "mutual_information_matrix",
    "transfer_entropy",
]
