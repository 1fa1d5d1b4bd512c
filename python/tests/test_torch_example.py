"""The small GPT of docs/training.md and the bench of its ladder run, here shorter."""
import json
import subprocess
import sys

import pytest
from blocks import ROOT

pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.mark.slow
def test_the_small_gpt_learns_and_its_decay_is_forecast(tmp_path):
    printed = subprocess.run([sys.executable, ROOT / "examples/byte_gpt.py", "--steps", "60", "--decay", "30", "--json", "found.json"], cwd=tmp_path,
                             capture_output=True, text=True, check=True).stdout
    found = json.loads((tmp_path / "found.json").read_text())["found"]
    assert printed.count("\n") == 4 and found["after"] < found["before"] < 5.5  # ln 256 = 5.55 is what bytes without context cost
    assert found["low"] < found["forecast"] < found["high"] and found["average_after"] < found["average"]


@pytest.mark.slow
def test_the_ladder_has_a_row_for_each_rival(tmp_path):
    pytest.importorskip("sklearn")
    subprocess.run([sys.executable, ROOT / "bench/predict_ladder.py", "--tasks", "xor", "--seeds", "2", "--steps", "80", "--json", tmp_path / "r.json"],
                   cwd=tmp_path, capture_output=True, text=True, check=True)
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["machine"]["cpu"] and record["commit"]
    for table in record["tasks"]["xor"]["tables"].values():
        methods = {row["method"] for row in table["rows"]}
        assert {"constant", "constant + average", "cosine over all steps", "warm-up, stable, decay + average", "plateau",
                "best decay known afterwards", "kolmo.predict, control=True"} <= methods
        constant = next(row for row in table["rows"] if row["method"] == "constant")
        assert constant["reached"] == 2 or table["target"] < 0.5  # target A is what it reaches in each seed
