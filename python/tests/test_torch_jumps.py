"""Jumps of kolmo.predict.Watch: along a planted drift, on noise, on probation and without memory."""
import kolmo
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Jumps, Watch  # noqa: E402
from predict_data import Cursor, forecaster, net  # noqa: E402


def far_valley(drift, noise, steps=3000, **options):
    """Weights whose loss falls steadily along one direction by `drift` a step, beside noise in all; held-out losses of 64 samples."""
    torch.manual_seed(2)
    w = torch.nn.Parameter(torch.zeros(40))
    optimizer = torch.optim.SGD([w], 1.0)
    samples = torch.randn(64, 40)
    way = torch.nn.functional.normalize(torch.randn(40), dim=0)

    def gate():
        return 100 - 10 * (w @ way) + 0.5 * (w - (w @ way) * way - 0.3 * samples).square().sum(1)

    jumps = Jumps(gate, every=100, **options)
    watch = Watch(optimizer, budget=10 ** 6, control=True, every=10 ** 7, warmup=50, jumps=jumps, forecaster=forecaster(), stride=1)
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.no_grad():
            across = w - (w @ way) * way
            w.grad = -drift * way + 0.5 * across + noise * torch.randn(40)
        optimizer.step()
        watch.step(gate().mean())
    return jumps, watch, float(w.detach() @ way)


def test_a_jump_along_a_planted_drift_is_accepted():
    jumps, watch, place = far_valley(0.01, 0.02, overhead=1.0)
    assert jumps.accepted >= 5 and jumps.undone == 0 and place > 0.01 * 3000 * 1.2


def test_no_jump_on_white_noise():
    """Weights that only jitter around their optimum: below 1 % of at least 100 jumps may be accepted."""
    torch.manual_seed(5)
    tried = accepted = 0
    for _ in range(10):
        w, samples = torch.nn.Parameter(torch.randn(40)), torch.randn(64, 40)
        samples -= samples.mean(0)
        jumps = Jumps(lambda w=w, samples=samples: (w - samples).square().sum(1), every=10, overhead=1.0)
        optimizer = torch.optim.SGD([w], 0.5)
        watch = Watch(optimizer, budget=10 ** 6, control=True, every=10 ** 7, jumps=jumps, forecaster=forecaster(), stride=1)
        for step in range(600):
            w.grad = w.detach() + 0.5 * torch.randn(40)
            optimizer.step()
            jumps._wait = 1  # a jump is tried at every tenth step
            if step == 300:  # the way to the optimum is over
                before = jumps.tried, jumps.accepted
            watch.step(1.0)
        tried, accepted = tried + jumps.tried - before[0], accepted + jumps.accepted - before[1]
    assert tried >= 200 and accepted <= 0.01 * tried


def test_a_jump_that_fails_its_probation_is_undone():
    """The gate says that the far side is better, and the training losses that it is not."""
    w = torch.nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([w], 1e-3)
    jumps = Jumps(lambda: torch.full((16,), -float(w.detach().sum())) + 1e-6 * torch.arange(16.0), every=50, probation=20, overhead=1.0)
    cursor = Cursor()
    watch = Watch(optimizer, budget=10 ** 6, control=True, every=10 ** 7, warmup=10, jumps=jumps, forecaster=forecaster(), stride=1, data=cursor)
    for step in range(131):
        cursor.next()
        w.grad = -torch.ones(4)
        optimizer.step()
        watch.step(1.0 + 1e-3 * (step % 3) if jumps._trial is None else 1.2)
        if jumps._trial is not None and step < 101:
            place = float(w.detach()[0])
    assert jumps.accepted == 1 and jumps.undone == 1 and jumps._scale == 0.5
    assert watch.charged == 131 and watch.steps == 111 and cursor.place == 111
    assert float(w.detach()[0]) == pytest.approx(0.111) and place > 0.12


def test_a_jump_on_probation_is_in_the_state(tmp_path):
    def make():
        w = torch.nn.Parameter(torch.zeros(4))
        optimizer = torch.optim.SGD([w], 1e-3)
        jumps = Jumps(lambda: torch.full((16,), -float(w.detach().sum())) + 1e-6 * torch.arange(16.0), every=50, probation=20, overhead=1.0)
        return w, optimizer, jumps, Watch(optimizer, budget=10 ** 6, control=True, every=10 ** 7, warmup=10, jumps=jumps,
                                          forecaster=forecaster(), stride=1)

    def train(parts, steps):
        w, optimizer, jumps, watch = parts
        for step in range(steps):
            w.grad = -torch.ones(4)
            optimizer.step()
            watch.step(1.0 + 1e-3 * (step % 3) if jumps._trial is None else 1.2)

    whole, parts = make(), make()
    train(whole, 110)
    assert whole[2]._trial is not None
    torch.save([whole[0].detach(), whole[1].state_dict(), whole[3].state_dict()], tmp_path / "state.pt")
    weight, *states = torch.load(tmp_path / "state.pt", weights_only=True)
    parts[0].detach().copy_(weight)
    parts[1].load_state_dict(states[0]), parts[3].load_state_dict(states[1])
    train(whole, 21), train(parts, 21)
    assert whole[2].undone == parts[2].undone == 1 and torch.equal(whole[0], parts[0]) and whole[3].steps == parts[3].steps == 111


def test_out_of_memory_in_a_gate_changes_nothing():
    def gate():
        if not watch.averages.inside:
            return None
        raise torch.OutOfMemoryError("no memory")

    w = torch.nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([w], 1.0)
    jumps = Jumps(gate, every=20, overhead=1.0)
    watch = Watch(optimizer, budget=10 ** 6, control=True, warmup=10 ** 6, jumps=jumps, stride=1)
    for step in range(60):
        w.grad = torch.full((4,), -1.0)
        optimizer.step()
        watch.step(1.0)
        assert w.tolist() == [step + 1.0] * 4
    assert jumps.tried >= 1 and jumps.accepted == 0


def test_bad_jumps_are_refused():
    with pytest.raises(kolmo.InvalidArgument, match="every is a multiple of 10 steps"):
        Jumps(lambda: None, every=15)
    optimizer = torch.optim.SGD(net().parameters(), 0.1)
    with pytest.raises(kolmo.InvalidArgument, match="they need control=True"):
        Watch(optimizer, jumps=Jumps(lambda: None))
