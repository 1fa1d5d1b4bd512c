"""Networks of measure "ais": the own past of each variable, and no links."""
import csv
import json

import kolmo
import numpy as np
import pytest
from flow_data import run


def remembering(columns, rows=300):
    r = np.random.default_rng(3)
    x = r.normal(size=(rows, columns))
    for t in range(2, rows):
        x[t, 0] += 0.6 * x[t - 2, 0]
    return x


@pytest.mark.parametrize("network", [kolmo.MultivariateNetwork, lambda **o: kolmo.TransferEntropyNetwork(method="multivariate", **o)])
def test_one_variable_is_enough(network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = remembering(1)
    net = network(measure="ais", max_lag=3, surrogates=39, progress=False).fit(x)
    np.save("x.npy", x)
    document = json.loads(run("network", "x.npy", "--method=multivariate", "--measure=ais", "--max-lag=3", "--surrogates=39", "--json"))
    assert net.to_dict()["targets"] == document["targets"]
    (target,) = document["targets"]
    assert 2 in [past["lag"] for past in target["own_past"]]
    assert target["p_value"] == 1 / 40 and target["p_at_floor"]
    assert len(net.edges_) == 0
    series = network(measure="ais", max_lag=3, surrogates=39, progress=False).fit(x[:, 0])
    assert series.to_dict()["targets"] == document["targets"]
    with pytest.raises(kolmo.InvalidArgument, match="minimum of 2"):
        network(surrogates=39).fit(x)


def test_all_outputs_show_the_own_past(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("x.csv", remembering(2), delimiter=",", header="a,b", comments="")
    shown = run("network", "x.csv", "--method=multivariate", "--measure=ais", "--max-lag=3", "--surrogates=39", "--table=t.csv",
                "--report=r.html", "--out=x.json")
    targets = json.loads((tmp_path / "x.json").read_text())["targets"]
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert [row["variable"] for row in rows] == ["a", "b"]
    for row, target in zip(rows, targets):
        assert row["lags"] == " ".join(map(str, sorted(past["lag"] for past in target["own_past"])))
        assert float(row["value"]) == target["active_information_storage"] and float(row["p_value"]) == target["p_value"]
        assert row["units"] == "nats"
    assert shown.split()[:4] == ["variable", "lags", "nats", "p-value"]
    assert "<= 1/40" in shown and "links" not in shown
    methods = json.loads((tmp_path / "x.json").read_text())["methods"]["text"]
    assert "the past was shifted in time" in methods and "source" not in methods
    page = (tmp_path / "r.html").read_text()
    assert "Active information storage</h2>" in page and "No link survived" not in page


def test_a_notebook_shows_the_own_past():
    net = kolmo.MultivariateNetwork(measure="ais", max_lag=3, surrogates=39, progress=False).fit(remembering(2))
    page = net._repr_html_()
    assert "<th>lags</th>" in page and "links" not in page and "&le; 0.025" in page


def test_a_plot_shows_the_own_past_in_time():
    pytest.importorskip("matplotlib").use("Agg")
    net = kolmo.MultivariateNetwork(measure="ais", max_lag=3, surrogates=39, progress=False).fit(remembering(2))
    axes = net.plot()
    assert axes.get_title() == "" and [t.get_text() for t in axes.get_xticklabels()][-1] == "next"
    with pytest.raises(kolmo.InvalidArgument, match="measure 'ais' has none"):
        net.plot("matrix")
