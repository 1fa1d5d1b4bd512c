"""Networks: the command's document and files, scikit-learn's habits."""
import json
import os
import pickle
import re

import kolmo
import numpy as np
import pytest
from flow_data import FAST, comparable, coupled, run
from kolmo.flow.problem import NetworkProblem

X = coupled(150)
OPTIONS = [
    {},
    {"random_state": 3, "k": 3, "surrogate_type": "permute", "correction": "none", "alpha": 0.1},
    {"embedding": "given", "history": 2, "source_history": 2, "units": "bits", "dt": 0.5, "dt_unit": "s"},
    {"given": {2: (1, 2)}, "columns": [0, 1, 3], "surrogate_type": "block", "theiler": 2},
    {"estimator": "gaussian", "exclude": [0]},
    {"estimator": "ordinal", "transform": "difference", "embedding": "given"},
    {"method": "multivariate", "max_lag_target": 3, "alpha_max_seq": 0.1, "given": {2: 1}, "columns": [0, 1, 3]},
    {"method": "bivariate", "measure": "mi", "min_lag": 0, "estimator": "gaussian"},
    {"method": "multivariate", "estimator": "ordinal", "n_perm_max_stat": 39},
    {"method": "multivariate", "measure": "ais", "compatible": "idtxl", "tau": 2},
]
WORDS = [
    [],
    ["--seed=3", "--neighbors=3", "--surrogate-type=permute", "--correction=none", "--alpha=0.1"],
    ["--embedding=given", "--history=2", "--source-history=2", "--units=bits", "--dt=0.5", "--dt-unit=s"],
    ["--given=2:1-2", "--columns=0,1,3", "--surrogate-type=block", "--theiler=2"],
    ["--estimator=gaussian", "--exclude=0"],
    ["--estimator=ordinal", "--transform=difference", "--embedding=given"],
    ["--method=multivariate", "--max-lag-target=3", "--alpha-max-seq=0.1", "--given=2:1", "--columns=0,1,3"],
    ["--method=bivariate", "--measure=mi", "--min-lag=0", "--estimator=gaussian"],
    ["--method=multivariate", "--estimator=ordinal", "--permutations-max-stat=39"],
    ["--method=multivariate", "--measure=ais", "--compatible=idtxl", "--tau=2"],
]
pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")


def fitted(data=X, **options):
    return kolmo.TransferEntropyNetwork(**{**FAST, **options}).fit(data)


def by_command(folder, data, *words):
    np.save(folder / "x.npy", data)
    run("network", folder / "x.npy", "--max-lag=2", "--surrogates=19", f"--out={folder / 'out.json'}", *words)
    return json.loads((folder / "out.json").read_text())


@pytest.mark.parametrize("options, words", list(zip(OPTIONS, WORDS)), ids=[str(o) for o in OPTIONS])
def test_equals_the_command(tmp_path, options, words):
    data = coupled(150, 4)
    want = by_command(tmp_path, data, *words)
    assert comparable(fitted(data, **options).to_dict()) == comparable(want)


def test_trials(tmp_path):
    cube = X.reshape(3, 50, 3)
    want = comparable(by_command(tmp_path, cube, "--surrogate-type=trials"))
    assert comparable(fitted(cube, surrogate_type="trials").to_dict()) == want
    net = kolmo.TransferEntropyNetwork(**FAST, surrogate_type="trials").fit(X, trials=[1] * 50 + [2] * 50 + [3] * 50)
    assert comparable(net.to_dict()) == want


def same_page(mine, theirs, file):
    """Checks that two pages differ only in the file's name, its checksum, and the command line."""
    def plain(text):
        text = re.sub(r'<div class="command">.*?</div>', "", text, flags=re.S)
        text = re.sub(r"SHA-256 of the [a-z ]+: [0-9a-f]{64}", "", text).replace(str(file), "data")
        parts = "".join(f'<span class="whole">{p}</span>' for p in re.split(r"(?<=/)", str(file)))
        return text.replace(parts, '<span class="whole">data</span>')
    assert plain(mine.read_text()) == plain(theirs.read_text())


def test_files_are_those_of_the_command(tmp_path):
    by_command(tmp_path, X, f"--report={tmp_path / 'a.html'}", f"--table={tmp_path / 'a.csv'}",
               f"--graph={tmp_path / 'a.graphml'}")
    net = fitted()
    net.report(tmp_path / "b.html")
    same_page(tmp_path / "b.html", tmp_path / "a.html", tmp_path / "x.npy")
    net.export(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    net.export(str(tmp_path / "b.graphml"))
    net.export(tmp_path / "b.json")
    text = (tmp_path / "b.json").read_text()
    assert json.loads(text) == net.to_dict()
    lines = [[line for line in t.splitlines() if not re.search(r'"(command|file|text|sha256|of|data)"', line)]
             for t in (text, (tmp_path / "out.json").read_text())]
    assert lines[0] == lines[1]
    with pytest.raises(kolmo.InvalidArgument, match="path: "):
        net.export(tmp_path / "b.xlsx")
    with pytest.raises(kolmo.Error, match="report: "):
        net.report(tmp_path / "nowhere" / "b.html")


def test_attributes():
    net = fitted()
    edges = net.edges_
    assert list(edges.columns) == ["source", "target", "lag", "value", "bias_corrected", "z", "surrogate_mean",
                                   "surrogate_std", "surrogate_q95", "p_value", "p_at_floor", "p_adjusted", "significant",
                                   "surrogates", "units"]
    assert len(edges) == 6 and net.matrix_.shape == (3, 3) and np.isnan(np.diag(net.matrix_)).all()
    for row in edges.itertuples():
        assert net.matrix_[int(row.source), int(row.target)] == row.value
    assert list(net.targets_.target) == net.variables_ and net.units_ == "nats"
    graph = net.to_networkx(significant=False)
    assert graph.number_of_edges() == 6 and graph.edges["0", "1"]["value"] == net.matrix_[0, 1]
    assert net.to_networkx().number_of_nodes() == 3
    assert "links significant" in net._repr_html_()
    assert "too_few_surrogates" in dict(net.warnings_)


def test_it_is_found_who_drives_whom():
    net = kolmo.TransferEntropyNetwork(max_lag=2, surrogates=199, progress=False).fit(coupled(400))
    assert net.significant_[0, 1] and net.significant_[1, 2] and not net.significant_[:, 0].any()
    assert set(net.to_networkx().edges) >= {("0", "1"), ("1", "2")}


def test_pickling_and_clone():
    net = kolmo.TransferEntropyNetwork(**FAST, transform="difference")
    assert pickle.loads(pickle.dumps(net)).get_params() == net.get_params()
    net.fit(X)
    again = pickle.loads(pickle.dumps(net))
    assert again.to_dict() == net.to_dict()
    net.report(os.devnull)
    again.report(os.devnull)
    base = pytest.importorskip("sklearn.base")
    copy = base.clone(net)
    assert copy.get_params() == net.get_params() and repr(copy) == repr(net)
    with pytest.raises(ValueError, match="not fitted"):
        copy.edges_  # noqa: B018


@pytest.mark.filterwarnings("ignore:Estimator TransferEntropyNetwork does not inherit")
def test_scikit_learn_checks_pass():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    net = kolmo.TransferEntropyNetwork(max_lag=1, surrogates=0, embedding="given", progress=False)
    results = checks.check_estimator(net, on_fail=None, on_skip=None)
    failed = [f"{r['check_name']}: {r['exception']}" for r in results if r["status"] == "failed"]
    assert not failed and len(results) > 20


def test_targets_elsewhere():
    whole = fitted()
    problem = whole._work
    problem = pickle.loads(pickle.dumps(problem))
    assert isinstance(problem, NetworkProblem)
    records = {**problem.records([2]), **problem.records([0, 1])}
    assert records == whole._records
    assert problem.records([]) == {}
    seen = []
    text, _, _, after = problem.solve(records, progress=lambda done, total: seen.append(done / total))
    assert json.loads(text) == whole.to_dict() and after == records
    part = {k: v for k, v in records.items() if k[0] == 1}
    assert json.loads(problem.solve(part)[0]) == whole.to_dict()
    with pytest.raises(kolmo.InvalidArgument, match="there is no column 3"):
        problem.records([3])
    problem.options["columns"] = [0, 1]
    with pytest.raises(kolmo.InvalidArgument, match="the target 2 is not one of its variables"):
        problem.records([2])
    del problem.options["columns"]
    with pytest.raises(kolmo.InvalidArgument):
        problem.solve({(0, -1): b"what is this"})


@pytest.mark.parametrize("options, mentions", [
    ({"max_lag": 0}, "max_lag"),
    ({"surrogate_type": "foo"}, "surrogate_type"),
    ({"alpha": 2.0}, "alpha"),
    ({"columns": ["wind"]}, "wind"),
    ({"given": [("0", 0)]}, "given: "),
    ({"given": {0: 1}, "columns": [0, 1]}, "given: "),
    ({"history": 2, "embedding": "ais"}, "history and tau need embedding=\"given\""),
    ({"dt_unit": "s"}, "dt_unit: needs dt"),
    ({"checkpoint": "/nowhere/x"}, "checkpoint"),
])
def test_bad_options(options, mentions):
    with pytest.raises(kolmo.InvalidArgument) as raised:
        fitted(**options)
    assert mentions in str(raised.value) and "--" not in str(raised.value)


@pytest.mark.parametrize("data, mentions", [
    (X[:, 0], "Reshape your data"),
    (X[:, :1], "1 feature(s)"),
    (X[:1], "1 sample(s)"),
    (X[:3], "too few"),
    (np.where(X > 2, np.inf, X), "infinite"),
    (np.full_like(X, np.nan), "no row has a value"),
])
def test_bad_data(data, mentions):
    with pytest.raises(kolmo.InvalidArgument) as raised:
        fitted(data)
    assert mentions in str(raised.value)


def test_unknown_parameters():
    with pytest.raises(TypeError, match="surogates"):
        kolmo.TransferEntropyNetwork(surogates=3)
    with pytest.raises(ValueError, match="surogates"):
        kolmo.TransferEntropyNetwork().set_params(surogates=3)


@pytest.mark.parametrize("kind", ["network", "time", "matrix", "profiles"])
def test_plots(kind):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for net in (fitted(), fitted(surrogates=0), fitted(np.random.default_rng(0).normal(size=(60, 12)), max_lag=1)):
        ax = net.plot(kind)
        ax.figure.canvas.draw()
        assert net.plot(kind, ax=plt.subplots()[1]) is not ax
        plt.close("all")
    with pytest.raises(kolmo.InvalidArgument, match="kind"):
        net.plot("pie")


def test_links_in_time_have_an_arrow_for_every_chosen_lag():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    net = kolmo.MultivariateNetwork(max_lag=2, surrogates=39, progress=False).fit(coupled(200, 3))
    arrows = [p for p in net.plot("time").patches if isinstance(p, matplotlib.patches.FancyArrowPatch)]
    chosen = net.edges_[net.edges_.significant].lags.map(len).sum()
    assert chosen >= 2
    assert len(arrows) == chosen + net.targets_.own_past.map(len).sum()
    matplotlib.pyplot.close("all")


def test_multivariate_network_has_its_own_name():
    x = coupled(150)
    options = dict(max_lag=2, permutations_max_stat=39, permutations_omnibus=39)
    one = kolmo.MultivariateNetwork(**options).fit(x).to_dict()
    other = kolmo.TransferEntropyNetwork(method="multivariate", **options).fit(x).to_dict()
    for document in (one, other):
        document.pop("command", None), document.pop("seconds", None)
    assert one == other


def test_export_is_whole_or_not_at_all(tmp_path):
    net = kolmo.TransferEntropyNetwork(**FAST).fit(coupled(120))
    out = tmp_path / "out"
    out.mkdir()
    (out / "net.json").write_text("old")
    linked = tmp_path / "link.json"
    linked.symlink_to(out / "net.json")
    net.export(linked)
    assert json.loads((out / "net.json").read_text())["measure"] == "network" and linked.is_symlink()
    with pytest.raises(kolmo.Error):
        net.export(tmp_path / "missing" / "net.json")
    for path in ("x.pdf", "x.png"):
        with pytest.raises(kolmo.InvalidArgument, match="html"):
            net.report(tmp_path / path)
    assert sorted(p.name for p in out.iterdir()) == ["net.json"]
