"""kolmo mi --all-pairs: each pair as kolmo mi --x --y has it, whatever the order of columns and the devices; adjusted p; errors."""
import itertools
import unittest

from command import CommandTest, csv, kolmo, numbers, result


def adjusted(p_values):
    """Benjamini and Hochberg: the least p m / rank at or after each p, in ascending order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i], reverse=True)
    least, out = 1.0, [0.0] * len(p_values)
    for place, i in enumerate(order):
        least = min(least, p_values[i] * len(p_values) / (len(p_values) - place))
        out[i] = least
    return out


class AllPairs(CommandTest):
    def setUp(self):
        super().setUp()
        rows = [[a, a + 0.5 * b, c, b - c] for a, b, c in numbers(240, 3)]
        self.file_of = lambda order, name: self.file(name, csv([[row[i] for i in order] for row in rows],
                                                               ["wxyz"[i] for i in order]))
        self.data = self.file_of(range(4), "data.csv")

    def pairs(self, file, *options):
        found = result("mi", file, "--all-pairs", *options)
        return found, {frozenset((p["x"], p["y"])): p for p in found["pairs"]}

    def test_each_pair_is_that_of_mi(self):
        found, pairs = self.pairs(self.data, "--seed", 3)
        self.assertEqual(set(pairs), {frozenset(pair) for pair in itertools.combinations("wxyz", 2)})
        self.assertEqual((found["variables"], found["test"]), (list("wxyz"), None))
        for pair in found["pairs"]:
            alone = result("mi", self.data, "--x", pair["x"], "--y", pair["y"], "--seed", 3)
            self.assertEqual((pair["value"], pair["samples"]), (alone["value"], alone["samples"]))
        given = self.pairs(self.data, "--given", "y")[1]
        self.assertEqual(set(given), {frozenset(pair) for pair in itertools.combinations("wxz", 2)})
        alone = result("mi", self.data, "--x", "w", "--y", "z", "--given", "y")
        self.assertEqual(given[frozenset("wz")]["value"], alone["value"])

    def test_order_of_columns_and_devices(self):
        options = ("--surrogates", 39, "--neighbors", "auto")
        first = self.pairs(self.data, *options)[1]
        for file, more in ((self.file_of([3, 1, 0, 2], "other.csv"), ()), (self.data, ("--device", "simt")),
                           (self.data, ("--device", "cpu,simt", "--threads", 1))):
            for key, pair in self.pairs(file, *options, *more)[1].items():
                for name in ("value", "p_value", "p_adjusted", "surrogate_mean", "surrogate_std", "samples"):
                    self.assertEqual(pair[name], first[key][name], (sorted(key), name, more))

    def test_p_values_are_adjusted_over_all_pairs(self):
        found = result("mi", self.data, "--all-pairs", "--surrogates", 39)["pairs"]
        for pair, want in zip(found, adjusted([p["p_value"] for p in found])):
            self.assertAlmostEqual(pair["p_adjusted"], want, delta=1e-15)
        bonferroni = result("mi", self.data, "--all-pairs", "--surrogates", 39, "--correction", "bonferroni")["pairs"]
        for pair in bonferroni:
            self.assertAlmostEqual(pair["p_adjusted"], min(1, 6 * pair["p_value"]), delta=1e-15)

    def test_table(self):
        run = kolmo("mi", self.data, "--all-pairs", "--surrogates", 19, "--columns", "w,x,y")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[0].split(), ["x", "y", "nats", "bias-corrected", "p-value", "adjusted", "samples"])
        self.assertIn("3 pairs, correction bh, 19 circular surrogates", run.stdout)

    def test_errors(self):
        self.refused("mi", self.data, "--all-pairs", "--x", "w", mentions=["--x", "--all-pairs", "--columns"])
        self.refused("mi", self.data, "--columns", "w,x", mentions=["--columns", "--all-pairs"])
        self.refused("mi", self.data, "--x", "w", mentions=["--x and --y", "--all-pairs"])
        self.refused("mi", self.data, "--all-pairs", "--columns", "w", mentions=["two columns or more", "'w'"])
        self.refused("mi", self.data, "--all-pairs", "--columns", "w,x", "--given", "x", mentions=["'x'", "--columns"])
        constant = self.file("constant.csv", csv([[*row, 1] for row in numbers(50, 2)], "abc"))
        self.refused("mi", constant, "--all-pairs", mentions=["'c' is the same in every row", "--exclude"])
        few = self.file("few.csv", csv(numbers(4, 2), "ab"))
        self.refused("mi", few, "--all-pairs", mentions=["4 embedded rows are too few"])


if __name__ == "__main__":
    unittest.main()
