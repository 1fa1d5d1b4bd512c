"""Tests which files are read, by which options, and with which remarks; also slips of the command line, progress and traces."""
import gzip
import json
import os
import shlex
import signal
import struct
import subprocess
import time
import unittest

from command import KOLMO, CommandTest, csv, kolmo, numbers, result

COMMANDS = {"entropy": ("--x", "0"), "mi": ("--x", "0", "--y", "1"), "te": ("--source", "0", "--target", "1"),
            "ais": ("--x", "0"), "network": ("--surrogates", "19"),
            "stream": ("--source", "0", "--target", "1", "--window", "100")}


def npy(shape, values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}d", *values)


class Input(CommandTest):
    def setUp(self):
        super().setUp()
        self.rows = numbers(120, 3)
        self.plain = self.file("plain.csv", csv(self.rows))
        self.te = ("--source", 0, "--target", 1)
        self.want = result("te", self.plain, *self.te)["value"]

    def warnings(self, *args):
        return [w["name"] for w in result(*args)["warnings"]]

    def repeats(self, link):
        """The command in a network's result gives its link again, so it names how the file was read."""
        again = result(*shlex.split(link["command"])[1:])
        self.assertEqual((again["value"], again["p_value"]), (link["value"], link["p_value"]), link["command"])

    def test_a_header_of_numbers(self):
        years = self.file("years.csv", csv(self.rows, ["2001", "2002", "2003"]))
        self.assertIn("header_of_numbers", self.warnings("te", years, *self.te))
        self.assertEqual(self.warnings("te", self.plain, *self.te), [])
        named = result("te", years, "--header", "yes", "--source", "2001", "--target", "2002")
        self.assertEqual((named["value"], named["warnings"], named["header"]), (self.want, [], "yes"))
        self.assertEqual(self.warnings("te", years, "--header", "no", *self.te), [])
        self.refused("te", years, *self.te, "--strict", mentions=["header_of_numbers", "--header yes", years])
        self.refused("te", years, *self.te, "--header", "maybe", mentions=["auto|yes|no"])
        for name, args in COMMANDS.items():
            run = kolmo(name, years, *args)
            self.assertIn("warning: header_of_numbers: line 1", run.stderr, name)
            run = kolmo(name, years, *args, "--header", "no")
            self.assertNotIn("header_of_numbers", run.stderr, name)

    def test_missing_values_and_decimal_commas(self):
        rows = [list(map(str, row)) for row in self.rows]
        rows[50][0] = rows[51][1] = "-999"
        marked = self.file("marked.csv", csv(rows))
        rows[50][0] = rows[51][1] = "NA"
        missing = self.file("missing.csv", csv(rows))
        commas = self.file("commas.csv", missing.read_text().replace(",", ";").replace(".", ","))
        for name, args in COMMANDS.items():
            if name == "stream":
                continue
            want = result(name, missing, *args)
            for file, options in ((marked, ("--na", "-999,?")), (marked, ("--na=-999.0",)), (commas, ("--decimal", ","))):
                got = result(name, file, *args, *options)
                for link, other in zip(got.get("links", []), want.get("links", [])):
                    self.repeats(link)
                    link.pop("command"), other.pop("command", None)
                for key in ("value", "samples", "links", "missing_rows"):
                    self.assertEqual(got.get(key), want.get(key), (name, options))
        streamed = kolmo("stream", commas, *COMMANDS["stream"], "--decimal", ",", "--json")
        self.assertEqual(json.loads(streamed.stdout.splitlines()[0]).get("value"),
                         json.loads(kolmo("stream", missing, *COMMANDS["stream"], "--json").stdout.splitlines()[0]).get("value"))
        self.refused("te", self.plain, *self.te, "--decimal", ",", mentions=[self.plain, "semicolons, tabs or blanks"])
        self.refused("te", commas, *self.te, mentions=[f"{commas}:1:", "--decimal ,"])
        self.refused("te", self.plain, *self.te, "--na", "x,,y", mentions=["--na", "empty"])
        self.refused("te", self.plain, *self.te, "--decimal", ";", mentions=["--decimal"])

    def test_gzip(self):
        packed = gzip.compress(self.plain.read_bytes())
        file = self.file("series.dat", packed)
        self.assertEqual(result("te", file, *self.te)["value"], self.want)
        run = subprocess.run([KOLMO, "te", "-", "--source", "0", "--target", "1", "--json"], input=packed, capture_output=True,
                             check=True)
        self.assertEqual(json.loads(run.stdout)["value"], self.want)
        self.refused("te", self.file("cut.gz", packed[:-20]), *self.te, mentions=["cut.gz", "damaged or cut short"])
        self.refused("stream", file, *COMMANDS["stream"], mentions=[file, "gunzip -c"])
        bomb = self.file("bomb.gz", gzip.compress(b"1,2\n" * (20 << 20)))
        self.refused("te", bomb, *self.te, mentions=[bomb, "200 times its size"])

    def test_a_network_of_more_columns_than_fit_is_refused_before_it_is_computed(self):
        wide = self.file("wide.csv", "\n".join(",".join(str((i * i + row) % 97) for i in range(40000)) for row in range(12)))
        self.refused("network", wide, "--surrogates", 9, mentions=["40000 columns have 1.6e+09 links", "TiB", "enough for", "--columns"])
        many = self.file("many.csv", ("," * 999_999 + "\n") * 2)
        self.refused("network", many, mentions=["more than 100000 cells, the most that are read"])

    def test_long_rows_take_little_memory(self):
        wide = self.file("wide.csv", "," * (40 << 20))
        process = subprocess.Popen([KOLMO, "te", wide, *map(str, self.te)], stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stderr.read(), f"kolmo: {wide}:1: the row has more than 100000 cells, the most that are read\n")
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 2)
        self.assertLess(usage.ru_maxrss, 500_000, "kB")

    def test_transposed(self):
        flat = [value for row in zip(*self.rows) for value in row]
        across = self.file("across.npy", npy((3, 120), flat))
        run = kolmo("entropy", across, "--x", "0")
        self.assertIn("warning: transposed: the array has 3 rows and 120 columns", run.stderr)
        self.refused("entropy", across, "--x", "0", "--strict", mentions=["transposed", "--transpose"])
        turned = result("te", across, *self.te, "--transpose")
        self.repeats(result("network", across, "--surrogates", 19, "--transpose")["links"][0])
        self.assertEqual((turned["value"], turned["warnings"]), (self.want, []))
        text = self.file("across.csv", csv([[name, *column]
                                            for name, column in zip("abc", zip(*self.rows))]))
        self.assertEqual(result("te", text, "--source", "a", "--target", "b", "--transpose")["value"], self.want)

    def test_trials(self):
        flat = [value for row in self.rows for value in row]
        trials = self.file("trials.npy", npy((4, 30, 3), flat))
        run = kolmo("entropy", trials, "--x", "0", "--json")
        self.assertEqual(json.loads(run.stdout)["samples"], 120, run.stderr)
        column = self.file("column.csv", csv([[*row, t // 30] for t, row in enumerate(self.rows)]))
        want = result("te", column, *self.te, "--trials", 3)
        self.assertEqual(want["samples"], 116)
        for key in ("value", "samples"):
            self.assertEqual(result("te", trials, *self.te)[key], want[key])
        across = [flat[90 * trial + 3 * row + c] for trial in range(4) for c in range(3) for row in range(30)]
        turned = self.file("turned.npy", npy((4, 3, 30), across))
        self.assertEqual(result("te", turned, *self.te, "--transpose")["value"], want["value"])
        self.refused("te", trials, *self.te, "--trials", 2, mentions=["--trials", "first axis"])
        self.refused("te", self.file("four.npy", npy((1, 4, 30, 3), flat)), *self.te, mentions=["four.npy", "4 dimensions"])

    def test_ranges_and_exclusion(self):
        args = ("--surrogates", 19, "--seed", 3)
        want = result("network", self.plain, *args, "--columns", "0,2")["links"]
        for choice in (("--exclude", "1"), ("--columns", "0-2", "--exclude", "1-1"), ("--columns", "0-0,2-2")):
            self.assertEqual(result("network", self.plain, *args, *choice)["links"], want, choice)
        self.assertEqual(result("mi", self.plain, "--x", "0-1", "--y", "2")["value"],
                         result("mi", self.plain, "--x", "0,1", "--y", "2")["value"])
        named = self.file("named.csv", csv(self.rows, ["0-1", "b", "c"]))
        named_te = ("te", named, "--header", "yes")
        self.assertEqual(result(*named_te, "--source", '"0-1"', "--target", "b")["value"], self.want)
        self.refused(*named_te, "--source", "0-1", "--target", "b", mentions=["double quotes"])
        self.refused("te", self.plain, "--source", "0-1", "--target", "2", mentions=["--source", "one column"])
        self.refused("network", self.plain, "--columns", "1-3", mentions=["1-3", "0 to 2"])
        self.refused("network", self.plain, "--exclude", "0-2", mentions=["no column is left"])
        self.refused("network", self.plain, "--exclude", "z", mentions=['"z"'])

    def test_did_you_mean(self):
        self.refused("te", self.plain, "--sorce", 0, "--target", 1, mentions=["did you mean --source instead of --sorce?"])
        self.refused("te", self.plain, *self.te, "--surogates=9", mentions=["did you mean --surrogates instead of --surogates?"])
        self.refused("netwrok", self.plain, mentions=["did you mean network instead of netwrok?"])
        self.refused("validate", "--devise", "cpu", mentions=["did you mean --device"])
        self.refused("--memory-trase", "x", "devices", mentions=["did you mean --memory-trace"])
        named = self.file("named.csv", csv(self.rows, ["pressure", "wind", "rain"]))
        self.refused("te", named, "--source", "presure", "--target", "wind", mentions=['did you mean "pressure"?'])
        run = kolmo("te", self.plain, "--zzz", 0)
        self.assertNotIn("did you mean", run.stderr)


class LongRuns(CommandTest):
    def setUp(self):
        super().setUp()
        self.series = self.file("d.csv", csv(numbers(3000, 3)))

    def start(self, *args, **env):
        process = subprocess.Popen([KOLMO, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **env})
        self.addCleanup(process.kill)
        return process

    def test_progress_in_a_log(self):
        for name, args in (("te", ("--source", 0, "--target", 1)), ("mi", ("--x", 0, "--y", 1)), ("ais", ("--x", 0))):
            process = self.start(name, self.series, *args, "--surrogates", 100000, KOLMO_PROGRESS_SECONDS="0.2")
            line = process.stderr.readline()
            while "progress" not in line and line:
                line = process.stderr.readline()
            self.assertRegex(line, rf"^kolmo: progress: {name}: \d+ s so far\n$")
            process.terminate()
            process.communicate(timeout=60)
        process = self.start("mi", self.series, "--x", 0, "--y", 1, "--surrogates", 100000, "--algorithm", "ksg2",
                             KOLMO_PROGRESS_SECONDS="0.2")
        line = process.stderr.readline()
        while "progress" not in line and line:
            line = process.stderr.readline()
        self.assertRegex(line, r"^kolmo: progress: +\d+ %  .* estimates/s(  .* left)?\n$")
        process.terminate()
        process.communicate(timeout=60)
        process = self.start("network", self.series, "--surrogates", 20000, "--exceedances", 0, KOLMO_PROGRESS_SECONDS="0.2")
        line = process.stderr.readline()
        while "progress" not in line and line:
            line = process.stderr.readline()
        self.assertRegex(line, r"^kolmo: progress: +\d+ %  .* estimates x rows/s(  .* left)?\n$")
        process.terminate()
        process.communicate(timeout=60)

    def test_no_progress_in_a_short_run(self):
        self.assertNotIn("progress", kolmo("te", self.series, "--source", 0, "--target", 1).stderr)

    def test_traces_outlive_an_interruption(self):
        trace, memory = self.path / "trace.json", self.path / "memory.json"
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for args in (("network", self.series, "--surrogates", 20000, "--exceedances", 0),
                         ("te", self.series, "--source", 0, "--target", 1, "--surrogates", 200000)):
                process = self.start("--memory-trace", memory, *args, "--trace", trace)
                time.sleep(1.5)
                self.assertIsNone(process.poll(), process.stderr)
                process.send_signal(number)
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, status, errors)
                self.assertIn("interrupted", errors)
                self.assertIn("traceEvents", json.loads(trace.read_text()))
                self.assertIsInstance(json.loads(memory.read_text()), dict)
                self.assertEqual(kolmo("memory", memory).returncode, 0)
                trace.unlink(), memory.unlink()
        self.assertEqual(os.listdir(self.path), ["d.csv"])

    def test_without_traces_the_signal_ends_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("te", self.series, "--source", 0, "--target", 1, "--surrogates", 200000)
            time.sleep(1)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number, errors)
            self.assertIn("interrupted", errors)


if __name__ == "__main__":
    unittest.main()
