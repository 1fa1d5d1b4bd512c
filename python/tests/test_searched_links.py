"""The command of a link that a greedy search chose gives the link's value."""
import json
import shlex

import kolmo
import numpy as np
import pytest
from flow_data import coupled, run


@pytest.mark.parametrize("words", [
    ["--estimator=ksg"], ["--estimator=gaussian"], ["--method=bivariate", "--units=bits"], ["--measure=mi", "--given=3:2"],
    ["--standardize=series", "--surrogate-type=permute", "--max-lag-target=4"],
], ids=" ".join)
def test_the_command_of_a_link_gives_its_value(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    x = coupled(200, 4)
    x[2:, 2] += x[:-2, 0] + x[1:-1, 0]
    x[60, 1] = np.nan
    np.save("x.npy", x)
    run("network", "x.npy", "--max-lag=2", "--method=multivariate" if "bivariate" not in words[0] else words[0],
        "--out=n.json", "--surrogates=39", *[w for w in words if "method" not in w])
    links = json.loads((tmp_path / "n.json").read_text())["links"]
    chosen = [link for link in links if link["lags"]]
    assert any(len(link["lags"]) > 1 for link in chosen)
    for link in links:
        assert ("command" in link) == bool(link["lags"])
    for link in chosen:
        command, *rest = shlex.split(link["command"])
        assert command == "kolmo"
        estimate = json.loads(run(*rest, "--json"))
        assert estimate["value"] == pytest.approx(link["value"], rel=0 if "gaussian" not in words[0] else 1e-12, abs=1e-13)


@pytest.mark.parametrize("options, mentions", [
    ({"source_lags": "1,1"}, "source_lags"), ({"source_lags": "2-1"}, "such as 1-2,4"), ({"target_lags": "x"}, "target_lags"),
    ({"source_lags": "1,"}, "source_lags"), ({"source_lags": "1", "lag": 2}, "excludes"),
    ({"target_lags": "1", "history": 2}, "excludes"), ({"reach": 300}, "too few"),
])
def test_lags_that_cannot_be(options, mentions):
    x = coupled(200, 2)
    with pytest.raises(kolmo.InvalidArgument, match=mentions):
        kolmo.transfer_entropy(x[:, 0], x[:, 1], **options)


def test_named_lags_are_those_of_an_embedding():
    x = coupled(200, 2)
    want = kolmo.transfer_entropy(x[:, 0], x[:, 1], history=2, tau=2, source_history=2, lag=2)
    got = kolmo.transfer_entropy(x[:, 0], x[:, 1], source_lags="2-3", target_lags="3,1")
    assert got == want and got.samples == want.samples
    assert kolmo.transfer_entropy(x[:, 0], x[:, 1], reach=10).samples == 190
