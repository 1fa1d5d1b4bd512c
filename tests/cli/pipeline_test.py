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

    def test_a_load_meets_the_objective_if_p99_of_each_of_five_runs_does(self):
        for objective, largest in ((1e9, 0.9), (1e-3, 0)):
            r = measured("--slots", 2, "--repeats", 5, "--objective", objective)
            self.assertEqual(len(r["loads"]), 8)
            for load in r["loads"]:
                p99 = [run["p99"] for run in load["runs"]]
                self.assertEqual(len(p99), 5)
                self.assertEqual(load["p99"], statistics.median(p99))
                self.assertEqual(load["p99_range"], [min(p99), max(p99)])
                self.assertEqual(load["meets_objective"], max(p99) <= r["objective_seconds"])
                self.assertGreaterEqual(load["items"], 100)
            self.assertEqual(r["largest_load_that_meets_objective"], {"paced": largest, "Poisson": largest})

    def test_fewer_runs_do_not_show_that_it_is_met(self):
        few = ("--slots", 2, "--repeats", 1)
        r = measured(*few, "--objective", 1e9)
        self.assertEqual({load["meets_objective"] for load in r["loads"]}, {None})
        self.assertEqual(r["largest_load_that_meets_objective"], {"paced": 0, "Poisson": 0})
        run = kolmo("pipeline", *QUICK, *few, "--objective", 1e9)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("not known, 5 runs or more are needed", run.stdout)
        self.assertNotIn("up to a load", run.stdout)
        missed = measured(*few, "--objective", 1e-3)
        self.assertEqual({load["meets_objective"] for load in missed["loads"]}, {False}, "one run shows that it is not")

    def test_the_verdict_is_printed(self):
        run = kolmo("pipeline", *QUICK, "--slots", 2, "--objective", "1e9")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("medians of 5 runs", run.stdout)
        self.assertIn("lowest to highest", run.stdout)
        self.assertIn("up to a load of 90 %", run.stdout)
        run = kolmo("pipeline", *QUICK, "--slots", 2, "--objective", "0.001")
        self.assertIn("at no measured load", run.stdout)

    def test_options_out_of_range_are_refused(self):
        self.refused("pipeline", *QUICK, "--slots", "3,9")
        self.refused("pipeline", *QUICK, "--spin", -1)


if __name__ == "__main__":
    unittest.main()
