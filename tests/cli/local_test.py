"""--local of te, mi and ais: a line per sample, whose mean is the estimate."""
import csv as csv_reader
import io
import struct
import unittest

from command import CommandTest, csv, kolmo, numbers, result


class Local(CommandTest):
    def setUp(self):
        super().setUp()
        table = numbers(120, 3)
        for t in range(1, 120):
            table[t][1] = round(table[t][1] + 0.8 * table[t - 1][0], 9)
        self.table = table
        self.csv = self.file("d.csv", csv(table, ["a", "b", "c"]))
        self.te = ("te", self.csv, "--source", "a", "--target", "b")

    def local(self, *args):
        """The rows of --local, and the result; their mean must be its value."""
        path = self.path / "local.csv"
        found = result(*args, "--local", path)
        rows = list(csv_reader.DictReader(io.StringIO(path.read_text())))
        self.assertEqual(found["local"], str(path))
        self.assertEqual(len(rows), found["samples"])
        values = [float(r[f"local ({found['units']})"]) for r in rows]
        self.assertAlmostEqual(sum(values) / len(values), found["value"], delta=1e-12)
        return rows, found

    def test_the_mean_is_the_estimate(self):
        for estimator in ("ksg", "gaussian", "ordinal"):
            self.local(*self.te, "--estimator", estimator, "--max-lag", 3)
            self.local(*self.te, "--estimator", estimator, "--given", "c", "--units", "bits")
            self.local("mi", self.csv, "--x", "a", "--y", "b,c", "--estimator", estimator)
            self.local("ais", self.csv, "--x", "b", "--history", 2, "--estimator", estimator)
        few = self.file("few.csv", csv([[round(v) for v in row] for row in self.table], ["a", "b", "c"]))
        self.local("te", few, "--source", "a", "--target", "b", "--estimator", "discrete", "--surrogates", 9)
        self.local(*self.te, "--algorithm", "ksg2", "--theiler", 3, "--surrogates", 9, "--precision", "f32")

    def test_rows_are_those_of_the_file(self):
        self.assertEqual([int(r["row"]) for r in self.local(*self.te)[0]], list(range(1, 120)))
        rows, _ = self.local(*self.te, "--rows", "10:60", "--transform", "difference", "--history", 2)
        self.assertEqual([int(r["row"]) for r in rows], list(range(13, 60)))
        rows, _ = self.local("ais", self.csv, "--x", "a", "--rows", ":50", "--dt", 0.25, "--dt-unit", "year")
        self.assertEqual([float(r["time (year)"]) for r in rows], [0.25 * t for t in range(1, 50)])
        data = b"".join(struct.pack("<3d", *row) for row in self.table)
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 30, 3), }".ljust(117) + "\n"
        trials = self.file("d.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
        rows, _ = self.local("te", trials, "--source", 0, "--target", 1, "--local-window", 200)
        self.assertEqual([(int(r["row"]), int(r["trial"])) for r in rows], [(t, t // 30) for t in range(120) if t % 30])
        self.assertEqual([int(r["samples"]) for r in rows], [t % 30 for t in range(120) if t % 30])

    def test_windows(self):
        rows, found = self.local(*self.te, "--local-window", 7)
        self.assertEqual(found["local_window"], 7)
        values = [float(r["local (nats)"]) for r in rows]
        for i, r in enumerate(rows):
            window = values[max(0, i - 6):i + 1]
            self.assertEqual(int(r["samples"]), len(window))
            self.assertAlmostEqual(float(r["mean (nats)"]), sum(window) / len(window), delta=1e-12)

    def test_standard_output(self):
        run = kolmo(*self.te, "--local", "-")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(run.stdout.splitlines()), 120)
        self.assertEqual(run.stdout.splitlines()[0], "row,local (nats)")

    def test_same_bytes_on_every_device_and_thread(self):
        for args in (self.te, ("mi", self.csv, "--x", "a", "--y", "b"), ("ais", self.csv, "--x", "b")):
            files = set()
            for device, threads in (("cpu", 1), ("cpu", 2), ("simt", 1)):
                run = kolmo(*args, "--local", "-", "--local-window", 5, "--device", device, "--threads", threads)
                self.assertEqual(run.returncode, 0, run.stderr)
                files.add(run.stdout)
            self.assertEqual(len(files), 1, args)
        for estimator in ("gaussian", "ordinal"):
            self.assertEqual(*(kolmo(*self.te, "--local", "-", "--estimator", estimator, "--threads", threads).stdout
                               for threads in (1, 2)))

    def test_wrong_options(self):
        out = self.path / "l.csv"
        self.refused(*self.te, "--local-window", 5, mentions=["--local-window", "--local,"])
        self.refused(*self.te, "--local", out, "--local-window", 0, mentions=["--local-window"])
        self.refused(*self.te, "--dt", 1, "--dt-unit", "s", mentions=["--dt", "--local"])
        self.refused(*self.te, "--local", out, "--dt", 1, mentions=["--dt-unit"])
        self.refused(*self.te, "--local", out, "--dt-unit", "s", mentions=["--dt"])
        self.refused(*self.te, "--local", out, "--dt", -1, "--dt-unit", "s", mentions=["--dt"])
        self.refused(*self.te, "--local", "-", "--json", mentions=["--local", "--json"])
        self.refused(*self.te, "--local", self.csv, mentions=["--local", "d.csv"])
        self.refused(*self.te, "--local", self.path / "none" / "l.csv", mentions=["--local", "folder"])
        self.refused(*self.te, "--local", out, "--estimator", "ordinal", "--bias", "miller-madow",
                     mentions=["--local", "miller-madow"])
        same = self.file("same.csv", csv([[r[0], r[0]] for r in self.table]))
        self.refused("mi", same, "--x", 0, "--y", 1, "--estimator", "gaussian", "--local", out,
                     mentions=["same.csv", "determines another"])
        self.refused("entropy", self.csv, "--x", "a", "--local", out, mentions=["--local"])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
