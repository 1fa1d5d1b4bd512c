"""kolmo stream: windows of files, pipes and growing files, and every way in which they can end."""
import fcntl
import json
import os
import signal
import subprocess
import termios
import time
import unittest

from command import KOLMO, CommandTest, csv, kolmo, needs, numbers, result

COLUMNS = ("--source", "a", "--target", "b")


class Live:
    """A running kolmo stream, fed and read line by line."""

    def __init__(self, *args, **options):
        self.process = subprocess.Popen([KOLMO, "stream", *map(str, args)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, bufsize=1, **options)

    def feed(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline()

    def wait_until_read(self):
        unread = b"1"
        while any(unread):
            time.sleep(0.01)
            unread = fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4))

    def end(self, signal_number=None):
        if signal_number:
            self.process.send_signal(signal_number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


class StreamTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.rows = numbers(300, 3)
        self.text = csv(self.rows, ["a", "b", "c"])
        self.csv = self.file("series.csv", self.text)

    def lines(self, *args, **options):
        run = kolmo("stream", *args, "--json", **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertIn("summary", lines[-1])
        return lines[:-1], lines[-1]["summary"]

    def live(self, *args, **options):
        live = Live(*args, *COLUMNS, "--window", 100, "--step", 50, **options)
        self.addCleanup(live.process.wait)
        self.addCleanup(live.process.kill)
        for pipe in (live.process.stdin, live.process.stdout, live.process.stderr):
            if pipe:
                self.addCleanup(pipe.close)
        return live


class Values(StreamTest):
    def test_a_window_is_te_of_its_rows(self):
        options = (*COLUMNS, "--given", "c", "--surrogates", 19, "--seed", 5, "--target-history", 2, "--units", "bits")
        windows, summary = self.lines(self.csv, *options, "--window", 120, "--step", 45)
        self.assertEqual([w["first_row"] for w in windows], [0, 45, 90, 135, 180])
        self.assertEqual(summary["windows"], 5)
        self.assertEqual(summary["done"], 5)
        for w in windows:
            te = result("te", self.csv, *options, "--rows", f"{w['first_row']}:{w['last_row'] + 1}")
            self.assertEqual((w["value"], w["p_value"], w["samples"]), (te["value"], te["p_value"], te["samples"]))
            self.assertEqual(w["units"], "bits")
            self.assertGreater(w["latency_seconds"], 0)

    def test_the_rule_chooses_one_number_of_neighbours_and_says_so(self):
        options = (*COLUMNS, "--given", "c", "--target-history", 2, "--transform", "difference")
        windows, summary = self.lines(self.csv, *options, "--window", 150, "--step", 50, "--neighbors", "auto")
        self.assertEqual(summary["options"]["neighbors"], 4)
        for w in windows:
            te = result("te", self.csv, *options, "--rows", f"{w['first_row']}:{w['last_row'] + 1}", "--neighbors", "auto")
            self.assertEqual((w["value"], w["samples"], 4), (te["value"], te["samples"], te["neighbors"]))
        data = self.file("long.csv", csv(numbers(1002, 2), ["a", "b"]))
        said = kolmo("stream", data, *COLUMNS, "--window", 1001, "--neighbors", "auto", "--json")
        self.assertEqual(json.loads(said.stdout.splitlines()[-1])["summary"]["options"]["neighbors"], 10)
        self.assertIn("kolmo: note: --neighbors auto: 10 nearest neighbours\n", said.stderr)
        self.assertNotIn("auto", kolmo("stream", data, *COLUMNS, "--window", 1001).stderr)

    def test_help_offers_one_device(self):
        self.assertNotIn("cuda:all", kolmo("stream", "--help").stdout)
        self.refused("stream", self.csv, *COLUMNS, "--window", 100, "--device", "cpu,simt", mentions=["one device"])

    def test_windows_further_apart_than_they_are_long(self):
        windows, _ = self.lines(self.csv, *COLUMNS, "--window", 50, "--step", 110)
        self.assertEqual([(w["first_row"], w["last_row"]) for w in windows], [(0, 49), (110, 159), (220, 269)])

    def test_constant_stretches_are_told(self):
        lines = self.text.splitlines()
        for i in range(101, 201):  # rows 100 to 199
            lines[i] = "7," + lines[i].split(",", 1)[1]
        windows, _ = self.lines("-", *COLUMNS, "--window", 100, "--step", 50, stdin="\n".join(lines))
        told = [w.get("warnings", [{}])[0].get("text") for w in windows]
        self.assertEqual(told, [None, "a (50 rows)", "a (100 rows)", "a (50 rows)", None])
        run = kolmo("stream", "-", *COLUMNS, "--window", 100, "--step", 100, stdin="\n".join(lines))
        self.assertIn("constant_run: a (100 rows)", run.stdout)

    def test_text(self):
        run = kolmo("stream", self.csv, *COLUMNS, "--window", 100, "--step", 100, "--surrogates", 9)
        self.assertEqual(run.returncode, 0, run.stderr)
        title, *rows = run.stdout.splitlines()
        self.assertEqual(title.split(), ["first", "row", "last", "row", "samples", "nats", "p-value"])
        self.assertEqual([row.split()[:3] for row in rows],
                         [["0", "99", "99"], ["100", "199", "99"], ["200", "299", "99"]])
        self.assertIn("3 windows", run.stderr)
        self.assertIn("device: ", run.stderr)

    def test_pipes_headers_and_line_ends(self):
        plain, _ = self.lines(self.csv, *COLUMNS, "--window", 100, "--step", 50)
        values = [w["value"] for w in plain]
        for text, columns in ((self.text, COLUMNS), (self.text.rstrip("\n"), COLUMNS),
                              (self.text.replace("\n", "\r\n"), COLUMNS), ("# comment\n" + self.text, COLUMNS),
                              (self.text.replace(",", " "), COLUMNS), (self.text.replace(",", ";"), COLUMNS),
                              (csv(self.rows), ("--source", 0, "--target", 1)), ("\ufeff" + self.text, COLUMNS)):
            windows, _ = self.lines("-", *columns, "--window", 100, "--step", 50, stdin=text)
            self.assertEqual([w["value"] for w in windows], values, text[:40])

    @needs("simt" in kolmo("devices").stdout, "this build has no emulated GPU")
    def test_emulated_gpu(self):
        cpu, _ = self.lines(self.csv, *COLUMNS, "--window", 60, "--step", 120)
        simt, summary = self.lines(self.csv, *COLUMNS, "--window", 60, "--step", 120, "--device", "simt")
        self.assertEqual([w["value"] for w in cpu], [w["value"] for w in simt])
        self.assertEqual(summary["device"], "simt")

    def test_a_window_that_cannot_be_estimated_does_not_end_the_stream(self):
        lines = self.text.splitlines()
        for i in range(101, 201):  # rows 100 to 199
            lines[i] = "NA,1,1"
        windows, summary = self.lines("-", *COLUMNS, "--window", 100, "--step", 100, stdin="\n".join(lines))
        self.assertEqual([w["value"] is None for w in windows], [False, True, False])
        self.assertIn("no row has a value", windows[1]["error"])
        self.assertEqual(summary["windows"], 3)


class LeftOut(StreamTest):
    def test_every_window_that_is_left_out_has_its_line(self):
        slow = (*COLUMNS, "--window", 200, "--step", 1, "--surrogates", 300, "--queue", 1, "--slots", 2)
        for how, word, count in (("reject", "refused", "refused"), ("drop-oldest", "dropped", "dropped")):
            windows, summary = self.lines(self.csv, *slow, "--backpressure", how)
            self.assertEqual(sorted(w["first_row"] for w in windows), list(range(101)))
            lost = [w for w in windows if w.get("error") == word]
            self.assertGreater(len(lost), 0)
            self.assertEqual(len(lost), summary[count])
            self.assertEqual(summary["windows"], 101)
            for w in lost:
                self.assertEqual((w["value"], w["last_row"]), (None, w["first_row"] + 199))
            run = kolmo("stream", self.csv, *slow, "--backpressure", how)
            self.assertRegex(run.stderr, rf"101 windows, \d+ {word}")
            self.assertRegex(run.stdout, rf" +\d+ +\d+ +\d+ +- +-  {word}\n")


class Going(StreamTest):
    def test_lines_come_while_the_pipe_is_open(self):
        live = self.live("-", stdin=subprocess.PIPE)
        lines = self.text.splitlines(keepends=True)
        live.feed("".join(lines[:101]))
        self.assertIn("first row", live.line())
        self.assertEqual(live.line().split()[:2], ["0", "99"])
        live.feed("".join(lines[101:151]))
        self.assertEqual(live.line().split()[:2], ["50", "149"])
        live.feed(lines[151][:3])  # in the middle of a row
        live.feed(lines[151][3:] + "".join(lines[152:201]))
        self.assertEqual(live.line().split()[:2], ["100", "199"])
        live.process.stdin.close()
        live.process.stdin = None
        code, out, err = live.end()
        self.assertEqual((code, out), (0, ""), err)

    def test_a_growing_file(self):
        lines = self.text.splitlines(keepends=True)
        growing = self.file("growing.csv", "".join(lines[:120]))
        live = self.live(growing, "--follow", "--json")
        first = json.loads(live.line())
        with open(growing, "a") as out:
            out.write("".join(lines[120:150]) + lines[150][:4])
        time.sleep(0.2)  # the last row has no line end yet
        with open(growing, "a") as out:
            out.write(lines[150][4:])
        second = json.loads(live.line())
        self.assertEqual([w["first_row"] for w in (first, second)], [0, 50])
        whole, _ = self.lines(self.csv, *COLUMNS, "--window", 100, "--step", 50)
        self.assertEqual([first["value"], second["value"]], [w["value"] for w in whole[:2]])
        code, out, err = live.end(signal.SIGINT)
        self.assertEqual(code, 130, err)
        self.assertEqual(json.loads(out)["summary"]["done"], 2)
        self.assertIn("interrupted", err)

    def test_interrupted_before_there_is_anything(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            live = self.live("-", stdin=subprocess.PIPE)
            live.feed("a,b\n")
            live.wait_until_read()
            code, out, err = live.end(number)
            self.assertEqual((code, out), (130, ""), err)

    def test_a_file_that_is_renamed_removed_and_made_anew(self):
        lines = self.text.splitlines(keepends=True)
        head, rows = lines[0], lines[1:]
        growing = self.file("growing.csv", head + "".join(rows[:120]))
        live = self.live(growing, "--follow", "--json")
        values = [json.loads(live.line())["value"]]
        old = growing.rename(self.path / "growing.csv.1")
        with open(old, "a") as out:
            out.write("".join(rows[120:130]))
        time.sleep(0.1)  # for a while there is no file of that name
        growing.write_text(head + "".join(rows[130:170]))
        values.append(json.loads(live.line())["value"])
        growing.unlink()
        self.file("next.csv", head + "".join(rows[170:200])).rename(growing)
        values.append(json.loads(live.line())["value"])
        whole, _ = self.lines(self.csv, *COLUMNS, "--window", 100, "--step", 50)
        self.assertEqual(values, [w["value"] for w in whole[:3]])
        self.assertEqual(live.end(signal.SIGINT)[0], 130)

    def test_a_file_that_becomes_shorter(self):
        growing = self.file("growing.csv", self.text)
        live = self.live(growing, "--follow")
        for _ in range(6):
            live.line()
        os.truncate(growing, 1000)
        code, _, err = live.end()
        self.assertEqual(code, 2)
        self.assertIn("growing.csv: became shorter", err)


class Refusals(StreamTest):
    def ends_after(self, windows, text, *mentions, args=COLUMNS):
        """The windows before the fault are printed; then one line says what is wrong."""
        run = kolmo("stream", "-", *args, "--window", 100, "--step", 50, stdin=text)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(len(run.stdout.splitlines()), windows + 1 if windows else 0, run.stdout)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for text in mentions:
            self.assertIn(text, run.stderr)

    def changed(self, line, to):
        lines = self.text.splitlines()
        lines[line - 1] = to
        return "\n".join(lines) + "\n"

    def test_bad_cells_name_line_and_column(self):
        self.ends_after(2, self.changed(170, "0.5,x7,1"), "standard input:170:", "b", '"x7" is not a number')
        self.ends_after(0, self.changed(2, "0.5,x7,1"), "standard input:2:", '"x7"')
        self.ends_after(2, self.changed(170, "inf,1,1"), "standard input:170:", "infinite")
        self.ends_after(2, self.changed(170, "1e999,1,1"), "too large")
        run = kolmo("stream", "-", *COLUMNS, "--window", 100, "--step", 50, stdin=self.changed(170, "0.5,0.1,x7"))
        self.assertEqual(run.returncode, 0, "column c is not used")

    def test_truncated_and_empty_lines(self):
        self.ends_after(2, self.changed(170, "0.5"), "standard input:170: the row has 1 cell")
        self.ends_after(2, self.changed(170, "1,2,3,4"), "4 cells")
        self.ends_after(2, self.changed(170, ""), "standard input:170: an empty line")
        self.ends_after(2, self.changed(170, '"1,2,3'), "standard input:170: a quote")
        half = "".join(self.text.splitlines(keepends=True)[:220])
        self.ends_after(3, half + "0.25", "standard input:221: the row has 1 cell")
        kept, _ = self.lines("-", *COLUMNS, "--window", 100, "--step", 50, stdin=self.text + "\n\n")
        self.assertEqual(len(kept), 5, "empty lines at the end are no rows")

    def test_input_that_is_no_series(self):
        self.ends_after(0, "", "standard input", "empty")
        self.ends_after(0, "a,b\n", "a header and no rows")
        self.ends_after(0, csv(self.rows[:40], ["a", "b", "c"]), "40 rows are fewer than a window of 100")
        self.ends_after(0, self.text, "no column", args=("--source", "x", "--target", "b"))
        self.ends_after(0, self.text, "same column", args=("--source", "a", "--target", "a"))
        self.ends_after(0, self.text, "--given", args=(*COLUMNS, "--given", "b"))
        self.ends_after(0, "PK\3\4" + self.text, "a zip archive")
        self.refused("stream", self.path / "none.csv", *COLUMNS, mentions=("none.csv", "cannot be read"))
        self.refused("stream", self.path, *COLUMNS, mentions=("is a directory",))

    def test_options(self):
        self.refused("stream", "-", *COLUMNS, "--follow", mentions=("--follow",))
        for wrong in (("--window", 1), ("--step", 0), ("--slots", 1), ("--queue", 0), ("--backpressure", "x"),
                      ("--deadline", -1), ("--objective", 0), ("--rows", "0:10"), ("--noise", "nan")):
            self.refused("stream", self.csv, *COLUMNS, *wrong, mentions=(wrong[0],))

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([KOLMO, "stream", self.csv, *COLUMNS, "--window", "100"], stdout=full,
                                 stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write", run.stderr)


if __name__ == "__main__":
    unittest.main()
