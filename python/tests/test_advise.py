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


def test_a_reader_far_behind_is_seen_and_one_after_an_overwrite_is_not(tmp_path, arrays):
    x, w, b, y, z, v = (arrays[k] for k in "xwbyzv")
    pair, far = [lambda: kolmo.linear(x, w, b, out=y), lambda: kolmo.gelu(y, out=z)], [lambda: kolmo.softmax(v, out=v)] * 2500
    one = {"linear > gelu": ("fused_linear_gelu", 1)}
    assert advice(tmp_path, *pair, *far, lambda: kolmo.softmax(y, out=v))[0] == {}
    assert advice(tmp_path, *pair, *far, lambda: kolmo.softmax(z, out=v))[0] == one
    assert advice(tmp_path, *pair, lambda: kolmo.softmax(v, out=y), lambda: kolmo.softmax(y, out=v))[0] == one
    half = [lambda: kolmo.softmax(v[:32], out=y[:32]), lambda: kolmo.softmax(y[:32], out=v[:32])]
    assert advice(tmp_path, *pair, *half)[0] == one
    assert advice(tmp_path, *pair, *half, lambda: kolmo.softmax(y[32:], out=v[32:]))[0] == {}


def test_a_long_trace_takes_near_linear_time(tmp_path, arrays):
    y, z = arrays["y"], arrays["z"]
    with kolmo.monitor.trace(tmp_path / "t.json"):
        kolmo.relu(y, out=z)
    trace = json.loads((tmp_path / "t.json").read_text())
    call = next(e for e in trace["traceEvents"] if e["ph"] == "X")
    for i in range(40_000):
        own = json.loads(json.dumps(call))
        own["ts"] = call["ts"] + (1 + i) * (call["dur"] + 1)
        own["args"]["tensors"][0]["address"], own["args"]["tensors"][1]["address"] = 1 << 40, (1 << 41) + 8 * i
        trace["traceEvents"].append(own)
    (tmp_path / "t.json").write_text(json.dumps(trace))
    subprocess.run([COMMAND, "advise", tmp_path / "t.json"], check=True, stdout=subprocess.DEVNULL, timeout=60)


QKV = {name: np.random.default_rng(i).normal(size=(16, 16)) for i, name in enumerate("qkv")}
S, P, OUT = np.zeros((16, 16)), np.zeros((16, 16)), np.zeros((16, 16))


@pytest.mark.parametrize(("scores", "mean"), [
    ({}, {"swap": True}),
    ({}, {"both": True}),
    ({}, {"transpose_a": True}),
    ({}, {"transpose_b": True}),
    ({}, {"alpha": 2.0}),
    ({}, {"activation": "relu"}),
    ({}, {"bias": np.ones(16)}),
    ({}, {"c": np.ones((16, 16))}),
    ({"activation": "relu"}, {}),
    ({"bias": np.ones(16)}, {}),
    ({"c": np.ones((16, 16))}, {}),
    ({"alpha": -1.0}, {}),
    ({"transpose_a": True}, {}),
    ({"transpose_b": False}, {}),
], ids=str)
def test_only_what_attention_computes_is_replaced_by_it(tmp_path, scores, mean):
    mean = dict(mean)
    b = P if mean.pop("both", False) else QKV["v"]
    factors = (b, P) if mean.pop("swap", False) else (P, b)
    found, _ = advice(tmp_path, lambda: kolmo.matmul(QKV["q"], QKV["k"], out=S, **{"transpose_b": True, **scores}),
                      lambda: kolmo.softmax(S, out=P), lambda: kolmo.matmul(*factors, out=OUT, **mean))
    assert "matmul > softmax > matmul" not in found


def test_attention_needs_its_shapes_and_one_dtype(tmp_path):
    def chain(rows, keys, width, columns, *, reshaped=False):
        q, k, v = np.ones((rows, width)), np.ones((keys, width)), np.ones((keys, columns))
        scores, weights, y = np.zeros((rows, keys)), np.zeros((rows, keys)), np.zeros((rows, columns))
        shape = (1, -1) if reshaped else (rows, keys)
        return advice(tmp_path, lambda: kolmo.matmul(q, k, transpose_b=True, alpha=0.5, out=scores),
                      lambda: kolmo.softmax(scores.reshape(shape), out=weights.reshape(shape)), lambda: kolmo.matmul(weights, v, out=y))[0]
    attention = {"matmul > softmax > matmul": ("fused_attention_softmax", 1)}
    assert chain(5, 7, 8, 8) == chain(5, 7, 256, 256) == attention
    assert chain(5, 7, 8, 9) == chain(5, 7, 257, 257) == chain(5, 7, 8, 8, reshaped=True) == {}
    half, scores, weights, y = np.ones((4, 4), np.float16), *(np.zeros((4, 4), np.float32) for _ in range(3))
    assert advice(tmp_path, lambda: kolmo.matmul(half, half, transpose_b=True, output="f32", out=scores),
                  lambda: kolmo.softmax(scores, out=weights), lambda: kolmo.matmul(weights, weights + 1, out=y))[0] == {}


def test_a_bias_is_a_row_of_the_dtype_of_the_factors(tmp_path):
    x, y = np.ones((1, 4)), np.zeros((1, 4))
    with_itself = advice(tmp_path, lambda: kolmo.matmul(x, np.ones((4, 4)), out=y), lambda: kolmo.broadcast_add(y, y[0], out=np.zeros((1, 4))))
    assert with_itself[0] == {}
    half, wide, row = np.ones((4, 4), np.float16), np.zeros((4, 4), np.float32), np.ones(4, np.float32)
    assert advice(tmp_path, lambda: kolmo.matmul(half, half, output="f32", out=wide),
                  lambda: kolmo.broadcast_add(wide, row, out=np.zeros_like(wide)))[0] == {}


def refusal(path):
    done = subprocess.run([COMMAND, "advise", str(path), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not done.stdout, done.stdout
    return done.stderr


def test_what_is_no_trace_is_refused(tmp_path):
    path = tmp_path / "none.json"
    path.write_text('{"traceEvents": [{"ph": "X", "name": "relu", "tid": 1, "ts": 1, "dur": 1}]}')
    done = subprocess.run([COMMAND, "advise", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "says nothing of the arguments of its 1 spans" in done.stderr
    path.write_text('{"events": []}')
    done = subprocess.run([COMMAND, "advise", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "is no trace that --trace wrote" in done.stderr


def set_tensors(**values):
    return lambda event: [tensor.update(values) for tensor in event["args"]["tensors"]]


@pytest.mark.parametrize(("damage", "why"), [
    (lambda e: e.update(dur=-1.0), "relu takes a negative time"),
    (lambda e: e.update(dur=0), "the calls on cpu take no time"),
    (lambda e: e.update(dur=1e300), "the time of relu is 1e+300"),
    (lambda e: e.update(ts=-1), "the begin of relu is -1"),
    (lambda e: e.update(tid=1.5), "the track of relu is 1.5"),
    (lambda e: e.update(tid=99), "the track of relu has no name"),
    (lambda e: e.update(ph="B"), "an event of the kind 'B'"),
    (lambda e: e["args"].update(bytes=0), "the number of bytes of relu is 0"),
    (lambda e: e["args"].update(bytes=-5), "the number of bytes of relu is -5"),
    (lambda e: e["args"].update(tensors={}), "the tensors of relu are no list"),
    (set_tensors(shape=[-1, 4]), "an extent of x is -1"),
    (set_tensors(shape=[2.5]), "an extent of x is 2.5"),
    (set_tensors(shape=[2**40, 2**40]), "x is larger than any memory"),
    (set_tensors(shape={}), "the shape of x is no list"),
    (set_tensors(address=-1), "the address of x is -1"),
    (set_tensors(address=2**63), "the address of x is 9223372036854775808"),
    (set_tensors(dtype="q9"), "'q9' is no dtype"),
    (set_tensors(kind="q9"), "'q9' is no kind of tensor"),
])
def test_a_damaged_call_is_refused(tmp_path, damage, why):
    with kolmo.monitor.trace(tmp_path / "t.json"):
        kolmo.relu(np.ones(3))
    trace = json.loads((tmp_path / "t.json").read_text())
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            damage(event)
    (tmp_path / "t.json").write_text(json.dumps(trace))
    assert "is no trace that --trace wrote: " in (said := refusal(tmp_path / "t.json")) and why in said


@pytest.mark.parametrize("events", ["{}", "null", "3", '[{"ph": "B", "name": "relu", "tid": 1, "ts": 1}]', "[null]"])
def test_damaged_events_are_refused(tmp_path, events):
    (tmp_path / "t.json").write_text(f'{{"traceEvents": {events}}}')
    assert "is no trace that --trace wrote: " in refusal(tmp_path / "t.json")
