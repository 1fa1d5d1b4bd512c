"""--estimator of mi, te, ais and network: values, tests, warnings, and every wrong combination of options."""
import json
import math
import unittest

from command import CommandTest, csv, kolmo, numbers, result


def binary(rows):
    """Makes x; y, which is x one row later except in a sixth of the rows; and z."""
    table, last = [], 0
    for a, b, c in numbers(rows, 3):
        table.append([int(a > 0), last if b > -0.55 else 1 - last, int(c > 0)])
        last = table[-1][0]
    return table


class Estimators(CommandTest):
    def setUp(self):
        super().setUp()
        self.real = self.file("real.csv", csv(numbers(120, 3), ["a", "b", "c"]))
        self.bits = self.file("bits.csv", csv(binary(500), ["x", "y", "z"]))

    def names(self, found):
        return [w["name"] for w in found["warnings"]]

    def test_binary_data(self):
        te = ("te", self.bits, "--source", "x", "--target", "y")
        ksg = result(*te)
        self.assertIn("repeated_values", self.names(ksg))
        self.assertIn("--estimator discrete", ksg["warnings"][-1]["text"])
        found = result(*te, "--estimator", "discrete", "--surrogates", 99)
        self.assertEqual((found["estimator"], found["bias"], found["test"]), ("discrete", "none", "surrogates"))
        self.assertEqual(found["p_value"], 0.01)
        self.assertTrue(0.1 < found["value"] < math.log(2), found["value"])
        self.assertEqual(found["warnings"], [])
        for key in ("neighbors", "theiler", "algorithm", "noise", "standardize", "precision"):
            self.assertNotIn(key, found)
        self.assertLessEqual(result("mi", self.bits, "--x", "x", "--y", "x,z", "--estimator", "discrete")["value"],
                             math.log(2))
        self.assertLess(result("ais", self.bits, "--x", "x", "--estimator", "discrete")["value"], 0.02)
        corrected = result(*te, "--estimator", "discrete", "--bias", "miller-madow")
        self.assertAlmostEqual(found["value"] - corrected["value"], 2 / (2 * 499), delta=1e-12)

    def test_gaussian(self):
        found = result("mi", self.real, "--x", "a", "--y", "b", "--estimator", "gaussian")
        a, b = ([row[i] for row in numbers(120, 3)] for i in (0, 1))
        mean = [sum(v) / 120 for v in (a, b)]
        cov = [[sum((p - m) * (q - n) for p, q in zip(u, v)) for v, n in zip((a, b), mean)]
               for u, m in zip((a, b), mean)]
        r2 = cov[0][1] ** 2 / (cov[0][0] * cov[1][1])
        self.assertAlmostEqual(found["value"], -0.5 * math.log(1 - r2), delta=1e-13)
        self.assertEqual((found["test"], found["surrogates"]), ("F", 0))
        self.assertTrue(0 < found["p_value"] <= 1)
        several = result("mi", self.real, "--x", "a,b", "--y", "b,c", "--estimator", "gaussian")
        self.assertEqual(several["test"], "chi-square")
        asked = result("mi", self.real, "--x", "a", "--y", "b", "--estimator", "gaussian", "--surrogates", 19)
        self.assertEqual((asked["test"], asked["surrogates"], asked["value"]), ("surrogates", 19, found["value"]))
        run = kolmo("mi", self.real, "--x", "a", "--y", "b", "--estimator", "gaussian")
        for text in ("p-value", "p of the F test", "estimator: gaussian", "device: cpu"):
            self.assertIn(text, run.stdout)

    def test_analytic_test_of_autocorrelated_series(self):
        rows, state = [], [0.0, 0.0]
        for step in numbers(400):
            state = [0.9 * s + e for s, e in zip(state, step)]
            rows.append(state)
        path = self.file("slow.csv", csv(rows, ["a", "b"]))
        mi = ("mi", path, "--x", "a", "--y", "b", "--estimator", "gaussian")
        self.assertEqual(self.names(result(*mi)), ["analytic_test"])
        self.assertEqual(self.names(result(*mi, "--surrogates", 19, "--surrogate-type", "circular")), [])
        self.assertEqual(self.names(result("te", path, "--source", "a", "--target", "b", "--estimator", "gaussian")), [])
        self.refused(*mi, "--strict", mentions=["analytic_test"])

    def test_ordinal(self):
        found = result("te", self.real, "--source", "a", "--target", "b", "--estimator", "ordinal", "--surrogates", 19)
        self.assertEqual((found["order"], found["order_delay"], found["surrogate_type"]), (3, 1, "circular"))
        self.assertEqual(found["samples"], 117)
        monotone = self.file("cubes.csv", csv([[r[0] ** 3, math.exp(r[1])] for r in numbers(120, 3)], ["a", "b"]))
        again = result("te", monotone, "--source", "a", "--target", "b", "--estimator", "ordinal", "--surrogates", 19)
        self.assertEqual((again["value"], again["p_value"]), (found["value"], found["p_value"]))

    def test_networks(self):
        for args, path, test in ((("gaussian", "--max-lag", 2), self.real, "F"),
                                 (("discrete", "--surrogates", 199), self.bits, None),
                                 (("ordinal", "--surrogates", 19, "--order", 2), self.real, None)):
            outputs = []
            for threads in (1, 2):
                out, report = self.path / "n.json", self.path / "n.html"
                run = kolmo("network", path, "--estimator", *args, "--threads", threads, "--out", out, "--report",
                            report)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn(f"estimator: {args[0]}", run.stdout)
                outputs.append(out.read_text().replace(f"--threads {threads}", ""))
                self.assertIn(f"<dt>Estimator</dt><dd>{args[0]}</dd>", report.read_text())
            self.assertEqual(*outputs)
            document = json.loads(outputs[0])
            self.assertEqual(document["options"]["estimator"], args[0])
            self.assertEqual(document["options"].get("test"), test)
            self.assertNotIn("untested", self.names(document))
            if test:
                self.assertEqual(document["options"]["lag_correction"], "Sidak")
                self.assertIn("F test", run.stdout if test is None else kolmo(
                    "network", path, "--estimator", *args).stdout)
                self.assertIn("F test of linear regression", report.read_text())
            if args[0] == "discrete":
                links = {(k["source_index"], k["target_index"]): k["significant"] for k in document["links"]}
                self.assertTrue(links[0, 1])

    def test_wrong_combinations(self):
        te = ("te", self.real, "--source", "a", "--target", "b", "--estimator")
        for option, value in (("--neighbors", 4), ("--algorithm", "ksg2"), ("--theiler", 1), ("--precision", "f32"),
                              ("--noise", 0), ("--standardize", "none")):
            for estimator in ("gaussian", "discrete", "ordinal"):
                self.refused(*te, estimator, option, value, mentions=[option, f"--estimator {estimator}"])
        for estimator in ("ksg", "gaussian"):
            self.refused(*te, estimator, "--bias", "none", mentions=["--bias", f"--estimator {estimator}"])
        for estimator in ("ksg", "gaussian", "discrete"):
            for option in ("--order", "--order-delay"):
                self.refused(*te, estimator, option, 3, mentions=[option, f"--estimator {estimator}"])
        for option, value in (("--surrogate-type", "circular"), ("--block-length", 5), ("--p-value", "plain")):
            self.refused(*te, "gaussian", option, value, mentions=[option, "--surrogates"])
        self.refused(*te, "kernel", mentions=["kernel"])
        self.refused(*te, "discrete", "--bias", "much", mentions=["much"])
        self.refused(*te, "ordinal", "--order", 1, mentions=["order"])
        self.refused(*te, "ordinal", "--order", 9, mentions=["order"])
        self.refused(*te, "ordinal", "--order-delay", 0, mentions=["order-delay"])
        self.refused(*te, "ordinal", "--order-delay", 100, mentions=["real.csv", "201 rows"])
        self.refused(*te, "ordinal", "--order", 6, mentions=["patterns", "--order"])
        self.refused(*te, "gaussian", "--device", "simt", mentions=["--estimator gaussian", "cpu", "simt"])
        self.refused(*te, "ordinal", "--device", "cuda", mentions=["--estimator ordinal", "cpu", "cuda"])
        self.refused(*te, "gaussian", "--rows", "0:4", mentions=["too few"])
        self.refused("entropy", self.real, "--x", "a", "--estimator", "gaussian", mentions=["--estimator"])
        out = self.path / "n.json"
        self.refused(*te, "discrete", mentions=["'a' has 12", "different values in 120 rows"])
        self.refused("network", self.real, "--estimator", "discrete", "--out", out, mentions=["'a' has 12"])
        self.refused("network", self.real, "--estimator", "gaussian", "--embedding", "ragwitz", mentions=["ragwitz"])
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["bits.csv", "real.csv"])


class Neighbors(CommandTest):
    """--neighbors auto: k from rows and columns, in every analysis."""

    def test_each_analysis_uses_and_names_what_the_rule_chooses(self):
        data = self.file("d.csv", csv(numbers(1001, 3), ["a", "b", "c"]))
        for k, *analysis in ((20, "mi", data, "--x", "a", "--y", "b"), (10, "mi", data, "--x", "a", "--y", "b", "--given", "c"),
                             (20, "ais", data, "--x", "a"), (10, "te", data, "--source", "a", "--target", "b", "--surrogates", 9),
                             (4, "te", data, "--source", "a", "--target", "b", "--target-lags", "1,2,3,4"), (50, "entropy", data, "--x", "a")):
            chosen, given = result(*analysis, "--neighbors", "auto"), result(*analysis, "--neighbors", k)
            self.assertEqual((chosen["value"], chosen.get("p_value")), (given["value"], given.get("p_value")), analysis)
            self.assertEqual((chosen["neighbors"], given["neighbors"]), (k, k), analysis)
            said = kolmo(*analysis, "--k", "auto").stderr
            self.assertIn(f"--neighbors auto: {k} nearest neighbours", said)

    def test_a_network_has_one_k_whatever_the_order_of_columns(self):
        rows = numbers(301, 3)
        for method in (["--method", "pairwise"], ["--method", "multivariate", "--max-lag", 2]):
            seen = []
            for order in ((0, 1, 2), (2, 0, 1)):
                data = self.file("d.csv", csv([[row[i] for i in order] for row in rows], ["abc"[i] for i in order]))
                found = result("network", data, *method, "--surrogates", 19, "--neighbors", "auto", "--device", "cpu")
                self.assertEqual(found["options"]["neighbors"], 5)
                self.assertIn("with k = 5, chosen by rows and columns", found["methods"]["text"])
                seen.append({(link["source"], link["target"]): (link["value"], link["p_value"]) for link in found["links"]})
                for link in found["links"]:
                    if "command" in link:
                        self.assertIn("--neighbors 5", link["command"])
            self.assertEqual(*seen)

    def test_rows_are_the_samples_of_the_estimate(self):
        rows = numbers(3001, 3)
        link, network = ("te", "--source", "a", "--target", "b"), ("network", "--columns", "a,b", "--surrogates", 19, "--max-lag", 1)
        greedy = ("network", "--columns", "a,b", "--surrogates", 19, "--max-lag", 2, "--method", "multivariate")
        where = self.file("w.csv", csv([[a, b, int(i % 16 == 0)] for i, (a, b, _) in enumerate(rows)], ["a", "b", "w"]))
        apart = self.file("p.csv", csv([[a if i < 1510 else "", b if i >= 1490 else "", c] for i, (a, b, c) in enumerate(rows)], ["a", "b", "c"]))
        trials = self.file("t.csv", csv([[a, b, i // 3] for i, (a, b, _) in enumerate(rows[:3000])], ["a", "b", "t"]))
        cut = self.file("u.csv", csv([[a, b, 0 if i < 2900 else 1] for i, (a, b, _) in enumerate(rows[:3000])], ["a", "b", "t"]))
        by_trials = ("--trials", "t", "--surrogate-type", "trials")
        for k, data, (name, *analysis), *options in (
                (4, where, link, "--where", "w"), (4, where, network, "--where", "w"), (4, where, greedy, "--where", "w"), (19, where, link),
                (4, apart, link), (4, apart, network), (4, apart, ("network", "--surrogates", 19, "--max-lag", 1)), (4, apart, greedy),
                (6, trials, link, "--trials", "t", "--history", 2), (6, trials, network, "--trials", "t", "--history", 2),
                (10, trials, greedy, "--trials", "t"), (6, trials, link, "--trials", "t", "--target-lags", "1,2"),
                (10, trials, link, "--trials", "t", "--source-lags", "2"), (4, cut, link, *by_trials, "--surrogates", 1),
                (16, where, link, "--embedding", "ais", "--max-history", 2, "--rows", "0:2252")):
            run = [name, data, *analysis, *options]
            found, given = result(*run, "--neighbors", "auto"), result(*run, "--neighbors", k)
            of = found.get("options", found)
            self.assertEqual(of["neighbors"], k, run)
            if "links" in found:
                self.assertEqual([(x["value"], x["p_value"]) for x in found["links"]], [(x["value"], x["p_value"]) for x in given["links"]])
            else:
                self.assertEqual((found["value"], found["samples"]), (given["value"], given["samples"]))

    def test_columns_of_a_network_are_those_of_its_smallest_estimate(self):
        data = self.file("d.csv", csv(numbers(1003, 4), ["a", "b", "c", "d"]))
        for k, *options in ((10, "--embedding", "ais"), (10,), (6, "--history", 2), (6, "--given", "d"), (6, "--source-history", 2),
                            (4, "--conditional-all", "--columns", "a,b,c,d"),
                            (10, "--method", "multivariate"), (20, "--method", "multivariate", "--measure", "mi"),
                            (10, "--method", "bivariate", "--measure", "mi", "--given", "d")):
            columns = () if "--columns" in options else ("--columns", "a,b,c")
            found = result("network", data, *columns, *options, "--surrogates", 19, "--max-lag", 1, "--neighbors", "auto")
            self.assertEqual(found["options"]["neighbors"], k, options)

    def test_what_is_no_number_of_neighbours_is_refused(self):
        for bad, said in (("0", "is 0, accepted are 1 to 64, or auto"), ("65", "accepted are 1 to 64, or auto"), ("many", "expected an integer, or auto")):
            self.refused("mi", self.real, "--x", "a", "--y", "b", "--neighbors", bad, mentions=["--neighbors", said])
        self.refused("mi", self.real, "--x", "a", "--y", "b", "--neighbors", "auto", "--estimator", "gaussian", mentions=["--estimator ksg"])

    def setUp(self):
        super().setUp()
        self.real = self.file("real.csv", csv(numbers(120, 3), ["a", "b", "c"]))


if __name__ == "__main__":
    unittest.main()
