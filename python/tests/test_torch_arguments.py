"""What Watch and its forecasts refuse, and what a target means without an evaluation."""
import copy
import math
import pickle
import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from kolmo import InvalidArgument  # noqa: E402
from kolmo.predict import Watch  # noqa: E402


def watched(steps=0, loss=lambda step: 2 + 1 / step, **arguments):
    weight = torch.nn.Parameter(torch.zeros(3))
    watch = Watch(torch.optim.SGD([weight], 0.1), **arguments)
    for step in range(1, steps + 1):
        weight.grad = torch.ones(3)
        watch.optimizer.step()
        watch.step(loss(step))
        if watch.done:
            break
    return watch


@pytest.mark.parametrize("argument", [{"target": math.nan}, {"target": math.inf}, {"target": "low"}, {"budget": 0}, {"budget": -5},
                                      {"budget": 10.5}, {"warmup": -1}, {"warmup": None}, {"every": 0}, {"every": 2.5}, {"stride": 1.5},
                                      {"stride": 0}, {"stride": True}, {"budget": True}, {"target": True}, {"target": torch.ones(2)},
                                      {"target": np.ones(1)}, {"target": torch.tensor(math.nan)}])
def test_arguments_that_cannot_be_are_named(argument):
    with pytest.raises(InvalidArgument, match=next(iter(argument))):
        watched(**argument)


def test_a_target_that_no_forecast_can_tell_of_is_warned_of():
    for target in (0, -1.5):
        with pytest.warns(UserWarning, match=f"the target is {target}; forecasts are of the logarithm"):
            watched(target=target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched(target=0.1)


@pytest.mark.parametrize("argument", [{"horizon": 0}, {"horizon": 2.5}, {"target": 0}, {"target": math.nan}, {"decay_at": "later", "length": 5},
                                      {"decay_at": math.nan, "length": 5}, {"decay_at": "now", "length": 0}, {"decay_at": "now", "length": 1.5}])
def test_forecasts_name_what_cannot_be(argument):
    watch = watched(50)
    with pytest.raises(InvalidArgument, match="length" if "length" in argument and argument["decay_at"] == "now" else next(iter(argument))):
        watch.forecast(**argument)


@pytest.mark.parametrize("control", [False, True])
def test_without_an_evaluation_the_mean_training_loss_reaches_the_target(control):
    """The loss is 2 + 1/step on average, and every second one is far below the target."""
    def loss(step):
        return 2 + 1 / step + (0.5 if step % 2 else -0.5)
    watch = watched(1000, loss, target=2.01, control=control, overhead=None)
    assert watch.done and 100 < watch.steps < 200  # the mean of 50 steps from s is 2 + 1/(s + 25)
    assert watch.decisions[-1].action == "stop" and watch.decisions[-1].reason == "the mean training loss reached the target"


def test_a_held_out_loss_that_was_reported_counts_alone():
    watch = watched(90, target=2.5, warmup=100)
    watch.validated(2.9)
    weight = watch.optimizer.param_groups[0]["params"][0]
    for _ in range(200):
        weight.grad = torch.ones(3)
        watch.optimizer.step()
        watch.step(2.0)
    assert not watch.done
    watch.validated(2.4)
    assert watch.done


def test_a_target_may_be_a_tensor_or_an_array_without_dimensions():
    for target in (torch.tensor(2.5), np.array(2.5), np.float32(2.5)):
        watch = watched(50, target=target)
        assert watch.target == 2.5 and type(watch.target) is float
        assert watch.forecast(target=target).document["time_to_target"]["target"] == 2.5


def test_a_loss_of_an_average_that_is_not_carried_is_refused():
    watch = watched(1)
    with pytest.raises(InvalidArgument, match="there is no average 'foo'; there are power:0.1"):
        watch.validated(2.0, average="foo")
    with pytest.raises(InvalidArgument, match="there are no averages"):
        watched(1, average=False).validated(2.0, average="power:0.1")
    assert watch.log.validations == []


def test_a_loss_may_be_reported_before_the_first_step():
    watch = watched()
    watch.validated(2.0)
    assert len(watch.columns()["loss"]) == 0
    watch.step(3.0)
    assert list(watch.columns()["validation"]) == [2.0]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_watch_is_saved_by_its_state(copied):
    with pytest.raises(TypeError, match=r"save its state_dict\(\)"):
        copied(watched())


@pytest.mark.parametrize("part", ["averages", "log", "controller", "schedule", "group", "core", "snapshots"])
def test_a_state_with_a_bad_part_changes_nothing(part):
    def make(steps):
        parameters = [torch.nn.Parameter(torch.zeros(3))]
        optimizer = torch.optim.SGD(parameters, 0.1)
        watch = Watch(optimizer, scheduler=torch.optim.lr_scheduler.StepLR(optimizer, 5), target=1.0, control=True, warmup=20)
        for step in range(steps):
            parameters[0].data += step
            optimizer.step()
            watch.step(2.0)
        return watch

    def text(watch):
        return re.sub(r'"charges".*?"decay"', "", str(watch.state_dict()))  # seconds, which pass

    state, watch = make(50).state_dict(), make(30)
    was = text(watch)
    (state["controller"] if part in ("core", "snapshots") else state)[part] = {"core": "{}", "snapshots": [{"step": 0}]}.get(part, {"bad": 1})
    with pytest.raises((InvalidArgument, KeyError, TypeError)):
        watch.load_state_dict(state)
    assert text(watch) == was
    watch.load_state_dict(make(50).state_dict())
    assert watch.steps == len(watch.log) == watch.averages.steps == 50
