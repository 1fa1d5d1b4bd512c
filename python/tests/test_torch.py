"""PyTorch's tensors on the CPU, and on a GPU where there is one."""
import kolmo
import numpy as np
import pytest
from kolmo import _kolmo

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() and any(d["device"].startswith("cuda") for d in kolmo.devices()) else [])


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_results_are_tensors_beside_the_input(device, dtype):
    x = torch.randn(5, 33, device=device, dtype=dtype)
    y = kolmo.softmax(x)
    assert y.dtype == dtype and y.device == x.device
    torch.testing.assert_close(y, torch.softmax(x, -1))
    out = torch.empty_like(x)
    assert kolmo.softmax(x, out) is out
    torch.testing.assert_close(out, y)


@pytest.mark.filterwarnings("ignore:.* more found no room:RuntimeWarning")
@pytest.mark.parametrize("name", kolmo.ops.__all__)
def test_every_operator_takes_tensors(name):
    case = _kolmo.Case(name)
    arguments = {key: torch.from_dlpack(a) if isinstance(a, (kolmo.Array, np.ndarray)) and getattr(a, "ndim", 1) else a
                 for key, a in case.arguments().items()}
    tensors = [a for a in arguments.values() if isinstance(a, torch.Tensor)]
    if not tensors:
        pytest.skip("without arrays")
    result = getattr(kolmo.ops, name)(**arguments)
    for r in result if isinstance(result, tuple) else [result]:
        assert r is None or isinstance(r, torch.Tensor)


def test_layouts_and_gradients_are_refused(device):
    x = torch.randn(4, 5, device=device)
    with pytest.raises(kolmo.InvalidArgument, match="kolmo.contiguous"):
        kolmo.softmax(x.T)
    torch.testing.assert_close(kolmo.softmax(kolmo.contiguous(x.T)), torch.softmax(x.T, -1))
    with pytest.raises(kolmo.InvalidArgument, match="x cannot be read: .*grad"):
        kolmo.softmax(x.requires_grad_())


def test_the_current_stream_is_used():
    if "cuda" not in DEVICES:
        pytest.skip("no GPU here")
    x = torch.randn(1 << 22, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        z = torch.zeros_like(x)
        for _ in range(50):
            z += x
        y = kolmo.relu(z)
    side.synchronize()
    torch.testing.assert_close(y, torch.relu(z))
    own = kolmo.Stream("cuda")
    y = kolmo.relu(x, stream=own)
    own.synchronize()
    torch.testing.assert_close(y, torch.relu(x))


def test_arrays_of_kolmo_are_handed_over():
    a = kolmo.random_normal(n=6, dtype="bf16")
    t = torch.from_dlpack(a)
    assert t.dtype == torch.bfloat16 and t.shape == (6,)
    del a
    assert torch.isfinite(t).all()
    with pytest.raises(BufferError):
        kolmo.random_normal(n=6, dtype="bf16").__dlpack__(copy=True)


def test_registered_operators(device):
    import kolmo.torch as registered
    assert {"softmax", "matmul", "layer_norm", "attention", "conv2d", "gru_cell"} <= set(registered.__all__)
    x = torch.randn(6, 7, device=device, requires_grad=True)
    y = torch.ops.kolmo.softmax(x)
    torch.testing.assert_close(y, torch.softmax(x, -1))
    torch.testing.assert_close(torch.ops.kolmo.gelu(x, form="tanh"), torch.nn.functional.gelu(x, approximate="tanh"))
    with pytest.raises(kolmo.Unsupported, match="softmax: has no derivative"):
        y.sum().backward()


def test_traces_know_shapes(device):
    import kolmo.torch  # noqa: F401
    torch.library.opcheck(torch.ops.kolmo.softmax.default, (torch.randn(3, 4, device=device),),
                          test_utils=("test_schema", "test_faketensor"))

    def f(x, w):
        return torch.ops.kolmo.layer_norm(torch.ops.kolmo.linear(x, w, activation="gelu")) + 1

    x, w = torch.randn(3, 4, device=device), torch.randn(5, 4, device=device)
    compiled = torch.compile(f, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, w), f(x, w))


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "linear", "conv2d", "attention", "order_parameter", "lstm_cell", "reduce_sum"])
def test_every_registered_shape_is_that_of_the_result(name):
    import kolmo.torch  # noqa: F401
    case = _kolmo.Case(name)
    arguments = {key: torch.from_dlpack(a) if isinstance(a, (kolmo.Array, np.ndarray)) else a for key, a in case.arguments().items() if a is not True}
    result = getattr(kolmo.ops, name)(**arguments)
    results = list(result) if isinstance(result, tuple) else [result]
    shaped = _kolmo.shapes(name, {k: (list(v.shape), str(v.dtype)) if isinstance(v, torch.Tensor) else v for k, v in arguments.items()})
    assert [list(r.shape) for r in results[:len(shaped)] if r is not None] == [shape for shape, _ in shaped]
