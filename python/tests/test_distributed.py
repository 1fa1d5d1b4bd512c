"""A network on a cluster of Dask has the bytes of one machine, also if workers die."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kolmo

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # ignores Dask's own warnings, above all when workers die


def series(rows=300, columns=4, seed=1):
    """Makes series in which each variable is driven by the one before it."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    for t in range(1, rows):
        x[t, 1:] += 0.7 * x[t - 1, :-1]
    return x


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def document(net):
    """What a result says, except when and by which command line it was made."""
    d = net.to_dict()
    return json.dumps({key: value for key, value in d.items() if key not in ("date",)})


def test_has_the_result_of_one_machine(client):
    x = series()
    for options in ({}, {"columns": [3, 1, 0], "given": "2"}, {"estimator": "gaussian", "surrogates": 50},
                    {"method": "multivariate"}):
        net = kolmo.TransferEntropyNetwork(**{"max_lag": 2, "surrogates": 40, **options})
        alone = document(net.fit(x))
        assert document(net.fit(x, client=client)) == alone


def test_trials_and_names_arrive(client):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(series(), columns=["a", "b,c", "d", "é"])
    net = kolmo.TransferEntropyNetwork(max_lag=1, surrogates=20)
    trials = np.repeat([7, 3, 9], 100)
    assert document(net.fit(frame, trials=trials, client=client)) == document(net.fit(frame, trials=trials))


def test_a_worker_computes_with_its_threads(client):
    from kolmo.distributed import _target_records
    from kolmo.flow.problem import NetworkProblem

    problem = NetworkProblem({"max_lag": 1, "surrogates": 5, "threads": 1}, series(100, 2), [])
    records = client.submit(_target_records, problem, 0, kolmo.distributed._version()).result()
    assert records == problem.records([0])


def test_a_worker_takes_all_of_its_gpus(monkeypatch):
    from kolmo.flow.problem import NetworkProblem

    monkeypatch.setattr(kolmo.distributed, "devices", lambda: [{"device": d} for d in ("cpu", "cuda:0", "cuda:1")])
    monkeypatch.setattr(distributed, "get_worker", lambda: None)
    for asked, used in (({}, "cuda:all"), ({"device": "auto"}, "cuda:all"), ({"device": "cpu"}, "cpu"), ({"device": "cuda:1"}, "cuda:1")):
        seen = []
        monkeypatch.setattr(NetworkProblem, "records", lambda problem, *_, seen=seen, **__: seen.append(problem.options["device"]))
        problem = NetworkProblem({"max_lag": 1, "surrogates": 5, "threads": 1, **asked}, series(100, 2), [])
        kolmo.distributed._target_records(problem, 0, kolmo.distributed._version())
        assert seen == [used]


def test_each_worker_has_its_own_gpu():
    gpus = sum(d["device"].startswith("cuda") for d in kolmo.devices())
    if not gpus:
        pytest.skip("no GPU here")
    visible = [str(i % gpus) for i in range(2)]  # both workers share a GPU if there is only one
    workers = {i: {"cls": distributed.Nanny, "options": {"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": gpu}}} for i, gpu in enumerate(visible)}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": None}}
    x, net = series(columns=6), kolmo.TransferEntropyNetwork(max_lag=2, surrogates=40, device="cuda")
    alone = document(net.fit(x))
    with distributed.SpecCluster(workers=workers, scheduler=scheduler) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        seen = client.run(lambda: (os.environ["CUDA_VISIBLE_DEVICES"], [d["device"] for d in kolmo.devices() if d["device"].startswith("cuda")]))
        assert sorted(seen.values()) == [(gpu, ["cuda:0"]) for gpu in sorted(visible)]
        assert document(net.fit(x, client=client)) == alone


def test_errors_come_back(client):
    net = kolmo.TransferEntropyNetwork(max_lag=1000)
    with pytest.raises(kolmo.InvalidArgument, match="rows"):
        net.fit(series(100), client=client)
    from kolmo.distributed import _target_records

    with pytest.raises(kolmo.Error, match="has kolmo 0.0"):
        client.submit(_target_records, None, 0, "0.0").result()


def test_an_interrupted_client_goes_on_from_its_checkpoint(client, tmp_path):
    x, path, seen = series(), tmp_path / "work", []

    def stop(done, total):
        seen.append((done, total))
        if seen == [(1, 4), (2, 4)]:
            raise KeyboardInterrupt

    net = kolmo.TransferEntropyNetwork(max_lag=2, surrogates=20, checkpoint=path, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        net.fit(x, client=client)
    assert path.exists()
    seen.clear()
    again = document(net.fit(x, client=client))
    assert seen == [(1, 2), (2, 2)] and not path.exists()
    assert again == document(net.set_params(checkpoint=None, progress=None).fit(x))


def test_progress_counts_targets(client):
    seen = []
    kolmo.TransferEntropyNetwork(max_lag=1, surrogates=5, progress=lambda *at: seen.append(at)).fit(series(), client=client)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_killed_worker_loses_nothing():
    x = series(500, 5)
    net = kolmo.TransferEntropyNetwork(max_lag=2, surrogates=200)
    alone = document(net.fit(x))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            pids = client.run(os.getpid)
            killed = threading.Event()

            def kill_one(done, total):  # once a target is finished, while others are computed and some records are there
                if not killed.is_set() and done < total:
                    killed.set()
                    busy = [worker for worker, tasks in client.processing().items() if tasks]
                    os.kill(pids[[*busy, *pids][0]], signal.SIGKILL)

            net.progress = kill_one
            assert document(net.fit(x, client=client)) == alone
            assert killed.is_set()


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "d.csv"
        x = series()
        trial = np.repeat([0, 1], 150)
        lines = [",".join([*map(repr, map(float, row)), str(t)]) for row, t in zip(x, trial)]
        path.write_text("a,b,c,d,trial\n" + "\n".join(lines) + "\n")
        return path

    def run(self, *arguments, **options):
        command = os.environ.get("KOLMO_COMMAND")
        if not command:
            pytest.skip("KOLMO_COMMAND does not name the program")
        environment = os.environ | {"KOLMO_PYTHON": sys.executable} | options
        return subprocess.run([command, "network", *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              check=False, env=environment)

    def network(self, file, name, *more, **options):
        out = file.with_name(name)
        done = self.run(file, "--max-lag", 2, "--surrogates", 40, "--seed", 3, "--out", out, *more, **options)
        assert done.returncode == 0, done.stderr
        written = json.loads(out.read_text())
        assert not out.with_name(name + ".partial").exists()
        return {k: v for k, v in written.items() if k not in ("command", "date")}, done

    @pytest.mark.parametrize("options", [
        ["--trials", "trial"], ["--columns", "d,a", "--given", "b:1-2"], ["--exclude", "c", "--rows", "20:280", "--standardize", "series"],
    ])
    def test_has_the_bytes_of_one_machine(self, client, file, options):
        alone, _ = self.network(file, "alone.json", *options)
        cluster, _ = self.network(file, "cluster.json", *options, "--scheduler", client.scheduler.address)
        assert json.dumps(cluster) == json.dumps(alone)

    def test_goes_on_from_finished_work(self, client, file):
        """A run that is killed once it has records is completed without the cluster."""
        alone, _ = self.network(file, "n.json")
        with_cluster = [file, "--max-lag", 2, "--surrogates", 40, "--seed", 3, "--out", file.with_name("n.json")]
        process = subprocess.Popen([os.environ["KOLMO_COMMAND"], "network", *map(str, with_cluster), "--scheduler",
                                    client.scheduler.address], env=os.environ | {"KOLMO_PYTHON": sys.executable})
        partial = file.with_name("n.json.partial")
        while not partial.exists() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.wait()
        again, _ = self.network(file, "n.json")
        assert json.dumps(again) == json.dumps(alone)

    def test_says_what_is_missing(self, file, tmp_path):
        done = self.run(file, "--scheduler", "tcp://127.0.0.1:1", KOLMO_SCHEDULER_TIMEOUT="1s")
        assert done.returncode == 1
        assert "cannot reach a Dask scheduler at tcp://127.0.0.1:1" in done.stderr
        done = self.run(file, "--scheduler", "tcp://127.0.0.1:1", KOLMO_PYTHON=str(tmp_path / "none"))
        assert done.returncode == 1
        assert "No such file or directory" in done.stderr and "KOLMO_PYTHON" in done.stderr
        done = self.run(file, "--scheduler", "tcp://127.0.0.1:1", PYTHONPATH="", PYTHONNOUSERSITE="1", KOLMO_PYTHON="/usr/bin/python3")
        if "cannot reach" not in done.stderr:  # true where the package is installed for all interpreters
            assert done.returncode == 1
            assert "pip install 'kolmo[dask]'" in done.stderr
