"""kolmo.topology: diagrams by hand, the options of the command, windows that tell regimes apart, and what is refused."""
import inspect
import json
import os
import subprocess
from pathlib import Path

import kolmo
import numpy as np
import pytest
from kolmo.topology import bottleneck_distance, persistence_windows, rips_persistence, wasserstein_distance

GOLDEN = Path(__file__).resolve().parents[2] / "tests/topology/data/ripser.json"
SQUARE = [[0, 0], [0, 1], [1, 1], [1, 0]]


def test_a_square_is_one_loop_until_its_diagonal():
    p = rips_persistence(SQUARE)
    assert p.h0.tolist() == [[0, 1], [0, 1], [0, 1], [0, np.inf]]
    assert p.h1.tolist() == [[1, 2**0.5]]
    assert (p.threshold, p.points, p.longest) == (2**0.5, 4, (1, 2**0.5))
    assert rips_persistence(SQUARE, metric="maximum").longest == (0, 0)
    assert len(rips_persistence(SQUARE, max_dimension=0).h1) == 0
    assert rips_persistence(SQUARE, threshold=1.1).h1.tolist() == [[1, np.inf]]
    assert kolmo.topology.rips_persistence is rips_persistence


@pytest.mark.parametrize("cloud", json.loads(GOLDEN.read_text(encoding="utf-8"))["clouds"])
def test_points_and_their_distances_give_the_diagrams_of_ripser(cloud):
    points = np.reshape(cloud["points"], (-1, cloud["width"]))
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    for p in (rips_persistence(points), rips_persistence(distances, distances=True)):
        for got, want in ((p.h0, cloud["h0"]), (p.h1, cloud["h1"])):
            want = np.reshape(want, (-1, 2))
            np.testing.assert_allclose(got, np.where(want < 0, np.inf, want), rtol=2**-24)  # Ripser holds distances in f32


def test_a_delay_embedding_is_that_of_its_points():
    x = np.random.default_rng(0).standard_normal((80, 2))
    points = np.stack([np.concatenate([x[t:t + 9:4, c] for c in (0, 1)]) for t in range(0, 72, 3)])
    for normalize in (False, True):
        if normalize:
            points = points - points.mean(1, keepdims=True)
            points = points / np.linalg.norm(points, axis=1, keepdims=True)
        p, q = rips_persistence(x, dimension=3, delay=4, every=3, normalize=normalize), rips_persistence(points)
        assert p.points == len(points) == 24
        np.testing.assert_allclose(p.h1, q.h1, rtol=1e-12)
        np.testing.assert_allclose(p.h0, q.h0, rtol=1e-12)


def test_windows_are_those_of_their_rows_and_tell_regimes_apart():
    rng = np.random.default_rng(1)
    x = np.where(np.arange(1200) < 600, np.sin(np.arange(1200) * 0.15), rng.standard_normal(1200))
    w = persistence_windows(x, 200, step=100, dimension=6, delay=7, normalize=True)
    assert (w.begin.tolist(), w.end.tolist(), len(w)) == (list(range(0, 1001, 100)), list(range(200, 1201, 100)), 11)
    alone = rips_persistence(x[300:500], dimension=6, delay=7, normalize=True)
    np.testing.assert_array_equal(w[3].h1, alone.h1)
    assert w.longest[:5].min() > 2 * w.longest[6:].max()  # a periodic series has a loop that persists
    assert np.isnan(w.distance[0])
    assert w.distance[5] == bottleneck_distance(w[4].h1, w[5].h1)
    assert np.nanargmax(w.distance) in (5, 6)  # the windows that hold the change, and the first after it
    other = persistence_windows(x, 200, step=100, dimension=6, delay=7, normalize=True, compare="wasserstein", order=2, threads=1)
    assert other.distance[5] == wasserstein_distance(w[4].h1, w[5].h1, 2)


def test_python_and_the_command_say_the_same(tmp_path):
    x = np.random.default_rng(2).standard_normal(150)
    np.save(tmp_path / "x.npy", x)
    out = subprocess.run([os.environ["KOLMO_COMMAND"], "topology", tmp_path / "x.npy", "--dimension", "3", "--window", "50", "--json"],
                         capture_output=True, text=True, check=True)
    for shown, w in zip(json.loads(out.stdout)["windows"], persistence_windows(x, 50, dimension=3), strict=True):
        assert shown["h1"] == w.h1.tolist()
        assert [b for b, _ in shown["h0"]] == w.h0[:, 0].tolist()
        assert (shown["begin"], shown["threshold"], shown["points"]) == (w.begin, w.threshold, w.points)


def test_distances_of_diagrams():
    for distance in (bottleneck_distance, wasserstein_distance):
        assert distance([], []) == 0
        assert distance(np.empty((0, 2)), [[1, 4]]) == 1.5
        assert distance([[0, np.inf]], [[3, np.inf]]) == 3
        assert distance([[0, np.inf]], []) == np.inf
    assert wasserstein_distance([[0, 10], [4, 6]], [[1, 10]], order=2) == pytest.approx(2**0.5, rel=1e-15)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: rips_persistence([]), "there are no points"),
    (lambda: rips_persistence([[1, 2], [3, np.nan]]), "column 1 has no value in row 1"),
    (lambda: rips_persistence([1, np.inf]), "row 1, column 0 is infinite"),
    (lambda: rips_persistence(np.ones((2, 3)), distances=True), "square"),
    (lambda: rips_persistence([[0, 1], [2, 0]], distances=True), "not symmetric"),
    (lambda: rips_persistence(np.ones((2, 2, 2))), "3 axes"),
    (lambda: rips_persistence([1, 2], max_dimension=2), "max_dimension"),
    (lambda: rips_persistence([1, 2], dimension=3), "a point spans 3 rows"),
    (lambda: rips_persistence([[0, 1], [1, 0]], distances=True, dimension=2), "of distances"),
    (lambda: persistence_windows([1, 2], 3), "a window has 3 rows"),
    (lambda: bottleneck_distance([1, 2], []), "(n, 2)"),
    (lambda: bottleneck_distance([[2, 1]], []), "interval 0"),
    (lambda: wasserstein_distance([], [], order=0), "order"),
    (lambda: rips_persistence(np.zeros(92682)), "at most"),
])
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(kolmo.InvalidArgument) as e:
        call()
    assert text in str(e.value)


MISSING = [np.ma.array([[1.0, 2], [3, 4], [5, 6]], mask=[[0, 0], [0, 1], [0, 0]]), [[1, 2], [3, None], [5, 6]]]
COMPLEX = [[1, 2j]]


def test_missing_values_and_complex_numbers_are_refused():
    pandas = pytest.importorskip("pandas")
    missing = [*MISSING, [[1, 2], [3, pandas.NA], [5, 6]], np.array([[1, 2], [3, pandas.NA]], object),
               pandas.DataFrame({"x": [1, 3], "y": pandas.array([2, pandas.NA])})]
    for points in missing:
        with pytest.raises(kolmo.InvalidArgument, match="column 1 has no value in row 1"):
            rips_persistence(points)
        with pytest.raises(kolmo.InvalidArgument, match="column 1 has no value in row 1"):
            persistence_windows(points, 2)
        for distance in (bottleneck_distance, wasserstein_distance):
            for pair in ((points, []), ([], points)):
                with pytest.raises(kolmo.InvalidArgument, match="interval 1 is from 3 to nan"):
                    distance(*pair)
    for call in (lambda: rips_persistence(COMPLEX), lambda: persistence_windows(COMPLEX, 1), lambda: rips_persistence(np.ones(3) + 1j),
                 lambda: bottleneck_distance(COMPLEX, []), lambda: wasserstein_distance([], COMPLEX)):
        with pytest.raises(kolmo.InvalidArgument, match="Complex data not supported"):
            call()
    unmasked = np.ma.array(SQUARE, mask=False)
    assert rips_persistence(unmasked).longest == rips_persistence(pandas.DataFrame(SQUARE)).longest == (1, 2**0.5)
    with pytest.raises(kolmo.InvalidArgument, match="word"):
        rips_persistence(pandas.DataFrame({"x": [1, 3], "word": ["a", "b"]}))
    with pytest.raises(kolmo.InvalidArgument, match="3 axes"):
        rips_persistence([np.ones((2, 2)), np.ones((2, 2))])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: rips_persistence([1, 2], threshold=float("inf")), "threshold: is inf, accepted are 0 to 1.7976931348623157e+308, or none"),
    (lambda: rips_persistence([1, 2], threshold=float("nan")), "threshold: is nan, accepted are 0 to"),
    (lambda: rips_persistence([1, 2], threshold=np.float32("nan")), "threshold: is nan, accepted are 0 to"),
    (lambda: rips_persistence([1, 2], threshold=-1), "threshold: is -1, accepted are 0 to"),
    (lambda: rips_persistence([1, 2], threshold="a"), "threshold: takes a number, not str"),
    (lambda: rips_persistence([1, 2], dimension=2.5), "dimension: takes a whole number, not float"),
    (lambda: persistence_windows([1, 2], 1, order=float("inf")), "order: is inf, accepted are 1 to"),
    (lambda: persistence_windows([1, 2], np.nan), "window: takes a whole number"),
    (lambda: rips_persistence([[0, 1], [1, 0]], distances=True, metric="maximum"), "metric"),
    (lambda: rips_persistence([[0, 1], [1, 0]], distances=True, delay=3), "delay"),
    (lambda: rips_persistence([-1.7e308, 0, 1.7e308]), "points 0 and 2 (from 0) are further apart than the largest double"),
])
def test_options_are_refused_as_by_the_command(call, text):
    with pytest.raises(kolmo.InvalidArgument) as e:
        call()
    assert text in str(e.value) and "JSON" not in str(e.value)


def test_distances_of_diagrams_of_large_numbers_are_numbers():
    for distance in (bottleneck_distance, wasserstein_distance):
        assert distance([[-1.7e308, 1.7e308]], []) == 1.7e308
        assert distance([[-1e308, 1e308]], [[-1e308, 0.9e308]]) == pytest.approx(1e307)
    with pytest.raises(kolmo.InvalidArgument, match="beyond the largest double"):
        wasserstein_distance([[-1.7e308, 1.7e308], [0, 1e308]], [])


def test_an_option_that_there_is_not_is_named():
    with pytest.raises(TypeError, match="windw"):
        rips_persistence([1, 2], windw=3)
    assert "delay" in inspect.signature(rips_persistence).parameters
    assert "window" not in inspect.signature(rips_persistence).parameters
    assert inspect.signature(persistence_windows).parameters["step"].default is None


def test_long_work_is_interrupted_and_tells_how_far_it_is():
    angle = np.linspace(0, 2 * np.pi, 900)
    points = np.stack([np.cos(angle), np.sin(angle)], 1) + 0.1 * np.random.default_rng(0).standard_normal((900, 2))
    told = []

    def progress(done, total):
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for _ in range(50):
            rips_persistence(points, threads=1, progress=progress)
    assert told[0][0] <= told[0][1]
