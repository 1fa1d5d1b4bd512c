"""The callbacks of kolmo.predict with Lightning, transformers and Optuna themselves, and TensorBoard's own files; tools/test_peers.sh has
them."""
import kolmo
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from kolmo.predict import Watch  # noqa: E402
from predict_data import X, Y, forecaster, net, same, weights  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture(scope="module")
def lightning():
    return pytest.importorskip("lightning.pytorch", reason="Lightning is not installed")


@pytest.fixture(scope="module")
def transformers():
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    return pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.fixture(scope="module")
def optuna():
    return pytest.importorskip("optuna", reason="Optuna is not installed")


def fit(lightning, callbacks, tmp_path, epochs=20, accumulate=1, checkpoint=None, **options):
    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.losses, self.seen = net(), [], []

        def loss(self, batch):
            return torch.nn.functional.binary_cross_entropy_with_logits(self.net(batch[0])[:, 0], batch[1])

        def training_step(self, batch, index):
            loss = self.loss(batch)
            self.losses.append(loss.item())
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", self.loss(batch))
            self.seen = weights(self.net)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), 1e-2)

    data = torch.utils.data.TensorDataset(X, Y)
    module = Module()
    trainer = lightning.Trainer(max_epochs=epochs, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
                                callbacks=callbacks, accumulate_grad_batches=accumulate, default_root_dir=tmp_path, check_val_every_n_epoch=5,
                                enable_checkpointing=False, **options)
    torch.manual_seed(0)
    trainer.fit(module, torch.utils.data.DataLoader(data, 8, shuffle=True), torch.utils.data.DataLoader(data, 32), ckpt_path=checkpoint)
    return trainer, module


def test_lightning_is_watched_and_left_alone(lightning, tmp_path):
    from kolmo.predict.lightning import WatchCallback
    _, plain = fit(lightning, [], tmp_path)
    callback = WatchCallback(validate_average="power:0.1", average=["power:0.05", "power:0.1"], stride=2)
    _, module = fit(lightning, [callback], tmp_path)
    assert module.losses == plain.losses and same(weights(module), weights(plain))
    np.testing.assert_array_equal(callback.watch.columns()["loss"], module.losses)
    assert [(step, of) for step, _, of in callback.watch.log.validations] == [(20 * k, "power:0.1") for k in (1, 2, 3, 4)]
    assert same(module.seen, callback.watch.averages.values("power:0.1")) and not same(weights(module), module.seen)


def test_lightning_accumulates(lightning, tmp_path):
    from kolmo.predict.lightning import WatchCallback
    callback = WatchCallback()
    _, module = fit(lightning, [callback], tmp_path, accumulate=2)
    want = np.array(module.losses).reshape(-1, 2).mean(1)
    np.testing.assert_allclose(callback.watch.columns()["loss"], want, rtol=1e-6)  # divided and multiplied by 2 in single precision


def test_lightning_goes_on_from_a_checkpoint(lightning, tmp_path):
    from kolmo.predict.lightning import WatchCallback
    first, again = WatchCallback(), WatchCallback()
    trainer, _ = fit(lightning, [first], tmp_path, epochs=10)
    trainer.save_checkpoint(tmp_path / "half.ckpt")
    fit(lightning, [again], tmp_path, epochs=20, checkpoint=tmp_path / "half.ckpt")
    assert again.watch.steps == 80 and first.watch.steps == 40
    np.testing.assert_array_equal(again.watch.columns()["loss"][:40], first.watch.columns()["loss"])


def test_lightning_stops_when_the_watch_does(lightning, tmp_path):
    from kolmo.predict.lightning import WatchCallback
    callback = WatchCallback(control=True, target=1e-9, budget=50, forecaster=forecaster())
    trainer, _ = fit(lightning, [callback], tmp_path)
    assert trainer.global_step == 50 and callback.watch.done


def gpt2(transformers, callback, folder, accumulate=1, steps=30, **options):
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    rows = torch.randint(64, (64, 16), generator=torch.Generator().manual_seed(1))
    data = [{"input_ids": r, "labels": r} for r in rows]
    arguments = transformers.TrainingArguments(folder, max_steps=steps, per_device_train_batch_size=4, learning_rate=1e-3, report_to=[], logging_steps=1,
                                               gradient_accumulation_steps=accumulate, use_cpu=True, disable_tqdm=True, save_strategy="steps",
                                               save_steps=20, seed=3, **options)
    trainer = transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data[:8], callbacks=[callback] if callback else [])
    return trainer


@pytest.mark.parametrize("accumulate", [1, 2])
def test_transformers_is_watched_and_left_alone(transformers, tmp_path, accumulate):
    from kolmo.predict.transformers import WatchCallback
    plain = gpt2(transformers, None, tmp_path / "a", accumulate)
    plain.train()
    callback = WatchCallback(stride=1)
    watched = gpt2(transformers, callback, tmp_path / "b", accumulate)
    watched.train()
    assert same(weights(plain.model), weights(watched.model))
    logged = [row["loss"] for row in watched.state.log_history if "loss" in row]
    np.testing.assert_allclose(callback.watch.columns()["loss"], logged, rtol=1e-5)  # the trainer adds in single precision
    rates = [row["learning_rate"] for row in watched.state.log_history if "loss" in row]
    assert len(rates) == 30
    with callback.watch.averaged():
        trained = watched.evaluate()["eval_loss"]
    assert callback.watch.log.validations == [(30, trained, "power:0.1")]


def test_transformers_goes_on_from_a_checkpoint(transformers, tmp_path):
    from kolmo.predict.transformers import WatchCallback
    whole, half, again = WatchCallback(), WatchCallback(), WatchCallback()
    gpt2(transformers, whole, tmp_path / "a").train()
    trainer = gpt2(transformers, half, tmp_path / "b")
    trainer.train()
    rest = gpt2(transformers, again, tmp_path / "b")
    rest.train(resume_from_checkpoint=str(tmp_path / "b/checkpoint-20"))
    assert same(again.watch.averages.values(), whole.watch.averages.values())
    np.testing.assert_array_equal(again.watch.columns()["loss"], whole.watch.columns()["loss"])


def test_transformers_stops_when_the_watch_does(transformers, tmp_path):
    from kolmo.predict.transformers import WatchCallback
    callback = WatchCallback(control=True, budget=20, forecaster=forecaster())
    trainer = gpt2(transformers, callback, tmp_path)
    trainer.train()
    assert trainer.state.global_step == 20


def test_the_pruner_keeps_what_may_win(optuna):
    """Trials fall as bottom + 1 / step; the forecast is that law. Those whose bottom is above the best quarter are stopped."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    from kolmo.predict.optuna import ForecastPruner

    def law(log, *, plan, horizon, target, store):
        bottom = log["loss"][-1] - 1 / log["step"][-1]
        return forecaster(hold=lambda a: bottom + 1 / (log["step"][-1] + a), spread=0.01)(log, plan=plan, horizon=horizon)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=ForecastPruner(100, forecaster=law))

    def objective(trial):
        bottom = trial.suggest_float("bottom", 0, 1)
        for step in range(1, 101):
            trial.report(bottom + 1 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return bottom + 0.01

    study.optimize(objective, n_trials=40)
    pruned = [t for t in study.trials if t.state == optuna.trial.TrialState.PRUNED]
    complete = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    assert len(pruned) >= 15 and all(len(t.intermediate_values) == 10 for t in pruned)
    assert study.best_params["bottom"] == min(t.params["bottom"] for t in study.trials)
    assert all(t.params["bottom"] > sorted(c.params["bottom"] for c in complete)[0] for t in pruned)


def test_the_pruner_hears_planned_rates_and_refuses_what_it_cannot_do(optuna):
    from kolmo.predict.optuna import ForecastPruner
    heard = []

    def listen(log, *, plan, horizon, target, store):
        heard.append((list(log["rate"]), list(plan), horizon))
        return forecaster()(log, plan=plan, horizon=horizon)

    study = optuna.create_study(pruner=ForecastPruner(4, startup=1, least=2, forecaster=listen))

    def objective(trial):
        trial.set_user_attr("rates", [4.0, 3.0, 2.0, 1.0])
        for step in range(1, 5):
            trial.report(1.0, step)
            trial.should_prune()
        return 1.0

    study.optimize(objective, n_trials=2)
    assert heard == [([4, 3], [2, 1], 2), ([4, 3, 2], [1], 1)]
    with pytest.raises(kolmo.InvalidArgument, match="steps and startup are at least 1"):
        ForecastPruner(0)
    up = optuna.create_study(direction="maximize", pruner=ForecastPruner(4))
    trial = up.ask()
    trial.report(1.0, 1)
    with pytest.raises(kolmo.InvalidArgument, match="direction='minimize'"):
        trial.should_prune()
    nan = optuna.create_study(pruner=ForecastPruner(4)).ask()
    nan.report(float("nan"), 1)
    assert nan.should_prune()


def test_wrapped_optimizers_are_unwrapped():
    class Wrapper(torch.optim.Optimizer):
        def __init__(self, optimizer):
            self.optimizer = optimizer

    inner = torch.optim.SGD(net().parameters(), 0.1)
    assert Watch(Wrapper(Wrapper(inner))).optimizer is inner


def test_what_torch_writes_for_tensorboard_is_forecast(tmp_path):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from torch.utils.tensorboard import SummaryWriter
    losses = [4 * step**-0.3 for step in range(1, 401)]
    with SummaryWriter(tmp_path / "run") as writer:
        for step, loss in enumerate(losses, 1):
            writer.add_scalar("train/loss", loss, step)
            writer.add_scalar("train/lr", 0.01, step)
    log = kolmo.predict.read_log(tmp_path / "run")
    assert (log.last_step, log.last_rate) == (400, np.float32(0.01))
    f = kolmo.predict.forecast(tmp_path / "run", horizon=100)
    assert f.median[-1] == pytest.approx(4 * 495**-0.3, rel=2e-3)
