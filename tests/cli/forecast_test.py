"""kolmo forecast on the log of a real training: what came is forecast, plans, files and pages, and what cannot be is one clear line."""
import json
import math
import os
import struct
import subprocess
import unittest
from pathlib import Path
from random import Random

from command import KOLMO, CommandTest, kolmo, result

LOG = Path(__file__).resolve().parents[2] / "examples/data/training_gpt.csv"
HELD, DECAYED = 1.106, 1.031  # what the training came to, see examples/data/README.md


CRC = list(range(256))  # of CRC-32C, by byte
for _ in range(8):
    CRC = [c >> 1 ^ 0x82F63B78 * (c & 1) for c in CRC]


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def event_file(tags, steps):
    """An event file of TensorBoard: an event for each step, with a scalar of each tag."""
    def field(number, content):
        return varint(number << 3 | 2) + varint(len(content)) + content
    names, written = [field(1, tag.encode()) for tag in tags], []
    for step in range(1, steps + 1):
        scalar = b"\x15" + struct.pack("<f", 1 + 4 / step)
        event = b"\x10" + varint(step) + field(5, b"".join(field(1, name + scalar) for name in names))
        size = struct.pack("<Q", len(event))
        written.append(size + masked_crc(size) + event + masked_crc(event))
    return b"".join(written)


def most_memory(*args):
    """The most memory, in KiB, that the command had at once."""
    with subprocess.Popen([KOLMO, *map(str, args)], stdout=subprocess.DEVNULL) as run:
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0
    return used.ru_maxrss


class Forecast(CommandTest):
    def test_tags_that_are_not_used_take_no_memory(self):
        used = ["train/loss", "lr"]
        folders = {"few": used, "many": used + [f"layer/{i}" for i in range(1000)]}
        for name, tags in folders.items():
            (self.path / name).mkdir()
            self.file(f"{name}/events.out.tfevents.1.host", event_file(tags, 300))
        self.assertEqual(*(result("forecast", self.path / name)["forecast"] for name in folders))
        few, many = (min(most_memory("forecast", self.path / name) for _ in range(2)) for name in folders)
        # 300,000 scalars that are kept take 96 bytes each, which is 28 MiB; the file itself has 6 MiB.
        self.assertLess(many - few, 4096)
        self.refused("forecast", self.path / "many", "--loss", "loss/of", mentions=["there is no column 'loss/of'", "layer/0"])

    def test_a_device_that_cannot_train_is_refused(self):
        store = self.path / "store"
        self.refused("forecast", LOG, "--device", "simt", mentions=["--device is for --train-store"])
        for device in ("cuda:99", "tpu"):
            self.refused("forecast", "--train-store", LOG.parent, "--store", store, "--device", device, mentions=[device.split(":")[0]])
        self.assertFalse(store.exists())

    def test_what_came_is_forecast(self):
        for plan, came in (("hold", HELD), ("decay@now:233", DECAYED)):
            found = result("forecast", LOG, "--plan", plan, "--horizon", 233)
            last = found["forecast"][-1]
            self.assertLess(last["low"], came)
            self.assertGreater(last["high"], came)
            self.assertAlmostEqual(last["median"], came, delta=0.05)
            self.assertGreaterEqual(last["horizon"], 233)
            self.assertEqual(found["plan"], plan)
        steps = [row["step"] for row in found["forecast"]]
        self.assertEqual(steps, list(range(steps[0], steps[-1] + 1, 10)))
        for row in found["forecast"]:
            self.assertEqual(sorted(row["quantiles"]), row["quantiles"])
            self.assertEqual((row["low"], row["high"]), (row["quantiles"][0], row["quantiles"][-1]))
            self.assertIn("law", row["driver"])

    def test_the_numbers_of_the_readme(self):
        last = result("forecast", LOG, "--plan", "decay@now:233")["forecast"][-1]
        text = " ".join((LOG.parents[2] / "README.md").read_text(encoding="utf-8").split())
        self.assertIn(f"{last['median']:.2f}, nine times in ten between {last['low']:.2f} and {last['high']:.2f}.", text)
        self.assertIn(f"its loss came to {DECAYED:.2f}.", text)

    def test_intervals_hold_power_laws_as_far_again_as_was_seen(self):
        held = 0
        for seed in range(12):
            random, seen = Random(seed), 300 + 100 * seed
            losses = [3 * step ** -(0.25 + 0.04 * seed) * math.exp(random.gauss(0, 0.02)) for step in range(1, 2 * seen + 1)]
            log = self.file("law.csv", "step,loss,rate\n" + "".join(f"{i},{loss:.7g},1\n" for i, loss in enumerate(losses[:seen], 1)))
            quantiles = result("forecast", log, "--horizon", seen, "--forecaster", "lag_law_and_trend")["forecast"][-1]["quantiles"]
            held += quantiles[1] <= sum(losses[-10:]) / 10 <= quantiles[17]
        self.assertGreaterEqual(held, 9, "of 12, by 80 % intervals")

    def test_a_file_of_rates_is_a_plan(self):
        rates = [5e-4 * max(0.0, 1 - (step - 728) / 233) for step in range(728, 961)]
        plan = self.file("plan.csv", "step,rate\n" + "".join(f"{728 + i},{rate!r}\n" for i, rate in enumerate(rates)))
        named, given = (result("forecast", LOG, "--plan", p, "--horizon", 100)["forecast"] for p in ("decay@now:233", plan))
        self.assertEqual(len(named), len(given))
        for a, b in zip(named, given, strict=True):
            self.assertAlmostEqual(a["rate"], b["rate"], delta=1e-9)
            self.assertAlmostEqual(a["median"], b["median"], delta=1e-5)

    def test_the_time_to_a_target(self):
        found = result("forecast", LOG, "--plan", "decay@now:233", "--target", 1.1)["time_to_target"]
        self.assertEqual(found["target"], 1.1)
        self.assertLess(found["low"], found["median"])
        self.assertLess(found["median"], 960)
        self.assertIn("is reached at step", kolmo("forecast", LOG, "--target", 1.1).stdout)

    def test_a_decision_says_when_to_decay(self):
        found = result("forecast", LOG, "--decide", "--target", 1.1, "--budget", 760)["decision"]
        self.assertEqual((found["action"], found["length"], found["step"]), ("start decay", 33, 727))
        self.assertEqual(found["reason"], "the decay to the end beats going on")
        later = result("forecast", LOG, "--decide", "--budget", 5000)["decision"]
        self.assertEqual((later["action"], later["length"], later["probability"]), ("go on", 0, None))
        self.assertEqual(later["reason"], "a decay to the end is not begun before 1296 steps remain")
        reached = result("forecast", LOG, "--decide", "--target", 1.1)["decision"]
        self.assertEqual(reached["reason"], "a decay in 50 steps reaches the target before one that starts now")
        self.assertAlmostEqual(reached["margin"], 1.1 - reached["forecast"], delta=1e-12)
        self.assertIn("decision: go on; a decay in 50 steps", kolmo("forecast", LOG, "--decide", "--target", 1.1).stdout)
        self.assertNotIn("decision", result("forecast", LOG, "--target", 1.1))
        run = kolmo("forecast", LOG, "--decide", "--target", 1.1, "--budget", 760, "--report", "page.html", cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Decision: start decay of 33 steps; the decay to the end", (self.path / "page.html").read_text(encoding="utf-8"))

    def test_figures_and_pages(self):
        run = kolmo("forecast", LOG, "--plot", "f.svg", "--report", "page.html", "--plan", "decay@now:233", cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("<svg", (self.path / "f.svg").read_text(encoding="utf-8"))
        page = (self.path / "page.html").read_text(encoding="utf-8")
        self.assertIn("When to decay", page)
        self.assertIn("Training training_gpt.csv", page)

    def test_other_formats_have_the_same_forecast(self):
        rows = [line.split(",") for line in LOG.read_text(encoding="ascii").split()]
        lines = "".join(json.dumps(dict(zip(rows[0], map(float, row), strict=True))) + "\n" for row in rows[1:])
        other = self.file("run.jsonl", lines)
        renamed = self.file("run.csv", "Step,my loss,lr\n" + "".join(f"{r[0]},{r[1]},{r[3]}\n" for r in rows[1:]))
        first = result("forecast", LOG)["forecast"]
        self.assertEqual(result("forecast", other)["forecast"], first)
        self.assertEqual(result("forecast", renamed, "--loss", "my loss")["forecast"], first)

    def test_what_cannot_be_is_one_clear_line(self):
        for text, options, said in (
                ("step,loss\n1,2\n2,x\n", (), "x"), ("step,other\n1,2\n", (), "loss"), ("step,loss\n1,2\n2,1.9\n", (), "4"),
                ("step,loss\n" + "".join(f"{i},-1\n" for i in range(1, 90)), (), "positive"),
                ("step,loss\n" + "".join(f"{i},{2 if i < 60 else 'nan'}\n" for i in range(1, 90)), (), "diverged"),
                (None, ("--plan", "decay@5:10"), "decay"), (None, ("--plan", "linear"), "linear"), (None, ("--store", "nowhere"), "nowhere"),
                (None, ("--forecaster", "oracle"), "oracle"), (None, ("--target", -1), "target"),
                (None, ("--decide",), "--decide needs --target, --budget or both"), (None, ("--budget", 9999), "--budget is for --decide"),
                (None, ("--decide", "--budget", 700), "the budget of 700 steps is used up, as the log ends with step 727")):
            file = LOG if text is None else self.file("bad.csv", text)
            run = kolmo("forecast", file, *options)
            self.assertEqual(run.returncode, 2, (text, options, run.stdout))
            self.assertIn(said, run.stderr)
            self.assertNotIn("Traceback", run.stderr)


class Sweep(CommandTest):
    def test_runs_are_ranked_and_the_hopeless_may_stop(self):
        runs, page = self.path / "runs", self.path / "sweep.html"
        runs.mkdir()
        rows = [line.split(",") for line in LOG.read_text(encoding="ascii").split()]
        for name, factor in (("good", 1), ("bad", 2)):
            scaled = "".join(f"{r[0]},{float(r[1]) * factor},{r[2]},{r[3]}\n" for r in rows[1:])
            (runs / f"{name}.csv").write_text(",".join(rows[0]) + "\n" + scaled, encoding="ascii")
        good, bad = result("forecast", "--sweep", runs, "--horizon", 50, "--report", page)["runs"]
        self.assertEqual((Path(good["file"]).name, good["rank"], good["may_stop"]), ("good.csv", 1, False))
        self.assertEqual((bad["rank"], bad["may_stop"], bad["best"]), (2, True, 0))
        self.assertIn("may stop", page.read_text(encoding="utf-8"))
        self.assertIn("may stop", kolmo("forecast", "--sweep", runs).stdout)
        self.refused("forecast", "--sweep", runs, "--plot", self.path / "p.svg", mentions=["--plot"])
        self.refused("forecast", "--sweep", runs, "--target", 1, mentions=["--target"])
        self.refused("forecast", "--sweep", runs, "--decide", "--budget", 5000, mentions=["--decide"])
        self.refused("forecast", "--sweep", self.path, mentions=["holds no logs"])


class Store(CommandTest):
    def test_past_runs_are_learned_from(self):
        runs, store = self.path / "runs", self.path / "store"
        runs.mkdir()
        rows = LOG.read_text(encoding="ascii").split()
        for i in range(4):
            scaled = [row.split(",") for row in rows[1:]]
            text = "".join(f"{r[0]},{float(r[1]) * (1 + 0.1 * i)},{r[2]},{r[3]}\n" for r in scaled)
            (runs / f"run{i}.csv").write_text(rows[0] + "\n" + text, encoding="ascii")
        (runs / "bytes.csv").write_bytes(b"{\xe2\x28\xff\n")
        run = kolmo("forecast", "--train-store", runs, "--store", store)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("bytes.csv:1: is no JSON", run.stderr)
        self.assertTrue(result("forecast", LOG, "--store", store, "--horizon", 50)["forecast"])
        back = kolmo("forecast", "--backtest", runs)
        self.assertEqual(back.returncode, 0, back.stderr)
        self.assertIn("lag_law", back.stdout)
        self.assertIn("bytes.csv:1: is no JSON", back.stderr)
        self.assertIn("bytes.csv:1: is no JSON", result("forecast", "--backtest", runs)["notes"][0])
        for other in runs.glob("run*.csv"):
            other.unlink()
        self.refused("forecast", "--backtest", runs, mentions=["none of its logs can be read", "bytes.csv:1"])


if __name__ == "__main__":
    unittest.main()
