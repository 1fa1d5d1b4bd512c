"""Long calls: interrupts, checkpoints, progress; and many at once."""
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import kolmo
import numpy as np
import pytest
from flow_data import FAST, coupled

X = coupled(120)
pytestmark = pytest.mark.filterwarnings("ignore::kolmo.DataWarning")


def python(code, *arguments):
    """Runs code in another Python process, which inherits the path of this one."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light():
    out = python("""
        import sys, kolmo
        print([m for m in ("pandas", "matplotlib", "sklearn", "scipy", "torch", "tqdm", "networkx") if m in sys.modules])
    """)
    assert out.strip() == "[]"


@pytest.mark.parametrize("call", [
    "kolmo.TransferEntropyNetwork(max_lag=20, surrogates=10**6).fit(x)",
    "kolmo.mutual_information(x[:, :2], x[:, 2:4], surrogates=10**6)",
    "kolmo.mutual_information(x[:, 0], x[:, 1], surrogates=10**6, estimator='gaussian')",
    "kolmo.mutual_information(x[:, 0], x[:, 1], surrogates=10**6, surrogate_type='phase')",
])
def test_ctrl_c(call):
    """The calls would take hours. After the interrupt the interpreter still works, and gives the results that it gave before."""
    out = python(f"""
        import os, signal, threading, time
        import numpy as np, kolmo
        x = np.random.default_rng(0).normal(size=(2000, 4))
        before = kolmo.mutual_information(x[:100, 0], x[:100, 1])
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted")
        print(kolmo.mutual_information(x[:100, 0], x[:100, 1]) == before, threading.active_count())
    """)
    assert out.split() == ["interrupted", "True", "1"]


def test_an_interrupted_run_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "work.sqlite"
    out = python("""
        import os, signal, sys
        import numpy as np, kolmo
        x = np.random.default_rng(0).normal(size=(200, 4))
        def stop(done, total):
            if done > 0.1 * total:
                os.kill(os.getpid(), signal.SIGINT)
        net = kolmo.TransferEntropyNetwork(max_lag=2, surrogates=2000, exceedances=0, checkpoint=sys.argv[1], progress=stop)
        try:
            net.fit(x)
        except KeyboardInterrupt:
            print("interrupted", os.path.exists(sys.argv[1]))
        net.set_params(progress=False).fit(x)
        print(net.to_dict()["links"] == net.set_params(checkpoint=None).fit(x).to_dict()["links"], os.path.exists(sys.argv[1]))
        print(any("going on" in note for note in net.notes_))
    """, path)
    assert out.split()[:4] == ["interrupted", "True", "True", "False"]


def test_a_failing_listener_ends_the_call():
    def fail(done, total):
        raise RuntimeError("enough")

    before = kolmo.mutual_information(X[:, 0], X[:, 1]).value
    with pytest.raises(RuntimeError, match="enough"):
        kolmo.TransferEntropyNetwork(max_lag=2, surrogates=5000, progress=fail).fit(X)
    assert kolmo.mutual_information(X[:, 0], X[:, 1]).value == before


def test_progress():
    seen = []
    kolmo.TransferEntropyNetwork(**{**FAST, "progress": lambda done, total: seen.append((done, total))}).fit(X)
    assert seen and seen[-1][0] == pytest.approx(seen[-1][1]) and all(d <= t * (1 + 1e-9) for d, t in seen)
    pytest.importorskip("tqdm")
    kolmo.TransferEntropyNetwork(**{**FAST, "progress": True}).fit(X)


def test_calls_at_once_equal_calls_one_by_one():
    def work(i):
        x = coupled(120, seed=i)
        return (float(kolmo.transfer_entropy(x[:, 0], x[:, 1], surrogates=9, random_state=i)),
                kolmo.TransferEntropyNetwork(**FAST, random_state=i).fit(x).to_dict()["links"])

    serial = [work(i) for i in range(6)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == serial


def test_other_threads_run_meanwhile():
    counted = 0
    ended = threading.Event()

    def count():
        nonlocal counted
        while not ended.wait(0.001):
            counted += 1

    other = threading.Thread(target=count)
    other.start()
    kolmo.TransferEntropyNetwork(max_lag=3, surrogates=500, progress=False).fit(np.tile(X, (3, 1)) + coupled(360))
    ended.set()
    other.join()
    assert counted > 3
