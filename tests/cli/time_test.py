"""Times, trials and masks of rows, as users give them."""
import datetime
import json
import random
import unittest

from command import CommandTest, csv, kolmo, result

ROWS = 1200


def series():
    """x drives y."""
    random.seed(3)
    x = [random.gauss(0, 1) for _ in range(ROWS)]
    y = [0.0]
    for t in range(1, ROWS):
        y.append(0.2 * y[-1] + x[t - 1] + 0.5 * random.gauss(0, 1))
    return x, y


def days(first=datetime.date(2001, 1, 1)):
    return [str(first + datetime.timedelta(t)) for t in range(ROWS)]


class Time(CommandTest):
    te = ("--source", "x", "--target", "y")

    def setUp(self):
        super().setUp()
        self.x, self.y = series()
        self.rows = [list(row) for row in zip(days(), self.x, self.y)]

    def dated(self, name, rows):
        return self.file(name, csv(rows, ["date", "x", "y"]))

    def test_newest_row_first_is_refused(self):
        file = self.dated("newest.csv", self.rows[::-1])
        for strict in ((), ("--strict",)):
            self.refused("te", file, *self.te, *strict, mentions=["'date' descends", "sort the rows", "--time none"])
        self.refused("network", file, "--surrogates", 9, mentions=["'date' descends"])
        right, turned = (result("te", f, *self.te, "--time", "none")["value"] for f in (self.dated("d.csv", self.rows), file))
        self.assertGreater(right, 20 * turned)

    def test_repeated_and_mixed_times_are_refused(self):
        twice = self.dated("twice.csv", self.rows[:10] + self.rows[9:])
        self.refused("te", twice, *self.te, mentions=["row 10", "as in the row before", "--trials"])
        mixed = self.dated("mixed.csv", self.rows[:10] + self.rows[20:] + self.rows[10:20])
        self.refused("te", mixed, *self.te, mentions=[f"row {ROWS - 10}", "sort the rows"])
        self.refused("te", self.dated("d.csv", self.rows), *self.te, "--time", "when", mentions=["--time", "when"])

    def test_absent_rows_are_as_missing_values(self):
        random.seed(5)
        kept = [True, *(random.random() > 0.34 for _ in range(ROWS - 2)), True]
        absent = self.dated("absent.csv", [row for row, k in zip(self.rows, kept) if k])
        missing = self.dated("missing.csv", [row if k else [row[0], "", ""] for row, k in zip(self.rows, kept)])
        options = (*self.te, "--noise", 0, "--theiler", 3)
        got, want = (result("te", f, *options) for f in (absent, missing))
        for key in ("value", "samples", "sets"):
            self.assertEqual(got[key], want[key])
        self.assertEqual(got["time_axis"]["absent_rows"], kept.count(False))
        self.assertIn("are absent in", kolmo("te", absent, *self.te).stderr)
        joined = result("te", absent, *options, "--time", "none")
        self.assertLess(joined["value"], got["value"] / 1.5)
        self.assertNotIn("time_axis", joined)

    def test_lags_are_told_in_time(self):
        weeks = [[f"{7 * t}", a, b] for t, (a, b) in enumerate(zip(self.x, self.y))]
        file = self.file("t.csv", csv(weeks, ["t", "x", "y"]))
        network = result("network", file, "--time", "t", "--dt-unit", "day", "--surrogates", 19, "--max-lag", 2)
        self.assertEqual(network["variables"], ["x", "y"])
        self.assertEqual(network["time_step"], {"step": 7.0, "unit": "day"})
        self.assertEqual({link["lag_time"] / link["lag"] for link in network["links"]}, {7.0})
        found = result("network", self.dated("d.csv", self.rows), "--surrogates", 19)
        self.assertEqual(found["time_step"], {"step": 1.0, "unit": "day"})
        self.assertEqual((found["time_axis"]["first"], found["time_axis"]["gaps"]), ("2001-01-01", 0))

    def test_the_link_has_a_command_with_the_same_value(self):
        rows = [[*row, "" if 300 < t < 800 else row[1] * row[2]] for t, row in enumerate(self.rows) if not 100 < t < 180]
        file = self.file("z.csv", csv(rows, ["date", "x", "y", "z"]))
        network = result("network", file, "--surrogates", 19, "--max-lag", 2)
        for link in network["links"]:
            alone = result(*link["command"].split()[1:])
            for key in ("value", "p_value", "samples", "lag"):
                self.assertEqual(alone[key], link[key], link["command"])
        samples = {(link["source"], link["target"]): link["samples"] for link in network["links"]}
        self.assertGreater(samples["x", "y"], samples["x", "z"] + 400)

    def test_trials(self):
        labels = [f"s{t % 3}" for t in range(ROWS)]
        order = [t % 3 * (ROWS // 3) + t // 3 for t in range(ROWS)]
        turns = [[labels[t], t // 3, self.x[order[t]], self.y[order[t]]] for t in range(ROWS)]
        whole = sorted(turns, key=lambda row: row[0])
        names = ["subject", "t", "x", "y"]
        mixed, apart = self.file("mixed.csv", csv(turns, names)), self.file("apart.csv", csv(whole, names))
        options = (*self.te, "--trials", "subject", "--noise", 0)
        want = result("te", apart, *options)
        for more in ((), ("--time", "t")):
            self.assertEqual(result("te", mixed, *options, *more)["value"], want["value"])
        self.assertEqual(result("network", mixed, "--trials", "subject", "--surrogates", 9)["variables"], ["t", "x", "y"])
        local = self.path / "local.csv"
        result("te", mixed, *options, "--local", local, "--dt", 0.5, "--dt-unit", "s")
        lines = local.read_text().splitlines()
        self.assertEqual(lines[0], "row,trial,time (s),local (nats)")
        self.assertEqual([line.split(",")[:3] for line in (lines[1], lines[ROWS // 3])], [["3", "s0", "0.5"], ["4", "s1", "0.5"]])
        result("te", mixed, *options, "--local", local, "--local-over-trials")
        mean = [line.split(",") for line in local.read_text().splitlines()[1:]]
        self.assertEqual([int(line[0]) for line in mean], list(range(1, ROWS // 3)))
        self.assertEqual({line[2] for line in mean}, {"3"})
        self.assertAlmostEqual(sum(float(line[1]) for line in mean) / len(mean), want["value"], places=12)
        uneven = self.file("uneven.csv", csv(whole[:-50], names))
        run = kolmo("te", uneven, *options, "--surrogates", 5, "--surrogate-type", "trials")
        self.assertIn("trials_cut", run.stderr)
        self.assertEqual(run.returncode, 0)
        chosen = kolmo("network", uneven, "--columns", "x,y", "--trials", "subject", "--method", "multivariate", "--max-lag", 1,
                       "--surrogates", 19, "--surrogate-type", "trials", "--json")
        self.assertIn("trials_cut", chosen.stderr)
        for link in json.loads(chosen.stdout)["links"]:
            if link.get("command"):
                self.assertEqual(result(*link["command"].split()[1:])["value"], link["value"], link["command"])

    def test_where(self):
        season = ["winter" if t // 90 % 4 == 0 else "summer" for t in range(ROWS)]
        y = [b if s == "winter" else -b for b, s in zip(self.y, season)]
        rows = [[*row, s, int(s == "winter")] for row, s in zip(zip(self.x, y), season)]
        file = self.file("w.csv", csv(rows, ["x", "y", "season", "is_winter"]))
        winter = result("te", file, *self.te, "--where", "season=winter")
        self.assertEqual(winter["value"], result("te", file, *self.te, "--where", "is_winter")["value"])
        self.assertEqual(winter["samples"], season[1:].count("winter"))
        self.refused("te", file, *self.te, "--where", "season", mentions=["--where", "COLUMN=VALUE"])
        self.refused("te", file, *self.te, "--where", "season=autumn", mentions=["--where", "no row counts"])


if __name__ == "__main__":
    unittest.main()
