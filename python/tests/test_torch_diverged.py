"""kolmo.predict.Watch: losses that leave the range of numbers, and stores that cannot be read."""
import math

import kolmo
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Watch  # noqa: E402
from predict_data import net, xor_step  # noqa: E402


@pytest.mark.parametrize("overhead", [0.005, None])
def test_a_loss_that_explodes_ends_no_training(overhead):
    """Forecasts of such a log reach beyond the range of numbers."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch = Watch(optimizer, target=0.1, overhead=overhead)
    for step in range(600):
        xor_step(model, optimizer)
        watch.step(2.0 * math.exp(max(0, step - 300) / 10))
    assert watch.forecast(length=100) is not None


def test_a_slow_drift_in_noise_is_told_once_and_nothing_is_done():
    random = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.zeros(3))
    watch = Watch(torch.optim.SGD([weight], 0.1), average=False)
    for step in range(800):  # the loss rises by a factor of 1.6
        weight.grad = torch.ones(3)
        watch.optimizer.step()
        watch.step(2 * math.exp(0.1 * torch.randn((), generator=random).item() + 1e-3 * max(0, step - 300)))
    told = [d for d in watch.decisions if d.action == "alarm"]
    assert len(told) == 1 and "drifts upwards" in told[0].reason and not watch.done


def test_the_log_of_a_diverged_training_is_told_as_such_from_its_file(tmp_path):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch = Watch(optimizer)
    for step in range(400):
        xor_step(model, optimizer)
        watch.step(math.nan if step >= 300 or step == 100 else 2 + 1 / math.sqrt(step + 1))
    watch.write_csv(tmp_path / "log.csv")
    for log in (lambda: watch.forecast(), lambda: kolmo.predict.forecast(str(tmp_path / "log.csv"), horizon=20)):
        with pytest.raises(kolmo.InvalidArgument, match="the training has diverged"):
            log()


def test_a_store_that_cannot_be_read_is_told_before_the_training():
    with pytest.raises(kolmo.InvalidArgument, match="/nope: is no folder of a run store"):
        Watch(torch.optim.SGD(net().parameters(), 0.1), budget=100, control=True, store="/nope")
    optuna = pytest.importorskip("optuna")
    from kolmo.predict.optuna import ForecastPruner

    assert optuna.pruners.BasePruner in ForecastPruner.__mro__
    with pytest.raises(kolmo.InvalidArgument, match="/nope: is no folder of a run store"):
        ForecastPruner(100, store="/nope")
