"""The analysis commands as they are documented: values, options, and every wrong input ends in one clear line."""
import json
import math
import struct
import unittest

from command import DATA, CommandTest, csv, kolmo, needs, numbers, result

COUPLED = DATA / "2coupledRandomCols-1.txt"
LOGISTIC = DATA / "coupledLogisticMapXY.txt"
PAIRED = DATA / "4ColsPairedNoisyDependence-1.txt"
HEART = DATA / "SFI-heartRate_breathVol_bloodOx-extract.txt"


@needs(COUPLED.exists(), f"reference data is missing: {COUPLED} (set KOLMO_TEST_DATA)")
class Values(unittest.TestCase):
    def near(self, value, *args):
        self.assertAlmostEqual(result(*args, "--noise", 0)["value"], value, delta=1e-10)

    def test_transfer_entropy(self):
        self.near(0.306326663972, "te", COUPLED, "--source", 0, "--target", 1)
        self.near(0.305800648895, "te", COUPLED, "--source", 0, "--target", 1, "--standardize", "series")
        self.near(0.020129978972, "te", COUPLED, "--source", 1, "--target", 0, "--theiler", 20, "--algorithm", "ksg2")
        self.near(0.002279119796, "te", HEART, "--source", 0, "--target", 1, "--target-history", 2, "--target-tau", 2,
                  "--source-history", 2, "--source-tau", 2, "--lag", 2)

    def test_mutual_information(self):
        self.near(0.346597754654, "mi", PAIRED, "--x", "0,1", "--y", "2,3", "--neighbors", 10)
        self.near(0.101232066985, "mi", PAIRED, "--x", 0, "--y", 2, "--standardize", "none")
        self.near(0.355298197188, "mi", PAIRED, "--x", "0,1", "--y", 2, "--given", 3, "--algorithm", "ksg2")

    def test_active_information_storage(self):
        self.near(1.755506651455, "ais", HEART, "--x", 0, "--history", 2)
        self.near(1.549893430507, "ais", HEART, "--x", 0)

    def test_units(self):
        nats, bits = (result("te", LOGISTIC, "--source", 0, "--target", 1, "--units", u) for u in ("nats", "bits"))
        self.assertAlmostEqual(bits["value"] * math.log(2), nats["value"], delta=1e-14)
        self.assertEqual((nats["units"], bits["units"]), ("nats", "bits"))

    def test_devices_and_threads(self):
        args = ("te", COUPLED, "--source", 0, "--target", 1, "--surrogates", 20, "--seed", 7)
        one = result(*args, "--device", "cpu", "--threads", 1)
        two = result(*args, "--device", "cpu", "--threads", 2)
        for key in ("value", "p_value", "surrogate_mean", "surrogate_std"):
            self.assertEqual(one[key], two[key])
        emulated = kolmo(*args, "--device", "simt", "--json")
        if emulated.returncode == 0:
            emulated = json.loads(emulated.stdout)
            self.assertEqual(emulated["device"], "simt")
            for key in ("value", "p_value", "surrogate_mean", "surrogate_std"):
                self.assertEqual(one[key], emulated[key])
        else:
            self.assertIn("simt", emulated.stderr)

    def test_devices_share_the_work(self):
        def without_devices(text):
            found = json.loads(text.replace("cpu, simt", "cpu"))  # the methods name devices
            for key in ("seconds", "device", "threads", "command", "date"):
                found.pop(key, None)
            return found

        if kolmo("te", COUPLED, "--source", 0, "--target", 1, "--device", "simt").returncode:
            self.skipTest("no emulated GPU in this build")
        for args in (("te", COUPLED, "--source", 0, "--target", 1, "--surrogates", 300, "--seed", 7),
                     ("mi", COUPLED, "--x", 0, "--y", 1, "--surrogates", 50, "--surrogate-type", "phase"),
                     ("network", COUPLED, "--surrogates", 40, "--max-lag", 2, "--seed", 3),
                     ("network", COUPLED, "--method", "multivariate", "--max-lag", 2, "--permutations-max-stat", 40)):
            alone, shared = (kolmo(*args, "--device", device, "--threads", 1, "--json") for device in ("cpu", "cpu,simt"))
            self.assertEqual(shared.returncode, 0, shared.stderr)
            self.assertEqual(json.loads(shared.stdout)["device"], "cpu, simt")
            self.assertEqual(without_devices(shared.stdout), without_devices(alone.stdout))
        for devices, said in (("cpu,cpu", "names cpu twice"), ("cpu,", "'' is not one of"), ("cuda:all", "there is none"),
                              ("cpu,simt,0", "'0' is not one of")):
            run = kolmo("te", COUPLED, "--source", 0, "--target", 1, "--device", devices)
            if devices == "cuda:all" and any(d["device"].startswith("cuda") for d in result("devices")):
                continue
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(said, run.stderr)
        for args in (("te", COUPLED, "--source", 0, "--target", 1, "--estimator", "gaussian"), ("run", "softmax")):
            self.assertEqual(kolmo(*args, "--device", "cpu,simt").returncode, 2)

    def test_a_significant_p_value(self):
        found = result("te", LOGISTIC, "--source", 0, "--target", 1, "--surrogates", 99)
        self.assertEqual(found["p_value"], 0.01)
        plain = result("te", LOGISTIC, "--source", 0, "--target", 1, "--surrogates", 99, "--p-value", "plain")
        self.assertEqual(plain["p_value"], 0)
        self.assertIn("/ S", plain["p_value_convention"])


class Output(CommandTest):
    def setUp(self):
        super().setUp()
        self.csv = self.file("series.csv", csv(numbers(80, 3), ["a", "b", "c"]))

    def test_json_has_what_is_promised(self):
        commands = {"entropy": ("--x", "a,b"), "mi": ("--x", "a", "--y", "b", "--given", "c"),
                    "te": ("--source", "a", "--target", "b", "--given", "c"), "ais": ("--x", "a")}
        for name, args in commands.items():
            found = result(name, self.csv, *args)
            for key in ("measure", "value", "units", "samples", "p_value", "surrogates", "device", "seconds",
                        "neighbors", "theiler", "standardize", "noise", "seed", "file"):
                self.assertIn(key, found, name)
            self.assertEqual(found["measure"], name)
            self.assertIsNone(found["p_value"])
            self.assertGreater(found["seconds"], 0)

    def test_names_and_numbers_choose_the_same_columns(self):
        self.assertEqual(result("te", self.csv, "--source", "a", "--target", "c")["value"],
                         result("te", self.csv, "--source", 0, "--target", 2)["value"])

    def test_rows(self):
        part = self.file("part.csv", csv(numbers(80, 3)[10:60], ["a", "b", "c"]))
        found = result("mi", self.csv, "--x", 0, "--y", 1, "--rows", "10:60", "--noise", 0)
        self.assertEqual(found["samples"], 50)
        self.assertEqual(found["value"], result("mi", part, "--x", 0, "--y", 1, "--noise", 0)["value"])

    def test_for_people(self):
        run = kolmo("te", self.csv, "--source", "a", "--target", "b", "--surrogates", 19, "--device", "cpu")
        self.assertEqual(run.returncode, 0)
        self.assertIn("a -> b", run.stdout)
        self.assertIn("device: cpu", run.stdout)
        self.assertIn("(1 + #{surrogate >= observed}) / (1 + S)", run.stdout)
        self.assertNotIn("\033", run.stdout)

    def test_missing_rows_are_reported(self):
        table = numbers(80)
        table[30][0] = table[50][1] = ""
        path = self.file("gaps.csv", csv(table))
        found = result("te", path, "--source", 0, "--target", 1)
        self.assertEqual((found["missing_rows"], found["sets"], found["samples"]), (2, 3, 75))
        self.assertIn("2 rows with missing values", kolmo("te", path, "--source", 0, "--target", 1).stderr)

    def test_help(self):
        for name in ("entropy", "mi", "te", "ais", "network", "simulate"):
            text = kolmo(name, "--help").stdout
            self.assertIn("Example:", text, name)
            self.assertIn(f"kolmo {name}", text)

    def test_network(self):
        out, report, graph = (self.path / n for n in ("n.json", "n.html", "n.graphml"))
        run = kolmo("network", self.csv, "--surrogates", 19, "--max-lag", 2, "--out", out, "--report", report,
                    "--graph", graph)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = json.loads(out.read_text())
        self.assertEqual(document["measure"], "network")
        self.assertEqual(document["variables"], ["a", "b", "c"])
        self.assertEqual(len(document["links"]), 6)
        for link in document["links"]:
            self.assertEqual(max(p["value"] for p in link["profile"]), link["value"])
            self.assertAlmostEqual(link["p_value"] * 20, round(link["p_value"] * 20), delta=1e-12)
        self.assertIn("</html>", report.read_text())
        self.assertIn("<graphml", graph.read_text())
        self.assertEqual(sorted(p.name for p in self.path.iterdir()),
                         ["n.graphml", "n.html", "n.json", "series.csv"], "nothing else is left")

    def test_simulate(self):
        out, truth = self.path / "s.csv", self.path / "t.json"
        run = kolmo("simulate", "var", "--variables", 3, "--rows", 50, "--seed", 2, "--out", out, "--truth", truth)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(out.read_text().splitlines()), 51)
        self.assertIn("links", json.loads(truth.read_text()))


def npy(shape, data, descr="<f8", fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Input(CommandTest):
    """An input gives the right result, or one clear line naming file, row and column, status 2 and no output."""

    table = numbers(60, 3)

    def te(self, content, name="in.csv"):
        return result("te", self.file(name, content), "--source", 0, "--target", 1)["value"]

    def wrong(self, content, *mentions, name="in.csv", args=()):
        path, out = self.file(name, content), self.path / "out.json"
        self.refused("te", path, "--source", 0, "--target", 1, *args, mentions=(name, *mentions))
        self.refused("network", path, "--columns", "0,1", "--surrogates", 9, "--out", out, *args, mentions=(name,))
        self.assertEqual([p.name for p in self.path.iterdir()], [name])

    def test_dialects_agree(self):
        plain, value = csv(self.table), self.te(csv(self.table))
        self.assertEqual(self.te(plain.replace("\n", "\r\n")), value)
        self.assertEqual(self.te("\ufeff" + plain), value)
        self.assertEqual(self.te(plain.replace(",", "\t"), "in.tsv"), value)
        self.assertEqual(self.te("% a comment\n# another\n" + plain.replace(",", "  "), "in.txt"), value)
        self.assertEqual(self.te("".join(",".join(f'"{v}"' for v in r) + "\n" for r in self.table)), value)
        rows = b"".join(struct.pack("<3d", *r) for r in self.table)
        self.assertEqual(self.te(npy((60, 3), rows), "in.npy"), value)
        columns = b"".join(struct.pack("<60d", *c) for c in zip(*self.table))
        self.assertEqual(self.te(npy((60, 3), columns, fortran=True), "in.npy"), value)

    def test_empty(self):
        self.wrong("")
        self.wrong("a,b,c\n")

    def test_ragged_rows(self):
        self.wrong("1,2,3\n4,5\n6,7,8\n", "2")

    def test_text_in_a_number_column(self):
        table = [list(r) for r in self.table]
        table[9][1] = "twelve"
        self.wrong(csv(table, ["a", "b", "c"]), "11", "b", "twelve")

    def test_inf(self):
        table = [list(r) for r in self.table]
        table[3][0] = "inf"
        self.wrong(csv(table), "4")

    def test_decimal_commas(self):
        self.wrong("".join(";".join(str(v).replace(".", ",") for v in r) + "\n" for r in self.table), "comma")

    def test_constant_column(self):
        table = [[r[0], 5, r[2]] for r in self.table]
        path = self.file("in.csv", csv(table))
        for command in (("te", path, "--source", 0, "--target", 1), ("te", path, "--source", 1, "--target", 0),
                        ("mi", path, "--x", 1, "--y", 2, "--surrogates", 20), ("ais", path, "--x", 1),
                        ("entropy", path, "--x", 1)):
            for noise in ((), ("--noise", 0)):
                run = kolmo(*command, *noise, "--json")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("warning: constant: ", run.stderr)
                found = json.loads(run.stdout)
                self.assertEqual(found["value"], 0)
                self.assertIn("constant", [w["name"] for w in found["warnings"]])
                if found["surrogates"]:
                    self.assertEqual(found["p_value"], 1)
        self.wrong(csv(table), "constant", args=("--strict",))

    def test_equal_columns(self):
        path = self.file("in.csv", csv([[r[0], r[0]] for r in self.table]))
        found = result("te", path, "--source", 0, "--target", 1)
        self.assertLess(abs(found["value"]), 0.3)

    def test_all_missing(self):
        self.wrong("a,b\n1,NaN\nNaN,2\n", "no row")

    def test_too_few_rows(self):
        self.wrong(csv(self.table[:5]), "too few")
        self.wrong(csv(self.table), "too few", args=("--theiler", 30))
        self.wrong(csv(self.table), "too few", args=("--rows", "0:4"))

    def test_logarithm(self):
        self.wrong(csv(self.table), "logarithm", args=("--transform", "log"))

    def test_npy(self):
        data = b"".join(struct.pack("<3d", *r) for r in self.table)
        self.wrong(npy((60, 3), data[:-5]), name="in.npy")
        self.wrong(npy((60, 3), data, descr="<c16"), name="in.npy")
        self.wrong(npy((60, 3), data)[:40], name="in.npy")

    def test_a_million_rows(self):
        rows = csv(numbers(1000)) * 1000
        run = kolmo("mi", self.file("in.csv", rows), "--x", 0, "--y", 1, "--rows", "999000:", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["samples"], 1000)

    def test_wrong_options(self):
        path = self.file("in.csv", csv(self.table, ["a", "b", "c"]))
        te = ("te", path, "--source", "a", "--target", "b")
        self.refused("te", path, "--source", "a", "--target", "nobody", mentions=["nobody"])
        self.refused("te", path, "--source", "a", "--target", 7, mentions=["7"])
        self.refused("te", path, "--source", "a", "--target", "a", mentions=["same column"])
        self.refused("te", path, "--source", "a,b", "--target", "c", mentions=["--source"])
        self.refused(*te, "--given", "a", mentions=["given"])
        self.refused(*te, "--neighbors", 0, mentions=["neighbors"])
        self.refused(*te, "--neighbors", 65, mentions=["neighbors"])
        self.refused(*te, "--lag", -1, mentions=["lag"])
        self.refused(*te, "--lag", 0, mentions=["lag"])
        self.refused(*te, "--lag", 1000, mentions=["too few"])
        self.refused(*te, "--target-history", 17, mentions=["history"])
        self.refused(*te, "--noise", "nan", mentions=["noise"])
        self.refused(*te, "--noise", -1, mentions=["noise"])
        self.refused(*te, "--algorithm", "ksg3", mentions=["ksg3"])
        self.refused(*te, "--standardize", "maybe", mentions=["maybe"])
        self.refused(*te, "--units", "hartleys", mentions=["hartleys"])
        self.refused(*te, "--surrogates", -5, mentions=["surrogates"])
        self.refused(*te, "--surrogates", 10, "--surrogate-type", "guess", mentions=["guess"])
        self.refused(*te, "--rows", "5:2", mentions=["5:2"])
        self.refused(*te, "--rows", "0:1000", mentions=["1000"])
        self.refused(*te, "--device", "abacus", mentions=["abacus"])
        self.refused(*te, "--seed", -1, mentions=["seed"])
        self.refused(*te, "--bogus", mentions=["bogus"])
        self.refused("te", self.path / "nothing.csv", "--source", 0, "--target", 1, mentions=["nothing.csv"])
        self.refused("te", self.path, "--source", 0, "--target", 1)
        self.refused("mi", path, "--x", 0, mentions=["--y"])

    def test_warnings_are_in_every_output_and_strict_makes_them_errors(self):
        walk, rows = [0.0, 0.0], []
        for step in numbers(300, 2):
            walk = [w + s for w, s in zip(walk, step)]
            rows.append(walk)
        path = self.file("walks.csv", csv(rows, ["a", "b"]))
        te = ["te", path, "--source", "a", "--target", "b", "--surrogates", 19, "--device", "cpu"]
        run = kolmo(*te, "--json")
        names = [w["name"] for w in json.loads(run.stdout)["warnings"]]
        self.assertEqual(names, ["few_effective_rows", "unit_root"])
        for name in names:
            self.assertIn(f"kolmo: warning: {name}: a", run.stderr)
        self.refused(*te, "--strict", mentions=["walks.csv: few_effective_rows: a ("])
        report = self.path / "r.html"
        net = ["network", path, "--surrogates", 19, "--device", "cpu", "--report", report]
        self.assertEqual(kolmo(*net).returncode, 0)
        for text in ("<dt>Few effective rows</dt><dd>a (", "<dt>Unit root</dt><dd>a, b: "):
            self.assertIn(text, report.read_text())
        self.refused(*net, "--strict", mentions=["few_effective_rows"])
        permuted = json.loads(kolmo(*te, "--json", "--surrogate-type", "permute").stdout)
        self.assertEqual(permuted["warnings"][0]["name"], "autocorrelated")

    def test_names_reach_the_terminal_escaped(self):
        hostile = "a\x1b]0;title\x07\u202e"
        path = self.file("in.csv", csv(self.table, [hostile, "b", "c"]))
        for run in (kolmo("te", path, "--source", 0, "--target", 1, "--surrogates", 19),
                    kolmo("network", path, "--surrogates", 19, "--correction", "none", "--alpha", 0.999),
                    kolmo("te", path, "--source", hostile, "--target", "b", "--given", hostile),
                    kolmo("te", path, "--source", "b", "--target", "c" + hostile),
                    kolmo("te", path, "--source", "b", "--target", "c", "--units", hostile),
                    kolmo("te", str(path) + hostile, "--source", "b", "--target", "c")):
            shown = run.stdout + run.stderr
            self.assertIn("\\x1b", shown)
            for raw in ("\x1b", "\x07", "\u202e"):
                self.assertNotIn(raw, shown)

    def test_without_surrogates_nothing_is_claimed(self):
        path = self.file("in.csv", csv(self.table, ["a", "b", "c"]))
        report = self.path / "r.html"
        run = kolmo("network", path, "--surrogates", 0, "--device", "cpu", "--report", report)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("6 links, none of them tested", run.stdout)
        shown = [line.split() for line in run.stdout.splitlines()[1:7]]
        values = {(link["source"], link["target"]): link["value"] for link in result("network", path, "--surrogates", 0)["links"]}
        self.assertEqual({(s, t): float(v) for s, t, _, v in shown}, {k: float(f"{v:.4g}") for k, v in values.items()})
        self.assertIn("kolmo: warning: untested: ", run.stderr)
        self.assertNotIn("significant", run.stdout)
        self.assertIn("<strong>Nothing was tested.</strong>", report.read_text())
        document = result("network", path, "--surrogates", 0, "--device", "cpu")
        self.assertEqual([w["name"] for w in document["warnings"]], ["untested"])
        self.assertFalse(any(link["significant"] for link in document["links"]))

    def test_wrong_network_options(self):
        path = self.file("in.csv", csv(self.table, ["a", "b", "c"]))
        for args, text in ((("--columns", "a"), "two"), (("--alpha", 2), "alpha"), (("--graph", "x.png"), ".dot"),
                           (("--max-lag", 0), "max-lag"), (("--correction", "fdr"), "fdr"),
                           (("--columns", "a,b", "--given", "b"), "given"), (("--max-lag", 100), "too few"),
                           (("--embedding", "ais", "--history", 2), "--history"), (("--columns", "a,a"), "a"),
                           (("--out", self.path / "no" / "n.json"), "folder"), (("--out", self.path), "is a directory")):
            self.refused("network", path, "--surrogates", 9, *args, mentions=[text])
        self.assertEqual([p.name for p in self.path.iterdir()], ["in.csv"])


if __name__ == "__main__":
    unittest.main()
