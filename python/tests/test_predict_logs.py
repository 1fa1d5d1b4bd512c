"""Logs as they are in practice: with gaps, cut at the end, in no order, not text; and arguments that cannot be."""
import math
import os

import kolmo
import numpy as np
import pytest
from kolmo import predict


def curve(steps: int = 1000, seed: int = 1) -> dict[str, np.ndarray]:
    step = np.arange(1, steps + 1)
    noise = np.random.default_rng(seed).normal(0, 0.02, steps)
    return {"step": step, "loss": (1.5 + 4 * step**-0.5) * np.exp(noise), "rate": np.full(steps, 0.01)}


def text(columns: dict[str, np.ndarray]) -> str:
    rows = zip(*(c.tolist() for c in columns.values()), strict=True)
    return ",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def told(log: object, **options: object) -> str:
    return "\n".join(predict.forecast(log, **options).notes)


def test_a_long_gap_leaves_intervals_as_wide_as_the_noise():
    columns = curve()
    columns["step"] = np.where(columns["step"] > 500, columns["step"] + 600, columns["step"])
    forecast = predict.forecast(columns, horizon=100)
    width = np.log(forecast.high / forecast.low)  # 1.645 times twice the noise of a mean of 10 steps is 0.021
    assert (width > 0.012).all() and (width < 0.1).all()
    assert "60 of 160 blocks of 10 steps have no loss" in "\n".join(forecast.notes)


def test_a_line_that_is_being_written_is_left_out(tmp_path):
    (tmp_path / "cut.csv").write_text(text(curve())[:-2])
    assert predict.read_log(tmp_path / "cut.csv").last_step == 999
    assert "cut.csv:1001: the last line has no line end" in told(tmp_path / "cut.csv")


def test_steps_that_do_not_ascend_are_told(tmp_path):
    first, again = text(curve()), text(curve(seed=2)).split("\n", 1)[1]
    (tmp_path / "two.csv").write_text(first + again)
    assert "two.csv: row 1001, column step: the step goes back from 1000 to 1: the training began anew" in told(tmp_path / "two.csv")
    backwards = {name: values[::-1].copy() for name, values in curve().items()}
    with pytest.raises(kolmo.InvalidArgument, match="row 2, column step: the step goes back from 1000 to 999.*sort the rows"):
        predict.forecast(backwards)


def test_losses_that_are_not_positive_are_told():
    columns = curve()
    columns["loss"][499] = -1
    assert "losses that are not positive: 1, the first at step 500" in told(columns)


def test_marks_and_decimals_of_text_are_options(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(text(curve()).replace(",", ";").replace(".", ",") + "1001;what;0,01\n")
    with pytest.raises(kolmo.InvalidArgument, match="decimal"):
        predict.forecast(path)
    with pytest.raises(kolmo.InvalidArgument, match="na what reads it as a missing value"):
        predict.forecast(path, decimal=",")
    assert len(predict.forecast(path, decimal=",", na="what"))
    with pytest.raises(kolmo.InvalidArgument, match="decimal"):
        predict.forecast(path, decimal="x")


def test_a_file_that_is_no_text_stops_no_folder(tmp_path):
    for i in range(3):
        (tmp_path / f"run{i}.csv").write_text(text(curve(seed=i)))
    (tmp_path / "bytes.csv").write_bytes(b"{\xe2\x28\xff\n")
    os.symlink("nowhere", tmp_path / "gone.csv")
    with pytest.raises(kolmo.InvalidArgument, match=r"bytes\.csv:1: is no JSON"):
        predict.forecast(tmp_path / "bytes.csv")
    for found in (predict.backtest(tmp_path), predict.train_store(tmp_path, tmp_path / "store")):
        assert found["runs"] == 3
        notes = "\n".join(found["notes"])
        assert "bytes.csv:1: is no JSON" in notes and "gone.csv" in notes
    reasons = [run["why_not"] for run in predict.sweep(tmp_path)["runs"] if "why_not" in run]
    assert len(reasons) == 2 and "bytes.csv:1" in reasons[0]


@pytest.mark.parametrize("option", [{"target": 0}, {"target": -1}, {"target": math.nan}, {"target": math.inf}, {"horizon": 0},
                                    {"budget": 0}, {"block": -1}])
def test_options_that_cannot_be_are_named(option):
    with pytest.raises(kolmo.InvalidArgument, match=next(iter(option))):
        predict.forecast(curve(), **option)
