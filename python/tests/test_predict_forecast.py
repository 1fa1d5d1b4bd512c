"""kolmo.predict.forecast: the same forecast from a file, columns, and a log that grows; and what it says of itself."""
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import kolmo
import numpy as np
import pytest
from kolmo import predict

ROOT = Path(__file__).resolve().parents[2]
CURVES = Path(os.environ.get("KOLMO_TEST_DATA", ROOT / "../shared/data")) / "training_curves.npz"
COMMAND = os.environ.get("KOLMO_COMMAND")
sys.path.append(str(ROOT / "bench"))


def curve(steps: int = 600, seed: int = 1) -> dict[str, np.ndarray]:
    step = np.arange(1, steps + 1)
    noise = np.random.default_rng(seed).normal(0, 0.02, steps)
    return {"step": step, "loss": (1.5 + 2.5 * step**-0.4) * np.exp(noise), "rate": np.full(steps, 0.01)}


def test_a_file_columns_and_a_growing_log_are_forecast_alike(tmp_path):
    columns = curve()
    log = predict.TrainingLog()
    for step, loss, rate in zip(*columns.values(), strict=True):
        log.append(int(step), loss, rate=rate)
    path = tmp_path / "run.csv"
    log.write(str(path))
    medians = [predict.forecast(of, plan="decay@now:100").median for of in (path, columns, log)]
    assert (medians[0] == medians[1]).all() and (medians[0] == medians[2]).all()


def test_quantiles_time_to_a_target_and_figures(tmp_path):
    forecast = predict.forecast(curve(), target=1.68, horizon=500)
    assert forecast.quantiles.shape == (len(forecast), 19) and (np.diff(forecast.quantiles, axis=1) >= 0).all()
    assert (forecast.step == 610 + 10 * np.arange(50)).all()
    told = {k: v for k, v in forecast.document["time_to_target"].items() if k != "target"}
    assert forecast.time_to(1.68) == told
    assert forecast.plot(tmp_path / "run.svg").startswith("<svg") and (tmp_path / "run.svg").read_text().endswith("</svg>\n")
    assert forecast.driver in {row["forecaster"] for row in forecast.skills()}


def test_rates_may_be_an_array():
    by_text, by_array = predict.forecast(curve(), plan="decay@now:50"), predict.forecast(curve(), plan=0.01 * (1 - np.arange(100) / 50).clip(0))
    np.testing.assert_allclose(by_text.median, by_array.median[: len(by_text)], rtol=1e-12)
    assert by_text.median[-1] < predict.forecast(curve()).median[-1]


def test_a_loss_that_is_no_number_any_more_is_an_error():
    columns = curve()
    columns["loss"][550:] = np.nan
    with pytest.raises(kolmo.InvalidArgument, match="since step 551"):
        predict.forecast(columns)


def test_a_decision_is_asked_for():
    log = {"step": np.arange(1, 1001), "loss": 1 + 5 * np.arange(1, 1001.) ** -0.5, "rate": np.full(1000, 1e-3)}
    assert predict.forecast(log, target=0.5).decision is None
    decision = predict.forecast(log, decide=True, budget=1200).decision
    assert decision["action"] in ("go on", "start decay") and decision["step"] == 1000 and decision["forecast"] < 1.15
    with pytest.raises(kolmo.InvalidArgument, match="decide needs target"):
        predict.forecast(log, decide=True)


def test_options_are_those_of_the_command():
    names = list(inspect.signature(predict.forecast).parameters)
    assert names[:5] == ["log", "plan", "horizon", "target", "forecaster"]
    with pytest.raises(TypeError, match="horizons"):
        predict.forecast(curve(), horizons=5)
    with pytest.raises(TypeError, match="not int"):
        predict.forecast(5)
    assert "decay@AT:LENGTH" in predict.forecast.__doc__


@pytest.mark.skipif(not CURVES.exists(), reason=f"reference data is missing: {CURVES} (set KOLMO_TEST_DATA)")
@pytest.mark.skipif(not COMMAND, reason="KOLMO_COMMAND does not name the command")
def test_real_trainings_that_were_held_out_are_forecast(tmp_path):
    """A sweep over CNNs and small GPTs, of which half is held out: 24 runs are too few for an ensemble that is admitted, and the driver is no worse
    than the best simple forecaster of each horizon but for what choosing costs."""
    import predict_curves
    for name, _, held, steps, _ in predict_curves.trainings(CURVES):
        if "-sweep-" in name:
            folder = tmp_path / ("held" if held else "train")
            folder.mkdir(exist_ok=True)
            predict_curves.write(folder / f"{name}.csv", steps)
    store = tmp_path / "store"
    subprocess.run([COMMAND, "forecast", "--train-store", tmp_path / "train", "--store", store], check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run([COMMAND, "forecast", "--backtest", tmp_path / "held", "--store", store, "--json"], check=True, capture_output=True)
    test = json.loads(said.stdout)
    rows = {(r["forecaster"], r["horizon"]): r for r in test["rows"]}
    ranks = {r["forecaster"]: r["spearman"] for r in test["ranks"]}
    assert test["runs"] == 24
    for horizon in (10, 50, 100):
        simple = min(r["crps"] for (name, h), r in rows.items() if h == horizon and name not in ("driver", "recurrent_ensemble"))
        for name in ("driver", "recurrent_ensemble"):
            assert rows[name, horizon]["crps"] < 1.05 * simple, (name, horizon)
            assert 0.85 <= rows[name, horizon]["coverage"] <= 0.96, (name, horizon)
    assert ranks["recurrent_ensemble"] > max(ranks["current_loss"], ranks["current_average"])


def test_runs_of_a_folder_are_compared_at_one_step(tmp_path):
    for name, factor in (("good", 1), ("bad", 2)):
        columns = curve()
        log = predict.TrainingLog()
        for step, loss, rate in zip(*columns.values(), strict=True):
            log.append(int(step), factor * loss, rate=rate)
        log.write(str(tmp_path / f"{name}.csv"))
    found = predict.sweep(tmp_path, horizon=200)
    good, bad = found["runs"]
    assert found["step"] == 800 and good["file"].endswith("good.csv") and (good["best"], good["may_stop"]) == (1, False)
    assert (bad["rank_low"], bad["rank_high"], bad["may_stop"]) == (2, 2, True)
    alone = predict.forecast(tmp_path / "good.csv", horizon=200)
    assert good["median"] == pytest.approx(alone.median[-1], rel=1e-12)


def decaying(rows=1000):
    return 2 + 1 / np.sqrt(np.arange(1, rows + 1)) + 0.01 * np.random.default_rng(0).normal(size=rows)


def test_a_loss_that_is_no_number_to_the_end_has_diverged_also_after_one_before():
    loss = decaying()
    loss[300], loss[900:] = np.nan, np.nan
    with pytest.raises(kolmo.InvalidArgument, match="since step 901; the training has diverged"):
        kolmo.predict.forecast({"loss": loss}, horizon=20)
    every_tenth = np.where(np.arange(1000) % 10 == 0, decaying(), np.nan)  # known at every tenth step
    assert np.isfinite(kolmo.predict.forecast({"loss": every_tenth}, horizon=20).quantiles).all()


def test_a_rate_of_zero_throughout_is_told():
    with pytest.raises(kolmo.InvalidArgument, match="the rate is 0 in every block"):
        kolmo.predict.forecast({"loss": decaying(), "rate": np.zeros(1000)}, horizon=20)


def test_steps_that_count_tokens_are_told():
    with pytest.raises(kolmo.InvalidArgument, match="524288 steps apart.*divided"):
        kolmo.predict.forecast({"step": 524288 * np.arange(1, 1001), "loss": decaying()}, horizon=20)
    assert kolmo.predict.forecast({"step": 1000 * np.arange(1, 1001), "loss": decaying()}, horizon=20000).step[-1] == 1020000


def test_a_backtest_names_the_run_that_it_cannot_use(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("step,loss\n" + "".join(f"{i + 1},{v - 3}\n" for i, v in enumerate(decaying())))
    with pytest.raises(kolmo.InvalidArgument, match=r"bad\.csv: .*loss"):
        kolmo.predict.backtest(str(tmp_path))
    (tmp_path / "good.csv").write_text("step,loss\n" + "".join(f"{i + 1},{v}\n" for i, v in enumerate(decaying())))
    found = kolmo.predict.backtest(str(tmp_path))
    assert found["runs"] == 1 and len(found["notes"]) == 1 and found["notes"][0].startswith(str(bad))
