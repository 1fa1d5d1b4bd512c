"""Estimates: the command's values, and what Python adds."""
import pickle

import kolmo
import numpy as np
import pytest
from flow_data import command, comparable, coupled

X = coupled(150, 4)
OPTIONS = [
    {},
    {"k": 3, "surrogates": 19, "random_state": 7},
    {"surrogates": 19, "surrogate_type": "block", "units": "bits"},
    {"surrogates": 19, "surrogate_type": "iaaft", "theiler": 3, "algorithm": "ksg2"},
    {"surrogates": 19, "surrogate_type": "permute", "p_value": "plain", "standardize": "none", "noise": 0},
    {"transform": "difference", "precision": "f32"},
    {"estimator": "gaussian"},
    {"estimator": "ordinal", "order": 3, "bias": "miller_madow", "surrogates": 19},
]
pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")


def words(options):
    names = {"k": "neighbors", "random_state": "seed", "miller_madow": "miller-madow"}
    return [f"--{names.get(n, n).replace('_', '-')}={names.get(v, v)}" for n, v in options.items()]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("flow") / "x.npy"
    np.save(path, X)
    return path


def same(estimate, document):
    assert comparable(estimate.to_dict()) == comparable(document)
    assert float(estimate) == estimate.value == document["value"]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_equals_the_command(file, options):
    if options.get("surrogate_type") != "iaaft":
        r = kolmo.mutual_information(X[:, :2], X[:, 2], given=X[:, 3], **options)
        same(r, command("mi", file, "--x=0,1", "--y=2", "--given=3", *words(options)))
    r = kolmo.transfer_entropy(X[:, 0], X[:, 1], X[:, 2], history=2, lag=2, given_lags=(1, 2), **options)
    same(r, command("te", file, "--source=0", "--target=1", "--given=2:1-2", "--history=2", "--lag=2", *words(options)))
    r = kolmo.active_information_storage(X[:, 0], history=2, **options)
    same(r, command("ais", file, "--x=0", "--history=2", *words(options)))


def test_entropy_and_a_choice_of_the_embedding(file):
    same(kolmo.entropy(X[:, :2], k=5), command("entropy", file, "--x=0,1", "--neighbors=5"))
    r = kolmo.transfer_entropy(X[:, 0], X[:, 1], max_lag=3, embedding="ais", surrogates=19)
    same(r, command("te", file, "--source=0", "--target=1", "--max-lag=3", "--embedding=ais", "--surrogates=19"))
    assert r.embedding["max_lag"] == 3 and r.embedding["lag"] in (1, 2, 3)


def test_trials_as_an_axis_and_as_labels(tmp_path):
    cube = X.reshape(3, 50, 4)
    np.save(tmp_path / "trials.npy", cube)
    want = command("te", tmp_path / "trials.npy", "--source=0", "--target=1", "--surrogates=5", "--surrogate-type=trials")
    options = {"surrogates": 5, "surrogate_type": "trials"}
    same(kolmo.transfer_entropy(cube[:, :, :1], cube[:, :, 1:2], **options), want)
    labels = np.repeat(["b", "a", "c"], 50)
    same(kolmo.transfer_entropy(X[:, 0], X[:, 1], trials=labels, **options), want)


def test_missing_values_split_the_rows(file, tmp_path):
    x = X.copy()
    x[40, 0] = np.nan
    np.save(tmp_path / "gap.npy", x)
    r = kolmo.transfer_entropy(x[:, 0], x[:, 1])
    same(r, command("te", tmp_path / "gap.npy", "--source=0", "--target=1"))
    assert any("missing" in note for note in r.notes)
    same(kolmo.transfer_entropy(np.ma.masked_invalid(x[:, 0]), x[:, 1]), r.document)


def test_an_estimate_is_a_number_and_can_be_pickled():
    r = kolmo.mutual_information(X[:, 0], X[:, 1], surrogates=19)
    assert r + 1 == r.value + 1 and sorted([r, -1.0]) == [-1.0, r] and f"{r:.3f}" == f"{r.value:.3f}"
    assert r.bias_corrected == r.value - r.surrogate_mean
    again = pickle.loads(pickle.dumps(r))
    assert type(again) is kolmo.Estimate and again == r and again.document == r.document and again.z == r.z
    assert "p-value" in r._repr_html_() and "mi" in repr(r)
    with pytest.raises(AttributeError):
        r.value = 3.0


def test_random_state():
    value = [kolmo.mutual_information(X[:, 0], X[:, 1], surrogates=19, random_state=s).surrogate_mean
             for s in (0, None, 1, np.random.default_rng(5), np.random.default_rng(5), np.random.RandomState(5))]
    assert value[0] == value[1] != value[2] and value[3] == value[4] != value[5]


@pytest.mark.parametrize("call, error, mentions", [
    (lambda x: kolmo.mutual_information(x, x[:90]), kolmo.InvalidArgument, "y: has 90 rows, and x 150"),
    (lambda x: kolmo.mutual_information(x, x, surrogate_type="foo"), kolmo.InvalidArgument, "surrogate_type: is 'foo', accepted are circular,"),
    (lambda x: kolmo.mutual_information(x, x, surogates=3), TypeError, "did you mean 'surrogates'"),
    (lambda x: kolmo.mutual_information(x, x, k=0), kolmo.InvalidArgument, "k: "),
    (lambda x: kolmo.mutual_information(x[:5], x[:5], k=5), kolmo.InvalidArgument, "too few"),
    (lambda x: kolmo.mutual_information(x, x, noise=-1.0), kolmo.InvalidArgument, "noise: "),
    (lambda x: kolmo.mutual_information(x, x, noise=float("nan")), kolmo.InvalidArgument, "noise: "),
    (lambda x: kolmo.mutual_information(x, x, theiler="many"), kolmo.InvalidArgument, "theiler"),
    (lambda x: kolmo.mutual_information(x, x, theiler=[1]), kolmo.InvalidArgument, "theiler: "),
    (lambda x: kolmo.mutual_information(x, x, strict="yes"), kolmo.InvalidArgument, "strict: "),
    (lambda x: kolmo.mutual_information(x, x, random_state=-1), kolmo.InvalidArgument, "random_state"),
    (lambda x: kolmo.mutual_information(x, x, device="abacus"), kolmo.InvalidArgument, "abacus"),
    (lambda x: kolmo.mutual_information(x, x, estimator="gaussian", k=3), kolmo.InvalidArgument, "neighbors is for estimator=\"ksg\", not for"),
    (lambda x: kolmo.mutual_information(x + 1j, x), kolmo.InvalidArgument, "x: Complex"),
    (lambda x: kolmo.mutual_information(x, ["a"] * 150), kolmo.InvalidArgument, "y: "),
    (lambda x: kolmo.mutual_information(x, np.where(x > 1, np.inf, x)), kolmo.InvalidArgument, "inf is infinite"),
    (lambda x: kolmo.mutual_information(x, x.astype("M8[s]")), kolmo.InvalidArgument, "y: holds times"),
    (lambda x: kolmo.mutual_information(x[:0], x[:0]), kolmo.InvalidArgument, "empty"),
    (lambda x: kolmo.transfer_entropy(np.c_[x, x], x), kolmo.InvalidArgument, "source: takes one column"),
    (lambda x: kolmo.transfer_entropy(x, x[::-1], lag=3, max_lag=4), kolmo.InvalidArgument, "max_lag"),
    (lambda x: kolmo.transfer_entropy(x, x[::-1], trials=np.r_[0, 1, [0] * 148]), kolmo.InvalidArgument, "trials: row 2"),
    (lambda x: kolmo.transfer_entropy(x, x[::-1], trials=[0, 1]), kolmo.InvalidArgument, "trials: "),
    (lambda x: kolmo.entropy(x, surrogates=3), TypeError, "surrogates"),
    (lambda x: kolmo.entropy(np.zeros((2, 2, 2, 2))), kolmo.InvalidArgument, "x: has 4 dimensions"),
])
def test_what_is_wrong_is_one_exception_in_words_of_python(call, error, mentions):
    with pytest.raises(error) as raised:
        call(X[:, 0].copy())
    assert mentions in str(raised.value) and "--" not in str(raised.value)
    assert isinstance(raised.value, (ValueError, TypeError))


def test_warnings_and_strict():
    walk = np.cumsum(X[:, 0])
    with pytest.warns(kolmo.DataWarning, match="unit_root") as caught:
        r = kolmo.mutual_information(walk, X[:, 1])
    assert caught[0].filename == __file__ and "unit_root" in dict(r.warnings)
    with pytest.raises(kolmo.InvalidArgument, match="unit_root"):
        kolmo.mutual_information(walk, X[:, 1], strict=True)


def test_local_values(tmp_path):
    r = kolmo.mutual_information(X[:, 0], X[:, 1], local=tmp_path / "local.csv")
    values = np.genfromtxt(tmp_path / "local.csv", delimiter=",", names=True)
    assert np.isclose(np.nanmean(values[values.dtype.names[-1]]), r)
