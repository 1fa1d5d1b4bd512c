"""The analyses of time series, with signatures, defaults and docstrings that follow from what each says of itself. The build
writes their types into _analyses.pyi."""
from __future__ import annotations

from typing import Any

from kolmo.flow.functions import estimate_function
from kolmo.flow.options import described, given_values

entropy = estimate_function("entropy")
mutual_information = estimate_function("mi")
transfer_entropy = estimate_function("te")
active_information_storage = estimate_function("ais")


class NetworkParameters:
    """The options of a network, as parameters with the habits of scikit-learn."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        given = NETWORK_SIGNATURE.bind(*arguments, **options).arguments
        parameters = {name: p.default for name, p in NETWORK_SIGNATURE.parameters.items() if name not in NETWORK.aliases}
        for name, value in given.items():
            if name in NETWORK.aliases and value is not None and NETWORK.aliases[name] in given:
                raise TypeError(f"TransferEntropyNetwork() got {name!r}, which is another name of {NETWORK.aliases[name]!r}, besides it")
            if name not in NETWORK.aliases:
                parameters[name] = value
            elif value is not None:
                parameters[NETWORK.aliases[name]] = value
        self.set_params(**parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor, by name."""
        return {name: getattr(self, name, self.__dict__.get("_no_transform")) for name in NETWORK_PARAMETERS}

    def set_params(self, **parameters: Any) -> NetworkParameters:
        """Sets parameters of the constructor."""
        for given, value in parameters.items():
            name = NETWORK.aliases.get(given, given)
            if name not in NETWORK_PARAMETERS:
                raise ValueError(f"Invalid parameter {given!r} for estimator {self}. Valid parameters are: {NETWORK_PARAMETERS!r}.")
            if name == "transform" and (value is None or (isinstance(value, str) and value == "none")):
                self.__dict__.pop(name, None)  # scikit-learn takes what has this attribute for a transformer
                self._no_transform = value
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = {name: p.default for name, p in NETWORK_SIGNATURE.parameters.items()}
        given = [f"{n}={v!r}" for n, v in self.get_params().items() if v is not None and v is not usual[n] and v != usual[n]]
        return f"{type(self).__name__}({', '.join(given)})"

    def request(self) -> dict[str, Any]:
        """The options that were given, as values for the extension."""
        return given_values(NETWORK, "TransferEntropyNetwork",
                            {name: value for name, value in self.get_params().items() if name not in ("checkpoint", "progress")})


NETWORK = described("network")
NETWORK_SIGNATURE = NETWORK.signature()
NETWORK_PARAMETERS = [name for name in NETWORK_SIGNATURE.parameters if name not in NETWORK.aliases]
# scikit-learn wants each parameter to be an attribute, and so none to be another name of one.
NetworkParameters.__init__.__signature__ = NETWORK_SIGNATURE.replace(  # type: ignore[attr-defined]
    parameters=[NETWORK.self_parameter(), *(NETWORK_SIGNATURE.parameters[name] for name in NETWORK_PARAMETERS)])
