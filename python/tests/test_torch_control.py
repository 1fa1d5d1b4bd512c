"""kolmo.predict.Watch with control=True: phases, decays, rollbacks and alarms. XOR is the first rung of the ladder."""
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Watch  # noqa: E402
from kolmo._kolmo import alarm_of  # noqa: E402
from predict_data import Cursor, forecaster, loss_of, net, same, weights, xor_step  # noqa: E402


def controlled(*, target=None, budget=None, forecast, evaluate=True, every=20, rate=1e-2, warmup=None, **options):
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), rate)
    watch = Watch(optimizer, target=target, budget=budget, control=True, forecaster=forecast, every=every, warmup=40 if warmup is None else warmup,
                  evaluate=(lambda: loss_of(model)) if evaluate is True else evaluate, overhead=None, **options)
    return model, optimizer, watch


def decays_help(least):
    """Decays end at `least`, and going on stays at 1."""
    return forecaster(hold=lambda a: 1.0, decayed=lambda a, length: least if a >= length else 1.0)


def run(model, optimizer, watch, steps, cursor=None):
    seen = []
    for _ in range(steps):
        if cursor is not None:
            cursor.next()
        xor_step(model, optimizer, watch)
        seen.append((watch.steps, watch.phase, watch.rates.factor))
        if watch.done:
            break
    return seen


def test_a_decay_that_reaches_the_target_is_kept():
    """XOR: warmup, full, predict, correct. The rate falls linearly from the step of the decision on."""
    torch.manual_seed(0)
    model, optimizer, watch = controlled(target=0.4, forecast=decays_help(0.3))
    rates = []
    optimizer.register_step_pre_hook(lambda o, a, k: rates.append(o.param_groups[0]["lr"]))  # after the watch's own hook
    seen = run(model, optimizer, watch, 400)
    decay = next(d for d in watch.decisions if d.action == "start decay")
    assert [p for _, p, _ in seen[:39]] == ["warmup"] * 39 and seen[39][1] != "warmup"
    assert decay.step == 40 and decay.length == 20 and decay.probability > 0.5 and decay.margin == pytest.approx(0.1)
    if decay.outcome["rolled_back"]:  # the first decays are too early, and are rolled back
        assert watch.charged > watch.steps
    final = watch.decisions[-1]
    assert watch.done and final.action in ("stop", "return the average") and final.reason == "the target is reached"
    assert min(final.outcome["losses"].values()) <= 0.4 and float(loss_of(model).detach()) <= 0.4
    start = decay.step
    np.testing.assert_allclose(rates[start:start + 20], 1e-2 * (1 - np.arange(20) / 20))
    assert optimizer.param_groups[0]["lr"] == 1e-2  # the scheduler's rate is as it was
    was = weights(model)
    xor_step(model, optimizer, watch)
    assert same(weights(model), was)  # a training that is over has the rate 0


def test_a_decay_that_misses_is_rolled_back_bit_by_bit_and_charged():
    """The state after the rollback is that of a training without control, and the same batches come again."""
    cursor, other = Cursor(), Cursor()
    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(1e-12), data=cursor, stride=1)
    seen = run(model, optimizer, watch, 60, cursor)
    decay = next(d for d in watch.decisions if d.action == "start decay")
    assert decay.outcome["rolled_back"] and decay.outcome["error"] == pytest.approx(decay.outcome["measured"] - 1e-12)
    assert watch.steps == 40 and watch.charged == 60 and cursor.place == 40 and seen[-1][1] == "full" and seen[-2][1] == "predict"
    assert watch.controller.offset == decay.outcome["error"] and len(watch.columns()["loss"]) == 40

    plain = net()
    plain_optimizer = torch.optim.AdamW(plain.parameters(), 1e-2)
    plain_watch = Watch(plain_optimizer, stride=1)
    run(plain, plain_optimizer, plain_watch, 40, other)
    assert same(weights(model), weights(plain)) and same(watch.averages.values(), plain_watch.averages.values())
    for p, q in zip(model.parameters(), plain.parameters(), strict=True):
        assert all(torch.equal(optimizer.state[p][k], plain_optimizer.state[q][k]) for k in optimizer.state[p])
    run(model, optimizer, watch, 1, cursor), run(plain, plain_optimizer, plain_watch, 1, other)
    assert same(weights(model), weights(plain))


@pytest.mark.parametrize("killed", [30, 47, 75])
def test_a_controlled_training_that_was_killed_goes_on_bit_by_bit(killed, tmp_path):
    """Killed in warmup, within a decay, and after its rollback."""
    def make():
        cursor = Cursor()
        return *controlled(target=1e-9, forecast=decays_help(1e-12), data=cursor, average=["power:0.1", "power:0.05"]), cursor

    whole = make()
    run(*whole[:3], killed, whole[3])
    torch.save([p.state_dict() for p in whole] + [torch.get_rng_state()], tmp_path / "state.pt")
    run(*whole[:3], 70, whole[3])
    parts = make()
    *states, random = torch.load(tmp_path / "state.pt", weights_only=True)
    for part, state in zip(parts, states, strict=True):
        part.load_state_dict(state)
    torch.set_rng_state(random)
    run(*parts[:3], 70, parts[3])
    assert same(weights(parts[0]), weights(whole[0])) and parts[3].place == whole[3].place
    assert [str(d) for d in parts[2].decisions] == [str(d) for d in whole[2].decisions]
    assert parts[2].charged == whole[2].charged and parts[2].steps == whole[2].steps
    assert same(parts[2].averages.values("power:0.05"), whole[2].averages.values("power:0.05"))


@pytest.mark.parametrize("killed", [330, 341])
def test_what_a_killed_training_may_go_back_to_is_in_its_state(killed, tmp_path):
    """Killed before and after a snapshot was verified; then the loss explodes."""
    whole, parts = (controlled(budget=10 ** 6, forecast=forecaster(), every=10 ** 5) for _ in range(2))
    run(*whole, killed)
    torch.save([p.state_dict() for p in whole] + [torch.get_rng_state()], tmp_path / "state.pt")
    states = torch.load(tmp_path / "state.pt", weights_only=True)
    for part, state in zip(parts, states[:3], strict=True):
        part.load_state_dict(state)
    for model, optimizer, watch in (whole, parts):
        torch.set_rng_state(states[3])
        run(model, optimizer, watch, 9)
        while watch.steps >= killed:
            watch.step(math.nan)
    alarm = whole[2].decisions[-1]
    assert alarm.action == "alarm" and 200 < alarm.outcome["returned_to"] < killed
    assert parts[2].decisions[-1].to_dict() == alarm.to_dict() and parts[2].steps == whole[2].steps
    assert same(weights(parts[0]), weights(whole[0])) and same(parts[2].averages.values(), whole[2].averages.values())


def test_within_a_budget_the_decay_ends_it():
    torch.manual_seed(0)
    model, optimizer, watch = controlled(budget=300, forecast=forecaster(decayed=lambda a, length: 1 - 0.3 * min(1, a / length)))
    run(model, optimizer, watch, 500)
    decay = next(d for d in watch.decisions if d.action == "start decay")
    assert decay.step + decay.length == 300 == watch.charged == watch.steps and watch.done and 60 <= decay.length <= 78
    assert watch.decisions[-1].reason == "the decay ends the budget"


def test_no_decay_where_going_on_is_as_good():
    torch.manual_seed(0)
    model, optimizer, watch = controlled(budget=300, forecast=forecaster(hold=lambda a: 1 - a / 1000, decayed=lambda a, n: 1 - a / 2000))
    run(model, optimizer, watch, 500)
    assert {d.action for d in watch.decisions[:-1]} == {"go on"} and watch.charged == 300
    assert watch.decisions[-1].action in ("stop", "return the average") and watch.decisions[-1].reason == "the budget is used up"


def test_the_average_is_returned_where_it_is_better():
    """A noisy oscillation around the optimum: the average is closer to it than any iterate."""
    w = torch.nn.Parameter(torch.ones(50))
    optimizer = torch.optim.SGD([w], 0.9)
    watch = Watch(optimizer, target=0.02, control=True, every=20, warmup=20, stride=1, overhead=None, evaluate=lambda: w.square().mean(),
                  forecaster=forecaster())
    torch.manual_seed(1)
    for _ in range(2000):
        optimizer.zero_grad()
        (0.5 * (w + torch.randn(50)).square().sum()).backward()
        optimizer.step()
        watch.step(1.0)
        if watch.done:
            break
    final = watch.decisions[-1]
    assert final.action == "return the average" and final.outcome["losses"][""] > 0.5 and final.margin > 0.5
    assert float(w.detach().square().mean()) <= 0.02  # the weights are the average now


def test_the_average_is_returned_also_if_its_loss_is_reported_inside_averaged():
    model, optimizer, watch = controlled(target=0.4, forecast=forecaster(), evaluate=None)
    run(model, optimizer, watch, 30)
    with watch.averaged():
        average = weights(model)
        watch.validated(0.3)
    assert watch.done and watch.decisions[-1].action == "return the average" and same(weights(model), average)


def test_averages_that_are_forecast_to_reach_the_target_first_are_waited_for():
    torch.manual_seed(0)
    model, optimizer, watch = controlled(target=1e-9, forecast=forecaster(hold=lambda a: 1e-9 * (1 if a < 10 else 0.5),
                                                                          decayed=lambda a, n: 0.5e-9 if a >= n else 1))
    run(model, optimizer, watch, 100)
    assert {d.action for d in watch.decisions} == {"go on"} and "without a decay the target is reached in 10 steps" in watch.decisions[0].reason


@pytest.mark.parametrize("where", ["full", "decay"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e9])
def test_after_a_bad_loss_the_last_verified_state_is_back(bad, where):
    torch.manual_seed(0)
    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(1e-12 if where == "decay" else 2.0), every=200, warmup=200)
    kept = {}
    for _ in range(215 if where == "decay" else 195):
        xor_step(model, optimizer, watch)
        kept[watch.steps] = weights(model)
    with torch.no_grad():
        for p in model[2].parameters():
            p.mul_(-bad)
    for _ in range(30):
        xor_step(model, optimizer, watch)
        if watch.decisions and watch.decisions[-1].action == "alarm":
            break
    alarm = watch.decisions[-1]
    assert alarm.action == "alarm" and alarm.outcome["returned_to"] in (100, 200) and alarm.outcome["rate_factor"] == 0.5
    assert ("not a finite number" in alarm.reason) == (not math.isfinite(bad)) and watch.phase != "predict"
    assert same(weights(model), kept[alarm.outcome["returned_to"]]) and np.isfinite(watch.columns()["loss"]).all()
    assert all(torch.isfinite(t).all() for t in watch.averages.values())
    run(model, optimizer, watch, 10)
    assert watch.columns()["rate"][-1] == pytest.approx(0.5e-2)


def test_a_training_that_keeps_failing_stops_in_its_last_verified_state():
    torch.manual_seed(0)
    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(2.0))
    run(model, optimizer, watch, 150)
    for _ in range(100):
        with torch.no_grad():
            model[0].weight.fill_(math.nan)
        xor_step(model, optimizer, watch)
        if watch.done:
            break
    assert [d.action for d in watch.decisions[-4:]] == ["alarm", "alarm", "alarm", "stop"] and watch.done
    assert all(torch.isfinite(p).all() for p in model.parameters())


def test_without_control_a_bad_loss_is_only_told():
    optimizer = torch.optim.SGD(net().parameters(), 0.1)
    watch = Watch(optimizer)
    for step in range(200):
        watch.step(1.0 + 0.01 * (step % 7) if step < 150 else math.nan)
    assert [(d.action, d.step) for d in watch.decisions] == [("alarm", 160)] and not watch.done


def test_a_layer_that_was_added_since_goes_back_to_what_it_was_added_with():
    torch.manual_seed(0)
    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(2.0))
    run(model, optimizer, watch, 155)
    more = torch.nn.Parameter(torch.tensor([3.0]))
    optimizer.add_param_group({"params": [more]})
    for _ in range(15):
        loss = loss_of(model) * (more / 3).sum() * math.nan
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
        if watch.decisions[-1].action == "alarm":
            break
    assert more.item() == 3 and all(torch.isfinite(p).all() for p in model.parameters())


def test_out_of_memory_in_an_evaluation_changes_nothing():
    def evaluate():
        raise torch.OutOfMemoryError("no memory")

    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(1e-12), evaluate=evaluate)
    plain = net()
    plain_optimizer = torch.optim.AdamW(plain.parameters(), 1e-2)
    torch.manual_seed(0)
    run(model, optimizer, watch, 60)
    torch.manual_seed(0)
    for _ in range(60):
        xor_step(plain, plain_optimizer)
    assert same(weights(model), weights(plain))
    assert {(d.action, d.reason) for d in watch.decisions} == {("go on", "there was no memory for the evaluation")}


def test_without_memory_for_a_snapshot_no_decay_starts(monkeypatch):
    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(1e-12))
    run(model, optimizer, watch, 30)

    def none(*_, **__):
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr("kolmo.predict.control.Snapshot", none)
    run(model, optimizer, watch, 30)
    assert {d.reason for d in watch.decisions} == {"there is no memory for the snapshot that a decay starts from"}
    assert watch.phase == "full" and set(watch.columns()["rate"]) == {1e-2}


def test_other_errors_of_an_evaluation_come_through_with_the_weights_as_they_were():
    calls = []

    def evaluate():
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        return 1.0

    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(2.0), evaluate=evaluate, stride=1)
    run(model, optimizer, watch, 39)
    with pytest.raises(ZeroDivisionError):
        xor_step(model, optimizer, watch)
    state = weights(model)
    with watch.averaged():
        assert not same(weights(model), state)
    assert same(weights(model), state)


def test_white_noise_raises_no_alarm_and_a_planted_drift_does():
    """200 logs of 3000 steps: none of white noise and of an autocorrelated one may trigger, which is below 1 % with 86 % confidence."""
    random = np.random.default_rng(0)
    looks = [int(40 * 1.25 ** n) for n in range(10)]
    false, found = 0, 0
    for _ in range(200):
        white = 1 + 0.3 * random.standard_normal(300)
        slow = np.zeros(300)
        for t in range(1, 300):
            slow[t] = 0.7 * slow[t - 1] + random.standard_normal()
        false += any(alarm_of(x[:n]) for n in [*looks, 300] for x in (white, 5 + slow) if n <= 300)
        found += any("drifts upwards" in alarm_of((white + np.arange(300) / 150)[:n]) for n in looks if n <= 300)
    assert false == 0 and found == 200


def test_white_noise_triggers_no_decay():
    """Losses that are white noise, and the forecast says what is true of them: neither way is better."""
    w = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([w], 0.1)
    watch = Watch(optimizer, budget=1000, control=True, every=20, warmup=50, overhead=None, forecaster=forecaster(spread=0.5))
    random = np.random.default_rng(1)
    for _ in range(990):
        watch.step(1 + 0.3 * random.standard_normal())
    assert len(watch.decisions) > 40 and {d.action for d in watch.decisions} == {"go on"}


def test_a_rollback_takes_the_scheduler_along():
    model = net()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    watch = Watch(optimizer, target=1e-9, control=True, scheduler=scheduler, every=20, warmup=40, overhead=None, evaluate=lambda: loss_of(model),
                  forecaster=lambda log, **plan: decays_help(1e-12)(log, **plan))
    for _ in range(60):
        xor_step(model, optimizer)
        scheduler.step()
        watch.step(1.0)
    rates = watch.columns()["rate"]
    assert watch.steps == 40 and scheduler.last_epoch == 40 and optimizer.param_groups[0]["lr"] == pytest.approx(1e-2 * 0.99 ** 40)
    np.testing.assert_allclose(rates, 1e-2 * 0.99 ** np.arange(40))


def test_a_closed_watch_leaves_the_optimizer():
    model, optimizer, watch = controlled(target=1e-9, forecast=decays_help(1e-12))
    run(model, optimizer, watch, 45)
    watch.close()
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks
    xor_step(model, optimizer)
