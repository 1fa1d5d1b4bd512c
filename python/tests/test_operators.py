"""Every operator of the catalogue: a right answer, or one clear exception."""
import inspect
import json
import os
import pickle
import pydoc
import re
import subprocess
import sys
import threading

import kolmo
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kolmo import _kolmo

NAMES = kolmo.ops.__all__
DEVICES = [d["device"] for d in kolmo.devices() if d["device"] in ("cpu", "simt")]
# Some cases have less room than their results, on purpose; what fits is compared.
NO_ROOM = pytest.mark.filterwarnings("ignore:.* more found no room:RuntimeWarning")
FAST = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def case_of(name, index=0):
    case = _kolmo.Case(name, index)
    return case, case.arguments()


def count_of(name):
    try:
        _kolmo.Case(name, 1 << 30)
    except IndexError as error:
        return int(re.search(r"\d+", str(error))[0])
    raise AssertionError("there are no so many cases")


def fields(name):
    return json.loads(_kolmo.Operator(name).describe())["fields"]


def outputs_of(name, arguments, result):
    """Returns the outputs by name. Arrays that are changed in place are those that were passed."""
    outs = [f for f in fields(name) if f["kind"] == "out"]
    computed = [f["name"] for f in outs if not f["optional"]] + [f["name"] for f in outs if f["optional"] and arguments.get(f["name"]) is True]
    named = {f["name"]: arguments[f["name"]] for f in fields(name) if f["kind"] == "inout"}
    if len(computed) == 1:
        return {**named, computed[0]: result}
    return {**named, **({key: getattr(result, key) for key in computed} if computed else {})}


def call(name, case, arguments, **more):
    """Calls an operator; passes the dtype of the case if no input has it."""
    if not any(f["kind"] in ("in", "inout") for f in fields(name)):
        more["dtype"] = case.dtype
    return getattr(kolmo.ops, name)(**{**arguments, **more})


@NO_ROOM
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_its_oracle(name, device):
    for index in range(min(count_of(name), 3)):
        case, arguments = case_of(name, index)
        assert case.failure(outputs_of(name, arguments, call(name, case, arguments, device=device))) == ""


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is(name):
    operator = getattr(kolmo.ops, name)
    signature = inspect.signature(operator)
    assert "stream" in signature.parameters
    for f in fields(name):
        if "shape" in f or not f["bound"]:
            assert f["name"] in operator.__doc__
    assert pickle.loads(pickle.dumps(operator)) is operator
    assert repr(operator) == f"<operator {name}>"
    text = pydoc.plain(pydoc.render_doc(operator))  # what help() shows
    assert "Parameters" in text and "class Documented" not in text


def mutate(data, name, arguments):
    """Changes one argument: returns the kind of change, the argument's name, and all arguments."""
    arrays = [key for key, value in arguments.items() if isinstance(value, np.ndarray)]
    scalars = [f for f in fields(name) if "shape" not in f and f["name"] in arguments]
    kinds = (["read-only", "strided", "swapped", "dtype", "rank", "empty", "list", "None", "object", "unaligned"] if arrays else []) + \
        (["scalar"] if scalars else []) + ["unknown", "device", "stream"]
    kind = data.draw(st.sampled_from(kinds))
    changed, key = dict(arguments), kind
    if kind == "unknown":
        key = "no_such_argument"
        changed[key] = 1
    elif kind == "device":
        changed["device"] = data.draw(st.sampled_from(["cuda:99", "nowhere", 3]))
    elif kind == "stream":
        changed["stream"] = data.draw(st.sampled_from([17, "x", -1, True]))
    elif kind == "scalar":
        key = data.draw(st.sampled_from(scalars))["name"]
        changed[key] = data.draw(
            st.sampled_from(["x", None, -1, 2**63, -2**63, 1e308, float("nan"), [], [1] * 20, True, 0, 3, b"q", object()]))
    else:
        key = data.draw(st.sampled_from(arrays))
        x = arguments[key]
        if kind == "read-only":
            x = x.copy()
            x.flags.writeable = False
        elif kind == "strided":
            x = np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x
        elif kind == "swapped":
            x = x.astype(x.dtype.newbyteorder())
        elif kind == "dtype":
            x = x.astype(data.draw(st.sampled_from(["f8", "f4", "f2", "i8", "u1", "c16", "?", "U3", "O", "M8[s]"])), copy=True) \
                if x.dtype.kind != "c" else x.astype("c16")
        elif kind == "rank":
            x = x[None] if data.draw(st.booleans()) or not x.ndim else x[0]
        elif kind == "empty":
            x = x[:0] if x.ndim else x
        elif kind == "unaligned":
            x = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape) if x.size else x
        else:
            x = {"list": x.tolist(), "None": None, "object": object()}[kind]
        changed[key] = x
    return kind, key, changed


def names_an_argument(text, described):
    """Whether a message names an argument, or a size of its shape. "The matrix" and "the qubits" stand for several arguments."""
    sizes = {word.strip("?") for f in described for word in f.get("shape", "").split() if word[0].isalpha()}
    return any(re.search(rf"\b{re.escape(word)}\b", text) for word in ({f["name"] for f in described} | sizes | {"matrix", "qubit"}))


@NO_ROOM
@pytest.mark.parametrize("name", NAMES)
@FAST
@given(data=st.data())
def test_bad_arguments_give_a_clear_exception(name, data):
    case, arguments = case_of(name, data.draw(st.integers(0, min(count_of(name), 4) - 1)))
    arguments = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    with np.errstate(all="ignore"):
        kind, key, changed = mutate(data, name, arguments)
    try:
        result = call(name, case, changed)
    except (kolmo.InvalidArgument, kolmo.Unsupported, TypeError) as error:
        text = str(error)
        assert name in text or owner(name) in text or re.match("stream|device|cuda", text), text
        assert "\n" not in text
        if kind in ("unknown", "None", "object", "list", "swapped", "unaligned", "read-only", "strided"):  # then this argument alone is at fault
            assert re.search(rf"\b{key}\b", text), text
        elif kind not in ("device", "stream"):
            assert names_an_argument(text.partition(": ")[2] or text, fields(name)), text
    except kolmo.OutOfMemory:
        assert kind == "scalar"
    else:
        if kind in ("read-only", "strided"):
            assert case.failure(outputs_of(name, changed, result)) == ""


def owner(name):
    return json.loads(_kolmo.Operator(name).describe())["alias_of"] or name


@pytest.mark.slow
def test_memory_is_released():
    x = np.ones((4, 8))

    def run(n):
        for _ in range(n):
            kolmo.softmax(x)
            try:
                kolmo.softmax(x.T)
            except kolmo.InvalidArgument:
                pass

    run(2000)
    before, references = resident(), sys.getrefcount(x)
    run(100_000)
    assert resident() - before < 4 << 20
    assert sys.getrefcount(x) == references
    y = kolmo.softmax(np.ones((4, 8)))  # the memory of its input array is gone
    assert np.allclose(y, 1 / 8)


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4096


def in_threads(work):
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_threads_at_once():
    jobs = [(name, case_of(name)) for name in ("softmax", "layer_norm", "matmul", "reduce_sum", "ksg_mutual_information")]
    wrong = []

    def work():
        for _ in range(20):
            for name, (case, arguments) in jobs:
                message = case.failure(outputs_of(name, arguments, call(name, case, arguments)))
                if message:
                    wrong.append((name, message))

    in_threads(work)
    assert not wrong


def test_a_stream_is_shared_by_threads():
    stream, x, wrong = kolmo.Stream("cpu", threads=1), np.random.default_rng(0).random((50, 20)), []
    right = kolmo.softmax(x)

    def work():
        wrong.extend(1 for _ in range(50) if not np.array_equal(kolmo.softmax(x, stream=stream), right))

    in_threads(work)
    assert not wrong
    stream.synchronize()


def test_outputs_are_written_where_they_should_be():
    x = np.random.default_rng(0).random((3, 4))
    out = np.empty_like(x)
    assert kolmo.softmax(x, out) is out and kolmo.softmax(x, out=out) is out and kolmo.softmax(x, y=out) is out
    assert np.array_equal(out, kolmo.softmax(x))
    r = np.empty(())
    found = kolmo.order_parameter(x[0], out=(r, None))
    assert found.r is r and found.psi.shape == ()
    assert kolmo.layer_norm(x, mean=True).mean.shape == (3,)
    assert kolmo.layer_norm(x, mean=False).shape == (3, 4)
    assert kolmo.softmax(x, out=x) is x
    for out, text in ((x[:, :2], "contiguous"), (np.empty((4, 3)), "expected contiguous"), (np.empty((3, 4), "f4"), "f64")):
        with pytest.raises(kolmo.InvalidArgument, match=text):
            kolmo.softmax(x, out=out)
    x.flags.writeable = False
    with pytest.raises(kolmo.InvalidArgument, match="read-only"):
        kolmo.softmax(np.ones((3, 4)), out=x)
    with pytest.raises(kolmo.InvalidArgument, match="kolmo.contiguous"):
        kolmo.softmax(x.T)
    assert kolmo.softmax(kolmo.contiguous(x.T)).shape == (4, 3)


def test_nothing_is_given_twice_nor_lost_silently():
    x = np.ones(3)
    for twice in ({"y": x.copy(), "out": x.copy()}, {"out": x.copy(), "y": x.copy()}):
        with pytest.raises(TypeError, match="softmax: y is given twice"):
            kolmo.softmax(x, **twice)
    with pytest.raises(kolmo.Error, match="cuda"):
        kolmo.random_normal(n=3, like=x, device="cuda")
    image = np.random.default_rng(0).random((20, 20))
    with pytest.warns(RuntimeWarning) as told:
        found = kolmo.pixel_tda(image, capacity=3)
    assert [re.sub(r"\d+ more", "N more", str(w.message)) for w in told] == [f"pixel_tda: {h}: N more found no room" for h in ("h0", "h1")]
    assert found.h0.shape == (3, 2) and found.count0 > 3


def test_changes_in_place():
    weight = np.full((2, 3), 0.5)
    arguments = {"pre": np.zeros(2), "post": np.zeros(3), "weight": weight, "pre_trace": np.zeros(2), "post_trace": np.zeros(3)}
    case, given_ = case_of("stdp_update")
    result = kolmo.stdp_update(**given_)
    assert result[0] is given_["weight"]
    assert case.failure(outputs_of("stdp_update", given_, result)) == ""
    arguments["weight"].flags.writeable = False
    with pytest.raises((kolmo.InvalidArgument, TypeError), match="stdp_update"):
        kolmo.stdp_update(**arguments)


def test_faults_of_data_are_raised():
    with pytest.raises(kolmo.InvalidArgument, match="embedding_lookup"):
        kolmo.embedding_lookup(np.zeros((3, 2)), np.array([0, 5]))


@pytest.mark.skipif("simt" not in DEVICES, reason="no emulated GPU in this build")
def test_an_error_of_the_emulated_gpu_is_one_of_kolmo():
    script = "import kolmo, numpy as np; x = np.ones(9)\ntry: kolmo.histogram_2d(x, x, device='simt')\nexcept kolmo.DeviceError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "SIMT_SHARED_LIMIT": "16"}, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("launch refused: 400 bytes of dynamic shared memory; the limit is 16")


def test_what_needs_no_arrays():
    assert kolmo.random_normal(n=4).dtype == np.float64
    for dtype in ("f32", "float32", np.float32, np.dtype("f4")):
        assert kolmo.random_normal(n=4, dtype=dtype).dtype == np.float32
    assert kolmo.random_uniform(n=4, like=np.zeros(1, np.float32)).dtype == np.float32
    assert isinstance(kolmo.random_normal(n=4, dtype="bf16"), kolmo.Array)
    with pytest.raises(kolmo.InvalidArgument, match="dtype"):
        kolmo.random_normal(n=4, dtype="f128")


def test_a_dtype_that_no_output_takes_is_refused():
    x = np.ones((3, 4))
    assert kolmo.softmax(x, dtype="f64").dtype == np.float64
    for dtype, text in (("f16", "softmax: y cannot be f16: it is f64"), ("i64", "softmax: no output can be i64")):
        for more in ({}, {"out": np.empty_like(x)}):
            with pytest.raises(kolmo.InvalidArgument, match=text):
                kolmo.softmax(x, dtype=dtype, **more)
    assert kolmo.layer_norm(x.astype("f4"), mean=True, dtype="f32").mean.dtype == np.float64
    with pytest.raises(kolmo.InvalidArgument, match="layer_norm: y cannot be f64"):
        kolmo.layer_norm(x.astype("f4"), mean=True, dtype="f64")


def test_unchecked_data_of_a_stream():
    stream, table = kolmo.Stream("cpu"), np.ones((3, 2))
    stream.check_data(False)
    assert kolmo.embedding_lookup(table, np.array([0, 5]), stream=stream).tolist() == [[1, 1], [0, 0]]
    stream.check_data(True)
    with pytest.raises(kolmo.InvalidArgument, match="embedding_lookup: index"):
        kolmo.embedding_lookup(table, np.array([0, 5]), stream=stream)


def test_ranges_in_messages_are_short_and_say_what_is_wrong():
    image, x = np.random.default_rng(0).random((2, 20, 20))
    with pytest.raises(kolmo.InvalidArgument, match=r"x_min = -1e\+308 and x_max = 1.7e\+308 make no range for 10 bins$"):
        kolmo.histogram_2d(image, x, x_min=-1e308, x_max=1.7e308)
    with pytest.raises(kolmo.InvalidArgument, match=r"low = 0 and high = 5e-324 make no range for 256 levels"):
        kolmo.pixel_entropy(image, low=0, high=5e-324)


def test_no_operator_replaces_what_is_kolmos():
    script = """
import sys
import kolmo
own = ("ops", "tuner", "monitor", "flow", "bench", "contiguous", "devices", "tune", "Stream", "entropy")
for name in own:
    setattr(kolmo.ops, name, kolmo.ops.softmax)
kolmo.ops.__all__ += own
for module in [m for m in sys.modules if m.startswith("kolmo") and m not in ("kolmo.ops", "kolmo._kolmo")]:
    del sys.modules[module]
import kolmo
assert kolmo.softmax is kolmo.ops.softmax
for name in own:
    assert getattr(kolmo, name) is not kolmo.ops.softmax, name
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_errors_are_of_two_families():
    for error, builtin in ((kolmo.InvalidArgument, ValueError), (kolmo.Unsupported, NotImplementedError), (kolmo.OutOfMemory, MemoryError),
                           (kolmo.DeviceError, RuntimeError)):
        assert issubclass(error, builtin) and issubclass(error, kolmo.Error)
