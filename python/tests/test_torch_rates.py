"""The rates that a watch logs and plans: of which parameter group, of which step, and how often the scheduler steps."""
import math
import warnings

import kolmo
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Watch  # noqa: E402
from predict_data import forecaster, net, xor_step  # noqa: E402

lr_scheduler = torch.optim.lr_scheduler


def made(scheduler=lambda o: lr_scheduler.StepLR(o, 1, 0.5), rates=(1.0,), **options):
    groups = [{"params": [torch.nn.Parameter(torch.zeros(2))], "lr": r} for r in rates]
    optimizer = torch.optim.SGD(groups)
    scheduler = scheduler(optimizer)
    return optimizer, scheduler, Watch(optimizer, scheduler=scheduler, forecaster=forecaster(), **options)


def train(optimizer, scheduler, watch, steps, per_tick=1, scheduler_first=False):
    """`per_tick` training steps for each of the scheduler's, or a fraction for several of them. Returns the rates of the steps."""
    rates = []
    for step in range(watch.steps + 1, watch.steps + steps + 1):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if not scheduler_first:
            watch.step(1.0)
        for _ in range(math.floor(step / per_tick) - math.floor((step - 1) / per_tick)):
            scheduler.step()
        if scheduler_first:
            watch.step(1.0)
    return rates


@pytest.mark.parametrize("scheduler_first", [False, True])
@pytest.mark.parametrize("per_tick", [1, 7, 0.25])
@pytest.mark.parametrize("seen", [25, 28, 31])
def test_the_plan_is_what_the_scheduler_does_however_often_it_is_stepped(per_tick, seen, scheduler_first):
    parts = made(lambda o: lr_scheduler.CosineAnnealingLR(o, 500))
    train(*parts, seen, per_tick, scheduler_first)
    plan = parts[2].planned(40)
    np.testing.assert_array_equal(plan, train(*parts, 40, per_tick, scheduler_first))


def test_a_plan_that_is_made_within_the_step_begins_with_the_next_one():
    plans = []
    optimizer, scheduler, watch = made(evaluate=lambda: plans.append(watch.planned(3)) or 1.0, every=10, warmup=10, budget=100, overhead=None)
    train(optimizer, scheduler, watch, 10)
    np.testing.assert_array_equal(plans[0], 0.5 ** np.arange(10.0, 13))


def test_a_scheduler_that_was_not_stepped_yet_holds_its_rate_and_that_is_told_once():
    optimizer, scheduler, watch = made()
    train(optimizer, scheduler, watch, 30, 1000)
    with pytest.warns(UserWarning, match="not stepped in 30 steps that were watched"):
        plan = watch.planned(60)
    assert set(plan[:30]) == {1.0} and set(plan[30:]) == {0.5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watch.planned(60)


def test_chained_schedulers_are_counted():
    parts = made(lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.StepLR(o, 1, 0.5)]))
    train(*parts, 12, 3)
    np.testing.assert_array_equal(parts[2].planned(6), [0.0625] * 3 + [0.03125] * 3)


def test_how_often_a_scheduler_steps_is_in_the_state():
    first = made()
    train(*first, 17, 5)
    again = made()
    again[1].load_state_dict(first[1].state_dict())
    again[0].load_state_dict(first[0].state_dict())
    again[2].load_state_dict(first[2].state_dict())
    np.testing.assert_array_equal(again[2].planned(20), first[2].planned(20))
    assert list(first[2].planned(4)) == [0.125, 0.125, 0.125, 0.0625]


@pytest.mark.parametrize("control", [False, True])
def test_the_log_has_the_rate_that_the_step_used(control):
    optimizer, scheduler, watch = made(control=control, budget=1000)
    rates = train(optimizer, scheduler, watch, 10, scheduler_first=True)
    np.testing.assert_array_equal(watch.columns()["rate"], rates)
    watch.step(1.0)  # without a step of the optimizer
    assert watch.columns()["rate"][-1] == optimizer.param_groups[0]["lr"]
    watch.close()
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks


@pytest.mark.parametrize("with_scheduler", [False, True])
def test_the_group_with_the_largest_rate_at_the_beginning_counts(with_scheduler):
    optimizer, scheduler, watch = made(rates=(0.0, 0.5, 0.25))
    if not with_scheduler:
        watch = Watch(optimizer)
    optimizer.param_groups[2]["lr"] = 4.0
    optimizer.step()
    watch.step(1.0)
    assert watch.columns()["rate"][0] == 0.5 and watch.planned(1)[0] == (0.25 if with_scheduler else 0.5)
    again = Watch(optimizer, scheduler=scheduler if with_scheduler else None)
    again.load_state_dict(watch.state_dict())
    assert again.rates.group == 1


def test_in_a_warmup_from_0_the_rate_that_it_leads_to_counts():
    _, _, watch = made(lambda o: lr_scheduler.LambdaLR(o, lambda k: k / 10), rates=(0.0, 0.5))
    assert watch.rates.group == 1


def test_one_watch_controls_an_optimizer():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    first = Watch(optimizer, budget=100, control=True)
    with pytest.raises(kolmo.InvalidArgument, match=r"another watch with control=True is on this optimizer.*close\(\) that one"):
        Watch(optimizer, budget=100, control=True)
    Watch(optimizer, budget=100)
    first.close()
    xor_step(model, optimizer, Watch(optimizer, budget=100, control=True))


def test_an_optimizer_without_hooks_can_be_watched():
    class Wrapper(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner

        @property
        def param_groups(self):
            return self.inner.param_groups

    optimizer = Wrapper(torch.optim.SGD(net().parameters(), 0.1))
    watch = Watch(optimizer)
    watch.step(1.0)
    assert watch.columns()["rate"][0] == 0.1
    with pytest.raises(kolmo.InvalidArgument, match="Wrapper has none"):
        Watch(optimizer, budget=10, control=True)


def test_a_step_inside_averaged_is_refused_before_it_is_recorded():
    watch = Watch(torch.optim.SGD(net().parameters(), 0.1))
    watch.step(1.0)
    with watch.averaged(), pytest.raises(RuntimeError, match="a step inside averaged"):
        watch.step(1.0)
    assert watch.steps == len(watch.columns()["loss"]) == 1
