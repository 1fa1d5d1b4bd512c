"""`kolmo advise` on traces of real pipelines: what it finds, what it must not find, and that what it names gives the same
result."""
import json
import os
import subprocess

import kolmo
import numpy as np
import pytest

COMMAND = os.environ["KOLMO_COMMAND"]


def advice(tmp_path, *pipeline):
    path = tmp_path / "trace.json"
    with kolmo.monitor.trace(path):
        for call in pipeline:
            call()
    done = subprocess.run([COMMAND, "advise", str(path), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert all(a["saved_seconds_model"] > 0 and a["saved_seconds_measured"] > 0 for a in document["advice"])
    return {a["chain"]: (a["replace_by"], a["times"]) for a in document["advice"]}, document


@pytest.fixture
def arrays():
    rng = np.random.default_rng(1)
    return {"x": rng.normal(size=(64, 32)), "w": rng.normal(size=(48, 32)), "b": rng.normal(size=48), "y": np.zeros((64, 48)),
            "z": np.zeros((64, 48)), "v": np.zeros((64, 48))}


def test_an_activation_after_linear_and_conv2d_is_an_epilogue(tmp_path, arrays):
    x, w, b, y, z = (arrays[k] for k in "xwbyz")
    image, kernel = np.random.default_rng(2).normal(size=(1, 3, 16, 16)), np.random.default_rng(3).normal(size=(4, 3, 3, 3))
    seen, after = np.zeros((1, 4, 14, 14)), np.zeros((1, 4, 14, 14))
    found, document = advice(
        tmp_path, *[lambda: kolmo.linear(x, w, b, out=y), lambda: kolmo.gelu(y, out=z)] * 3,
        lambda: kolmo.conv2d(image, kernel, out=seen), lambda: kolmo.relu(seen, out=after))
    assert found == {"linear > gelu": ("fused_linear_gelu", 3), "conv2d > relu": ("fused_conv_relu", 1)}
    assert document["calls"] == 8
    first = next(e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X")
    assert first["name"] == "linear" and first["args"]["options"]["activation"] == "none" and first["args"]["bytes"] > 0
    assert {t["name"]: (t["kind"], t["dtype"], t["shape"]) for t in first["args"]["tensors"]} == {
        "x": ("in", "f64", [64, 32]), "weight": ("in", "f64", [48, 32]), "bias": ("in", "f64", [48]),
        "y": ("out", "f64", [64, 48])}
    np.testing.assert_allclose(kolmo.fused_linear_gelu(x, w, b), z, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kolmo.fused_conv_relu(image, kernel), after, rtol=1e-12, atol=1e-14)


def test_chains_of_three_and_pairs_without_an_operator(tmp_path, arrays):
    x, w, b, y, z, v = (arrays[k] for k in "xwbyzv")
    wt = np.ascontiguousarray(w.T)
    found, _ = advice(tmp_path, lambda: kolmo.matmul(x, wt, out=y), lambda: kolmo.broadcast_add(y, b, out=z),
                      lambda: kolmo.relu(z, out=v))
    assert found == {"matmul > broadcast_add > relu": ("matmul with activation=relu and bias", 1)}
    np.testing.assert_allclose(kolmo.matmul(x, wt, bias=b, activation="relu"), v, rtol=1e-12, atol=1e-14)
    found, _ = advice(tmp_path, lambda: kolmo.elementwise_exp(y, out=z), lambda: kolmo.normalize(z, out=v))
    assert found == {"elementwise_exp > normalize": ("fused_exp_normalize", 1)}
    np.testing.assert_allclose(kolmo.fused_exp_normalize(y), v, rtol=1e-12, atol=1e-14)
    q, k = np.ascontiguousarray(x[:, :8]), np.ascontiguousarray(x[:, 8:16])
    p, scores = np.zeros((64, 64)), np.zeros((64, 64))
    result = np.zeros((64, 8))
    found, _ = advice(tmp_path, lambda: kolmo.matmul(q, k, transpose_b=True, out=scores),
                      lambda: kolmo.softmax(scores, out=p),
                      lambda: kolmo.matmul(p, q, out=result))
    assert found == {"matmul > softmax > matmul": ("fused_attention_softmax", 1)}
    np.testing.assert_allclose(kolmo.fused_attention_softmax(q[None], k[None], q[None], scale=1.0)[0], result,
                               rtol=1e-12, atol=1e-14)
    found, _ = advice(tmp_path, lambda: kolmo.sigmoid(y, out=z), lambda: kolmo.elementwise_multiply(y, z, out=v))
    assert found == {"sigmoid > elementwise_multiply": ("one elementwise kernel of your own", 1)}


def test_a_result_that_others_read_or_that_nobody_reads_next_is_left_alone(tmp_path, arrays):
    x, w, b, y, z, v = (arrays[k] for k in "xwbyzv")
    linear, gelu = lambda: kolmo.linear(x, w, b, out=y), lambda: kolmo.gelu(y, out=z)
    assert advice(tmp_path, linear, gelu, lambda: kolmo.tanh(y, out=v))[0] == {}
    assert advice(tmp_path, linear, lambda: kolmo.relu(v, out=z))[0] == {}
    assert advice(tmp_path, lambda: kolmo.linear(x, w, b, activation="relu", out=y), gelu)[0] == {}


def test_what_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "none.json"
    path.write_text('{"traceEvents": [{"ph": "X", "name": "relu", "tid": 1, "ts": 1, "dur": 1}]}')
    done = subprocess.run([COMMAND, "advise", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "says nothing of the arguments of its 1 spans" in done.stderr
    path.write_text('{"events": []}')
    done = subprocess.run([COMMAND, "advise", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "is no trace that --trace wrote" in done.stderr


def test_a_negative_time_is_refused(tmp_path):
    with kolmo.monitor.trace(tmp_path / "t.json"):
        kolmo.relu(np.ones(3))
    trace = json.loads((tmp_path / "t.json").read_text())
    for event in trace["traceEvents"]:
        if "dur" in event:
            event["dur"] = -1.0
    (tmp_path / "t.json").write_text(json.dumps(trace))
    done = subprocess.run([os.environ["KOLMO_COMMAND"], "advise", tmp_path / "t.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "relu takes a negative time" in done.stderr
