"""Averages of weights, against sums in double precision that are worked out by hand."""
import kolmo
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Averages  # noqa: E402
from kolmo.predict.averages import power_exponent  # noqa: E402


def test_the_exponents_are_those_of_the_source():
    """Karras et al. 2024, section 3.1: widths of 5 and 10 % are exponents of 16.97 and 6.94."""
    assert power_exponent(0.10) == pytest.approx(6.94, abs=0.005) and power_exponent(0.05) == pytest.approx(16.97, abs=0.005)


@pytest.mark.parametrize("stride", [1, 3])
def test_averages_are_weighted_means_of_the_weights(stride):
    w = torch.zeros(3, 2)
    a = Averages([w], ["power:0.1", "exponential:0.9"], stride)
    kept = []
    for k in range(1, 13):
        w.copy_(torch.arange(6.0).view(3, 2) * k + k * k)
        a.step()
        if k % stride == 0:
            kept.append(w.double().numpy().copy())
    g = power_exponent(0.1) + 1
    n = len(kept)
    power = [(j + 1) ** g - j ** g for j in range(n)]  # weights of a product of (1 - 1/j)^g
    want = sum(p * v for p, v in zip(power, kept, strict=True)) / n ** g
    np.testing.assert_allclose(a.values("power:0.1")[0].numpy(), want, rtol=20 * 2.0 ** -24)
    want = kept[0]
    for j, v in enumerate(kept[1:], 2):
        want = want + (v - want) * max(1 - 0.9 ** stride, 1 / j)
    np.testing.assert_allclose(a.values("exponential:0.9")[0].numpy(), want, rtol=20 * 2.0 ** -24)


def test_a_constant_weight_is_its_own_average():
    w = torch.full((4,), 0.1, dtype=torch.bfloat16)
    a = Averages([w], ["power:0.05"], 1)
    for _ in range(20):
        a.step()
    assert a.values()[0].dtype == torch.float32
    torch.testing.assert_close(a.values()[0].bfloat16(), w, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_averaged_swaps_in_place_and_back_also_when_the_body_raises(dtype):
    w, v = torch.randn(5, 3).to(dtype), torch.randn(7)
    a = Averages([w, v], stride=1)
    a.step()
    w.mul_(3), v.add_(1)
    was, place = (w.clone(), v.clone()), w.data_ptr()
    with pytest.raises(ZeroDivisionError), a.averaged():
        torch.testing.assert_close(w, (was[0] / 3), rtol=2 * torch.finfo(dtype).eps, atol=0)
        assert a.inside == "power:0.1" and w.data_ptr() == place
        w.zero_()
        raise ZeroDivisionError
    assert torch.equal(w, was[0]) and torch.equal(v, was[1]) and a.inside is None and w.data_ptr() == place
    with a.averaged(), pytest.raises(RuntimeError, match="inside averaged"), a.averaged():
        pass
    with a.averaged(), pytest.raises(RuntimeError, match="a step inside averaged"):
        a.step()
    assert torch.equal(w, was[0])


def test_an_average_that_is_adopted_inside_the_context_stays():
    w = torch.zeros(3)
    a = Averages([w], ["power:0.1", "exponential:0.5"], stride=1)
    for k in range(4):
        w.fill_(k)
        a.step()
    with a.averaged("power:0.1"):
        a.adopt("exponential:0.5")
        assert torch.equal(w, a.values("power:0.1")[0])
    assert torch.equal(w, a.values("exponential:0.5")[0])
    w.fill_(9)
    with a.averaged():
        pass
    assert w[0] == 9  # the adoption was for the context before alone


def test_before_the_first_update_the_weights_stay():
    w = torch.randn(3)
    a, was = Averages([w]), w.clone()
    with a.averaged():
        assert torch.equal(w, was)


def test_tensors_that_come_later_are_averaged_from_then_on():
    w = torch.zeros(2)
    a = Averages([w], stride=1)
    for k in range(5):
        w.fill_(k)
        a.step([w])
    new = torch.full((3,), 7.0)
    a.step([w, new])
    assert torch.equal(a.values()[1], new) and a.values()[0][0] < 4
    a.step([new])
    assert len(a.values()) == 1


def test_the_state_is_restored_bit_by_bit():
    def run(a, w, steps):
        for k in steps:
            w.mul_(0.9).add_(k)
            a.step()

    w = torch.randn(9)
    start = w.clone()
    names = ["power:0.1", "exponential:0.99"]
    a = Averages([w], names, 2)
    run(a, w, range(11))
    half, state = w.clone(), a.state_dict()
    run(a, w, range(11, 30))
    other = half.clone()
    b = Averages([other], names, 2)
    b.load_state_dict(state)
    run(b, other, range(11, 30))
    for name in names:
        assert torch.equal(a.values(name)[0], b.values(name)[0])
    assert torch.equal(w, other) and not torch.equal(start, w)
    with pytest.raises(kolmo.InvalidArgument, match=r"state has the averages power:0.1, exponential:0.99 with stride 2"):
        Averages([w], names, 3).load_state_dict(state)
    with pytest.raises(kolmo.InvalidArgument, match=r"has \[9\] weights, and the optimizer's tensors have \[4\]"):
        Averages([w[:4]], names, 2).load_state_dict(state)


@pytest.mark.parametrize("name", ["power:0.9", "power:0", "exponential:1", "mean", "power:x", ""])
def test_unknown_averages_are_refused(name):
    with pytest.raises(kolmo.InvalidArgument, match="is none of power:WIDTH"):
        Averages([torch.zeros(1)], [name])


def test_weights_that_moved_are_refused():
    w = torch.nn.Parameter(torch.zeros(2))
    a = Averages([w], stride=1)
    w.data = w.data.double()
    with pytest.raises(kolmo.InvalidArgument, match="were torch.float32 on cpu and are torch.float64"):
        a.step()
