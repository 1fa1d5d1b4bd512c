"""Tables and arrays of other libraries: same values, names kept."""
import kolmo
import numpy as np
import pytest
from flow_data import FAST, coupled

X = coupled(120)
NAMES = ["rain", "river flow", "7"]
pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")


def network(data, **options):
    return kolmo.TransferEntropyNetwork(**{**FAST, "surrogates": 0}, **options).fit(data)


@pytest.fixture(scope="module")
def want():
    return network(X).matrix_


def check(data, want, names=NAMES):
    net = network(data)
    np.testing.assert_array_equal(net.matrix_, want)
    assert net.variables_ == names and net.n_features_in_ == 3
    assert list(net.feature_names_in_) == names


def test_pandas(want):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES, index=pandas.date_range("2020", periods=120))
    check(frame, want)
    check(frame.convert_dtypes(), want)
    check(pandas.DataFrame(X.astype(object), columns=NAMES), want)
    assert not hasattr(network(pandas.DataFrame(X)), "feature_names_in_")
    value = kolmo.mutual_information(X[:, 0], X[:, 1])
    assert kolmo.mutual_information(frame["rain"], frame[["river flow"]]) == value
    assert "rain" in str(pytest.raises(ValueError, kolmo.mutual_information, frame["rain"] * np.inf, X[:, 1]).value)
    some = [pandas.NA, *X[1:, 0]]
    missing = kolmo.mutual_information(np.where(np.arange(120), X[:, 0], np.nan), X[:, 1])
    assert kolmo.mutual_information(some, X[:, 1]) == kolmo.mutual_information(np.array(some, object), X[:, 1]) == missing
    gap = frame.astype("Float64")
    gap.iloc[5, 0] = pandas.NA
    assert network(gap).to_dict()["missing_rows"] == 1


def test_pandas_columns_that_are_no_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES)
    with pytest.raises(kolmo.InvalidArgument, match="X: column 'place'"):
        network(frame.assign(place=["a"] * 120))
    dated = frame.assign(day=pandas.date_range("2020", periods=120))
    assert network(dated).to_dict()["time_axis"]["column"] == "day", "the only column of dates orders the rows"
    with pytest.raises(kolmo.InvalidArgument, match="X: column 'day'"):
        network(dated.assign(other=dated["day"]))


def test_polars(want):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: X[:, i] for i, name in enumerate(NAMES)})
    check(frame, want)
    assert kolmo.mutual_information(frame["rain"], frame[:, 1]) == kolmo.mutual_information(X[:, 0], X[:, 1])
    gap = frame.with_columns(rain=polars.Series([None, *X[1:, 0].tolist()]))
    assert network(gap).to_dict()["missing_rows"] == 1


def test_xarray(want):
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(X, dims=("time", "variable"), coords={"variable": NAMES})
    check(array, want)
    check(array.T, want)
    check(array.to_dataset("variable"), want)
    assert kolmo.mutual_information(array[:, 0], array[:, 1]) == kolmo.mutual_information(X[:, 0], X[:, 1])
    trials = xarray.DataArray(X.reshape(2, 60, 3), dims=("trial", "time", "variable"), coords={"variable": NAMES})
    np.testing.assert_array_equal(network(trials).matrix_, network(X.reshape(2, 60, 3)).matrix_)


def test_torch(want):
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(network(torch.tensor(X, requires_grad=True)).matrix_, want)
    with pytest.raises(kolmo.InvalidArgument, match="X: is on the device meta"):
        network(torch.empty((120, 3), device="meta"))


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: np.repeat(x, 2, 0)[::2], lambda x: x.tolist(),
                                  lambda x: np.ma.masked_array(x, mask=False)])
def test_layouts(make, want):
    np.testing.assert_array_equal(network(make(X)).matrix_, want)


def test_the_data_are_left_alone():
    x = X.copy()
    x.flags.writeable = False
    network(x)
    np.testing.assert_array_equal(x, X)
