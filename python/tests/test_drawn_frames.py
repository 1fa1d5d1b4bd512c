"""Data frames that hypothesis draws: the same data in another form give the same answer, or one clear error."""
import warnings

import kolmo
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")
NAMES = ["flow", "rain", "snow", "7", "été"]
DTYPES = ["float64", "float32", "int16", "object", "Float64"]
INDEXES = ["none", "dates", "shifted", "seconds", "words", "months"]


def index_of(kind, rows):
    return {"none": pandas.RangeIndex(rows), "dates": pandas.date_range("2020", periods=rows, freq="h"),
            "shifted": pandas.RangeIndex(40, 40 + rows), "seconds": pandas.Index(0.5 * np.arange(rows)),
            "words": pandas.Index([f"row {i}" for i in range(rows)]),
            "months": pandas.period_range("1900-01", periods=rows, freq="M")}[kind]


@st.composite
def frames(draw):
    rows, columns = draw(st.integers(30, 80)), draw(st.integers(2, 4))
    values = np.random.default_rng(draw(st.integers(0, 999))).integers(-300, 300, (rows, columns)).astype(float)
    values[1:, 1] += values[:-1, 0]
    for row, column in draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), max_size=3)):
        values[row, column] = np.nan
    return values, NAMES[:columns]


def network(data, **options):
    return kolmo.TransferEntropyNetwork(max_lag=2, surrogates=9, seed=3, **options).fit(data)


def links(net):
    table = net.edges_.set_index(["source", "target"]).sort_index()
    return table[["value", "lag", "p_value", "surrogate_mean"]]


SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SETTINGS
@given(frames(), st.sampled_from(DTYPES), st.sampled_from(INDEXES), st.randoms(use_true_random=False))
def test_order_dtype_and_index_change_nothing(drawn, dtype, index, random):
    values, names = drawn
    want = links(network(pandas.DataFrame(values, columns=names)))
    order = list(range(len(names)))
    random.shuffle(order)
    frame = pandas.DataFrame(values, columns=names)
    if dtype == "int16" and np.isnan(values).any():
        frame = frame.astype("Int16")
    else:
        frame = frame.astype(dtype)
    frame = frame.iloc[:, order].set_index(index_of(index, len(values)))
    pandas.testing.assert_frame_equal(links(network(frame)), want, check_exact=True)


@SETTINGS
@given(frames(), st.sampled_from(["dates", "seconds", "months"]), st.data())
def test_rows_that_are_gone_are_as_rows_without_values(drawn, index, data):
    values, names = drawn
    gone = data.draw(st.lists(st.integers(1, len(values) - 2), max_size=4, unique=True))
    frame = pandas.DataFrame(values, columns=names, index=index_of(index, len(values)))
    emptied = frame.copy()
    emptied.iloc[gone] = np.nan
    dropped = frame.drop(index=frame.index[gone])
    try:
        want = links(network(emptied, noise=0))
    except kolmo.InvalidArgument:
        with pytest.raises(kolmo.InvalidArgument):
            network(dropped, noise=0)
        return
    pandas.testing.assert_frame_equal(links(network(dropped, noise=0)), want, check_exact=True)


@SETTINGS
@given(frames(), st.sampled_from(["dates", "seconds", "months"]), st.randoms(use_true_random=False))
def test_rows_in_another_order_are_one_error(drawn, index, random):
    values, names = drawn
    order = list(range(len(values)))
    random.shuffle(order)
    if order == sorted(order):
        order = order[::-1]
    frame = pandas.DataFrame(values, columns=names, index=index_of(index, len(values))).iloc[order]
    with pytest.raises(kolmo.InvalidArgument, match="sort the rows"):
        network(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sorted_again = links(network(frame.sort_index()))
    pandas.testing.assert_frame_equal(sorted_again, links(network(pandas.DataFrame(values, columns=names))), check_exact=True)
