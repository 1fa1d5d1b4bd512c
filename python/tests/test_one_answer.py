"""Command and Python give one answer, and have the same names and defaults."""
import inspect
import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import kolmo
from kolmo import _kolmo
from kolmo.flow import options

COMMAND = os.environ.get("KOLMO_COMMAND")
needs_command = pytest.mark.skipif(not COMMAND, reason="KOLMO_COMMAND does not name the command")


def frame():
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(3, 150))
    b[1:] += 0.8 * a[:-1]
    return pd.DataFrame({"when": pd.date_range("2024-01-01", periods=150).astype(str), "c": c, "label": [f"l{i}" for i in range(150)],
                         "b": b, "other": rng.normal(size=150), "a": a})


def links(document):
    return {(link["source"], link["target"]): [link[key] for key in ("value", "lag", "p_value", "surrogate_mean", "surrogate_q95")] +
            [point["value"] for point in link["profile"]] for link in document["links"]}


@needs_command
def test_command_and_python_give_the_same_links_with_further_columns(tmp_path):
    data = frame()
    data.to_csv(tmp_path / "data.csv", index=False)
    run = subprocess.run([COMMAND, "network", tmp_path / "data.csv", "--columns", "a,b,c", "--max-lag", "2", "--surrogates", "130", "--json",
                          "--device", "cpu"], capture_output=True, text=True, check=True)
    want = links(json.loads(run.stdout))
    for given in (data, data[["a", "b", "c"]], data[["c", "a", "b"]]):
        columns = ["a", "b", "c"] if "when" in given else None
        net = kolmo.TransferEntropyNetwork(max_lag=2, surrogates=130, columns=columns, device="cpu").fit(given)
        assert links(net.to_dict()) == want


@needs_command
@pytest.mark.parametrize("name", _kolmo.analyses())
def test_names_and_defaults_are_those_of_the_command(name):
    help_text = subprocess.run([COMMAND, name, "--help"], capture_output=True, text=True, check=True).stdout
    analysis = options.described(name)
    function = getattr(kolmo, analysis.about["function"])
    parameters = inspect.signature(function).parameters
    for option in analysis.options:
        assert parameters[option["name"]].default == option["default"]
        if option["kind"] != "any":
            flag = "--" + option["name"].replace("_", "-")
            line = next(line for line in help_text.splitlines() if line.lstrip().startswith(flag) and line.lstrip()[len(flag)] in " ,")
            if option["default"] not in (None, False):
                assert f"={option['default']}" in line, line


def test_an_option_more_is_in_signature_and_docstring(monkeypatch):
    about = json.loads(_kolmo.describe_analysis("mi"))
    about["options"].append({"name": "stride", "alias": "every", "kind": "integer", "default": 1, "min": 1, "max": 64,
                             "help": "rows from one sample to the next", "optional": False, "required": False, "for_files": False})
    monkeypatch.setattr(_kolmo, "describe_analysis", lambda name: json.dumps(about))
    wider = options.Analysis("mi")
    assert "stride=1" in str(wider.signature()) and "every=None" in str(wider.signature())
    assert "stride : int, 1 to 64, default 1\n    rows from one sample to the next" in wider.text()
    from kolmo import _stubs
    assert "stride: int | None = 1" in _stubs.analysis_stub("mi")


def test_a_second_name_is_the_same_option():
    x, y = np.random.default_rng(1).normal(size=(2, 200))
    assert kolmo.mutual_information(x, y, k=7) == kolmo.mutual_information(x, y, neighbors=7)
    with pytest.raises(TypeError, match="'k', which is another name of 'neighbors'"):
        kolmo.mutual_information(x, y, k=7, neighbors=7)
    net = kolmo.TransferEntropyNetwork(k=7, random_state=3)
    assert (net.get_params()["neighbors"], net.get_params()["seed"]) == (7, 3)
    assert net.set_params(k=8).neighbors == 8


def test_neighbors_may_be_chosen_by_the_rule():
    x, y = np.random.default_rng(3).normal(size=(2, 1000))
    chosen = kolmo.mutual_information(x, y, k="auto")
    assert chosen.value == kolmo.mutual_information(x, y, neighbors=20).value
    net = kolmo.TransferEntropyNetwork(neighbors="auto", surrogates=39, device="cpu")
    assert net.get_params()["neighbors"] == "auto"
    fitted = net.fit(np.column_stack([x, y])).to_dict()
    assert fitted["options"]["neighbors"] == 10
    with pytest.raises(kolmo.InvalidArgument, match="or auto"):
        kolmo.mutual_information(x, y, k="many")
    with pytest.raises(kolmo.InvalidArgument, match="1 to 64, or auto"):
        kolmo.mutual_information(x, y, k=0)
