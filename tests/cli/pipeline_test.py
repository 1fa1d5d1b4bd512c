"""kolmo pipeline: what it records, and what it says about the objective."""
import statistics
import unittest

from command import CommandTest, kolmo, result

QUICK = ("--device", "cpu", "--threads", 1, "--kilobytes", 16, "--items", 30, "--seconds", "0.02")


def measured(*args):
    return result("pipeline", *QUICK, *args)["ops"][0]["results"]


class PipelineTest(CommandTest):
    def test_every_number_of_slots_runs_as_often_as_asked(self):
        r = measured("--slots", "3,5", "--repeats", 3)
        self.assertEqual([arm["slots"] for arm in r["saturated"]], [3, 5])
        for arm in r["saturated"]:
            self.assertEqual(len(arm["runs"]), 3)
            for key in ("seconds_per_item", "efficiency"):
                self.assertEqual(arm[key], statistics.median(run[key] for run in arm["runs"]))
        self.assertEqual(r["loads_of"], {"slots": 3, "graph": False})

    def test_a_load_meets_the_objective_if_its_p99_does(self):
        for objective, largest in ((1e9, 0.9), (1e-3, 0)):
            r = measured("--slots", 2, "--repeats", 1, "--objective", objective)
            self.assertEqual(len(r["loads"]), 8)
            for load in r["loads"]:
                self.assertEqual(load["meets_objective"], load["p99"] <= r["objective_seconds"])
            self.assertEqual(r["largest_load_that_meets_objective"], {"paced": largest, "Poisson": largest})

    def test_the_verdict_is_printed(self):
        run = kolmo("pipeline", *QUICK, "--slots", 2, "--repeats", 1, "--objective", "1e9")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("up to a load of 90 %", run.stdout)
        run = kolmo("pipeline", *QUICK, "--slots", 2, "--repeats", 1, "--objective", "0.001")
        self.assertIn("at no measured load", run.stdout)

    def test_options_out_of_range_are_refused(self):
        self.refused("pipeline", *QUICK, "--slots", "3,9")
        self.refused("pipeline", *QUICK, "--spin", -1)


if __name__ == "__main__":
    unittest.main()
