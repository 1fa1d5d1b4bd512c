"""Surrogates, trials, conditions and embeddings of te, mi, ais and network, as users give them."""
import json
import random
import shlex
import unittest

from command import CommandTest, csv, kolmo, result


def autoregressive(rows, columns, phi=0.5, seed=1):
    rng, values, all_ = random.Random(seed), [0.0] * columns, []
    for _ in range(rows):
        values = [phi * v + rng.gauss(0, 1) for v in values]
        all_.append(values)
    return all_


class Links(CommandTest):
    """The command that a network gives for a link repeats its value, and its p-value."""
    def check(self, table, *options, names=("a", "b", "c")):
        path = self.file("d.csv", csv(table, list(names)))
        found = json.loads(kolmo("network", path, "--surrogates", 30, "--json", *options).stdout)
        self.assertEqual(len(found["links"]), len(found["variables"]) * (len(found["variables"]) - 1))
        self.shifts = {link.get("min_shift") for link in found["links"]}
        for link in found["links"]:
            command = shlex.split(link["command"])
            self.assertEqual(command[:2], ["kolmo", "te"])
            again = result(*command[1:])
            for key in ("value", "p_value", "lag", "surrogate_mean", "surrogate_std", "surrogates"):
                self.assertEqual(again[key], link[key], (key, link["command"]))

    def test_default(self):
        self.check(autoregressive(120, 3))

    def test_one_slow_variable(self):
        slow = autoregressive(120, 1, 0.95, seed=3)
        self.check([[*fast, *one] for fast, one in zip(autoregressive(120, 2), slow)])
        self.assertGreater(len(self.shifts), 1)

    def test_every_option_that_changes_the_value(self):
        self.check(autoregressive(120, 4), "--columns", "a,b,d", "--given", "c:2-3", "--max-lag", 3, "--seed", 5, "--neighbors", 3,
                   "--theiler", 2, "--surrogate-type", "block", "--source-history", 2, "--max-history", 2, "--standardize",
                   "series", "--algorithm", "ksg2", "--units", "bits", "--rows", "3:110", "--embedding", "ragwitz",
                   names=("a", "b", "c", "d"))

    def test_missing_rows_and_awkward_names(self):
        table = autoregressive(150, 3)
        table[20][2] = table[77][0] = table[78][1] = float("nan")
        self.check(table, "--theiler", 3, names=('"a,b"', "it's", "x 0"))

    def test_other_estimators(self):
        self.check(autoregressive(120, 3), "--estimator", "ordinal", "--max-lag", 2)
        few = [[round(v) for v in row] for row in autoregressive(200, 3)]
        self.check([[max(-1, min(1, v)) for v in row] for row in few], "--estimator", "discrete", "--bias", "miller-madow")

    def test_the_analytic_test(self):
        path = self.file("d.csv", csv(autoregressive(120, 3), ["a", "b", "c"]))
        found = json.loads(kolmo("network", path, "--estimator", "gaussian", "--max-lag", 3, "--json").stdout)
        for link in found["links"]:
            again = result(*shlex.split(link["command"])[1:])
            self.assertEqual((again["value"], again["p_value"], again["lag"]), (link["value"], link["p_value"], link["lag"]))

    def test_a_path_with_spaces(self):
        path = self.file("my 'data'.csv", csv(autoregressive(60, 2), ["a", "b"]))
        found = json.loads(kolmo("network", path, "--surrogates", 5, "--json").stdout)
        self.assertIn(str(path), shlex.split(found["links"][0]["command"]))


class Surrogates(CommandTest):
    def setUp(self):
        super().setUp()
        self.csv = self.file("d.csv", csv(autoregressive(200, 3, 0.8), ["a", "b", "c"]))

    def test_the_result_says_how_they_were_made(self):
        args = ("te", self.csv, "--source", "a", "--target", "b", "--surrogates", 19)
        found = result(*args)
        self.assertEqual(found["surrogate_type"], "circular")
        self.assertGreaterEqual(found["min_shift"], 2)
        self.assertIn(f"circular surrogates, shifted by {found['min_shift']} rows or more", kolmo(*args).stdout)
        found = result(*args, "--surrogate-type", "block")
        self.assertGreaterEqual(found["block_length"], 2)
        self.assertEqual(result(*args, "--surrogate-type", "block", "--block-length", 7)["block_length"], 7)
        self.assertEqual(result(*args, "--min-shift", 40)["min_shift"], 40)
        self.assertEqual(result("ais", self.csv, "--x", "a", "--surrogates", 9)["surrogate_type"], "permute")

    def test_same_on_every_device_and_thread(self):
        for method in ("circular", "permute", "block", "phase", "iaaft"):
            runs = [result("te", self.csv, "--source", "a", "--target", "b", "--surrogates", 9, "--surrogate-type", method,
                           "--device", device, "--threads", threads)
                    for device, threads in (("cpu", 1), ("cpu", 2), ("simt", 1))]
            for key in ("value", "p_value", "surrogate_mean", "surrogate_std"):
                self.assertEqual(len({run[key] for run in runs}), 1, (method, key))

    def test_what_cannot_be_made(self):
        args = ("te", self.csv, "--source", "a", "--target", "b", "--surrogates", 9)
        self.refuses("blocks of 199 rows of 199 leave no other order", *args, "--surrogate-type", "block", "--block-length", 199)
        self.refuses("need trials; see --trials", *args, "--surrogate-type", "trials")
        self.refuses("iaaft are made of one column", "mi", self.csv, "--x", "a,b", "--y", "c", "--surrogates", 9,
                     "--surrogate-type", "iaaft")
        self.refuses("is 'shuffled', accepted are circular, permute, block, trials, phase, iaaft", *args, "--surrogate-type", "shuffled")

    def test_few_are_told(self):
        path = self.file("short.csv", csv(autoregressive(40, 2, 0.0), ["a", "b"]))
        done = kolmo("te", path, "--source", "a", "--target", "b", "--surrogates", 1000, "--json")
        found = json.loads(done.stdout)
        self.assertIn("few_surrogates", {w["name"] for w in found["warnings"]})
        self.assertLess(found["surrogates"], 40)
        self.assertGreaterEqual(found["p_value"], 1 / (1 + found["surrogates"]))
        self.refuses("few_surrogates", "te", path, "--source", "a", "--target", "b", "--surrogates", 1000, "--strict")

    def refuses(self, message, *args):
        done = kolmo(*args)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stdout, "")


class Trials(Surrogates):
    def setUp(self):
        super().setUp()
        self.table = [[t // 25, *row] for t, row in enumerate(autoregressive(200, 2, 0.8))]
        self.csv = self.file("trials.csv", csv(self.table, ["trial", "a", "b", ]))

    test_the_result_says_how_they_were_made = test_same_on_every_device_and_thread = test_few_are_told = None
    test_what_cannot_be_made = None

    def test_no_embedding_spans_two(self):
        found = result("te", self.csv, "--source", "a", "--target", "b", "--trials", "trial", "--target-history", 3)
        self.assertEqual((found["samples"], found["sets"], found["missing_rows"]), (8 * 22, 8, 0))

    def test_as_rows_of_nothing_between_them(self):
        gaps = [row for t in range(8) for row in [*self.table[25 * t:25 * t + 25], [float("nan")] * 3]]
        other = self.file("gaps.csv", csv(gaps, ["trial", "a", "b"]))
        args = ("--source", "a", "--target", "b", "--noise", 0)
        self.assertEqual(result("te", self.csv, *args, "--trials", "trial")["value"], result("te", other, *args)["value"])

    def test_surrogates_of_trials(self):
        found = result("te", self.csv, "--source", "a", "--target", "b", "--trials", "trial", "--surrogates", 50,
                       "--surrogate-type", "trials")
        self.assertEqual(found["surrogates"], 50)
        self.assertEqual(found["trials"], "trial")

    def test_a_network_leaves_the_column_out(self):
        done = kolmo("network", self.csv, "--trials", "trial", "--surrogates", 9, "--json")
        self.assertEqual(json.loads(done.stdout)["variables"], ["a", "b"])

    def test_wrong_columns(self):
        args = ("te", self.csv, "--source", "a", "--target", "b", "--trials")
        self.refuses("takes one column", *args, "trial,a")
        self.refuses("no column", *args, "other")
        again = self.file("again.csv", csv([[0, 1, 2], [1, 2, 3], [0, 3, 4]], ["trial", "a", "b"]))
        self.refuses("row 2: the trial was met before", "te", again, "--source", "a", "--target", "b", "--trials", "trial")
        missing = self.file("missing.csv", csv([[0, 1, 2], [float("nan"), 2, 3]], ["trial", "a", "b"]))
        self.refuses("row 1, trial: the trial is missing", "te", missing, "--source", "a", "--target", "b", "--trials", "trial")


class Conditions(CommandTest):
    def setUp(self):
        super().setUp()
        self.csv = self.file("d.csv", csv(autoregressive(200, 4), ["a", "b", "c:1", "d"]))
        self.args = ("te", self.csv, "--source", "a", "--target", "b")

    def test_lags(self):
        one = result(*self.args, "--given", "d")["value"]
        self.assertEqual(result(*self.args, "--given", "d:1")["value"], one)
        three = result(*self.args, "--given", "d:1-3")
        self.assertNotEqual(three["value"], one)
        self.assertEqual(three["value"], result(*self.args, "--given", "d:1,d:2-3")["value"])
        self.assertEqual(three["samples"], 197)
        self.assertEqual(result(*self.args, "--given", "c:1")["value"], result(*self.args, "--given", '"c:1":1')["value"])

    def test_wrong_ones(self):
        for given, message in (("d:0", "a lag is a whole number from 1"), ("d:3-2", "FIRST-LAST"), ("d:x", "a lag is"),
                               ("d:1-", "a lag is"), ("d:1,d:1", "'d' has the lag 1 twice"), ("d,,c", "between two commas"),
                               ("e:2", "no column"), ("b", "'b' is also a source or target"), ("d:1-20", "more than 16 values")):
            done = kolmo(*self.args, "--given", given)
            self.assertNotEqual(done.returncode, 0, given)
            self.assertIn(message, done.stderr)

    def test_embedding_is_chosen_as_in_a_network(self):
        found = json.loads(kolmo("network", self.csv, "--columns", "a,b", "--surrogates", 0, "--json").stdout)
        chosen = result(*self.args, "--embedding", "ais")
        target = next(t for t in found["targets"] if t["target_index"] == 1)
        self.assertEqual((chosen["target_history"], chosen["target_tau"]), (target["history"], target["tau"]))
        self.assertEqual(chosen["embedding"], "ais")
        self.assertIn("target history", kolmo(*self.args).stdout)

    def test_options_that_exclude_each_other(self):
        for options in (("--lag", 2, "--max-lag", 3), ("--embedding", "ais", "--history", 2)):
            self.assertNotEqual(kolmo(*self.args, *options).returncode, 0)


if __name__ == "__main__":
    unittest.main()
