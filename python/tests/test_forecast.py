"""Forecasts: those of statsmodels, lines that go on, and what README.md says of intervals. tests/ops/ar_forecast_test.cpp has
more values of statsmodels."""
import csv

import kolmo
import numpy as np
import pytest
from blocks import ROOT

with open(ROOT / "examples/data/macrodata.csv", encoding="utf-8", newline="") as file:
    MACRO = list(csv.DictReader(file))
GDP = np.array([float(row["realgdp"]) for row in MACRO])
QUARTERS = [f"{row['year']} {row['quarter']}" for row in MACRO]


def test_the_default_is_autoreg_of_statsmodels():
    # statsmodels 0.15.0: r = AutoReg(realgdp, 4).fit(); r.params; p = r.get_prediction(203, 210); p.predicted_mean; p.conf_int()
    got = kolmo.ar_forecast(GDP, order=4, horizon=8, lower=True, upper=True, constant=True)
    np.testing.assert_allclose([got.constant, *got.coefficients],
                               [17.55486882, 1.342478195, -0.1416408293, -0.2736745509, 0.07422746271], rtol=1e-8)
    np.testing.assert_allclose(got.forecast[[0, 7]], [13067.56027, 13565.87971], rtol=1e-9)
    np.testing.assert_allclose([got.lower[7], got.upper[7]], [13065.67481, 14066.08460], rtol=1e-9)


@pytest.mark.parametrize("order", [1, 4, 10])
@pytest.mark.parametrize("difference", [0, 1, 2])
def test_a_straight_line_goes_on(order, difference):
    line = 2710.3 + 0.37 * np.arange(210)
    got = kolmo.ar_forecast(line[:200], order=order, horizon=10, difference=difference)
    np.testing.assert_allclose(got.forecast, line[200:], rtol=1e-10)


def test_what_the_readme_says_of_intervals():
    horizon = 8
    first, last = QUARTERS.index("1983 4"), QUARTERS.index("2007 3")  # of what is known
    inside = []
    for n in range(first + 1, last + 2):
        ahead = kolmo.ar_forecast(GDP[:n], order=4, horizon=horizon, lower=True, upper=True)
        later = GDP[n:n + horizon]
        assert len(later) == horizon
        inside.append((ahead.lower < later) & (later < ahead.upper))
    assert f"From every quarter of 1984 to 2007, {100 * np.mean(inside):.0f} % of such intervals" in \
        (ROOT / "README.md").read_text(encoding="utf-8")


def test_too_few_samples_say_what_would_do():
    with pytest.raises(kolmo.InvalidArgument, match="x has 8 samples; order 4, difference 0 and fit least_squares need 9 or more; "
                                                    "a lower order or fit burg needs fewer"):
        kolmo.ar_forecast(GDP[:8], order=4)
    assert len(kolmo.ar_forecast(GDP[:9], order=4).forecast) == 1
