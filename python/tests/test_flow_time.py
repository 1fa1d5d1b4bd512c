"""Times, trials and masks of rows: indexes and columns of tables, arrays, lists of tables."""
import kolmo
import numpy as np
import pytest
from flow_data import FAST

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")
ROWS = 900
RNG = np.random.default_rng(4)
X = RNG.standard_normal(ROWS)
Y = np.zeros(ROWS)
for row in range(1, ROWS):
    Y[row] = 0.2 * Y[row - 1] + X[row - 1] + 0.5 * RNG.standard_normal()
HOURS = pandas.date_range("2021-03-01", periods=ROWS, freq="h")
KEPT = RNG.random(ROWS) > 0.34
KEPT[[0, -1]] = True


def te(x, y, **options):
    return float(kolmo.transfer_entropy(x, y, noise=0, **options))


def network(data, time=None, trials=None, where=None, **options):
    return kolmo.TransferEntropyNetwork(**{**FAST, "surrogates": 0}, **options).fit(data, time=time, trials=trials, where=where)


def refused(match, call):
    with pytest.raises(kolmo.InvalidArgument, match=match):
        call()


INDEXES = {
    "hours": HOURS, "zone": HOURS.tz_localize("UTC"), "periods": HOURS.to_period("h"), "seconds": 0.25 * np.arange(ROWS),
    "deltas": pandas.to_timedelta(np.arange(ROWS), "min"), "numbers": np.arange(ROWS) + 7,
    "months": pandas.date_range("1900", periods=ROWS, freq="MS"), "quarters": pandas.date_range("1700", periods=ROWS, freq="QE"),
    "weekdays": pandas.bdate_range("1990", periods=ROWS), "nanoseconds": pandas.to_datetime(np.arange(ROWS)),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_absent_rows_are_as_missing_values(kind):
    x, y = pandas.Series(X, INDEXES[kind]), pandas.Series(Y, INDEXES[kind])
    assert te(x, y) == te(X, Y)
    want = te(np.where(KEPT, X, np.nan), np.where(KEPT, Y, np.nan))
    assert te(x[KEPT], y[KEPT]) == want
    frame = pandas.DataFrame({"x": x, "y": y})[KEPT]
    net = network(frame)
    found = net.to_dict()
    assert found["time_axis"]["absent_rows"] == (~KEPT).sum()
    joined = te(X[KEPT], Y[KEPT])
    assert joined < want / 1.5
    assert te(x[KEPT], y[KEPT], time=False) == joined
    assert te(X[KEPT], Y[KEPT], time=np.asarray(x.index[KEPT].to_timestamp() if kind == "periods" else x.index[KEPT])) == want


@pytest.mark.parametrize("kind", INDEXES)
def test_descending_and_repeated_rows_are_refused(kind):
    x, y = pandas.Series(X, INDEXES[kind]), pandas.Series(Y, INDEXES[kind])
    refused("descends.*sort the rows", lambda: te(x[::-1], y[::-1]))
    refused("descends", lambda: network(pandas.DataFrame({"x": x, "y": y})[::-1], strict=True))
    again = np.r_[0:50, 49:ROWS]
    refused("as in the row before", lambda: te(x.iloc[again], y.iloc[again]))
    swapped = np.r_[0:50, 51, 50, 52:ROWS]
    refused("sort the rows", lambda: te(x.iloc[swapped], y.iloc[swapped]))


def test_a_range_that_counts_down_is_refused():
    frame = pandas.DataFrame({"x": X, "y": Y})
    refused("descends", lambda: network(frame[::-1]))
    assert network(frame[::-1], time=False).variables_ == ["x", "y"]


def test_a_sample_of_rows_has_an_information():
    frame = pandas.DataFrame({"x": X, "y": Y}).sample(frac=0.5, random_state=1)
    want = float(kolmo.mutual_information(frame["x"].to_numpy(), frame["y"].to_numpy()))
    assert kolmo.mutual_information(frame["x"], frame["y"]) == want, "its order says nothing"
    assert kolmo.entropy(frame["x"], noise=0) == kolmo.entropy(frame["x"].to_numpy(), noise=0)
    refused("sort the rows", lambda: kolmo.mutual_information(frame["x"], frame["y"], surrogates=9))
    refused("sort the rows", lambda: kolmo.active_information_storage(frame["x"]))


def test_dates_with_a_gap_are_no_time_unless_asked_for():
    dates = pandas.Series(HOURS).where(np.arange(ROWS) != 5)
    frame = pandas.DataFrame({"when": dates, "x": X, "y": Y})
    assert "time_axis" not in network(frame, columns=["x", "y"]).to_dict()
    refused("time: row 5 has no value", lambda: network(frame, time="when"))


def test_labels_of_several_series_are_equal():
    x, y = pandas.Series(X, HOURS), pandas.Series(Y, HOURS)
    refused("y: its labels differ from those of x: row 0.*align", lambda: kolmo.mutual_information(x[1:], y[:-1]))
    shuffled = RNG.permutation(ROWS)
    refused("labels differ", lambda: te(x, y.iloc[shuffled]))
    a, b = x[1:].align(y[:-1], join="inner")
    assert te(a, b) == te(X[1:-1], Y[1:-1])
    assert te(x, Y) == te(X, Y), "an array has no labels"
    plain = pandas.Series(X)
    refused("labels differ", lambda: te(plain[:-10], pandas.Series(Y)[10:]))
    words = pandas.Series(X, [f"w{i}" for i in range(ROWS)])
    assert te(words, pandas.Series(Y, words.index)) == te(X, Y)


def test_the_step_is_told_and_drawn():
    net = network(pandas.DataFrame({"x": X, "y": Y}, index=HOURS))
    assert net.to_dict()["time_step"] == {"step": 1.0, "unit": "h"}
    assert list(net.edges_["lag_time"]) == list(net.edges_["lag"].astype(float))
    assert "time_step" not in network(pandas.DataFrame({"x": X, "y": Y}, index=np.arange(ROWS) * 2)).to_dict()
    assert network(pandas.DataFrame({"x": X, "y": Y}, index=HOURS), dt=3.0, dt_unit="s").to_dict()["time_step"]["unit"] == "s"


def test_columns_say_what_is_known_of_rows():
    subject, day = np.repeat(["b", "a", "c"], ROWS // 3), np.tile(np.arange(ROWS // 3), 3)
    frame = pandas.DataFrame({"subject": subject, "day": day, "x": X, "y": Y, "on": np.arange(ROWS) % 10 < 4})
    want = network(np.stack([X, Y], 1), trials=subject, where=frame["on"])
    net = network(frame, trials="subject", time="day", where="on")
    assert net.variables_ == ["x", "y"]
    np.testing.assert_array_equal(net.matrix_, want.matrix_)
    by_day = network(frame.sort_values("day", kind="stable"), trials="subject", time="day", where="on")
    np.testing.assert_allclose(by_day.matrix_, want.matrix_, atol=1e-9)
    refused("time: the data have no column 'week'", lambda: network(frame, time="week"))
    levels = pandas.DataFrame({"x": X, "y": Y}, index=pandas.MultiIndex.from_arrays([subject, day]))
    np.testing.assert_array_equal(network(levels).matrix_, network(np.stack([X, Y], 1), trials=subject).matrix_)


def test_a_list_of_tables_is_trials():
    cuts = [0, 200, 230, 600, ROWS]
    parts = [slice(a, b) for a, b in zip(cuts, cuts[1:])]
    number = np.repeat(np.arange(4), np.diff(cuts))
    want = te(X, Y, trials=number)
    assert te([X[p, None] for p in parts], [Y[p, None] for p in parts]) == want
    frame = pandas.DataFrame({"x": X, "y": Y}, index=HOURS)
    np.testing.assert_array_equal(network([frame[p] for p in parts]).matrix_, network(frame.to_numpy(), trials=number).matrix_)
    refused("X\\[1\\]: has other columns", lambda: network([frame, frame[["x"]]]))
    refused("list of arrays \\(rows, columns\\)", lambda: te([X[:5], X[5:]], [Y[:5], Y[5:]]))
    refused("trials are not as long", lambda: te([X[p, None] for p in parts], [Y[:300, None], Y[300:, None]]))
    cut = kolmo.transfer_entropy(X, Y, trials=number, surrogates=9, surrogate_type="trials")
    assert cut.samples == 4 * 29 and "trials_cut" in dict(cut.warnings)


def test_epochs_of_mne():
    class Epochs:
        ch_names, times = ["x", "y"], 0.004 * np.arange(ROWS // 3)

        def get_data(self):
            return np.stack([X.reshape(3, -1), Y.reshape(3, -1)], axis=1)  # (epochs, channels, times)

    net = network(Epochs())
    assert net.variables_ == ["x", "y"]
    assert net.to_dict()["time_step"] == {"step": pytest.approx(0.004), "unit": "s"}
    want = network(Epochs().get_data().transpose(0, 2, 1))
    np.testing.assert_array_equal(net.matrix_, want.matrix_)


def test_where_needs_a_truth_for_each_row():
    on = np.arange(ROWS) % 4 > 0
    assert kolmo.transfer_entropy(X, Y, where=on).samples == on[1:].sum()
    refused("where: takes True or False", lambda: te(X, Y, where=X))
    hidden = np.arange(ROWS) == 5
    refused("where: row 5 has no value", lambda: te(X, Y, where=np.ma.array(on, mask=hidden)))
    refused("time: row 5 has no value", lambda: te(X, Y, time=np.ma.array(np.arange(ROWS), mask=hidden)))
    refused("time: takes dates or numbers", lambda: te(X, Y, time=np.arange(ROWS) + 0j))
    assert te(X, Y, where=np.ma.array(on)) == te(X, Y, where=on)
    refused("where: has shape", lambda: te(X, Y, where=on[1:]))
    refused("no row counts", lambda: te(X, Y, where=on & False))


def test_polars_and_xarray():
    polars, xarray = pytest.importorskip("polars"), pytest.importorskip("xarray")
    want = network(np.where(KEPT[:, None], np.stack([X, Y], 1), np.nan), noise=0).matrix_
    frame = polars.DataFrame({"when": HOURS.to_numpy(), "x": X, "y": Y}).filter(polars.Series(KEPT))
    np.testing.assert_array_equal(network(frame, noise=0).matrix_, want)
    array = xarray.DataArray(np.stack([X, Y], 1)[KEPT], dims=("time", "variable"), coords={"time": HOURS[KEPT], "variable": ["x", "y"]})
    np.testing.assert_array_equal(network(array, noise=0).matrix_, want)
    refused("'time' descends", lambda: network(array[::-1]))


def test_whole_numbers_that_doubles_round_are_refused():
    big = np.arange(ROWS, dtype=np.int64) + 2**53
    for call in (lambda: kolmo.mutual_information(big, Y), lambda: network(np.stack([big, big], 1)),
                 lambda: network(pandas.DataFrame({"x": big, "y": Y})), lambda: kolmo.entropy(big.astype(np.uint64))):
        refused("row 1.*by a double exactly", call)
    for exact in (np.arange(ROWS, dtype=np.int64) + 2**53 - ROWS, 2**53 + 2 * np.arange(ROWS, dtype=np.int64)):
        assert kolmo.mutual_information(exact, Y) > -1
