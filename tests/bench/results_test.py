#!/usr/bin/env python3
"""Tables, comparison and documentation check on a small made-up result, worked out by hand."""
import contextlib
import copy
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
import check_numbers  # noqa: E402
import compare  # noqa: E402
import results  # noqa: E402
import schedule  # noqa: E402
import table  # noqa: E402
from expected import verdicts  # noqa: E402
from machine import file_name  # noqa: E402


def row(name, seconds, units=1, **extra):
    case, size, mode, arm = name.split(".")
    return {"key": name, "case": case, "size": int(size), "mode": mode, "arm": arm, "units_per_call": units,
            "seconds": seconds, **results.summary(seconds, units), **extra}


def made_up():
    return {
        "kind": "kolmo-bench", "quick": False, "date": "2030-01-02T03:04:05Z", "commit": "abc123",
        "machine": {"cpu": "Some CPU (R) 9", "cores": 2, "system": "Linux", "memory_bytes": 8 * 2**30,
                    "load_average_at_start": [0.1, 0.1, 0.1]},
        "versions": {"kolmo": "0.1.0", "scikit-learn": "1.0"},
        "rows": [
            row("mi11.10000.single.kolmo", [0.010, 0.012, 0.011, 0.013, 0.010]),
            row("mi11.10000.single.sklearn", [0.022]),
            row("mi11.10000.single.infomeasure", [0.5]),
            row("te11.1000.surrogate.kolmo", [0.008], 200, surrogates_wanted=200),
            row("te11.1000.surrogate.infomeasure", [0.00004], 2, surrogates_wanted=200),
            row("te11.1000000.single.kolmo", [20.0]),
            {"key": "te11.1000000.single.infomeasure", "skipped": "would take 500 s"},
        ],
    }


class Summary(unittest.TestCase):
    def test_quartiles_are_per_unit(self):
        self.assertEqual(results.summary([1, 2, 3, 4, 10], 2), {"median": 1.5, "q1": 1, "q3": 2})
        self.assertEqual(results.summary([3]), {"median": 3, "q1": 3, "q3": 3})

    def test_ratio_is_against_the_faster_peer(self):
        result = results.Result(made_up())
        self.assertAlmostEqual(result.ratio("mi11.10000.single"), 2.0)
        self.assertIsNone(result.ratio("te11.1000000.single"))
        self.assertEqual(result.losses(), ["te11.1000.surrogate"])

    def test_verdicts_beside_the_yardstick(self):
        data = made_up()
        data["rows"] += [row("te11.1000.thousand.kolmo", [0.5], 1000), row("te11.1000.thousand.plain", [1.0], 1000),
                         row("te11.10000.thousand.kolmo", [1.0], 1000), row("te11.10000.thousand.plain", [2.0], 1000)]
        result = results.Result(data)
        shares = {point: (reached, met) for point, kind, _, reached, met in verdicts(result) if kind == "share"}
        self.assertEqual(shares, {"te11.1000.thousand": (0.5, True), "te11.10000.thousand": (0.5, False)})
        self.assertIn(["at most 0.83 of the plain lanes' time", "0.50 of the plain lanes' time", "yes"], [row[1:] for row in table.expectations(result)[1]])
        self.assertEqual(result.losses(), ["te11.1000.surrogate"], "the yardstick is no peer")

    def test_verdicts(self):
        found = {point + " " + kind: met for point, kind, _, _, met in verdicts(results.Result(made_up()))}
        self.assertTrue(found["te11.1000.surrogate seconds"])
        self.assertFalse(found["mi11.10000.single ratio"])
        self.assertIsNone(found["te11.1000000.single ratio"])
        self.assertIsNone(found["network.20.surrogate seconds"])


class Table(unittest.TestCase):
    def test_durations_have_three_digits(self):
        for seconds, text in ((12.345, "12.3 s"), (1, "1 s"), (0.99996, "1 s"), (0.0405, "40.5 ms"), (5e-5, "50 us"),
                              (0.00099996, "1 ms"), (1234.5, "1230 s"), (None, "not measured")):
            self.assertEqual(table.duration(seconds), text)

    def test_rows(self):
        result = results.Result(made_up())
        self.assertEqual(table.comparison(result, "single")[1], [
            ["MI(1,1)", "10,000", "11 ms (10 ms to 12 ms)", "22 ms", "500 ms", "2x"],
            ["TE(1,1)", "1,000,000", "20 s", "-", "skipped", "-"]])
        self.assertEqual(table.comparison(result, "surrogate")[1], [
            ["TE(1,1)", "1,000", "40 us", "-", "20 us, of 2", "0.5x slower"]])

    def test_terminal_shows_losses_and_skips(self):
        text = table.terminal(results.Result(made_up()))
        self.assertIn("- TE(1,1), N = 1,000, per surrogate: 0.5x", text)
        self.assertIn("would take 500 s", text)
        self.assertRegex(text, r"MI\(1,1\), N = 10,000 +at least 5x +2x +NO")

    def test_file_name(self):
        self.assertEqual(file_name(made_up()), "2030-01-02-some-cpu-r-9-abc123.json")


class Compare(unittest.TestCase):
    def changed(self, name, seconds):
        new = made_up()
        for r in new["rows"]:
            if r["key"] == name:
                r.update(seconds=seconds, **results.summary(seconds, r["units_per_call"]))
        return compare.compare(results.Result(made_up()), results.Result(new))

    def test_same(self):
        self.assertEqual(self.changed("none", []), ([], 0))

    def test_within_the_spread(self):
        self.assertEqual(self.changed("mi11.10000.single.kolmo", [0.0118, 0.012, 0.013])[1], 0)

    def test_slower_outside_the_spread(self):
        lines, failures = self.changed("mi11.10000.single.kolmo", [0.0125, 0.013, 0.014])
        self.assertEqual(failures, 1)
        self.assertIn("11 ms -> 13 ms, +18% SLOWER", lines[0])

    def test_faster_is_no_failure(self):
        lines, failures = self.changed("te11.1000000.single.kolmo", [10.0])
        self.assertEqual((len(lines), failures), (1, 0))

    def test_a_slower_peer_is_no_failure(self):
        self.assertEqual(self.changed("mi11.10000.single.sklearn", [5.0]), ([], 0))

    def test_gone(self):
        new = made_up()
        del new["rows"][0]
        self.assertEqual(compare.compare(results.Result(made_up()), results.Result(new))[1], 1)


class Schedule(unittest.TestCase):
    def test_prediction_follows_the_power_law(self):
        self.assertIsNone(schedule.predicted({}, 10))
        self.assertAlmostEqual(schedule.predicted({100: 1.0, 1000: 10**1.25}, 10000), 10**2.5)
        self.assertAlmostEqual(schedule.predicted({100: 1.0, 1000: 2.0}, 10000), 20)  # the prediction never grows slower than linearly

    def test_surrogates(self):
        self.assertEqual(schedule.affordable_surrogates(200, 0.01, 8, 8, 60), 200)
        self.assertEqual(schedule.affordable_surrogates(200, 0.1, 8, 8, 60), 79)
        self.assertEqual(schedule.affordable_surrogates(200, 4, 8, 8, 60), 7)
        self.assertEqual(schedule.affordable_surrogates(200, 4, 8, 1, 60), 2)
        self.assertEqual(schedule.affordable_surrogates(200, 31, 8, 1, 60), 0)

    def test_repeats(self):
        self.assertEqual([schedule.repeats(s) for s in (0.01, 1, 5, 30)], [15, 5, 3, 1])


class CheckNumbers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kolmo-bench-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        (self.root / "docs").mkdir()
        self.result = self.root / "bench/results/a.json"
        results.save(made_up(), self.result)
        self.pages("none", "not measured")

    def pages(self, source, number, key="mi11.10000.single.ratio"):
        (self.root / "README.md").write_text(f"It is <!-- bench:{key} -->{number}<!-- /bench --> faster.\n")
        (self.root / "docs/benchmarks.md").write_text(f"<!-- bench-results: {source} -->\n")

    def check(self, *arguments):
        self.said = io.StringIO()
        with contextlib.redirect_stderr(self.said), contextlib.redirect_stdout(self.said):
            return check_numbers.main(self.root, list(arguments))

    def test_nothing_measured(self):
        self.assertEqual(self.check(), 0)
        self.pages("none", "2x")
        self.assertEqual(self.check(), 1)

    def test_right_and_wrong_number(self):
        self.pages("bench/results/a.json", "2x")
        self.assertEqual(self.check(), 0)
        self.pages("bench/results/a.json", "3x")
        self.assertEqual(self.check(), 1)
        self.assertIn("README.md: bench:mi11.10000.single.ratio reads '3x'; the result says '2x'", self.said.getvalue())

    def test_unknown_key_and_open_marker(self):
        self.pages("bench/results/a.json", "2x", key="mi11.77.single.ratio")
        self.assertEqual(self.check(), 1)
        self.pages("bench/results/a.json", "2x")
        (self.root / "docs/other.md").write_text("<!-- bench:machine -->open\n")
        self.assertEqual(self.check(), 1)

    def test_write(self):
        table_page = self.root / "docs/other.md"
        table_page.write_text("<!-- bench:single -->\nnot measured\n<!-- /bench -->\n")
        self.assertEqual(self.check("--write", str(self.result)), 0)
        self.assertIn("-->2x<!--", (self.root / "README.md").read_text())
        self.assertIn("| MI(1,1) | 10,000 | 11 ms (10 ms to 12 ms) | 22 ms | 500 ms | 2x |", table_page.read_text())
        self.assertEqual(self.check(), 0)

    def test_times_of_a_gpu_are_those_of_the_record(self):
        record = {"date": "2026-01-02T03:04:05Z", "commit": "abc",
                  "ops": [{"name": "relu", "results": [{"case": "n=2^24 f16", "seconds": 19.04e-6}]}]}
        (self.root / "gpu.json").write_text(json.dumps(record))
        page = self.root / "docs/gpu.md"
        right = ("<!-- time: gpu.json relu: n=2^24 f16 -->19.0 us<!-- /time --> of <!-- record: gpu.json -->2026-01-02, commit abc<!-- /record -->\n")
        page.write_text(right)
        self.assertEqual(self.check(), 0)
        for old, new, said in (("19.0", "19.1", "the record says '19.0 us'"), ("abc", "abd", "the record says '2026-01-02, commit abc'"),
                               ("f16 -->", "f17 -->", "gpu.json has no relu: n=2^24 f17"), ("<!-- /time", "<!-- /tim", "is not closed")):
            page.write_text(right.replace(old, new))
            self.assertEqual(self.check(), 1)
            self.assertIn(said, self.said.getvalue())
        page.write_text(right.replace("19.0", "").replace("2026", ""))
        self.assertEqual(self.check("--write"), 0)
        self.assertEqual(page.read_text(), right)

    def test_of_two_records_the_ratio(self):
        for name, seconds in (("gpu.json", 2e-6), ("cpu.json", 93e-6)):
            (self.root / name).write_text(json.dumps({"ops": [{"name": "relu", "results": [{"case": "n=5", "seconds": seconds}]}]}))
        page = self.root / "docs/gpu.md"
        page.write_text("<!-- time: gpu.json cpu.json relu: n=5 -->46<!-- /time -->\n")  # 46.5 is rounded to even
        self.assertEqual(self.check(), 0)
        page.write_text("<!-- time: gpu.json cpu.json relu: n=6 -->46<!-- /time -->\n")
        self.assertEqual(self.check(), 1)
        self.assertIn("gpu.json or cpu.json has no relu: n=6", self.said.getvalue())

    def test_times_of_networks(self):
        run = {"command": "kolmo network a.csv --surrogates 20 --device cuda --json", "estimates": 1000, "seconds": [1.5, 1.25, 1.3],
               "of_estimates": [0.5, 0.501, 0.499]}
        (self.root / "gpu.json").write_text(json.dumps({"runs": [run]}))
        page = self.root / "docs/gpu.md"
        for what, right in (("command", "1.25 to 1.50 s"), ("printed", "0.50 s"), ("estimate", "1300 us")):
            text = f"<!-- network: gpu.json {what} a.csv --surrogates 20 -->{right}<!-- /network -->\n"
            page.write_text(text)
            self.assertEqual(self.check(), 0, self.said.getvalue())
            page.write_text(text.replace(right, "1 s"))
            self.assertEqual(self.check(), 1)
            self.assertEqual(self.check("--write"), 0)
            self.assertEqual(page.read_text(), text)
        page.write_text(text.replace("20", "21"))
        self.assertEqual(self.check(), 1)
        self.assertIn("gpu.json has no network a.csv --surrogates 21", self.said.getvalue())

    def test_cases_below_the_copy(self):
        def case(name, size, seconds, flops=0):
            return {"case": name, "bytes": size, "flops": flops, "seconds": seconds}

        record = {"device": {"bytes_per_second": 4e12, "flops_f32": 1e13, "flops_f64": 1e12},
                  "ops": [{"name": "relu", "results": [case("fast", 2**26, 19e-6), case("slow", 2**26, 40e-6), case("slower", 2**27, 140e-6),
                                                       case("small", 2**20, 1.0), case("computes", 2**26, 40e-6, flops=1e9)]}]}
        torch = {"microseconds": {"copy 2^24 torch.float16": [19, 20, 21], "copy 2^24 torch.float32": [35, 35, 36]}}
        self.assertEqual(check_numbers.below_copy(record, torch).splitlines()[2:],
                         ["| relu slower | 140.0 us | 24 % | 25 % |", "| relu slow | 40.0 us | 42 % | 50 % |"])

    def test_operators_beside_pytorch_by_their_slowest_case(self):
        def op(name, *cases):
            return {"name": name, "results": [{"name": called, "case": case, "seconds": us * 1e-6} for called, case, us in cases]}

        record = {"ops": [op("relu", ("relu", "small", 10), ("relu", "large", 20), ("relu", "alone", 1)),
                          op("linear", ("fused", "fused, 8 rows", 40))]}
        torch = {"microseconds": {"relu: small": [30, 30, 31], "relu: large": [30], "linear: fused, 8 rows": [20], "copy": [1]}}
        self.assertEqual(check_numbers.by_operator(record, torch).splitlines()[2:],
                         ["| `fused` | 8 rows | 40.0 us | 20.0 us | 0.50 | 0.50 (1) |", "| `relu` | large | 20.0 us | 30.0 us | 1.50 | 2.25 (2) |"])

    def test_fused_rows_beside_their_sequences(self):
        def result(name, seconds, variant, baseline):
            return {"case": name, "seconds": seconds, "baseline": {"variant": variant, "seconds": baseline}}

        record = {"ops": [{"name": "linear", "results": [result("gains", 10e-6, "unfused", 25e-6), result("loses", 10e-6, "unfused", 9e-6),
                                                         result("plain", 10e-6, "naive", 1.0), {"case": "alone", "seconds": 1e-6}]}]}
        self.assertEqual(check_numbers.beside_unfused(record).splitlines()[2:],
                         ["| linear loses | 10.0 us | 9.0 us | 0.90 |", "| linear gains | 10.0 us | 25.0 us | 2.50 |"])

    def test_rows_beside_cublaslt(self):
        def result(name, **times):
            return {"case": name, "default": "own", "profile": {"configs": {k: {"label": k, "median_ns": v} for k, v in times.items()}}}

        record = {"ops": [{"name": "matmul", "results": [result("alone", own=1e4), result("even", own=1e4, cublaslt=1e4),
                                                         result("slow", own=1e4, other=5e3, cublaslt=4e3)]}]}
        self.assertEqual(check_numbers.beside_cublaslt(record).splitlines()[2:],
                         ["| slow | `own`; `other` 5.0 us | 10.0 us | 4.0 us | 0.40 |",
                          "| even | `own` | 10.0 us | 10.0 us | 1.00 |", "| alone | `own` | 10.0 us | not timed | |"])

    def test_parts_of_a_world_model(self):
        record = {"results": [{"op": "gru_forward", "case": f"{n} units, f32", "baseline": "torch", "kolmo_us": [1, 2, 9], "baseline_us": [4, 6, 5], "ratio": 2.5}
                              for n in (64, 128)],
                  "memory": [{"members": 5, "units": 64, "tensor_bytes": 2**20, "workspace_bytes": 2**20, "peak_bytes": 2**21 + 2**19}],
                  "uploads": [{"members": 5, "units": 64, "bytes": 10**6, "kolmo_us": [3], "baseline_us": [2000]}]}
        gpu = {"ops": [{"name": "gru_forward", "results": [{"case": "64 units, f32", "seconds": 7e-6},
                                                           {"case": "50 steps of 64 units, f32", "seconds": 7e-6, "variant": "weights in a block"}]}]}
        self.assertEqual(check_numbers.parts(record, gpu).splitlines()[2:],
                         ["| `gru_forward` | 64 units | 7.0 us | 2.0 us | torch | 5.0 us | 2.50 |",
                          "| `gru_forward` | 128 units | not measured | 2.0 us | torch | 5.0 us | 2.50 |"])
        self.assertEqual(check_numbers.memory(record).splitlines()[2:], ["| 5 | 64 | 1.00 MiB | 1.00 MiB | 2.00 MiB | 2.50 MiB | 1.250 |"])
        runs = [{"alone_seconds": {"upload": seconds}} for seconds in (1e-4, 2e-4, 9e-4)]
        pipeline = {"ops": [{"results": {"bytes": 2 * 10**6, "saturated": [{"runs": runs}]}}]}
        self.assertEqual(check_numbers.upload(record, pipeline).splitlines()[2:], ["| 5 | 64 | 0.95 MiB | 100.0 us | 3.0 us | 2.00 ms |"])
        rows = check_numbers.shared(gpu).splitlines()[2:]
        self.assertRegex(rows[0], r"^\| 64 \| 53\.9 KiB \|.*\| weights in a block \|$")
        # tests/ops/gru_sequences_test.cpp holds that 70 units fit in a block, with 65,440 bytes, and 71 do not.
        self.assertRegex(rows[1], r"^\| 70 \| 63\.9 KiB \|.*\| not measured \|$")
        self.assertRegex(rows[2], r"^\| 71 \| 66\.5 KiB, too much \|")

    def test_quick_and_missing_results_are_refused(self):
        quick = copy.deepcopy(made_up()) | {"quick": True}
        self.result.write_text(json.dumps(quick))
        self.pages("bench/results/a.json", "2x")
        with self.assertRaises(SystemExit):
            self.check()
        self.pages("bench/results/b.json", "2x")
        with self.assertRaises(SystemExit):
            self.check()


if __name__ == "__main__":
    unittest.main()
