"""Arrays of libraries other than NumPy and PyTorch."""
import array

import kolmo
import numpy as np
import pytest


class Exporter:
    """An array with the least that a library must have."""

    def __init__(self, values, max_version=True, **flags):
        self.values, self.versioned = values, max_version

    def __dlpack__(self, *, stream=None, **more):
        if not self.versioned and more:
            raise TypeError("unexpected keyword argument")
        return self.values.__dlpack__(**more)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("versioned", [True, False])
def test_any_exporter_is_taken(versioned):
    x = np.random.default_rng(0).random((3, 4))
    y = kolmo.softmax(Exporter(x, versioned))
    assert isinstance(y, kolmo.Array) and y.shape == (3, 4) and y.dtype == "f64" and y.device == "cpu"
    assert np.array_equal(np.from_dlpack(y), kolmo.softmax(x))
    assert np.array_equal(np.from_dlpack(kolmo.softmax(y)), kolmo.softmax(kolmo.softmax(x)))


def test_an_exported_array_lives_as_long_as_its_consumer():
    kept = [np.from_dlpack(kolmo.softmax(Exporter(np.random.default_rng(i).random(50)))) for i in range(200)]
    for i, y in enumerate(kept):
        assert np.array_equal(y, kolmo.softmax(np.random.default_rng(i).random(50)))
    unused = kolmo.softmax(Exporter(np.ones(3))).__dlpack__()
    del unused


def test_devices_of_other_kinds_are_refused():
    class Elsewhere(Exporter):
        def __dlpack_device__(self):
            return (7, 0)  # device type 7 is Vulkan

    with pytest.raises(kolmo.Unsupported, match="x is on a device of another kind"):
        kolmo.softmax(Elsewhere(np.ones(3)))


def test_buffers_are_taken():
    assert np.allclose(kolmo.softmax(memoryview(np.ones(4))), 0.25)
    assert np.allclose(kolmo.softmax(array.array("d", [1, 1])), 0.5)
    with pytest.raises(TypeError, match="takes an array"):
        kolmo.softmax(b"12345678")


def test_all_strides_are_read():
    x = np.arange(24.0).reshape(2, 3, 4)
    for view in (x.transpose(2, 0, 1), x[::-1, :, ::-2], x[:, 1:2], np.broadcast_to(x[:1], (5, 3, 4)), x[..., 0], np.float64(3.0)):
        assert np.array_equal(kolmo.contiguous_copy(view), view)
    packed = np.zeros(4, np.dtype([("a", "f8"), ("b", "u1")]))
    packed["a"] = [1, 2, 3, 4]
    with pytest.raises(kolmo.InvalidArgument, match="kolmo.contiguous"):
        kolmo.softmax(packed["a"])
    assert np.array_equal(kolmo.contiguous(packed["a"]), [1, 2, 3, 4])


def test_contiguous_arrays_are_not_copied():
    x = np.ones((3, 4))
    assert kolmo.contiguous(x) is x
    assert not np.shares_memory(kolmo.contiguous(x[:, :2]), x)


@pytest.mark.parametrize("library", ["jax.numpy", "array_api_strict", "cupy"])
def test_results_are_of_the_library_of_the_input(library):
    xp = pytest.importorskip(library)
    x = xp.asarray([[1.0, 2.0, 3.0]], dtype=xp.float32)
    y = kolmo.softmax(x)
    assert type(y) is type(x) and y.dtype == x.dtype
    assert np.allclose(np.asarray(y if library != "cupy" else y.get()), kolmo.softmax(np.array([[1, 2, 3]], np.float32)))
