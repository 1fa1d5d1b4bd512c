"""Logs whose columns hold objects or texts, plans that cannot be, and forecasts beyond the range of numbers."""
import copy
import pickle

import kolmo
import numpy as np
import pytest
from kolmo import predict

STEP = np.arange(1, 401)
LOSS = 1.2 + 3 * STEP ** -0.4


def medians(**columns):
    return predict.forecast({"step": STEP, "loss": LOSS, "rate": np.full(400, 1e-3)} | columns).median


def test_objects_and_texts_are_numbers_and_none_is_unknown():
    gap = np.where(STEP == 8, np.nan, LOSS)
    want = medians(loss=gap)
    for unknown in (None, "", "NA", np.nan):
        np.testing.assert_array_equal(medians(loss=[unknown if s == 8 else float(v) for s, v in zip(STEP, LOSS, strict=True)]), want)
    np.testing.assert_array_equal(medians(loss=[repr(float(v)) for v in LOSS], step=STEP.astype(object)), medians())
    np.testing.assert_array_equal(medians(loss=np.array([repr(float(v)) for v in LOSS])), medians())


def test_the_columns_of_pandas_are_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"step": STEP, "loss": pandas.array(LOSS, "Float64"), "lr": pandas.Series(["0.001"] * 400, dtype="string")})
    frame.loc[7, "loss"] = pandas.NA
    np.testing.assert_array_equal(predict.forecast(frame).median, medians(loss=np.where(STEP == 8, np.nan, LOSS)))


def test_a_loss_that_is_none_to_the_end_has_diverged():
    with pytest.raises(kolmo.InvalidArgument, match="since step 301; the training has diverged"):
        medians(loss=[*LOSS[:300], *[None] * 100])


@pytest.mark.parametrize("name", ["loss", "lr", "run1 - eval_loss"])
def test_a_column_that_is_read_and_is_no_number_is_named(name):
    columns = {"train_loss" if name == "loss" else "loss": LOSS, name: [*LOSS[:5].tolist(), "what", *LOSS[6:].tolist()]}
    with pytest.raises(kolmo.InvalidArgument, match=f"row 6, column '{name}': 'what' is no number"):
        predict.forecast(columns)


def test_a_column_that_is_not_read_may_be_anything():
    assert len(medians(note=["what"] * 400, when=np.full(400, "2026-01-01", "datetime64[D]")))
    assert len(predict.forecast({"loss": ["what"] * 400, "mine": LOSS}, loss="mine"))
    with pytest.raises(kolmo.InvalidArgument, match="column 'note': 'what' is no number"):
        predict.forecast({"note": ["what"] * 400, "loss": LOSS}, rate="note")


@pytest.mark.parametrize("plan", [np.ones((2, 3)), [], [[0.1], [0.2]]])
def test_a_plan_that_is_no_row_of_rates_is_refused(plan):
    with pytest.raises(kolmo.InvalidArgument, match="plan is an array of shape"):
        predict.forecast({"loss": LOSS}, plan=plan)


def test_a_forecast_beyond_the_range_of_numbers_is_nan():
    made = predict.forecast({"loss": LOSS}, horizon=20)
    document = copy.deepcopy(made.document)
    for row in document["forecast"]:
        row |= {"median": None, "mean": None, "high": None, "quantiles": [*row["quantiles"][:9], *[None] * 10]}
    forecast = predict.Forecast(document, "", made.log)
    assert forecast.median.dtype == forecast.quantiles.dtype == float and np.isnan(forecast.median).all()
    assert "loss nan" in repr(forecast) and forecast.time_to(1.0)["median"] is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_forecasts_can_be_copied(copied):
    forecast = predict.forecast({"loss": LOSS}, target=1.3)
    again = copied(forecast)
    np.testing.assert_array_equal(again.quantiles, forecast.quantiles)
    assert repr(again) == repr(forecast) and again.plot() == forecast.plot() and again.time_to(1.3) == forecast.time_to(1.3)
