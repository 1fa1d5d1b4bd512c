"""What the options of a network mean together: IDTxl's rules, measures, estimators, and what the result says of its tests."""
import kolmo
import numpy as np
import pytest
from flow_data import command, coupled

pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")


def autoregressive(coefficient, rows=500, columns=4, seed=0):
    """Independent series."""
    x = np.random.default_rng(seed).normal(size=(rows, columns))
    for t in range(1, rows):
        x[t] += coefficient * x[t - 1]
    return x


def network(x, **options):
    usual = {"method": "multivariate", "max_lag": 2, "progress": False}
    return kolmo.TransferEntropyNetwork(**usual | options).fit(x).to_dict()


def warnings_of(document):
    return {w["name"]: w["text"] for w in document["warnings"]}


@pytest.mark.parametrize("options", [
    {"estimator": "gaussian"}, {"estimator": "gaussian", "surrogates": 200}, {"estimator": "ordinal"}, {},
    {"surrogate_type": "circular"}, {"standardize": "none"}], ids=str)
def test_the_rules_of_idtxl_go_with_every_estimator_and_kind_of_surrogate(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = coupled(300)
    np.save("x.npy", x)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    document = command("network", "x.npy", "--method=multivariate", "--max-lag=2", "--compatible=idtxl", *words)
    assert {("0", "1"), ("1", "2")} <= {(e["source"], e["target"]) for e in document["links"] if e["significant"]}
    said = document["options"]
    analytic = options == {"estimator": "gaussian"}
    assert said.get("surrogate_type") == (None if analytic else options.get("surrogate_type", "permute"))
    assert said.get("standardize") == ({"ksg": options.get("standardize", "series")}).get(options.get("estimator", "ksg"))
    found = network(x, compatible="idtxl", **options)
    for link in [*found["links"], *document["links"]]:
        link.pop("command", None)
    assert found["links"] == document["links"]


def test_no_p_value_of_idtxl_is_zero():
    document = network(coupled(300), max_lag=1, compatible="idtxl", surrogates=40)
    assert any(link["significant"] or link["lags"] for link in document["links"])
    for t in document["targets"]:
        assert t["joint_p_value"] >= 1 / 40 and all(v["p_value_given_all"] >= 1 / 40 for v in t["sources"])


def test_mutual_information_of_autocorrelated_series_is_tested_by_surrogates():
    false = [sum(link["significant"] for link in network(autoregressive(0.9, seed=s), measure="mi", estimator="gaussian")["links"])
             for s in range(10)]
    assert sum(f > 0 for f in false) <= 3


@pytest.mark.parametrize("method", ["multivariate", "bivariate"])
def test_an_analytic_test_that_does_not_hold_says_so(method):
    document = network(autoregressive(0.9), method=method, measure="mi", estimator="gaussian", surrogates=0)
    assert "analytic_test" in warnings_of(document)
    assert "analytic_test" not in warnings_of(network(autoregressive(0), method=method, measure="mi", estimator="gaussian", surrogates=0))


@pytest.mark.parametrize("options", [{}, {"method": "bivariate"}, {"method": "pairwise", "exceedances": 0}], ids=str)
def test_fewer_shifts_than_were_asked_for_are_told(options):
    document = network(coupled(300), surrogates=1000, **options)
    assert "different circular surrogates" in warnings_of(document)["fewer_surrogates"]
    if "exceedances" not in options:
        samples = {t["target"]: t["samples"] for t in document["targets"]}
        shifts = min(samples[link["target"]] - 2 * link["min_shift"] + 1 for link in document["links"])
        assert f"The rows allow {shifts} different shifts, and no test had more. " in document["methods"]["text"]
        assert "different shift" not in network(coupled(300), surrogates=shifts, **options)["methods"]["text"]
    assert "fewer_surrogates" not in warnings_of(network(coupled(300), surrogates=200, **options))
    assert "fewer_surrogates" not in warnings_of(network(coupled(300), method="pairwise"))


@pytest.mark.parametrize("rows, told", [(60, True), (95, True), (150, False)])
def test_sequential_tests_tell_when_shifts_are_few(rows, told):
    document = network(coupled(rows, 2), method="pairwise")
    assert ("few_surrogates" in warnings_of(document)) == told


def test_one_estimate_with_fewer_shifts_than_were_asked_for_says_so():
    x = coupled(300)
    found = kolmo.transfer_entropy(x[:, 0], x[:, 1], surrogates=1000)
    assert "fewer_surrogates" in dict(found.warnings)


@pytest.mark.parametrize("options", [{}, {"method": "pairwise", "conditional_all": True}], ids=str)
def test_equal_variables_are_told(options):
    x = coupled(300)
    document = network(np.column_stack([x, x[:, 0]]), surrogates=50, **options)
    assert warnings_of(document)["duplicate"].startswith("0 and 3")


@pytest.mark.parametrize("estimator", ["ksg", "gaussian"])
def test_a_source_that_determines_the_target_is_told(estimator):
    x = np.random.default_rng(2).normal(size=(300, 2))
    x[1:, 1] = x[:-1, 0]
    assert warnings_of(network(x, estimator=estimator))["infinite"].startswith("0 -> 1")


def test_the_linear_estimator_takes_as_many_conditions_as_the_rows_allow():
    document = network(coupled(20, 2), max_lag=1, estimator="gaussian")
    assert [link["source"] for link in document["links"] if link["significant"]] == ["0"]
    with pytest.raises(kolmo.InvalidArgument, match="too few"):
        network(coupled(4, 2), max_lag=1, estimator="gaussian")


def test_each_search_of_the_bivariate_method_has_its_tests():
    for t in network(coupled(300), method="bivariate")["targets"]:
        assert [s["variable"] for s in t["searches"]] == [v for v in "012" if v != t["target"]]
        for s in t["searches"]:
            assert 0 < s["first_p_value"] <= 1 and 0 < s["joint_p_value"] <= 1 and s["joint_value"] >= 0
    assert "searches" not in network(coupled(300))["targets"][0]


def test_what_was_removed_has_its_information():
    x = np.random.default_rng(0).normal(size=(300, 4))
    for t in range(2, 300):
        x[t, 1:] += [0.7 * x[t - 1, 0], 0.7 * x[t - 1, 1] + 0.5 * x[t - 2, 0], 0.6 * x[t - 1, 0] + 0.6 * x[t - 2, 1]]
    removed = [r for t in network(x, max_lag=3)["targets"] for r in t["removed"]]
    assert removed and all(np.isfinite(r["value"]) and r["p_value"] > 0.05 for r in removed)


def test_the_order_of_columns_changes_no_bit_of_links_given_all_others():
    x = coupled(300, 4)
    one = network(x, method="pairwise", conditional_all=True, estimator="gaussian", max_lag=3)
    other = network(x[:, ::-1], method="pairwise", conditional_all=True, estimator="gaussian", max_lag=3)
    values = {(link["source"], link["target"]): link["value"] for link in one["links"]}
    assert values == {(str(3 - int(e["source"])), str(3 - int(e["target"]))): e["value"] for e in other["links"]}


@pytest.mark.parametrize("options, mentions", [
    ({"measure": "mi", "max_lag_target": 3}, "max_lag_target"), ({"measure": "ais", "min_lag": 2}, "min_lag"),
    ({"permutations_omnibus": 0}, "permutations_max_stat")])
def test_options_that_mean_nothing_together(options, mentions):
    with pytest.raises(kolmo.InvalidArgument, match=mentions.replace("_", "[-_]")):
        network(coupled(100), **options)


def test_names_of_idtxl_are_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", coupled(100, 4))
    usual = ["network", "x.npy", "--method=multivariate", "--surrogates=50"]
    ours = command(*usual, "--max-lag=3", "--source-tau=2", "--given=3:1", "--columns=0,1,2")
    theirs = command(*usual, "--max-lag-sources=3", "--tau-sources=2", "--add-conditionals=3:1", "--columns=0,1,2")
    assert ours["links"] == theirs["links"]
