"""The mutual information of all pairs of columns."""
from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

from kolmo import _kolmo
from kolmo.flow.options import described, given_values, in_python_terms, pairs_in_python_terms, translated, warn
from kolmo.flow.problem import problem_of
from kolmo.flow.progress import listener

ANALYSIS = described("mi", pairs=True)
FUNCTION = "mutual_information_matrix"


class MutualInformationMatrix:
    """The mutual information of all pairs of variables.

    Attributes
    ----------
    values : numpy.ndarray, (variables, variables)
        In `units`, in the order of `variables`; symmetric, NaN on the diagonal.
    p_values, p_adjusted : numpy.ndarray, (variables, variables)
        Those of each pair, and adjusted for testing all pairs; NaN if there was no test.
    variables : list of str
    pairs : list of dict
        Each pair once: x, y, x_index, y_index, value, bias_corrected, z, p_value, p_at_floor, p_adjusted, surrogates,
        surrogate_mean, surrogate_std and samples. ``pandas.DataFrame(result.pairs)`` is a table.
    units : str
        "nats" or "bits".
    test : str
        "surrogates", "F" or "".
    warnings : tuple of (name, text)
        Also issued as `DataWarning`.
    notes : tuple of str
        What else is worth knowing about the data.
    """

    def __init__(self, document: dict[str, Any], warnings: tuple[tuple[str, str], ...], notes: tuple[str, ...]) -> None:
        self._document, self.warnings, self.notes = document, warnings, notes
        self.variables: list[str] = list(document["variables"])
        self.units: str = document["units"]
        self.test: str = document["test"] or ""
        self.pairs: list[dict[str, Any]] = copy.deepcopy(document["pairs"])
        self.values, self.p_values, self.p_adjusted = (self._grid(key) for key in ("value", "p_value", "p_adjusted"))

    def _grid(self, key: str) -> np.ndarray:
        n = len(self.variables)
        grid = np.full((n, n), np.nan)
        for pair in self.pairs:
            if pair[key] is not None:
                grid[pair["x_index"], pair["y_index"]] = grid[pair["y_index"], pair["x_index"]] = pair[key]
        return grid

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that ``kolmo mi --all-pairs --json`` prints."""
        return copy.deepcopy(self._document)

    def __repr__(self) -> str:
        return f"MutualInformationMatrix(variables={self.variables!r}, units={self.units!r}, test={self.test!r})"


def mutual_information_matrix(X: Any, *, progress: Any = None, trials: Any = None, time: Any = None, where: Any = None,
                              **options: Any) -> MutualInformationMatrix:
    values = given_values(ANALYSIS, FUNCTION, options)
    problem, _ = problem_of({**values, "all_pairs": True}, X, trials, time, where, made="a matrix of pairs")
    with listener(progress, FUNCTION) as report:
        text, found, notes = translated(lambda: _kolmo.mutual_information_matrix(problem.options, problem.data(), report))
    made = MutualInformationMatrix(json.loads(text), tuple(pairs_in_python_terms(found)), tuple(map(in_python_terms, notes)))
    warn(made.warnings)
    return made


mutual_information_matrix.__signature__ = ANALYSIS.signature()  # type: ignore[attr-defined]
mutual_information_matrix.__doc__ = f"""Mutual information I(x;y), or I(x;y|given), of every two columns of a table at the same time.

{ANALYSIS.text()}

Returns
-------
MutualInformationMatrix
    With each pair as `mutual_information` estimates it, and p-values that are also adjusted for testing all pairs. The order of
    the columns does not matter.

Raises
------
InvalidArgument
    Naming the argument or column. Also for a warning about the data, with ``strict=True``.

Notes
-----
{ANALYSIS.about["source"]}. Surrogates are made of one column of a pair, the same whatever the order of the columns.
"""
