"""Functions of analyses, made of what the analyses say of themselves."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kolmo import _kolmo
from kolmo.flow.estimate import Estimate
from kolmo.flow.inputs import join
from kolmo.flow.options import described, in_python_terms, warn
from kolmo.flow.options import given_values
from kolmo.flow.progress import listener

DOCUMENTATION = """{summary}.

{parameters}

Returns
-------
Estimate
    In nats, unless ``units="bits"``. {about}

Raises
------
InvalidArgument
    Naming the argument. Also for a warning about the data, with ``strict=True``.

Notes
-----
{source}. Arrays of NumPy, Series and DataFrames of pandas or polars, xarray, tensors on the CPU are taken, time along rows;
rows with a missing value (NaN) are left out.
"""


def _depends_on_order(analysis: str, options: dict[str, Any]) -> bool:
    """Whether an analysis depends on the order of rows: the past, the Theiler window, surrogates and differences do."""
    surrogates = options.get("surrogates") and options.get("surrogate_type") != "permute"
    differences = "difference" in str(options.get("transform"))
    return bool(analysis not in ("mi", "entropy") or surrogates or differences or options.get("theiler") or options.get("local")
                or options.get("estimator") == "ordinal")


def estimate_function(name: str) -> Callable[..., Estimate]:
    """The function of an analysis, with the signature and docstring that follow from its options."""
    analysis = described(name)
    function = analysis.about["function"]
    roles = [o["name"] for o in analysis.data]
    required = [o["name"] for o in analysis.data if o["required"]]

    def estimate(*arguments: Any, progress: Any = None, trials: Any = None, time: Any = None, where: Any = None,
                 **options: Any) -> Estimate:
        if len(arguments) > len(roles):
            raise TypeError(f"{function}() takes {len(roles)} arrays by place; options are given by name")
        data = dict(zip(roles, arguments))
        for role in roles:
            if role in options:
                if role in data:
                    raise TypeError(f"{function}() got multiple values for argument {role!r}")
                data[role] = options.pop(role)
        for role in required:
            if data.get(role) is None:
                raise TypeError(f"{function}() missing required argument {role!r}")
        values = given_values(analysis, function, options)
        columns = join(trials, time, where, _depends_on_order(name, values), **data)
        values.update(columns.spec)
        if time is False:
            values["time"] = "none"
        lags = values.pop("given_lags", 1)
        if name == "te" and "given" in values:
            values["given"] = [(column, lags) for column in columns.spec["given"]]
        with listener(progress, function) as report:
            try:
                result = _kolmo.analyse(name, values, columns.data(), report)
            except _kolmo.Error as e:
                raise type(e)(in_python_terms(str(e))) from None
        made = Estimate(result)
        warn(made.warnings)
        return made

    about = analysis.about
    estimate.__name__ = estimate.__qualname__ = function
    estimate.__signature__ = analysis.signature()  # type: ignore[attr-defined]
    estimate.__doc__ = DOCUMENTATION.format(summary=about["summary"], parameters=analysis.text(), source=about["source"],
                                            about=" ".join(about["about"].split()))
    return estimate
