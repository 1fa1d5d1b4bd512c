"""Python's buffer protocol: whatever an exporter says, an array is read right or refused with a reason."""
import ctypes
import datetime
import mmap
import multiprocessing
import struct

import kolmo
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

POINTER = ctypes.POINTER(ctypes.c_ssize_t)


class View(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", POINTER),
                ("strides", POINTER), ("suboffsets", POINTER), ("internal", ctypes.c_void_p)]


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
def get_buffer(exporter, view, flags):
    return exporter.fill(view, flags)


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
                ("slots", ctypes.POINTER(Slot))]


slots = (Slot * 2)(Slot(1, ctypes.cast(get_buffer, ctypes.c_void_p)), Slot(0, None))
spec = Spec(b"test_buffers.Base", 0, 0, 1 << 10, slots)  # of the size of its base; Py_TPFLAGS_BASETYPE
make_type = ctypes.pythonapi.PyType_FromSpec
make_type.restype, make_type.argtypes = ctypes.py_object, [ctypes.POINTER(Spec)]


class Exporter(make_type(ctypes.byref(spec))):
    """Says of its memory whatever it is told to say; refuses requests without the flags that it needs."""

    def __init__(self, memory, itemsize, fmt, shape=None, strides=None, suboffsets=None, ndim=None, readonly=False, needs=0,
                 length=None):
        def numbers(values):
            return None if values is None else (ctypes.c_ssize_t * max(len(values), 1))(*values)

        self.memory, self.itemsize, self.format, self.readonly, self.needs = memory, itemsize, fmt, readonly, needs
        self.ndim = len(shape if shape is not None else [0]) if ndim is None else ndim
        self.shape, self.strides, self.suboffsets = numbers(shape), numbers(strides), numbers(suboffsets)
        self.length = len(memory or b"") if length is None else length

    def fill(self, view, flags):
        v = view.contents
        if self.needs & ~flags:  # nor does it say why
            return -1
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        v.obj = id(self)
        v.buf = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) if self.memory is not None else None
        v.len, v.itemsize, v.readonly, v.ndim, v.format = self.length, self.itemsize, self.readonly, self.ndim, self.format
        v.shape, v.strides, v.suboffsets = (ctypes.cast(x, POINTER) if x is not None else POINTER()
                                            for x in (self.shape, self.strides, self.suboffsets))
        return 0


def copied(x):
    return kolmo.contiguous_copy(x)


@pytest.mark.parametrize("x, want", [
    ((ctypes.c_double * 3)(1, 2, 3), [1.0, 2, 3]),
    (((ctypes.c_float * 2) * 3)((1, 2), (3, 4), (5, 6)), [[1, 2], [3, 4], [5, 6]]),
    ((ctypes.c_long * 2)(-1, 7), [-1, 7]), ((ctypes.c_bool * 2)(True, False), [True, False]), (ctypes.c_double(4), 4.0),
    ((ctypes.c_double * 0)(), []), (multiprocessing.RawArray("d", [1, 2]), [1, 2]), (multiprocessing.RawArray("i", [3]), [3]),
    (multiprocessing.Array("d", [5, 6], lock=False), [5, 6]), (mmap.mmap(-1, 4), [0, 0, 0, 0]), (np.float64(3), 3.0),
    (np.bool_(True), True), (memoryview(b"abc"), [97, 98, 99]), (memoryview(np.arange(6.0))[::-2], [5, 3, 1])])
def test_buffers_of_the_standard_library_are_read(x, want):
    got = copied(x)
    assert np.array_equal(got, want) and got.shape == np.shape(want)


def test_softmax_reads_arrays_without_strides():
    assert np.allclose(kolmo.softmax((ctypes.c_double * 3)()), 1 / 3)


@pytest.mark.parametrize("x", [
    np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.array(["2020-01-01"], "datetime64[D]"), np.zeros(2, "timedelta64[s]")])
def test_dates_are_refused(x):
    with pytest.raises(kolmo.InvalidArgument, match="softmax: x (holds dates|cannot be read)"):
        kolmo.softmax(x)


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_int)]


@pytest.mark.parametrize("x", [
    (Pair * 2)(), (ctypes.c_char * 3)(), (ctypes.c_wchar * 3)(), (ctypes.c_void_p * 2)(), (ctypes.c_longdouble * 2)(),
    ctypes.c_double.__ctype_be__(3), np.zeros(2, "S3"), np.zeros(2, "U3"), np.zeros(2, "V8"), np.zeros(2, object), np.str_("a"),
    np.zeros(2, ">f8"), np.zeros(2, "f8,i4"), np.longdouble(3), np.zeros((1,) * 7), memoryview(b"abc").cast("c"),
    datetime.datetime.now(), "text", 3, None, [1.0]])
def test_what_holds_no_numbers_is_refused(x):
    with pytest.raises((kolmo.InvalidArgument, TypeError), match="contiguous_copy"):
        copied(x)


def test_masks_are_refused_or_mask_nothing():
    x = np.ma.masked_invalid([1.0, np.nan, 3.0])
    for masked in (x, np.ma.masked_less(np.arange(3), 1), np.ma.masked):
        with pytest.raises(kolmo.InvalidArgument, match=r"contiguous_copy: x has masked elements; filled\(value\)"):
            copied(masked)
    assert np.array_equal(copied(x[[0, 2]]), [1, 3])
    assert np.array_equal(copied(x.filled(0)), [1, 0, 3])


def test_masks_are_missing_values_of_series():
    x = np.random.default_rng(0).normal(size=(200, 2))
    mask = np.zeros(x.shape, bool)
    mask[20:25, 0] = mask[100, 1] = True
    want = kolmo.mutual_information(np.where(mask, np.nan, x)[:, 0], np.where(mask, np.nan, x)[:, 1], surrogates=0)
    masked = np.ma.array(x, mask=mask)
    assert kolmo.mutual_information(masked[:, 0], masked[:, 1], surrogates=0) == want
    series = [[masked[:100], masked[100:]], (masked[:100], masked[100:])]
    plain = np.stack([np.where(mask, np.nan, x)[:100], np.where(mask, np.nan, x)[100:]])
    for trials in series:  # a list of arrays, of which np.asarray would lose the masks
        assert kolmo.entropy(trials) == kolmo.entropy(plain)
    with pytest.raises(kolmo.InvalidArgument, match="the trial is missing"):
        kolmo.entropy(x[:, 0], trials=np.ma.array(np.repeat([0, 1], 100), mask=mask[:, 0]))


def test_what_is_read_only_is_not_written():
    out = Exporter(bytearray(24), 8, b"d", [3], readonly=True)
    with pytest.raises(kolmo.InvalidArgument, match="read-only|cannot be written"):
        kolmo.softmax(np.ones(3), out=out)
    assert bytes(out.memory) == bytes(24)


KNOWN = {b"d": (8, "f8"), b"f": (4, "f4"), b"e": (2, "f2"), b"?": (1, "?"), b"Zd": (16, "c16"), b"Zf": (8, "c8")}
INTEGERS = {code.encode(): kind for kind, codes in (("i", "bhilqn"), ("u", "BHILQN")) for code in codes}


def wanted(memory, itemsize, fmt, shape, strides, suboffsets, ndim):
    """What is to be read; None if it cannot be."""
    fmt = b"B" if fmt is None else fmt
    code = fmt[1:] if fmt[:1] in (b"@", b"=", b"<", b">", b"!") and fmt else fmt
    if fmt[:1] in (b">", b"!") and itemsize > 1:
        return None
    if code in KNOWN and KNOWN[code][0] == itemsize:
        dtype = KNOWN[code][1]
    elif code in INTEGERS and itemsize in (1, 2, 4, 8):
        dtype = f"{INTEGERS[code]}{itemsize}"
    else:
        return None
    if suboffsets is not None and any(s >= 0 for s in suboffsets[:ndim]):
        return None
    if shape is None and ndim > 1:
        return None
    extents = [len(memory or b"") // itemsize] if shape is None and ndim == 1 else list(shape or [])[:ndim]
    if any(n < 0 for n in extents) or (strides is not None and any(s % itemsize for s in strides[:ndim])):
        return None
    if memory is None:
        return np.empty(extents, dtype) if 0 in extents else None
    return np.ndarray(extents, dtype, memory, 0, strides and strides[:ndim])


@st.composite
def descriptions(draw):
    """Mostly sound descriptions of memory, each with what may be wrong with one."""
    codes = [*KNOWN, *INTEGERS]
    code = draw(st.sampled_from([*codes, *codes, b"g", b"O", b"c", b"x", b"", b"2d", b"T{d:a:}", b"&d", b"Z", b"dd", b"@@d"]))
    fmt = draw(st.sampled_from([code] * 6 + [m + code for m in (b"@", b"=", b"<", b">", b"!")] + [None]))
    natural = KNOWN[code][0] if code in KNOWN else struct.calcsize(code) if code in INTEGERS else 8
    itemsize = draw(st.sampled_from([natural] * 12 + [0, 1, 2, 3, 4, 8, 16]))
    ndim = draw(st.integers(0, 3))
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4]), min_size=ndim, max_size=ndim))
    size = int(np.prod(shape, dtype=int)) * max(itemsize, 1)
    memory = bytearray(draw(st.binary(min_size=max(size, 1), max_size=max(size, 1)))) if draw(st.integers(0, 9)) else None
    strides = [int(s) for s in np.empty(shape, f"V{max(itemsize, 1)}").strides]
    strides = draw(st.sampled_from([strides, strides, None, [0] * ndim, [s // 2 for s in strides]]))
    suboffsets = draw(st.sampled_from([None] * 8 + [[-1] * ndim, [0] * ndim]))
    if draw(st.integers(0, 15)) == 0 and ndim:
        shape[0] = -1
    if draw(st.integers(0, 15)) == 0:
        shape = None
    return {"memory": memory, "itemsize": itemsize, "fmt": fmt, "shape": shape, "strides": strides, "suboffsets": suboffsets,
            "ndim": ndim}


@given(descriptions(), st.booleans(), st.one_of(st.just(0), st.integers(0, 0x3ff)))
def test_whatever_an_exporter_says_is_read_right_or_refused(said, readonly, needs):
    exporter = Exporter(**said, readonly=readonly, needs=needs)
    want = None if needs & ~0x1c else wanted(**said)  # PyBUF_RECORDS_RO, which is what is asked for
    if want is None:
        with pytest.raises(kolmo.InvalidArgument, match="contiguous_copy: x "):
            copied(exporter)
        return
    got = copied(exporter)
    assert got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("ndim, shape", [(-1, [1]), (7, [1] * 7), (64, [1] * 64), (2, [2**62, 2**62])])
def test_impossible_dimensions_are_refused(ndim, shape):
    with pytest.raises(kolmo.InvalidArgument, match="contiguous_copy: x has"):
        copied(Exporter(bytearray(8), 8, b"d", shape, strides=[0] * len(shape), ndim=ndim))
