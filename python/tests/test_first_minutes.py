"""What meets a newcomer: names mistyped, messages, tables with dates, figures, types, an import without a build."""
import os
import re
import subprocess
import sys
from pathlib import Path

import kolmo
import numpy as np
import pytest
from blocks import ROOT
from flow_data import FAST, coupled

X = coupled(150)
LAST = {"max_lag": 1, "surrogates": 0, "progress": False}


def python(*arguments, cwd, **environment):
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


def test_a_name_that_is_nearly_right_gets_a_suggestion():
    for module, said in ((kolmo, "module 'kolmo'"), (kolmo.ops, "module 'kolmo.ops'")):
        with pytest.raises(AttributeError, match=f"{said} has no attribute 'sofmax'; did you mean 'softmax'"):
            module.sofmax  # noqa: B018
        with pytest.raises(AttributeError, match="has no attribute 'zzzz'$"):
            module.zzzz  # noqa: B018
    assert not hasattr(kolmo, "sofmax") and hasattr(kolmo, "softmax")


def test_messages_speak_of_arguments():
    frame = np.cumsum(X, axis=0)
    with pytest.warns(kolmo.DataWarning) as caught:
        r = kolmo.transfer_entropy(frame[:, 0], frame[:, 1], surrogates=19, surrogate_type="permute")
        net = kolmo.TransferEntropyNetwork(**{**FAST, "surrogate_type": "permute"}).fit(frame)
        given = kolmo.TransferEntropyNetwork(**FAST, given=[2]).fit(X)
    texts = [str(w.message) for w in caught] + [text for _, text in (*r.warnings, *net.warnings_)]
    texts += [*r.notes, *net.notes_, net._repr_html_(), given._repr_html_(), r._repr_html_()]
    assert not [text for text in texts if re.search(r"--[a-z]", text)]
    assert any('surrogate_type="circular" keeps it' in text for text in texts)
    assert any('see transform="difference"' in text for text in texts)
    error = pytest.raises(kolmo.InvalidArgument, kolmo.transfer_entropy, frame[:, 0], frame[:, 1], surrogates=-1)
    assert "surrogates" in str(error.value) and "--" not in str(error.value)


@pytest.mark.filterwarnings("ignore::kolmo.DataWarning")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_that_hold_no_numbers_may_be_left_out(library):
    frames = pytest.importorskip(library)
    days = np.arange("2020-01-01", "2020-05-30", dtype="datetime64[D]")
    columns = {"day": days, "place": ["here"] * len(X), **{name: X[:, i] for i, name in enumerate("abc")}}
    frame = frames.DataFrame(columns)
    want = kolmo.TransferEntropyNetwork(**FAST).fit(X).matrix_
    for choice in ({"exclude": ["day", "place"]}, {"columns": ["a", "b", "c"]}, {"columns": "2-4"}, {"exclude": [0, 1]}):
        net = kolmo.TransferEntropyNetwork(**FAST, **choice).fit(frame)
        np.testing.assert_array_equal(net.matrix_, want, err_msg=str(choice))
        assert net.variables_ == ["a", "b", "c"] and net.n_features_in_ == 5
    for choice in ({"exclude": ["place"]}, {"exclude": ["place"], "rows": "50:"}):
        assert kolmo.TransferEntropyNetwork(**FAST, **choice).fit(frame).variables_ == ["a", "b", "c"], "days are its time"
    for choice in ({}, {"columns": ["a", "day"]}):
        with pytest.raises(kolmo.InvalidArgument, match="X: column '(day': holds times|place': could not convert)"):
            kolmo.TransferEntropyNetwork(**FAST, **choice).fit(frame)
    with pytest.raises(kolmo.InvalidArgument, match="x: column 'place'"):
        kolmo.mutual_information(frame[["a", "place"]], frame["b"])


@pytest.mark.filterwarnings("ignore::kolmo.DataWarning")
def test_figures_show_lags_in_time():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    net = kolmo.TransferEntropyNetwork(**{**FAST, "surrogates": 199}, dt=0.25, dt_unit="year").fit(X)
    assert net.significant_[0, 1]
    assert "0.25 year" in {text.get_text() for text in net.plot().texts}
    ax = net.plot("profiles")
    assert ax.get_xlabel() == "lag (year)" and list(ax.lines[0].get_xdata()) == [0.25, 0.5]
    plain = kolmo.TransferEntropyNetwork(**{**FAST, "surrogates": 199}).fit(X)
    assert "1" in {text.get_text() for text in plain.plot().texts}
    assert plain.plot("profiles").get_xlabel() == "lag (rows)"
    plt.close("all")


@pytest.mark.slow
def test_type_checkers_see_operators(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("import kolmo\nimport numpy as np\n\nx = np.ones((2, 3))\n"
                       "reveal_type(kolmo.softmax(x))\nkolmo.sofmax(x)\nkolmo.ops.softmax(x, axs=1)\n"
                       "reveal_type(kolmo.mutual_information(x, x))\n")
    built = Path(kolmo._kolmo.__file__).resolve().parents[1]
    done = python("-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", program, cwd=tmp_path, MYPYPATH=str(built))
    found = [line.removeprefix("program.py:") for line in done.stdout.splitlines() if re.match(r"program.py:\d+: (error|note: Rev)", line)]
    assert len(found) == 4, done.stdout + done.stderr
    assert re.match(r'5: note: Revealed type is ".*ndarray', found[0])
    assert '6: error: Module has no attribute "sofmax"' in found[1]
    assert '7: error: Unexpected keyword argument "axs"' in found[2]
    assert '8: note: Revealed type is "kolmo.flow.estimate.Estimate"' in found[3]


def test_an_import_without_a_build_says_how_to_build():
    for folder in (ROOT, ROOT / "python"):
        done = python("-c", "import kolmo", cwd=folder, PYTHONPATH="")
        assert done.returncode == 1 and "ImportError: kolmo: " in done.stderr and "pip install '.[flow]'" in done.stderr


def test_the_package_is_imported_in_a_checkout_too():
    built = Path(kolmo._kolmo.__file__).resolve().parents[1]
    done = python("-c", "import kolmo, kolmo.ops; print(kolmo.__version__, kolmo.ops.__name__, len(kolmo.__path__))", cwd=ROOT,
                  PYTHONPATH=str(built))
    assert done.stdout.split() == [kolmo.__version__, "kolmo.ops", "1"], done.stderr
