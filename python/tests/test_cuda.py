"""Arrays on a CUDA GPU: every operator, streams of other libraries, memory, threads, kernels from source, estimates.

Run where there is a GPU; `pytest --record FILE` keeps what ran there (results/h200/python.json)."""
import gc
import threading

import kolmo
import numpy as np
import pytest
from kolmo import _kolmo
from test_operators import NAMES, NO_ROOM, case_of, count_of, fields, outputs_of

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.skipif(not (torch.cuda.is_available() and any(d["device"].startswith("cuda") for d in kolmo.devices())),
                                reason="no GPU here, or a Kolmo without CUDA")


def on_gpu(value):
    if isinstance(value, kolmo.Array):  # holds bfloat16, which NumPy lacks
        return torch.from_dlpack(value).cuda()
    return torch.as_tensor(value, device="cuda") if isinstance(value, np.ndarray) else value


def on_host(value):
    return value.cpu() if isinstance(value, torch.Tensor) else torch.from_dlpack(value).cpu() if isinstance(value, kolmo.Array) else value


def random(*shape, dtype=None):
    return torch.randn(*shape, device="cuda", dtype=dtype)


@NO_ROOM
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_its_oracle(name):
    for index in range(min(count_of(name), 3)):
        case, arguments = case_of(name, index)
        arguments = {key: on_gpu(value) for key, value in arguments.items()}
        made = {} if any(f["kind"] in ("in", "inout") for f in fields(name)) else {"dtype": case.dtype, "device": "cuda"}
        result = getattr(kolmo.ops, name)(**arguments, **made)
        outputs = outputs_of(name, arguments, result)
        for value in outputs.values():
            if isinstance(value, torch.Tensor):
                assert value.is_cuda
            elif isinstance(value, kolmo.Array):
                assert value.device.startswith("cuda")
        torch.cuda.synchronize()
        assert case.failure({key: on_host(value) for key, value in outputs.items()}) == ""


@pytest.mark.parametrize("library", ["torch", "cupy", "jax.numpy"])
def test_results_are_of_the_library_of_the_input(library):
    xp = pytest.importorskip(library)
    x = random(3, 5) if library == "torch" else xp.asarray(np.random.default_rng(0).normal(size=(3, 5)), dtype=xp.float32)
    if library == "jax.numpy" and next(iter(x.devices())).platform != "gpu":
        pytest.skip("JAX sees no GPU")
    y = kolmo.softmax(x)
    assert type(y) is type(x) and y.dtype == x.dtype
    host = {"torch": lambda a: a.cpu().numpy(), "cupy": lambda a: a.get(), "jax.numpy": np.asarray}[library]
    assert str(getattr(y, "device", "")) == str(getattr(x, "device", ""))
    np.testing.assert_allclose(host(y), kolmo.softmax(host(x)), rtol=1e-5)
    assert np.allclose(host(y).sum(-1), 1)


def test_nothing_is_copied():
    x, out = random(1 << 20), torch.empty(1 << 20, device="cuda")
    assert kolmo.relu(x, out) is out
    kolmo.Stream("cuda").synchronize()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    y = kolmo.relu(x)
    assert torch.cuda.memory_allocated() - before == x.numel() * 4, "the result alone"
    torch.testing.assert_close(y, torch.relu(x))
    shared = torch.from_dlpack(kolmo.random_normal(n=1000, dtype="f32", device="cuda"))
    assert shared.is_cuda and abs(float(shared.mean())) < 0.2


def test_layouts_and_devices_are_refused_clearly():
    x = random(4, 5)
    with pytest.raises(kolmo.InvalidArgument, match="kolmo.contiguous"):
        kolmo.softmax(x.T)
    torch.testing.assert_close(kolmo.softmax(kolmo.contiguous(x.T)), torch.softmax(x.T, -1))
    for arguments in ({"x": x, "y": x.cpu()}, {"x": x.cpu(), "y": x}, {"x": x, "y": x, "out": torch.empty(4, 5)}):
        with pytest.raises(kolmo.InvalidArgument, match="vector_add: .*cpu"):
            kolmo.vector_add(**arguments)
    with pytest.raises(kolmo.InvalidArgument, match="softmax: x is on cuda:0, not on cpu"):
        kolmo.softmax(x, device="cpu")
    with pytest.raises((kolmo.InvalidArgument, kolmo.Unsupported), match="cuda:99"):
        kolmo.softmax(x, device="cuda:99")
    with pytest.raises(kolmo.InvalidArgument, match="stream"):
        kolmo.softmax(x, stream=kolmo.Stream("cpu"))
    with pytest.raises(kolmo.InvalidArgument, match="x cannot be read"):
        kolmo.softmax(x.requires_grad_())
    assert kolmo.softmax(torch.empty(0, 5, device="cuda")).shape == (0, 5)


def slow_sum(x, steps=200):
    """Keeps the current stream of PyTorch busy for longer than a call takes to be queued."""
    z = torch.zeros_like(x)
    for _ in range(steps):
        z += x
    return z


def test_the_current_stream_of_pytorch_is_used():
    x, side = random(1 << 22), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        z = slow_sum(x)
        y = kolmo.relu(z)
        after = y + 1
    side.synchronize()
    torch.testing.assert_close(after, torch.relu(z) + 1)


@pytest.mark.parametrize("elements", [1 << 14, 1 << 22, 1 << 25])
def test_a_kernel_that_starts_early_waits_for_those_before_it(elements):
    """The grids have too few, enough and too many blocks to be started early; each reads what the one before it wrote."""
    ones, total = torch.ones(elements, device="cuda"), torch.zeros(elements, device="cuda")
    sums = []
    for _ in range(100):
        total = kolmo.ops.vector_add(total, ones)
        sums.append(kolmo.ops.reduce_sum(total.view(16, -1)))
    assert bool((total == 100).all())
    assert all(bool((each == (step + 1) * (elements // 16)).all()) for step, each in enumerate(sums))


@pytest.mark.parametrize(("rows", "k"), [(1, (1 << 24) + 4), (2, 9000004), (2, 2200000), (3, 5000008), (5, 2000000)])
def test_long_rows_that_a_grid_holds(rows, k):
    """Several blocks share a row. Most of these lengths end in a part of what a block reads at once."""
    x, scale, shift = random(rows, k), random(k), random(k)
    torch.testing.assert_close(kolmo.softmax(x).double(), torch.softmax(x.double(), -1), rtol=208 * 2**-24, atol=0)
    want = torch.nn.functional.layer_norm(x.double(), (k,), scale.double(), shift.double())
    torch.testing.assert_close(kolmo.layer_norm(x, scale, shift).double(), want, rtol=1e-5, atol=1e-5)
    x[:, 7], x[-1, -1] = -torch.inf, torch.nan
    y = kolmo.softmax(x)
    assert bool((y[:-1, 7] == 0).all()) and bool(y[-1].isnan().all()) and not bool(y[:-1].isnan().any())


@pytest.mark.parametrize(("keys", "d"), [(65536, 128), (65536, 64), (4097, 192), (3000, 80), (1000, 128)])
def test_few_queries_of_many_keys(keys, d):
    """The tolerance: each weight is rounded to f16, and so is y."""
    q, k, v = (random(1, heads, t, d, dtype=torch.float16) for heads, t in ((32, 1), (8, keys), (8, keys)))
    wide_k, wide_v = (t.repeat_interleave(4, 1).double() for t in (k, v))
    weights = torch.softmax(q.double() @ wide_k.transpose(-1, -2) / d**0.5, -1)
    want, spread = weights @ wide_v, (weights**2 @ wide_v**2).sqrt()
    error = (kolmo.attention(q, k, v).double() - want).abs()
    assert bool((error <= 2**-11 * (want.abs() + 6 * spread)).all())


def test_the_current_stream_of_cupy_is_used():
    cupy = pytest.importorskip("cupy")
    x, side = cupy.random.default_rng(0).standard_normal(1 << 22, dtype="f4"), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with side:
        z = cupy.zeros_like(x)
        for _ in range(200):
            z += x
        y = kolmo.relu(z) + 1
    side.synchronize()
    cupy.testing.assert_allclose(y, cupy.maximum(z, 0) + 1)


def test_a_stream_that_is_given_waits_for_the_arrays_and_is_waited_for():
    x = random(1 << 22)
    own, z = kolmo.Stream("cuda"), slow_sum(x)
    y = kolmo.relu(z, stream=own)  # PyTorch's stream is busy with z: __dlpack__(stream=own) makes own wait
    own.synchronize()
    torch.testing.assert_close(y, torch.relu(z))
    for stream in (torch.cuda.Stream(), torch.cuda.Stream().cuda_stream):
        y = kolmo.relu(x, stream=stream)
        torch.cuda.synchronize()
        torch.testing.assert_close(y, torch.relu(x))
    a = kolmo.random_normal(n=1 << 22, dtype="f32", device="cuda", stream=own)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        total = torch.from_dlpack(a).double().sum()  # from_dlpack makes side wait for own
    side.synchronize()
    again = torch.from_dlpack(kolmo.random_normal(n=1 << 22, dtype="f32", device="cuda")).double().sum()
    assert float(total) == float(again)


def test_faults_of_data_are_raised():
    table, rows = random(3, 2), torch.tensor([0, 5], device="cuda")
    own = kolmo.Stream("cuda")
    kolmo.embedding_lookup(table, rows, stream=own)
    with pytest.raises(kolmo.InvalidArgument, match="embedding_lookup"):
        own.synchronize()
    kolmo.embedding_lookup(table, rows.clamp(max=2), stream=own)
    own.synchronize()


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two GPUs are needed")
def test_a_second_gpu_is_used_by_its_arrays():
    x, there = random(64, 100), torch.randn(64, 100, device="cuda:1")
    for y, z in ((kolmo.softmax(there), torch.softmax(there, -1)), (kolmo.softmax(x), torch.softmax(x, -1))):
        assert y.device == z.device
        torch.testing.assert_close(y, z)
    side = torch.cuda.Stream("cuda:1")
    with torch.cuda.stream(side):
        y = kolmo.relu(there)
    side.synchronize()
    torch.testing.assert_close(y, torch.relu(there))
    assert torch.from_dlpack(kolmo.random_normal(n=10, device="cuda:1")).device == there.device
    series = np.random.default_rng(0).standard_normal((2, 500))
    here, far = (kolmo.mutual_information(*series, surrogates=19, random_state=1, device=device) for device in ("cpu", "cuda:1"))
    assert (here.value, here.p_value) == (far.value, far.p_value)
    kolmo.devices()
    assert torch.cuda.current_device() == 0
    for arguments in ({"x": x, "y": there}, {"x": x, "y": x, "out": there}):
        with pytest.raises(kolmo.InvalidArgument, match="is on cuda:1, the work on cuda:0; nothing is copied"):
            kolmo.vector_add(**arguments)
    kernel = kolmo.Kernel(SOURCE, "scale")
    kernel.launch([25], [256], y, there, np.float32(2), np.int32(6400))
    torch.testing.assert_close(y, 2 * there)


@pytest.mark.slow
def test_memory_of_the_gpu_is_released():
    x = random(256, 1024)

    def run(n):
        for _ in range(n):
            kolmo.softmax(x)
            kolmo.random_normal(n=1000, dtype="f32", device="cuda")
            try:
                kolmo.softmax(x.T)
            except kolmo.InvalidArgument:
                pass
        torch.cuda.synchronize()
        gc.collect()

    run(500)
    free, allocated = torch.cuda.mem_get_info()[0], torch.cuda.memory_allocated()
    run(20_000)
    assert torch.cuda.memory_allocated() == allocated
    assert free - torch.cuda.mem_get_info()[0] < 16 << 20
    kept = [torch.from_dlpack(kolmo.random_uniform(n=100, dtype="f32", device="cuda")) for _ in range(200)]
    assert all(bool((k >= 0).all()) for k in kept)


def test_threads_at_once():
    jobs = [random(64, 100 + i) for i in range(4)]
    right = [torch.softmax(x, -1) for x in jobs]
    torch.cuda.synchronize()
    wrong = []

    def work(i):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(100):
                y = kolmo.softmax(jobs[i])
                side.synchronize()
                if not torch.allclose(y, right[i], atol=1e-6):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_registered_operators_are_traced_and_compiled():
    import kolmo.torch  # noqa: F401
    torch.library.opcheck(torch.ops.kolmo.softmax.default, (random(3, 4),), test_utils=("test_schema", "test_faketensor"))

    def f(x, w):
        return torch.ops.kolmo.layer_norm(torch.ops.kolmo.linear(x, w, activation="gelu")) + 1

    x, w = random(16, 32), random(8, 32)
    torch.testing.assert_close(torch.compile(f, backend="eager", fullgraph=True)(x, w), f(x, w))
    y = random(4, 4).requires_grad_()
    with pytest.raises(kolmo.Unsupported, match="softmax: has no derivative"):
        torch.ops.kolmo.softmax(y).sum().backward()


@pytest.mark.parametrize("place", [0, pytest.param(1, marks=pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two GPUs are needed"))])
def test_a_capture_of_pytorch_takes_calls_in(place):
    with torch.cuda.device(place):
        capture_and_replay()


def capture_and_replay():
    x = random(256, 1024)
    y, normal, spare = (torch.empty(256, 1024, device="cuda") for _ in range(3))

    def work():
        kolmo.softmax(x, y)
        kolmo.layer_norm(y, out=normal)

    samples = x[:1].double().view(1, 1024, 1), y[0].double().view(1024, 1)
    work()  # loads the kernels
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.Stream()):  # PyTorch's default stream belongs to the device of its first capture
        work()
        with pytest.raises(kolmo.Unsupported, match="takes no memory while its owner captures it"):
            kolmo.ops.ksg_mutual_information(*samples)
        for _ in range(600):  # the monitor would time some of so many
            kolmo.relu(y, spare)
    for _ in range(3):
        x.copy_(random(256, 1024))
        graph.replay()
        torch.testing.assert_close(y, torch.softmax(x, -1))
        torch.testing.assert_close(normal, torch.nn.functional.layer_norm(y, (1024,)), atol=1e-4, rtol=1e-4)


SOURCE = """
extern "C" __global__ void scale(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}"""


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_kernels_from_source(library):
    xp = pytest.importorskip(library)
    n = 100_000
    x = random(n) if library == "torch" else xp.arange(n, dtype="f4")
    y = xp.zeros_like(x)
    scale = kolmo.Kernel(SOURCE, "scale")
    scale.launch([(n + 255) // 256], [256], y, x, np.float32(3), np.int32(n))
    torch.cuda.synchronize()
    assert bool((y == 3 * x).all())
    with pytest.raises(kolmo.InvalidArgument, match="scale"):
        scale.launch([1], [256], y, x, np.float32(3))
    with pytest.raises(kolmo.InvalidArgument, match="argument 1 is on the CPU"):
        scale.launch([1], [256], y, np.ones(3), np.float32(3), np.int32(n))
    with pytest.raises((kolmo.Unsupported, kolmo.InvalidArgument), match="(?s)broken.*error"):
        kolmo.Kernel("__global__ void broken() { nonsense }", "broken").launch([1], [1])


def test_a_function_is_tuned():
    x, y = random(1 << 20), torch.empty(1 << 20, device="cuda")
    kernel = kolmo.Kernel(SOURCE, "scale")

    def run(block):
        kernel.launch([((1 << 20) + block - 1) // block], [block], y, x, np.float32(2), np.int32(1 << 20))
        torch.cuda.synchronize()

    found = kolmo.tune(run, {"block": [64, 256]})
    assert found.best["block"] in (64, 256)


def test_estimates_are_those_of_the_cpu():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 500))
    y = np.roll(x, 1) + noise
    for estimate in (kolmo.mutual_information, kolmo.transfer_entropy):
        there, here = (estimate(x, y, surrogates=19, random_state=1, device=d) for d in ("cuda", "cpu"))
        assert (there.value, there.p_value) == (here.value, here.p_value)
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"x": x, "y": y, "z": noise})
    there, here = (kolmo.TransferEntropyNetwork(max_lag=2, surrogates=199, random_state=1, device=d).fit(data) for d in ("cuda", "cpu"))
    pandas.testing.assert_frame_equal(there.edges_, here.edges_)
    np.testing.assert_array_equal(there.matrix_, here.matrix_)


def test_the_gpu_is_described_and_measured():
    found = next(d for d in kolmo.devices() if d["device"].startswith("cuda"))
    assert found["name"] == torch.cuda.get_device_name()
    rows = kolmo.bench("relu", device="cuda")
    assert len(rows)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "linear", "conv2d", "attention", "lstm_cell", "reduce_sum"])
def test_shapes_are_those_of_the_result(name):
    arguments = {key: on_gpu(a) for key, a in _kolmo.Case(name).arguments().items() if a is not True}
    result = getattr(kolmo.ops, name)(**arguments)
    results = list(result) if isinstance(result, tuple) else [result]
    shaped = _kolmo.shapes(name, {k: (list(v.shape), str(v.dtype)) if isinstance(v, torch.Tensor) else v for k, v in arguments.items()})
    assert [list(r.shape) for r in results[:len(shaped)]] == [shape for shape, _ in shaped]
