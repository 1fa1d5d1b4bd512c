"""kolmo bench: samples, baselines, and what a budget leaves out."""
import signal
import subprocess
import time
import unittest

from command import KOLMO, CommandTest, kolmo, result


class Bench(CommandTest):
    def test_keeps_raw_samples(self):
        record = result("bench", "vector_add", "--case", "n=1000", "--samples", "4", "--device", "cpu", "--threads", "1")
        [timing] = record["ops"][0]["results"]
        self.assertEqual(timing["case"], "n=1000 f64")
        self.assertEqual(len(timing["samples"]), 4)
        self.assertLessEqual(min(timing["samples"]), timing["seconds"])
        self.assertLessEqual(timing["seconds"], max(timing["samples"]))
        self.assertEqual(timing["bytes"], 24000)
        self.assertGreater(record["device"]["bytes_per_second"], 0)

    def test_a_case_of_an_alias_is_shown_under_its_name(self):
        record = result("bench", "layer_norm", "--case", "fused_layernorm_gelu k=300", "--samples", "3", "--device", "cpu")
        self.assertEqual([r["name"] for r in record["ops"][0]["results"]], ["fused_layernorm_gelu"])

    def test_a_whole_name_is_one_case_though_others_begin_with_it(self):
        args = ["bench", "gelu", "--device", "cpu", "--threads", "1", "--samples", "3", "--case"]
        for text, cases in (("n=1025 f32", ["n=1025 f32"]), ("n=1025", ["n=1025 f32", "n=1025 f32 to 8, tanh"])):
            self.assertEqual([r["case"] for r in result(*args, text)["ops"][0]["results"]], cases)

    def test_a_baseline_is_timed_beside_unless_it_is_not_wanted(self):
        args = ["bench", "fp16_to_fp32", "--default", "--case", "n=1003", "--samples", "3", "--device", "cpu"]
        self.assertTrue(all(r["baseline"]["variant"] == "one by one" for r in result(*args)["ops"][0]["results"]))
        self.assertFalse(any("baseline" in r for r in result(*args, "--no-baseline")["ops"][0]["results"]))

    def test_the_baseline_of_a_fused_operator_is_the_sequence(self):
        for alias in ("fused_batchnorm_relu", "fused_layernorm_gelu", "fused_conv_relu", "fused_linear_relu"):
            record = result("bench", alias, "--case", "f32", "--samples", "3", "--device", "cpu", "--threads", "1", "--budget", "1")
            timed = [r for r in record["ops"][0]["results"] if r.get("seconds", 1) < 1e-3]  # large ones may not be timed twice
            self.assertEqual({r["baseline"]["variant"] for r in timed}, {"unfused"}, alias)
        plain = result("bench", "batch_norm", "--case", "3 x 5 x 7", "--samples", "3", "--device", "cpu", "--threads", "1")
        self.assertFalse(any("baseline" in r for r in plain["ops"][0]["results"]))

    def test_the_baseline_of_an_operator_without_a_naive_variant_is_one_thread(self):
        args = ["bench", "vector_add", "--case", "n=1000", "--samples", "3", "--device", "cpu", "--threads"]
        self.assertEqual({r["baseline"]["variant"] for r in result(*args, "2")["ops"][0]["results"]}, {"one thread"})
        self.assertFalse(any("baseline" in r for r in result(*args, "1")["ops"][0]["results"]))

    def test_says_what_its_budget_left_out(self):
        args = ["bench", "matmul", "--case", "256 cube f32", "--device", "cpu", "--threads", "1", "--budget"]
        run = kolmo(*args, "0.000001")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("not measured, to end in 1e-06 s (--budget): matmul, 256 cube f32", run.stdout)
        [left_out] = result(*args, "0.000001")["ops"][0]["results"]
        self.assertIn("left_out", left_out)
        [measured] = result(*args, "0")["ops"][0]["results"]
        self.assertFalse(measured["cut_short"])
        self.assertGreater(measured["seconds"], 0)
        self.refused("bench", "--budget", "-1", mentions=["--budget"])

    def test_ctrl_c_ends_it_without_a_record(self):
        path = self.path / "record.json"
        run = subprocess.Popen([KOLMO, "bench", "--samples", "10000", "--record", str(path)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        run.stdout.readline()  # the line with the device: it has started
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertIn("kolmo: interrupted", errors)
        self.assertEqual(list(self.path.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
