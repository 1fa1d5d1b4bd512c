"""Devices, benchmarks, the tuner, the monitor and kernels from source."""
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request

import kolmo
import numpy as np
import pytest


def test_devices():
    first = kolmo.devices()[0]
    assert first["device"] == "cpu" and first["processors"] >= 1


def test_bench_gives_what_the_command_gives():
    record = kolmo.bench("softmax", device="cpu", budget=1)
    results = record["ops"][0]["results"]
    assert {"case", "seconds", "share_of_roofline"} <= set(results[0])
    with pytest.raises(kolmo.InvalidArgument, match="bench no_such"):
        kolmo.bench("no_such")


def test_a_function_is_tuned():
    def work(steps, unused="x"):
        time.sleep(steps * 1e-4)

    seen = []
    tuned = kolmo.tune(work, {"steps": [20, 1, 30], "unused": ["a", "b"]}, budget=1, verify=lambda **config: seen.append(config),
                       constraint=lambda steps, unused: (steps, unused) != (1, "b"))
    assert tuned.best == {"steps": 1, "unused": "a"} and tuned.speedup > 2
    assert tuned.best in seen and {"steps": 1, "unused": "b"} not in [{k: f[k] for k in ("steps", "unused")} for f in tuned.findings]


def test_what_cannot_run_is_skipped_and_other_errors_pass():
    def work(n):
        if n == 2:
            raise kolmo.Unsupported("two is too many")
        time.sleep(1e-3)

    tuned = kolmo.tune(work, {"n": [1, 2, 3]}, budget=0.5)
    assert tuned.best["n"] != 2
    assert any(f["n"] == 2 and "two is too many" in f["error"] for f in tuned.findings)

    def broken(n):
        raise ZeroDivisionError("a bug of the caller")

    with pytest.raises(ZeroDivisionError, match="a bug of the caller"):
        kolmo.tune(broken, {"n": [1, 2]}, budget=0.5)
    with pytest.raises(kolmo.InvalidArgument):
        kolmo.tune(work, {"n": []})


def test_tuning_results_are_used(tmp_path):
    def run(script):
        done = subprocess.run([sys.executable, "-c", "import kolmo, numpy as np\n" + script], capture_output=True, text=True, check=False,
                              env={**os.environ, "KOLMO_TUNING": str(tmp_path / "store")})
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    call = "x = np.ones((10, 100))\nkolmo.softmax(x)\nprint(kolmo.tuner.missed())"
    assert run("print(kolmo.tuner.use(device='cpu'))\n" + call) == ["0", "1"]
    assert run("print(len(kolmo.tuner.tune('vector_add', device='cpu', case='n=1', budget=10, under_load=True)['ops']))") == ["1"]
    run(call)  # the call is kept as a miss
    assert int(run("print(kolmo.tuner.tune(misses=True, device='cpu', budget=20, under_load=True)['summary']['cases'])")[0]) >= 1
    assert run(call + "\nprint(kolmo.tuner.use(device='cpu') > 0)\nkolmo.tuner.stop()") == ["0", "True"]


def test_the_monitor_serves_what_the_process_did():
    kolmo.softmax(np.ones(3))
    launches = {r["labels"]["kernel"]: r["value"] for r in kolmo.monitor.metrics()["kolmo_kernel_launches_total"]}
    assert launches["softmax"] >= 1
    assert "kolmo_kernel_launches_total" in kolmo.monitor.prometheus()
    with kolmo.monitor.serve() as server:
        with urllib.request.urlopen(server.url + "metrics", timeout=20) as response:
            assert b'kernel="softmax"' in response.read()
    with pytest.raises(kolmo.Error):
        kolmo.monitor.serve("no address")


def test_kernels_from_source_want_a_gpu():
    scale = kolmo.Kernel("__global__ void scale(float* x, float factor, int n) {"
                         "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= factor; }", "scale")
    assert scale.name == "scale"
    if any(d["device"].startswith("cuda") for d in kolmo.devices()):
        torch = pytest.importorskip("torch")
        x = torch.ones(1000, device="cuda")
        scale.launch([4], [256], x, np.float32(3), np.int32(1000))
        assert (x == 3).all()
        with pytest.raises(kolmo.InvalidArgument):
            scale.launch([4], [256], x, np.float64(3), np.int32(1000))
    else:
        with pytest.raises(kolmo.Unsupported):
            scale.launch([4], [256], np.ones(1000, np.float32), np.float32(3), np.int32(1000))


def test_the_interpreter_goes_on_while_an_operator_works():
    x = np.random.default_rng(0).random((1, 3000, 1))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(1e-3)

    ticker = threading.Thread(target=tick)
    ticker.start()
    for _ in range(5):
        kolmo.ksg_mutual_information(x, x[0] + 1, stream=kolmo.Stream("cpu", threads=1), surrogates=20)
    done.set()
    ticker.join()
    assert len(ticks) > 5


def test_one_trace_is_recorded_at_a_time(tmp_path):
    with kolmo.monitor.trace(tmp_path / "outer.json"):
        kolmo.relu(np.ones(3))
        with pytest.raises(kolmo.InvalidArgument, match="one is at a time"), kolmo.monitor.trace(tmp_path / "inner.json"):
            pass
        kolmo.relu(np.ones(3))
    names = [e["name"] for e in json.loads((tmp_path / "outer.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert names.count("relu") == 2 and not (tmp_path / "inner.json").exists()
    with kolmo.monitor.trace(tmp_path / "again.json"):
        pass
