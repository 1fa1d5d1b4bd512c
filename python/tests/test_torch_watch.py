"""kolmo.predict.Watch: what it records, forecasts and averages, and that it leaves a training alone."""
import csv
import json
import math
import urllib.request

import kolmo
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Watch  # noqa: E402
from kolmo.predict.outlook import outlook_of  # noqa: E402
from kolmo.predict.schedule import scheduled  # noqa: E402
from predict_data import forecaster, loss_of, net, same, weights, xor_step  # noqa: E402

OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, 0.3, momentum=0.9, nesterov=True),
    "AdamW": lambda p: torch.optim.AdamW(p, 1e-2),
    "AdamW, foreach": lambda p: torch.optim.AdamW(p, 1e-2, foreach=True),
    "AdamW, a tensor as the rate": lambda p: torch.optim.AdamW(p, torch.tensor(1e-2), foreach=False),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 1e-3),
    "Adagrad": lambda p: torch.optim.Adagrad(p, 1e-2),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_watched_training_has_the_same_bits(name):
    def train(watched):
        model = net()
        optimizer = OPTIMIZERS[name](model.parameters())
        torch.manual_seed(3)
        watch = Watch(optimizer, target=1e-9, budget=260, average=["power:0.1", "exponential:0.9"], model=model, every=20,
                      evaluate=lambda: loss_of(model) + 0 * torch.rand(()), forecaster=forecaster(hold=lambda a: 0.5),
                      warmup=50, overhead=None) if watched else None
        losses = []
        for step in range(250):
            losses.append(xor_step(model, optimizer, watch))
            if watched and step % 50 == 49:
                with watch.averaged("exponential:0.9"):
                    watch.validated(loss_of(model))
                watch.forecast(decay_at="now", length=20)
        return losses, weights(model), watch

    plain, plain_weights, _ = train(False)
    losses, with_watch, watch = train(True)
    assert losses == plain and same(with_watch, plain_weights)
    assert len(watch.decisions) >= 5 and watch.seconds["evaluations"] > 0 and not watch.done
    np.testing.assert_array_equal(watch.columns()["loss"], losses)


def test_the_log_has_rates_norms_and_validations(tmp_path):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.5)
    watch = Watch(optimizer)
    norms = {}
    for step in range(1, 108):
        loss = xor_step(model, optimizer)
        if step % 50 == 0:
            norms[step] = float(torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]))
        watch.step(loss)
        scheduler.step()
        if step == 100:
            watch.validated(0.25)
            with watch.averaged():
                watch.validated(torch.tensor(0.125))
    columns = watch.columns()
    assert list(columns["step"]) == list(range(1, 108))
    np.testing.assert_array_equal(columns["rate"], 0.5 * 0.5 ** (np.arange(107) // 10))
    assert set(np.unique(columns["gradient_norm"])) == set(norms.values()) and columns["gradient_norm"][60] == norms[50]
    assert columns["validation"][99] == 0.25 and columns["averaged"][99] == 0.125 and np.isnan(columns["averaged"]).sum() == 106
    watch.write_csv(tmp_path / "run.csv")
    rows = list(csv.DictReader((tmp_path / "run.csv").read_text().splitlines()))
    assert [float(r["loss"]) for r in rows] == list(columns["loss"]) and rows[0]["gradient_norm"] == ""
    assert float(rows[49]["gradient_norm"]) == norms[50] and [p.name for p in tmp_path.iterdir()] == ["run.csv"]


def test_accumulated_batches_count_as_one_step():
    model = net()
    watch = Watch(torch.optim.SGD(model.parameters(), 0.1))
    for loss in (1.0, torch.tensor(2.0, requires_grad=True), 6.0):
        watch.add(loss)
    watch.step(gradient_norm=torch.tensor(5.0))
    watch.step(4)
    assert list(watch.columns()["loss"]) == [3, 4] and list(watch.columns()["gradient_norm"]) == [5, 5] and watch.steps == 2
    with pytest.raises(kolmo.InvalidArgument, match="without a loss there must be losses of add"):
        watch.step()
    with pytest.raises(ValueError, match=r"a loss is one number, not a tensor of shape \(3,\)"):
        watch.step(torch.zeros(3))


def test_plans_reach_the_forecaster():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    watch = Watch(optimizer, forecaster=forecaster())
    with pytest.raises(kolmo.InvalidArgument, match="there was no step yet"):
        watch.forecast()
    for _ in range(7):
        watch.step(1.0)
    np.testing.assert_array_equal(watch.forecast(horizon=3).plan, [0.5] * 3)
    np.testing.assert_array_equal(watch.forecast(decay_at="now", length=4).plan, [0.5, 0.375, 0.25, 0.125])
    np.testing.assert_array_equal(watch.forecast(decay_at=9, length=2).plan, [0.5, 0.5, 0.5, 0.25])
    np.testing.assert_array_equal(watch.forecast(decay_at=8, length=2, horizon=5).plan, [0.5, 0.5, 0.25, 0, 0])
    assert watch.forecast(decay_at="now", length=4).step[-1] == 11
    with pytest.raises(kolmo.InvalidArgument, match="decay_at is 3, and 7 steps are over"):
        watch.forecast(decay_at=3, length=2)
    with pytest.raises(kolmo.InvalidArgument, match="a decay has a length"):
        watch.forecast(decay_at="now")
    with pytest.raises(kolmo.InvalidArgument, match=r"there are 0 losses of power:0.1; report them by validated\(\) inside averaged"):
        watch.forecast(of="power:0.1")
    with pytest.raises(kolmo.InvalidArgument, match="there is no average 'pow'"):
        watch.forecast(of="pow")


SCHEDULERS = {
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 50),
    "one cycle": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.5, total_steps=60),
    "exponential": lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
    "function": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda k: 1 / (1 + k)),
    "sequence": lambda o: torch.optim.lr_scheduler.SequentialLR(
        o, [torch.optim.lr_scheduler.LinearLR(o, 0.1, 1, 10), torch.optim.lr_scheduler.CosineAnnealingLR(o, 50)], [10]),
}


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler")
@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("name", SCHEDULERS)
def test_the_rates_of_a_scheduler_are_known_in_advance(name):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    scheduler = SCHEDULERS[name](optimizer)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
    before = scheduler.state_dict()
    known = scheduled(scheduler, 40)
    assert optimizer.param_groups[0]["lr"] == known[0]
    now = scheduler.state_dict()
    assert str({k: v for k, v in now.items() if not k.startswith("_sched")}) == str({k: v for k, v in before.items() if not k.startswith("_sched")})
    for rate in known:
        assert optimizer.param_groups[0]["lr"] == rate
        optimizer.step()
        scheduler.step()


def test_rates_that_depend_on_losses_to_come_are_refused():
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD(net().parameters(), 0.5))
    with pytest.raises(kolmo.InvalidArgument, match="ReduceLROnPlateau chooses rates by the losses that come"):
        scheduled(scheduler, 5)


def test_quantiles_between_levels_and_steps():
    outlook = outlook_of(forecaster(hold=lambda a: 2 - a / 10, spread=0.45)([{}] and {"step": [0], "loss": 0, "rate": 0}, plan=[1] * 10, horizon=10), 0)
    assert outlook.median(4) == pytest.approx(1.6) and outlook.median(4.5) == pytest.approx(1.55)
    assert outlook.quantile(0.75, 4) == pytest.approx(1.85)
    assert outlook.probability_below(1.85, 4) == pytest.approx(0.75)
    assert outlook.probability_below(0, 4) == pytest.approx(0.025) and outlook.probability_below(9, 4) == pytest.approx(0.975)
    assert outlook.reaches(1.55) == 5 and outlook.reaches(0.5) == math.inf


def test_mixed_precision_with_a_scaler():
    def train(watched):
        model = net()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024)
        watch = Watch(optimizer, state=[scaler]) if watched else None
        torch.manual_seed(3)
        for _ in range(60):
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(model, torch.randint(32, (16,)))
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            if watched:
                watch.step(loss)
        return weights(model), watch

    plain, _ = train(False)
    with_watch, watch = train(True)
    assert same(plain, with_watch)
    assert 0 < watch.columns()["gradient_norm"][-1] < 5  # after scaler.step() gradients have their own scale again


def test_a_compiled_model_sees_averaged_weights():
    model = net()
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    watch = Watch(optimizer, stride=1)
    for _ in range(30):
        xor_step(compiled, optimizer, watch)
    here = compiled(torch.ones(1, 2)).item()
    with watch.averaged():
        there = compiled(torch.ones(1, 2)).item()
        assert there == model(torch.ones(1, 2)).item()
    assert here != there and compiled(torch.ones(1, 2)).item() == here


def test_statistics_of_batch_norm_are_averaged_with_the_model():
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch = Watch(optimizer, model=model, stride=1)
    for k in range(20):
        model(torch.randn(8, 2) + k).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        watch.step(1.0)
    was = {k: v.clone() for k, v in model.state_dict().items()}
    with watch.averaged():
        assert not torch.equal(model[1].running_mean, was["1.running_mean"])
        assert model[1].num_batches_tracked == was["1.num_batches_tracked"]
        torch.optim.swa_utils.update_bn([torch.randn(8, 2)], model)
    for k, v in model.state_dict().items():
        assert k.endswith("num_batches_tracked") or torch.equal(v, was[k])


def test_parameters_come_and_freeze_and_the_batch_changes():
    model, more = net(), torch.nn.Linear(1, 1)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    watch = Watch(optimizer, forecaster=forecaster(), budget=400, every=50, warmup=20, overhead=None)
    torch.manual_seed(3)
    for step in range(300):
        if step == 100:
            optimizer.add_param_group({"params": more.parameters()})
        if step == 150:
            model[0].weight.requires_grad_(False)
        rows = torch.randint(32, (8 if step < 200 else 64,))
        loss = torch.nn.functional.mse_loss(more(model(torch.randn(len(rows), 2))), torch.zeros(len(rows), 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
    was = weights(model) + weights(more)
    with watch.averaged():
        assert not torch.equal(more.weight, was[-2])
    assert same(weights(model) + weights(more), was) and len(watch.columns()["loss"]) == 300
    state = watch.state_dict()
    again = Watch(optimizer, budget=400, every=50, warmup=20)
    again.load_state_dict(state)
    assert same(again.averages.values(), watch.averages.values())


def test_a_killed_training_goes_on_bit_by_bit(tmp_path):
    def make():
        model = net()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 300)
        watch = Watch(optimizer, average=["power:0.1", "exponential:0.95"], scheduler=scheduler, budget=1000, every=30, warmup=40,
                      stride=3, forecaster=forecaster(), overhead=None)
        return model, optimizer, scheduler, watch

    def train(parts, steps):
        model, optimizer, scheduler, watch = parts
        for _ in range(steps):
            xor_step(model, optimizer, watch)
            scheduler.step()

    torch.manual_seed(3)
    whole = make()
    torch.manual_seed(4)
    train(whole, 104)
    file = tmp_path / "state.pt"
    torch.save([p.state_dict() for p in whole] + [torch.get_rng_state()], file)
    train(whole, 83)

    parts = make()
    *states, random = torch.load(file, weights_only=True)
    for part, state in zip(parts, states, strict=True):
        part.load_state_dict(state)
    torch.set_rng_state(random)
    train(parts, 83)
    assert same(weights(parts[0]), weights(whole[0]))
    for name in whole[3].averages.names:
        assert same(parts[3].averages.values(name), whole[3].averages.values(name))
    a, b = parts[3].columns(), whole[3].columns()
    assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)
    assert [str(d) for d in parts[3].decisions] == [str(d) for d in whole[3].decisions]


def test_states_that_do_not_fit_are_refused():
    optimizer = torch.optim.SGD(net().parameters(), 0.5)
    state = Watch(optimizer, average=False).state_dict()
    with pytest.raises(kolmo.InvalidArgument, match="averages are in one of state and watch only"):
        Watch(optimizer).load_state_dict(state)
    with pytest.raises(kolmo.InvalidArgument, match="the state has version 7"):
        Watch(optimizer).load_state_dict({**state, "version": 7})
    with pytest.raises(kolmo.InvalidArgument, match="there are no averages; make it with average=True"):
        Watch(optimizer, average=False).averaged()
    with pytest.raises(kolmo.InvalidArgument, match="control=True needs target= .* or budget="):
        Watch(optimizer, control=True)
    with pytest.raises(kolmo.InvalidArgument, match="overhead is a share"):
        Watch(optimizer, overhead=0)


def test_decisions_cost_no_more_than_the_share_of_the_wall_time_that_they_may():
    """Each forecast takes 2 ms here, so that without the guard the share would be above a half."""
    import time
    quick = forecaster()

    def slow(log, **options):
        time.sleep(0.002)
        return quick(log, **options)

    optimizer = torch.optim.SGD(net().parameters(), 0.5)
    watch = Watch(optimizer, target=0.1, warmup=20, every=10, forecaster=slow, overhead=0.05)
    for _ in range(1000):
        time.sleep(0.001)
        watch.step(1.0)
    assert 1 <= len(watch.decisions) < 50 and watch.seconds["forecasts"] <= 0.05 * watch.wall


def test_losses_on_a_device_are_fetched_in_blocks(monkeypatch):
    """A tensor of another device stays a tensor for a block of steps, and reads of single losses would raise."""
    from kolmo.predict import record
    kept = []
    monkeypatch.setattr(record, "scalar", lambda v: v if isinstance(v, float) else kept.append(v) or v.detach().clone())
    monkeypatch.setattr("kolmo.predict.watch.scalar", record.scalar)
    watch = Watch(torch.optim.SGD(net().parameters(), 0.5), average=False)
    for step in range(19):
        watch.step(torch.tensor(float(step)))
        assert len(watch.log) == (step + 1) // 10 * 10
    assert list(watch.columns()["loss"]) == list(range(19)) and len(kept) == 19


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_step_does_not_wait_for_a_gpu():
    model = torch.nn.Linear(4, 1, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch = Watch(optimizer)
    losses = []
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(35):
            loss = model(torch.ones(8, 4, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            watch.step(loss)
            losses.append(loss.detach())
    finally:
        torch.cuda.set_sync_debug_mode("default")
    np.testing.assert_array_equal(watch.columns()["loss"], [float(v) for v in losses])


def test_the_forecasts_of_kolmo_take_what_a_watch_has():
    """The loss is 1 + 2 / sqrt(step) and its averages are 0.1 below; all forecasts go on so, and know the target's time."""
    watch = Watch(torch.optim.SGD(net().parameters(), 0.1), target=1.09)
    for step in range(1, 401):
        watch.step(1 + 2 * step ** -0.5, gradient_norm=1.0)
        if step % 20 == 0:
            watch.validated(1 + 2 * step ** -0.5)
            watch.validated(0.9 + 2 * step ** -0.5, "power:0.1")
    for of, below in (("training", 0.0), ("validation", 0.0), ("power:0.1", 0.1)):
        forecast = watch.forecast(horizon=200, of=of)
        assert forecast.driver and forecast.step[-1] == 600 and forecast.rate[-1] == pytest.approx(0.1)
        assert forecast.median[-1] == pytest.approx(1 - below + 2 * 600 ** -0.5, rel=0.01)
    assert watch.forecast(horizon=200).time_to(1.09)["median"] == pytest.approx(494, abs=40)  # 1 + 2 / sqrt(step) is 1.09 there
    decay = watch.forecast(decay_at=450, length=100)
    assert decay.step[-1] == 550 and decay.rate[-1] < 0.02 and decay.low[-1] < decay.median[-1] < decay.high[-1]
    for horizon in (10 ** 9, -1):
        with pytest.raises(kolmo.InvalidArgument, match="can be forecast"):
            watch.forecast(horizon=horizon)


def test_the_monitor_shows_what_becomes_of_a_training():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = Watch(optimizer, name="of the monitor", forecaster=forecaster(lambda ahead: 2.0, spread=0.9))
    losses = [xor_step(model, optimizer, watch) for _ in range(25)]
    watch.forecast(horizon=40)

    def shown(name):
        return {r["labels"].get("quantile"): r["value"] for r in kolmo.monitor.metrics()[f"kolmo_training_{name}"]
                if r["labels"]["run"] == "of the monitor"}

    assert shown("step") == {None: 20} and shown("rate") == {None: 0.1}
    assert shown("loss")[None] == pytest.approx(np.mean(losses[10:20]), rel=1e-12)
    assert shown("forecast_step") == {None: 65}
    assert shown("forecast_loss") == pytest.approx({"0.05": 1.1, "0.5": 2.0, "0.95": 2.9})
    with kolmo.monitor.serve() as server:
        with urllib.request.urlopen(server.url + "api/v1/snapshot") as answer:
            seen = {t["run"]: t for t in json.load(answer)["training"]}
        assert seen["of the monitor"]["step"] == 20 and seen["of the monitor"]["forecast_loss"]["0.5"] == 2.0
