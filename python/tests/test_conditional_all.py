"""Networks whose pairs are conditioned on all other variables."""
import json
import shlex

import kolmo
import numpy as np
import pytest
from flow_data import command, comparable, coupled, run


def common_driver(rows=400):
    """0 drives 1 one row later and 2 two rows later, so that 1 tells what 2 does next."""
    x = np.random.default_rng(3).normal(size=(rows, 3))
    x[1:, 1] += x[:-1, 0]
    x[2:, 2] += x[:-2, 0]
    return x


def found(x, **options):
    network = kolmo.TransferEntropyNetwork(max_lag=2, history=1, surrogates=999, progress=False, **options).fit(x)
    edges = network.edges_
    return {(e.source, e.target) for e in edges[edges.significant].itertuples()}


@pytest.mark.parametrize("estimator", ["ksg", "gaussian"])
@pytest.mark.parametrize("make, indirect, links", [
    (lambda: coupled(400), ("0", "2"), {("0", "1"), ("1", "2")}),
    (common_driver, ("1", "2"), {("0", "1"), ("0", "2")}),
])
def test_neither_a_chain_nor_a_common_driver_gives_links(make, indirect, links, estimator):
    assert indirect in found(make(), estimator=estimator)
    assert found(make(), estimator=estimator, conditional_all=True) == links


@pytest.mark.parametrize("words", [
    ["--history=1"], ["--estimator=gaussian", "--surrogates=0"], ["--max-history=2", "--exceedances=0"], ["--history=2", "--given=4:3"],
    ["--estimator=gaussian", "--max-history=1", "--columns=3,0,1"],
], ids=" ".join)
def test_a_link_is_te_given_the_past_of_all_others(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    x = coupled(150, 5)
    x[60, 1] = np.nan
    np.save("x.npy", x)
    usual = [] if any(w.startswith("--surrogates") for w in words) else ["--surrogates=59"]
    network = command("network", "x.npy", "--max-lag=2", "--conditional-all", *usual, *words)
    of = {t["target"]: t for t in network["targets"]}
    for link in network["links"]:
        others = [v for v in network["variables"] if v not in (link["source"], link["target"])]
        past = ["--history", of[link["target"]]["history"], "--tau", of[link["target"]]["tau"]]
        given = ",".join([w.split("=")[1] for w in words if "given" in w] + [f"{v}:1-2" for v in others])
        by_hand = command("te", "x.npy", "--source", link["source"], "--target", link["target"], "--max-lag", 2, "--given", given,
                          *past, *[w for w in words if "estimator" in w], "--surrogates", link["surrogates"],
                          *(["--min-shift", link["min_shift"]] if "min_shift" in link else []))
        again = json.loads(run(*shlex.split(link["command"])[1:], "--json"))
        for one in (by_hand, again):
            assert (one["value"], one["samples"]) == (link["value"], link["samples"])
            assert one["p_value"] == link["p_value"]


def test_interfaces_threads_and_order_agree(tmp_path):
    x = coupled(120, 4)
    np.save(tmp_path / "x.npy", x)
    options = {"max_lag": 2, "surrogates": 99, "max_history": 2, "conditional_all": True}
    here = kolmo.TransferEntropyNetwork(**options, progress=False, threads=1).fit(x)
    there = command("network", tmp_path / "x.npy", "--max-lag=2", "--surrogates=99", "--max-history=2", "--conditional-all", "--threads=2")
    assert comparable(here.to_dict()) == comparable(there)
    assert there["options"]["conditional_all"] is True
    assert "conditioned on the values of all other variables at lags of 1 to 2 rows" in there["methods"]["text"]
    assert "lizier2008" in {r["key"] for r in there["methods"]["references"]}
    assert "conditioned on all other variables" in there["caution"]
    turned = kolmo.TransferEntropyNetwork(**options, progress=False, columns="3,1,0,2").fit(x)
    values = {(e["source"], e["target"]): (e["p_value"], pytest.approx(e["value"], rel=1e-12, abs=1e-13)) for e in turned.to_dict()["links"]}
    assert {(e["source"], e["target"]): (e["p_value"], e["value"]) for e in there["links"]} == values


@pytest.mark.parametrize("options, mentions", [
    ({"max_lag": 5}, "3 other variables at 5 lags have 15.*19 where 16.*max_lag.*columns.*multivariate"),
    ({"max_lag": 5, "estimator": "gaussian", "history": 2}, "17 where 16"),
    ({"max_lag": 2, "method": "multivariate"}, "conditional_all.*pairwise"),
])
def test_what_cannot_be(options, mentions):
    with pytest.raises(kolmo.InvalidArgument, match=mentions):
        kolmo.TransferEntropyNetwork(conditional_all=True, progress=False, **options).fit(coupled(200, 5))
