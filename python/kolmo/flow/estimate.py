"""The result of an estimate."""
from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any

from kolmo import _kolmo
from kolmo.flow.markup import estimate_html
from kolmo.flow.options import in_python_terms, pairs_in_python_terms

EMBEDDING = ("embedding", "target_history", "target_tau", "source_history", "source_tau", "lag", "max_lag", "history", "tau")
FIELDS = ("measure", "units", "p_value", "p_at_floor", "test", "surrogates", "surrogate_mean", "surrogate_std", "samples",
          "warnings", "notes")


class Estimate(float):
    """The result of an estimate. It is a float, its value, and compares and computes as one.

    Attributes
    ----------
    value : float
        In ``units``.
    units : str
        "nats" or "bits".
    p_value : float
        NaN if there was no test. With surrogates (1 + #{surrogate >= value}) / (1 + surrogates), unless
        ``p_value="plain"``.
    p_at_floor : bool
        No surrogate reached the value: a smaller p needs more surrogates.
    test : str
        "surrogates", "F", "chi-square" or "".
    surrogates : int
        Different ones.
    surrogate_mean, surrogate_std : float
        NaN without surrogates.
    samples : int
        Embedded rows that the estimate used.
    embedding : dict
        Histories, steps and lags used, by name; empty where there are none.
    warnings : tuple of (name, text)
        Also issued as `DataWarning`.
    notes : tuple of str
        What else is worth knowing about the data.
    document : dict
        The JSON object that the command prints.
    """

    measure: str
    units: str
    p_value: float
    p_at_floor: bool
    test: str
    surrogates: int
    surrogate_mean: float
    surrogate_std: float
    samples: int
    warnings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __new__(cls, result: _kolmo.EstimateResult) -> Estimate:
        self = super().__new__(cls, result.value)
        values = self.__dict__
        for name in FIELDS:
            values[name] = getattr(result, name)
        values["warnings"] = tuple(pairs_in_python_terms(values["warnings"]))
        values["notes"] = tuple(map(in_python_terms, values["notes"]))
        values["_result"] = result
        return self

    @property
    def value(self) -> float:
        return float(self)

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.__dict__.pop("_result").document())
        return document

    @property
    def embedding(self) -> dict[str, Any]:
        if self.measure not in ("te", "ais"):
            return {}
        return {key: self.document[key] for key in EMBEDDING if key in self.document}

    @property
    def bias_corrected(self) -> float:
        """The value less the mean of its surrogates."""
        return self.value - self.surrogate_mean

    @property
    def z(self) -> float:
        """How many standard deviations of the surrogates the value is above their mean; NaN if that is 0."""
        return self.bias_corrected / self.surrogate_std if self.surrogate_std > 0 else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that ``kolmo mi --json`` and the like print."""
        return copy.deepcopy(self.document)

    def __reduce__(self) -> tuple[Callable[..., Estimate], tuple[float, dict[str, Any]]]:
        document = self.document
        return _restored, (self.value, {name: getattr(self, name) for name in FIELDS} | {"document": document})

    def __repr__(self) -> str:
        shown = {"value": self.value, **{name: getattr(self, name) for name in FIELDS if name != "notes"}}
        return f"Estimate({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def _repr_html_(self) -> str:
        return estimate_html(self.document, self.warnings)


def _restored(value: float, fields: dict[str, Any]) -> Estimate:
    self = float.__new__(Estimate, value)
    self.__dict__.update(fields)
    return self
