"""The order of a file's columns, and what else is in it, change no result."""
import datetime
import itertools
import unittest
from pathlib import Path

from command import CommandTest, csv, numbers, result

MACRO = Path(__file__).resolve().parents[2] / "examples/data/macrodata.csv"
FOUR = ("realgdp", "realcons", "realinv", "unemp")


def links(file, *options):
    """The links of a network by the names of source and target: lag, value, profile, p and the statistics of surrogates."""
    document = result("network", file, "--device", "cpu", *options)
    names = document["variables"]
    assert len(document["links"]) == len(names) * (len(names) - 1)
    places = ("source_index", "target_index", "command", "lag_time")
    return {(link["source"], link["target"]): {k: v for k, v in link.items() if k not in places} for link in document["links"]}


class Columns(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = numbers(150, 3, seed=4)
        for before, row in zip(self.table, self.table[1:]):
            row[1] += 0.7 * before[0]
        self.usual = self.file("usual.csv", csv(self.table, ["a", "b", "c"]))
        self.options = ["--max-lag", 2, "--surrogates", 99]

    def test_all_orders_of_four_columns(self):
        lines = [line.split(",") for line in MACRO.read_text(encoding="utf-8").splitlines()]
        at = [lines[0].index(f'"{name}"') for name in FOUR]
        options = ["--transform", "log-difference", "--max-lag", 4, "--surrogates", 199]
        want = links(MACRO, "--columns", ",".join(FOUR), *options)
        for order in itertools.permutations(at):
            file = self.file("order.csv", "\n".join(",".join(line[c] for c in order) for line in lines) + "\n")
            self.assertEqual(links(file, *options), want, order)

    def test_further_columns(self):
        dated = [[str(datetime.date(2024, 1, 1) + datetime.timedelta(i)), row[2], f"label {i}", row[0], i, row[1]]
                 for i, row in enumerate(self.table)]
        file = self.file("dated.csv", csv(dated, ["date", "c", "label", "a", "count", "b"]))
        self.assertEqual(links(file, "--columns", "a,b,c", *self.options), links(self.usual, *self.options))
        te = ["--source", "a", "--target", "b", "--max-lag", 2, "--surrogates", 99, "--device", "cpu"]
        want, got = (result("te", f, *te) for f in (self.usual, file))
        for changing in ("seconds", "file", "options", "command", "time_axis"):
            want.pop(changing, None), got.pop(changing, None)
        self.assertEqual(got, want)

    def test_without_names(self):
        plain, moved = self.file("plain.csv", csv(self.table)), self.file("moved.csv", csv([[i, *row[::-1]] for i, row in
                                                                                        enumerate(self.table)]))
        place = {"0": "3", "1": "2", "2": "1"}
        want = {(place[s], place[t]): {**link, "source": place[s], "target": place[t]}
                for (s, t), link in links(plain, *self.options).items()}
        self.assertEqual(links(moved, "--columns", "1,2,3", *self.options), want)

    def test_two_columns_of_one_name(self):
        twice = [[*row, row[0] + 1e-3 * row[2]] for row in self.table]
        forth = self.file("forth.csv", csv(twice, ["a", "b", "c", "a"]))
        back = self.file("back.csv", csv([row[::-1] for row in twice], ["a", "c", "b", "a"]))
        te = ["--target", "b", "--max-lag", 2, "--surrogates", 99, "--device", "cpu"]
        for column in (0, 3):
            want, got = result("te", forth, "--source", column, *te), result("te", back, "--source", 3 - column, *te)
            self.assertEqual([got[k] for k in ("value", "p_value", "lag")], [want[k] for k in ("value", "p_value", "lag")])

    def test_embedding_draws_nothing(self):
        chosen = [result("te", self.usual, "--source", "a", "--target", "b", "--embedding", "ais", "--surrogates", 0, "--seed",
                         seed, "--device", "cpu") for seed in range(5)]
        self.assertEqual(len({(r["target_history"], r["target_tau"]) for r in chosen}), 1)


if __name__ == "__main__":
    unittest.main()
