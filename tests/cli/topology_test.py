"""kolmo topology: the loops of a circle, windows that tell regimes apart, files of intervals, and what is refused in one clear line."""
import csv
import math
import unittest

from command import CommandTest, kolmo, result


class Topology(CommandTest):
    def circle(self):
        rows = "".join(f"{i},{math.cos(i / 5)},{math.sin(i / 5)}\n" for i in range(31))
        return self.file("circle.csv", "n,x,y\n" + rows)

    def test_a_circle_is_one_loop(self):
        found = result("topology", self.circle(), "--columns", "x,y")["windows"][0]
        self.assertEqual((found["points"], len(found["h0"]), found["h0"][-1]), (31, 31, [0, None]))
        self.assertEqual(found["h1"], [found["longest"]])
        # A loop of a regular polygon is born with its side, and dies near the side of the equilateral triangle in the circle.
        self.assertAlmostEqual(found["longest"][0], 2 * math.sin(0.1), delta=0.1)
        self.assertAlmostEqual(found["longest"][1], math.sqrt(3), delta=0.15)
        self.assertIn("31 points, 31 components and 1 loops", kolmo("topology", self.circle(), "--columns", "x,y").stdout)

    def test_windows_and_the_file_of_intervals(self):
        series = self.file("s.csv", "x\n" + "".join(f"{math.sin(0.2 * t) if t < 200 else t % 7 * (t % 3)}\n" for t in range(400)))
        out = str(self.path / "out.csv")
        windows = result("topology", series, "--dimension", "4", "--delay", "7", "--window", "100", "--step", "50", "--out", out)["windows"]
        self.assertEqual([w["begin"] for w in windows], list(range(0, 301, 50)))
        self.assertIsNone(windows[0]["distance"])
        self.assertGreater(windows[3]["distance"], 10 * windows[1]["distance"])
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), sum(len(w["h0"]) + len(w["h1"]) for w in windows))
        self.assertEqual({r["death"] for r in rows if r["dimension"] == "0" and math.isinf(float(r["death"]))}, {"inf"})
        self.assertIn("bottleneck", kolmo("topology", series, "--window", "100").stdout)

    def test_a_matrix_of_distances(self):
        square = self.file("d.csv", "0,1,1.4,1\n1,0,1,1.4\n1.4,1,0,1\n1,1.4,1,0\n")
        self.assertEqual(result("topology", square, "--distances")["windows"][0]["h1"], [[1, 1.4]])

    def test_what_cannot_be_is_one_clear_line(self):
        holes = self.file("holes.csv", "x\n1\nNaN\n3\n")
        self.refused("topology", self.file("three.csv", "x\n1\n2\n3\n"), "--window", 4, mentions=["a window has 4 rows, but there are 3"])
        for options, text in (((), "has no value in row 1"), (("--step", "1"), "step"), (("--max-dimension", "2"), "max-dimension"),
                              (("--distances",), "has no value in row 1"), (("--columns", "y"), "y")):
            self.refused("topology", holes, *options, mentions=[text])
        matrix = self.file("d.csv", "0,1\n1,0\n")
        for options in (("--metric", "maximum"), ("--delay", 3), ("--dimension", 2), ("--every", 2), ("--normalize",), ("--window", 1)):
            self.refused("topology", matrix, "--distances", *options, mentions=["of distances", options[0].strip("-")])
        for options in (("--compare", "wasserstein"), ("--order", 2)):
            self.refused("topology", matrix, *options, mentions=["are of windows, and there is no window"])
        self.refused("topology", self.file("far.csv", "-1.7e308\n1.7e308\n"), mentions=["far.csv: points 0 and 1", "divide the data"])


if __name__ == "__main__":
    unittest.main()
