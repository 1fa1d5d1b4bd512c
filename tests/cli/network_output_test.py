"""What `kolmo network` writes for others: tables, graphs, groups, times."""
import csv as csv_reader
import hashlib
import io
import json
import unittest
import xml.etree.ElementTree as xml

from command import CommandTest, csv, kolmo, numbers

HOSTILE = 'a, "b"</script><b>&'
NAMES = ["x", HOSTILE, "z"]
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def coupled(rows=150):
    """Makes series in which x drives the second variable one row later."""
    table, before = [], 0.0
    for x, noise, z in numbers(rows, 3):
        table.append([x, round(before + 0.2 * noise, 9), z])
        before = x
    return table


def cell(text):
    return '"' + text.replace('"', '""') + '"'


class Files(CommandTest):
    def setUp(self):
        super().setUp()
        self.csv = self.file("series.csv", csv(coupled(), [cell(n) for n in NAMES]))
        self.network = ("network", self.csv, "--surrogates", 19, "--max-lag", 2, "--correction", "none", "--seed", 3)

    def run_network(self, *more):
        run = kolmo(*self.network, *more)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def table(self, *more):
        return list(csv_reader.DictReader(io.StringIO(self.run_network("--table", "-", *more).stdout)))

    def test_table_agrees_with_json(self):
        rows = self.table()
        links = json.loads(self.run_network("--json").stdout)["links"]
        self.assertEqual(len(rows), 6)
        self.assertEqual({(r["source"], r["target"]) for r in rows}, {(a, b) for a in NAMES for b in NAMES if a != b})
        for row, link in zip(rows, links):
            self.assertEqual((row["source"], row["target"]), (link["source"], link["target"]))
            for key in ("value", "bias_corrected", "z", "surrogate_mean", "surrogate_std", "surrogate_q95", "p_value",
                        "p_adjusted"):
                self.assertEqual(float(row[key]), link[key])
            self.assertAlmostEqual(link["bias_corrected"], link["value"] - link["surrogate_mean"])
            self.assertAlmostEqual(link["z"], link["bias_corrected"] / link["surrogate_std"])
            self.assertEqual(row["p_at_floor"] == "true", link["p_value"] == 0.05)
            self.assertEqual(row["significant"] == "true", link["significant"])
            self.assertEqual(row["surrogates"], "19")
        found = [row for row in rows if row["source"] == "x" and row["target"] == HOSTILE][0]
        self.assertEqual((found["significant"], found["p_at_floor"], found["lag"]), ("true", "true", "1"))

    def test_terminal_shows_floor_and_caution(self):
        shown = self.run_network().stdout
        self.assertIn("<= 1/20", shown)
        self.assertIn("caution: Each pair is taken by itself", shown)
        self.assertIn("the option given", shown)
        caution = json.loads(self.run_network("--columns", "0,1", "--given", 2, "--json").stdout)["caution"]
        self.assertIn("conditioned on", caution)

    def test_graphml(self):
        path = self.path / "g.graphml"
        for more, count in (((), None), (("--graph-all",), 6)):
            self.run_network("--graph", path, *more)
            graph = xml.parse(path).getroot().find(GRAPHML + "graph")
            data = {d.get("key"): d.text for d in graph.findall(GRAPHML + "data")}
            self.assertIn("common driver", data["caution"])
            labels = [[d.text for d in n if d.get("key") == "label"][0] for n in graph.findall(GRAPHML + "node")]
            self.assertEqual(labels, NAMES)
            links = [{d.get("key"): d.text for d in e} for e in graph.findall(GRAPHML + "edge")]
            self.assertGreaterEqual(len(links), 1)
            if count:
                self.assertEqual(len(links), count)
                self.assertEqual({k["significant"] for k in links}, {"true", "false"})
            else:
                self.assertEqual({k["significant"] for k in links}, {"true"})
            for link in links:
                self.assertEqual(float(link["weight"]), max(0.0, float(link["value"])))

    def test_time_step(self):
        more = ("--dt", 0.25, "--dt-unit", "year")
        self.assertIn("1 (0.25 year)", self.run_network(*more).stdout)
        row = self.table(*more)[0]
        self.assertEqual(float(row["lag_time (year)"]), 0.25 * int(row["lag"]))
        report = self.path / "r.html"
        self.run_network(*more, "--report", report)
        self.assertIn("0.25 year", report.read_text())

    def test_groups(self):
        groups = self.file("groups.csv", f"variable,group\nz,first\n{cell(HOSTILE)},<second>\n")
        document = json.loads(self.run_network("--groups", groups, "--json").stdout)
        self.assertEqual([g["group"] for g in document["groups"]], ["no group", "<second>", "first"])
        piped = kolmo(*self.network, "--groups", "/dev/stdin", "--json", stdin=groups.read_text())
        self.assertEqual(json.loads(piped.stdout)["groups"], document["groups"], piped.stderr)
        report = self.path / "r.html"
        self.run_network("--groups", groups, "--report", report)
        text = report.read_text()
        self.assertIn("&lt;second&gt;", text)
        self.assertNotIn("<second>", text)

    def test_methods(self):
        methods = json.loads(self.run_network("--json").stdout)["methods"]
        self.assertEqual(methods["data"], {"sha256": hashlib.sha256(self.csv.read_bytes()).hexdigest(), "of": "data file"})
        self.assertRegex(methods["date"], r"^20\d\d-\d\d-\d\d$")
        for text in ("6 ordered pairs of 3 variables", "150 rows", "19 surrogates", "seed 3"):
            self.assertIn(text, methods["text"])
        for reference in methods["references"]:
            self.assertIn("{" + reference["key"] + ",", methods["bibtex"])
        piped = kolmo("network", "-", *self.network[2:], "--json", stdin=self.csv.read_text())
        self.assertEqual(json.loads(piped.stdout)["methods"]["data"]["of"], "prepared series")
        report = self.path / "r.html"
        self.run_network("--report", report)
        for text in (methods["data"]["sha256"], "<h2 id=\"methods\">", "@article{schreiber2000"):
            self.assertIn(text, report.read_text())

    def test_wrong_options(self):
        def groups(name, text):
            return ("--groups", self.file(name, text))
        for args, text in ((groups("1.csv", "x,a\nnobody,b\n"), "1.csv:2: 'nobody' is not a variable"),
                           (groups("2.csv", "x,a\nx,b\n"), "2.csv:2: 'x' is listed twice"),
                           (groups("3.csv", "x\n"), "3.csv:1: has 1 cells"),
                           (("--groups", self.path / "none.csv"), "none.csv"),
                           (("--dt", 0.25), "--dt-unit"), (("--dt-unit", "year"), "--dt"),
                           (("--dt", 0, "--dt-unit", "s"), "--dt"), (("--dt", "nan", "--dt-unit", "s"), "--dt"),
                           (("--dt", -1, "--dt-unit", "s"), "--dt"), (("--graph-all",), "--graph"),
                           (("--table", "-", "--out", "-"), "standard output"),
                           (("--table", self.csv), "series.csv")):
            self.refused(*self.network, *args, mentions=[text])


if __name__ == "__main__":
    unittest.main()
